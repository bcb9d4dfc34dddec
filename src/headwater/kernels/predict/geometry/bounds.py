"""When do pairs begin and end? Computed without a polygon: bounds of the later of their two times, from both sides, for many pairs at once.

A pair with an answer at t has a point (t, y) with y from t − w to t, or (x, t) with x likewise. In each of these two the other time is
eliminated (Fourier and Motzkin): some y exists if each of its lower bounds is at most each upper bound, and any two of them give one
bound of t. So t has one interval in each of the two, made of the lives' bounds and, for each difference, of those of |slope·t + at| <= limit.

Rule 1  A polygon of `plain` includes points beyond a border by no more than its slack, which is at most TOUCH of the sizes of its terms. With
        every border moved in by twice that, and the ends of lives slightly, the result never exceeds the polygon; with every border
        moved out it is never less: rounding errors are far smaller. If both give the same microsecond, the polygon gives it too. If not, the pair is
        UNSURE, and the caller computes the polygon.
Rule 2  What is moved in satisfies all strict conditions: the ends of lives, which are excluded, and `<`.
Rule 3  A pair that is cut has several polygons (see `pair_intervals`), all of them parts of that of the promise: the last one decides.
        So slacks are those of the promise, which are the largest.
Rule 4  Pairs are processed in groups, column by column and without branches: then several are computed at once (SIMD).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.geometry.borders import MILLION, instant
from headwater.kernels.predict.geometry.decimals import apart
from headwater.kernels.predict.geometry.polygons import TINY, TOUCH, TOUCH_US
from headwater.kernels.predict.geometry.ranges import MAY, MUST, NOISE
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Pair, Real, Whole

SOME: Final = 72
"""Pairs that are processed together."""

# Columns of a sheet: float64[FIXED + EACH · differences, SOME], one after the other. Times are after the pair's instant.
_X0: Final = 0  # the life of the left line …
_X1: Final = 1
_Y0: Final = 2  # … and of the right one
_Y1: Final = 3
_FAR_X: Final = 4  # the greatest time after the left line's update, if the line is never cut
_FAR_Y: Final = 5
_EARLY: Final = 6  # how long before the instant the left line was sent
_LATE: Final = 7
_BOTH: Final = 8  # the two tolerances
CAME: Final = 9  # the bounds, …
BEGINS: Final = 10
ENDS: Final = 11
_LEFT: Final = 12  # where the left time is the later, four bounds: see `_cut`
_RIGHT: Final = 16
_THIS: Final = 20  # the differences under test, at fixed places
_THAT: Final = 25
FIXED: Final = 30
# Of each difference, as written …
_GAP: Final = 0  # of the two values
_SLOPE: Final = 2
_OTHER_SLOPE: Final = 3
# … and laid out, see `plain`.
_A: Final = 0
_B: Final = 1
_C: Final = 2
_LIMIT: Final = 3
_SPARE: Final = 4
EACH: Final = 5

# … namely:
NEVER_NEAR: Final = 0.0
NEAR: Final = 1.0
UNSURE: Final = 2.0

_LARGE: Final = 1e100
_SMALL: Final = 1e-90
"""Larger numbers, or smaller ones that are not zero, are left to the polygon: within this range products are finite."""
_LATEST: Final = 2.0**40
"""After this, twelve days, the slight move of ends would be lost in rounding."""
_TRIFLE_US: Final = 4.0 * TOUCH_US
_EVER: Final = 1e300

FAST: Final[dict[str, Any]] = {**LOOP, "error_model": "numpy"}


def sheet_for(differences: int) -> Real:
    """Room for some pairs."""
    return np.empty((FIXED + EACH * differences) * SOME)


@loop(**FAST, forceinline=True)
def write_down(sheet: Real, place: int, lines: Lines, k: int, j: int, join: Join, promised: Whole) -> None:
    """Write a pair to a place of the sheet. `promised`: the ends of the lives if no line is cut."""
    at, zero = np.uint64(place), instant(Pair(lines, k, lines, j))
    early, late = zero - lines.t0[k], zero - lines.t0[j]
    x0, y0 = lines.start[k] - zero, lines.start[j] - zero
    sheet[_at(_X0) + at], sheet[_at(_X1) + at] = x0, lines.end[k] - zero
    sheet[_at(_Y0) + at], sheet[_at(_Y1) + at] = y0, lines.end[j] - zero
    sheet[_at(_FAR_X) + at] = max(abs(x0), abs(promised[k] - zero)) + early
    sheet[_at(_FAR_Y) + at] = max(abs(y0), abs(promised[j] - zero)) + late
    sheet[_at(_EARLY) + at], sheet[_at(_LATE) + at] = early, late
    sheet[_at(_BOTH) + at] = lines.tolerance[k] + lines.tolerance[j]
    for i in range(len(join.bound)):
        first, of_k, of_j = _at(FIXED + EACH * i) + at, join.left_dimension[i], join.right_dimension[i]
        sheet[first] = apart(lines.values[k, of_k], lines.values[j, of_j])
        sheet[first + _at(_SLOPE)] = lines.slopes[k, of_k]
        sheet[first + _at(_OTHER_SLOPE)] = lines.slopes[j, of_j]


@loop(**FAST)
def find_bounds(sheet: Real, join: Join, count: int) -> None:
    """Decide for the first pairs on the sheet whether they have an answer, from when until when; or that a pair is UNSURE."""
    within = float(join.within_us)
    _begin(sheet, count, within)
    for i in range(len(join.bound)):
        _copy(sheet, FIXED + EACH * i, _THIS)
        _lay_out(sheet, count, join.bound[i], join.certainty)
        _cut_by(sheet, count, within)
        for j in range(i):
            _copy(sheet, FIXED + EACH * j, _THAT)
            _cut_by_two(sheet, count)
        if i < len(join.bound) - 1:
            _copy(sheet, _THIS, FIXED + EACH * i)
    _agree(sheet, count)


@loop(**FAST)
def _copy(sheet: Real, column: int, to: int) -> None:
    """Copy a difference to another place."""
    start, first = _at(to), _at(column)
    for place in range(EACH * SOME):
        sheet[start + np.uint64(place)] = sheet[first + np.uint64(place)]


@loop(**FAST)
def _lay_out(sheet: Real, count: int, bound: float, certainty: int) -> None:
    """Lay out the difference under test; a pair with numbers out of range is UNSURE, one with a bound below zero NEVER_NEAR."""
    first, sign = _at(_THIS), 1.0 if certainty == MAY else -1.0 if certainty == MUST else 0.0
    for place in range(count):
        at = np.uint64(place)
        gap = sheet[first + at]
        a, b = sheet[first + _at(_SLOPE) + at], -sheet[first + _at(_OTHER_SLOPE) + at]
        both, far_x, far_y = sheet[_at(_BOTH) + at], sheet[_at(_FAR_X) + at], sheet[_at(_FAR_Y) + at]
        limit = bound + sign * both
        limit = 0.0 if (sign < 0.0) & (limit < 0.0) & (limit >= -NOISE * both) else limit
        size = MILLION * (abs(gap) + bound + both) + abs(a) * far_x + abs(b) * far_y
        spare = 2.0 * (TOUCH * size + TINY)
        # A strip that is this narrow is empty when its borders are moved in.
        is_plain = (size + abs(a) + abs(b) < _LARGE) & (far_x + far_y < _LATEST) & (MILLION * limit > spare)
        came = sheet[_at(CAME) + at] if is_plain else UNSURE
        sheet[_at(CAME) + at] = NEVER_NEAR if limit < 0.0 else came
        sheet[first + at], sheet[first + _at(_B) + at] = a, b
        sheet[first + _at(_C) + at] = MILLION * gap + a * sheet[_at(_EARLY) + at] + b * sheet[_at(_LATE) + at]
        sheet[first + _at(_LIMIT) + at] = MILLION * limit
        sheet[first + _at(_SPARE) + at] = spare


@loop(**FAST)
def _begin(sheet: Real, count: int, within: float) -> None:
    """The bounds from lives and w."""
    for place in range(count):
        at = np.uint64(place)
        x0, x1, y0, y1 = (
            sheet[_at(_X0) + at],
            sheet[_at(_X1) + at],
            sheet[_at(_Y0) + at],
            sheet[_at(_Y1) + at],
        )
        start, end, other_end = _more(x0, y0), _less(x1, y1 + within), _less(y1, x1 + within)
        for side in range(2):
            first = _at(_LEFT) + at if side == 0 else _at(_RIGHT) + at
            last = end if side == 0 else other_end
            sheet[first] = last - _TRIFLE_US
            sheet[first + _at(1)] = last
            sheet[first + _at(2)] = -start
            sheet[first + _at(3)] = -start
        # A life of no length is left to the polygon: elimination does not notice it.
        sheet[_at(CAME) + at] = NEAR if (x0 < x1) & (y0 < y1) else UNSURE


@loop(**FAST)
def _cut_by(sheet: Real, count: int, within: float) -> None:
    """The bounds from a difference while the other time is within w, and while it is in its life."""
    first = _at(_THIS)
    for place in range(count):
        at = np.uint64(place)
        x0, x1, y0, y1 = (
            sheet[_at(_X0) + at],
            sheet[_at(_X1) + at],
            sheet[_at(_Y0) + at],
            sheet[_at(_Y1) + at],
        )
        a, b, c = sheet[first + at], sheet[first + _at(_B) + at], sheet[first + _at(_C) + at]
        limit, spare = sheet[first + _at(_LIMIT) + at], sheet[first + _at(_SPARE) + at]
        wide = 0.5 * _less(within, _more(x1 - y0, y1 - x0))  # further apart they cannot be
        steep, other = abs(a), abs(b)
        _cut(sheet, _at(_LEFT) + at, a + b, c - wide * b, limit + wide * other, spare)
        _cut(sheet, _at(_RIGHT) + at, a + b, c - wide * a, limit + wide * steep, spare)
        half, half_y = 0.5 * (x1 - x0), 0.5 * (y1 - y0)
        more, more_y = spare + _TRIFLE_US * steep, spare + _TRIFLE_US * other
        _cut(sheet, _at(_LEFT) + at, a, c + b * (y0 + half_y), limit + other * half_y, more_y)
        _cut(sheet, _at(_RIGHT) + at, b, c + a * (x0 + half), limit + steep * half, more)


@loop(**FAST)
def _cut_by_two(sheet: Real, count: int) -> None:
    """The bounds from two differences together."""
    first, second = _at(_THIS), _at(_THAT)
    for place in range(count):
        at = np.uint64(place)
        a, b, c = sheet[first + at], sheet[first + _at(_B) + at], sheet[first + _at(_C) + at]
        limit, spare = sheet[first + _at(_LIMIT) + at], sheet[first + _at(_SPARE) + at]
        d, e, f = sheet[second + at], sheet[second + _at(_B) + at], sheet[second + _at(_C) + at]
        most, more = sheet[second + _at(_LIMIT) + at], sheet[second + _at(_SPARE) + at]
        across = a * e - d * b
        one, other = abs(e), abs(b)
        _cut(
            sheet,
            _at(_LEFT) + at,
            across,
            e * c - b * f,
            one * limit + other * most,
            one * spare + other * more,
        )
        one, other = abs(d), abs(a)
        _cut(
            sheet,
            _at(_RIGHT) + at,
            across,
            a * f - d * c,
            one * limit + other * most,
            one * spare + other * more,
        )


@loop(**FAST, forceinline=True)
def _cut(sheet: Real, first: Any, slope: float, at: float, limit: float, spare: float) -> None:
    """Keep the t for which |slope·t + at| is at most the limit: until when, moved in and out, and from when, moved in and out, as negative
    numbers."""
    is_flat = abs(slope) < _SMALL
    turn = 1.0 / (1.0 if is_flat else slope)
    middle, size = -at * turn, abs(turn)
    inner, outer = (limit - spare) * size, (limit + spare) * size
    # Without a slope it holds always or never.
    inner = (_EVER if (slope == 0.0) & (abs(at) <= inner) else -_EVER) if is_flat else inner
    outer = (-_EVER if (slope == 0.0) & (abs(at) > outer) else _EVER) if is_flat else outer
    sheet[first] = _less(sheet[first], middle + inner)
    sheet[first + _at(1)] = _less(sheet[first + _at(1)], middle + outer)
    sheet[first + _at(2)] = _less(sheet[first + _at(2)], inner - middle)
    sheet[first + _at(3)] = _less(sheet[first + _at(3)], outer - middle)


@loop(**FAST)
def _agree(sheet: Real, count: int) -> None:
    """The result of the bounds, moved in and moved out: from the first to the last moment of two intervals, each of which may be empty."""
    left, right = _at(_LEFT), _at(_RIGHT)
    for place in range(count):
        at = np.uint64(place)
        ends, begins = sheet[left + at], -sheet[left + _at(2) + at]
        ends_out, begins_out = sheet[left + _at(1) + at], -sheet[left + _at(3) + at]
        other_ends, other_begins = sheet[right + at], -sheet[right + _at(2) + at]
        other_out, other_begins_out = sheet[right + _at(1) + at], -sheet[right + _at(3) + at]
        begins, ends = (begins if begins <= ends else _EVER), (ends if begins <= ends else -_EVER)
        is_other = other_begins <= other_ends
        begins = _less(begins, other_begins) if is_other else begins
        ends = _more(ends, other_ends) if is_other else ends
        is_there = begins_out <= ends_out
        begins_out, ends_out = (begins_out if is_there else _EVER), (ends_out if is_there else -_EVER)
        is_other = other_begins_out <= other_out
        begins_out = _less(begins_out, other_begins_out) if is_other else begins_out
        ends_out = _more(ends_out, other_out) if is_other else ends_out
        first, last = np.floor(begins + 0.5), np.floor(ends + 0.5)
        is_same = (first == np.floor(begins_out + 0.5)) & (last == np.floor(ends_out + 0.5))
        came = NEAR if is_same & (begins <= ends) else UNSURE
        came = NEVER_NEAR if begins_out > ends_out else came
        sheet[_at(CAME) + at] = came if sheet[_at(CAME) + at] == NEAR else sheet[_at(CAME) + at]
        sheet[_at(BEGINS) + at] = first
        sheet[_at(ENDS) + at] = last


@loop(**FAST, forceinline=True)
def _at(column: int) -> Any:
    """Where a column begins; unsigned, so that indexing does not test for negative numbers."""
    return np.uint64(column * SOME)


@loop(**FAST, forceinline=True)
def _less(one: float, other: float) -> float:
    return other if other < one else one


@loop(**FAST, forceinline=True)
def _more(one: float, other: float) -> float:
    return other if other > one else one
