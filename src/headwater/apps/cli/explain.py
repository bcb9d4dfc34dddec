"""`headwater explain FILE`: what travels, what is filtered where, who lives in which zone, what is remembered.

With `--dot` the automata of its patterns, for Graphviz.
"""

from __future__ import annotations

import argparse

from headwater.apps.cli.arguments import UsageError, add_file, read_queries
from headwater.apps.cli.history_option import add_most_history, most_history
from headwater.apps.cli.zones_option import add_zones, zones_here


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add_file(parser)
    add_zones(parser)
    add_most_history(parser)
    parser.add_argument(
        "--keys",
        type=_keys,
        metavar="N",
        help="also print how much memory N keys (sensors, vehicles, partitions) take",
    )
    parser.add_argument(
        "--dot",
        action="store_true",
        help="print the automata of the patterns instead, for Graphviz: headwater explain FILE --dot | dot -Tsvg > automata.svg",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the plan of every query."""
    from headwater.query.explaining.explain import dot, explain
    from headwater.query.planning.plan import compile_text

    text = read_queries(arguments.file)
    zones = arguments.zones or zones_here()
    plan = compile_text(text, zones=zones, file=arguments.file, most_history_us=most_history(arguments))
    drawn = dot(plan) if arguments.dot else ""
    if arguments.dot and not drawn:
        raise UsageError("usage", f"no query of '{arguments.file}' has a MATCH_RECOGNIZE to draw")
    print(drawn if arguments.dot else explain(plan, keys=arguments.keys), end="")
    return 0


def _keys(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, not '{text}'")
    return int(text)
