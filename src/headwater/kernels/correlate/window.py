"""The rows that may still be part of an answer, as columns that grow at one end and are forgotten at the other.

Rule 1  Rows are numbered continuously; the window holds those from `first` to `end`.
Rule 2  Appending never changes what an earlier window shows (see `growing_array`).
Rule 3  Strings of all rows share one list of names, which grows with new ones and is rebuilt when most of them are unused.
Memory  The rows of the longest δt that matched some clause, at most doubled by the room to grow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.growing_array import GrowingArray
from headwater.model import Column, ColumnType, Rows, compacted

Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]

_ROOM: Final = 64
"""The least number of names in a list beside those of the rows. Downstream of a FOLLOW there is a window for each interest, and most hold few rows."""
_MANY_ROWS: Final = 4
"""A list with so many names for each value of a column is small enough to be passed on whole."""
_HASH_OF_NONE: Final = -1
"""A value that `hash` never returns."""
MOST_RECENT: Final = 16_384
"""Texts that new rows' texts are compared with."""


class Names:
    """The texts of a column, numbered in the order of appearance. Numbers never change, so windows of different times share one list of texts.

    A text is searched for only among the last MOST_RECENT ones, so that a step among a million names searches a small table. One that
    comes again later gets another number.
    """

    __slots__ = ("_recent", "_sorted", "texts")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = list(texts)
        self._recent: dict[str, int] = {}
        self._sorted: tuple[NDArray[Any], Codes] | None = None

    def codes_of(self, texts: Sequence[str]) -> Codes:
        """The numbers of some different texts; new ones get a number."""
        if len(self._recent) > MOST_RECENT:
            self._recent = {}
        known, count = self._recent, len(self.texts)
        fresh = [text for text in texts if text not in known]
        known.update(zip(fresh, range(count, count + len(fresh)), strict=True))
        self.texts += fresh
        return np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))

    def column(self, codes: Codes, valid: NDArray[np.bool_] | None) -> Column:
        """A STRING column of these numbers."""
        if len(self.texts) <= _MANY_ROWS * len(codes):
            names, ranks = self._in_order()
            values = ranks[codes] if len(names) else np.zeros(len(codes), np.int32)
        else:
            # Few values need not carry a long dictionary: each of its names would be hashed and copied on the way.
            used, number = np.unique(codes if valid is None else codes[valid], return_inverse=True)
            names, ranks = _sorted([self.texts[code] for code in used.tolist()])
            values = np.zeros(len(codes), np.int32)
            values[slice(None) if valid is None else valid] = ranks[number]
        filled = values if valid is None else np.where(valid, values, 0).astype(np.int32)
        return Column(ColumnType.STRING, filled, valid, names)

    def _in_order(self) -> tuple[NDArray[Any], Codes]:
        """All texts sorted, and the rank of every number; computed again when texts were added."""
        if self._sorted is None or len(self._sorted[1]) != len(self.texts):
            self._sorted = _sorted(self.texts)
        return self._sorted


def _sorted(texts: Sequence[str]) -> tuple[NDArray[Any], Codes]:
    """The different ones of some texts in order, and the rank of every text."""
    if not texts:
        return np.empty(0, object), np.empty(0, np.int32)
    names, ranks = np.unique(np.array([*texts, ""], object)[:-1], return_inverse=True)
    return names, ranks.astype(np.int32)


