"""When are two lines near enough, and when does one satisfy its value conditions? The entry to the geometry of PREDICT.

Take the times (t_k, t_l) at which a left and a right line satisfy all conditions: each within its life, not
further apart than w, every difference within its range. They are a convex set, a polygon; the answer is the range of max(t_k, t_l) over
it: one interval, from the least to the greatest. `borders` and `polygons` make the polygon; DISTANCE (`ellipses`) and
PROBABILITY of several dimensions (`products`) have curved borders, and are found in closed form and by tangents.

Rule 1  An answer exists if the closed set is not empty and every strict inequality (<, >, <>, the end of a life) is satisfied
        strictly somewhere in it. Begin and end are those of the closed set, to the nearest microsecond.
Rule 2  Lives are half open: one that ends where it starts has no answer.
Rule 3  The probability of an answer is that of its differences at its best instant, all dimensions independent.

Nothing here allocates but `workspace` and `join_polygon`. One work array per thread.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.geometry import values
from headwater.kernels.predict.geometry.borders import (
    MILLION,
    conditions_of,
    has_strict,
    instant,
    radix,
    straight,
    straight_here,
    strictly,
)
from headwater.kernels.predict.geometry.curves import best_chance, curved_extent, is_curved, surely
from headwater.kernels.predict.geometry.polygons import ROWS, TOUCH, TOUCH_US, corners, extent
from headwater.kernels.predict.geometry.ranges import LESS, MAY, MUST, PROBABILITY, value_pieces
from headwater.kernels.predict.geometry.shapes import (
    LOOP,
    Join,
    Lines,
    Pair,
    Real,
    Single,
    join_of,
    single_of,
)

__all__ = [
    "Join",
    "Lines",
    "Single",
    "join_interval",
    "join_may",
    "join_of",
    "join_polygon",
    "join_probability",
    "pieces_of",
    "reach",
    "reach_since",
    "single_of",
    "value_interval",
    "value_pieces_of",
    "value_probability",
    "workspace",
]

CUTS = 160
"""Corners that a curved border may add while it is computed."""

Found = tuple[bool, int, int]
"""Whether there is an answer; when it begins and ends, in microseconds."""


def workspace(join: Join) -> Real:
    """The work array for pairs of a join: float64[…, …], the rows of `polygons` and those of `peaks`."""
    conditions = len(join.left_value_bound) + len(join.right_value_bound) + len(join.bound)
    return np.empty((ROWS + 2 * len(join.bound), CUTS + 2 * conditions))


class Meeting(NamedTuple):
    """The times at which the left line of a pair can have a partner, after its update; how much later the right line's update is than
    its own; the lag w; and the size of all of these."""

    early: float
    late: float
    shift: float
    w: int
    time: float


@loop(**LOOP)
def pieces_of(join: Join) -> int:
    """How many pieces a pair of this join may have: a number below it names a piece for each condition.

    The conditions in order: values of the left line, values of the right line, differences; the first is the lowest digit.
    """
    pieces = 1
    for i in range(conditions_of(join)):
        pieces *= radix(join, i)
    return pieces


@loop(**LOOP)
def join_interval(left: Lines, k: int, right: Lines, j: int, join: Join, piece: int, work: Real) -> Found:
    """Whether left line `k` and right line `j` answer with this piece, and when the answer begins and ends."""
    pair = Pair(left, k, right, j)
    half, n = straight_here(pair, join, piece, False, work)
    if n == 0:
        return False, 0, 0
    zero = instant(pair)
    if is_curved(pair, join, half, n, work):
        there, begins, ends = curved_extent(pair, join, piece, half, n, work)
        if not there:
            return False, 0, 0
        return True, zero + math.floor(begins + 0.5), zero + math.floor(ends + 0.5)
    begins, ends, least_x, least_y = extent(work, half, n)
    if least_x >= left.end[k] - zero - TOUCH_US or least_y >= right.end[j] - zero - TOUCH_US:
        return False, 0, 0
    if has_strict(join) and not strictly(pair, join, piece, half, n, work):
        return False, 0, 0
    return True, zero + math.floor(begins + 0.5), zero + math.floor(ends + 0.5)


@loop(**LOOP, forceinline=True)
def join_may(left: Lines, k: int, right: Lines, j: int, join: Join) -> bool:
    """Whether the pair may have an answer at all: cheap, and never no by mistake.

    The right time is the left one and a lag of at most w. So a difference is that of the lines at the same time x, and at most w
    times the right slope more or less; as x runs over the times at which the left line can have a partner, it runs between its
    values at the ends.
    """
    pair = Pair(left, k, right, j)
    w = join.within_us
    first = max(left.start[k], right.start[j] - w)
    last = min(left.end[k], right.end[j] + w)
    if first > last:
        return False
    early, late = float(first - left.t0[k]), float(last - left.t0[k])
    shift = float(left.t0[k] - right.t0[j])
    meeting = Meeting(early, late, shift, w, max(abs(early), abs(late)) + abs(shift) + w)
    both = left.tolerance[k] + right.tolerance[j]
    slack = both if join.certainty == MAY or join.certainty == PROBABILITY else 0.0
    for i in range(len(join.bound)):
        if join.comparator[i] <= LESS:
            of_k, of_j = join.left_dimension[i], join.right_dimension[i]
            size = MILLION * (join.bound[i] + slack)
            if _gap(pair, of_k, of_j, meeting, size + MILLION * both) > size:
                return False
    if not math.isnan(join.distance):
        size = MILLION * (join.distance + slack)
        total = 0.0
        for i in range(left.values.shape[1]):
            gap = _gap(pair, i, i, meeting, size + MILLION * both)
            total += gap * gap
        if total > size * size:
            return False
    return True


@loop(**LOOP, forceinline=True)
def _gap(pair: Pair, of_k: int, of_j: int, meeting: Meeting, size: float) -> float:
    """A lower bound of the size of the difference, 0 or more, in millionths."""
    early, late, shift, w, time = meeting
    left, k, right, j = pair
    value_k, value_j = left.values[k, of_k], right.values[j, of_j]
    slope_k, slope_j = left.slopes[k, of_k], right.slopes[j, of_j]
    c = MILLION * (value_k - value_j) - slope_j * shift
    one, other = (slope_k - slope_j) * early + c, (slope_k - slope_j) * late + c
    noise = size + MILLION * (abs(value_k) + abs(value_j)) + (abs(slope_k) + abs(slope_j)) * time
    return max(0.0, max(min(one, other), -max(one, other)) - abs(slope_j) * w - 4.0 * TOUCH * noise)


@loop(**LOOP)
def join_probability(left: Lines, k: int, right: Lines, j: int, join: Join, piece: int, work: Real) -> float:
    """The probability of the answer with this piece at its best instant.

    NaN: not known in closed form (a DISTANCE, or two conditions on one difference, which depend on one another), or not found with
    certainty (see `peaks`).
    """
    pair = Pair(left, k, right, j)
    if join.certainty == MUST or left.tolerance[k] + right.tolerance[j] == 0.0:
        return 1.0
    if surely(pair, join, piece, work):
        return 1.0
    if not math.isnan(join.distance) or _tests_one_difference_twice(join):
        return math.nan
    chance = best_chance(pair, join, piece, work)
    return max(join.p, chance) if join.certainty == PROBABILITY else chance


@loop(**LOOP)
def _tests_one_difference_twice(join: Join) -> bool:
    """Whether two conditions are on the difference of the same dimensions."""
    for i in range(len(join.bound)):
        for other in range(i):
            if (
                join.left_dimension[i] == join.left_dimension[other]
                and join.right_dimension[i] == join.right_dimension[other]
            ):
                return True
    return False


@loop(nogil=True)
def join_polygon(left: Lines, k: int, right: Lines, j: int, join: Join, piece: int, work: Real) -> Real:
    """The corners of the answer's polygon, float64[m, 2]: seconds after the update of the left and of the right line.

    Counter-clockwise from the least left time, then the least right time. No corners where there is no answer, or where the
    border is curved.
    """
    pair = Pair(left, k, right, j)
    half, n = straight(pair, join, piece, False, work)
    if n > 0 and is_curved(pair, join, half, n, work):
        n = 0
    n, first = corners(work, half, n)
    zero = instant(pair)
    found = np.empty((n, 2))
    for i in range(n):
        at = (first + i) % n
        found[i, 0] = (work[half, at] + (zero - left.t0[k])) / MILLION
        found[i, 1] = (work[half + 1, at] + (zero - right.t0[j])) / MILLION
    return found


@loop(**LOOP)
def reach(lines: Lines, k: int, join: Join, side: int, axis: int) -> tuple[float, float]:
    """The range of line `k` over its life on one axis, widened: a left (side 0) and a right line (1) match only if these meet.

    Axes are the differences with an upper bound, then, with a distance, all dimensions; any further axis is unbounded.

    Let a pair match at (x, y) by |f(x) − g(y)| <= B, where B is at most K and both tolerances. f(x) is between the least and the
    greatest of f over its life, and g(y) likewise. So the two ranges, each widened by K/2 and its own tolerance, meet. A distance
    bounds the difference of each dimension. The lag w needs no room, for a line's whole life is in its range; the lives of a
    matching pair meet when each is widened by w/2.
    """
    return reach_since(lines, k, join, side, axis, lines.start[k])


@loop(**LOOP, forceinline=True)
def reach_since(lines: Lines, k: int, join: Join, side: int, axis: int, since: int) -> tuple[float, float]:
    """Like `reach`, if times before `since` do not matter."""
    slack = lines.tolerance[k] if join.certainty == MAY or join.certainty == PROBABILITY else 0.0
    for i in range(len(join.bound)):
        if join.comparator[i] <= LESS:
            if axis == 0:
                of = join.left_dimension[i] if side == 0 else join.right_dimension[i]
                return _stretch(lines, k, of, 0.5 * join.bound[i] + slack, since)
            axis -= 1
    if not math.isnan(join.distance) and axis < lines.values.shape[1]:
        return _stretch(lines, k, axis, 0.5 * join.distance + slack, since)
    return -math.inf, math.inf


@loop(**LOOP, forceinline=True)
def _stretch(lines: Lines, k: int, of: int, room: float, since: int) -> tuple[float, float]:
    """The range of a dimension over the line's life, widened on both sides."""
    start = max(lines.start[k], since)
    early, late = float(start - lines.t0[k]), float(lines.end[k] - lines.t0[k])
    value, slope = lines.values[k, of], lines.slopes[k, of] / MILLION
    one, other = value + slope * early, value + slope * late
    room += 4.0 * TOUCH * (abs(value) + room + abs(slope) * max(abs(early), abs(late)))
    return min(one, other) - room, max(one, other) + room


@loop(**LOOP)
def value_pieces_of(single: Single) -> int:
    """How many pieces a line may have under conditions on it alone, the first condition the lowest digit."""
    pieces = 1
    for i in range(len(single.bound)):
        pieces *= value_pieces(single.comparator[i])
    return pieces


@loop(**LOOP)
def value_interval(lines: Lines, k: int, single: Single, piece: int) -> Found:
    """Whether line `k` answers with this piece, and when the answer begins and ends."""
    there, begins, ends = values.span(lines, k, single, piece)
    if not there:
        return False, 0, 0
    return True, lines.t0[k] + math.floor(begins + 0.5), lines.t0[k] + math.floor(ends + 0.5)


@loop(**LOOP)
def value_probability(lines: Lines, k: int, single: Single, piece: int) -> float:
    """The probability of the answer with this piece, the product over its conditions, at its best instant."""
    there, begins, ends = values.span(lines, k, single, piece)
    return values.best_chance(lines, k, single, begins, ends) if there else 0.0
