"""Rows as Arrow tables and back, for data that is already checked: answers, state, rows between stages.

Strings travel as dictionaries, instants as microseconds in UTC, identities as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.files.typed_columns import string_column
from headwater.model import Column, ColumnType, Rows

ARROW_TYPES: Mapping[ColumnType, pa.DataType] = {
    ColumnType.STRING: pa.dictionary(pa.int32(), pa.string()),
    ColumnType.DOUBLE: pa.float64(),
    ColumnType.BIGINT: pa.int64(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.TIMESTAMP: pa.timestamp("us", "UTC"),
    ColumnType.ID: pa.string(),
}

_ID_BYTES = 32


def plain_schema(types: Mapping[str, ColumnType]) -> pa.Schema:
    """The schema of a table with these columns, its strings as plain text instead of dictionaries."""
    plain = {**ARROW_TYPES, ColumnType.STRING: pa.string()}
    return pa.schema([(name, plain[kind]) for name, kind in types.items()])


def rows_from_arrow(table: pa.Table | pa.RecordBatch, types: Mapping[str, ColumnType]) -> Rows:
    """The named columns of a table whose types are those of `rows_to_arrow` or can be cast to them."""
    return Rows(
        {name: column_from_arrow(table.column(name), kind) for name, kind in types.items()}, table.num_rows
    )


def rows_to_arrow(rows: Rows) -> pa.Table:
    """A table of these rows; arrays share memory where they can."""
    arrays = [column_to_arrow(column) for column in rows.columns.values()]
    if not arrays:
        return pa.table({"": pa.nulls(rows.count)}).select([])
    return pa.table(arrays, names=list(rows.columns))


def column_from_arrow(data: pa.Array | pa.ChunkedArray, kind: ColumnType) -> Column:
    """One column."""
    array = data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data
    if isinstance(array, pa.ChunkedArray):  # what combine_chunks gives for no chunks
        array = pa.array([], array.type)
    if pa.types.is_null(array.type):
        return Column.nulls(kind, len(array))
    if kind is ColumnType.STRING:
        return string_column(array)[0]
    valid = None if array.null_count == 0 else array.is_valid().to_numpy(zero_copy_only=False)
    if kind is ColumnType.ID:
        texts = pc.fill_null(array.cast(pa.string()), "").to_numpy(zero_copy_only=False)
        return Column(kind, texts.astype(kind.dtype), valid)
    target = ARROW_TYPES[kind]
    if array.type != target:
        array = pc.cast(array, target)
    if kind is ColumnType.TIMESTAMP:
        array = array.view(pa.int64())
    if valid is not None:
        array = pc.fill_null(array, kind.dtype.type().item())
    return Column(kind, array.to_numpy(zero_copy_only=False), valid)


def column_to_arrow(column: Column) -> pa.Array:
    """One array."""
    missing = None if column.valid is None else ~column.valid
    if column.type is ColumnType.STRING:
        indices = pa.array(column.values, pa.int32(), mask=missing)
        return pa.DictionaryArray.from_arrays(indices, pa.array(column.names, pa.string()))
    if column.type is ColumnType.ID:
        return _ids(np.ascontiguousarray(column.values), missing)
    array = pa.array(column.values, mask=missing)
    return array.cast(ARROW_TYPES[column.type]) if column.type is ColumnType.TIMESTAMP else array


def _ids(values: Any, missing: Any) -> pa.StringArray:
    """Texts of 32 characters each, without making a Python string of any."""
    if missing is not None:
        return pa.array(
            [None if gone else item.decode() for item, gone in zip(values, missing, strict=True)], pa.string()
        )
    offsets = np.arange(len(values) + 1, dtype=np.int32) * _ID_BYTES
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(values))
