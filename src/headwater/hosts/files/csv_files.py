"""Reads CSV: a header line, then records; comma, semicolon or tab; plain or gzip.

Rule 1  The header must name every requested column, in any order and among others. The delimiter is the one that finds
        most of the stream's columns in the header.
Rule 2  An empty cell is NULL; for a STRING, `""` is an empty string.
Rule 3  A block whose cells all read as their types goes through Arrow's typed reader at once. If one does not, the block
        is read as text and every cell is judged by itself, by the language of `cell_parsing`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from headwater.hosts.files.byte_ranges import ByteRange
from headwater.hosts.files.cell_parsing import arrow_style
from headwater.hosts.files.file_rows import (
    FileRequest,
    FileRows,
    checked_rows,
    even_parts,
    missing_column,
    typed_rows,
)
from headwater.hosts.files.record_scanner import LINE_LIMIT, Scan, scan_csv
from headwater.hosts.files.text_blocks import ANY_LINE_END, BLOCK_BYTES, BYTE_ORDER_MARK, Block, read_blocks
from headwater.hosts.files.typed_columns import Faults
from headwater.model import ColumnType, Rows

DELIMITERS: Final = ",;\t"
HEADER_BYTES: Final = 64 << 10
MOST_SHOWN: Final = 60  # characters of a first line that is no header

_OTHER_DELIMITERS: Final = "|:~^ "

Text = bytes | memoryview

_HEX = re.compile(rb"0[xX]")
_FAST: dict[ColumnType, pa.DataType] = {
    ColumnType.STRING: pa.dictionary(pa.int32(), pa.string()),
    ColumnType.DOUBLE: pa.float64(),
    ColumnType.BIGINT: pa.int64(),
    ColumnType.BOOLEAN: pa.bool_(),
    ColumnType.TIMESTAMP: pa.string(),
}


def read_csv(
    request: FileRequest, *, piece_rows: int, block_bytes: int = BLOCK_BYTES, limit: int = LINE_LIMIT
) -> Iterator[FileRows]:
    """The pieces of a CSV file; a byte range that goes on has the header of the file's beginning."""
    table: _Table | None = None
    scanner = CsvScanner(request.schema.types)
    for block in _blocks(request, scanner, block_bytes, limit):
        first = 0
        if table is None and len(block):
            header, trouble = _header(block, scanner.delimiter, request)
            if trouble:
                if not request.goes_on:  # it was said of the beginning
                    yield request.refused(trouble, line=int(block.lines[0]), text=block.text(0))
                return
            table, first = _Table(request, header, scanner.delimiter), 1
        if table is not None:
            for records in even_parts(first, len(block), piece_rows):
                yield table.piece(block, records)
        if block.broken:
            yield request.refused(block.broken)
            return
    if table is None and not request.goes_on:
        yield request.refused("empty-file: the file is empty, without a header")


def _blocks(request: FileRequest, scanner: CsvScanner, block_bytes: int, limit: int) -> Iterator[Block]:
    """The blocks of a file; of a byte range that goes on, a block with the header alone comes before them."""
    if request.byte_range is not None and request.goes_on:
        beginning = ByteRange(0, request.byte_range.start, place=request.place)
        yield from _first_record(request.path, beginning, scanner, limit)
    yield from read_blocks(
        request.path,
        scanner,
        line_end=ANY_LINE_END,
        block_bytes=block_bytes,
        limit=limit,
        byte_range=request.byte_range,
    )


def _first_record(path: str, beginning: ByteRange, scanner: CsvScanner, limit: int) -> Iterator[Block]:
    for block in read_blocks(
        path, scanner, line_end=ANY_LINE_END, block_bytes=HEADER_BYTES, limit=limit, byte_range=beginning
    ):
        if len(block):
            yield replace(
                block,
                starts=block.starts[:1],
                ends=block.ends[:1],
                lines=block.lines[:1],
                kinds=block.kinds[:1],
                faults={record: fault for record, fault in block.faults.items() if record == 0},
            )
            return
        if block.broken:
            yield block
            return


