"""What do keys cost that nobody hears of? Steps among idle keys, restarts with them, and what is left when they are gone.

(a) Every operator, in a zone of its own without Spark: some keys come once and stay, then small steps touch a few of them. A
    step with many idle keys is to cost what it costs with few: it is the processor time of stepping, saving and encoding.
    Steps take turns with those of a second zone with few keys, the control: on a quiet machine it costs what the first does.
(b) A pattern on Spark, with an open partial match for every key: processor time of all Python workers, and of everything, a
    micro-batch; how long a restart takes until its first answer, and how large the checkpoint is.
(c) Every operator: keys come and go, and the bytes that are saved are compared with those for a tenth as many keys.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.hosts.zone import Arrivals, Program, Unit, ZoneState, cells_of, clusters_of, save_zone
from headwater.model import SECOND, Column, ColumnType, Rows, strings
from headwater.query.planning.plan import compile_text
from headwater_lab.bench.checks import Report
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.measuring import BenchOptions, Say

Keys = NDArray[np.int64]

FEW: Final = 1_000
LOADED_AT_ONCE: Final = 100_000
TOUCHED: Final = 250
STEPS: Final = 30
WARM_UP: Final = 5
BEGIN_US: Final = 1_780_000_000 * SECOND
MOST_TIMES: Final = 1.3

STREAM: Final = """\
CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, v DOUBLE, PLACE (x, y)) LATE 0 SECONDS;
"""

_FOLLOW: Final = "FOLLOW (s RADIUS 5 LAST 1 SECOND FORGET {window})"

OPERATORS: Final = {
    "SELECT": "SELECT id FROM s WHERE v > 1000",
    "CORRELATE": "SELECT * FROM s CORRELATE (v > 80 AS high, v < -1 AS low WITHIN {window}, 100 METERS)",
    "NEAREST": "SELECT * FROM s NEAREST (10 TO (0) BY (v) OVER {window})",
    "NEAREST PER": "SELECT * FROM s NEAREST (3 TO (0) BY (v) OVER {window} PER id)",
    "MATCH_RECOGNIZE": "SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY id PATTERN (a b) WITHIN {window} "
    "DEFINE a AS v > 80, b AS v < -1)",
    "MATCH EVERY": "SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY id MATCH EVERY PATTERN (a ~> b) WITHIN {window} "
    "DEFINE a AS v > 80, b AS v < -1)",
    "SUPPRESS": "SELECT * FROM s SUPPRESS (v TOLERANCE 1 HEARTBEAT {window} USING CONSTANT FORGET {window})",
    "PREDICT": "SELECT * FROM s SUPPRESS (v TOLERANCE 1 HEARTBEAT {window} USING CONSTANT FORGET {window}) PREDICT (v > 1000)",
    "PREDICT PAIRS": "SELECT * FROM s SUPPRESS (x, y TOLERANCE 1 HEARTBEAT {window} USING CONSTANT FORGET {window}) "
    "PREDICT (PAIRS a, b WHERE ABS(a.x - b.x) <= 5 AND ABS(a.y - b.y) <= 5 WITHIN 1 SECOND)",
    "FOLLOW": f"SELECT * FROM s {_FOLLOW}",
    "FOLLOW, then pattern": f"SELECT * FROM s {_FOLLOW} MATCH_RECOGNIZE (PARTITION BY id PATTERN (a b) WITHIN {{window}} "
    "DEFINE a AS v > 80, b AS v < -1)",
    "FOLLOW, then CORRELATE": f"SELECT * FROM s {_FOLLOW} CORRELATE (v > 80 AS high, v < -1 AS low WITHIN {{window}}, 100 METERS)",
    "FOLLOW, then NEAREST": f"SELECT * FROM s {_FOLLOW} NEAREST (10 TO (0) BY (v) OVER {{window}})",
    "FENCE": "SELECT * FROM s FENCE (s RADIUS 5 FORGET {window})",
}
"""One query of every kind. Keys are far from one another, and no value ever completes a match."""

STAYING: Final = "1 HOUR"
LEAVING: Final = "10 SECONDS"


def run_state(options: BenchOptions) -> Report:
    """Measure and judge; `rows` is the number of idle keys."""
    report = Report()

    def say(words: str) -> None:
        print(words, file=sys.stderr)

    if "a" in options.cases:
        _measure_steps(options, report, say)
    if "b" in options.cases:
        from headwater_lab.bench.state_on_spark import measure_on_spark

        measure_on_spark(options, report, say)
    if "c" in options.cases:
        _measure_leavings(options, report, say)
    return report


# --- (a) steps among idle keys ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one step: milliseconds of processor time, and bytes that are written."""

    milliseconds: float
    written: int


@dataclass(frozen=True, slots=True)
class StepCosts:
    """Of several steps: milliseconds of processor time in the median, on average and at worst, and the median of bytes that are written.

    Steps in which large runs of a store are merged are few: they show on average and at worst only.
    """

    milliseconds: float
    mean_ms: float
    worst_ms: float
    written: int

    @classmethod
    def of(cls, costs: Sequence[Cost]) -> StepCosts:
        """What they are together."""
        times = np.array([cost.milliseconds for cost in costs])
        written = int(np.median([cost.written for cost in costs]))
        return cls(float(np.median(times)), float(times.mean()), float(times.max()), written)

    @property
    def in_words(self) -> str:
        """Median, mean and worst."""
        return f"{self.milliseconds:.2f} ms a step (mean {self.mean_ms:.2f}, worst {self.worst_ms:.2f})"


