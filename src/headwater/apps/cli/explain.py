"""`headwater explain FILE`: what travels, what is filtered where, who lives in which zone, what is remembered."""

from __future__ import annotations

import argparse

from headwater.apps.cli.usage import add_file, read_queries
from headwater.apps.cli.zones import add_zones, zones_here


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add_file(parser)
    add_zones(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the plan of every query."""
    from headwater.query.explain import explain
    from headwater.query.plan import compile_text

    text = read_queries(arguments.file)
    plan = compile_text(text, zones=arguments.zones or zones_here(), file=arguments.file)
    print(explain(plan), end="")
    return 0
