"""Which rows can matter to whether a box is covered? The conflict table, and the minimised cover set.

A row leaves out of the box what lies below its low or above its high in some column: its *entries*, of which it has t. Two
entries of different rows *conflict* if they are on opposite sides of one column and nothing lies in both. One entry from each
row, no two in conflict, meet in a box that no row holds (intervals on a line that meet in pairs meet in common): a *witness*.

Rule 1  A row without an entry holds the box: covered.
Rule 2  A row with an entry that no other row's entry conflicts with is dropped: every witness of the others extends to it.
Rule 3  A row with t >= the number of rows is dropped: each of the others forbids it one entry at most.
Rule 4  No row left: not covered. The quick NO of the paper, t_i >= i for rows sorted by t, is Rule 3 until nothing is left.
Memory  Only the lowest low and the highest high among the entries of other rows matter to a conflict, so the table is never
        written: four numbers for each column, O(k d) work a round, and as many rounds as there are droppings that cause others.
Source  Ouksel, Jurca, Podnar, Aberer 2006; symbols: s -> low, up; s_i -> rows, t_i -> entries; MCS -> `reduce`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.protocols.cover.boxes import Real

Rows = NDArray[np.int32]

HELD: Final = -1
"""Instead of a number of rows: one of them holds the whole box."""


@loop
def reduce(low: Real, up: Real, lows: Real, ups: Real, rows: Rows, count: int, entries: Rows) -> int:
    """Move the rows that matter to the front of `rows[:count]`: how many they are, or HELD. Writes `entries[row]`."""
    count = _meeting(low, up, lows, ups, rows, count, entries)
    before = count + 1
    while 0 < count < before:
        before = count
        count = _conflicting(low, up, lows, ups, rows, count, entries)
    return count


@loop
def _meeting(low: Real, up: Real, lows: Real, ups: Real, rows: Rows, count: int, entries: Rows) -> int:
    retained = 0
    for n in range(count):
        i = rows[n]
        t = 0
        for j in range(len(low)):
            below, above = lows[i, j], ups[i, j]
            if below >= up[j] or above <= low[j]:
                t = -1
                break
            t += (below > low[j]) + (above < up[j])
        if t == 0:
            return HELD
        if t > 0:
            entries[i] = t
            rows[retained] = i
            retained += 1
    return retained


@loop
def _conflicting(low: Real, up: Real, lows: Real, ups: Real, rows: Rows, count: int, entries: Rows) -> int:
    """One round of Rules 2 and 3, over all rows at once: dropping one never makes another worth keeping."""
    columns = len(low)
    # Per column the extreme and, for the row that owns it, the runner-up.
    top, next_top, owner_top = np.full(columns, -np.inf), np.full(columns, -np.inf), np.full(columns, -1)
    end, next_end, owner_end = np.full(columns, np.inf), np.full(columns, np.inf), np.full(columns, -1)
    for n in range(count):
        i = rows[n]
        for j in range(columns):
            below, above = lows[i, j], ups[i, j]
            if below > low[j]:
                if below < end[j]:
                    end[j], next_end[j], owner_end[j] = below, end[j], i
                elif below < next_end[j]:
                    next_end[j] = below
            if above < up[j]:
                if above > top[j]:
                    top[j], next_top[j], owner_top[j] = above, top[j], i
                elif above > next_top[j]:
                    next_top[j] = above
    retained = 0
    for n in range(count):
        i = rows[n]
        free = entries[i] >= count
        for j in range(columns):
            if free:
                break
            below, above = lows[i, j], ups[i, j]
            if below > low[j]:
                free |= (next_top[j] if owner_top[j] == i else top[j]) < below
            if above < up[j]:
                free |= (next_end[j] if owner_end[j] == i else end[j]) > above
        if not free:
            rows[retained] = i
            retained += 1
    return retained
