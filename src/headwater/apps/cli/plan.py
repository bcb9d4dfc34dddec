"""`headwater plan QUERIES --network NET.json`: which operator stands where, and what each link carries on a recorded day."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.apps.cli.arguments import UsageError, folder_for, read_queries, unwritable
from headwater.apps.cli.commands import DONE, REFUSED

if TYPE_CHECKING:
    from headwater.apps.plan.report import Planned
    from headwater.apps.plan.sensor_day import Day, Say
    from headwater.apps.plan.subscriptions import Question

WIDTH = 150
"""Columns of the tables where they do not go to a terminal."""

_EXAMPLES = """\
examples:
  headwater plan network.hw --network network.json
  headwater plan alerts.hw --network valley.json --input weather=2026-01-15.csv --output plan/

'headwater examples copy network' gives the files of the first.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    from headwater.apps.overlay.approaches import APPROACHES

    parser.epilog = _EXAMPLES
    parser.add_argument(
        "file",
        metavar="QUERIES",
        help="a file with one CREATE STREAM and CORRELATE queries; - is standard input",
    )
    parser.add_argument(
        "--network",
        required=True,
        metavar="NET.json",
        help="nodes, links, sensors, users and their queries",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="recorded readings of the stream NAME, as for 'headwater run' (default: a generated day)",
    )
    parser.add_argument(
        "--approach",
        choices=[name for name in APPROACHES if name != "centralized"],
        default="exact",
        help="how operators are filtered, split and forwarded (default: exact)",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=0,
        metavar="N",
        help="seed of the generated day and of the simulation (default: 0)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where to write plan.png, plan-operators.csv and plan-links.csv (default: the current folder)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Plan and tell; answers that are wrong or missing, which there must not be, are a failure."""
    from rich.console import Console

    from headwater.apps.plan.report import print_report
    from headwater.apps.plan.simulation import make_plan
    from headwater.apps.plan.subscriptions import read_question

    question = read_question(read_queries(arguments.file), arguments.file, arguments.network)
    paths = _paths(arguments.input, question.stream.name)
    folder = folder_for(arguments.output)
    with _saying() as say:
        day = _day(question, paths, arguments.seed, say)
        planned = make_plan(question, day, arguments.approach, seed=arguments.seed, say=say)
        say("drawing")
        written = _write(planned, folder)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    print_report(planned, console)
    print("", *written, sep="\n")
    return _judged(planned)


def _write(planned: Planned, folder: Path) -> list[Path]:
    from headwater.apps.pictures import can_draw
    from headwater.apps.plan.network_picture import draw
    from headwater.apps.plan.report import write_tables

    picture = folder / "plan.png"
    try:
        tables = write_tables(planned, folder)
        if not can_draw():
            return tables
        draw(planned, picture)
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    return [*tables, picture]


def _judged(planned: Planned) -> int:
    from headwater.query.language.words import counted

    failures = []
    if planned.wrong:
        failures.append(f"{planned.wrong:,} readings were delivered twice or without being requested")
    if planned.refused:
        failures.append(f"nodes refused {counted(len(planned.refused), 'message')} (see above)")
    slow = planned.counts or not planned.settled
    if planned.missed and (slow or not planned.may_lose):
        failures.append(f"{planned.missed:,} of {planned.expected:,} readings did not reach their users")
    for failure in failures:
        print(f"check failed: {failure}", file=sys.stderr)
    if planned.missed:
        print(_advice(planned, slow=bool(slow)), file=sys.stderr)
    return REFUSED if failures else DONE


def _advice(planned: Planned, *, slow: bool) -> str:
    """Why readings are missing, and what to do."""
    if slow:
        return (
            "  links are too slow for the day, or nodes must store too much (see above): "
            "give links more bandwidth or less latency, or plan fewer readings"
        )
    if planned.may_lose:
        name = planned.ours.approach
        return f"'{name}' may treat a subscription as covered when it is not: {planned.missed:,} readings are lost; 'exact' loses none"
    return (
        "  were subscriptions dropped (see above)? if not, this is an error of the approach: please report it"
    )


def _day(question: Question, paths: list[str], seed: int, say: Say) -> Day:
    from headwater.apps.plan.sensor_day import generated_day, recorded_day

    if paths:
        say("reading")
        return recorded_day(paths, question.stream, question.sources, say)
    return generated_day(question.sources, [one.operator for one in question.subscriptions], seed=seed)


def _paths(inputs: list[str], stream: str) -> list[str]:
    """The paths of the one stream that there is."""
    paths = []
    for item in inputs:
        name, equals, path = item.partition("=")
        if not equals or not name or not path:
            raise UsageError("usage", f"--input takes NAME=PATH, not '{item}'")
        if name != stream:
            advice = [f"the queries read '{stream}': --input {stream}={path}"]
            raise UsageError(
                "unknown-stream", f"--input: no query reads a stream named '{name}'", advice=advice
            )
        paths.append(path)
    return paths


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 999999999, not '{text}'")
    return int(text)


@contextmanager
def _saying() -> Iterator[Say]:
    """A moving line on standard error, if somebody is there to see it."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda words: status.update(words)
