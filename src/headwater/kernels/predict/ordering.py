"""In which order is what is told? Rows are sorted by whole numbers, digit by digit.

Rule 1  Columns are packed into as few words as their ranges allow, the most important one in the highest bits; words are sorted from
        the last to the first, each from its lowest digit on (radix sort). Nothing is compared, so nothing depends on how rows lie.
Rule 2  Within a step a line has its place by key and update time: one number instead of two for each alias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.predict.geometry.shapes import Whole

Bits = NDArray[np.uint64]

DIGIT: Final = 11
WORD: Final = 64
FEW: Final = 2_000
"""Below so many rows the sort of numpy is faster."""


def in_order(columns: Sequence[Whole]) -> Whole:
    """The permutation that sorts rows by the first column, where that is equal by the second, and so on."""
    count = len(columns[0])
    if count < FEW:
        return np.lexsort(columns[::-1])
    order = np.arange(count)
    for place, (word, width) in enumerate(reversed(_packed(columns))):
        order = _sorted(word if not place else word[order], width, order)
    return order


def places(lines: Sequence[Whole], rank: Whole, t0: Whole) -> Whole:
    """int64[slots]: which place the lines that occur have among one another, by key and update time. `rank` and `t0` by line."""
    occurs = np.zeros(len(t0), np.bool_)
    for column in lines:
        occurs[column] = True
    used = np.flatnonzero(occurs)
    place = np.zeros(len(t0), np.int64)
    place[used[np.lexsort([t0[used], rank[used]])]] = np.arange(len(used))
    return place


def _packed(columns: Sequence[Whole]) -> list[tuple[Bits, int]]:
    """The columns as words, the most important one first, and how many bits of each are used."""
    words: list[tuple[Bits, int]] = []
    for column in columns:
        low = int(column.min())
        width = (int(column.max()) - low).bit_length()
        if not width:
            continue
        if words and words[-1][1] + width <= WORD:
            word, used = words[-1]
            words[-1] = word, used + width
        else:
            word = np.zeros(len(column), np.uint64)
            words.append((word, width))
        _append(word, np.ascontiguousarray(column), low, width)
    return words


@njit(cache=True, nogil=True, _nrt=False)
def _append(word: Bits, column: Whole, low: int, width: int) -> None:
    """Put a column below what words hold."""
    for row in range(len(word)):
        rest = np.uint64(column[row]) - np.uint64(low)
        word[row] = rest if width == WORD else (word[row] << np.uint64(width)) | rest


@njit(cache=True, nogil=True)
def _sorted(key: Bits, width: int, order: Whole) -> Any:
    """An order put by the keys of its rows, equal ones left as they were. Both are used up."""
    count = len(order)
    key_to, to = np.empty(count, np.uint64), np.empty(count, np.int64)
    mask = np.uint64((1 << DIGIT) - 1)
    for first in range(0, width, DIGIT):
        shift = np.uint64(first)
        starts = np.zeros((1 << DIGIT) + 1, np.int64)
        for place in range(count):
            starts[((key[place] >> shift) & mask) + np.uint64(1)] += 1
        for digit in range(1 << DIGIT):
            starts[digit + 1] += starts[digit]
        for place in range(count):
            digit = (key[place] >> shift) & mask
            at = starts[digit]
            starts[digit] = at + 1
            key_to[at], to[at] = key[place], order[place]
        key, key_to = key_to, key
        order, to = to, order
    return order
