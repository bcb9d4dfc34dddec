"""When do two lines with only upper bounds meet, and how likely? The polygon of `borders`, laid out once for a pair.

A join is *plain* if it only requires that differences are at most, or below, their bounds: no DISTANCE, no value conditions, no
PROBABILITY. Then a pair has one piece, and each difference is one border. Passing lines and conditions to a function takes as
long as cutting a polygon, so they are read in one place (`lay_out`), and everything else uses the numbers laid out.

Rule 1  All numbers are those of `borders`, to the last bit: both give the same result.
Rule 2  A product of probabilities is at most its least factor: at a point where one difference is as small as possible and the other is sure,
        its probability is the best one. Its logarithm is concave and falls from the best instant to all sides, which is a corner
        or on an edge nearly always. Only pairs for which neither is so need a search of the whole polygon (`products`).
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.borders import MILLION, difference, instant
from headwater.kernels.predict.geometry.chances import chance_slope, chance_within
from headwater.kernels.predict.geometry.decimals import apart, together
from headwater.kernels.predict.geometry.polygons import (
    TINY,
    TOUCH,
    TOUCH_US,
    band,
    clip,
    extent,
    farthest,
    measure,
    slack_of,
)
from headwater.kernels.predict.geometry.products import NEAR_BEST
from headwater.kernels.predict.geometry.ranges import LESS, MAY, MUST, less
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Pair, Real

# Columns of what is laid out, float64[differences, …].
A: Final = 0
B: Final = 1
C: Final = 2
LIMIT: Final = (
    3  # the difference is between −LIMIT and LIMIT, in millionths; ∞: it is constant, and always holds
)
VALUES: Final = 4  # the size of the difference of the two values
ROOM: Final = 5  # the sizes of the bound and the tolerances
BOUND: Final = 6  # as in the query
STRICT: Final = 7  # 1: LIMIT itself is excluded
LAID: Final = 8

UNSETTLED: Final = -1.0
"""The result of `plain_chance` if a search for the best instant is necessary."""

STEPS: Final = 24
"""The most steps of a search along an edge."""

Times = tuple[int, int, int, int]
"""The life of the left line and that of the right one, after the pair's instant."""


@loop(**LOOP, forceinline=True)
def lay_out(lines: Lines, k: int, j: int, join: Join, laid: Real) -> bool:
    """Write the borders of a pair; returns whether it can have an answer at all."""
    zero = instant(Pair(lines, k, lines, j))
    one, other = lines.tolerance[k], lines.tolerance[j]
    there = True
    for i in range(len(join.bound)):
        of_k, of_j, bound = join.left_dimension[i], join.right_dimension[i], join.bound[i]
        limit = bound
        if join.certainty == MAY:
            limit = together(bound, one + other)
        elif join.certainty == MUST:
            limit = less(bound, one + other)
        there = there and limit >= 0.0
        laid[i, A], laid[i, B], laid[i, C] = difference(Pair(lines, k, lines, j), of_k, of_j, zero)
        laid[i, LIMIT] = MILLION * limit
        gap = abs(apart(lines.values[k, of_k], lines.values[j, of_j]))
        laid[i, VALUES] = MILLION * gap
        laid[i, ROOM] = MILLION * (bound + one + other)
        laid[i, BOUND] = bound
        strict = join.comparator[i] == LESS
        if laid[i, A] == 0.0 and laid[i, B] == 0.0:
            there = there and (gap < limit if strict else gap <= limit)
            laid[i, LIMIT], strict = math.inf, False
        laid[i, STRICT] = 1.0 if strict else 0.0
    return there


@loop(**LOOP)
def plain_interval(
    laid: Real, differences: int, early: int, late: int, times: Times, w: int, work: Real
) -> tuple[bool, int, int]:
    """Whether a pair has an answer with these lives, and from when until when, after its instant.

    `early` and `late`: how long before the instant the left and the right line were sent.
    """
    half, n = _polygon(laid, differences, early, late, times, w, work)
    if n == 0:
        return False, 0, 0
    begins, ends, least_x, least_y = extent(work, half, n)
    if least_x >= times[1] - TOUCH_US or least_y >= times[3] - TOUCH_US:
        return False, 0, 0
    for i in range(differences):
        if laid[i, STRICT] == 1.0 and not _strictly(laid, i, early, late, half, n, work):
            return False, 0, 0
    return True, math.floor(begins + 0.5), math.floor(ends + 0.5)


