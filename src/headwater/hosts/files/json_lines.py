"""Rows as JSON, one object a row: what every host writes, so that the same answer is the same text everywhere.

NULL is `null`, and so is a number that JSON cannot say (NaN, infinity); see `value_texts` for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring

import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.files.arrow import plain_schema, rows_from_arrow
from headwater.hosts.files.value_texts import as_bytes, column_texts
from headwater.model import ColumnType, Rows


def json_lines(rows: Rows) -> pa.StringArray:
    """A JSON object for every row, its fields in the order of the columns."""
    if not rows.count:
        return pa.array([], pa.string())
    parts: list[pa.StringArray | str] = []
    for number, (name, column) in enumerate(rows.columns.items()):
        texts = column_texts(column, _quoted, quote_instants=True)
        parts += [f"{', ' if number else '{'}{_quoted(name)}: ", pc.fill_null(texts, "null")]
    if not parts:
        return pa.array(["{}"] * rows.count, pa.string())
    return pc.binary_join_element_wise(*parts, "}", "")


def rows_from_json(lines: pa.StringArray, types: Mapping[str, ColumnType]) -> Rows:
    """Rows from what `json_lines` wrote of rows with these columns."""
    import pyarrow.json as arrow_json

    if not len(lines):
        return Rows.empty(types)
    data = as_bytes(lines)
    table = arrow_json.read_json(
        pa.BufferReader(data),
        arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        arrow_json.ParseOptions(explicit_schema=plain_schema(types)),
    )
    return rows_from_arrow(table, types)


def _quoted(text: str) -> str:
    return encode_basestring(text)
