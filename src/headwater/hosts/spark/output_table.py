"""Everything a run reports, as one table: answers, late rows, bad rows and counts, so that one pass writes them all.

`kind` is `answer`, `late`, `bad` or `count`; `name` the query, the stream or what was counted; `body` the whole row as one
JSON object. `held:STREAM` tells how many rows wait now, also when none does; of `most_…` the greatest counts, other counts are added up.
Two writers on two tables would run every stage twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.hosts.files.json_lines import json_lines
from headwater.hosts.zone import StepOutput
from headwater.model import ColumnType, Rows

BATCH_ROWS = 65_536  # answers made into text at a time

TABLE = "kind string, name string, event_time long, match_id string, body string, amount long"
TABLE_ARROW = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("event_time", pa.int64()),
        ("match_id", pa.string()),
        ("body", pa.string()),
        ("amount", pa.int64()),
    ]
)


def output_batches(output: StepOutput, bad: Rows | None, seen: int) -> Iterator[pa.RecordBatch]:
    """A step's output as record batches of the table."""
    for block in output.answers:
        for start in range(0, block.count, BATCH_ROWS):
            yield _answers(block.take(slice(start, start + BATCH_ROWS)))
    for stream, rows in output.late.items():
        yield _batch(rows.count, kind="late", name=_repeat(stream, rows.count), body=json_lines(rows))
    for stream, rows in output.given_up.items():
        yield _batch(rows.count, kind="given_up", name=_repeat(stream, rows.count), body=json_lines(rows))
    if bad is not None:
        yield _batch(bad.count, kind="bad", name=_strings(bad, "stream"), body=json_lines(bad))
    yield count_batch({"rows": seen, **output.counts})


def _answers(rows: Rows) -> pa.RecordBatch:
    names, ids = rows["query"], rows["match_id"]
    assert names.names is not None
    return _batch(
        rows.count,
        kind="answer",
        name=pa.DictionaryArray.from_arrays(pa.array(names.values), pa.array(names.names, pa.string())).cast(
            pa.string()
        ),
        event_time=pa.array(rows["event_time"].values, pa.int64()),
        match_id=pa.array(ids.values.astype("S32"), pa.binary()).cast(pa.string()),
        body=json_lines(rows),
    )


def timed(table: DataFrame) -> DataFrame:
    """The table with `event_time` as a timestamp. It travels as a number: no session's time zone can change that."""
    return table.withColumn("event_time", F.timestamp_micros("event_time"))


def count_batch(counts: Mapping[str, int]) -> pa.RecordBatch:
    """Counts as rows of the table."""
    shown = {name: amount for name, amount in counts.items() if amount or name.startswith("held:")}
    return _batch(
        len(shown),
        kind="count",
        name=pa.array(list(shown), pa.string()),
        amount=pa.array(list(shown.values()), pa.int64()),
    )


def _batch(count: int, *, kind: str, **columns: pa.Array) -> pa.RecordBatch:
    arrays = [
        _repeat(kind, count) if field.name == "kind" else columns.get(field.name, pa.nulls(count, field.type))
        for field in TABLE_ARROW
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=TABLE_ARROW)


def _repeat(text: str, count: int) -> pa.Array:
    return pa.array(np.full(count, text, object), pa.string())


def _strings(rows: Rows, name: str) -> pa.Array:
    assert rows[name].type is ColumnType.STRING
    return pa.array(rows[name].tolist(), pa.string())
