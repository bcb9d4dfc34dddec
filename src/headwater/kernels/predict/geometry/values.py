"""When is one line where it is asked to be? Conditions on a value alone.

Rule 1  Each condition leaves an interval of the line's life, in closed form; `<>` has a piece above and one below.
Rule 2  Under PROBABILITY the product over the dimensions must reach p, taken as independent; the conditions on one dimension
        are one interval. Each factor is a concave line of straight parts, so the logarithm of the product is concave: Newton's
        steps from outside never go too far, and one that finds the product falling has proved that there is nothing. Ends are
        right to a thousandth of a microsecond.
Rule 3  What only touches, and what is strict, is decided as in `polygons`.
"""

from __future__ import annotations

import math
from typing import Final

from numba import njit

from headwater.kernels.predict.geometry.chances import NEAR
from headwater.kernels.predict.geometry.polygons import TOUCH, TOUCH_US
from headwater.kernels.predict.geometry.ranges import (
    DIFFERENT,
    EQUAL,
    GREATER_EQUAL,
    MUST,
    PROBABILITY,
    value_pieces,
    value_range,
)
from headwater.kernels.predict.geometry.shapes import LOOP, Lines, Single

MILLION: Final = 1e6
STEPS: Final = 100


@njit(**LOOP)
def span(lines: Lines, k: int, single: Single, piece: int) -> tuple[bool, float, float]:
    """Whether line `k` answers with this piece, and between which microseconds after its update."""
    low, high = float(lines.start[k] - lines.t0[k]), float(lines.end[k] - lines.t0[k])
    end = high
    if low >= high:
        return False, 0.0, 0.0
    rest = piece
    for i in range(len(single.bound)):
        pieces = value_pieces(single.comparator[i])
        there, slope, c, least, most, _, slack = _limits(lines, k, single, i, rest % pieces)
        rest //= pieces
        if not there:
            return False, 0.0, 0.0
        first, last = slope * low + c, slope * high + c
        near, far = slack + TOUCH * abs(slope * low), slack + TOUCH * abs(slope * high)
        is_above, ends_above = first > most + near, last > most + far
        is_below, ends_below = first < least - near, last < least - far
        if (is_above and ends_above) or (is_below and ends_below):
            return False, 0.0, 0.0
        if is_above or ends_above:
            low, high = _cut(low, high, slope, c, most, ends_above)
        if is_below or ends_below:
            low, high = _cut(low, high, slope, c, least, ends_below)
    if low >= end - TOUCH_US:
        return False, 0.0, 0.0
    rest = piece
    for i in range(len(single.bound)):
        pieces = value_pieces(single.comparator[i])
        _, slope, c, least, most, strict, slack = _limits(lines, k, single, i, rest % pieces)
        rest //= pieces
        first, last = slope * low + c, slope * high + c
        slack += TOUCH * abs(slope) * min(abs(low), abs(high))
        if strict and (min(first, last) >= most - slack or max(first, last) <= least + slack):
            return False, 0.0, 0.0
    if single.certainty == PROBABILITY and len(single.bound) > 1 and lines.tolerance[k] > 0.0:
        return _probable(lines, k, single, low, high, end)
    return True, low, high


@njit(**LOOP)
def best_chance(lines: Lines, k: int, single: Single, low: float, high: float) -> float:
    """The greatest probability between two times, right to a millionth of a millionth."""
    if single.certainty == MUST or lines.tolerance[k] == 0.0:
        return 1.0
    best = max(chance(lines, k, single, low)[0], chance(lines, k, single, high)[0])
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        value, slope = chance(lines, k, single, middle)
        best = max(best, value)
        if slope == 0.0 or middle <= low or middle >= high:
            break
        if slope > 0.0:
            low = middle
        else:
            high = middle
    return best


