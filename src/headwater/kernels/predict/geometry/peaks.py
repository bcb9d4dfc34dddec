"""How probable is the best instant of a product with several peaks? This occurs for differences that must be large.

P(|d + E| >= K) grows with |d|, but its logarithm is not concave everywhere: where tolerances are larger than the bound it is flat near zero,
convex and then concave. So a product of such factors may have several local maxima, and a local search may end at the wrong one.

Rule 1  Each two-sided difference is considered on either side of zero, and there within an interval from its least to its greatest size on the
        polygon. Between the corners of the density a factor is a quadratic, of which one point separates the part with a convex
        logarithm from the rest.
Rule 2  On an interval a factor has a concave upper bound: itself, where its logarithm is concave; a chord, where it is convex; its
        greatest value, where neither is so. The product of these is log-concave, so its greatest value is found by cutting, as in
        `products`, and no instant is more probable than that. The product itself at that point is a lower bound.
Rule 3  If the two differ by more than `NEAR_BEST`, the interval with the largest gap is split: at a corner of the density, where the curvature
        changes, or in the middle. Each half reduces the gap of a chord to a quarter, so few intervals are ever split.
Rule 4  The emitted value is the greatest, right to `NEAR_BEST`; if that is not certain after `NODES` intervals, NaN.

Memory  A stack of intervals in the work array, two rows a difference after those of `polygons`; column 0 has the present upper bounds.
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.borders import (
    MILLION,
    difference,
    difference_size,
    instant,
    straight,
)
from headwater.kernels.predict.geometry.chances import chance_beyond, chance_slope, chance_within, ordered
from headwater.kernels.predict.geometry.polygons import ROWS, TOUCH, clip, farthest, measure
from headwater.kernels.predict.geometry.products import CUTS, NEAR_BEST, centre, highest, level
from headwater.kernels.predict.geometry.ranges import EQUAL, GREATER_EQUAL, LESS
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Pair, Real

NODES: Final = 1_000
NEAR_ENOUGH: Final = 1e-7
"""What thin polygons may leave open of a search that has nothing more to split."""
FINE: Final = 1e-12

Cover = tuple[float, float, float, float]
"""An upper bound of the logarithm of a factor: its value at zero and its slope by the size of the difference, or NaN for the factor itself; its
greatest gap, and where to split it."""


@loop(**LOOP, forceinline=True)
def is_rising(comparator: int) -> bool:
    """Whether a condition needs a large difference."""
    return GREATER_EQUAL <= comparator < EQUAL


@loop(**LOOP)
def greatest_chance(pair: Pair, join: Join, piece: int, work: Real) -> float:
    """The greatest product of the differences' probabilities on the polygon, some of which must be large; NaN: not certain."""
    rising = 0
    for i in range(len(join.bound)):
        rising += is_rising(join.comparator[i])
    found, nodes = -math.inf, 0
    for sides in range(1 << rising):
        for i in range(len(join.bound)):
            work[ROWS + 2 * i, 1], work[ROWS + 2 * i + 1, 1] = 0.0, math.inf
        last = 1
        while last > 0:
            nodes += 1
            if nodes > NODES or last + 1 >= work.shape[1]:
                return math.nan
            half, n = _cut_out(pair, join, piece, sides, last, work)
            if n == 0:
                last -= 1
                continue
            split, where, most = _cover(pair, join, sides, last, half, n, work)
            most, x, y = _most(pair, join, sides, most, found, half, n, work)
            found = max(found, level(pair, join, x, y)[0])
            if most <= found + NEAR_BEST:
                last -= 1
            elif split < 0:
                if most > found + NEAR_ENOUGH:
                    return math.nan
                last -= 1
            else:
                for row in range(ROWS, ROWS + 2 * len(join.bound)):
                    work[row, last + 1] = work[row, last]
                work[ROWS + 2 * split + 1, last] = where
                work[ROWS + 2 * split, last + 1] = where
                last += 1
    return math.exp(found)


