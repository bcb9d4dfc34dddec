"""A run on Spark: everything it tells is one table (see `hosts.spark.output_table`), of which each thing that is asked for is a view.

Rule 1  The table of inputs that are complete is computed when it is first asked for, and held by Spark until it is released: whatever is asked
        for next is a look at what is there.
Rule 2  Rows come from the same text of answers as on the command line, so that they are the same as those of the local engine, whatever the
        time zone of the session.
Rule 3  Of streaming inputs, each view that is written by a query of its own runs all stages again; `write` hands out every
        micro-batch once, whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming import StreamingQuery

from headwater.hosts.api.answers import Answers, WriteRequest
from headwater.hosts.api.ordered_tables import (
    ALL_TYPES,
    COUNT_TYPES,
    LATE_TYPES,
    answers_table,
    bad_table,
    counts_table,
)
from headwater.hosts.api.sessions import refuse_other_state_store
from headwater.hosts.api.writing import write_at_once
from headwater.hosts.declared_sets import DeclaredSets
from headwater.hosts.files import BAD_TYPES, find_files
from headwater.hosts.files.arrow import plain_schema
from headwater.hosts.files.json_lines import rows_from_json
from headwater.hosts.local.streaming import FAR_AHEAD
from headwater.hosts.run_reports.answer_columns import answer_types
from headwater.hosts.run_reports.spark_tables import report_from_table, spark_trouble, with_listed_paths
from headwater.hosts.run_reports.summary import Summary
from headwater.hosts.spark import checkpoint as checkpoints
from headwater.hosts.spark import streaming
from headwater.hosts.spark.checkpoint_inspection import refuse_ahead
from headwater.hosts.spark.sink import FolderSink
from headwater.model import HIGHEST, ColumnType, HostError, Rows
from headwater.query.planning.plan import Plan

if TYPE_CHECKING:
    from headwater.hosts.api.answers import BatchWriter

_SPARK_TYPES: Final[dict[ColumnType, T.DataType]] = {
    ColumnType.STRING: T.StringType(),
    ColumnType.DOUBLE: T.DoubleType(),
    ColumnType.BIGINT: T.LongType(),
    ColumnType.BOOLEAN: T.BooleanType(),
    ColumnType.TIMESTAMP: T.TimestampType(),
    ColumnType.ID: T.StringType(),
}
_HEAD: Final = ("query", "event_time", "match_id")


class SparkRun:
    """A table of Spark's that holds, or streams, everything a run tells."""

    engine = "spark"

    def __init__(
        self,
        table: DataFrame,
        plan: Plan,
        *,
        sets: DeclaredSets | None = None,
        paths: Mapping[str, Sequence[str]] | None = None,
        started: Callable[[Path], SparkRun] | None = None,
        tasks: int = 1,
        is_held: bool = False,
    ) -> None:
        """`is_held`: somebody else holds the table already, and releases it."""
        dropped = [stream.name for stream in plan.streams if stream.drop_late]
        self._whole = table
        self.table = (
            table.where(~((F.col("kind") == "late") & F.col("name").isin(dropped))) if dropped else table
        )
        self.plan = plan
        self.streaming = bool(table.isStreaming)
        self._sets = sets or DeclaredSets()
        self._paths = paths or {}
        self._started = started
        self._tasks = tasks
        self._is_held = is_held or self.streaming
        self._holds = False
        self._summary: Summary | None = None

    def answers_of(self, query: str | None) -> SparkTable:
        """Answers of a query; None: of all, each as JSON."""
        rows = self.table.where(F.col("kind") == "answer")
        if query is None:
            view = rows.select(
                F.col("name").alias("query"), "event_time", "match_id", F.col("body").alias("answer")
            )
            return SparkTable(self, ALL_TYPES, rows, view, _all_answers, ("event_time", "name", "match_id"))
        types = answer_types(self.plan, query)
        rows = rows.where(F.col("name") == query)
        fields = [
            T.StructField(name, _SPARK_TYPES[kind]) for name, kind in types.items() if name not in _HEAD
        ]
        row = F.from_json("body", T.StructType(fields)).alias("row")
        typed = rows.select(F.col("name").alias("query"), "event_time", "match_id", row)
        view = typed.select(*_HEAD, *(F.col(f"row.`{field.name}`") for field in fields))

        def read(table: pa.Table) -> pa.Table:
            return answers_table(rows_from_json(table["body"].combine_chunks(), types))

        return SparkTable(self, types, rows, view, read, ("event_time", "match_id"))

    def late(self) -> SparkTable:
        """Rows that came too late."""
        rows = self.table.where(F.col("kind") == "late")
        view = rows.select(F.col("name").alias("stream"), F.col("body").alias("row"))

        def read(table: pa.Table) -> pa.Table:
            found = table.select(["name", "body"]).rename_columns(list(LATE_TYPES))
            return found.cast(plain_schema(LATE_TYPES)).sort_by([(name, "ascending") for name in LATE_TYPES])

        return SparkTable(self, LATE_TYPES, rows, view, read, ("name", "body"))

    def bad(self) -> SparkTable:
        """Rows that cannot be used."""
        rows = self.table.where(F.col("kind").isin("bad", "given_up"))
        view = rows.select(_bad_row().alias("row")).select("row.*")

        def read(table: pa.Table) -> pa.Table:
            report = with_listed_paths(report_from_table(self.plan, table), self._paths)
            return bad_table(report.bad)

        return SparkTable(self, BAD_TYPES, rows, view, read, ("body",))

    def counts(self) -> SparkTable:
        """What was counted."""
        rows = self.table.where(F.col("kind") == "count")
        view = rows.select("name", "amount") if self.streaming else rows.groupBy("name").agg(_total())

        def read(table: pa.Table) -> pa.Table:
            report = report_from_table(self.plan, table)
            return counts_table({**report.counts, "rows": report.seen})

        return SparkTable(self, COUNT_TYPES, rows, view, read)

    def summary(self) -> Summary:
        """What the run came to: counted by Spark, so that no row comes here."""
        self.refuse_rows_of_streams()
        if self._summary is None:
            self._summary = self._counted()
        return self._summary

    def _counted(self) -> Summary:
        names = (query.name for query in self.plan.public_queries)
        sets = replace(self._sets, bad=Rows.empty(BAD_TYPES))  # they are in the table
        summary = Summary(names, sets, self.plan)
        bad = F.when(F.col("kind").isin("bad", "given_up"), _bad_row())
        code = F.substring_index(bad["reason"], ": ", 1)
        first = F.min(F.struct(bad["stream"], bad["file"], bad["line"], bad["reason"]))
        groups = self.table.groupBy("kind", "name", code.alias("code"))
        with self.held(), spark_trouble():
            found = groups.agg(F.count(F.lit(1)).alias("rows"), first.alias("first"), _total()).collect()
        for row in found:
            match row.kind:
                case "answer":
                    summary.answers[row.name] += row.rows
                case "late":
                    summary.late[row.name] += row.rows
                case "count" if row.name == "rows":
                    summary.seen += row.amount
                case "count":
                    summary.counts[row.name] += row.amount
                case _:
                    stream, file, line, reason = row["first"]
                    summary.take_bad(row.rows, stream, file, line, reason)
        summary.files = sum(len(find_files(path)) for paths in self._paths.values() for path in paths)
        return summary

    def write(self, answers: Answers, request: WriteRequest) -> StreamingQuery | None:
        """Write everything with one query."""
        if not self.streaming:
            write_at_once(answers, request)
            return None
        if request.checkpoint is None:
            raise HostError(
                "checkpoint-missing",
                "streaming answers need a checkpoint folder",
                advice=["answers.write(..., checkpoint='...')"],
            )
        checkpoint = Path(request.checkpoint)
        again = self._started(checkpoint) if self._started else self
        return again.start(request, checkpoint)

    def start(self, request: WriteRequest, checkpoint: Path) -> StreamingQuery:
        """Begin the query that writes streaming answers."""
        # Not computed again: a cluster may have gained a core since, and zones would look for their state elsewhere.
        held = checkpoints.hold(checkpoint, self.plan, cores=self._tasks)
        try:
            sinks = _sinks(request, held.run_id, checkpoint)
        except HostError:
            held.release()
            raise

        def each(batch: DataFrame, number: int) -> None:
            self._write_batch(batch, number, request.to, sinks)

        query = streaming.start(
            self.table,
            each,
            checkpoint=held.spark,
            partitions=held.tasks,
            trigger=request.trigger or {"processingTime": "0 seconds"},
        )
        threading.Thread(target=_release_after, args=(query, held), daemon=True).start()
        return query

    def _write_batch(
        self, batch: DataFrame, number: int, to: str | Path | BatchWriter, sinks: Sequence[FolderSink]
    ) -> None:
        reused = batch.persist() if callable(to) else batch  # the function may look at it several times
        try:
            if callable(to):
                to(Answers(SparkRun(reused, self.plan, is_held=True)), number)
            if sinks:
                table = reused.toArrow()
                for sink in sinks:
                    sink.write(table, number)
        finally:
            if callable(to):
                reused.unpersist()

    @contextmanager
    def held(self) -> Iterator[None]:
        """From here on Spark holds the table, if it is not held already."""
        if not self._is_held and not self._holds:
            self._whole.persist()
            self._holds = True
        yield

    def release(self) -> None:
        """Spark may forget the table."""
        if self._holds:
            self._whole.unpersist()
            self._holds = False

    def refuse_rows_of_streams(self) -> None:
        """Streaming answers have no rows of their own."""
        if self.streaming:
            raise HostError(
                "streaming-answers",
                "the inputs are streaming: these answers have no rows until they are written",
                advice=[
                    "write them: answers.write(folder or function, checkpoint=folder)",
                    "or continue with Spark: answers[…].df.writeStream",
                ],
            )