@njit(**LOOP)
def chance(lines: Lines, k: int, single: Single, time: float) -> tuple[float, float]:
    """The product of the dimensions' probabilities at a time, and the derivative of its logarithm; tolerance above 0.

    Where the product is 0, the derivative says only to which side it grows.
    """
    tolerance = lines.tolerance[k]
    product, slope = 1.0, 0.0
    for i in range(len(single.bound)):
        there, low, high = _interval(single, i)
        if not there:
            return 0.0, 0.0
        steep = lines.slopes[k, single.dimension[i]] / MILLION
        f = lines.values[k, single.dimension[i]] + steep * time
        bottom, top = max(low, f - tolerance), min(high, f + tolerance)
        if top <= bottom:
            return 0.0, steep if f < low else -steep
        factor = min(1.0, (top - bottom) / (2.0 * tolerance))
        product *= factor
        grows = 1.0 if f + tolerance < high else 0.0
        falls = 1.0 if f - tolerance > low else 0.0
        slope += steep * (grows - falls) / (2.0 * tolerance * factor)
    return product, slope


@njit(**LOOP)
def _interval(single: Single, i: int) -> tuple[bool, float, float]:
    """Between which values all conditions on the dimension of condition `i` hold, told with the first of them.

    Not at all where one asks for a single value; with the others there is nothing more to ask.
    """
    low, high = -math.inf, math.inf
    for other in range(len(single.bound)):
        if single.dimension[other] != single.dimension[i]:
            continue
        if other < i:
            return True, -math.inf, math.inf
        comparator = single.comparator[other]
        if comparator == EQUAL:
            return False, 0.0, 0.0
        if comparator != DIFFERENT and comparator >= GREATER_EQUAL:
            low = max(low, single.bound[other])
        elif comparator != DIFFERENT:
            high = min(high, single.bound[other])
    return low <= high, low, high


@njit(**LOOP, forceinline=True)
def _limits(
    lines: Lines, k: int, single: Single, i: int, piece: int
) -> tuple[bool, float, float, float, float, bool, float]:
    """Condition `i` as slope·x + c between two limits, in millionths; whether these are left out; the slack at x = 0."""
    value, slope = lines.values[k, single.dimension[i]], lines.slopes[k, single.dimension[i]]
    tolerance = lines.tolerance[k]
    there, low, high, strict = value_range(
        single.comparator[i], single.bound[i], single.certainty, single.p, tolerance, piece
    )
    slack = TOUCH * MILLION * (abs(value) + abs(single.bound[i]) + tolerance)
    return there, slope, MILLION * value, MILLION * low, MILLION * high, strict, slack


@njit(**LOOP, forceinline=True)
def _cut(low: float, high: float, slope: float, c: float, limit: float, at_end: bool) -> tuple[float, float]:
    time = min(high, max(low, (limit - c) / slope))
    return (low, time) if at_end else (time, high)


@njit(**LOOP)
def _probable(
    lines: Lines, k: int, single: Single, low: float, high: float, end: float
) -> tuple[bool, float, float]:
    level = math.log(single.p) - NEAR
    begins, there = _newton(lines, k, single, low, high, level)
    if not there or begins >= end - TOUCH_US:
        return False, 0.0, 0.0
    ends, there = _newton(lines, k, single, high, begins, level)
    return there, begins, max(begins, ends)


@njit(**LOOP)
def _newton(
    lines: Lines, k: int, single: Single, start: float, stop: float, level: float
) -> tuple[float, bool]:
    """The first time from `start` toward `stop` at which the product's logarithm reaches the level, if it does."""
    way = 1.0 if stop >= start else -1.0
    time = start
    for _ in range(STEPS):
        product, slope = chance(lines, k, single, time)
        short = level - math.log(product) if product > 0.0 else math.inf
        if short <= 0.0:
            return time, True
        if product == 0.0 or way * slope <= 0.0:
            return time, False
        step = short / abs(slope)
        time += way * step
        if way * (time - stop) > TOUCH_US:
            return time, False
        if step < 0.1 * TOUCH_US:
            break
    return time, True
