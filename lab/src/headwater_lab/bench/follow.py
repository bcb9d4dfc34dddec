"""`headwater bench follow`: situations around moving objects, on Spark streaming, and by the number of events passed to operators.

(a)  2,000 vehicles at 15 m/s in a town of 8 × 4 km, each with an event a second, 200 of which are followed: radius 500 m, a new interest
     after 250 m, a minute of history, a pattern after it; beside the no-op ceiling in the same run.
(b)  UPDATE ALWAYS: how much of the history of an interest must be passed on to a reader of plain events, to a pattern, and to queries that
     read queries, compared with streaming all of it; and the effect of each saving, by turning it off. On one core, with the same answers in every
     run.
(c)  Fences: see `fences`.

No figure counts before its answers are checked: Spark's against those of the plain loop, those with savings against those without.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from headwater.hosts.local.streaming import stream_local
from headwater.hosts.spark.session import start_spark, stop_spark
from headwater.hosts.zone import Program
from headwater.kernels.follow.choices import Saving
from headwater.model import END, SECOND, Column, ColumnType, Rows
from headwater.query.planning.plan import Plan, compile_text
from headwater.query.planning.zones import default_zones
from headwater_lab.bench.arrivals import write_arrivals
from headwater_lab.bench.ceiling import idle
from headwater_lab.bench.checks import Report, Taken
from headwater_lab.bench.fences import measure_fences
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.measuring import BenchOptions, Say, better, folder_for, milliseconds
from headwater_lab.bench.streaming import Timing, run_timed
from headwater_lab.bench.truth import identity_digest
from headwater_lab.workloads.moving_objects import Motion, Samples, make_movers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VEHICLES: Final = 2_000
FOLLOWED: Final = 200
TOWN: Final = Motion(8_000.0, 15.0, 10 * SECOND, 0.5, along_m=4_000.0)
FILES: Final = 20
WARM_UP_SECONDS: Final = 60
SHARE_OF_CEILING: Final = 0.1

ALWAYS_SECONDS: Final = 90
ALWAYS_FOLLOWED: Final = 50
ALWAYS_STEP_S: Final = 10
MOST_OF_EVENTS: Final = 0.1
MOST_OF_PATTERNS: Final = 0.5

STREAM_TEXT: Final = """\
CREATE STREAM reports (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, speed DOUBLE, PLACE (x, y)) LATE 1 SECOND;
"""
PATTERN_TEXT: Final = """
  MATCH_RECOGNIZE (
    PARTITION BY id
    MEASURES A.speed AS before, B.speed AS after
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A B) WITHIN 5 SECONDS
    DEFINE B AS B.speed < A.speed - 12
  )"""
GRAPH_TEXT: Final = f""";
CREATE QUERY jumps AS SELECT * FROM near{PATTERN_TEXT};
CREATE QUERY crawls AS SELECT * FROM near WHERE speed < 5;
CREATE QUERY queues AS SELECT * FROM crawls
  MATCH_RECOGNIZE (
    MEASURES A.id AS one, B.id AS other
    MATCH EVERY
    PATTERN (A ~> B) WITHIN 20 SECONDS
    DEFINE B AS ABS(B.x - A.x) < 50 AND ABS(B.y - A.y) < 50 AND B.id <> A.id
  )"""


@dataclass(frozen=True, slots=True)
class _Events:
    """Reports of all vehicles in order of time, with the speed that each says."""

    samples: Samples
    speed: np.ndarray

    def __len__(self) -> int:
        return len(self.samples)

    def rows(self, start: int, stop: int) -> Rows:
        """Some of them."""
        speed = Column(ColumnType.DOUBLE, self.speed[start:stop])
        return self.samples.between(start, stop).having(speed=speed)


def run_follow_bench(
    options: BenchOptions, *, say: Say = lambda line: print(line, file=sys.stderr)
) -> Report:
    """Run the chosen cases."""
    report = Report()
    if "b" in options.cases:
        _passed_on_again(options, report, say)
    measures = [
        measure for case, measure in (("a", _beside_ceiling), ("c", measure_fences)) if case in options.cases
    ]
    if measures:
        say(f"starting Spark on {options.cores} cores")
        spark = start_spark(cores=options.cores)
        try:
            for measure in measures:
                with folder_for(options.keep) as folder:
                    measure(options, report, say, folder, spark)
        finally:
            stop_spark(spark)
    return report


def question(followed: int, update: str, downstream: str) -> str:
    """A script that follows the first vehicles."""
    return (
        f"{STREAM_TEXT}CREATE QUERY near AS SELECT * FROM reports\n"
        f"  FOLLOW (reports WHERE id < {followed} RADIUS 500 METERS LAST 1 MINUTE UPDATE {update}){downstream};\n"
    )


# --- (a) ----------------------------------------------------------------------------------------------------------


def _beside_ceiling(
    options: BenchOptions, report: Report, say: Say, folder: Path, spark: SparkSession
) -> None:
    seconds = max(options.rows // VEHICLES, 60)
    say(f"(a) making {seconds} s of {VEHICLES:,} vehicles")
    events = _events(seconds, seed=options.seed)
    files = _write(events, folder / "events", seed=options.seed)
    warm_up = _write(_events(WARM_UP_SECONDS, seed=options.seed + 1), folder / "warm-up", seed=options.seed)
    text = question(FOLLOWED, "MOVED 250", PATTERN_TEXT)
    plan = compile_text(text, zones=default_zones(options.cores))
    for warming in (idle(plan), plan):
        run_timed(spark, warming, warm_up)
    say("(a) the no-op ceiling")
    ceiling, _ = better(run_timed, spark, idle(plan), files)
    say("(a) the answers")
    timing, taken = better(run_timed, spark, plan, files)
    say(f"(a) checking {taken.count:,} answers")
    _check(report, compile_text(text), files, taken)
    report.judge(
        "a: events a second on Spark over the no-op ceiling",
        timing.rate / ceiling.rate,
        "of it",
        ">=",
        SHARE_OF_CEILING,
    )
    report.notes += _notes(events, timing, ceiling, taken)


def _notes(events: _Events, timing: Timing, ceiling: Timing, taken: Taken) -> list[str]:
    return [
        f"(a) {len(events):,} events, {FOLLOWED} of {VEHICLES:,} vehicles followed: {taken.count:,} answers",
        f"    {spoken(timing.rate)} events/s beside {spoken(ceiling.rate)} without a kernel, in micro-batches of "
        f"{spoken(np.median(timing.rows))} events, the first left out",
        f"    micro-batches {milliseconds(timing)}; without a kernel {milliseconds(ceiling)}",
        f"    peak memory of a Python worker {spoken(timing.worker_peak_mib)} MiB",
    ]


def _check(report: Report, plan: Plan, files: Sequence[Path], taken: Taken) -> None:
    identities, amount = [], 0
    for step in stream_local(plan, [(plan.streams[0].name, str(file)) for file in files]):
        for rows in step.answers:
            identities.append(rows["match_id"].values)
            amount += rows.count
    report.check(amount > 0, "(a) there are no answers at all")
    report.check(taken.count == amount, f"(a) Spark gave {taken.count:,} answers, the plain loop {amount:,}")
    report.check(
        taken.digest() == identity_digest(identities),
        "(a) the answers of Spark and of the plain loop have different identities",
    )


# --- (b) ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ran:
    """What a run through the kernels alone counted, its answers, and the processor's time."""

    counts: Counter[str]
    digest: str
    answers: int
    seconds: float