@dataclass(frozen=True, slots=True)
class Track:
    """One column of the window; `valid` is None while no value was NULL, `names` is for strings.

    `identity`: numbers that are equal where the values are, if they are needed.
    """

    type: ColumnType
    values: GrowingArray
    valid: GrowingArray | None = None
    names: Names | None = None
    identity: GrowingArray | None = None

    def append(self, column: Column) -> Track:
        """The column with values at the end."""
        track, values = (self, column.values) if self.names is None else self._coded(column)
        valid = track.valid
        if valid is None and column.valid is not None:
            valid = GrowingArray.of(np.ones(len(track.values.shown), np.bool_))
        if valid is not None:
            valid = valid.append(column.is_valid)
        identity = None if self.identity is None else self.identity.append(_identities(column))
        return Track(track.type, track.values.append(values), valid, track.names, identity)

    def drop(self, count: int) -> Track:
        """The column without its first values."""
        valid = None if self.valid is None else self.valid.drop(count)
        identity = None if self.identity is None else self.identity.drop(count)
        return Track(self.type, self.values.drop(count), valid, self.names, identity)

    def at(self, places: Numbers) -> Column:
        """The values at some places."""
        valid = None if self.valid is None else self.valid.shown[places]
        values = self.values.shown[places]
        return Column(self.type, values, valid) if self.names is None else self.names.column(values, valid)

    @property
    def identities(self) -> Numbers:
        """int64[n]: numbers that are equal where the values are; strings by 64 bits of their hash in this process."""
        if self.identity is not None:
            return self.identity.shown
        assert self.type is not ColumnType.STRING, "a column made without identities"
        valid = None if self.valid is None else self.valid.shown
        return _identities(Column(self.type, self.values.shown, valid))

    def _coded(self, column: Column) -> tuple[Track, NDArray[Any]]:
        """The track and the numbers of a column's texts in its names, which are rebuilt when most of them are unused."""
        assert self.names is not None and column.names is not None
        track, names = self, self.names
        if len(names.texts) > 2 * len(self.values.shown) + _ROOM:
            used, number = np.unique(self.values.shown, return_inverse=True)
            names = Names(names.texts[code] for code in used.tolist())
            track = replace(self, values=GrowingArray.of(number.astype(np.int32)), names=names)
        used_by = compacted(column)
        assert used_by.names is not None
        codes = names.codes_of(used_by.names.tolist())
        values = codes[used_by.values] if len(codes) else np.zeros(len(column), np.int32)
        filled = values if column.valid is None else np.where(column.valid, values, 0).astype(np.int32)
        return track, filled


@dataclass(frozen=True, slots=True)
class Window:
    """Rows `first` to `end` in columns."""

    first: int
    end: int
    tracks: Mapping[str, Track]

    @classmethod
    def empty(cls, types: Mapping[str, ColumnType], first: int = 0, hashed: str | None = None) -> Window:
        """No rows yet, of these columns; `hashed` is the one whose `identities` are needed."""
        return cls(first, first, {name: _no_track(kind, name == hashed) for name, kind in types.items()})

    def append(self, rows: Rows) -> Window:
        """The window with rows at the end; a column they lack is NULL."""
        tracks = {
            name: track.append(rows[name] if name in rows else Column.nulls(track.type, rows.count))
            for name, track in self.tracks.items()
        }
        return Window(self.first, self.end + rows.count, tracks)

    def drop_before(self, row: int) -> Window:
        """The window without the rows numbered below `row`."""
        count = min(max(row - self.first, 0), self.end - self.first)
        if not count:
            return self
        return Window(
            self.first + count, self.end, {n: track.drop(count) for n, track in self.tracks.items()}
        )

    def values(self, name: str) -> NDArray[Any]:
        """A column's numbers, NULLs as zero."""
        return self.tracks[name].values.shown

    def take(self, name: str, rows: Numbers) -> Column:
        """A column of the rows with these numbers."""
        return self.tracks[name].at(rows - self.first)


def _no_track(kind: ColumnType, hashed: bool) -> Track:
    identity = GrowingArray.of(np.empty(0, np.int64)) if hashed else None
    names = Names() if kind is ColumnType.STRING else None
    return Track(kind, GrowingArray.of(np.empty(0, kind.dtype)), None, names, identity)


def _identities(column: Column) -> Numbers:
    """Numbers that are equal where the values are; for NULL one that no text has."""
    null = 0
    if column.type is ColumnType.STRING:
        used = compacted(column)
        assert used.names is not None
        # They are compared within a process and never saved, so Python's own hash is enough, at a tenth of the cost of another.
        hashes = np.fromiter(map(hash, used.names.tolist()), np.int64, len(used.names))
        identities = hashes[used.values] if len(hashes) else np.zeros(len(column), np.int64)
        null = _HASH_OF_NONE
    elif column.values.itemsize == 8:
        identities = np.ascontiguousarray(column.values).view(np.int64)
    else:
        identities = column.values.astype(np.int64)
    return identities if column.valid is None else np.where(column.valid, identities, null)
