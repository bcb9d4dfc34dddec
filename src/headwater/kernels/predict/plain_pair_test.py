"""What does a quick test of two lines tell? Most pairs need no polygon.

A join is *plain* if it only requires that differences are at most, or below, their bounds (no DISTANCE, no value conditions, no
PROBABILITY). Then B is one number per difference, and the differences at one time for both lines are straight lines.

Rule 1  An answer at max(t_k, t_l) = t has |f_k(t) − f_l(t)| <= B and w times the steeper slope, in every difference: before the first
        such t it cannot begin, and without one there is none.
Rule 2  If both lines live at t and |f_k(t) − f_l(t)| <= B in every difference, (t, t) is in the polygon: the answer does not end
        before the last such t.
Rule 3  An answer begins when the younger line does if some partner in time is within the bounds there, and ends at the last moment
        that lives and w leave if some partner is within the bounds there. If both are so, that is all of it.
Rule 4  Cases near the border are left to the geometry: the test says yes, or no, only with a margin.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.choices import Certainty
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines

SPARE: Final = 1e-9
"""The margin, relative to the numbers involved."""

_MAY: Final = int(Certainty.MAY)
_MUST: Final = int(Certainty.MUST)
_MARGIN_US: Final = 2


@loop(**LOOP, error_model="numpy", forceinline=True)
def quick_test(lines: Lines, k: int, j: int, join: Join, promised: int) -> tuple[bool, int, int]:
    """Whether a pair may have an answer; a time before which it does not begin; and, given the `promised` lives, one before which it does not end."""
    start, end = max(lines.start[k], lines.start[j]), min(lines.end[k], lines.end[j])
    width = join.within_us
    if start > end + width:
        return False, 0, 0
    both = lines.tolerance[k] + lines.tolerance[j]
    more = both if join.certainty == _MAY else -both if join.certainty == _MUST else 0.0
    since_k, since_j = (start - lines.t0[k]) * 1e-6, (start - lines.t0[j]) * 1e-6
    first, last = 0.0, (end - start + width) * 1e-6
    enters, leaves = 0.0, (promised - start) * 1e-6
    far = abs(since_k) + abs(since_j) + leaves + width * 1e-6
    for i in range(len(join.bound)):
        of_k, of_j = join.left_dimension[i], join.right_dimension[i]
        slope_k, slope_j = lines.slopes[k, of_k], lines.slopes[j, of_j]
        value_k = lines.values[k, of_k] + slope_k * since_k
        value_j = lines.values[j, of_j] + slope_j * since_j
        gap, slope = value_k - value_j, slope_k - slope_j
        steep = max(abs(slope_k), abs(slope_j))
        lag = steep * width * 1e-6
        bound = join.bound[i] + more
        sizes = abs(lines.values[k, of_k]) + abs(lines.values[j, of_j]) + join.bound[i] + both
        spare = SPARE * (sizes + lag + steep * far)
        wide, narrow = bound + lag + spare, bound - spare
        if bound + spare < 0.0:
            return False, 0, 0
        if slope == 0.0:
            if abs(gap) > wide:
                return False, 0, 0
            if abs(gap) > narrow or narrow <= 0.0:
                leaves = -1.0
            continue
        turn = 1.0 / slope
        middle, reach = -gap * turn, abs(turn)
        first, last = max(first, middle - wide * reach), min(last, middle + wide * reach)
        enters, leaves = max(enters, middle - narrow * reach), min(leaves, middle + narrow * reach)
    if first > last:
        return False, 0, 0
    early = start + np.int64(first * 1e6) - _MARGIN_US
    if enters < leaves:
        return True, early, start + np.int64(leaves * 1e6) - _MARGIN_US
    return True, early, early


@loop(**LOOP, forceinline=True)
def whole(lines: Lines, k: int, j: int, join: Join) -> tuple[bool, int, int]:
    """When the answer of a pair begins and ends, if it is as long as the lives and w allow."""
    both = lines.tolerance[k] + lines.tolerance[j]
    more = both if join.certainty == _MAY else -both if join.certainty == _MUST else 0.0
    start, end = max(lines.start[k], lines.start[j]), min(lines.end[k], lines.end[j])
    is_first = lines.end[k] <= lines.end[j]
    until = min(max(lines.end[k], lines.end[j]), end + join.within_us)
    if until <= start or not _begins(lines, k, j, join, more):
        return False, 0, 0
    since = max(lines.start[k] if is_first else lines.start[j], until - join.within_us)
    if since > end or not _is_within(lines, k, j, join, more, until, is_first, since, end)[0]:
        return False, 0, 0
    return True, start, until


@loop(**LOOP, forceinline=True)
def is_sure(lines: Lines, k: int, j: int, join: Join) -> bool:
    """Whether the test finds a moment at which every difference is within its bound whatever the tolerances."""
    start, end = max(lines.start[k], lines.start[j]), min(lines.end[k], lines.end[j])
    both = lines.tolerance[k] + lines.tolerance[j]
    if _begins(lines, k, j, join, -both):
        return True
    since_k, since_j = (start - lines.t0[k]) * 1e-6, (start - lines.t0[j]) * 1e-6
    enters, leaves = 0.0, (end - start) * 1e-6
    for i in range(len(join.bound)):
        of_k, of_j = join.left_dimension[i], join.right_dimension[i]
        gap = lines.values[k, of_k] - lines.values[j, of_j]
        gap += lines.slopes[k, of_k] * since_k - lines.slopes[j, of_j] * since_j
        slope = lines.slopes[k, of_k] - lines.slopes[j, of_j]
        narrow = (join.bound[i] - both) * (1.0 - SPARE)
        if narrow <= 0.0:
            return False
        if slope == 0.0:
            if abs(gap) >= narrow:
                return False
            continue
        turn = 1.0 / slope
        middle, reach = -gap * turn, narrow * abs(turn)
        enters, leaves = max(enters, middle - reach), min(leaves, middle + reach)
    return enters < leaves


@loop(**LOOP, forceinline=True)
def _begins(lines: Lines, k: int, j: int, join: Join, more: float) -> bool:
    """Whether the younger line has a partner in time when it begins, with a margin before the other one's end."""
    start = max(lines.start[k], lines.start[j])
    is_older = lines.start[k] <= lines.start[j]
    older, younger = (k, j) if is_older else (j, k)
    first, last = max(lines.start[older], start - join.within_us), min(start, lines.end[older])
    if first >= lines.end[older] - _MARGIN_US or start >= lines.end[younger] - _MARGIN_US or first > last:
        return False
    found, low = _is_within(lines, k, j, join, more, start, is_older, first, last)
    return found and first + low * 1e6 < lines.end[older] - _MARGIN_US


