"""What reading a file gives: checked rows, bad rows with their reasons, and how many rows were looked at.

Rule 1  Every row of a file is in `rows` or in `bad`, never in both, never in neither: `seen` counts both.
Rule 2  A row is judged by its text as a whole (cells, UTF-8) and by the requested columns, nothing else.
Rule 3  Trouble with a file as a whole is one bad entry with one of FILE_REASONS: line 0, or 1 if it is about the header. It is no row, and not
        counted as one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headwater.hosts.files.byte_ranges import ByteRange
from headwater.hosts.files.typed_columns import Faults, convert
from headwater.model import (
    Column,
    ColumnType,
    FencesSchema,
    PointsSchema,
    Rows,
    StreamSchema,
    join_rows,
    strings,
)
from headwater.query.language.suggestions import nearest

BAD_TYPES: Mapping[str, ColumnType] = {
    "stream": ColumnType.STRING,
    "file": ColumnType.STRING,
    "line": ColumnType.BIGINT,
    "reason": ColumnType.STRING,
    "text": ColumnType.STRING,
}

UNUSABLE: Final = frozenset(
    (
        "bad-header",
        "empty-file",
        "json-array",
        "missing-column",
        "no-features",
        "no-header",
        "not-utf8",
        "other-format",
        "repeated-column",
        "unknown-format",
        "unreadable-file",
        "wrong-type",
    )
)
"""What reasons begin with that are about a file that is of no use, as a whole or from some line on."""

CHANGED: Final = frozenset(("changed-file", "edited-file", "grown-file", "linked-file", "shrunk-file"))
"""What reasons begin with that are about a file of a streaming run that changed, or that another input reads."""

FILE_REASONS: Final = UNUSABLE | CHANGED
"""What reasons begin with that are about a file, not about a row."""

MOST_NAMED: Final = 20
"""Columns of a file that are named where one is missing."""

Judge = Callable[[Rows, Faults], Faults]
"""Typed rows and what is wrong with their cells -> all that makes one of them unusable."""

_WORLD = (180.0, 90.0)


@dataclass(frozen=True, slots=True)
class FileRows:
    """Some rows of a file: `rows` good ones with the requested columns, `bad` ones as `BAD_TYPES`, `seen` both."""

    rows: Rows
    bad: Rows
    seen: int


@dataclass(frozen=True, slots=True)
class FileRequest:
    """What is read: a file as a stream, as points or as fences, and which columns of it; `judge` None is that of a stream.

    `byte_range` None is the whole file.
    """

    path: str
    schema: StreamSchema | PointsSchema | FencesSchema
    columns: tuple[str, ...]
    judge: Judge | None = None
    byte_range: ByteRange | None = None

    @property
    def place(self) -> str:
        """Where the file is."""
        return (self.byte_range and self.byte_range.place) or self.path

    @property
    def goes_on(self) -> bool:
        """Whether an earlier part of the file was read before."""
        return self.byte_range is not None and self.byte_range.start > 0

    @property
    def noun(self) -> str:
        """What the schema is of."""
        if isinstance(self.schema, StreamSchema):
            return "stream"
        return "points" if isinstance(self.schema, PointsSchema) else "fences"

    @property
    def types(self) -> dict[str, ColumnType]:
        """The requested columns and their types."""
        return {name: self.schema.types[name] for name in self.columns}

    def refused(self, reason: str, *, line: int = 0, text: str = "") -> FileRows:
        """The piece that says that the file as a whole is of no use, or from here on."""
        return FileRows(Rows.empty(self.types), self.bad([(line, reason, text)]), 0)

    def bad(self, entries: Sequence[tuple[int, str, str]]) -> Rows:
        """Bad rows from (line, reason, text)."""
        count = len(entries)
        if not count:
            return Rows.empty(BAD_TYPES)
        return Rows(
            {
                "stream": _repeated(self.schema.name, count),
                "file": _repeated(shown_path(self.path), count),
                "line": Column(ColumnType.BIGINT, np.array([line for line, _, _ in entries], np.int64)),
                "reason": strings([reason for _, reason, _ in entries]),
                "text": strings([text for _, _, text in entries]),
            },
            count,
        )


def missing_column(request: FileRequest, names: Sequence[str], what: str) -> str | None:
    """The reason for a file without some requested columns, of which it has `names`; None if it lacks none."""
    missing = [name for name in request.columns if name not in names]
    if not missing:
        return None
    near = nearest(missing[0], sorted(set(names) - request.schema.types.keys()))
    more = f", nor {', '.join(repr(name) for name in missing[1:])}" if missing[1:] else ""
    listed = ", ".join(names[:MOST_NAMED]) + " …" * (len(names) > MOST_NAMED)
    return f"missing-column: no column '{missing[0]}'{more}; " + (
        f"did you mean '{near}'?" if near else f"{what} has {listed}"
    )


def shown_path(path: str) -> str:
    """A path as text: bytes of a name that are no UTF-8 are written as `\\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def typed_rows(request: FileRequest, arrays: Sequence[pa.Array]) -> tuple[Rows, Faults]:
    """Rows of arrays in the order of the requested columns, and what is wrong with them cell by cell."""
    columns: dict[str, Column] = {}
    faults: Faults = {}
    for (name, kind), array in zip(request.types.items(), arrays, strict=True):
        columns[name], wrong = convert(array, kind, name)
        faults = {**wrong, **faults} if wrong else faults
    return Rows(columns, len(arrays[0])), faults


def checked_rows(
    request: FileRequest,
    rows: Rows,
    faults: Faults,
    *,
    lines: NDArray[np.int64],
    text: Callable[[int], str],
    earlier: Sequence[tuple[int, str, str]] = (),
) -> FileRows:
    """The piece of typed rows; `earlier` are bad rows (line, reason, text) found before they were cells.

    `lines` and `text` give the place and the text of a row.
    """
    faults = (request.judge or judge_readings(request.schema))(rows, faults)
    if not faults and not earlier:
        return FileRows(rows, request.bad(()), rows.count)
    entries = [*earlier, *((int(lines[row]), reason, text(row)) for row, reason in faults.items())]
    good = np.ones(rows.count, np.bool_)
    good[list(faults)] = False
    entries.sort(key=lambda entry: entry[0])
    return FileRows(rows.take(good), request.bad(entries), rows.count + len(earlier))


def join_file_rows(types: Mapping[str, ColumnType], pieces: Iterable[FileRows]) -> FileRows:
    """Pieces with columns of these types as one."""
    good, bad, seen = [Rows.empty(types)], [Rows.empty(BAD_TYPES)], 0
    for piece in pieces:
        good.append(piece.rows)
        bad.append(piece.bad)
        seen += piece.seen
    return FileRows(join_rows(good), join_rows(bad), seen)


def describe_bad_rows(bad: Rows, what: str) -> tuple[str, list[str]]:
    """How many rows are bad where none is good, in words; and the first of them, if there is one. `what`: what a row is called."""
    if not bad.count:
        return f"there is no {what}", []
    file, line, reason = (bad[name].tolist()[0] for name in ("file", "line", "reason"))
    place = f"{file}:{line}" if file and line else file or f"row {line}"
    if file and all(each.partition(":")[0] in UNUSABLE for each in bad["reason"].tolist()):
        what = "unusable file"
        return f"{bad.count:,} {what}{'s' * (bad.count != 1)}", [f"the first: {place}: {reason}"]
    return f"{bad.count:,} bad {what}{'s' * (bad.count != 1)}", [f"the first: {place}: {reason}"]


def even_parts(start: int, stop: int, most: int) -> Iterator[NDArray[np.int64]]:
    """The numbers from start to stop in parts of nearly one size, at most `most` each."""
    parts = -(-(stop - start) // most)
    return iter(np.array_split(np.arange(start, stop), parts)) if parts else iter(())


def judge_readings(schema: StreamSchema | PointsSchema | FencesSchema) -> Judge:
    """A reading has a time and, if places are on the globe, a place there."""
    assert isinstance(schema, StreamSchema), "whoever reads points says which of them are of use"
    places = [(schema.place.x, schema.place.y)] if schema.place and schema.place.geographic else []

    def judge(rows: Rows, faults: Faults) -> Faults:
        timeless = f"missing-time: column '{schema.time}' is empty"
        for found in (without(rows, schema.time, timeless), out_of_this_world(rows, places)):
            faults = {**found, **faults} if found else faults
        return faults

    return judge


def without(rows: Rows, column: str, reason: str) -> Faults:
    """The rows that have nothing in a column."""
    valid = rows[column].valid
    return {} if valid is None else dict.fromkeys(np.flatnonzero(~valid).tolist(), reason)


def out_of_this_world(rows: Rows, places: Sequence[tuple[str, str]]) -> Faults:
    """The rows whose longitude or latitude there is not; `places` are the columns of both."""
    faults: Faults = {}
    for name, bound in (pair for place in places for pair in zip(place, _WORLD, strict=True)):
        if name not in rows:
            continue
        values = rows[name].values
        for row in np.flatnonzero(np.abs(values) > bound).tolist():
            faults[row] = (
                f"place-out-of-range: {values[row]} is not within ±{bound:.0f} degrees (column '{name}')"
            )
    return faults


def _repeated(text: str, count: int) -> Column:
    names = np.empty(1, object)
    names[0] = text
    return Column(ColumnType.STRING, np.zeros(count, np.int32), None, names)
