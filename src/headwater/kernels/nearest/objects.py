"""The rows of the objects that queries still need, each stored once for all queries.

Rule 1  An object has a number, its place in the stream; rows are stored by it in ascending order.
Rule 2  All *recent* objects are stored (see `engine`); of the older ones those that were a candidate of some query when they
        ceased to be recent.
Memory  A chunk is dropped when every object in it is older than the oldest candidate. When more than half of the stored rows are no
        longer candidates, the rest is written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, Log, Rows, join_rows
from headwater.model.row_log import CHUNK_ROWS
from headwater.model.rows import compacted_rows

Whole = NDArray[np.int64]

NUMBER: Final = "#"
"""The column of objects' numbers, which no stream can have."""


@dataclass(frozen=True, slots=True)
class Needed:
    """Which objects are needed after a step, by number, ascending: all from `recent_from` on are recent.

    `older` are the candidates before that, `fresh` the needed ones from there on that came in the step.
    """

    older: Whole
    fresh: Whole
    recent_from: int


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """The stored rows: older candidates, and everything recent, which is from the number `recent_from` on."""

    older: Log = field(default_factory=Log)
    recent: Log = field(default_factory=Log)
    recent_from: int = 0

    def parts(self) -> list[Rows]:
        """All rows, piece by piece, by ascending number."""
        return [chunk.rows for chunk in self.older.chunks] + self._recent_parts()

    def _recent_parts(self) -> list[Rows]:
        """The first chunk may contain rows that are no longer recent: the candidates among them are stored as older ones."""
        found = []
        for chunk in self.recent.chunks:
            begin = int(np.searchsorted(chunk.rows[NUMBER].values, self.recent_from))
            found.append(chunk.rows.take(slice(begin, None)) if begin else chunk.rows)
        return found

    def after(self, arrived: Rows, needed: Needed) -> ObjectStore:
        """The objects after a step: adds the needed rows that arrived, and those that ceased to be recent."""
        older, recent_from = needed.older, needed.recent_from
        older_rows = self.older
        for rows in (*self._recent_parts(), arrived):
            numbers = rows[NUMBER].values
            if leaving := int(np.searchsorted(numbers, recent_from)):
                chosen = np.flatnonzero(_among(numbers[:leaving], older))
                older_rows = older_rows.append(rows.take(chosen), NUMBER)
        older_rows = older_rows.since(int(older[0])) if len(older) else Log((), older_rows.next_number)
        stored = sum(chunk.rows.count for chunk in older_rows.chunks)
        if stored > 2 * len(older) + CHUNK_ROWS:
            parts = [chunk.rows for chunk in older_rows.chunks]
            candidates = [rows.take(np.flatnonzero(_among(rows[NUMBER].values, older))) for rows in parts]
            older_rows = Log((), older_rows.next_number).append(join_rows(candidates), NUMBER)
        fresh = np.flatnonzero(_among(arrived[NUMBER].values, needed.fresh))
        recent = self.recent.since(recent_from).append(arrived.take(fresh), NUMBER)
        return ObjectStore(older_rows, recent, recent_from)


def find(parts: Sequence[Rows], numbers: Whole) -> Rows:
    """The rows of some numbers, ascending and all different, out of parts in ascending order."""
    found = []
    for rows in parts:
        if not rows.count:
            continue
        stored = rows[NUMBER].values
        low, high = np.searchsorted(numbers, stored[0]), np.searchsorted(numbers, stored[-1], "right")
        if low < high:
            places = np.searchsorted(stored, numbers[low:high])
            there = stored[np.minimum(places, rows.count - 1)] == numbers[low:high]
            found.append(compacted_rows(rows.take(places[there])))
    joined = join_rows(found) if found else parts[-1].take(slice(0, 0))
    assert joined.count == len(numbers), "an object that a query holds is not stored"
    return joined


def numbered_rows(rows: Rows, columns: Sequence[str], first: int) -> Rows:
    """The columns that are stored, with the rows' numbers."""
    numbers = Column(ColumnType.BIGINT, np.arange(first, first + rows.count))
    return Rows({NUMBER: numbers, **{name: rows[name] for name in columns}}, rows.count)


def no_rows(types: Mapping[str, ColumnType]) -> Rows:
    """No rows, with the columns that are stored."""
    return Rows.empty({NUMBER: ColumnType.BIGINT, **types})


def _among(numbers: Whole, others: Whole) -> NDArray[np.bool_]:
    """Which of ascending numbers are among other ascending ones."""
    if not len(others):
        return np.zeros(len(numbers), np.bool_)
    return others[np.minimum(np.searchsorted(others, numbers), len(others) - 1)] == numbers