@loop(**LOOP)
def plain_chance(  # noqa: PLR0913 runs for every pair with a probability
    laid: Real,
    differences: int,
    early: int,
    late: int,
    times: Times,
    w: int,
    wide: float,
    narrow: float,
    both: float,
    work: Real,
) -> float:
    """The probability of a pair at its best instant; UNSETTLED: needs a search. `both`: the two tolerances, above 0."""
    if differences > 2:
        return UNSETTLED
    half, n = _polygon(laid, differences, early, late, times, w, work)
    if n == 0:
        return 0.0
    x, y = farthest(work, half, n)
    if differences == 1:
        near = _nearest(laid, 0, half, n, work)
        if near <= _sure(laid, 0, both, early, late, x, y):
            return 1.0
        return chance_within(near / MILLION, laid[0, BOUND], wide, narrow)
    nearest = (_nearest(laid, 0, half, n, work), _nearest(laid, 1, half, n, work))
    for this in range(2):
        other = 1 - this
        limit = MILLION * (laid[other, BOUND] - both)
        slack = TOUCH * (_size(laid, other, early, late, x, y) + MILLION * (laid[other, BOUND] + both))
        if limit < 0.0 or nearest[other] > limit + slack:
            continue
        if this == 1:  # earlier cuts are overwritten
            half, n = _polygon(laid, differences, early, late, times, w, work)
        half, n = clip(work, half, n, laid[other, A], laid[other, B], laid[other, C], -limit, limit, slack)
        if n == 0:
            continue
        near = _nearest(laid, this, half, n, work)
        if near <= _sure(laid, this, both, early, late, x, y):
            return 1.0
        most = chance_within(nearest[this] / MILLION, laid[this, BOUND], wide, narrow)
        chance = chance_within(near / MILLION, laid[this, BOUND], wide, narrow)
        if most - chance <= NEAR_BEST * chance:
            return chance
    return _on_border(laid, early, late, times, w, wide, narrow, work)


@loop(**LOOP)
def _on_border(
    laid: Real, early: int, late: int, times: Times, w: int, wide: float, narrow: float, work: Real
) -> float:
    """The probability of two differences if their best instant is at the best corner, or on an edge of it; else UNSETTLED."""
    half, n = _polygon(laid, 2, early, late, times, w, work)
    at, greatest = 0, 0.0
    for i in range(n):
        chance = _level(laid, work[half, i], work[half + 1, i], wide, narrow)[0]
        if chance > greatest:
            at, greatest = i, chance
    x, y = work[half, at], work[half + 1, at]
    chance, by_x, by_y = _level(laid, x, y, wide, narrow)
    if chance <= 0.0 or _rise(work, half, n, x, y, by_x, by_y) <= NEAR_BEST:
        return chance if chance > 0.0 else UNSETTLED
    beside = at - 1 if at > 0 else n - 1
    after = at + 1 if at < n - 1 else 0
    way_x, way_y = work[half, beside] - x, work[half + 1, beside] - y
    if by_x * (work[half, after] - x) + by_y * (work[half + 1, after] - y) > by_x * way_x + by_y * way_y:
        way_x, way_y = work[half, after] - x, work[half + 1, after] - y
    # Along the edge the slope falls from positive to negative: it is zero at the best instant.
    low, high, slope_low = 0.0, 1.0, by_x * way_x + by_y * way_y
    chance, by_x, by_y = _level(laid, x + way_x, y + way_y, wide, narrow)
    slope_high = min(by_x * way_x + by_y * way_y, -TINY) if chance > 0.0 else -slope_low
    side = 0
    for _ in range(STEPS):
        if slope_low == slope_high:
            return UNSETTLED  # neither of them rises or falls
        share = low + (high - low) * slope_low / (slope_low - slope_high)
        to_x, to_y = x + share * way_x, y + share * way_y
        chance, by_x, by_y = _level(laid, to_x, to_y, wide, narrow)
        if chance > 0.0 and _rise(work, half, n, to_x, to_y, by_x, by_y) <= NEAR_BEST:
            return chance
        # Where the probability is zero there is no slope: such a point is beyond the best instant.
        slope = by_x * way_x + by_y * way_y if chance > 0.0 else -slope_low
        # An end that does not move counts half the next time (the method of Illinois), else it would never move.
        if slope > 0.0:
            low, slope_low = share, slope
            slope_high = 0.5 * slope_high if side == 1 else slope_high
            side = 1
        else:
            high, slope_high = share, min(slope, -TINY)
            slope_low = 0.5 * slope_low if side == -1 else slope_low
            side = -1
    return UNSETTLED


