"""Rows of any content, for property tests: every column type, NULLs, empty rows, odd strings."""

from __future__ import annotations

import struct
from zlib import crc32

from hypothesis import settings
from hypothesis import strategies as st

from headwater.model import Column, ColumnType, Rows

often = settings(max_examples=200, deadline=None, derandomize=True)
"""The same examples every time, and as long as they take: the first may compile a kernel."""

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)

VALUES = {
    ColumnType.STRING: TEXT,
    ColumnType.DOUBLE: st.floats(allow_nan=False, allow_infinity=False),
    ColumnType.BIGINT: st.integers(-(2**63) + 1, 2**63 - 1),
    ColumnType.BOOLEAN: st.booleans(),
    ColumnType.TIMESTAMP: st.integers(-(2**61), 2**61),
}


def sealed(data: bytes) -> bytes:
    """Bytes of the codec's layout with the checksum that fits them: what a peer that means harm sends."""
    return data[:8] + struct.pack("<I", crc32(data[12:], crc32(data[:8]))) + data[12:]


@st.composite
def any_rows(draw: st.DrawFn, max_rows: int = 6) -> Rows:
    """Rows with one to four columns of any type but ID."""
    count = draw(st.integers(0, max_rows))
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    columns = {}
    for index, kind in enumerate(kinds):
        items = draw(st.lists(st.none() | VALUES[kind], min_size=count, max_size=count))
        columns[f"c{index}"] = Column.of(kind, items)
    return Rows(columns, count)
