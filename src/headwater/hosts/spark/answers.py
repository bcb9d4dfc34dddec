"""The Python way in: DataFrames to answers, as DataFrames.

Any source or sink the user's Spark has works as it always does. Everything a run reports is one table (see `output_table`); the doors
here are views of it. Each view that is written by a query of its own runs all stages again, so `write` hands out every
micro-batch once, whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import StreamingQuery

from headwater.hosts.declared_sets import used_fences, used_points
from headwater.hosts.spark import checkpoint as checkpoints
from headwater.hosts.spark import streaming
from headwater.hosts.spark.bounded import run_slices, tasks_for, width_for
from headwater.hosts.spark.checkpoint_inspection import refuse_ahead
from headwater.hosts.spark.declared_sets import (
    check_audit,
    refuse_bad_points,
    sets_from_frames,
    with_bad_points,
)
from headwater.hosts.spark.frame_packing import check_columns, sliced_frame, typed_column
from headwater.hosts.spark.interpreter import our_python
from headwater.hosts.spark.partition_keys import partition_keys
from headwater.hosts.spark.sink import FolderSink
from headwater.model import HIGHEST, ColumnType, DataError, HostError
from headwater.query.checking.history_limit import MOST_HISTORY_US, most_history_us
from headwater.query.language.build_pieces import Duration
from headwater.query.planning.plan import Plan, compile_script, compile_text, refuse_unbounded
from headwater.query.planning.zones import default_zones
from headwater.query.python_input import Queries, script_of

_SPARK_TYPES: dict[ColumnType, T.DataType] = {
    ColumnType.STRING: T.StringType(),
    ColumnType.DOUBLE: T.DoubleType(),
    ColumnType.BIGINT: T.LongType(),
    ColumnType.BOOLEAN: T.BooleanType(),
    ColumnType.TIMESTAMP: T.TimestampType(),
    ColumnType.ID: T.StringType(),
}

BatchWriter = Callable[["Answers", int], None]


def run(
    queries: Queries,
    inputs: Mapping[str, Any],
    *,
    zones: int | None = None,
    audit: float | None = None,
    most_history: Duration | None = None,
) -> Answers:
    """Answer standing queries over DataFrames, static or streaming: one for every stream that is read.

    `queries` is a text, or what the builders made. With streaming inputs the answers are streaming too; nothing runs
    before they are written. `zones` is over how many places the queries are spread (default: what the checkpoint has; for a
    new one two a core). `most_history` is for
    how long a FOLLOW may keep events, as '7 DAYS' or a timedelta (default: a day).

    The points that a NEAREST asks about, and the fences of a FENCE, are an input too: a static DataFrame of Spark's or one of
    pandas', collected here; polygons are its column `geometry`. Its rows that are no points or fences are left out and listed in `answers.bad`; a stream, whose batches have no place for
    them, is refused until they are taken out. `audit` is the share of the points for which the loss of PROBABLE is
    measured: `answers.counts` has `audited:QUERY` and `missed:QUERY`, and of what comes in behind the last row of a bounded
    input `audited_at_end:QUERY` and `missed_at_end:QUERY`.
    """
    session = next((frame.sparkSession for frame in inputs.values() if isinstance(frame, DataFrame)), None)
    if session is None:
        raise DataError("no-input", "no DataFrame was given", advice=['hw.run(text, {"stream": df})'])
    zone_count = zones or default_zones(session.sparkContext.defaultParallelism)
    plan = compile_queries(queries, zones=zone_count, most_history_us=most_history_us(most_history))
    _refuse_strangers(plan, inputs)
    sets = {*(points.name for points in plan.points), *(fences.name for fences in plan.fences)}
    declared = sets_from_frames(plan, {name: frame for name, frame in inputs.items() if name in sets})
    plan = plan.with_sets(declared.rows, audit=check_audit(plan, audit))
    frames = {name: frame for name, frame in inputs.items() if name not in sets}
    for name, frame in frames.items():
        check_columns(frame, plan.stream(name), plan.columns_read(name))
    kinds = {frame.isStreaming for frame in frames.values()}
    if len(kinds) > 1:
        raise DataError(
            "mixed-inputs",
            "some inputs are streaming and some are static",
            advice=["use only one kind"],
        )
    if kinds == {True}:
        refuse_unbounded(plan)
        refuse_bad_points(declared)

        def started(folder: Path) -> Answers:
            keys = zones or checkpoints.zones_of(folder, zone_count)
            again = compile_queries(queries, zones=keys, most_history_us=most_history_us(most_history))
            again = again.with_sets(declared.rows, parts=checkpoints.parts_of(folder), audit=audit or 0.0)
            tasks = checkpoints.tasks_of(folder, tasks_for(again, session))
            with our_python(session):
                return Answers(streaming.streaming_frames(frames, again, tasks=tasks), again, tasks=tasks)

        with our_python(
            session
        ):  # who writes a view by hand has a checkpoint that we never see: no word of cores
            table = streaming.streaming_frames(frames, plan, tasks=plan.zones)
            return Answers(table, plan, started=started, tasks=plan.zones)
    with our_python(session):
        return Answers(with_bad_points(_bounded_frames(frames, plan), declared), plan)


def compile_queries(queries: Queries, *, zones: int, most_history_us: int = MOST_HISTORY_US) -> Plan:
    """The plan of a text or of built statements."""
    if isinstance(queries, str):
        return compile_text(queries, zones=zones, most_history_us=most_history_us)
    return compile_script(script_of(queries), zones=zones, most_history_us=most_history_us)


class Answers:
    """What the queries answer: `answers["frost"]`, `answers.late`, `answers.bad`, `answers.all()`."""

    def __init__(
        self,
        table: DataFrame,
        plan: Plan,
        *,
        started: Callable[[Path], Answers] | None = None,
        tasks: int = 1,
    ) -> None:
        """`started` makes the answers anew, with zones, tasks and points where a checkpoint folder has them."""
        dropped = [stream.name for stream in plan.streams if stream.drop_late]
        self.table = (
            table.where(~((F.col("kind") == "late") & F.col("name").isin(dropped))) if dropped else table
        )
        self.plan = plan
        self._started = started
        self._tasks = tasks

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries."""
        return tuple(query.name for query in self.plan.public_queries)

    def __getitem__(self, query: str) -> DataFrame:
        """The answers of one query, with typed columns."""
        if query not in self.queries:
            raise DataError(
                "unknown-query",
                f"there is no query named '{query}'",
                advice=[f"known queries: {', '.join(self.queries)}"],
            )
        fields = [T.StructField(name, _SPARK_TYPES[kind]) for name, kind in self.plan.selected(query).items()]
        chosen = self.table.where((F.col("kind") == "answer") & (F.col("name") == query))
        row = F.from_json("body", T.StructType(fields)).alias("row")
        typed = chosen.select(F.col("name").alias("query"), "event_time", "match_id", row)
        return typed.select(
            "query", "event_time", "match_id", *(F.col(f"row.`{field.name}`") for field in fields)
        )

    def all(self) -> DataFrame:
        """The answers of all queries in one table: query, event_time, match_id and the whole answer as JSON."""
        answers = self.table.where(F.col("kind") == "answer")
        return answers.select(
            F.col("name").alias("query"), "event_time", "match_id", F.col("body").alias("answer")
        )

    @property
    def late(self) -> DataFrame:
        """Rows that came too late: their stream, and the row as JSON."""
        return self.table.where(F.col("kind") == "late").select(
            F.col("name").alias("stream"), F.col("body").alias("row")
        )

    @property
    def bad(self) -> DataFrame:
        """Rows that cannot be used: stream, reason and the row's text."""
        chosen = self.table.where(F.col("kind") == "bad").select(
            F.from_json("body", "stream string, reason string, text string").alias("row")
        )
        return chosen.select("row.*")

    @property
    def counts(self) -> DataFrame:
        """What was counted on the way: rows read, answers cut by LIMIT, repeats, rows held, events stored for FOLLOW at most."""
        chosen = self.table.where(F.col("kind") == "count")
        return (
            chosen.groupBy("name").agg(
                F.when(F.col("name").startswith(HIGHEST), F.max("amount"))
                .otherwise(F.sum("amount"))
                .alias("amount")
            )
            if not self.table.isStreaming
            else chosen.select("name", "amount")
        )

    def write(
        self,
        to: str | Path | BatchWriter,
        *,
        checkpoint: str | Path | None = None,
        late: str | Path | None = None,
        bad: str | Path | None = None,
        trigger: Mapping[str, Any] | None = None,
    ) -> StreamingQuery | None:
        """Write everything with one query.

        `to` is a folder of JSON lines, written so that every answer is there exactly once, or a function that gets the
        answers of each micro-batch (as `Answers` over static DataFrames) and its number. Static answers are written at
        once; streaming ones start a query, which is returned, and need a `checkpoint`.
        """
        if not self.table.isStreaming:
            self._write_batch(self.table, 0, to, _sinks(to, late, bad, "static", None))
            return None
        if checkpoint is None:
            raise HostError(
                "checkpoint-missing",
                "streaming answers need a checkpoint folder",
                advice=["answers.write(..., checkpoint='...')"],
            )
        if self._started:
            again = self._started(Path(checkpoint))
            return again.write(to, checkpoint=checkpoint, late=late, bad=bad, trigger=trigger)
        # Not computed again: a cluster may have gained a core since, and zones would look for their state elsewhere.
        held = checkpoints.hold(Path(checkpoint), self.plan, cores=self._tasks)
        try:
            sinks = _sinks(to, late, bad, held.run_id, Path(checkpoint))
        except HostError:
            held.release()
            raise

        def each(batch: DataFrame, number: int) -> None:
            self._write_batch(batch, number, to, sinks)

        query = streaming.start(
            self.table,
            each,
            checkpoint=held.spark,
            partitions=held.tasks,
            trigger=trigger or {"processingTime": "0 seconds"},
        )
        threading.Thread(target=_release_after, args=(query, held), daemon=True).start()
        return query

    def _write_batch(
        self, batch: DataFrame, number: int, to: str | Path | BatchWriter, sinks: Sequence[FolderSink]
    ) -> None:
        reused = batch.persist() if callable(to) else batch  # the function may look at it several times
        try:
            if callable(to):
                to(Answers(reused, self.plan), number)
            if sinks:
                table = reused.toArrow()
                for sink in sinks:
                    sink.write(table, number)
        finally:
            if callable(to):
                reused.unpersist()


