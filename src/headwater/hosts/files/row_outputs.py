"""Where do answers go, and in which format? To standard output or one file: JSON lines, CSV, Parquet or tables for people.

Rule 1  A file is written under a hidden name beside the target and renamed when it is complete: nobody ever reads half
        of one. What was there before stays until then.
Rule 2  JSON lines give every row its own columns. CSV and Parquet have the columns of all queries, in the order in which
        they are first declared; a row has NULL where its query has no such column. A column that is BIGINT in one query
        and DOUBLE in another is DOUBLE; of other different types it is text.
Rule 3  Answers handed over together are written in the order of event time, query and match_id, which is the order of the
        whole, since later answers are about later times.
Memory  what is handed over, and for Parquet one row group.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headwater.hosts.files.arrow import ARROW_TYPES, column_to_arrow
from headwater.hosts.files.json_lines import json_lines
from headwater.hosts.files.table_output import TableOutput, TableStyle
from headwater.hosts.files.value_texts import as_bytes, column_texts
from headwater.model import Column, ColumnType, DataError, HostError, Rows, join_rows

FORMATS: Final = {"table": "", "json": ".jsonl", "csv": ".csv", "parquet": ".parquet"}
"""The formats of outputs, and how the names of files end that have them."""

OUTPUT_NAMES: Final = (".jsonl", ".csv", ".parquet")

LINES_AT_ONCE: Final = 500_000

_ANSWER_ORDER: Final = ("event_time", "query", "match_id")

LATE_TYPES: Final[Mapping[str, ColumnType]] = {
    "stream": ColumnType.STRING,
    "time": ColumnType.TIMESTAMP,
    "reason": ColumnType.STRING,
    "row": ColumnType.STRING,
}


class Output(Protocol):
    """Something rows are written to. `close` makes it complete; `discard` leaves no trace of it."""

    def write(self, blocks: Sequence[Rows]) -> None:
        """Some more rows, of one or of several kinds."""
        ...

    def close(self) -> None:
        """No more rows."""
        ...

    def discard(self) -> None:
        """It was for nothing."""
        ...


def check_output(path: str, form: str | None = None) -> None:
    """Refuse a name whose ending does not say the format, or another one than `form`, and a folder that is not there, before any work is done."""
    ending = path.lower().endswith(OUTPUT_NAMES)
    if form is None and not ending:
        raise DataError(
            "unknown-format",
            f"the format to write is not known for '{path}'",
            advice=[f"the name must end with {', '.join(OUTPUT_NAMES[:-1])} or {OUTPUT_NAMES[-1]}"],
        )
    if form is not None and ending and not path.lower().endswith(FORMATS[form] or "/"):
        raise DataError(
            "unknown-format",
            f"'{path}' has the ending of another format than {form}",
            advice=["leave --format out, or choose a name with another ending"],
        )
    with _trouble(path):
        there = Path(path).parent.is_dir()
    if not there:
        raise DataError(
            "missing-folder", f"there is no folder '{Path(path).parent}' to write '{Path(path).name}' to"
        )


def open_output(
    path: str | None,
    types: Iterable[Mapping[str, ColumnType]],
    *,
    form: str | None = None,
    style: TableStyle | None = None,
) -> Output:
    """An output for rows of these columns, one mapping a query; None is standard output.

    `form` is one of FORMATS (default: what the name of the file says, JSON lines on standard output); `style` is that of tables.
    """
    if path is None:
        return _inner(sys.stdout.buffer, form or "json", united(types), style)
    check_output(path, form)
    with _trouble(path):
        return _File(path, form or _format_of(path), united(types), style)


def _format_of(path: str) -> str:
    return next(form for form, ending in FORMATS.items() if ending and path.lower().endswith(ending))


def united(types: Iterable[Mapping[str, ColumnType]]) -> dict[str, ColumnType]:
    """The columns that can hold the rows of all queries."""
    columns: dict[str, ColumnType] = {}
    for some in types:
        for name, kind in some.items():
            known = columns.setdefault(name, kind)
            if known is not kind:
                columns[name] = ColumnType.DOUBLE if known.numeric and kind.numeric else ColumnType.STRING
    return columns


@contextmanager
def _trouble(path: str) -> Iterator[None]:
    """A full disk, a folder that must not be written: said in words."""
    try:
        yield
    except OSError as fault:
        raise HostError("cannot-write", f"cannot write '{path}': {fault.strerror or fault}") from fault


class _Lines:
    """JSON lines to a stream of bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def write(self, blocks: Sequence[Rows]) -> None:
        for lines in _ordered_lines(blocks, json_lines):
            self.stream.write(as_bytes(lines))
        self.stream.flush()

    def close(self) -> None:
        self.stream.flush()

    def discard(self) -> None:
        pass


