"""The rows that may still be part of an answer, as columns that grow at one end and are forgotten at the other.

Rule 1  Rows are numbered on and on; the window holds those from `first` to `end`.
Rule 2  Appending never changes what an earlier window shows. It writes behind the end of memory that nobody else has
        written behind, or else copies: a step repeated from an old state takes the second way.
Rule 3  Strings of all rows share one dictionary, which is made anew only when new names come.
Memory  The rows of the longest δt that matched some clause, at most doubled by the room to grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, Rows, compacted, text_hash

Numbers = NDArray[np.int64]

_ROOM: Final = 64
"""The least room of a tape. Behind FOLLOW there is a window for each interest, and most hold few rows."""


@dataclass(frozen=True, slots=True)
class Tape:
    """`buffer[start:stop]`; `written[0]` says how far the buffer has been written by anyone."""

    buffer: NDArray[Any]
    start: int
    stop: int
    written: list[int]

    @classmethod
    def of(cls, values: NDArray[Any]) -> Tape:
        """A tape with room for as much again."""
        buffer = np.empty(max(_ROOM, 2 * len(values)), values.dtype)
        buffer[: len(values)] = values
        return cls(buffer, 0, len(values), [len(values)])

    @property
    def shown(self) -> NDArray[Any]:
        """What is on it."""
        return self.buffer[self.start : self.stop]

    def append(self, values: NDArray[Any]) -> Tape:
        """With values at the end."""
        stop = self.stop + len(values)
        if self.written[0] != self.stop or stop > len(self.buffer):
            return Tape.of(np.concatenate([self.shown, values]))
        self.buffer[self.stop : stop] = values
        self.written[0] = stop
        return Tape(self.buffer, self.start, stop, self.written)

    def drop(self, count: int) -> Tape:
        """Without the first `count` values."""
        return Tape(self.buffer, self.start + count, self.stop, self.written)


@dataclass(frozen=True, slots=True)
class Track:
    """One column of the window; `valid` is None while no value was NULL, `names` and `hashes` are for strings."""

    type: ColumnType
    values: Tape
    valid: Tape | None = None
    names: NDArray[Any] | None = None
    hashes: Numbers | None = None

    def append(self, column: Column) -> Track:
        """With a column at the end."""
        track, values = (self, column.values) if self.names is None else _one_dictionary(self, column)
        valid = track.valid
        if valid is None and column.valid is not None:
            valid = Tape.of(np.ones(len(track.values.shown), np.bool_))
        if valid is not None:
            valid = valid.append(column.is_valid)
        return Track(track.type, track.values.append(values), valid, track.names, track.hashes)

    def drop(self, count: int) -> Track:
        """Without the first values."""
        valid = None if self.valid is None else self.valid.drop(count)
        return Track(self.type, self.values.drop(count), valid, self.names, self.hashes)

    def at(self, places: Numbers) -> Column:
        """The values at some places."""
        valid = None if self.valid is None else self.valid.shown[places]
        column = Column(self.type, self.values.shown[places], valid, self.names)
        # Few values need not carry a long dictionary: each name in it would be hashed and copied on the way.
        return compacted(column) if self.names is not None and len(self.names) > len(places) else column

    @property
    def identities(self) -> Numbers:
        """int64[n]: numbers that are equal where the values are; strings by 64 bits of their hash."""
        values = self.values.shown
        if self.type is ColumnType.STRING:
            assert self.hashes is not None, "a column made without hashes"
            identities = self.hashes[values] if len(self.hashes) else np.zeros(len(values), np.int64)
        else:
            identities = (
                np.ascontiguousarray(values).view(np.int64)
                if values.itemsize == 8
                else values.astype(np.int64)
            )
        return identities if self.valid is None else np.where(self.valid.shown, identities, 0)


@dataclass(frozen=True, slots=True)
class Window:
    """Rows `first` to `end` in columns."""

    first: int
    end: int
    tracks: Mapping[str, Track]

    @classmethod
    def empty(cls, types: Mapping[str, ColumnType], first: int = 0, hashed: str | None = None) -> Window:
        """No rows yet, of these columns; `hashed` is the one whose `identities` are wanted."""
        return cls(first, first, {name: _no_track(kind, name == hashed) for name, kind in types.items()})

    def append(self, rows: Rows) -> Window:
        """With rows at the end; a column they lack is NULL."""
        tracks = {
            name: track.append(rows[name] if name in rows else Column.nulls(track.type, rows.count))
            for name, track in self.tracks.items()
        }
        return Window(self.first, self.end + rows.count, tracks)

    def drop_before(self, row: int) -> Window:
        """Without the rows numbered below `row`."""
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
    values = Tape.of(np.empty(0, kind.dtype))
    if kind is not ColumnType.STRING:
        return Track(kind, values)
    return Track(kind, values, None, np.empty(0, object), np.empty(0, np.int64) if hashed else None)


def _one_dictionary(track: Track, column: Column) -> tuple[Track, NDArray[Any]]:
    """The track and the new codes, both in one dictionary."""
    if column.names is not None and len(column.names) > 4 * len(column):
        column = compacted(column)
    names, more = track.names, column.names
    assert names is not None and more is not None
    if names is more or not len(more) or np.array_equal(names, more):
        return track, column.values
    if len(names):
        at = np.minimum(np.searchsorted(names, more), len(names) - 1)
        if np.all(names[at] == more):
            return track, _coded(column, at)
    used = np.unique(track.values.shown) if len(names) else np.empty(0, np.int32)
    joined = np.unique(np.concatenate([names[used], more]))
    hashes = None
    if track.hashes is not None:
        hashes = np.array([text_hash(name) for name in joined.tolist()], np.uint64).view(np.int64)
    recode = np.zeros(len(names), np.int32)
    recode[used] = np.searchsorted(joined, names[used])
    values = Tape.of(recode[track.values.shown] if len(names) else track.values.shown)
    return Track(track.type, values, track.valid, joined, hashes), _coded(
        column, np.searchsorted(joined, more)
    )


def _coded(column: Column, codes: NDArray[Any]) -> NDArray[Any]:
    values = codes.astype(np.int32)[column.values]
    return values if column.valid is None else np.where(column.valid, values, 0).astype(np.int32)