@loop(**LOOP, forceinline=True)
def _is_within(  # noqa: PLR0913 inlined into the test of every pair
    lines: Lines, k: int, j: int, join: Join, more: float, fixed: int, moves_k: bool, first: int, last: int
) -> tuple[bool, float]:
    """Whether every difference is at most its bound and `more`, one line being taken at a time and the other at some time of a span;
    and how many seconds after its start that is."""
    mover, other = (k, j) if moves_k else (j, k)
    since = (first - lines.t0[mover]) * 1e-6
    stood = (fixed - lines.t0[other]) * 1e-6
    low, high = 0.0, (last - first) * 1e-6
    far = abs(since) + high
    for i in range(len(join.bound)):
        of_k, of_j = join.left_dimension[i], join.right_dimension[i]
        of, of_other = (of_k, of_j) if moves_k else (of_j, of_k)
        slope, drift = lines.slopes[mover, of], lines.slopes[other, of_other] * stood
        value, beside = lines.values[mover, of], lines.values[other, of_other]
        gap = value + slope * since - (beside + drift)
        bound = join.bound[i] + more
        narrow = bound - SPARE * (abs(value) + abs(beside) + abs(bound) + abs(slope) * far + abs(drift))
        if narrow <= 0.0:
            return False, 0.0
        if slope == 0.0:
            if abs(gap) > narrow:
                return False, 0.0
            continue
        turn = 1.0 / slope
        middle, reach = -gap * turn, narrow * abs(turn)
        low, high = max(low, middle - reach), min(high, middle + reach)
    return low <= high, low