def _passed_on_again(options: BenchOptions, report: Report, say: Say) -> None:
    events = _events(ALWAYS_SECONDS, seed=options.seed)
    report.notes.append(
        f"(b) UPDATE ALWAYS, {ALWAYS_FOLLOWED} of {VEHICLES:,} vehicles followed for {ALWAYS_SECONDS} s, one core"
    )
    for words, downstream, most in (
        ("events alone", "", MOST_OF_EVENTS),
        ("a downstream pattern", PATTERN_TEXT, MOST_OF_PATTERNS),
        ("queries that read queries", GRAPH_TEXT, None),
    ):
        say(f"(b) {words}")
        plan = compile_text(question(ALWAYS_FOLLOWED, "ALWAYS", downstream))
        saving, without = _run(plan, events), _run(plan, events, *Saving)
        report.check(saving.answers > 0, f"(b) {words}: there are no answers at all")
        report.check(saving.digest == without.digest, f"(b) {words}: leaving out events changes answers")
        query = next(query.name for query in plan.queries if query.kind == "follow")
        past, all_past = (ran.counts[f"events_historical:{query}"] for ran in (saving, without))
        if most is not None:
            report.judge(
                f"b: {words}: history passed on, of all of it", past / max(all_past, 1), "of it", "<=", most
            )
        report.notes.append(
            f"    {words}: {past:,} of {all_past:,} events of the past passed on, "
            f"{saving.counts[f'events_live:{query}']:,} of {without.counts[f'events_live:{query}']:,} of the present, "
            f"{saving.answers:,} answers; {saving.seconds:.1f} s, passing everything on {without.seconds:.1f} s"
        )
        for left_off in Saving:
            if not (saved := saving.counts[f"saved_{left_off.value}:{query}"]):
                continue
            ran = _run(plan, events, left_off)
            report.check(
                ran.digest == saving.digest, f"(b) {words}: without {left_off.value} answers are others"
            )
            report.notes.append(
                f"        {left_off.value}: {saved:,} events not passed on; without it "
                f"{ran.counts[f'events_historical:{query}']:,} of the past and "
                f"{ran.counts[f'events_live:{query}']:,} of the present are, {ran.seconds:.1f} s"
            )


def _run(plan: Plan, events: _Events, *left_off: Saving) -> _Ran:
    program = Program(plan.without_savings(*left_off))
    states, counts, identities = program.start().groups, Counter[str](), []
    at = events.samples.at
    edges = np.searchsorted(at, np.arange(at[0], at[-1] + 1, ALWAYS_STEP_S * SECOND)).tolist()
    begun = time.process_time()
    for start, stop in pairwise([*edges, len(events)]):
        watermark = int(at[stop]) if stop < len(events) else END
        inputs = {"reports": (events.rows(start, stop), watermark)}
        states, blocks, counted = program.advance(states, inputs)
        counts.update(counted)
        identities += [block["match_id"].values.astype("S32") for block in blocks]
    seconds = time.process_time() - begun
    return _Ran(counts, identity_digest(identities), sum(map(len, identities)), seconds)


# --- events -------------------------------------------------------------------------------------------------------


def _events(seconds: int, *, seed: int) -> _Events:
    samples = make_movers(VEHICLES, seconds, seed=seed, motion=TOWN).samples(SECOND)
    return _Events(samples, np.random.default_rng([seed, 2]).normal(15.0, 3.0, len(samples)))


def _write(events: _Events, folder: Path, *, seed: int) -> list[Path]:
    samples = events.samples
    columns = {
        "id": samples.key,
        "at": samples.at,
        "x": samples.place[:, 0],
        "y": samples.place[:, 1],
        "speed": events.speed,
    }
    return write_arrivals(columns, folder, FILES, seed=seed)
