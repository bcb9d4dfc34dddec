"""How do answers look on a terminal? As tables: one for each query, whose rows appear as they come.

Rule 1  Rows handed over together are told query by query. A heading stands where the query changes. So that it does not change with every
        row, answers may be gathered for a moment; those of a stream are not.
Rule 2  The widths of columns are decided by their types and by the rows at the first heading. A row that does not fit brings the heading
        again, with wider columns; so what stands below one heading is aligned. A text longer than MOST_CELL is cut.
Rule 3  Columns that do not fit into the width there is are left out, the last ones first, and named in the heading.
Rule 4  No text of an answer controls the terminal: what is not printable is written as an escape.

Memory  ROWS_AT_ONCE rows as text, as many that are gathered, and the widths of the query told last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.files.value_texts import as_bytes, column_texts
from headwater.model import Column, ColumnType, Rows, join_rows

MOST_CELL: Final = 40
"""Characters of a text that are shown; columns with numbers and times are as wide as they need."""

ROWS_AT_ONCE: Final = 10_000

_DIGITS: Final = 10  # of a number that would need more than twelve characters
_LONG_NUMBER: Final = 12
_GAP: Final = "  "
_LEAST: Final = {
    ColumnType.STRING: 8,
    ColumnType.DOUBLE: 8,
    ColumnType.BIGINT: 6,
    ColumnType.BOOLEAN: 5,
    ColumnType.TIMESTAMP: 20,
    ColumnType.ID: 32,
}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class TableStyle:
    """`width` says how many characters a line has room for, None: as many as it needs; `bold`: headings are.

    `gather_s`: for how long answers may wait for others.
    """

    width: Callable[[], int | None] = lambda: None
    match_ids: bool = False
    bold: bool = False
    gather_s: float = 0.0


class TableOutput:
    """Tables to a stream of bytes."""

    def __init__(self, stream: BinaryIO, style: TableStyle) -> None:
        self.stream = stream
        self.style = style
        self.query: str | None = None
        self.widths: dict[str, int] = {}
        self.shown: tuple[str, ...] = ()
        self.gathered: list[Rows] = []
        self.gathered_at = 0.0

    def write(self, blocks: Sequence[Rows]) -> None:
        """Some more answers."""
        filled = [rows for rows in blocks if rows.count]
        if filled and not self.gathered:
            self.gathered_at = time.monotonic()
        self.gathered += filled
        waited = time.monotonic() - self.gathered_at >= self.style.gather_s
        if waited or sum(rows.count for rows in self.gathered) >= ROWS_AT_ONCE:
            self._write_gathered()

    def close(self) -> None:
        """Everything is written."""
        self._write_gathered()

    def discard(self) -> None:
        """What is on a terminal stays there."""

    def _write_gathered(self) -> None:
        blocks, self.gathered = self.gathered, []
        for query, rows in _by_query(blocks):
            for start in range(0, rows.count, ROWS_AT_ONCE):
                self._write_some(query, rows.take(slice(start, start + ROWS_AT_ONCE)))
        self.stream.flush()

    def _write_some(self, query: str, rows: Rows) -> None:
        left_out = {"query"} if self.style.match_ids else {"query", "match_id"}
        columns = {name: column for name, column in rows.columns.items() if name not in left_out}
        cells = {name: _cells(column) for name, column in columns.items()}
        known = self.widths if query == self.query else {}
        widths = {
            name: max(known.get(name, 0), _LEAST[column.type], _width(_printable(name)), cells[name].width)
            for name, column in columns.items()
        }
        shown = tuple(_fitting(widths, self.style.width()))
        if (
            query != self.query
            or shown != self.shown
            or any(widths[name] > self.widths[name] for name in shown)
        ):
            self._write_heading(query, columns, widths, shown)
        self.query, self.widths, self.shown = query, widths, shown
        padded = [cells[name].padded(widths[name]) for name in shown]
        lines = pc.binary_join_element_wise(*padded, _GAP)
        self.stream.write(as_bytes(pc.utf8_rtrim(lines, characters=" ")))

    def _write_heading(
        self, query: str, columns: Mapping[str, Column], widths: Mapping[str, int], shown: Sequence[str]
    ) -> None:
        lines = [""] if self.query is not None else []
        if query != self.query or len(shown) < len(widths):
            lines.append(self._emphasized(_printable(query)) + _more(tuple(widths)[len(shown) :]))
        names = (_pad(_printable(name), widths[name], right=columns[name].type.numeric) for name in shown)
        lines.append(_GAP.join(names).rstrip())
        lines.append(_GAP.join("─" * widths[name] for name in shown))
        self.stream.write("".join(f"{line}\n" for line in lines).encode())

    def _emphasized(self, text: str) -> str:
        return f"{_BOLD}{text}{_PLAIN}" if self.style.bold else text


def table_lines(columns: Mapping[str, Column], *, width: int | None) -> list[str]:
    """A few rows as one table of lines: the columns that fit into `width` characters, None: all."""
    cells = {name: _cells(column) for name, column in columns.items()}
    widths = {name: max(_width(_printable(name)), each.width) for name, each in cells.items()}
    shown = tuple(_fitting(widths, width))
    left_out = tuple(columns)[len(shown) :]
    heading = (_pad(_printable(name), widths[name], right=columns[name].type.numeric) for name in shown)
    lines = pc.binary_join_element_wise(*(cells[name].padded(widths[name]) for name in shown), _GAP)
    return [
        _GAP.join(heading).rstrip(),
        _GAP.join("─" * widths[name] for name in shown),
        *(line.rstrip(" ") for line in lines.to_pylist()),
        *([f"(no room for {', '.join(map(_printable, left_out))})"] if left_out else []),
    ]


def shown_cells(column: Column) -> list[str]:
    """The values of a column as a table shows them, without the spaces around them."""
    cells = _cells(column)
    texts = cells.texts if cells.codes is None else pc.take(cells.texts, cells.codes)
    return ["NULL" if text is None else text for text in texts.to_pylist()]


def _by_query(blocks: Sequence[Rows]) -> Iterator[tuple[str, Rows]]:
    """The answers of each query in order of time; first the query that has the earliest."""
    found: dict[str, list[Rows]] = {}
    for block in blocks:
        names, codes = block["query"].names, block["query"].values
        assert names is not None
        order = np.argsort(codes, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
            if len(part):
                found.setdefault(str(names[codes[part[0]]]), []).append(block.take(part))
    ordered = {}
    for query, parts in found.items():
        rows = join_rows(parts)
        ordered[query] = rows.take(np.lexsort([rows["match_id"].values, rows["event_time"].values]))
    yield from sorted(ordered.items(), key=lambda item: (int(item[1]["event_time"].values[0]), item[0]))


def _fitting(widths: Mapping[str, int], room: int | None) -> Iterator[str]:
    """The first columns that fit; at least one."""
    taken = 0
    for number, (name, width) in enumerate(widths.items()):
        taken += width + len(_GAP) * (number > 0)
        if number and room is not None and taken > room:
            return
        yield name


def _more(left_out: Sequence[str]) -> str:
    if not left_out:
        return ""
    names = ", ".join(map(_printable, left_out))
    return f"  (no room for {names}; --format json shows all columns)"


# --- cells ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cells:
    """The texts of a column: `texts` for each row, or for each name of a dictionary, of which `codes` picks; None is NULL."""

    texts: pa.StringArray
    width: int
    right: bool
    codes: pa.Int32Array | None = None

    def padded(self, width: int) -> pa.StringArray:
        """Every text as wide as the column."""
        if self.codes is None:
            pad = pc.utf8_lpad if self.right else pc.utf8_rpad
            return pad(pc.fill_null(self.texts, "NULL"), width)
        texts = pa.array([_pad(text, width, right=False) for text in self.texts.to_pylist()], pa.string())
        return pc.fill_null(pc.take(texts, self.codes), _pad("NULL", width, right=False))


def _cells(column: Column) -> _Cells:
    if column.type is ColumnType.STRING:
        assert column.names is not None
        used, codes = np.unique(column.values, return_inverse=True)
        texts = (
            [_cut(_printable(str(name))) for name in column.names[used].tolist()] if len(column.names) else []
        )
        missing = None if column.valid is None else ~column.valid
        if not texts:  # all are NULL
            texts, codes = [""], np.zeros(len(column), np.int64)
        width = max(map(_width, texts))
        return _Cells(
            pa.array(texts, pa.string()),
            max(width, 4) if missing is not None else width,
            right=False,
            codes=pa.array(codes, pa.int32(), mask=missing),
        )
    texts = column_texts(column, str, quote_instants=False)
    if column.type is ColumnType.DOUBLE:
        texts = _rounded(texts, column)
    width = pc.max(pc.binary_length(texts)).as_py() or 0
    return _Cells(texts, max(width, 4) if texts.null_count else width, right=column.type.numeric)


def _rounded(texts: pa.StringArray, column: Column) -> pa.StringArray:
    """Long numbers with fewer digits, for a terminal is read by people; those without a fraction may be names, and stay as they are."""
    long = pc.fill_null(pc.greater(pc.binary_length(texts), _LONG_NUMBER), False)
    long = pc.and_not(long, pc.fill_null(pc.ends_with(texts, ".0"), False))
    chosen = np.flatnonzero(long.to_numpy(zero_copy_only=False))
    if not len(chosen):
        return texts
    shorter = [f"{value:.{_DIGITS}g}" for value in column.values[chosen].tolist()]
    return pc.replace_with_mask(texts, long, pa.array(shorter, pa.string()))


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _cut(text: str) -> str:
    if _width(text) <= MOST_CELL:
        return text
    taken, end = 1, 0  # a place for the dots
    while taken + _width(text[end]) <= MOST_CELL:
        taken += _width(text[end])
        end += 1
    return f"{text[:end]}…"


def _pad(text: str, width: int, *, right: bool) -> str:
    blank = " " * (width - _width(text))
    return blank + text if right else text + blank


def _width(text: str) -> int:
    """How many places a text takes on a terminal: some characters take two, some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
