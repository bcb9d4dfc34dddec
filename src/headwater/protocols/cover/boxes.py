"""Is a box covered by a set of boxes? The words for asking it, and what all ways of answering share.

A box is one closed interval of doubles for each column. Inside this room intervals are half open: [low, the double after high).
There is nothing between the end of one and the start of the next, so all that follows is comparisons, and exact.

Rule 1  Values are finite: a box without a bound ends at the greatest double.
Rule 2  A box with an interval that holds nothing is empty: it is covered, and it covers nothing. NaN holds nothing.
Memory  Nothing is stored between two questions.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

Real = NDArray[np.float64]

GREATEST: Final = float(np.finfo(np.float64).max)

OPEN: Final = 0
EMPTY: Final = 1
ALONE: Final = 2


class Boxes(NamedTuple):
    """Closed boxes, one a row: `low` and `high` are float64[k, d]."""

    low: Real
    high: Real


class Verdict(NamedTuple):
    """Whether a box is covered, and in a word or two how that was found."""

    covered: bool
    why: str


class Cover(Protocol):
    """A way to decide. The same question with the same seed always gets the same answer."""

    def covers(self, low: Real, high: Real, others: Boxes, *, seed: int) -> Verdict:
        """Whether every point of the box float64[d] lies in one of the others."""
        ...


class Question(NamedTuple):
    """A box and the rows that meet it, half open; `state`: OPEN, or already decided (EMPTY: no box at all, ALONE: a row holds it)."""

    state: int
    low: Real
    up: Real
    lows: Real
    ups: Real


DECIDED: Final = {EMPTY: Verdict(True, "empty"), ALONE: Verdict(True, "alone")}


def ask(low: Real, high: Real, others: Boxes) -> Question:
    """The question without the rows that play no part in it."""
    return Question(*_ask(_plain(low), _plain(high), _plain(others.low), _plain(others.high)))


def _plain(values: Real) -> Real:
    return np.ascontiguousarray(values, np.float64)


@loop
def _ask(low: Real, high: Real, row_low: Real, row_high: Real) -> tuple[int, Real, Real, Real, Real]:
    columns = len(low)
    start, last = np.maximum(low, -GREATEST), np.minimum(high, GREATEST)
    picked = np.empty(len(row_low), np.int64)
    count = 0
    state = OPEN
    for j in range(columns):
        if not start[j] <= last[j]:
            state = EMPTY
    for i in range(len(row_low) if state == OPEN else 0):
        meets, holds = True, True
        for j in range(columns):
            # Written so that NaN meets nothing.
            if not (
                row_low[i, j] <= last[j] and row_high[i, j] >= start[j] and row_low[i, j] <= row_high[i, j]
            ):
                meets = False
                break
            holds &= row_low[i, j] <= start[j] and row_high[i, j] >= last[j]
        if meets:
            picked[count] = i
            count += 1
            if holds:
                state = ALONE
                break
    lows, ups = np.empty((count, columns)), np.empty((count, columns))
    for n in range(count):
        for j in range(columns):
            lows[n, j] = row_low[picked[n], j]
            ups[n, j] = np.nextafter(row_high[picked[n], j], np.inf)
    return state, start, np.nextafter(last, np.inf), lows, ups
