"""`headwater test PATH…`: the cases of test files are run and compared, and differences are shown.

0    every case passed      1  a case failed, or a file is not a test file      2  the command line is invalid, or there is no case
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from headwater.apps.cli.arguments import UsageError
from headwater.apps.cli.commands import DONE, REFUSED
from headwater.apps.cli.own_process import leave_pandas_out
from headwater.model import HeadwaterError
from headwater.testing.cases import CaseFile
from headwater.testing.junit import write_junit
from headwater.testing.outcomes import Outcome, run_case
from headwater.testing.reader import SUFFIX, read_test_file
from headwater.testing.runs import Engine, LocalEngine
from headwater.testing.update import update

_EXAMPLES = """\
examples:
  headwater test frost.hwtest
  headwater test tests/ -k "warm night"
  headwater test tests/ --junit results.xml
  headwater test frost.hwtest --update

'headwater examples copy testing-queries' gives the files of the first.
"""

_COLOURS = {"-": "31", "+": "32", "F": "1;31"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", help=f"a {SUFFIX} file, or a folder with such files below it"
    )
    parser.add_argument(
        "-k", metavar="TEXT", dest="only", default="", help="only cases with this text in their name"
    )
    parser.add_argument(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="a plain loop in this process, or an embedded Spark (default: local)",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="show the differences, then write what came out into the tables of the files",
    )
    parser.add_argument("--junit", metavar="FILE", help="also write the results as JUnit XML")


def run(arguments: argparse.Namespace) -> int:
    """Test every case."""
    session = _Session(arguments.update)
    files = [file for path in _paths(arguments.paths) if (file := session.read(path))]
    only = arguments.only.lower()
    chosen = [(file, [case for case in file.cases if only in case.name.lower()]) for file in files]
    if not session.refused and not any(cases for _, cases in chosen):
        raise UsageError("no-tests", f"no case has '{arguments.only}' in its name")
    with _engine(arguments) as engine:
        for file, cases in chosen:
            session.test(file, cases, engine)
    if arguments.junit:
        write_junit(Path(arguments.junit), session.results, session.refused)
    print(session.closing())
    return REFUSED if session.failed or session.refused else DONE


@dataclass(slots=True)
class _Session:
    """The results so far; `failed` are cases that failed and were not updated."""

    update: bool
    results: list[tuple[Outcome, float]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    failed: int = 0
    updated: int = 0

    def read(self, path: Path) -> CaseFile | None:
        """A file; if it is not a test file, this is said, and others are tested."""
        try:
            return read_test_file(path)
        except HeadwaterError as fault:
            self.refused[str(path)] = str(fault)
            _say([str(fault), ""])
            return None

    def test(self, file: CaseFile, cases: Sequence[object], engine: Engine) -> None:
        """All cases of a file."""
        failed, before = [], list[str]()
        for case in file.cases:
            if case not in cases:
                continue
            began = time.monotonic()
            outcome = run_case(file, case, engine)
            self.results.append((outcome, time.monotonic() - began))
            if not outcome.passed:
                failed.append(outcome)
                lines = outcome.lines()
                shown = lines if lines != before else ["the same as above"]  # queries that many cases share
                before = lines
                _say([f"FAILED {outcome.place}: {case.name}", *(f"  {line}".rstrip() for line in shown), ""])
        self.failed += len(failed)
        if self.update and failed:
            done = update(file, failed)
            written = len(failed) - len(done.left)
            self.updated += written
            self.failed -= written
            if done.sections:
                print(f"updated {file.shown}: {done.sections} table{'s' * (done.sections != 1)}")
            for outcome in done.left:
                print(f"not updated: {outcome.place}: {outcome.case.name}: this needs a change by hand")

    def closing(self) -> str:
        """`3 passed, 1 failed`."""
        passed = sum(outcome.passed for outcome, _ in self.results)
        parts = [f"{passed:,} passed", f"{self.failed:,} failed"]
        if self.updated:
            parts.append(f"{self.updated:,} updated")
        if self.refused:
            parts.append(f"{len(self.refused):,} file{'s' * (len(self.refused) != 1)} refused")
        return ", ".join(parts)


def _paths(names: Sequence[str]) -> list[Path]:
    """Files, and those in folders, each once."""
    found: dict[Path, None] = {}
    for text in names:
        path = Path(text)
        if not path.exists():
            raise UsageError("no-tests", f"there is no file or folder '{text}'")
        files = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not files:
            raise UsageError("no-tests", f"there is no {SUFFIX} file in '{text}' or below it")
        found.update(dict.fromkeys(files))
    return list(found)


@contextmanager
def _engine(arguments: argparse.Namespace) -> Iterator[Engine]:
    if arguments.engine == "local":
        leave_pandas_out(arguments)
        yield LocalEngine()
        return
    from headwater.hosts.run_reports.spark_tables import spark_trouble
    from headwater.hosts.spark.session import embedded_spark
    from headwater.testing.spark_runs import SparkEngine

    with embedded_spark(debug=arguments.debug, small=True) as spark, spark_trouble():
        yield SparkEngine(spark)


def _say(lines: Sequence[str]) -> None:
    """Lines on standard output; differences in colour on a terminal."""
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for line in lines:
        colour = _COLOURS.get(line.lstrip()[:1]) if coloured and line[:4] in ("    ", "FAIL") else None
        print(f"\x1b[{colour}m{line}\x1b[0m" if colour else line)
