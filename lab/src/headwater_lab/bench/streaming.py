"""One timed run on Spark: files followed to their end, two a micro-batch.

The rate is rows over the durations of the micro-batches as reported by Spark. The first one warms up (workers open the plan
and load compiled code) and the last one only flushes; both are left out, and the rate with all of them is stated beside it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq

from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.file_runs import run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.query.planning.plan import Plan
from headwater_lab.bench.checks import Taken
from headwater_lab.bench.memory import WorkerMemory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES_PER_BATCH: Final = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """What Spark reported about a run: `rows[n]` and `durations_ms[n]` of its micro-batches that had rows, and the flush."""

    rows: tuple[int, ...]
    durations_ms: tuple[float, ...]
    flush_ms: float
    worker_peak_mib: float

    @property
    def rate(self) -> float:
        """Rows a second without the first micro-batch."""
        return sum(self.rows[1:]) / sum(self.durations_ms[1:]) * 1000

    @property
    def rate_of_all(self) -> float:
        """Rows a second with the first micro-batch and the flush."""
        return sum(self.rows) / (sum(self.durations_ms) + self.flush_ms) * 1000


def run_timed(spark: SparkSession, plan: Plan, files: Sequence[Path]) -> tuple[Timing, Taken]:
    """Run a plan over the files, which are all that is in their folder."""
    (stream,) = plan.streams
    taken = Taken()
    with (
        tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as folder,
        hold(Path(folder), plan) as checkpoint,
        WorkerMemory() as memory,
    ):
        query = run_streaming(
            spark,
            plan,
            {stream.name: [str(files[0].parent)]},
            taken.each,
            checkpoint=checkpoint,
            options=StreamingOptions(files_per_batch=FILES_PER_BATCH, ends=True),
        )
        query.awaitTermination()
        durations = batch_durations_ms(query)
    rows = rows_of_batches(files, FILES_PER_BATCH)
    assert len(durations) == len(rows) + 1, (
        f"{len(rows)} micro-batches and a flush expected, {len(durations)} ran"
    )
    return Timing(tuple(rows), tuple(durations[:-1]), durations[-1], memory.peak_mib), taken


def batch_durations_ms(query: Any) -> list[float]:
    """How long each micro-batch of a streaming query took, whole."""
    latest = {
        progress["batchId"]: progress["durationMs"]
        for progress in query.recentProgress
        if "addBatch" in progress["durationMs"]
    }
    return [float(latest[number]["triggerExecution"]) for number in sorted(latest)]


def rows_of_batches(files: Sequence[Path], per_batch: int) -> list[int]:
    """How many rows each micro-batch has."""
    counts = [pq.ParquetFile(file).metadata.num_rows for file in files]
    return [sum(counts[start : start + per_batch]) for start in range(0, len(counts), per_batch)]
