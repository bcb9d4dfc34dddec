"""Rows of answers, bad rows and counts as the tables that Python gets: in one order and of plain types, whatever the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from headwater.hosts.files import BAD_TYPES, json_lines, rows_to_arrow
from headwater.hosts.files.arrow import plain_schema
from headwater.model import Column, ColumnType, Rows, strings

LATE_TYPES: Final[Mapping[str, ColumnType]] = {"stream": ColumnType.STRING, "row": ColumnType.STRING}

COUNT_TYPES: Final[Mapping[str, ColumnType]] = {"name": ColumnType.STRING, "amount": ColumnType.BIGINT}

ALL_TYPES: Final[Mapping[str, ColumnType]] = {
    "query": ColumnType.STRING,
    "event_time": ColumnType.TIMESTAMP,
    "match_id": ColumnType.ID,
    "answer": ColumnType.STRING,
}


def answers_table(rows: Rows) -> pa.Table:
    """Answers of one query in the order of event time, then match_id; of one match, as the engine told them."""
    return plain_table(rows.take(np.lexsort([rows["match_id"].values, rows["event_time"].values])))


def bad_table(bad: Rows) -> pa.Table:
    """Bad rows by stream, file and line. A row of a table in memory has no file, one of a DataFrame of Spark's no line either."""
    bad = bad.having(file=_without_empty(bad["file"]))
    order = np.lexsort([bad[name].ranks() for name in ("text", "reason", "line", "file", "stream")])
    return plain_table(bad.select(BAD_TYPES).take(order))


def counts_table(counts: Mapping[str, int]) -> pa.Table:
    """What was counted, by name."""
    names = sorted(name for name, amount in counts.items() if amount)
    return pa.table([names, [int(counts[name]) for name in names]], schema=plain_schema(COUNT_TYPES))


def all_table(rows: Rows) -> pa.Table:
    """Answers of several queries that share their columns, each as JSON."""
    return plain_table(
        Rows(
            {
                "query": rows["query"],
                "event_time": rows["event_time"],
                "match_id": rows["match_id"],
                "answer": strings(json_lines(rows).to_pylist()),
            },
            rows.count,
        )
    )


def plain_table(rows: Rows) -> pa.Table:
    """Rows as a table: texts are texts, and a number that is not finite is NULL, as in JSON lines."""
    types = {name: column.type for name, column in rows.columns.items()}
    finite = Rows({name: _finite(column) for name, column in rows.columns.items()}, rows.count)
    return rows_to_arrow(finite).cast(plain_schema(types))


def _without_empty(column: Column) -> Column:
    """Texts, with NULL for the empty one."""
    assert column.names is not None
    empty = np.flatnonzero(column.names == "")
    if not len(empty):
        return column
    valid = column.is_valid & (column.values != empty[0])
    return Column(column.type, np.where(valid, column.values, np.int32(0)), valid, column.names)


def _finite(column: Column) -> Column:
    if column.type is not ColumnType.DOUBLE or np.isfinite(column.values).all():
        return column
    valid = column.is_valid & np.isfinite(column.values)
    return Column(column.type, np.where(valid, column.values, 0.0), valid)