def _release_after(query: StreamingQuery, held: checkpoints.Checkpoint) -> None:
    """The checkpoint is ours for as long as the query runs, and no longer."""
    with suppress(Exception):  # whoever waits for the query gets the error
        query.awaitTermination()
    held.release()


def _sinks(
    to: str | Path | BatchWriter,
    late: str | Path | None,
    bad: str | Path | None,
    run_id: str,
    checkpoint: Path | None,
) -> list[FolderSink]:
    outputs = [
        (None if callable(to) else to, "answers", ("answer",)),
        (late, "late", ("late",)),
        (bad, "bad", ("bad", "given_up")),
    ]
    sinks = [FolderSink(Path(path), name, kinds, run_id) for path, name, kinds in outputs if path is not None]
    for sink in sinks:
        if checkpoint is not None:
            refuse_ahead(checkpoint, sink.folder, sink.files.name)
    return sinks


def _bounded_frames(inputs: Mapping[str, DataFrame], plan: Plan) -> DataFrame:
    rows, first, last = 0, None, None
    for name, frame in inputs.items():
        at = F.unix_micros(typed_column(frame, plan.stream(name).time, ColumnType.TIMESTAMP))
        count, earliest, latest = frame.agg(F.count(F.lit(1)), F.min(at), F.max(at)).first() or (
            0,
            None,
            None,
        )
        rows += count
        first = earliest if first is None else min(first, earliest if earliest is not None else first)
        last = latest if last is None else max(last, latest if latest is not None else last)
    width_us = width_for(rows, (last - first) if first is not None and last is not None else 0)
    keys = partition_keys(plan.zones, tasks_for(plan, next(iter(inputs.values())).sparkSession))
    sliced = [sliced_frame(frame, plan, name, keys, width_us) for name, frame in inputs.items()]
    return run_slices(reduce(DataFrame.union, sliced), plan, width_us)


