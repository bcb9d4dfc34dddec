"""Where are the borders of a pair's polygon? From lines and conditions to half-planes, and the polygon that they leave.

Times are whole microseconds after the pair's own instant, the later of the two update times, so they are exact as floating point
numbers and near zero. A border is measured in millionths of a unit of the value: then 1e6·value + slope·microseconds needs no
division, and whole values, whole slopes and whole microseconds give exact measures. Values are subtracted from one another, or from their bound, before anything else is done:
the result does not depend on their distance from zero. Sums and differences are those of decimals (`decimals`).

Rule 1  Conditions are numbered: values of the left line, values of the right line, differences. A piece is a number with one
        digit for each condition, the first the lowest.
Rule 2  A border with all slopes zero is not a border: a value, or a difference, is compared with its bound exactly, without a
        slack, and the polygon is whole or empty. Only a bound that a probability makes is itself rounded, and has a slack.
Rule 3  `tight` moves strict borders and the ends of lives inward, by more than any slack: what is left then satisfies all of
        them strictly (for curved sets; for straight borders, corners are tested).
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.decimals import apart
from headwater.kernels.predict.geometry.polygons import (
    TOUCH,
    TOUCH_US,
    band,
    clip,
    farthest,
    measure,
    slack_of,
)
from headwater.kernels.predict.geometry.ranges import (
    PROBABILITY,
    difference_pieces,
    difference_range,
    is_strict,
    value_pieces,
    value_range,
)
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Pair, Real
from headwater.kernels.predict.geometry.values import level_holds

MILLION: Final = 1e6

Border = tuple[bool, float, float, float, float, float, bool, float]
"""Whether there is such a piece; a, b, c; the two limits; whether they are excluded; the sizes of the terms."""


@loop(**LOOP, forceinline=True)
def conditions_of(join: Join) -> int:
    """How many conditions with straight borders there are."""
    return len(join.left_value_bound) + len(join.right_value_bound) + len(join.bound)


@loop(**LOOP, forceinline=True)
def radix(join: Join, i: int) -> int:
    """How many pieces condition `i` has."""
    lefts, rights = len(join.left_value_bound), len(join.right_value_bound)
    if i < lefts:
        return value_pieces(join.left_value_comparator[i])
    if i < lefts + rights:
        return value_pieces(join.right_value_comparator[i - lefts])
    i -= lefts + rights
    return difference_pieces(join.comparator[i], join.bound[i])


@loop(**LOOP, forceinline=True)
def instant(pair: Pair) -> int:
    """The instant from which the times of a pair are counted."""
    left, k, right, j = pair
    return max(left.t0[k], right.t0[j])


@loop(**LOOP, forceinline=True)
def difference(pair: Pair, of_k: int, of_j: int, zero: int) -> tuple[float, float, float]:
    """The difference of two dimensions as a·x + b·y + c, in millionths."""
    left, k, right, j = pair
    a = left.slopes[k, of_k]
    b = -right.slopes[j, of_j]
    early, late = zero - left.t0[k], zero - right.t0[j]
    c = MILLION * apart(left.values[k, of_k], right.values[j, of_j]) + a * early + b * late
    return a, b, c


@loop(**LOOP, forceinline=True)
def difference_size(pair: Pair, of_k: int, of_j: int, zero: int, x: float, y: float) -> float:
    """How large the terms of a difference are, for times of at most x and y."""
    left, k, right, j = pair
    return (
        MILLION * abs(left.values[k, of_k] - right.values[j, of_j])
        + abs(left.slopes[k, of_k]) * (x + (zero - left.t0[k]))
        + abs(right.slopes[j, of_j]) * (y + (zero - right.t0[j]))
    )


@loop(**LOOP, forceinline=True)
def border(pair: Pair, join: Join, i: int, piece: int, zero: int, x: float, y: float) -> Border:
    """Condition `i` of a pair as a border, for times of at most x and y."""
    left, k, right, j = pair
    lefts, rights = len(join.left_value_bound), len(join.right_value_bound)
    if i >= lefts + rights:
        i -= lefts + rights
        of_k, of_j, bound = join.left_dimension[i], join.right_dimension[i], join.bound[i]
        one, other = left.tolerance[k], right.tolerance[j]
        there, low, high, strict = difference_range(
            join.comparator[i], bound, join.certainty, join.p, one, other, piece
        )
        a, b, c = difference(pair, of_k, of_j, zero)
        size = difference_size(pair, of_k, of_j, zero, x, y) + MILLION * (bound + one + other)
        if a == 0.0 and b == 0.0:
            gap = apart(left.values[k, of_k], right.values[j, of_j])
            room = TOUCH * size / MILLION if join.certainty == PROBABILITY and one + other > 0.0 else 0.0
            holds = low < gap < high if strict else low - room <= gap <= high + room
            return there and holds, 0.0, 0.0, 0.0, -math.inf, math.inf, False, 0.0
        return there, a, b, c, MILLION * low, MILLION * high, strict, size
    if i < lefts:
        return _value_border(
            left,
            k,
            (join.left_value_dimension[i], join.left_value_comparator[i], join.left_value_bound[i]),
            join,
            piece,
            zero,
            x,
            True,
        )
    i -= lefts
    return _value_border(
        right,
        j,
        (join.right_value_dimension[i], join.right_value_comparator[i], join.right_value_bound[i]),
        join,
        piece,
        zero,
        y,
        False,
    )


@loop(**LOOP)
def _value_border(
    lines: Lines,
    k: int,
    condition: tuple[int, int, float],
    join: Join,
    piece: int,
    zero: int,
    time: float,
    is_left: bool,
) -> Border:
    dimension, comparator, bound = condition
    tolerance = lines.tolerance[k]
    slope, value = lines.slopes[k, dimension], lines.values[k, dimension]
    there, low, high, strict = value_range(comparator, 0.0, join.certainty, join.p, tolerance, piece)
    if slope == 0.0:
        there = level_holds(value, comparator, bound, join.certainty, join.p, tolerance, piece)
        return there, 0.0, 0.0, 0.0, -math.inf, math.inf, False, 0.0
    past, gap = zero - lines.t0[k], apart(value, bound)
    c = MILLION * gap + slope * past
    size = MILLION * (abs(gap) + tolerance) + abs(slope) * (time + past)
    a, b = (slope, 0.0) if is_left else (0.0, slope)
    return there, a, b, c, MILLION * low, MILLION * high, strict, size


def _straight(pair: Pair, join: Join, piece: int, tight: bool, work: Real) -> tuple[int, int]:
    """Put the polygon of the straight borders into `work`; returns its half of the array, and its number of corners."""
    left, k, right, j = pair
    zero = instant(pair)
    w = join.within_us
    x0, x1 = left.start[k] - zero, left.end[k] - zero
    y0, y1 = right.start[j] - zero, right.end[j] - zero
    if x0 >= x1 or y0 >= y1:
        return 0, 0
    x0, x1, y0, y1 = max(x0, y0 - w), min(x1, y1 + w), max(y0, x0 - w), min(y1, x1 + w)
    if x0 > x1 or y0 > y1:
        return 0, 0
    n = band(work, x0, x1, y0, y1, w)
    half = 0
    x, y = float(max(abs(x0), abs(x1))), float(max(abs(y0), abs(y1)))
    if tight:
        half, n = _before_the_ends(left.end[k] - zero, right.end[j] - zero, half, n, work)
    for i in range(conditions_of(join)):
        if n == 0:
            break
        this = 0
        pieces = radix(join, i)
        if pieces > 1:
            this = piece % pieces
            piece //= pieces
        there, a, b, c, low, high, strict, size = border(pair, join, i, this, zero, x, y)
        if not there:
            return half, 0
        slack = slack_of(size, abs(a) + abs(b), work)
        if tight and strict:
            inward = 2.0 * slack + 4.0 * TOUCH_US * (abs(a) + abs(b))
            low += inward
            high -= inward
        half, n = clip(work, half, n, a, b, c, low, high, slack)
    return half, n


straight = loop(**LOOP)(_straight)
straight_here = loop(**LOOP, forceinline=True)(_straight)
"""The same for the hottest place: passing lines and conditions to a function takes as long as a cut."""


@loop(**LOOP)
def _before_the_ends(end_x: int, end_y: int, half: int, n: int, work: Real) -> tuple[int, int]:
    half, n = clip(work, half, n, 1.0, 0.0, 0.0, -1e300, end_x - 4.0 * TOUCH_US, 0.5 * TOUCH_US)
    if n > 0:
        half, n = clip(work, half, n, 0.0, 1.0, 0.0, -1e300, end_y - 4.0 * TOUCH_US, 0.5 * TOUCH_US)
    return half, n


@loop(**LOOP, forceinline=True)
def has_strict(join: Join) -> bool:
    """Whether any condition excludes an end of its range."""
    found = False
    for i in range(len(join.bound)):
        found |= is_strict(join.comparator[i])
    for i in range(len(join.left_value_bound)):
        found |= is_strict(join.left_value_comparator[i])
    for i in range(len(join.right_value_bound)):
        found |= is_strict(join.right_value_comparator[i])
    return found


@loop(**LOOP)
def strictly(pair: Pair, join: Join, piece: int, half: int, n: int, work: Real) -> bool:
    """Whether each strict condition is satisfied strictly by some corner of the polygon."""
    zero = instant(pair)
    x, y = farthest(work, half, n)
    for i in range(conditions_of(join)):
        this = 0
        pieces = radix(join, i)
        if pieces > 1:
            this = piece % pieces
            piece //= pieces
        _, a, b, c, low, high, strict, size = border(pair, join, i, this, zero, x, y)
        if strict:
            slack = slack_of(size, abs(a) + abs(b), work)
            least, most = measure(work, half, n, a, b, c)
            if least >= high - slack or most <= low + slack:
                return False
    return True
