"""In which order are rows emitted? Rows are sorted by whole numbers, digit by digit.

Rule 1  Columns are packed into as few words as their ranges allow, the most important one in the highest bits; words are sorted from
        the last to the first, each from its lowest digit on (radix sort). There are no comparisons, so the cost does not depend on the order of rows.
Rule 2  The lowest bits of a word are the number of its row, so that nothing else is moved.
Rule 3  Rows at arbitrary places are read some at a time before they are copied, so that memory loads them in parallel and not one by one.
Rule 4  Within a step a line has its place by key and update time: one number instead of two for each alias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import Whole

Bits = NDArray[np.uint64]

DIGIT: Final = 11
WORD: Final = 64
HALF: Final = 32
FEW: Final = 2_000
"""Below so many rows the sort of numpy is faster."""
SOME: Final = 64
"""Rows that are read before they are copied."""


def in_order(columns: Sequence[Whole]) -> Whole:
    """The permutation that sorts rows by the first column, then by the second, and so on."""
    count = len(columns[0])
    if count < FEW:
        return np.lexsort(columns[::-1])
    order, below = np.arange(count), count.bit_length()
    for word, width in reversed(_packed(columns, WORD - below)):
        _sort(word, below, width, order)
    return order


def by_places(lines: tuple[Whole, ...], place: Whole) -> Whole:
    """The permutation that sorts rows by the places of their lines, those of the first alias first. `place`: see `places`."""
    count, width = len(lines[0]), int(place.max()).bit_length()
    below = count.bit_length()
    if count < FEW or len(lines) * width > WORD - below:
        return in_order([place.take(line) for line in lines])
    word, order = np.empty(count, np.uint64), np.arange(count)
    _pack(word, lines, place, width)
    _sort(word, below, len(lines) * width, order)
    return order


def in_slices(time: Whole, most: int) -> tuple[Whole, Whole]:
    """A permutation that puts rows into slices of time of about so many rows, one slice after the other; and where each begins, and the end."""
    low, many = int(time.min()), len(time) // most
    if not many:
        return np.arange(len(time)), np.array([0, len(time)])
    shift = max((int(time.max()) - low).bit_length() - many.bit_length(), 0)
    starts, order = np.zeros((1 << many.bit_length()) + 1, np.int64), np.empty(len(time), np.int64)
    _slice(time, low, shift, starts, order)
    return order, starts


def columns_of(rows: Whole, order: Whole) -> Whole:
    """The columns of rows in an order."""
    columns = np.empty((rows.shape[1], len(order)), np.int64)
    _take(rows, order, columns)
    return columns


def places(lines: Sequence[Whole], rank: Whole, t0: Whole) -> Whole:
    """int64[slots]: the places of lines among one another, at least of those that occur, by key and update time. `rank` and `t0` by line."""
    used = np.arange(len(t0))
    if len(lines[0]) < len(t0):  # else nearly all do
        occurs = np.zeros(len(t0), np.bool_)
        for column in lines:
            occurs[column] = True
        used = np.flatnonzero(occurs)
    place = np.zeros(len(t0), np.int64)
    place[used[in_order([rank[used], t0[used]])]] = np.arange(len(used))
    return place


def _packed(columns: Sequence[Whole], most: int) -> list[tuple[Bits, int]]:
    """The columns as words of so many bits at most, the most important one first, and how many bits of each are used."""
    words: list[tuple[Bits, int]] = []
    for column in map(np.ascontiguousarray, columns):
        low = int(column.min())
        whole = (int(column.max()) - low).bit_length()
        parts = [(0, whole)] if whole <= most else [(HALF, whole - HALF), (0, HALF)]
        for shift, width in parts:
            word, used = words[-1] if words else (None, most)
            if word is None or used + width > most:
                word, used = np.zeros(len(column), np.uint64), 0
                words.append((word, used))
            words[-1] = word, used + width
            _append(word, column, low, shift, width)
    return words


@loop(nogil=True, _nrt=False, inline="always")
def prefetch(rows: Any, which: Whole, start: int, stop: int) -> Any:
    """Read the beginning and the end of some rows. The result has no meaning, but a compiler would remove reads without a result."""
    seen, last = rows[0, 0], np.uint64(rows.shape[1] - 1)
    for place in range(start, stop):
        row = np.uint64(which[place])
        seen ^= rows[row, np.uint64(0)] ^ rows[row, last]
    return seen


@loop(nogil=True, _nrt=False)
def _slice(time: Whole, low: int, shift: int, starts: Whole, order: Whole) -> None:
    """Count the rows of each slice, and put them there."""
    for row in range(len(time)):
        starts[((time[row] - low) >> shift) + 1] += 1
    for slot in range(len(starts) - 1):
        starts[slot + 1] += starts[slot]
    for row in range(len(time)):
        slot = (time[row] - low) >> shift
        order[starts[slot]] = row
        starts[slot] += 1
    for slot in range(len(starts) - 1, 0, -1):
        starts[slot] = starts[slot - 1]
    starts[0] = 0


@loop(nogil=True, _nrt=False)
def _take(rows: Whole, order: Whole, columns: Whole) -> Any:
    """Write rows column by column. The result has no meaning: see `prefetch`."""
    seen = 0
    for start in range(0, len(order), SOME):
        stop = min(start + SOME, len(order))
        seen ^= prefetch(rows, order, start, stop)
        for place in range(start, stop):
            row = np.uint64(order[place])
            for column in range(len(columns)):
                columns[column, place] = rows[row, column]
    return seen


@loop(nogil=True, _nrt=False)
def _append(word: Bits, column: Whole, low: int, shift: int, width: int) -> None:
    """Put bits of a column below the present contents of words."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    for row in range(len(word)):
        rest = (np.uint64(column[row]) - np.uint64(low)) >> np.uint64(shift)
        word[row] = (word[row] << np.uint64(width)) | (rest & mask)


@loop(nogil=True, _nrt=False)
def _pack(word: Bits, lines: tuple[Whole, ...], place: Whole, width: int) -> None:
    """The places of all lines of a row in one word."""
    for row in range(len(word)):
        bits = np.uint64(0)
        for alias in range(len(lines)):
            line = np.uint64(lines[alias][row])
            bits = (bits << np.uint64(width)) | np.uint64(place[line])
        word[row] = bits


@loop(nogil=True)
def _sort(word: Bits, below: int, width: int, order: Whole) -> None:
    """Sort an order by the words of its rows, stably. So many bits are free above the words."""
    count, rounds = len(order), -(-width // DIGIT)
    if not rounds:
        return
    digit = -(-width // rounds)
    mask = np.uint64((1 << digit) - 1)
    starts = np.zeros((rounds, (1 << digit) + 1), np.int64)
    now, then = np.empty(count, np.uint64), np.empty(count, np.uint64)
    for place in range(count):
        bits = word[order[place]]
        now[place] = (bits << np.uint64(below)) | np.uint64(order[place])
        for turn in range(rounds):
            starts[turn, ((bits >> np.uint64(turn * digit)) & mask) + np.uint64(1)] += 1
    for turn in range(rounds):
        for value in range(1 << digit):
            starts[turn, value + 1] += starts[turn, value]
        shift = np.uint64(below + turn * digit)
        for place in range(count):
            value = (now[place] >> shift) & mask
            then[starts[turn, value]] = now[place]
            starts[turn, value] += 1
        now, then = then, now
    mask = np.uint64((1 << below) - 1)
    for place in range(count):
        order[place] = now[place] & mask
