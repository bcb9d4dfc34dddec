"""SUPPRESS and PREDICT on Spark streaming: do 100,000 objects keep up with real time, and how far is the no-op ceiling?

Readings come from files, a little out of order, as they would from a fleet: `objects` of them, each with a reading every three
seconds. The rate is the better of two runs after runs that warm up. Spark's answers must be those of the plain loop, identity by
identity, and those about a few objects what follows from the updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from headwater.hosts.local.streaming import stream_local
from headwater.hosts.spark.session import start_spark, stop_spark
from headwater.model import SECOND
from headwater.query.planning.plan import Plan, compile_text
from headwater.query.planning.zones import default_zones
from headwater_lab.bench.arrivals import write_arrivals
from headwater_lab.bench.ceiling import idle
from headwater_lab.bench.checks import Report, Taken
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.measuring import BenchOptions, Say, better, folder_for, milliseconds
from headwater_lab.bench.predict_kernel import PredictQuestion, Readings, Sending, send
from headwater_lab.bench.predict_truth import Collected, wrong_sensors
from headwater_lab.bench.streaming import Timing, run_timed
from headwater_lab.bench.truth import identity_digest
from headwater_lab.workloads.moving_objects import MOVERS_TEXT, Motion, Samples, make_movers, side_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OBJECTS: Final = 100_000
DENSITY: Final = 10.0
SAMPLE_US: Final = 3 * SECOND
NEAR_M: Final = 400.0
WITHIN_US: Final = 3 * SECOND
SENDING: Final = Sending(25.0, 30 * SECOND)
FILES: Final = 20
WARM_UP_OBJECTS: Final = 2_000
SAMPLE: Final = 3

QUERY_TEXT: Final = f"""\
{MOVERS_TEXT}
CREATE QUERY near AS SELECT a_key, a_time, b_key, b_time, begins, ends FROM movers
  SUPPRESS (x, y TOLERANCE 25 HEARTBEAT 30 SECONDS)
  PREDICT (PAIRS a, b WHERE ABS(a.x - b.x) <= 400 AND ABS(a.y - b.y) <= 400 WITHIN 3 SECONDS);
"""


@dataclass(frozen=True, slots=True)
class _Bench:
    """Samples, where they lie, and what the bench reports of them."""

    options: BenchOptions
    samples: Samples
    folder: Path
    report: Report
    say: Say


def measure_streaming(options: BenchOptions, report: Report, say: Say, *, objects: int = OBJECTS) -> None:
    """Measure and judge."""
    seconds = max(round(options.rows / objects * SAMPLE_US / SECOND), 6)
    say(f"(c) making {seconds} s of {objects:,} objects")
    samples = _samples(objects, seconds, seed=options.seed)
    with folder_for(options.keep) as folder:
        bench = _Bench(options, samples, folder, report, say)
        say(f"(c) starting Spark on {options.cores} cores")
        spark = start_spark(cores=options.cores)
        try:
            _beside_ceiling(bench, spark, objects)
        finally:
            stop_spark(spark)


def write_samples(samples: Samples, folder: Path, files: int, *, seed: int) -> list[Path]:
    """As so many files in the order in which they arrive."""
    columns = {"id": samples.key, "at": samples.at, "x": samples.place[:, 0], "y": samples.place[:, 1]}
    return write_arrivals(columns, folder, files, seed=seed)


def _beside_ceiling(bench: _Bench, spark: SparkSession, objects: int) -> None:
    seed = bench.options.seed
    files = write_samples(bench.samples, bench.folder / "samples", FILES, seed=seed)
    small = _samples(WARM_UP_OBJECTS, 60, seed=seed + 1)
    warm_up = write_samples(small, bench.folder / "warm-up", FILES, seed=seed)
    plan = compile_text(QUERY_TEXT, zones=default_zones(bench.options.cores))
    for warming in (idle(plan), plan):
        run_timed(spark, warming, warm_up)
    bench.say("(c) the no-op ceiling")
    ceiling, _ = better(run_timed, spark, idle(plan), files)
    bench.say("(c) the answers")
    timing, taken = better(run_timed, spark, plan, files)
    bench.say(f"(c) checking {taken.count:,} answers")
    updates = _check(bench, compile_text(QUERY_TEXT, zones=1), files, taken)
    real = objects / (SAMPLE_US / SECOND)
    bench.report.judge(
        f"c: {objects:,} objects on Spark over real time", timing.rate / real, "times", ">=", 1.0
    )
    _notes(bench, timing, ceiling, taken, real, updates)


def _notes(bench: _Bench, timing: Timing, ceiling: Timing, taken: Taken, real: float, updates: int) -> None:
    readings = len(bench.samples)
    bench.report.notes += [
        f"(c) {readings:,} readings, real time is {spoken(real)} a second: {updates:,} updates, {taken.count:,} answers",
        f"    {spoken(timing.rate)} readings/s beside {spoken(ceiling.rate)} without a kernel ({timing.rate / ceiling.rate:.2f} of it) in "
        f"micro-batches of {spoken(np.median(timing.rows))} readings, the first left out;",
        f"    with the first and the last flush {spoken(timing.rate_of_all)} beside {spoken(ceiling.rate_of_all)}",
        f"    micro-batches {milliseconds(timing)}; without a kernel {milliseconds(ceiling)}",
        f"    peak memory of a Python worker {spoken(timing.worker_peak_mib)} MiB",
    ]


def _check(bench: _Bench, plan: Plan, files: Sequence[Path], taken: Taken) -> int:
    """Spark's answers are those of the plain loop, and those about a few objects follow from the updates."""
    samples, report = bench.samples, bench.report
    sent = send(Readings(("x", "y"), samples.key, samples.at, samples.place), SENDING)
    random = np.random.default_rng(bench.options.seed)
    collected = Collected.about(random.choice(int(samples.key.max()) + 1, SAMPLE, replace=False).tolist())
    identities, amount = [], 0
    for step in stream_local(plan, [(plan.streams[0].name, str(file)) for file in files]):
        for rows in step.answers:
            collected.take(rows)
            identities.append(rows["match_id"].values)
            amount += rows.count
    wrong = wrong_sensors(collected, sent, PredictQuestion(NEAR_M, WITHIN_US))
    report.check(not wrong, f"(c) the plain loop reports wrong answers about objects {wrong}")
    report.check(taken.count == amount, f"(c) Spark gave {taken.count:,} answers, the plain loop {amount:,}")
    report.check(
        taken.digest() == identity_digest(identities),
        "(c) the answers of Spark and of the plain loop have different identities",
    )
    report.check(amount > 0, "(c) there are no answers at all")
    return sent.count


def _samples(objects: int, seconds: int, *, seed: int) -> Samples:
    motion = Motion(side_m=side_for(objects, DENSITY))
    return make_movers(objects, seconds, seed=seed, motion=motion).samples(SAMPLE_US)
