"""When does one line satisfy conditions on its values?

Rule 1  Each condition leaves an interval of the line's life, in closed form; `<>` has a piece above and one below.
Rule 2  Under PROBABILITY the product over the dimensions must reach p, taken as independent; the conditions on one dimension
        are one interval. Each factor is concave and piecewise linear, so the logarithm of the product is concave: Newton's
        steps from outside never go too far, and one that finds the product falling has proved that there is no answer. Ends are
        right to a thousandth of a microsecond.
Rule 3  Touching and strict borders are decided as in `polygons`, by the possible rounding error. A line without slope is compared
        exactly; only a bound that a probability makes has a slack.
Rule 4  A value is measured from its bound, so the result does not depend on their distance from zero; both are decimals (`decimals`).
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.chances import NEAR
from headwater.kernels.predict.geometry.decimals import apart
from headwater.kernels.predict.geometry.polygons import LAST_DIGITS, TINY, TOUCH, TOUCH_US
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


@loop(**LOOP)
def span(lines: Lines, k: int, single: Single, piece: int) -> tuple[bool, float, float]:
    """Whether line `k` answers with this piece, and between which microseconds after its update."""
    low, high = float(lines.start[k] - lines.t0[k]), float(lines.end[k] - lines.t0[k])
    end = high
    if low >= high:
        return False, 0.0, 0.0
    # The possible error of the two times after a cut.
    blur_low, blur_high = 0.0, 0.0
    rest = piece
    for i in range(len(single.bound)):
        pieces = value_pieces(single.comparator[i])
        there, slope, c, least, most, _, size = _limits(lines, k, single, i, rest % pieces)
        rest //= pieces
        if not there:
            return False, 0.0, 0.0
        first, last = slope * low + c, slope * high + c
        near, far = _slack(size, slope, low, blur_low), _slack(size, slope, high, blur_high)
        is_above, ends_above = first > most + near, last > most + far
        is_below, ends_below = first < least - near, last < least - far
        if (is_above and ends_above) or (is_below and ends_below):
            return False, 0.0, 0.0
        if is_above or ends_above:
            low, high = _cut(low, high, slope, c, most, ends_above)
        if is_below or ends_below:
            low, high = _cut(low, high, slope, c, least, ends_below)
        if is_above or is_below:
            blur_low = near / abs(slope)
        if ends_above or ends_below:
            blur_high = far / abs(slope)
    if low >= end - TOUCH_US:
        return False, 0.0, 0.0
    rest = piece
    for i in range(len(single.bound)):
        pieces = value_pieces(single.comparator[i])
        _, slope, c, least, most, strict, size = _limits(lines, k, single, i, rest % pieces)
        rest //= pieces
        first, last = slope * low + c, slope * high + c
        near, far = _slack(size, slope, low, blur_low), _slack(size, slope, high, blur_high)
        is_inside = first < most - near or last < most - far
        if strict and not (is_inside and (first > least + near or last > least + far)):
            return False, 0.0, 0.0
    if single.certainty == PROBABILITY and len(single.bound) > 1 and lines.tolerance[k] > 0.0:
        return _probable(lines, k, single, low, high, end)
    return True, low, high


@loop(**LOOP)
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


@loop(**LOOP)
def chance(lines: Lines, k: int, single: Single, time: float) -> tuple[float, float]:
    """The product of the dimensions' probabilities at a time, and the derivative of its logarithm; tolerance above 0.

    Where the product is 0, the derivative only tells to which side it grows.
    """
    tolerance = lines.tolerance[k]
    product, slope = 1.0, 0.0
    for i in range(len(single.bound)):
        there, low, high = _interval(single, i)
        if not there:
            return 0.0, 0.0
        steep, value = lines.slopes[k, single.dimension[i]] / MILLION, lines.values[k, single.dimension[i]]
        over, under = (value - low) + steep * time, (high - value) - steep * time
        share = min(over, tolerance) + min(under, tolerance)
        if share <= 0.0:
            return 0.0, steep if over < 0.0 else -steep
        factor = min(1.0, share / (2.0 * tolerance))
        product *= factor
        grows = 1.0 if under > tolerance else 0.0
        falls = 1.0 if over > tolerance else 0.0
        slope += steep * (grows - falls) / (2.0 * tolerance * factor)
    return product, slope


@loop(**LOOP)
def _interval(single: Single, i: int) -> tuple[bool, float, float]:
    """The range of values in which all conditions on the dimension of condition `i` hold, given for the first of them.

    No range if a condition requires a single value; for later conditions there is nothing left to test.
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


@loop(**LOOP, forceinline=True)
def _limits(
    lines: Lines, k: int, single: Single, i: int, piece: int
) -> tuple[bool, float, float, float, float, bool, float]:
    """Condition `i` as slope·x + c between two limits, in millionths; whether these are excluded; the sizes at x = 0."""
    value, slope = lines.values[k, single.dimension[i]], lines.slopes[k, single.dimension[i]]
    tolerance, bound, comparator = lines.tolerance[k], single.bound[i], single.comparator[i]
    if slope == 0.0:
        there = level_holds(value, comparator, bound, single.certainty, single.p, tolerance, piece)
        return there, 0.0, 0.0, -math.inf, math.inf, False, 0.0
    there, low, high, strict = value_range(comparator, 0.0, single.certainty, single.p, tolerance, piece)
    gap = apart(value, bound)
    size = MILLION * (abs(gap) + tolerance)
    return there, slope, MILLION * gap, MILLION * low, MILLION * high, strict, size


@loop(**LOOP)
def level_holds(
    value: float, comparator: int, bound: float, certainty: int, p: float, tolerance: float, piece: int
) -> bool:
    """Whether a line without slope satisfies a piece of a condition, all of its life."""
    if certainty == PROBABILITY and tolerance > 0.0:
        there, low, high, _ = value_range(comparator, 0.0, certainty, p, tolerance, piece)
        room = TOUCH * (abs(value - bound) + tolerance)
        return there and low - room <= value - bound <= high + room
    there, low, high, strict = value_range(comparator, bound, certainty, p, tolerance, piece)
    return there and (low < value < high if strict else low <= value <= high)


@loop(**LOOP, forceinline=True)
def _slack(size: float, slope: float, time: float, blur: float) -> float:
    """The slack at a time with an error of up to `blur`."""
    size += abs(slope * time)
    return min(LAST_DIGITS * size + abs(slope) * blur, TOUCH * size) + TINY


@loop(**LOOP, forceinline=True)
def _cut(low: float, high: float, slope: float, c: float, limit: float, at_end: bool) -> tuple[float, float]:
    time = min(high, max(low, (limit - c) / slope))
    return (low, time) if at_end else (time, high)


@loop(**LOOP)
def _probable(
    lines: Lines, k: int, single: Single, low: float, high: float, end: float
) -> tuple[bool, float, float]:
    level = math.log(single.p) - NEAR
    begins, there = _newton(lines, k, single, low, high, level)
    if not there or begins >= end - TOUCH_US:
        return False, 0.0, 0.0
    ends, there = _newton(lines, k, single, high, begins, level)
    return there, begins, max(begins, ends)


@loop(**LOOP)
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
