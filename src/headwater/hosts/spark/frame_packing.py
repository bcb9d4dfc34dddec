"""A user's DataFrame on its way in: Catalyst decides what is of use, Python packs what is left.

`admit` keeps the time of every row, and the columns only of rows that some query can use or that are bad: a filter would
lose the time of the others, and with it the watermark. What it gives is small and ready for `mapInArrow`. Which of these rows are
bad to the queries that read them is found in Python, as in files: Spark cannot say every WHERE to the last bit.

A stream of a DataFrame has one input, which holds nobody back: IDLE changes nothing, so no clock is read here, and a micro-batch
that is run again is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from headwater.hosts.files import json_lines
from headwater.hosts.files.arrow import rows_from_arrow
from headwater.hosts.files.file_rows import Judge
from headwater.hosts.spark.packing import PACKED, SLICED, Origin, pack, pack_slices
from headwater.hosts.stored_code import use_compiled_code
from headwater.hosts.stream_reading import judge_of
from headwater.model import Column, ColumnType, DataError, Rows, StreamSchema, strings
from headwater.query.expressions import to_spark_sql
from headwater.query.planning.plan import Plan

_ACCEPTED: dict[ColumnType, tuple[type[T.DataType], ...]] = {
    ColumnType.STRING: (T.StringType, T.VarcharType, T.CharType),
    ColumnType.DOUBLE: (
        T.DoubleType,
        T.FloatType,
        T.DecimalType,
        T.LongType,
        T.IntegerType,
        T.ShortType,
        T.ByteType,
    ),
    ColumnType.BIGINT: (T.LongType, T.IntegerType, T.ShortType, T.ByteType),
    ColumnType.BOOLEAN: (T.BooleanType,),
    ColumnType.TIMESTAMP: (T.TimestampType, T.TimestampNTZType, T.DateType),
}
_SQL = {
    ColumnType.STRING: "string",
    ColumnType.DOUBLE: "double",
    ColumnType.BIGINT: "bigint",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.TIMESTAMP: "timestamp",
}


def packed_frame(frame: DataFrame, plan: Plan, stream: str, partition_keys: Sequence[int]) -> DataFrame:
    """A streaming DataFrame as packed rows for every zone."""
    return admit(frame, plan, stream).mapInArrow(Packer(plan, stream, partition_keys), PACKED)


def sliced_frame(
    frame: DataFrame, plan: Plan, stream: str, partition_keys: Sequence[int], width_us: int
) -> DataFrame:
    """A static DataFrame as packed rows by zone and slice of time."""
    return admit(frame, plan, stream).mapInArrow(Packer(plan, stream, partition_keys, width_us), SLICED)


def admit(frame: DataFrame, plan: Plan, stream: str) -> DataFrame:
    """`time`, why the row is `bad` (or NULL), its `text` when it is, and its `row` when it is of use."""
    schema = plan.stream(stream)
    check_columns(frame, schema, plan.columns_read(stream))
    typed = frame.select(
        *(typed_column(frame, n, schema.types[n]).alias(n) for n in plan.columns_read(stream))
    )
    usable = plan.useful_rows(stream)
    is_usable = (
        F.lit(True)
        if usable is None
        else F.coalesce(F.expr(to_spark_sql(usable, schema.types)), F.lit(False))
    )
    bad = _bad_reason(schema, plan.columns_read(stream))
    columns = [
        F.unix_micros(F.col(f"`{n}`")).alias(n)
        if schema.types[n] is ColumnType.TIMESTAMP
        else F.col(f"`{n}`")
        for n in plan.columns_read(stream)
    ]
    return typed.select(
        F.unix_micros(F.col(f"`{schema.time}`")).alias("time"),
        bad.alias("bad"),
        F.when(bad.isNotNull(), F.to_json(F.struct("*"))).alias("text"),
        F.when(bad.isNull() & is_usable, F.struct(*columns)).alias("row"),
    )


def typed_column(frame: DataFrame, name: str, kind: ColumnType) -> F.Column:
    """A column in its declared type. Dates, and times without a zone, are UTC, whatever the session's zone is."""
    column = F.col(f"`{name}`")
    if isinstance(frame.schema[name].dataType, T.TimestampNTZType | T.DateType):
        column = F.convert_timezone(F.lit("UTC"), F.current_timezone(), column.cast("timestamp_ntz"))
    return column.cast(_SQL[kind])


def check_columns(frame: DataFrame, schema: StreamSchema, names: Sequence[str]) -> None:
    """Refuse a frame that lacks a column or has it in a type that would have to be guessed at."""
    present = {field.name: field.dataType for field in frame.schema.fields}
    for name in names:
        kind = schema.types[name]
        if name not in present:
            raise DataError(
                "missing-column",
                f"the DataFrame for '{schema.name}' has no column '{name}'",
                stream=schema.name,
                advice=[f"its columns: {', '.join(present)}"],
            )
        if not isinstance(present[name], _ACCEPTED[kind]):
            raise DataError(
                "column-type",
                f"column '{name}' is {present[name].simpleString()}, the stream declares {kind.value}",
                stream=schema.name,
                advice=[f"cast it first: df.withColumn('{name}', F.col('{name}').cast('{_SQL[kind]}'))"],
            )