def _refuse_strangers(plan: Plan, inputs: Mapping[str, Any]) -> None:
    streams = [stream.name for stream in plan.streams]
    points, fences = ([schema.name for schema in schemas] for schemas in (plan.points, plan.fences))
    used = [schema.name for schema in used_points(plan)] + [schema.name for schema in used_fences(plan)]
    read = {root for query in plan.queries for root in plan.root_streams(query.reads)}
    for name in inputs:
        if name not in (*streams, *points, *fences):
            advice = [f"known streams: {', '.join(streams)}"]
            advice += [f"known points: {', '.join(points)}"] if points else []
            advice += [f"known fences: {', '.join(fences)}"] if fences else []
            raise DataError("unknown-stream", f"there is no stream named '{name}'", advice=advice)
    for name in (*streams, *points, *fences):
        what = "points" if name in points else "fences"
        if (name in read or name in used) and name not in inputs:
            raise DataError(
                "no-input",
                f"stream '{name}' has no input" if name in read else f"the {what} '{name}' have no input",
                advice=[f'give one: hw.run(text, {{"{name}": df}})'],
            )
        if name in streams and not isinstance(inputs.get(name), DataFrame | None):
            raise DataError(
                "no-input",
                f"the input of stream '{name}' is not a Spark DataFrame",
                advice=["convert it: spark.createDataFrame(df)"],
            )
