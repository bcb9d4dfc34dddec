"""`headwater bench FAMILY`: how fast it is here, beside the targets, with the answers checked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headwater.apps.cli.arguments import UsageError, folder_for

if TYPE_CHECKING:
    from headwater_lab.bench.checks import Report

LETTERS = "abc"

_FAMILIES: Final = ("correlate", "patterns", "nearest", "predict", "follow", "state", "start")

_ONLY_FOR: Final = {
    "flink": ("correlate", "patterns"),
    "real": ("nearest",),
    "rows": _FAMILIES[:-1],
    "tries": ("start",),
}
"""Flags that only some families have a use for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument(
        "family",
        nargs="?",
        choices=_FAMILIES,
        default="correlate",
        help="what to measure (default: correlate)",
    )
    parser.add_argument(
        "--rows",
        type=_rows,
        metavar="N",
        help="rows (default: 2000000, of patterns 3000000, of nearest 1000000; of predict readings on Spark, 2000000; of follow events, 2000000; of state idle keys, 1000000)",
    )
    parser.add_argument(
        "--cases",
        type=_cases,
        default=tuple(LETTERS),
        metavar="a,b,c",
        help="correlate: one subscription (a), 1,000 (b), 8,000 on regions (c); patterns: one (a), one that looks back (b), "
        "100 at once (c); nearest: algorithms and k (a), 10,000 queries (b), Spark (c); predict: the paper's 1,000 objects (a), cost against "
        "their number (b), 100,000 on Spark (c); follow: Spark (a), what is passed on again (b), fences on Spark (c); state: steps among idle keys (a), on Spark (b), what keys that are gone leave (c); "
        "start: commands (a), Python (b), Spark and the demo (c); default: all",
    )
    parser.add_argument("--cores", type=int, default=2, metavar="N", help="cores for Spark (default: 2)")
    parser.add_argument("--seed", type=int, default=7, help="of the rows and the queries (default: 7)")
    parser.add_argument(
        "--flink",
        metavar="PYTHON",
        help="correlate and patterns: an interpreter that has apache-flink, to compare with",
    )
    parser.add_argument(
        "--real", type=Path, metavar="FILE", help="nearest: a CSV of numbers, to draw objects from as well"
    )
    parser.add_argument(
        "--tries",
        type=_tries,
        metavar="N",
        help="start: how often a case starts again after its first start (default: 5)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the rows in DIR")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and say whether the answers were right; a figure that is not met is no failure."""
    from headwater_lab.bench.figures import table, write_figures

    _refuse_flags_of_others(arguments)
    if arguments.json:
        folder_for(arguments.json.parent)
    report = _measure(arguments)
    print(table(report.figures), "", *report.notes, sep="\n")
    if arguments.json:
        write_figures(report.figures, arguments.json)
    for failure in report.failures:
        print(f"check failed: {failure}", file=sys.stderr)
    return 1 if report.failures else 0


def _measure(arguments: argparse.Namespace) -> Report:
    from headwater_lab.bench.correlate import run_correlate
    from headwater_lab.bench.follow import run_follow_bench
    from headwater_lab.bench.measuring import BenchOptions
    from headwater_lab.bench.nearest import run_nearest
    from headwater_lab.bench.patterns import run_patterns
    from headwater_lab.bench.predict import run_predict
    from headwater_lab.bench.start import TRIES, run_start
    from headwater_lab.bench.state import run_state

    if arguments.family == "start":
        return run_start(arguments.cases, tries=arguments.tries or TRIES)
    rest = {name: getattr(arguments, name) for name in ("cases", "cores", "seed", "keep", "flink")}
    if arguments.family == "patterns":
        return run_patterns(BenchOptions(arguments.rows or 3_000_000, **rest))
    if arguments.family == "nearest":
        return run_nearest(BenchOptions(arguments.rows or 1_000_000, **rest), real=arguments.real)
    if arguments.family == "predict":
        return run_predict(BenchOptions(arguments.rows or 2_000_000, **rest))
    if arguments.family == "follow":
        return run_follow_bench(BenchOptions(arguments.rows or 2_000_000, **rest))
    if arguments.family == "state":
        return run_state(BenchOptions(arguments.rows or 1_000_000, **rest))
    return run_correlate(BenchOptions(arguments.rows or 2_000_000, **rest))


def _refuse_flags_of_others(arguments: argparse.Namespace) -> None:
    """Before anything is measured: a flag that would change nothing is a mistake."""
    for flag, families in _ONLY_FOR.items():
        if getattr(arguments, flag) is not None and arguments.family not in families:
            raise UsageError(
                "usage",
                f"'{arguments.family}' takes no --{flag}",
                advice=[f"leave it out: it is for {' and '.join(families)}"],
            )


def _rows(text: str) -> int:
    least = 100_000
    if not text.isdigit() or int(text) < least:
        raise argparse.ArgumentTypeError(f"at least {least:,} rows are required, not '{text}'")
    return int(text)


def _tries(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, not '{text}'")
    return int(text)


def _cases(text: str) -> tuple[str, ...]:
    letters = tuple(part.strip() for part in text.split(","))
    unknown = [letter for letter in letters if letter not in tuple(LETTERS)]
    if unknown:
        raise argparse.ArgumentTypeError(f"the cases are {', '.join(LETTERS)}; there is no '{unknown[0]}'")
    return letters
