"""A run on Spark: which session, and what is done with tables and files beside DataFrames.

Rule 1  A table in memory is read here, by the reader of files: its good rows become a DataFrame, its bad rows join the others.
Rule 2  Files are read by Spark's workers, as on the command line.
Rule 3  Streams do not mix with inputs that are complete. Points and fences are always complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headwater.hosts.api.answers import Answers
from headwater.hosts.api.input_checks import refuse_unusable_inputs, split_sets
from headwater.hosts.api.input_kinds import Source, SparkFrame
from headwater.hosts.api.sessions import refuse_connect
from headwater.hosts.api.sessions import session as own_session
from headwater.hosts.api.spark_answers import SparkRun
from headwater.hosts.cores import usable_cores
from headwater.hosts.declared_sets import DeclaredSets, sets_from_inputs, used_sets
from headwater.hosts.files import BAD_TYPES, rows_to_arrow
from headwater.hosts.files.file_rows import join_file_rows
from headwater.hosts.spark import checkpoint as checkpoints
from headwater.hosts.spark import streaming
from headwater.hosts.spark.bounded import Extent, bounded_inputs, tasks_for
from headwater.hosts.spark.declared_sets import collected_set, refuse_bad_points, with_bad_rows
from headwater.hosts.spark.frame_packing import check_columns
from headwater.hosts.spark.interpreter import our_python
from headwater.hosts.stream_reading import read_table, refuse_unusable_sets
from headwater.model import DataError, Rows, join_rows
from headwater.query.planning.plan import Plan, refuse_unbounded
from headwater.query.planning.zones import default_zones

MakePlan = Callable[[int], Plan]
"""The plan for so many zones."""


def run_on_spark(
    make_plan: MakePlan,
    sources: Mapping[str, Source],
    session: SparkSession | None,
    zones: int | None,
    audit: float | None,
) -> Answers:
    """Answers over inputs, in the session that is given, that of the DataFrames, or one of our own."""
    spark = _session(session, sources)
    cores = spark.sparkContext.defaultParallelism if spark else usable_cores()
    plan = make_plan(zones or default_zones(cores))
    given, streams = split_sets(plan, sources)
    frames = {name: source.frame for name, source in streams.items() if isinstance(source, SparkFrame)}
    for name, frame in frames.items():
        check_columns(frame, plan.stream(name), plan.columns_read(name))
    refuse_unusable_inputs(plan, streams)
    is_streaming = _is_streaming(streams)
    sets = _sets(plan, given)
    if is_streaming:
        refuse_unbounded(plan)
        refuse_bad_points(sets)
        assert spark is not None, "a stream has a session"
        return _streaming(make_plan, frames, sets, spark, zones, audit)
    return _bounded(plan.with_sets(sets.rows, audit=audit or 0.0), streams, sets, spark or own_session())


def _bounded(plan: Plan, streams: Mapping[str, Source], sets: DeclaredSets, spark: SparkSession) -> Answers:
    paths = {name: source for name, source in streams.items() if isinstance(source, tuple)}
    frames: dict[str, tuple[DataFrame, Extent | None]] = {}
    bad, seen = [Rows.empty(BAD_TYPES), sets.bad], 0
    for name, source in streams.items():
        if isinstance(source, SparkFrame):
            frames[name] = source.frame, None
        elif isinstance(source, pa.Table):
            frames[name], unusable = _frame_of_table(spark, plan, name, source)
            bad.append(unusable)
            seen += unusable.count
    with our_python(spark):
        table = bounded_inputs(spark, plan, paths, frames)
    table = with_bad_rows(table, join_rows(bad), seen=seen)
    return Answers(SparkRun(table, plan, sets=sets, paths=paths))


def _streaming(
    make_plan: MakePlan,
    frames: Mapping[str, DataFrame],
    sets: DeclaredSets,
    spark: SparkSession,
    zones: int | None,
    audit: float | None,
) -> Answers:
    zone_count = zones or default_zones(spark.sparkContext.defaultParallelism)

    def started(folder: Path) -> SparkRun:
        """The answers made anew, with zones, tasks and points where a checkpoint folder has them."""
        keys = zones or checkpoints.zones_of(folder, zone_count)
        plan = make_plan(keys).with_sets(sets.rows, parts=checkpoints.parts_of(folder), audit=audit or 0.0)
        tasks = checkpoints.tasks_of(folder, tasks_for(plan, spark))
        with our_python(spark):
            return SparkRun(streaming.streaming_frames(frames, plan, tasks=tasks), plan, tasks=tasks)

    plan = make_plan(zone_count).with_sets(sets.rows, audit=audit or 0.0)
    with our_python(spark):  # who writes a view by hand has a checkpoint that we never see: no word of cores
        table = streaming.streaming_frames(frames, plan, tasks=plan.zones)
    return Answers(SparkRun(table, plan, started=started, tasks=plan.zones))


def _session(session: Any, sources: Mapping[str, Source]) -> SparkSession | None:
    frames = [source.frame for source in sources.values() if isinstance(source, SparkFrame)]
    found = session if session is not None else next((frame.sparkSession for frame in frames), None)
    for each in ([] if found is None else [found]) + [frame.sparkSession for frame in frames]:
        refuse_connect(each)
    return found


def _is_streaming(streams: Mapping[str, Source]) -> bool:
    kinds = {isinstance(source, SparkFrame) and bool(source.frame.isStreaming) for source in streams.values()}
    if len(kinds) > 1:
        raise DataError(
            "mixed-inputs",
            "some inputs are streaming and some are static",
            advice=["use only one kind; files can be a stream: spark.readStream"],
        )
    return kinds == {True}


def _sets(plan: Plan, given: Mapping[str, Any]) -> DeclaredSets:
    schemas = {schema.name: schema for schema in used_sets(plan)}
    inputs = {
        name: collected_set(plan, schemas[name], source.frame) if isinstance(source, SparkFrame) else source
        for name, source in given.items()
    }
    sets = sets_from_inputs(plan, inputs)
    paths = {name: source for name, source in inputs.items() if isinstance(source, tuple)}
    refuse_unusable_sets(sets.bad, paths)
    return sets


def _frame_of_table(
    spark: SparkSession, plan: Plan, name: str, table: pa.Table
) -> tuple[tuple[DataFrame, Extent], Rows]:
    """The good rows of a table as a DataFrame and from when to when they are, and its bad rows."""
    schema = plan.stream(name)
    types = {column: schema.types[column] for column in plan.columns_read(name)}
    read = join_file_rows(types, read_table(plan, name, table))
    times = read.rows[schema.time].values
    extent = Extent(read.rows.count, int(np.min(times)), int(np.max(times))) if len(times) else Extent()
    return (spark.createDataFrame(rows_to_arrow(read.rows)), extent), read.bad
