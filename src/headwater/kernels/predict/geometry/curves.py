"""What do curved borders leave of a pair's polygon, and how probable is its best point?

Rule 1  A border is curved for a DISTANCE (`ellipses`), and for PROBABILITY p < 1 of several differences at once
        with a tolerance (`products`). The straight borders of the latter require p of each difference alone: a filter. If
        every corner satisfies the product, the polygon has no curved border after all.
Rule 2  Whether strict borders are satisfied is tested on the polygon moved inward from them (`borders`, tight); a distance that is
        smaller than required somewhere leaves room, so that corners are enough, as for straight borders.
Rule 3  An answer is sure where every difference is within, or beyond, its bound by all of the tolerances.
"""

from __future__ import annotations

import math

from headwater.compiled import loop
from headwater.kernels.predict.geometry.borders import (
    MILLION,
    difference,
    difference_size,
    instant,
    straight,
    strictly,
)
from headwater.kernels.predict.geometry.chances import NEAR, chance_beyond, chance_within, ordered
from headwater.kernels.predict.geometry.decimals import together
from headwater.kernels.predict.geometry.ellipses import ROUNDING, least_distance, near_extent, touches_before
from headwater.kernels.predict.geometry.peaks import greatest_chance, is_rising
from headwater.kernels.predict.geometry.polygons import TOUCH, TOUCH_US, clip, extent, farthest, measure
from headwater.kernels.predict.geometry.products import all_reach, best, probable_extent
from headwater.kernels.predict.geometry.ranges import (
    DIFFERENT,
    EQUAL,
    LESS,
    MAY,
    MUST,
    PROBABILITY,
)
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Pair, Real


@loop(**LOOP, forceinline=True)
def is_curved(pair: Pair, join: Join, half: int, n: int, work: Real) -> bool:
    """Whether the answer is smaller than its polygon."""
    left, k, right, j = pair
    if not math.isnan(join.distance):
        return True
    if join.certainty != PROBABILITY or len(join.bound) < 2 or join.p >= 1.0:
        return False
    if left.tolerance[k] + right.tolerance[j] == 0.0:
        return False
    return not all_reach(pair, join, half, n, work)


@loop(**LOOP)
def curved_extent(
    pair: Pair, join: Join, piece: int, half: int, n: int, work: Real
) -> tuple[bool, float, float]:
    """Whether the curved border leaves an answer of the polygon; its least and greatest max(x, y)."""
    if not math.isnan(join.distance):
        bound = _distance_bound(pair, join)
        if bound < 0.0:
            return False, 0.0, 0.0
        there, begins, ends = near_extent(pair, bound, half, n, work)
        if not there or not _near_strictly(pair, join, piece, bound, half, n, work):
            return False, 0.0, 0.0
        return True, begins, ends
    half, n = straight(pair, join, piece, True, work)
    if n == 0:
        return False, 0.0, 0.0
    threshold = math.log(join.p) - NEAR
    greatest, x, y = best(pair, join, half, n, threshold, work)
    if greatest < threshold:
        return False, 0.0, 0.0
    half, n = straight(pair, join, piece, False, work)
    begins, ends = probable_extent(pair, join, half, n, x, y, work)
    return True, begins, ends


@loop(**LOOP)
def _near_strictly(
    pair: Pair,
    join: Join,
    piece: int,
    bound: float,
    half: int,
    n: int,
    work: Real,
) -> bool:
    """Whether some point near enough within the polygon satisfies all strict conditions."""
    left, k, right, j = pair
    least, slack = least_distance(pair, bound, half, n, work)
    if least < bound - slack:
        # From the nearest point there is room toward any corner: it is enough that corners satisfy it.
        _, _, least_x, least_y = extent(work, half, n)
        zero = instant(pair)
        before = least_x < left.end[k] - zero - TOUCH_US and least_y < right.end[j] - zero - TOUCH_US
        return before and strictly(pair, join, piece, half, n, work)
    if join.distance_strict:
        return False
    half, n = straight(pair, join, piece, True, work)
    if n == 0:
        return False
    inner, slack = least_distance(pair, bound, half, n, work)
    if inner > max(bound, least) + slack * ROUNDING / TOUCH:
        return False
    # Near a contact point a distance hardly grows: the contact must not be only at the end of a life.
    half, n = straight(pair, join, piece, False, work)
    return touches_before(pair, bound, half, n, work)


