"""A run that goes on: packed rows into the stateful stage, and what it reports, batch by batch.

Exactly once: Spark runs a batch again after a crash, with the same rows and so with the same answers; a sink that replaces
what an earlier try of the same batch wrote (see `sink`) has every answer once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from headwater.hosts.spark.files_source import HeadwaterFiles, source_options, streaming_options
from headwater.hosts.spark.frame_packing import packed_frame
from headwater.hosts.spark.inputs import absent_inputs, inputs_by_stream, name_inputs, recognise_inputs
from headwater.hosts.spark.output_table import TABLE, timed
from headwater.hosts.spark.partition_keys import partition_keys
from headwater.hosts.spark.session import ROCKSDB, STATE_STORE
from headwater.hosts.spark.stateful_stage import Operate
from headwater.hosts.spark.zone_report import REPORT, ZoneReport, as_table
from headwater.query.planning.plan import Plan

EachBatch = Callable[[DataFrame, int], None]
EachReport = Callable[[Sequence[ZoneReport], int], None]


@dataclass(frozen=True, slots=True)
class StreamingOptions:
    """How a streaming run takes its files.

    `once`: take what is there and stop; what waits is stored for the next start. `ends`: what is there is all there will ever be, so
    everything that waits is answered too. `tick_us`: how often event time advances when no files come; None: never.
    """

    files_per_batch: int = 64
    once: bool = False
    ends: bool = False
    tick_us: int | None = None


UNTIL_STOPPED: Final = StreamingOptions()


def streaming_files(
    spark: SparkSession,
    plan: Plan,
    paths: Mapping[str, Sequence[str]],
    options: StreamingOptions,
    *,
    tasks: int,
    log: Path,
) -> DataFrame:
    """The rows of streamed files and folders, packed (see `zone_report`).

    `tasks`: over how many the zones are spread; a checkpoint never changes it.
    """
    spark.dataSource.register(HeadwaterFiles)
    inputs = recognise_inputs(name_inputs(paths), log)
    streams = {stream.name for stream in plan.streams}
    ticks = [max(1, stream.idle_us // 2) for stream in plan.streams if stream.idle_us]
    ticks += [options.tick_us] if options.tick_us else []
    shared = source_options(
        plan,
        inputs,
        cores=spark.sparkContext.defaultParallelism,
        partition_keys=partition_keys(plan.zones, tasks),
    )
    streamed = streaming_options(
        absent=[known for known in absent_inputs(inputs, log) if known.stream in streams],
        log=log,
        files_per_batch=options.files_per_batch,
        ends=options.ends,
        tick_us=min(ticks, default=0),
    )
    packed = spark.readStream.format(HeadwaterFiles.name()).options(**shared, **streamed).load()
    return stateful(packed, plan, inputs_by_stream(inputs), tick_us=options.tick_us)


def streaming_frames(frames: Mapping[str, DataFrame], plan: Plan, *, tasks: int) -> DataFrame:
    """The streaming table of streaming DataFrames, its zones spread over so many tasks."""
    keys = partition_keys(plan.zones, tasks)
    packed = [packed_frame(frame, plan, name, keys) for name, frame in frames.items()]
    reports = stateful(reduce(DataFrame.union, packed), plan, {name: (name,) for name in frames})
    return timed(reports.mapInArrow(as_table, TABLE))


def stateful(
    packed: DataFrame, plan: Plan, inputs: Mapping[str, Sequence[str]], *, tick_us: int | None = None
) -> DataFrame:
    """The stateful stage over packed rows: what every zone reports, packed."""
    zones = packed.groupBy("seat")
    return zones.transformWithStateInPandas(Operate(plan, inputs, tick_us=tick_us), REPORT, "Append", "None")


def start(
    reports: DataFrame,
    each: EachBatch,
    *,
    checkpoint: Path,
    partitions: int,
    trigger: Mapping[str, Any],
) -> StreamingQuery:
    """Run it; `each` gets every micro-batch once (again, if a crash came in between) with its number."""
    writer = (
        reports.writeStream.foreachBatch(each)
        .outputMode("append")
        .option("checkpointLocation", str(checkpoint))
    )
    with stateful_settings(reports.sparkSession, partitions):
        return writer.trigger(**trigger).start()


@contextmanager
def stateful_settings(spark: SparkSession, partitions: int) -> Iterator[None]:
    """What the stateful stage needs from the session, set while the query starts: it takes a copy."""
    settings = {
        "spark.sql.shuffle.partitions": str(partitions),
        STATE_STORE: ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }
    before = {key: spark.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)