class SparkTable:
    """Some rows of the table of a run: as Spark has them (`frame`), or here."""

    def __init__(
        self,
        run: SparkRun,
        types: Mapping[str, ColumnType],
        rows: DataFrame,
        view: DataFrame,
        read: Callable[[pa.Table], pa.Table],
        order: Sequence[str] = (),
    ) -> None:
        """`rows` are of the whole table, `view` the same as users get them; `read` makes a table here, in order, of `rows`."""
        self.types = types
        self.streaming = run.streaming
        self._run = run
        self._rows = rows
        self._view = view
        self._read = read
        self._order = order

    def count(self) -> int:
        """How many rows there are."""
        self._run.refuse_rows_of_streams()
        with self._run.held(), spark_trouble():
            return int(self._rows.count()) if self._order else self.table().num_rows

    def table(self, most: int | None = None) -> pa.Table:
        """All rows in order, or the first ones."""
        self._run.refuse_rows_of_streams()
        few = self._rows.orderBy(*self._order).limit(most) if most is not None and self._order else self._rows
        with self._run.held(), spark_trouble():
            table = few.toArrow()
        return self._read(table) if most is None else self._read(table).slice(0, most)

    def frame(self) -> DataFrame:
        """As Spark has them: lazy, in no order."""
        if self.streaming:
            refuse_other_state_store(self._view.sparkSession)
        with self._run.held():
            return self._view