def _measure_steps(options: BenchOptions, report: Report, say: Say) -> None:
    for name in OPERATORS:
        few, control, many = step_costs(name, (FEW, FEW, options.rows), seed=options.seed)
        say(f"(a) {name}: {few.in_words} with {FEW:,} keys, {many.in_words} with {options.rows:,}")
        report.judge(
            f"a: {name}, times as long", many.milliseconds / few.milliseconds, "times", "<=", MOST_TIMES
        )
        report.notes.append(
            f"(a) {name}: {few.in_words} and {many.in_words}, "
            f"control {control.milliseconds / few.milliseconds:.2f} times, "
            f"{spoken(few.written)} and {spoken(many.written)} bytes written"
        )


def step_costs(operator: str, numbers_of_keys: Sequence[int], *, seed: int) -> list[StepCosts]:
    """What steps of TOUCHED rows cost with each of these numbers of keys: STEPS of each, which take turns."""
    zones = [loaded(operator, keys) for keys in numbers_of_keys]
    random = np.random.default_rng(seed)
    rounds = [
        [
            zone.take(random.choice(keys, TOUCHED, replace=False))
            for zone, keys in zip(zones, numbers_of_keys, strict=True)
        ]
        for _ in range(WARM_UP + STEPS)
    ]
    return [StepCosts.of(costs) for costs in zip(*rounds[WARM_UP:], strict=True)]


def loaded(operator: str, keys: int) -> Zone:
    """A zone in which so many keys came once."""
    zone = Zone(operator, STAYING)
    for first in range(0, keys, LOADED_AT_ONCE):
        zone.take(np.arange(first, min(first + LOADED_AT_ONCE, keys)))
    return zone


class Zone:
    """One zone of one query, saved after every step as on Spark, but to nowhere."""

    def __init__(self, operator: str, window: str) -> None:
        text = f"{STREAM}CREATE QUERY q AS {OPERATORS[operator].format(window=window)};"
        self.program = Program(compile_text(text))
        self.state: ZoneState = self.program.start()
        self.saved: set[str] = set()
        self.number = 0
        self.answers: tuple[Rows, ...] = ()

    def take(self, keys: Sequence[int] | Keys) -> Cost:
        """A row of every key, a second after the last ones."""
        rows = rows_of(np.asarray(keys, np.int64), self.number)
        unit = Unit("s", self.number, 0, clusters_of(rows["at"].values), rows)
        self.number += 1
        began = time.process_time()
        self.state, output = self.program.step(self.state, Arrivals({"s": [unit]}))
        written = self._save()
        self.answers = output.answers
        return Cost((time.process_time() - began) * 1e3, written)

    def _save(self) -> int:
        saved = save_zone(self.program, self.state)
        new = [
            data
            for key, chunk in saved.chunks.items()
            if key not in self.saved
            for _, data in cells_of(key, chunk)
        ]
        self.saved = set(saved.chunks)
        return len(saved.head) + sum(map(len, new))

    @property
    def size(self) -> int:
        """The bytes of everything that is saved."""
        saved = save_zone(self.program, self.state)
        return len(saved.head) + sum(map(len, saved.cells().values()))


def rows_of(keys: Keys, second: int) -> Rows:
    """A row of each key at one time. Every key has a place of its own, in which it moves; its value differs from all of the last 100 seconds."""
    count = len(keys)
    return Rows.of(
        {
            "id": strings([f"sensor-{key:07d}" for key in keys.tolist()]),
            "at": Column(ColumnType.TIMESTAMP, np.full(count, BEGIN_US + second * SECOND)),
            "x": Column(ColumnType.DOUBLE, 100.0 * (keys % 1_000) + 0.2 * (37 * second % 101)),
            "y": Column(ColumnType.DOUBLE, 100.0 * (keys // 1_000)),
            "v": Column(ColumnType.DOUBLE, np.full(count, 90.0 + 2.0 * (37 * second % 101))),
        }
    )


# --- (c) keys that come and go ----------------------------------------------------------------------------------------


def _measure_leavings(options: BenchOptions, report: Report, say: Say) -> None:
    for name in OPERATORS:
        tenth, all_of_them = (bytes_left(name, keys) for keys in (options.rows // 10, options.rows))
        each = (all_of_them - tenth) / (options.rows * 0.9)
        say(f"(c) {name}: {all_of_them:,} bytes after {options.rows:,} keys")
        report.judge(f"c: {name}, bytes left of a key", each, "bytes", "<", 0.01)
        report.notes.append(
            f"(c) {name}: {tenth:,} bytes after {options.rows // 10:,} keys have gone, {all_of_them:,} after {options.rows:,}"
        )


def bytes_left(operator: str, keys: int) -> int:
    """What is saved when so many keys have come and their windows are over."""
    zone = Zone(operator, LEAVING)
    for chosen in comings(keys):
        zone.take(chosen)
    for _ in range(45):  # more than any window of those, twice over
        zone.take([keys])
    return zone.size


def comings(keys: int) -> Iterator[Keys]:
    """All keys, once each, some at a time."""
    at_once = min(LOADED_AT_ONCE, max(keys // 20, 1))
    for first in range(0, keys, at_once):
        yield np.arange(first, min(first + at_once, keys))
