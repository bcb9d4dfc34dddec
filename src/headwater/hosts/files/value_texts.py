"""How are values written for people and programs? The same way in every output and on every host.

DOUBLE     the shortest text that reads back as the same number, as Python writes it: 1.5, -3.0, 1e+16, 1e-05
TIMESTAMP  ISO 8601 in UTC, with microseconds only where there are any: 2026-01-31T06:00:00Z
BOOLEAN    true, false
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.files.arrow import column_to_arrow
from headwater.model import SECOND, Column, ColumnType

# Within these bounds Arrow writes a number that is not whole as Python does; whole ones are written as integers.
_SAME_FROM: Final = 1e-4
_SAME_BELOW: Final = 1e10
_WHOLE_BELOW: Final = 1e15


def column_texts(column: Column, quote: Callable[[str], str], *, quote_instants: bool) -> pa.StringArray:
    """The text of every value, NULL for NULL; a number that is not finite is NULL too.

    `quote` is what is done with the value of a STRING, once for each name of its dictionary.
    """
    if column.type is ColumnType.STRING:
        assert column.names is not None
        missing = None if column.valid is None else ~column.valid
        names = pa.array([quote(name) for name in column.names.tolist()], pa.string())
        return pc.take(names, pa.array(column.values, pa.int32(), mask=missing))
    mark = '"' if quote_instants else ""
    if column.type is ColumnType.TIMESTAMP:
        return pc.binary_join_element_wise(mark, _instants(column), f"Z{mark}", "")
    texts = (
        _doubles(column)
        if column.type is ColumnType.DOUBLE
        else pc.cast(column_to_arrow(column), pa.string())
    )
    return pc.binary_join_element_wise(mark, texts, mark, "") if column.type is ColumnType.ID else texts


def as_bytes(lines: pa.StringArray) -> memoryview:
    """All lines one after the other, each with a line feed, without making a Python string of any."""
    ended = pc.binary_join_element_wise(lines, "", "\n")
    offsets = np.frombuffer(ended.buffers()[1], np.int32)[ended.offset : ended.offset + len(ended) + 1]
    return memoryview(ended.buffers()[2])[int(offsets[0]) : int(offsets[-1])]


def _doubles(column: Column) -> pa.StringArray:
    finite = np.isfinite(column.values) & column.is_valid
    values = np.where(finite, column.values, 0.0)
    size = np.abs(values)
    whole = (values == np.floor(values)) & (size < _WHOLE_BELOW)
    missing = None if finite.all() else ~finite
    texts = pc.cast(pa.array(values, mask=missing), pa.string())
    if whole.any():
        digits = pc.cast(pa.array(np.where(whole, values, 0.0).astype(np.int64), mask=missing), pa.string())
        texts = pc.if_else(pa.array(whole), pc.binary_join_element_wise(digits, ".0", ""), texts)
    other = np.where(whole, (size == 0) & np.signbit(values), (size < _SAME_FROM) | (size >= _SAME_BELOW))
    if other.any():
        written = json.dumps(values[other].tolist())[1:-1].split(", ")
        texts = pc.replace_with_mask(texts, pa.array(other), pa.array(written, pa.string()))
    return texts


def _instants(column: Column) -> pa.StringArray:
    """Without the Z: it is put on with the marks around it, which saves a pass."""
    missing = None if column.valid is None else ~column.valid
    whole = column.values % SECOND == 0
    if whole.all():
        texts = pc.cast(pa.array(column.values // SECOND, mask=missing).cast(pa.timestamp("s")), pa.string())
    else:
        texts = pc.cast(pa.array(column.values, mask=missing).cast(pa.timestamp("us")), pa.string())
        texts = pc.if_else(pa.array(whole), pc.utf8_slice_codeunits(texts, 0, -len(".000000")), texts)
    return pc.replace_substring(texts, " ", "T")
