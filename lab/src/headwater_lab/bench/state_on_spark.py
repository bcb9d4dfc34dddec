"""Idle keys on Spark: what a micro-batch costs among them, how long a restart takes, and how large the checkpoint is."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.file_runs import run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import ZoneReport
from headwater.model import SECOND
from headwater.query.planning.plan import Plan, compile_text
from headwater_lab.bench.checks import Report
from headwater_lab.bench.measuring import BenchOptions, Say
from headwater_lab.bench.processes import ProcessorTime, processor_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW: Final = 1_000
LOADED_AT_ONCE: Final = 100_000
TOUCHED: Final = 250
BATCHES: Final = 40
WARM_UP: Final = 15
BEGIN_US: Final = 1_780_000_000 * SECOND

TEXT: Final = """\
CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, v DOUBLE) LATE 0 SECONDS;
CREATE QUERY fell AS SELECT id FROM s MATCH_RECOGNIZE (
  PARTITION BY id PATTERN (a b) WITHIN 10 HOURS DEFINE a AS v > 80, b AS v < 20);
"""


@dataclass(slots=True)
class Marks:
    """Processor time after each micro-batch, when its first answers came, and how many answers there were."""

    times: list[ProcessorTime] = field(default_factory=list)
    answers: int = 0
    first_answer: float | None = None

    def each(self, zones: Sequence[ZoneReport], number: int) -> None:
        """Take one micro-batch."""
        self.times.append(processor_time())
        self.answers += sum(rows.count for zone in zones for rows in zone.output.answers)
        if self.answers and self.first_answer is None:
            self.first_answer = time.monotonic()

    @property
    def a_batch(self) -> ProcessorTime:
        """Milliseconds a micro-batch, of the last ones."""
        batches = BATCHES - WARM_UP
        spent = self.times[-1] - self.times[-1 - batches]
        return ProcessorTime(spent.workers / batches * 1e3, spent.everything / batches * 1e3)


def measure_on_spark(options: BenchOptions, report: Report, say: Say) -> None:
    """Measure and judge."""
    from headwater.hosts.spark.session import start_spark, stop_spark

    spark = start_spark(cores=options.cores)
    try:
        found = []
        for keys in (FEW, FEW, options.rows):  # the first one warms up
            say(f"(b) {keys:,} keys with an open partial match")
            found.append(_measure(spark, keys, options, report))
    finally:
        stop_spark(spark)
    few, many = found[1:]
    report.judge("b: workers, times as long a micro-batch", many[0] / few[0], "times", "<=", 1.3)
    report.judge("b: everything, times as long a micro-batch", many[1] / few[1], "times", "<=", 1.3)
    for keys, (workers, everything, restart_s, size) in ((FEW, few), (options.rows, many)):
        report.notes.append(
            f"(b) {keys:,} keys: {workers:.0f} ms of workers and {everything:.0f} ms of everything a micro-batch; "
            f"first answer {restart_s:.1f} s after a restart; checkpoint {size / 1e6:.1f} MB"
        )


def _measure(
    spark: SparkSession, keys: int, options: BenchOptions, report: Report
) -> tuple[float, float, float, int]:
    """Milliseconds of workers and of everything a micro-batch, seconds of a restart, bytes of the checkpoint."""
    plan = compile_text(TEXT, zones=2 * options.cores)
    random = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as folder:
        rows = Path(folder) / "rows"
        rows.mkdir()
        number = 0
        for first in range(0, keys, LOADED_AT_ONCE):
            _write(rows, number, np.arange(first, min(first + LOADED_AT_ONCE, keys)), 90.0)
            number += 1
        for _ in range(BATCHES):
            _write(rows, number, random.choice(keys, TOUCHED, replace=False), 90.0)
            number += 1
        marks = _run(spark, plan, rows, Path(folder) / "state")
        size = sum(file.stat().st_size for file in (Path(folder) / "state").rglob("*") if file.is_file())
        _write(rows, number, np.arange(TOUCHED), 10.0)
        _write(rows, number + 1, np.arange(1), 50.0)
        began = time.monotonic()
        again = _run(spark, plan, rows, Path(folder) / "state")
        report.check(marks.answers == 0, f"(b) {marks.answers} answers before any value fell")
        report.check(again.answers == TOUCHED, f"(b) {again.answers} answers where {TOUCHED} values fell")
    restart_s = (again.first_answer or time.monotonic()) - began
    return marks.a_batch.workers, marks.a_batch.everything, restart_s, size


def _run(spark: SparkSession, plan: Plan, rows: Path, state: Path) -> Marks:
    marks = Marks()
    with hold(state, plan) as checkpoint:
        query = run_streaming(
            spark,
            plan,
            {"s": [str(rows)]},
            marks.each,
            checkpoint=checkpoint,
            options=StreamingOptions(files_per_batch=1, once=True),
        )
        query.awaitTermination()
    return marks


def _write(folder: Path, number: int, keys: NDArray[np.int64], value: float) -> None:
    """A file with a row of each key, a second after those of the file before."""
    table = pa.table(
        {
            "id": [f"sensor-{key:07d}" for key in keys.tolist()],
            "at": pa.array(np.full(len(keys), BEGIN_US + number * SECOND), pa.timestamp("us", "UTC")),
            "v": np.full(len(keys), value),
        }
    )
    file = folder / f"{number:05d}.parquet"
    pq.write_table(table, file)
    os.utime(file, (1_700_000_000 + number,) * 2)