def _bad_reason(schema: StreamSchema, names: Sequence[str]) -> F.Column:
    reason = F.when(F.col(f"`{schema.time}`").isNull(), F.lit("missing-time: the row has no time"))
    for name in names:
        if schema.types[name] is ColumnType.DOUBLE:
            column = F.col(f"`{name}`")
            wrong = F.isnan(column) | (F.abs(column) == F.lit(float("inf")))
            reason = reason.when(wrong, F.lit(f"not-finite: column '{name}' is not a finite number"))
    if (
        schema.place is not None
        and schema.place.geographic
        and {schema.place.x, schema.place.y} <= set(names)
    ):
        x, y = F.col(f"`{schema.place.x}`"), F.col(f"`{schema.place.y}`")
        reason = reason.when(
            (F.abs(x) > 180) | (F.abs(y) > 90), F.lit("place-out-of-range: not a longitude and latitude")
        )
    return reason


class Packer:
    """What a task does with admitted rows; with a width it cuts them into slices of time."""

    def __init__(
        self, plan: Plan, stream: str, partition_keys: Sequence[int], width_us: int | None = None
    ) -> None:
        self.plan = plan
        self.partition_keys = tuple(partition_keys)
        self.stream = stream
        self.width_us = width_us

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Admitted rows in, packed rows out; a task without rows still tells every zone that it is there."""
        use_compiled_code()
        plan = self.plan
        schema, names = plan.stream(self.stream), plan.columns_read(self.stream)
        routing, judge = plan.routing(self.stream), judge_of(plan, self.stream)
        origin, sent = Origin(self.stream, self.stream, 0), False
        for batch in batches:
            if batch.num_rows == 0:
                continue
            sent = True
            batch, rows = _judged(batch, _usable_rows(batch, schema, names), judge)
            times = pc.drop_null(batch.column("time").filter(pc.is_null(batch.column("bad")))).to_numpy()
            bad = _bad_rows(batch, self.stream)
            if self.width_us is None:
                yield pack(
                    origin,
                    self.partition_keys,
                    rows=rows,
                    times=times,
                    routing=routing,
                    bad=bad,
                    seen=batch.num_rows,
                )
            else:
                yield pack_slices(
                    partition_keys=self.partition_keys, stream=self.stream, rows=rows, times=rows[schema.time].values, routing=routing,
                    width_us=self.width_us, bad=bad, seen=batch.num_rows,
                )  # fmt: skip
        if not sent and self.width_us is None:
            yield pack(origin, self.partition_keys)


def _usable_rows(batch: pa.RecordBatch, schema: StreamSchema, names: Sequence[str]) -> Rows:
    structs = pc.drop_null(batch.column("row"))
    fields = {name: structs.field(i) for i, name in enumerate(names)}
    if not len(structs):
        return Rows.empty({name: schema.types[name] for name in names})
    table = pa.RecordBatch.from_arrays(list(fields.values()), names=list(fields))
    return rows_from_arrow(table, {name: schema.types[name] for name in names})


def _judged(batch: pa.RecordBatch, rows: Rows, judge: Judge | None) -> tuple[pa.RecordBatch, Rows]:
    """Admitted rows with those among them marked that are bad to a query, and the usable `rows` without these."""
    faults = judge(rows, {}) if judge else {}
    if not faults:
        return batch, rows
    wrong = np.array(sorted(faults))
    places = np.flatnonzero(batch.column("row").is_valid().to_numpy(zero_copy_only=False))[wrong]
    reasons, texts = batch.column("bad").to_pylist(), batch.column("text").to_pylist()
    for place, row, text in zip(
        places.tolist(), wrong.tolist(), json_lines(rows.take(wrong)).to_pylist(), strict=True
    ):
        reasons[place], texts[place] = faults[row], text
    marked = {"bad": pa.array(reasons, pa.string()), "text": pa.array(texts, pa.string())}
    columns = [marked.get(name, batch.column(name)) for name in batch.schema.names]
    good = np.setdiff1d(np.arange(rows.count), wrong)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names), rows.take(good)


def _bad_rows(batch: pa.RecordBatch, stream: str) -> Rows | None:
    wrong = batch.filter(pc.is_valid(batch.column("bad")))
    if not wrong.num_rows:
        return None
    count = wrong.num_rows
    return Rows.of(
        {
            "stream": strings([stream] * count),
            "file": Column.nulls(ColumnType.STRING, count),
            "line": Column(ColumnType.BIGINT, np.zeros(count, np.int64), np.zeros(count, np.bool_)),
            "reason": strings(wrong.column("bad").to_pylist()),
            "text": strings(wrong.column("text").to_pylist()),
        }
    )
