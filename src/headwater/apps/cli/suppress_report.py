"""`headwater suppress-report FILE --input NAME=PATH …`: what each predictor and tolerance of SUPPRESS saves, and what error remains."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from headwater.apps.cli.arguments import UsageError, add_file, folder_for, read_queries, unwritable
from headwater.apps.cli.commands import DONE

if TYPE_CHECKING:
    from headwater.apps.suppression.choices import Choice
    from headwater.apps.suppression.comparison import Comparison
    from headwater.apps.suppression.recorded_samples import Question, Say
    from headwater.query.checking.catalogue import Catalogue

Read = TypeVar("Read")

_EXAMPLES = """\
examples:
  headwater suppress-report cars.hw --input cars=trace.csv
  headwater suppress-report cars.hw --input cars=trace.csv --tolerance 10,25,50 --predictor slope --predictor 'kalman 0.5, 25'
  headwater suppress-report lab.hw --query warm --input lab=2026-01/ --output report/

A predictor without numbers uses those of the query, or the best of a few on these readings.
'headwater examples copy cars' gives the files of the first two.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = _EXAMPLES
    add_file(parser)
    parser.add_argument(
        "--input",
        action="append",
        required=True,
        metavar="NAME=PATH",
        help="recorded readings of the stream NAME, as for 'headwater run'",
    )
    parser.add_argument("--query", metavar="Q", help="only this query (default: every query with a SUPPRESS)")
    parser.add_argument(
        "--tolerance",
        metavar="N,N,…",
        help="the tolerances to compare (default: 1/4, 1/2, 1, 2 and 4 times that of the query)",
    )
    parser.add_argument(
        "--predictor",
        action="append",
        metavar="P",
        help="a predictor to compare, as written after USING; repeat it for others (default: all five)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where to write suppress-report.csv and suppress-report.png (default: the current folder)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Read, compare, write, tell."""
    from headwater.apps.suppression.choices import EVERY, choice_in, tolerances_in
    from headwater.query.checking.check import check

    tolerances = _read(tolerances_in, arguments.tolerance, "--tolerance")
    choices = [_parsed(choice_in, text, "--predictor") for text in arguments.predictor or ()] or EVERY
    text = read_queries(arguments.file)
    catalogue = check(text, file=arguments.file)
    chosen = _chosen(catalogue, arguments.query)
    folder = folder_for(arguments.output)
    with _saying() as say:
        comparisons = [
            _compared(catalogue, question, text, arguments.input, choices, tolerances, say)
            for question in chosen
        ]
        say("drawing")
        written = _write(comparisons, folder)
    for comparison in comparisons:
        print(*comparison.lines(), "", sep="\n")
    print(*written, sep="\n")
    return DONE


def _compared(
    catalogue: Catalogue,
    question: Question,
    text: str,
    input_arguments: list[str],
    choices: Sequence[Choice],
    tolerances: Sequence[float] | None,
    say: Say,
) -> Comparison:
    from headwater.apps.cli.declared_sets import read_sets
    from headwater.apps.cli.run import read_inputs
    from headwater.apps.suppression.comparison import compare
    from headwater.apps.suppression.recorded_samples import plan_of_samples, read_samples

    plan = plan_of_samples(catalogue, question, text)
    inputs: Mapping[str, list[str]] = read_inputs(input_arguments, plan)
    prepared = read_sets(plan, inputs)
    recorded = read_samples(prepared.plan, question, prepared.streams, say)
    return compare(question, recorded, choices, tolerances, say)


def _write(comparisons: Sequence[Comparison], folder: Path) -> list[Path]:
    from headwater.apps.pictures import can_draw
    from headwater.apps.suppression.comparison import write_table
    from headwater.apps.suppression.comparison_picture import draw

    table, picture = folder / "suppress-report.csv", folder / "suppress-report.png"
    try:
        write_table(comparisons, table)
        if not can_draw():
            return [table]
        draw(comparisons, picture)
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    return [table, picture]


def _chosen(catalogue: Catalogue, name: str | None) -> list[Question]:
    from headwater.apps.suppression.recorded_samples import questions
    from headwater.query.language.suggestions import suggest

    found = questions(catalogue)
    if not found:
        raise UsageError(
            "usage",
            "no query has a SUPPRESS",
            advice=["add one: … FROM cars SUPPRESS (x, y TOLERANCE 25 HEARTBEAT 30 SECONDS)"],
        )
    if name is None:
        return found
    chosen = [question for question in found if question.query.name == name or question.name == name]
    if chosen:
        return chosen
    known = [question.name for question in found]
    if name in catalogue.queries:
        message = f"'{name}' has no SUPPRESS: there is nothing to compare"
        raise UsageError("usage", message, advice=suggest(name, known, "queries with a SUPPRESS"))
    advice = suggest(name, known, "queries with a SUPPRESS")
    raise UsageError("unknown-query", f"there is no query named '{name}'", advice=advice)


def _read(read: Callable[[str], Read], text: str | None, flag: str) -> Read | None:
    return None if text is None else _parsed(read, text, flag)


def _parsed(read: Callable[[str], Read], text: str, flag: str) -> Read:
    """What a flag says; what says nothing is a command line that makes no sense."""
    from headwater.apps.suppression.choices import ChoiceError

    try:
        return read(text)
    except ChoiceError as fault:
        raise UsageError("usage", f"{flag}: {fault}", advice=fault.advice) from fault


@contextmanager
def _saying() -> Iterator[Say]:
    """A moving line on standard error, if somebody is there to see it."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda words: status.update(words)