@loop(**LOOP)
def _cut_out(pair: Pair, join: Join, piece: int, sides: int, last: int, work: Real) -> tuple[int, int]:
    """Put what the last intervals leave of the polygon into `work`."""
    half, n = straight(pair, join, piece, False, work)
    zero = instant(pair)
    x, y = farthest(work, half, n)
    for i in range(len(join.bound)):
        if n == 0 or not is_rising(join.comparator[i]):
            continue
        of_k, of_j = join.left_dimension[i], join.right_dimension[i]
        a, b, c = difference(pair, of_k, of_j, zero)
        size = difference_size(pair, of_k, of_j, zero, x, y) + MILLION * join.bound[i]
        low, high = MILLION * work[ROWS + 2 * i, last], MILLION * work[ROWS + 2 * i + 1, last]
        if sides & 1:
            low, high = -high, -low
        sides >>= 1
        half, n = clip(work, half, n, a, b, c, low, high, TOUCH * size)
    return half, n


@loop(**LOOP)
def _cover(
    pair: Pair,
    join: Join,
    sides: int,
    last: int,
    half: int,
    n: int,
    work: Real,
) -> tuple[int, float, float]:
    """Write the upper bound of each factor, and its interval on the polygon; returns which of them to split (−1: none), and where; and
    an upper bound of all of them together, each at its own best."""
    left, k, right, j = pair
    zero = instant(pair)
    wide, narrow = ordered(left.tolerance[k], right.tolerance[j])
    split, where, widest, most = -1, 0.0, 0.0, 0.0
    for i in range(len(join.bound)):
        if not is_rising(join.comparator[i]):
            continue
        of_k, of_j = join.left_dimension[i], join.right_dimension[i]
        a, b, c = difference(pair, of_k, of_j, zero)
        low, high = measure(work, half, n, a, b, c)
        if sides & 1:
            low, high = -high, -low
        sides >>= 1
        low, high = max(0.0, low / MILLION), max(0.0, high / MILLION)
        work[ROWS + 2 * i, last], work[ROWS + 2 * i + 1, last] = low, high
        chance = chance_beyond(high, join.bound[i], wide, narrow)
        most += math.log(chance) if chance > 0.0 else -math.inf
        at_zero, slope, gap, at = _above(low, high, join.bound[i], wide, narrow)
        work[ROWS + 2 * i, 0], work[ROWS + 2 * i + 1, 0] = at_zero, slope
        if gap > widest:
            split, where, widest = i, at, gap
    return split, where, most


@loop(**LOOP)
def _above(low: float, high: float, bound: float, wide: float, narrow: float) -> Cover:
    """The upper bound of the logarithm of P(|d + E| >= bound) between two sizes of d."""
    outer, inner = wide + narrow, wide - narrow
    fine = FINE * (bound + outer + high)
    if bound + low >= outer - fine:
        return 0.0, math.nan, 0.0, 0.0  # one tail of the density alone, which is log-concave
    first, last = chance_beyond(low, bound, wide, narrow), chance_beyond(high, bound, wide, narrow)
    if high - low <= fine:
        return math.log(last), 0.0, 0.0, 0.0
    gap = math.log(last) - math.log(first)
    for corner in (abs(bound - outer), abs(bound - inner), bound + inner, bound + outer):
        if low + fine < corner < high - fine:
            return math.log(last), 0.0, gap, corner
    # A quadratic. The density may jump at its ends; a quarter from them it does not.
    length = high - low
    early = -chance_slope(low + 0.25 * length, bound, wide, narrow)
    late = -chance_slope(low + 0.75 * length, bound, wide, narrow)
    bend = 2.0 * (late - early) / length
    steep, steeper = early - 0.5 * (late - early), late + 0.5 * (late - early)
    if bend * length <= FINE * (abs(early) + abs(late)) or steep * steep >= first * bend * (1.0 - FINE):
        return 0.0, math.nan, 0.0, 0.0
    rest = max(0.0, first - steep * steep / (2.0 * bend))
    turns = (
        low - steep / bend + math.sqrt(2.0 * rest / bend)
    )  # the logarithm is convex before, and concave after
    if turns <= low + fine:
        return 0.0, math.nan, 0.0, 0.0
    if turns >= high - fine or steeper * steeper <= last * bend:
        slope = gap / length
        return math.log(first) - slope * low, slope, bend / first * length * length, 0.5 * (low + high)
    return math.log(last), 0.0, gap, turns