def _all_answers(table: pa.Table) -> pa.Table:
    found = table.select(["name", "event_time", "match_id", "body"]).rename_columns(list(ALL_TYPES))
    found = found.cast(plain_schema(ALL_TYPES))
    return found.sort_by([(name, "ascending") for name in ("event_time", "query", "match_id")])


def _bad_row() -> F.Column:
    """A bad row as a struct; a row that was given up is one, of which the table has only the text."""
    given_up = F.struct(
        F.col("name").alias("stream"),
        F.lit(None).cast("string").alias("file"),
        F.lit(None).cast("long").alias("line"),
        F.lit(FAR_AHEAD).alias("reason"),
        F.col("body").alias("text"),
    )
    fields = ", ".join(
        f"{name} {'long' if kind is ColumnType.BIGINT else 'string'}" for name, kind in BAD_TYPES.items()
    )
    return F.when(F.col("kind") == "given_up", given_up).otherwise(F.from_json("body", fields))


def _total() -> F.Column:
    """The amount of a count: all counts of a name together, of some the greatest."""
    is_highest = F.first("name").startswith(HIGHEST)
    return F.when(is_highest, F.max("amount")).otherwise(F.sum("amount")).alias("amount")


def _release_after(query: StreamingQuery, held: checkpoints.Checkpoint) -> None:
    """The checkpoint is ours for as long as the query runs, and no longer."""
    with suppress(Exception):  # whoever waits for the query gets the error
        query.awaitTermination()
    held.release()


def _sinks(request: WriteRequest, run_id: str, checkpoint: Path) -> list[FolderSink]:
    outputs = [
        (None if callable(request.to) else request.to, "answers", ("answer",)),
        (request.late, "late", ("late",)),
        (request.bad, "bad", ("bad", "given_up")),
    ]
    sinks = [FolderSink(Path(path), name, kinds, run_id) for path, name, kinds in outputs if path is not None]
    for sink in sinks:
        refuse_ahead(checkpoint, sink.folder, sink.files.name)
    return sinks
