"""Spark's own way to say it, as far as it goes: two of the three clauses, as a stream-stream join.

The best setting found for this question: state in RocksDB with the join's state format 4 (rows by event time), 200,000 rows
a micro-batch, filters and columns pushed down to Parquet. Spark wants an equality in such a join and the question has none,
so the rows share a constant; splitting time into numbered intervals instead, so that both partitions work, was no faster.
Nothing is done with the pairs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.hosts.spark.streaming import stateful_settings
from headwater_lab.bench.questions import WITHIN_S, Question, Range
from headwater_lab.bench.streaming import FILES_PER_BATCH, Timing, batch_durations_ms, rows_of_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JOIN = "spark.sql.streaming.join.stateFormatVersion"


def run_native_join(spark: SparkSession, question: Question, files: Sequence[Path]) -> tuple[Timing, int]:
    """Join the first two clauses of a question; the timing and the number of pairs."""
    pairs = _joined(spark, question, files[0].parent)
    with (
        tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as folder,
        _settings(spark),
    ):
        query = (
            pairs.writeStream.format("noop")
            .outputMode("append")
            .option("checkpointLocation", folder)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        durations, progress_reports = batch_durations_ms(query), query.recentProgress
    rows = rows_of_batches(files, FILES_PER_BATCH)
    assert len(durations) == len(rows), f"{len(rows)} micro-batches expected, {len(durations)} ran"
    return Timing(tuple(rows), tuple(durations), 0.0, 0.0), sum(
        _written(progress) for progress in progress_reports
    )


def _joined(spark: SparkSession, question: Question, folder: Path) -> DataFrame:
    schema = spark.read.parquet(str(folder)).schema
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES_PER_BATCH).parquet(str(folder))
    one, other = (_side(rows, clause, name) for clause, name in zip(question.ranges, "ab", strict=False))
    one.createOrReplaceTempView("bench_a")
    other.createOrReplaceTempView("bench_b")
    return spark.sql(
        f"""SELECT * FROM bench_a JOIN bench_b ON a_all = b_all
        AND b_at > a_at - INTERVAL {WITHIN_S} SECONDS AND b_at < a_at + INTERVAL {WITHIN_S} SECONDS"""
    )


def _side(rows: DataFrame, clause: Range, name: str) -> DataFrame:
    matched = rows.where(f"{clause.attribute} BETWEEN {clause.low!r}D AND {clause.high!r}D")
    return matched.withWatermark("at", "10 seconds").selectExpr(
        f"station AS {name}_station",
        f"at AS {name}_at",
        f"{clause.attribute} AS {name}_value",
        f"length(station) AS {name}_all",  # the same for all of them, though Spark cannot know
    )


@contextmanager
def _settings(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(JOIN, None)
    with stateful_settings(spark, spark.sparkContext.defaultParallelism):
        spark.conf.set(JOIN, "4")
        try:
            yield
        finally:
            if before is None:
                spark.conf.unset(JOIN)
            else:
                spark.conf.set(JOIN, before)


def _written(progress: Any) -> int:
    return max(0, int(progress["sink"]["numOutputRows"]))
