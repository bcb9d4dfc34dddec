"""NEAREST on Spark streaming, beside the no-op ceiling and beside Spark's own way.

Every rate of ours is the better of two runs after runs that warm up. Spark's own way is run once, over a few windows: it takes
half a minute for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from headwater.hosts.local.streaming import stream_local
from headwater.hosts.spark.session import start_spark, stop_spark
from headwater.model import Rows
from headwater.query.planning.plan import Plan, compile_text
from headwater.query.planning.zones import default_zones
from headwater_lab.bench.ceiling import idle
from headwater_lab.bench.checks import Report, Taken
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.measuring import BenchOptions, Say, better, folder_for, milliseconds
from headwater_lab.bench.nearest_kernel import differing, sample
from headwater_lab.bench.nearest_native import nearest_of_batch, run_native_rank
from headwater_lab.bench.nearest_objects import (
    Floats,
    Objects,
    arrivals,
    make_objects,
    point_rows,
    uniform,
    write_objects,
    write_points,
)
from headwater_lab.bench.nearest_questions import NearestQuestion
from headwater_lab.bench.nearest_truth import emitted, expected
from headwater_lab.bench.streaming import FILES_PER_BATCH, Timing, run_timed
from headwater_lab.bench.truth import identity_digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES: Final = 20
WARM_UP_OBJECTS: Final = 120_000
WARM_UP_FILES: Final = 60
NATIVE_BATCHES: Final = 4


@dataclass(frozen=True, slots=True)
class _Bench:
    """Which question about which objects, and where they lie."""

    options: BenchOptions
    question: NearestQuestion
    points: Floats
    objects: Objects
    folder: Path
    report: Report
    say: Say

    def plan(self, zones: int) -> Plan:
        return compile_text(self.question.text(), zones=zones).with_sets({"points": point_rows(self.points)})


def measure_streaming(
    options: BenchOptions, question: NearestQuestion, points: Floats, report: Report, say: Say
) -> None:
    """Measure and judge one question on uniform objects."""
    with folder_for(options.keep) as folder:
        say(f"(c) making {options.rows:,} objects")
        objects = make_objects(uniform(), options.rows, seed=options.seed)
        bench = _Bench(options, question, points, objects, folder, report, say)
        say(f"(c) starting Spark on {options.cores} cores")
        spark = start_spark(cores=options.cores)
        try:
            timing = _beside_ceiling(bench, spark)
            _beside_native(bench, spark, timing)
        finally:
            stop_spark(spark)


def _beside_ceiling(bench: _Bench, spark: SparkSession) -> Timing:
    files = _write(bench.objects, bench.folder / "objects", FILES, seed=bench.options.seed)
    small = make_objects(uniform(), WARM_UP_OBJECTS, seed=bench.options.seed + 1)
    warm_up = _write(small, bench.folder / "warm-up", WARM_UP_FILES, seed=bench.options.seed)
    plan = bench.plan(default_zones(bench.options.cores))
    for warming in (idle(plan), plan):
        run_timed(spark, warming, warm_up)
    bench.say("(c) the no-op ceiling")
    ceiling, _ = better(run_timed, spark, idle(plan), files)
    bench.say("(c) the answers")
    timing, taken = better(run_timed, spark, plan, files)
    bench.say(f"(c) checking {taken.count:,} answers")
    _check(bench, files, taken)
    queries = len(bench.points)
    bench.report.judge(
        f"c: {queries} queries on Spark over the no-op ceiling",
        timing.rate / ceiling.rate,
        "ratio",
        ">=",
        0.3,
    )
    bench.report.notes += [
        f"(c) {queries} queries, k = {bench.question.k}, EXACT, uniform: {taken.count / len(bench.objects):.3f} answers an object",
        f"    {spoken(timing.rate)} objects/s beside {spoken(ceiling.rate)} without a kernel in micro-batches of "
        f"{spoken(np.median(timing.rows))} objects, the first left out;",
        f"    with the first and the last flush {spoken(timing.rate_of_all)} beside {spoken(ceiling.rate_of_all)}",
        f"    micro-batches {milliseconds(timing)}; without a kernel {milliseconds(ceiling)}",
        f"    peak memory of a Python worker {spoken(timing.worker_peak_mib)} MiB",
    ]
    return timing


def _check(bench: _Bench, files: Sequence[Path], taken: Taken) -> None:
    """Spark's answers are those of the plain loop, and those for a few of the points follow from the objects."""
    blocks = _plain_answers(bench.plan(1), files)
    chosen = sample(len(bench.points), seed=bench.options.seed)
    question = bench.question
    must = expected(bench.objects, bench.points, chosen, k=question.k, window_us=question.window_us)
    wrong = differing(must, emitted(blocks), chosen)
    report, amount = bench.report, sum(rows.count for rows in blocks)
    report.check(not wrong, f"(c) the plain loop reports wrong answers for points {wrong}")
    report.check(taken.count == amount, f"(c) Spark gave {taken.count:,} answers, the plain loop {amount:,}")
    report.check(
        taken.digest() == identity_digest(rows["match_id"].values for rows in blocks),
        "(c) the answers of Spark and of the plain loop have different identities",
    )
    report.check(amount > 0, "(c) there are no answers at all")


def _beside_native(bench: _Bench, spark: SparkSession, timing: Timing) -> None:
    window, k = bench.question.window_objects, bench.question.k
    batches = min(NATIVE_BATCHES, len(bench.objects) // window)
    bench.say(f"(c) Spark's own way, {batches} windows of {window:,} objects")
    objects = bench.objects.first(batches * window)
    in_order = np.arange(len(objects))
    files = write_objects(objects, in_order, bench.folder / "windows", batches * FILES_PER_BATCH)
    native, found = run_native_rank(
        spark, write_points(bench.points, bench.folder / "points.parquet"), files, k
    )
    chosen = sample(len(bench.points), seed=bench.options.seed)
    right = len(found) == batches and all(
        pairs[pairs[:, 0] == point, 1].tolist()
        == nearest_of_batch(
            objects, slice(number * window, (number + 1) * window), bench.points, point, k
        ).tolist()
        for number, pairs in enumerate(found)
        for point in chosen
    )
    bench.report.check(right, "(c) Spark's own way did not find the nearest objects of every batch")
    ratio = timing.rate / native.rate
    bench.report.judge("c: rate over Spark's own way", ratio, "ratio", ">=", 20.0)
    bench.report.notes.append(
        f"    Spark's own way, a cross join with the points and a rank: {spoken(native.rate)} objects/s, so ours is {ratio:.0f} "
        f"times as fast; {batches} batches of {window:,} objects, the set once for each: {milliseconds(native)}"
    )


def _plain_answers(plan: Plan, files: Sequence[Path]) -> list[Rows]:
    arrived = [(plan.streams[0].name, str(file)) for file in files]
    return [rows for step in stream_local(plan, arrived) for rows in step.answers]


def _write(objects: Objects, folder: Path, files: int, *, seed: int) -> list[Path]:
    return write_objects(objects, arrivals(objects, seed=seed), folder, files)
