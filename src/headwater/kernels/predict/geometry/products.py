"""Where is the product of several dimensions' probabilities large enough, and where is it largest?

The density of a difference's error is log-concave, so P(|d + E| <= K) is log-concave in d, and so is the product of all dimensions as a
function of the two times. Its logarithm g is concave: where it reaches log p is a convex set, and every tangent of g is above g.

Rule 1  The largest value is found by cutting: at the centre of what is left of the polygon the tangent tells on which side nothing
        better can be; a cut removes a third or more. The tangents' greatest value on the polygon bounds what can still be found;
        the search ends when this is within `NEAR_BEST` of the best found, which is the precision of the emitted probability. If the
        question is only whether p is reached, it ends as soon as that is clear, or within `NEAR_LEVEL`.
Rule 2  Begin and end are found from outside. The polygon's extreme corner is moved toward a point inside the set (Newton's steps
        on a concave function stop short of the border, never beyond) and the tangent there cuts the corner off. Corner and border
        converge to the extreme; the search ends when they differ by less than `NEAR_US`.
Rule 3  P(|d + E| >= K) is log-concave on one side of zero only where Δ <= K, or beyond Δ − K: `peaks` handles products with such factors.

Memory  Works on the polygon in `work`, and destroys it.
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.borders import MILLION, difference, instant
from headwater.kernels.predict.geometry.chances import (
    NEAR,
    chance_beyond,
    chance_slope,
    chance_within,
    ordered,
)
from headwater.kernels.predict.geometry.polygons import clip
from headwater.kernels.predict.geometry.ranges import DIFFERENT, EQUAL, LESS
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Pair, Real

NEAR_BEST: Final = 1e-9
NEAR_LEVEL: Final = 1e-13
NEAR_US: Final = 0.05
CUTS: Final = 60
"""The most cuts of one search; each search adds at most so many corners."""
STEPS: Final = 40

Level = tuple[float, float, float]
"""The logarithm of the product, and its derivatives by the two times."""


@loop(**LOOP)
def level(pair: Pair, join: Join, x: float, y: float) -> Level:
    """The logarithm of the product at two times; where it is −∞, the derivatives say to which side a zero factor grows."""
    left, k, right, j = pair
    zero = instant(pair)
    wide, narrow = ordered(left.tolerance[k], right.tolerance[j])
    total, by_x, by_y = 0.0, 0.0, 0.0
    for i in range(len(join.bound)):
        comparator, bound = join.comparator[i], join.bound[i]
        if wide == 0.0 or comparator == DIFFERENT:
            continue
        if comparator == EQUAL:
            return -math.inf, 0.0, 0.0
        a, b, c = difference(pair, join.left_dimension[i], join.right_dimension[i], zero)
        d = (a * x + b * y + c) / MILLION
        steep = chance_slope(d, bound, wide, narrow)
        if comparator <= LESS:
            chance = chance_within(d, bound, wide, narrow)
            if chance <= 0.0:
                way = -1.0 if d > 0.0 else 1.0
                return -math.inf, way * a, way * b
        else:
            chance = chance_beyond(d, bound, wide, narrow)
            steep = -steep
            if chance <= 0.0:
                way = 1.0 if d > 0.0 else -1.0
                return -math.inf, way * a, way * b
        total += math.log(chance)
        by_x += steep / chance * a / MILLION
        by_y += steep / chance * b / MILLION
    return total, by_x, by_y


@loop(**LOOP)
def best(
    pair: Pair, join: Join, half: int, n: int, threshold: float, work: Real
) -> tuple[float, float, float]:
    """The largest logarithm within the polygon, and where.

    `threshold`: it is enough to be well above this, or surely below; NaN: the largest is needed.
    """
    greatest, at_x, at_y, bound = -math.inf, 0.0, 0.0, 0.0
    near = NEAR_BEST if math.isnan(threshold) else NEAR_LEVEL
    for _ in range(2 * CUTS):
        x, y = centre(work, half, n)
        g, by_x, by_y = level(pair, join, x, y)
        if g > greatest:
            greatest, at_x, at_y = g, x, y
        top, top_x, top_y = highest(work, half, n, by_x, by_y, x, y)
        if g > -math.inf:
            bound = min(bound, g + top)
        here = level(pair, join, top_x, top_y)[0]
        if here > greatest:
            greatest, at_x, at_y = here, top_x, top_y
        if bound <= greatest + near or bound < threshold or greatest >= 0.5 * (bound + threshold):
            break
        # Deeper than through the centre, if the tangent allows it.
        low = 0.0 if g == -math.inf else max(0.0, greatest - g)
        half, n = clip(work, half, n, by_x, by_y, -(by_x * x + by_y * y), low, math.inf, 0.0)
        if n == 0 or (by_x == 0.0 and by_y == 0.0):
            break
    return greatest, at_x, at_y


@loop(**LOOP)
def probable_extent(
    pair: Pair,
    join: Join,
    half: int,
    n: int,
    inside_x: float,
    inside_y: float,
    work: Real,
) -> tuple[float, float]:
    """The least and the greatest max(x, y) where the product reaches p within the polygon; a point inside is known."""
    threshold = math.log(join.p) - NEAR
    low = high = max(inside_x, inside_y)
    for _ in range(CUTS):
        x, y = _latest(work, half, n)
        if max(x, y) <= high + NEAR_US:
            break
        to_x, to_y, by_x, by_y = _border(pair, join, threshold, x, y, inside_x, inside_y)
        high = max(high, max(to_x, to_y))
        if max(x, y) <= high + NEAR_US:
            break
        half, n = _tangent(work, half, n, by_x, by_y, to_x, to_y)
        if n == 0:
            return low, high
    for _ in range(CUTS):
        x, y = _earliest(work, half, n)
        if max(x, y) >= low - NEAR_US:
            break
        to_x, to_y, by_x, by_y = _border(pair, join, threshold, x, y, inside_x, inside_y)
        low = min(low, max(to_x, to_y))
        if max(x, y) >= low - NEAR_US:
            break
        half, n = _tangent(work, half, n, by_x, by_y, to_x, to_y)
        if n == 0:
            return low, high
    return low, high


@loop(**LOOP)
def all_reach(pair: Pair, join: Join, half: int, n: int, work: Real) -> bool:
    """Whether the product reaches p at every corner, and so everywhere in the polygon."""
    threshold = math.log(join.p) - NEAR
    for i in range(n):  # noqa: SIM110 compiled loops have no generators
        if level(pair, join, work[half, i], work[half + 1, i])[0] < threshold:
            return False
    return True


@loop(**LOOP)
def _border(
    pair: Pair,
    join: Join,
    threshold: float,
    x: float,
    y: float,
    inside_x: float,
    inside_y: float,
) -> tuple[float, float, float, float]:
    """The first point from (x, y) toward the inside at which the level is reached, and the derivatives there."""
    way_x, way_y = inside_x - x, inside_y - y
    length = max(abs(way_x), abs(way_y))
    share = 0.0
    g, by_x, by_y = level(pair, join, x, y)
    for _ in range(STEPS):
        slope = by_x * way_x + by_y * way_y
        if g >= threshold or slope <= 0.0:
            break
        step = (threshold - g) / slope
        share = min(1.0, share + step)
        g, by_x, by_y = level(pair, join, x + share * way_x, y + share * way_y)
        if step * length < 0.01 * NEAR_US or share == 1.0:
            break
    return x + share * way_x, y + share * way_y, by_x, by_y


@loop(**LOOP)
def _tangent(work: Real, half: int, n: int, by_x: float, by_y: float, x: float, y: float) -> tuple[int, int]:
    return clip(work, half, n, by_x, by_y, -(by_x * x + by_y * y), 0.0, math.inf, 0.0)


@loop(**LOOP)
def centre(work: Real, half: int, n: int) -> tuple[float, float]:
    """The centre of gravity; of a polygon with hardly any area, the mean of its corners."""
    from_x, from_y = work[half, 0], work[half + 1, 0]
    area, x, y, mean_x, mean_y, size = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        mean_x += (work[half, i] - from_x) / n
        mean_y += (work[half + 1, i] - from_y) / n
        size = max(size, max(abs(work[half, i] - from_x), abs(work[half + 1, i] - from_y)))
    for i in range(1, n - 1):
        one_x, one_y = work[half, i] - from_x, work[half + 1, i] - from_y
        other_x, other_y = work[half, i + 1] - from_x, work[half + 1, i + 1] - from_y
        part = one_x * other_y - one_y * other_x
        area += part
        x += part * (one_x + other_x) / 3.0
        y += part * (one_y + other_y) / 3.0
    if area <= 1e-9 * size * size:
        return from_x + mean_x, from_y + mean_y
    return from_x + x / area, from_y + y / area


@loop(**LOOP)
def highest(
    work: Real, half: int, n: int, by_x: float, by_y: float, x: float, y: float
) -> tuple[float, float, float]:
    """The greatest increase of a tangent at (x, y) on the polygon, and its corner."""
    top, top_x, top_y = -math.inf, x, y
    for i in range(n):
        rise = by_x * (work[half, i] - x) + by_y * (work[half + 1, i] - y)
        if rise > top:
            top, top_x, top_y = rise, work[half, i], work[half + 1, i]
    return max(0.0, top), top_x, top_y


@loop(**LOOP)
def _latest(work: Real, half: int, n: int) -> tuple[float, float]:
    """A corner with the greatest max(x, y)."""
    most, at = -math.inf, 0
    for i in range(n):
        later = max(work[half, i], work[half + 1, i])
        if later > most:
            most, at = later, i
    return work[half, at], work[half + 1, at]


@loop(**LOOP)
def _earliest(work: Real, half: int, n: int) -> tuple[float, float]:
    """A point of the polygon's border with the least max(x, y)."""
    low, at_x, at_y = math.inf, 0.0, 0.0
    last_x, last_y = work[half, n - 1], work[half + 1, n - 1]
    for i in range(n):
        x, y = work[half, i], work[half + 1, i]
        if max(x, y) < low:
            low, at_x, at_y = max(x, y), x, y
        last, this = last_x - last_y, x - y
        if last * this < 0.0:
            crossing = last_x + last / (last - this) * (x - last_x)
            if crossing < low:
                low, at_x, at_y = crossing, crossing, crossing
        last_x, last_y = x, y
    return at_x, at_y
