"""Which past matches are stored? For every class its latest match, and for some classes links to earlier ones.

Matches are numbered continuously; arrays hold those from `first` to the newest. A link to a number below `first` is the end of its
chain. Dropping old matches renumbers nothing.

Rule 1  `earlier` leads from a match to the previous one of the same class: all matches, latest first. For a class that belongs to a
        single READINGS subscription it leads to the previous one that may still have to be emitted.
Rule 2  Classes that are searched also have lists of *needed* matches (`past_matches.py`), with links `older` and `newer`.
Memory  The matches of the longest δt, for classes that are searched; one entry a class for all others.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

NONE = -1
_LEAST_ROOM: Final = 16

Numbers = NDArray[np.int64]


class Past(NamedTuple):
    """The stored rows, from row number `first` on: time, sensor and place."""

    first: int
    time: Numbers
    key: Numbers
    x: NDArray[np.float64]
    y: NDArray[np.float64]


class Heads(NamedTuple):
    """For every class: row and time of its latest match, and the begin of its chain."""

    row: Numbers
    time: Numbers
    latest: Numbers


class Chains(NamedTuple):
    """The stored matches, from match number `first` on."""

    first: int
    row: Numbers
    of_class: Numbers
    earlier: Numbers
    alike: Numbers  # the one before it of the same class and sensor (and place)
    older: Numbers  # neighbours in the list of needed matches
    newer: Numbers
    cell: Numbers  # where it is, for classes that are searched by place
    emitted: NDArray[np.bool_]  # for READINGS: its owner has emitted this reading


def no_heads(classes: int) -> Heads:
    """No match yet."""
    return Heads(
        np.full(classes, NONE, np.int64),
        np.full(classes, -(2**62), np.int64),
        np.full(classes, NONE, np.int64),
    )


class ChainRoom:
    """The arrays of chains with room to grow: matches are added at one end and forgotten at the other, in place."""

    __slots__ = ("_arrays", "_start", "_stop", "first")

    def __init__(self) -> None:
        self._arrays = _blank(_LEAST_ROOM)
        self._start = self._stop = 0
        self.first = 0

    def __len__(self) -> int:
        return self._stop - self._start

    @property
    def chains(self) -> Chains:
        """The matches that are stored now."""
        return Chains(self.first, *(array[self._start : self._stop] for array in self._arrays))

    def add(self, more: int) -> None:
        """Room for so many matches after the newest."""
        if self._stop + more > len(self._arrays[0]):
            before = [array[self._start : self._stop] for array in self._arrays]
            self._arrays = _blank(max(_LEAST_ROOM, 2 * (len(self) + more)))
            self._start, self._stop = 0, len(before[0])
            for array, old in zip(self._arrays, before, strict=True):
                array[: self._stop] = old
        self._stop += more

    def forget(self, before_row: int) -> None:
        """The chains without the matches of rows before `before_row`."""
        gone = int(np.searchsorted(self.chains.row, before_row))
        self._start += gone
        self.first += gone


def _blank(room: int) -> list[NDArray[Any]]:
    return [*(np.full(room, NONE, np.int64) for _ in range(7)), np.zeros(room, np.bool_)]


@loop
def remember(heads: Heads, chains: Chains, match: int, of_class: int, row: int) -> None:
    """Put a new match at the head of its class's chain."""
    m = match - chains.first
    chains.row[m], chains.of_class[m] = row, of_class
    chains.earlier[m] = heads.latest[of_class]
    heads.latest[of_class] = match
