"""Reads JSON lines: one object a line, plain or gzip.

Rule 1  A field that is missing is NULL; other fields are ignored. Of two fields of one name the last counts.
Rule 2  Types are taken at their word: a STRING is a JSON string, numbers are JSON numbers, a BIGINT has no point. A
        TIMESTAMP is a string as in CSV, or a number of seconds since 1970.
Rule 3  Lines that are plain objects go through Arrow's typed reader, many at once. Where it stops, the lines are split
        again and again until few are left, and these are read one by one: trouble costs time only around itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json
from numpy.typing import NDArray

from headwater.hosts.files.cell_parsing import FIRST_INSTANT, LAST_INSTANT
from headwater.hosts.files.file_rows import FileRequest, FileRows, checked_rows, even_parts, typed_rows
from headwater.hosts.files.record_scanner import LINE_LIMIT, PLAIN, Scan, scan_lines
from headwater.hosts.files.text_blocks import BLOCK_BYTES, LINE_FEED, Block, read_blocks
from headwater.hosts.files.typed_columns import Faults, show_cell
from headwater.model import SECOND, ColumnType, Rows, format_instant, join_rows

ONE_BY_ONE: Final = 64
SPLIT: Final = 16

_ARRAY_FILE = re.compile(r"\s*\[\s*(?:\{|$)")
_FAST: dict[ColumnType, pa.DataType] = {
    ColumnType.STRING: pa.string(),
    ColumnType.DOUBLE: pa.float64(),
    ColumnType.BIGINT: pa.int64(),
    ColumnType.BOOLEAN: pa.bool_(),
}


def read_json_lines(
    request: FileRequest, *, piece_rows: int, block_bytes: int = BLOCK_BYTES, limit: int = LINE_LIMIT
) -> Iterator[FileRows]:
    """The pieces of a file of JSON lines."""
    reader = _Reader(request)
    nothing = True
    for block in read_blocks(
        request.path,
        _scan,
        line_end=LINE_FEED,
        block_bytes=block_bytes,
        limit=limit,
        byte_range=request.byte_range,
    ):
        if nothing and len(block) and not request.goes_on and _ARRAY_FILE.match(block.text(0)):
            reason = "json-array: the file is one JSON array; write one object per line"
            yield request.refused(reason, line=int(block.lines[0]), text=block.text(0))
            return
        nothing = nothing and not len(block)
        for records in even_parts(0, len(block), piece_rows):
            yield reader.piece(block, records)
        if block.broken:
            yield request.refused(block.broken)
            return
    if nothing and not request.goes_on:
        yield request.refused("empty-file: the file is empty")


def _scan(data: bytes, limit: int, final: bool) -> Scan:
    return scan_lines(data, limit=limit, final=final)


class _Reader:
    """Turns lines into pieces."""

    def __init__(self, request: FileRequest) -> None:
        self.request = request

    def piece(self, block: Block, records: NDArray[np.int64]) -> FileRows:
        """The piece of some lines of a block."""
        plain = block.kinds[records] == PLAIN
        plain[[record - records[0] for record in block.faults if records[0] <= record <= records[-1]]] = False
        faults: Faults = {}
        places, parts, left = [], [], [records[~plain]]
        for some, arrays in self._many(block, records[plain]):
            if arrays is None:
                left.append(some)
                continue
            rows, wrong = typed_rows(self.request, arrays)
            good = np.ones(len(some), np.bool_)
            good[list(wrong)] = False
            places.append(some[good])
            parts.append(rows.take(good) if wrong else rows)
            left.append(some[~good])
        few = np.sort(np.concatenate(left))
        rows = join_rows([*parts, self._few(block, few, faults)])
        if len(few) < len(records):
            rows = rows.take(np.argsort(np.concatenate([*places, few])))
        return checked_rows(
            self.request,
            rows,
            {record - int(records[0]): reason for record, reason in faults.items()},
            lines=block.lines[records],
            text=lambda row: block.text(int(records[row])),
        )

    def _many(
        self, block: Block, records: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], list[pa.Array] | None]]:
        """Plain lines as arrays, as many at once as Arrow takes; None for a few that it does not."""
        arrays = self._typed(block, records) if len(records) > ONE_BY_ONE else None
        if arrays is not None or len(records) <= ONE_BY_ONE:
            yield records, arrays
        else:
            for part in np.array_split(records, SPLIT):
                yield from self._many(block, part)

    def _typed(self, block: Block, records: NDArray[np.int64]) -> list[pa.Array] | None:
        first, _ = _object(block, int(records[0]))
        types = {
            name: _FAST.get(kind) or _time_style(first.get(name)) for name, kind in self.request.types.items()
        }
        data = block.bytes_of(records)
        try:
            table = arrow_json.read_json(
                pa.BufferReader(data),
                arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
                arrow_json.ParseOptions(
                    explicit_schema=pa.schema(types.items()), unexpected_field_behavior="ignore"
                ),
            )
        except ValueError:  # pa.ArrowInvalid is one
            return None
        if table.num_rows != len(records):
            return None
        return [table.column(name).combine_chunks() for name in types]

    def _few(self, block: Block, records: NDArray[np.int64], faults: Faults) -> Rows:
        """Lines of any kind, one by one."""
        rows, wrong = typed_objects(self.request, [_object(block, record) for record in records.tolist()])
        faults.update({int(records[row]): reason for row, reason in wrong.items()})
        return rows


def typed_objects(
    request: FileRequest, objects: Sequence[tuple[dict[str, Any], str | None]]
) -> tuple[Rows, Faults]:
    """Objects as rows, and what is wrong with them; beside each stands what was wrong with it before."""
    faults: Faults = {}
    values: list[list[Any]] = [[] for _ in request.columns]
    for row, (line, fault) in enumerate(objects):
        for cells, (name, kind) in zip(values, request.types.items(), strict=True):
            try:
                cells.append(None if line.get(name) is None else _READ[kind](line[name]))
            except _BadCell as bad:
                cells.append(None)
                fault = (
                    fault or f"{bad.code}: {show_cell(_as_json(line[name]))} {bad.words} (column '{name}')"
                )
        if fault:
            faults[row] = fault
    types = [_FAST.get(kind, pa.string()) for kind in request.types.values()]
    rows, wrong = typed_rows(
        request, [pa.array(cells, kind) for cells, kind in zip(values, types, strict=True)]
    )
    return rows, {**wrong, **faults}


def _time_style(value: Any) -> pa.DataType:
    """A file that writes one instant as a number does so with the others, mostly."""
    return pa.float64() if isinstance(value, int | float) else pa.string()


class _BadCell(Exception):  # noqa: N818 - never seen outside this file
    """A JSON value that is not of the declared type."""

    def __init__(self, code: str, words: str) -> None:
        self.code = code
        self.words = words


def _object(block: Block, record: int) -> tuple[dict[str, Any], str | None]:
    if record in block.faults:
        return {}, block.faults[record]
    try:
        line = json.loads(block.text(record))
    except RecursionError:
        return {}, "bad-json: nested too deep"
    except ValueError as fault:
        return {}, f"bad-json: {getattr(fault, 'msg', 'a number too long').lower()}"
    if not isinstance(line, dict):
        return {}, f"bad-json: {show_cell(_as_json(line))} is not an object"
    return line, None


def _as_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if any("\ud800" <= letter <= "\udfff" for letter in text) else text


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _BadCell("bad-string", "is not a string")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _BadCell("broken-utf8", "contains half of a surrogate pair")
    return value


def _double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadCell("bad-number", "is not a number")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _bigint(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise _BadCell("bad-number", "is not a 64-bit integer")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _BadCell("bad-boolean", "is neither true nor false")
    return value


def _instant(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadCell("bad-time", "is not a timestamp")
    seconds = _double(value)
    if not FIRST_INSTANT / SECOND <= seconds <= LAST_INSTANT / SECOND:
        raise _BadCell("bad-time", "is not a timestamp")
    return format_instant(round(seconds * SECOND))


_READ: dict[ColumnType, Callable[[Any], Any]] = {
    ColumnType.STRING: _string,
    ColumnType.DOUBLE: _double,
    ColumnType.BIGINT: _bigint,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.TIMESTAMP: _instant,
}
