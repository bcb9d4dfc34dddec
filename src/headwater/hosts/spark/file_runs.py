"""Whole runs over files, for the command line: bounded to the end, or streamed for as long as it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from headwater.hosts.spark import streaming
from headwater.hosts.spark.bounded import bounded_files
from headwater.hosts.spark.checkpoint import Checkpoint
from headwater.hosts.spark.streaming import UNTIL_STOPPED, EachReport, StreamingOptions
from headwater.hosts.spark.zone_report import unpacked
from headwater.hosts.temporary_folders import temporary_folder
from headwater.query.planning.plan import Plan


def run_batch(
    spark: SparkSession, plan: Plan, paths: Mapping[str, Sequence[str]]
) -> Iterator[pa.RecordBatch]:
    """Everything a bounded run reports (the columns are those of `table.TABLE`), answers in order of event time.

    The table is written aside by Spark, sorted, and read back in pieces: memory does not grow with the answers.
    """
    table = bounded_files(spark, plan, paths)
    with temporary_folder("run") as folder:
        ordered = table.repartition(1).sortWithinPartitions(
            "kind", "event_time", "name", "match_id", _of_bad("file"), _of_bad("line").cast("long"), "body"
        )
        ordered.write.mode("overwrite").parquet(f"{folder.path}/table")
        for file in sorted((folder.path / "table").glob("*.parquet")):
            yield from pq.ParquetFile(file).iter_batches()


def run_streaming(
    spark: SparkSession,
    plan: Plan,
    paths: Mapping[str, Sequence[str]],
    each: EachReport,
    *,
    checkpoint: Checkpoint,
    options: StreamingOptions = UNTIL_STOPPED,
) -> StreamingQuery:
    """Stream files and folders; `each` gets the reports of the zones for every micro-batch, and its number."""
    reports = streaming.streaming_files(
        spark, plan, paths, options, tasks=checkpoint.tasks, log=checkpoint.files
    )
    at_once = options.once or options.ends
    trigger = {"availableNow": True} if at_once else {"processingTime": "0 seconds"}

    def take(batch: DataFrame, number: int) -> None:
        each([unpacked(cell.as_py()) for cell in batch.toArrow()["report"]], number)

    return streaming.start(
        reports, take, checkpoint=checkpoint.spark, partitions=checkpoint.tasks, trigger=trigger
    )


def _of_bad(field: str) -> Column:
    """Where a bad row stands, so that bad rows come as they do in their files; NULL for all else."""
    return F.when(F.col("kind") == "bad", F.get_json_object("body", f"$.{field}"))