@loop(**LOOP)
def _level(laid: Real, x: float, y: float, wide: float, narrow: float) -> tuple[float, float, float]:
    """The product of two differences' probabilities at two times, and the derivatives of its logarithm."""
    product, by_x, by_y = 1.0, 0.0, 0.0
    for i in range(2):
        d = (laid[i, A] * x + laid[i, B] * y + laid[i, C]) / MILLION
        chance = chance_within(d, laid[i, BOUND], wide, narrow)
        if chance <= 0.0:
            return 0.0, 0.0, 0.0
        steep = chance_slope(d, laid[i, BOUND], wide, narrow) / (MILLION * chance)
        product *= chance
        by_x += steep * laid[i, A]
        by_y += steep * laid[i, B]
    return product, by_x, by_y


@loop(**LOOP, forceinline=True)
def _rise(work: Real, half: int, n: int, x: float, y: float, by_x: float, by_y: float) -> float:
    """The greatest increase of a tangent at (x, y) on the polygon: no logarithm exceeds it."""
    rise = 0.0
    for i in range(n):
        rise = max(rise, by_x * (work[half, i] - x) + by_y * (work[half + 1, i] - y))
    return rise


@loop(**LOOP)
def _polygon(
    laid: Real, differences: int, early: int, late: int, times: Times, w: int, work: Real
) -> tuple[int, int]:
    """Put the polygon of a pair into `work`; returns its half of the array, and its number of corners."""
    x0, x1, y0, y1 = times
    if x0 >= x1 or y0 >= y1:
        return 0, 0
    x0, x1, y0, y1 = max(x0, y0 - w), min(x1, y1 + w), max(y0, x0 - w), min(y1, x1 + w)
    if x0 > x1 or y0 > y1:
        return 0, 0
    half, n = 0, band(work, x0, x1, y0, y1, w)
    x, y = float(max(abs(x0), abs(x1))), float(max(abs(y0), abs(y1)))
    for i in range(differences):
        if n == 0:
            break
        limit = laid[i, LIMIT]
        if limit == math.inf:
            continue
        slack = _slack(laid, i, early, late, x, y, work)
        half, n = clip(work, half, n, laid[i, A], laid[i, B], laid[i, C], -limit, limit, slack)
    return half, n


@loop(**LOOP, forceinline=True)
def _size(laid: Real, i: int, early: int, late: int, x: float, y: float) -> float:
    """How large the terms of a difference are, for times of at most x and y."""
    return laid[i, VALUES] + abs(laid[i, A]) * (x + early) + abs(laid[i, B]) * (y + late)


@loop(**LOOP, forceinline=True)
def _slack(laid: Real, i: int, early: int, late: int, x: float, y: float, work: Real) -> float:
    """The slack at the border of a difference, as in `borders`."""
    size = _size(laid, i, early, late, x, y) + laid[i, ROOM]
    return slack_of(size, abs(laid[i, A]) + abs(laid[i, B]), work)


@loop(**LOOP)
def _strictly(laid: Real, i: int, early: int, late: int, half: int, n: int, work: Real) -> bool:
    """Whether some corner satisfies a strict border strictly."""
    x, y = farthest(work, half, n)
    slack = _slack(laid, i, early, late, x, y, work)
    least, most = measure(work, half, n, laid[i, A], laid[i, B], laid[i, C])
    return least < laid[i, LIMIT] - slack and most > slack - laid[i, LIMIT]


@loop(**LOOP, forceinline=True)
def _nearest(laid: Real, i: int, half: int, n: int, work: Real) -> float:
    """The least size of a difference on the polygon, in millionths."""
    low, high = measure(work, half, n, laid[i, A], laid[i, B], laid[i, C])
    return max(0.0, max(low, -high))


@loop(**LOOP, forceinline=True)
def _sure(laid: Real, i: int, both: float, early: int, late: int, x: float, y: float) -> float:
    """How large a difference may be, in millionths, to be within its bound whatever the tolerances; below 0: never."""
    if laid[i, BOUND] < both:
        return -1.0
    slack = TOUCH * (_size(laid, i, early, late, x, y) + MILLION * (laid[i, BOUND] + both))
    return MILLION * (laid[i, BOUND] - both) + slack
