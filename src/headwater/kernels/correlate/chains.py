"""What is remembered of past matches: for every class its latest match, and for some classes the way back.

Matches are numbered on and on; arrays hold those from `first` to the newest, and a link to a number below `first` has
come to its end. Nothing is renumbered when old matches are dropped.

Rule 1  `earlier` leads from a match to the one before it of the same class: all matches, latest first.
Rule 2  The *useful* list of a class holds, latest first, only the latest `keep` matches of each sensor (or of each sensor
        and place): one that has `keep` later ones like it can never be part of a latest answer.
Memory  The matches of the longest δt, for classes that are searched; one entry a class for all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from headwater.kernels.correlate.book import BY_PLACE, BY_SENSOR, Book

NONE = -1

Numbers = NDArray[np.int64]


class Past(NamedTuple):
    """The rows remembered, from row number `first` on: when, who, where."""

    first: int
    time: Numbers
    key: Numbers
    x: NDArray[np.float64]
    y: NDArray[np.float64]


class Heads(NamedTuple):
    """For every class: row and time of its latest match, and where its chains begin."""

    row: Numbers
    time: Numbers
    latest: Numbers
    useful: Numbers


class Chains(NamedTuple):
    """The matches remembered, from match number `first` on."""

    first: int
    row: Numbers
    of_class: Numbers
    earlier: Numbers  # of the same class
    alike: Numbers  # the one before it of the same class and sensor (and place)
    older: Numbers  # neighbours in the useful list
    newer: Numbers
    told: NDArray[np.bool_]  # for READINGS: its owner has told this reading
    table: Numbers  # hash of class, sensor (and place) -> latest such match


def no_heads(classes: int) -> Heads:
    """No match yet."""
    nothing = np.full(classes, NONE, np.int64)
    return Heads(nothing, np.full(classes, -(2**62), np.int64), nothing.copy(), nothing.copy())


def no_chains() -> Chains:
    """No matches remembered."""
    none = np.empty(0, np.int64)
    return Chains(0, none, none, none, none, none, none, np.empty(0, np.bool_), np.full(16, NONE, np.int64))


def copied(heads: Heads) -> Heads:
    """Heads that may be changed."""
    return Heads(heads.row.copy(), heads.time.copy(), heads.latest.copy(), heads.useful.copy())


def with_room(chains: Chains, book: Book, past: Past, more: int, spots: int) -> Chains:
    """Chains that may be changed, with room for `more` matches, `spots` of them in useful lists."""
    table = chains.table.copy()
    if 2 * (np.count_nonzero(table != NONE) + spots) > len(table):
        capacity = 1 << int(4 * (len(chains.row) + spots)).bit_length()
        table = _rebuilt(chains, book, past, capacity)
    empty = np.full(more, NONE, np.int64)
    return Chains(
        chains.first,
        np.concatenate([chains.row, empty]),
        np.concatenate([chains.of_class, empty]),
        np.concatenate([chains.earlier, empty]),
        np.concatenate([chains.alike, empty]),
        np.concatenate([chains.older, empty]),
        np.concatenate([chains.newer, empty]),
        np.concatenate([chains.told, np.zeros(more, np.bool_)]),
        table,
    )


def dropped(chains: Chains, before_row: int) -> Chains:
    """Without the matches of rows before `before_row`."""
    gone = int(np.searchsorted(chains.row, before_row))
    return Chains(
        chains.first + gone,
        chains.row[gone:],
        chains.of_class[gone:],
        chains.earlier[gone:],
        chains.alike[gone:],
        chains.older[gone:],
        chains.newer[gone:],
        chains.told[gone:],
        chains.table,
    )


@numba.njit(cache=True)
def remember(heads: Heads, chains: Chains, match: int, of_class: int, row: int) -> None:
    """Put a new match at the head of its class's chain."""
    m = match - chains.first
    chains.row[m], chains.of_class[m] = row, of_class
    chains.earlier[m] = heads.latest[of_class]
    heads.latest[of_class] = match


@numba.njit(cache=True)
def list_useful(
    book: Book, heads: Heads, chains: Chains, past: Past, match: int, of_class: int, row: int
) -> None:
    """Put a remembered match at the head of its class's useful list, and take out the one it makes useless."""
    m = match - chains.first
    slot = _slot(book, chains, chains.table, past, of_class, row)
    alike = chains.table[slot]
    chains.table[slot] = match
    chains.alike[m] = alike
    for _ in range(book.class_keep[of_class] - 1):
        if alike >= chains.first:
            alike = chains.alike[alike - chains.first]
    if alike >= chains.first:
        _unlink(heads, chains, of_class, alike)
    next_one = heads.useful[of_class]
    chains.older[m] = next_one
    if next_one >= chains.first:
        chains.newer[next_one - chains.first] = match
    heads.useful[of_class] = match


@numba.njit(cache=True)
def _unlink(heads: Heads, chains: Chains, of_class: int, match: int) -> None:
    older, newer = chains.older[match - chains.first], chains.newer[match - chains.first]
    if newer == NONE:
        heads.useful[of_class] = older
    else:
        chains.older[newer - chains.first] = older
    if older >= chains.first:
        chains.newer[older - chains.first] = newer


@numba.njit(cache=True)
def _slot(book: Book, chains: Chains, table: Numbers, past: Past, of_class: int, row: int) -> int:
    """Where the table has, or should have, the latest match of this class by this row's sensor (and place).

    An entry that came to its end is no match but still in the way; it goes when the table is built anew.
    """
    by_place = book.class_mode[of_class] == BY_PLACE
    r = row - past.first
    mask = len(table) - 1
    slot = _hash(past, of_class, r, by_place) & mask
    while table[slot] != NONE:
        held = table[slot] - chains.first
        if held >= 0 and chains.of_class[held] == of_class:
            other = chains.row[held] - past.first
            same_place = not by_place or (past.x[other] == past.x[r] and past.y[other] == past.y[r])
            if same_place and past.key[other] == past.key[r]:
                break
        slot = (slot + 1) & mask
    return slot


@numba.njit(cache=True)
def _hash(past: Past, of_class: int, r: int, by_place: bool) -> int:
    h = np.uint64(of_class) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(past.key[r]) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )
    if by_place:
        h ^= past.x.view(np.uint64)[r] * np.uint64(0x165667B19E3779F9)
        h = (h ^ (h >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        h ^= past.y.view(np.uint64)[r] * np.uint64(0x94D049BB133111EB)
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return int(h >> np.uint64(16))


@numba.njit(cache=True)
def _rebuilt(chains: Chains, book: Book, past: Past, capacity: int) -> Numbers:
    """A table of this capacity with what still counts."""
    table = np.full(capacity, NONE, np.int64)
    for m in range(len(chains.row)):
        if book.class_mode[chains.of_class[m]] >= BY_SENSOR:
            slot = _slot(book, chains, table, past, chains.of_class[m], chains.row[m])
            table[slot] = chains.first + m
    return table