class CsvScanner:
    """Finds records, and first of all the delimiter; `names` are the columns that a header may have."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)
        self.delimiter = ""

    def __call__(self, data: bytes, limit: int, final: bool) -> Scan:
        """The records of a block; `final`: nothing follows."""
        found = scan_csv(data, delimiter=ord(self.delimiter or ","), limit=limit, final=final)
        if self.delimiter or not len(found[0]):
            return found
        line = data[found[0][0] : found[1][0]].decode("utf-8", "replace")
        self.delimiter = max(DELIMITERS, key=lambda mark: len(self.names.intersection(_cells(line, mark))))
        return found if self.delimiter == "," else self(data, limit, final)


def _cells(line: str, delimiter: str) -> list[str]:
    """The names in a header line."""
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _header(block: Block, delimiter: str, request: FileRequest) -> tuple[list[str], str | None]:
    if 0 in block.faults:
        return [], f"bad-header: {block.faults[0].partition(': ')[2]}"
    names = _cells(block.text(0), delimiter)
    if request.columns and not set(names) & set(request.schema.types):
        return [], f"no-header: {_no_header(block.text(0), request)}"
    if trouble := missing_column(request, names, "the header"):
        return [], trouble
    twice = [name for name in request.columns if names.count(name) > 1]
    if twice:
        return [], f"repeated-column: the header has '{twice[0]}' {names.count(twice[0])} times"
    return names, None


def _no_header(line: str, request: FileRequest) -> str:
    """What a first line is that names no column."""
    for mark in _OTHER_DELIMITERS:
        if set(request.schema.types).intersection(_cells(line, mark)):
            return f"columns are separated by '{mark}', but a comma, a semicolon or a tab is expected"
    if line.lstrip().startswith(("{", "[")):
        return "the first line is JSON: let the file's name end with .jsonl"
    begins = line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}…"
    return f"the first line has no column of {request.noun} '{request.schema.name}': {begins}"


class _Table:
    """Turns records into pieces, and remembers how the file writes its instants."""

    def __init__(self, request: FileRequest, header: Sequence[str], delimiter: str) -> None:
        self.request = request
        self.header = header
        self.names = [
            f"c{number}" for number in range(len(header))
        ]  # the header may repeat columns that are not requested
        self.places = [f"c{header.index(name)}" for name in request.columns]
        self.parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        self.times: dict[str, pa.DataType] = {}

    def piece(self, block: Block, records: NDArray[np.int64]) -> FileRows:
        """The piece of some records of a block."""
        whole = block.kinds[records] == len(self.header)
        faults = {
            record: reason for record, reason in block.faults.items() if records[0] <= record <= records[-1]
        }
        whole[[record - records[0] for record in faults]] = False
        good = records[whole]
        earlier = [
            (int(block.lines[record]), faults.get(record) or self._ragged(block, record), block.text(record))
            for record in records[~whole].tolist()
        ]
        rows, wrong = self._rows(block, good)
        return checked_rows(
            self.request,
            rows,
            wrong,
            lines=block.lines[good],
            text=lambda row: block.text(int(good[row])),
            earlier=earlier,
        )

    def _ragged(self, block: Block, record: int) -> str:
        cells = int(block.kinds[record])
        return f"ragged-line: {cells} cell{'s' * (cells != 1)}, the header has {len(self.header)}"

    def _rows(self, block: Block, good: NDArray[np.int64]) -> tuple[Rows, Faults]:
        if not len(good):
            return Rows.empty(self.request.types), {}
        data, first = block.bytes_of(good), block.bytes_of(good[:1])
        table = self._typed(data, first)
        if table is not None:
            rows, wrong = typed_rows(self.request, self._columns(table, len(good)))
            if not wrong:
                return rows, wrong
        table = self._read(data, [pa.string()] * len(self.places))
        return typed_rows(self.request, self._columns(table, len(good)))

    def _columns(self, table: pa.Table, count: int) -> list[pa.Array]:
        assert table.num_rows == count, f"{table.num_rows} rows of {count} records"
        return [table.column(place).combine_chunks() for place in self.places]

    def _typed(self, data: Text, first: Text) -> pa.Table | None:
        self.times = self.times or self._time_styles(first)
        for _ in range(2):
            try:
                return self._read(data, self._fast_types(data))
            except pa.ArrowInvalid:
                before, self.times = self.times, self._time_styles(first)
            if before == self.times:
                break
        return None

    def _fast_types(self, data: Text) -> list[pa.DataType]:
        types = {name: _FAST[kind] for name, kind in self.request.types.items()} | self.times
        integers = [name for name, kind in self.request.types.items() if kind is ColumnType.BIGINT]
        if integers and _HEX.search(data):
            types.update(dict.fromkeys(integers, pa.string()))  # only Arrow takes 0x1F for a number
        return list(types.values())

    def _time_styles(self, first: Text) -> dict[str, pa.DataType]:
        """How each column of instants is best read, going by one record."""
        cells = self._read(first, [pa.string()] * len(self.places))
        return {
            name: arrow_style(cells.column(place)[0].as_py())
            for (name, kind), place in zip(self.request.types.items(), self.places, strict=True)
            if kind is ColumnType.TIMESTAMP
        }

    def _read(self, data: Text, types: list[pa.DataType]) -> pa.Table:
        if bytes(data[:3]) == BYTE_ORDER_MARK:
            data = b"\n" + bytes(data)  # Arrow would take a first cell's U+FEFF for a byte order mark
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(column_names=self.names, use_threads=False, block_size=len(data) + 1),
            self.parse,
            arrow_csv.ConvertOptions(
                include_columns=self.places,
                column_types=dict(zip(self.places, types, strict=True)),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                true_values=["1", "true", "True", "TRUE"],
                false_values=["0", "false", "False", "FALSE"],
            ),
        )