class _File:
    """One file, complete or not there."""

    def __init__(
        self, path: str, form: str, types: Mapping[str, ColumnType], style: TableStyle | None
    ) -> None:
        self.path = Path(path)
        self.hidden = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        self.stream = self.hidden.open("wb")
        try:
            self.inner = _inner(self.stream, form, types, style)
        except BaseException:
            self.stream.close()
            self.hidden.unlink(missing_ok=True)
            raise

    def write(self, blocks: Sequence[Rows]) -> None:
        with _trouble(str(self.path)):
            self.inner.write(blocks)

    def close(self) -> None:
        with _trouble(str(self.path)):
            self.inner.close()
            self.stream.close()
            self.hidden.replace(self.path)

    def discard(self) -> None:
        with suppress(OSError):
            self.inner.discard()
            self.stream.close()
        self.hidden.unlink(missing_ok=True)


def _inner(stream: BinaryIO, form: str, types: Mapping[str, ColumnType], style: TableStyle | None) -> Output:
    match form:
        case "json":
            return _Lines(stream)
        case "csv":
            return _Csv(stream, types)
        case "parquet":
            return _Parquet(stream, types)
        case _:
            return TableOutput(stream, style or TableStyle())


class _Csv:
    """CSV with a header; NULL is an empty cell, quotes only where they are needed."""

    def __init__(self, stream: BinaryIO, types: Mapping[str, ColumnType]) -> None:
        self.stream = stream
        self.types = types
        self.stream.write(",".join(csv_cell(name) for name in types).encode() + b"\n")

    def write(self, blocks: Sequence[Rows]) -> None:
        for lines in _ordered_lines(blocks, self._lines):
            self.stream.write(as_bytes(lines))
        self.stream.flush()

    def _lines(self, rows: Rows) -> pa.StringArray:
        empty = pa.array([""] * rows.count, pa.string())
        cells = [
            pc.fill_null(column_texts(rows[name], csv_cell, quote_instants=False), "")
            if name in rows
            else empty
            for name in self.types
        ]
        return pc.binary_join_element_wise(*cells, ",")

    def close(self) -> None:
        self.stream.flush()

    def discard(self) -> None:
        pass


class _Parquet:
    """Parquet with typed columns; instants are microseconds in UTC."""

    def __init__(self, stream: BinaryIO, types: Mapping[str, ColumnType]) -> None:
        import pyarrow.parquet as arrow_parquet

        self.types = types
        self.schema = pa.schema([(name, _stored(kind)) for name, kind in types.items()])
        self.writer = arrow_parquet.ParquetWriter(stream, self.schema)

    def write(self, blocks: Sequence[Rows]) -> None:
        filled = [rows for rows in blocks if rows.count]
        if filled:
            tables = [
                pa.table([_united_array(rows, *column) for column in self.types.items()], schema=self.schema)
                for rows in filled
            ]
            self.writer.write_table(pa.concat_tables(tables).take(_order(filled)))

    def close(self) -> None:
        self.writer.close()

    def discard(self) -> None:
        self.writer.close()


def _ordered_lines(
    blocks: Sequence[Rows], lines_of: Callable[[Rows], pa.StringArray]
) -> Iterator[pa.StringArray]:
    """The lines of some blocks in order, so many at a time that their text fits into one array."""
    filled = [rows for rows in blocks if rows.count]
    order = _order(filled) if filled else np.zeros(0, np.int64)
    ends = np.cumsum([rows.count for rows in filled])
    for start in range(0, len(order), LINES_AT_ONCE):
        chosen = order[start : start + LINES_AT_ONCE]
        block = np.searchsorted(ends, chosen, "right")
        parts, places = [], []
        for number, rows in enumerate(filled):
            mine = np.flatnonzero(block == number)
            parts.append(lines_of(rows.take(chosen[mine] - (ends[number] - rows.count))))
            places.append(mine)
        lines = pa.chunked_array(parts).combine_chunks()
        yield lines.take(pa.array(np.argsort(np.concatenate(places))))


def _order(blocks: Sequence[Rows]) -> NDArray[np.int64]:
    """The order of answers; anything else stays as it is."""
    if not all(name in rows for rows in blocks for name in _ANSWER_ORDER):
        return np.arange(sum(rows.count for rows in blocks))
    together = join_rows([rows.select(_ANSWER_ORDER) for rows in blocks])
    return np.lexsort([together[name].values for name in reversed(_ANSWER_ORDER)])


def csv_cell(text: str) -> str:
    """A text as a cell: in quotes if it is empty or holds what would end it."""
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _stored(kind: ColumnType) -> pa.DataType:
    return pa.string() if kind is ColumnType.STRING else ARROW_TYPES[kind]


def _united_array(rows: Rows, name: str, kind: ColumnType) -> pa.Array:
    if name not in rows:
        return pa.nulls(rows.count, _stored(kind))
    column: Column = rows[name]
    if kind is ColumnType.STRING and column.type is not ColumnType.STRING:
        return column_texts(column, str, quote_instants=False)
    return pc.cast(column_to_arrow(column), _stored(kind), safe=False)