@loop(**LOOP)
def surely(pair: Pair, join: Join, piece: int, work: Real) -> bool:
    """Whether there is an instant of the answer at which it is sure."""
    left, k, right, j = pair
    both = left.tolerance[k] + right.tolerance[j]
    for sides in range(1 << _two_sided(join)):
        half, n = straight(pair, join, piece, False, work)
        half, n = _beyond(pair, join, both, sides, half, n, work)
        if n > 0 and math.isnan(join.distance):
            return True
        if n > 0 and join.distance >= both:
            least, slack = least_distance(pair, join.distance - both, half, n, work)
            if least <= join.distance - both + slack:
                return True
    return False


@loop(**LOOP)
def best_chance(pair: Pair, join: Join, piece: int, work: Real) -> float:
    """The greatest product of the differences' probabilities on the polygon; there is a tolerance."""
    if len(join.bound) == 1:
        half, n = straight(pair, join, piece, False, work)
        return _only_chance(pair, join, half, n, work) if n > 0 else 0.0
    if _two_sided(join) > 0:
        return greatest_chance(pair, join, piece, work)
    half, n = straight(pair, join, piece, False, work)
    return math.exp(best(pair, join, half, n, math.nan, work)[0]) if n > 0 else 0.0


@loop(**LOOP)
def _only_chance(pair: Pair, join: Join, half: int, n: int, work: Real) -> float:
    """The greatest probability of the only difference: at its least, or greatest, size on the polygon."""
    left, k, right, j = pair
    comparator, bound = join.comparator[0], join.bound[0]
    if comparator >= EQUAL:
        return 1.0 if comparator == DIFFERENT else 0.0
    zero = instant(pair)
    a, b, c = difference(pair, join.left_dimension[0], join.right_dimension[0], zero)
    low, high = measure(work, half, n, a, b, c)
    wide, narrow = ordered(left.tolerance[k], right.tolerance[j])
    if comparator <= LESS:
        return chance_within(max(0.0, max(low, -high)) / MILLION, bound, wide, narrow)
    return chance_beyond(max(high, -low) / MILLION, bound, wide, narrow)


@loop(**LOOP)
def _two_sided(join: Join) -> int:
    """How many conditions require a large difference: it may be on either side of zero, and each side is tested."""
    many = 0
    for i in range(len(join.bound)):
        many += is_rising(join.comparator[i])
    return many


@loop(**LOOP)
def _beyond(
    pair: Pair,
    join: Join,
    room: float,
    sides: int,
    half: int,
    n: int,
    work: Real,
) -> tuple[int, int]:
    """Cut the polygon to where all conditions hold with `room` to spare, on one side of zero for each that is two-sided."""
    zero = instant(pair)
    x, y = farthest(work, half, n)
    for i in range(len(join.bound)):
        comparator, bound = join.comparator[i], join.bound[i]
        if n == 0 or comparator == EQUAL:
            return half, 0
        if comparator > EQUAL:
            continue
        of_k, of_j = join.left_dimension[i], join.right_dimension[i]
        a, b, c = difference(pair, of_k, of_j, zero)
        slack = TOUCH * (difference_size(pair, of_k, of_j, zero, x, y) + MILLION * (bound + room))
        low, high = -MILLION * (bound - room), MILLION * (bound - room)
        if comparator > LESS:
            low, high = MILLION * (bound + room), math.inf
            if sides & 1:
                low, high = -high, -low
            sides >>= 1
        if low > high:
            return half, 0
        half, n = clip(work, half, n, a, b, c, low, high, slack)
    return half, n


@loop(**LOOP)
def _distance_bound(pair: Pair, join: Join) -> float:
    """The distance to compare, with the tolerances as the certainty requires; below zero: nothing is near enough."""
    left, k, right, j = pair
    both = left.tolerance[k] + right.tolerance[j]
    if join.certainty == MAY:
        return together(join.distance, both)
    if join.certainty == MUST:
        rest = together(join.distance, -both)
        return 0.0 if -TOUCH * both <= rest < 0.0 else rest
    return join.distance
