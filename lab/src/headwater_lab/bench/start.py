"""How long does somebody wait for the first answer? From the start of a process, with nothing stored by an earlier one and with everything.

(a) Commands: `--help`, `check`, and runs of six rows on the local engine.
(b) Python, as in a cell of a notebook: pandas is imported, then `hw.run` on the local engine gives a table.
(c) Spark: the same with `hw.session()`, and the demo until it shows an answer.

The first start has an empty cache folder: everything is compiled and Java has no class archive. It is measured once. Later starts share the
folder that it filled; their figures are medians. Python's own bytecode is there from the beginning, as it is after an installation.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headwater.hosts.cores import usable_cores
from headwater_lab.bench.checks import Report
from headwater_lab.bench.measuring import Say
from headwater_lab.bench.processes import processor_time

TRIES: Final = 5
"""Later starts of every case, when nothing else is said."""

STREAM: Final = """\
CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, temperature DOUBLE, humidity DOUBLE, PLACE (x, y)
) LATE 10 SECONDS;
"""

QUERIES: Final = {
    "SELECT": "SELECT station, temperature FROM weather WHERE temperature > 20",
    "CORRELATE": "SELECT * FROM weather CORRELATE (temperature > 25, humidity > 75 WITHIN 30 SECONDS, 500 METERS)",
    "MATCH_RECOGNIZE": """SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station ORDER BY at
  MEASURES FIRST(A.at) AS began, LAST(B.temperature) AS peak
  ONE ROW PER MATCH
  PATTERN (A B+) WITHIN INTERVAL '1' MINUTE
  DEFINE B AS B.temperature > PREV(B.temperature)
)""",
}

ROWS: Final = """\
station,at,x,y,temperature,humidity
a,2026-01-01T00:00:00Z,0,0,15,70
b,2026-01-01T00:00:05Z,10,0,25,50
a,2026-01-01T00:00:10Z,0,0,22,70
b,2026-01-01T00:00:15Z,10,0,26,80
a,2026-01-01T00:00:20Z,0,0,23,60
b,2026-01-01T00:00:25Z,10,0,20,65
"""

ANSWERS: Final = {"SELECT": 4, "CORRELATE": 1, "MATCH_RECOGNIZE": 2}

_CELL: Final = """\
import pandas as pd
import headwater as hw

rows = pd.read_csv({rows!r}, parse_dates=["at"])
answers = hw.run({text!r}, {{"weather": rows}}, {engine})
for row in answers["q"].to_pandas().to_dict("records"):
    print(row)
"""

_ANSWERS_OF_DEMO: Final = re.compile(r"answers +[1-9]")


@dataclass(frozen=True, slots=True)
class Case:
    """What is started, how many lines of answers it must print, and within how many seconds; None: there is no target.

    `until`: it is over with the first line in which this is found; None: with the process.
    """

    letter: str
    name: str
    command: tuple[str, ...]
    answers: int | None = None
    first_s: float | None = None
    later_s: float | None = None
    until: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """One start: seconds on the clock and of processor time, and whether it printed what it must."""

    wall_s: float
    cpu_s: float
    right: bool


def run_start(letters: Sequence[str], *, tries: int) -> Report:
    """Measure and judge."""
    report = Report()

    def say(words: str) -> None:
        print(words, file=sys.stderr)

    load, cores = os.getloadavg()[0], usable_cores()
    if load > cores / 2:
        report.notes.append(
            f"the machine was busy (load {load:.1f} on {cores} cores): seconds on the clock say little, see processor time"
        )
    # Processes that compile for later starts may still write there when the last run is over.
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as folder:
        for case in cases(Path(folder)):
            if case.letter in letters:
                _measure(case, Path(folder), tries, report, say)
    return report


def cases(folder: Path) -> list[Case]:
    """Every case, with the files that they need."""
    rows, everything = folder / "rows.csv", folder / "all.hw"
    rows.write_text(ROWS)
    everything.write_text(STREAM + "".join(f'CREATE QUERY "{n}" AS {q};\n' for n, q in QUERIES.items()))
    headwater = (sys.executable, "-c", "import sys; from headwater.apps.cli import main; sys.exit(main())")
    found = [
        Case("a", "--help", (*headwater, "--help")),
        Case("a", "check", (*headwater, "check", str(everything)), first_s=0.5, later_s=0.5),
    ]
    for name, query in QUERIES.items():
        text = f"{STREAM}CREATE QUERY q AS {query};\n"
        file = folder / f"{name}.hw"
        file.write_text(text)
        words = ("run", str(file), "--engine", "local", "--input", f"weather={rows}", "--quiet")
        found.append(Case("a", f"run, {name}", (*headwater, *words), ANSWERS[name], first_s=6.0, later_s=1.0))
    for letter, engine in (("b", 'engine="local"'), ("c", "session=hw.session()")):
        for name, query in QUERIES.items():
            cell = _CELL.format(rows=str(rows), text=f"{STREAM}CREATE QUERY q AS {query};\n", engine=engine)
            first_s = 6.0 if letter == "b" else None
            command = (sys.executable, "-c", cell)
            found.append(Case(letter, f"hw.run, {name}", command, ANSWERS[name], first_s))
    demo = (*headwater, "demo", "--seconds", "1")
    found.append(Case("c", "demo", demo, first_s=40.0, until=_ANSWERS_OF_DEMO))
    return found


def _measure(case: Case, folder: Path, tries: int, report: Report, say: Say) -> None:
    """The first start and later ones, told and judged."""
    cache = Path(tempfile.mkdtemp(prefix="cache-", dir=folder))
    starts = [start(case, cache) for _ in range(1 + tries)]
    first, later = starts[0], starts[1:]
    wall = statistics.median(each.wall_s for each in later)
    cpu = statistics.median(each.cpu_s for each in later)
    said = (
        f"({case.letter}) {case.name}: first {first.wall_s:.2f} s ({first.cpu_s:.2f} s of processor time), "
        f"later {wall:.2f} s ({cpu:.2f})"
    )
    say(said)
    report.notes.append(said)
    right = all(each.right for each in starts)
    report.check(right, f"({case.letter}) {case.name} did not print what it must")
    if case.first_s is not None:
        report.judge(f"{case.letter}: {case.name}, first start", first.wall_s, "s", "<=", case.first_s)
    if case.later_s is not None:
        report.judge(f"{case.letter}: {case.name}, later starts", wall, "s", "<=", case.later_s)


def start(case: Case, cache: Path) -> Start:
    """Run a case once, with what lies in a cache folder."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    clock = _Clock()
    with subprocess.Popen(
        case.command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if case.until is not None and case.until.search(line):
                clock.stop()
                break
        process.stdout.read()  # it ends by itself, and must not find a closed pipe
        process.wait()
    over = clock.stopped or case.until is None
    clock.stop()
    right = process.returncode == 0 and over and case.answers in (None, len(lines))
    return Start(clock.wall_s, clock.cpu_s, right)


class _Clock:
    """Seconds since it was made, until it is stopped for the first time."""

    def __init__(self) -> None:
        self.stopped = False
        self.cpu_s = processor_time().everything
        self.wall_s = time.perf_counter()

    def stop(self) -> None:
        """Read it, if it still goes."""
        if not self.stopped:
            self.stopped = True
            self.wall_s = time.perf_counter() - self.wall_s
            self.cpu_s = processor_time().everything - self.cpu_s
