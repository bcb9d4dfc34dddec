"""Is a box covered by the union of others? Decided exactly, by cutting rows out of it.

Rule 1  Rows that cannot matter are dropped first (`reduction.py`), for the box and for every part of it.
Rule 2  A row is cut out: at most 2d parts are left, each without that row. The row that leaves fewest parts comes first, among
        equals the one that contains most of the box; one that leaves a single part only shrinks the box. The largest part is
        cut off first, and the smallest tested first.
Rule 3  Rows that contain less than the box in sum of volumes do not cover it.
Rule 4  The first part that no row contains: not covered. No part left: covered.
Rule 5  After `budget` parts the answer is "not covered": that sends what need not be sent, and loses nothing.
Memory  The parts not yet tested, and the rows of each part on the way to the present one: at most MOST_DEPTH of them, beyond
        which Rule 5 holds too.
Source  the question is co-NP complete (Srivastava 1993): the budget prevents a peer's subscriptions from stopping a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.protocols.cover.boxes import DECIDED, OPEN, Boxes, Question, Real, Verdict, ask
from headwater.protocols.cover.reduction import HELD, Rows, reduce

BUDGET: Final = 10_000
"""Parts tested for one answer: some ten milliseconds."""

MOST_DEPTH: Final = 256

ROUNDING: Final = 1e-9
"""Volumes this close together, beside the whole, are not distinguished."""

GAP: Final = 0
UNION: Final = 1
SPENT: Final = 2
_CUT: Final = 3

_VERDICTS: Final = {
    GAP: Verdict(False, "gap"),
    UNION: Verdict(True, "union"),
    SPENT: Verdict(False, "budget"),
}


@dataclass(frozen=True, slots=True)
class Exact:
    """Covered if and only if the union covers; over budget: not covered."""

    budget: int = BUDGET

    def covers(self, low: Real, high: Real, others: Boxes, *, seed: int = 0) -> Verdict:
        """The answer; the seed changes nothing."""
        question = ask(low, high, others)
        if question.state != OPEN:
            return DECIDED[question.state]
        return subtract(question, self.budget)


def subtract(question: Question, budget: int) -> Verdict:
    """The verdict on an open question after looking at no more than `budget` parts."""
    return _VERDICTS[count_parts(question.low, question.up, question.lows, question.ups, budget)[0]]


@loop
def count_parts(low: Real, up: Real, lows: Real, ups: Real, budget: int) -> tuple[int, int]:
    """GAP, UNION or SPENT, and the number of parts tested."""
    total, columns = lows.shape
    deepest = min(total, MOST_DEPTH) + 1
    # The pile of parts: a box each, and the depth of the box it was cut from.
    part = np.empty((2 * columns * deepest + 1, 2, columns))
    above = np.zeros(len(part), np.int64)
    part[0, 0], part[0, 1] = low, up
    # The rows of the present part come after those of the boxes it was cut from.
    rows, starts = np.empty(4 * total + 64, np.int32), np.zeros(deepest + 2, np.int64)
    rows[:total] = np.arange(total)
    starts[1] = total
    entries, share = np.empty(total, np.int32), np.empty(total)
    waiting, seen = 1, 0
    while waiting > 0:
        waiting -= 1
        depth = above[waiting]
        here = part[waiting].copy()
        start, count = starts[depth + 1], starts[depth + 1] - starts[depth]
        if start + count > len(rows):
            rows = np.append(rows, np.empty(len(rows), np.int32))
        mine = rows[start : start + count]
        mine[:] = rows[starts[depth] : start]
        outcome, best, count, looks = _look(here[0], here[1], lows, ups, mine, entries, share, budget - seen)
        seen += looks
        if outcome in (GAP, SPENT):
            return outcome, seen
        if outcome == _CUT:
            if depth == deepest:
                return SPENT, seen
            starts[depth + 2] = start + count
            waiting = _cut(here[0], here[1], lows[best], ups[best], part, above, waiting, depth + 1)
    return UNION, seen


@loop
def _look(
    low: Real, up: Real, lows: Real, ups: Real, rows: Rows, entries: Rows, share: Real, budget: int
) -> tuple[int, int, int, int]:
    """Shrink a part while rows require nothing else: the result, the row to cut, how many rows, parts tested."""
    count = len(rows)
    for looks in range(budget):
        count = reduce(low, up, lows, ups, rows, count, entries)
        if count == HELD:
            return UNION, 0, 0, looks + 1
        if count == 0 or _volume(low, up, lows, ups, rows, count, share) < 1.0 - ROUNDING:
            return GAP, 0, 0, looks + 1
        best = rows[0]
        for n in range(1, count):
            i = rows[n]
            if entries[i] < entries[best] or (entries[i] == entries[best] and share[i] > share[best]):
                best = i
        if entries[best] > 1:
            return _CUT, best, count, looks + 1
        for j in range(len(low)):
            if lows[best, j] > low[j]:
                up[j] = lows[best, j]
            elif ups[best, j] < up[j]:
                low[j] = ups[best, j]
    return SPENT, 0, 0, budget


@loop
def _volume(low: Real, up: Real, lows: Real, ups: Real, rows: Rows, count: int, share: Real) -> float:
    """The sum of the shares of the box that rows hold, each no less than it is but for rounding; written to `share[row]`."""
    columns = len(low)
    per = 1.0 / (up - low)
    summed = 0.0
    for n in range(count):
        i = rows[n]
        volume = 1.0
        for j in range(columns):
            # A width beyond the range of doubles counts as if the row held all of it.
            if 0.0 < per[j] < np.inf:
                volume *= min(1.0, (min(up[j], ups[i, j]) - max(low[j], lows[i, j])) * per[j])
        share[i] = volume
        summed += volume
    return summed


@loop
def _cut(
    low: Real,
    up: Real,
    row_low: Real,
    row_up: Real,
    part: Real,
    above: NDArray[np.int64],
    waiting: int,
    depth: int,
) -> int:
    """Lay the parts that a row leaves on the pile, and return its height. The box becomes what the row holds."""
    columns = len(low)
    outside = np.empty(2 * columns)
    for j in range(columns):
        outside[2 * j] = (row_low[j] - low[j]) / (up[j] - low[j])
        outside[2 * j + 1] = (up[j] - row_up[j]) / (up[j] - low[j])
    for entry in np.argsort(-outside):
        j, side = entry // 2, entry % 2
        if (row_low[j] > low[j]) if side == 0 else (row_up[j] < up[j]):
            part[waiting, 0], part[waiting, 1], above[waiting] = low, up, depth
            if side == 0:
                part[waiting, 1, j] = low[j] = row_low[j]
            else:
                part[waiting, 0, j] = up[j] = row_up[j]
            waiting += 1
    return waiting