@loop(**LOOP)
def _most(
    pair: Pair,
    join: Join,
    sides: int,
    bound: float,
    found: float,
    half: int,
    n: int,
    work: Real,
) -> tuple[float, float, float]:
    """An upper bound of all logarithms on the polygon, and where the bound is greatest; exact only if it may be above what was found.
    `bound`: a known upper bound."""
    greatest, at_x, at_y = -math.inf, work[half, 0], work[half + 1, 0]
    if bound <= found + NEAR_BEST:
        return bound, at_x, at_y
    for _ in range(2 * CUTS):
        x, y = centre(work, half, n)
        g, by_x, by_y = _level_above(pair, join, sides, x, y, work)
        if g > greatest:
            greatest, at_x, at_y = g, x, y
        rise, top_x, top_y = highest(work, half, n, by_x, by_y, x, y)
        if g > -math.inf:
            bound = min(bound, g + rise)
        here = _level_above(pair, join, sides, top_x, top_y, work)[0]
        if here > greatest:
            greatest, at_x, at_y = here, top_x, top_y
        if bound <= max(greatest + 0.1 * NEAR_BEST, found + NEAR_BEST) or (by_x == 0.0 and by_y == 0.0):
            break
        low = 0.0 if g == -math.inf else max(0.0, greatest - g)
        half, n = clip(work, half, n, by_x, by_y, -(by_x * x + by_y * y), low, math.inf, 0.0)
        if n == 0:
            return greatest, at_x, at_y
    if greatest == -math.inf:
        # Every cut removed only impossible points, and nothing is left: two lines that narrowly miss their conditions.
        return greatest, at_x, at_y
    return max(bound, greatest), at_x, at_y


@loop(**LOOP)
def _level_above(
    pair: Pair, join: Join, sides: int, x: float, y: float, work: Real
) -> tuple[float, float, float]:
    """The upper bound of the product's logarithm at two times, and its derivatives; where it is −∞, to which side a zero factor grows."""
    left, k, right, j = pair
    zero = instant(pair)
    wide, narrow = ordered(left.tolerance[k], right.tolerance[j])
    total, by_x, by_y = 0.0, 0.0, 0.0
    for i in range(len(join.bound)):
        comparator, bound = join.comparator[i], join.bound[i]
        if comparator == EQUAL:
            return -math.inf, 0.0, 0.0
        if comparator > EQUAL:
            continue
        a, b, c = difference(pair, join.left_dimension[i], join.right_dimension[i], zero)
        d = (a * x + b * y + c) / MILLION
        way = 0.0
        if comparator > LESS:
            way = -1.0 if sides & 1 else 1.0
            sides >>= 1
            slope = work[ROWS + 2 * i + 1, 0]
            if not math.isnan(slope):
                total += work[ROWS + 2 * i, 0] + slope * way * d
                by_x += slope * way * a / MILLION
                by_y += slope * way * b / MILLION
                continue
            chance, steep = (
                chance_beyond(d, bound, wide, narrow),
                -chance_slope(d, bound, wide, narrow),
            )
        else:
            chance, steep = chance_within(d, bound, wide, narrow), chance_slope(d, bound, wide, narrow)
            way = -1.0 if d > 0.0 else 1.0
        if chance <= 0.0:
            return -math.inf, way * a, way * b
        total += math.log(chance)
        by_x += steep / chance * a / MILLION
        by_y += steep / chance * b / MILLION
    return total, by_x, by_y
