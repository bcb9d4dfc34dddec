"""What do curved borders leave of a pair's polygon, and how probable is the best of it?

Rule 1  A border is curved where a DISTANCE is asked (`ellipses`), and where PROBABILITY p < 1 is asked of several differences at once
        and there is a tolerance (`products`). The straight borders of the latter ask p of each difference alone: a filter. Where
        every corner satisfies it, the polygon has no curved border after all.
Rule 2  Whether strict borders are satisfied is asked of the polygon moved inward from them (`borders`, tight); a distance that is
        smaller than asked somewhere leaves room, so that corners are enough, as for straight borders.
Rule 3  An answer is sure where every difference is within, or beyond, its bound by all of the tolerances.
"""

from __future__ import annotations

import math

from numba import njit

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
from headwater.kernels.predict.geometry.polygons import TOUCH, TOUCH_US, clip, extent, measure
from headwater.kernels.predict.geometry.products import all_reach, best, probable_extent
from headwater.kernels.predict.geometry.ranges import (
    DIFFERENT,
    EQUAL,
    LESS,
    MAY,
    MUST,
    PROBABILITY,
)
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real


@njit(**LOOP, forceinline=True)
def is_curved(left: Lines, k: int, right: Lines, j: int, join: Join, half: int, n: int, work: Real) -> bool:
    """Whether the answer is less than its polygon."""
    if not math.isnan(join.distance):
        return True
    if join.certainty != PROBABILITY or len(join.bound) < 2 or join.p >= 1.0:
        return False
    if left.tolerance[k] + right.tolerance[j] == 0.0:
        return False
    return not all_reach(left, k, right, j, join, half, n, work)


@njit(**LOOP)
def curved_extent(
    left: Lines, k: int, right: Lines, j: int, join: Join, piece: int, half: int, n: int, work: Real
) -> tuple[bool, float, float]:
    """Whether the curved border leaves an answer of the polygon; the least and the greatest max(x, y) of it."""
    if not math.isnan(join.distance):
        bound = _distance_bound(left, k, right, j, join)
        if bound < 0.0:
            return False, 0.0, 0.0
        there, begins, ends = near_extent(left, k, right, j, bound, half, n, work)
        if not there or not _near_strictly(left, k, right, j, join, piece, bound, half, n, work):
            return False, 0.0, 0.0
        return True, begins, ends
    half, n = straight(left, k, right, j, join, piece, True, work)
    if n == 0:
        return False, 0.0, 0.0
    wanted = math.log(join.p) - NEAR
    greatest, x, y = best(left, k, right, j, join, half, n, wanted, work)
    if greatest < wanted:
        return False, 0.0, 0.0
    half, n = straight(left, k, right, j, join, piece, False, work)
    begins, ends = probable_extent(left, k, right, j, join, half, n, x, y, work)
    return True, begins, ends


@njit(**LOOP)
def _near_strictly(
    left: Lines,
    k: int,
    right: Lines,
    j: int,
    join: Join,
    piece: int,
    bound: float,
    half: int,
    n: int,
    work: Real,
) -> bool:
    """Whether what is near enough within the polygon satisfies all that is strict."""
    least, slack = least_distance(left, k, right, j, bound, half, n, work)
    if least < bound - slack:
        # From the nearest point there is room toward any corner: it is enough that corners satisfy it.
        _, _, least_x, least_y = extent(work, half, n)
        zero = instant(left, k, right, j)
        before = least_x < left.end[k] - zero - TOUCH_US and least_y < right.end[j] - zero - TOUCH_US
        return before and strictly(left, k, right, j, join, piece, half, n, work)
    if join.distance_strict:
        return False
    half, n = straight(left, k, right, j, join, piece, True, work)
    if n == 0:
        return False
    inner, slack = least_distance(left, k, right, j, bound, half, n, work)
    if inner > max(bound, least) + slack * ROUNDING / TOUCH:
        return False
    # Near where it touches, a distance hardly grows: it must not touch only where a life is over.
    half, n = straight(left, k, right, j, join, piece, False, work)
    return touches_before(left, k, right, j, bound, half, n, work)


@njit(**LOOP)
def surely(left: Lines, k: int, right: Lines, j: int, join: Join, piece: int, work: Real) -> bool:
    """Whether there is an instant of the answer at which it is sure."""
    both = left.tolerance[k] + right.tolerance[j]
    for sides in range(1 << _two_sided(join)):
        half, n = straight(left, k, right, j, join, piece, False, work)
        half, n = _beyond(left, k, right, j, join, both, sides, half, n, work)
        if n > 0 and math.isnan(join.distance):
            return True
        if n > 0 and join.distance >= both:
            least, slack = least_distance(left, k, right, j, join.distance - both, half, n, work)
            if least <= join.distance - both + slack:
                return True
    return False


@njit(**LOOP)
def best_chance(left: Lines, k: int, right: Lines, j: int, join: Join, piece: int, work: Real) -> float:
    """The greatest product of the differences' probabilities on the polygon; there is a tolerance."""
    if len(join.bound) == 1:
        half, n = straight(left, k, right, j, join, piece, False, work)
        return _only_chance(left, k, right, j, join, half, n, work) if n > 0 else 0.0
    if _two_sided(join) > 0:
        return greatest_chance(left, k, right, j, join, piece, work)
    half, n = straight(left, k, right, j, join, piece, False, work)
    return math.exp(best(left, k, right, j, join, half, n, math.nan, work)[0]) if n > 0 else 0.0


@njit(**LOOP)
def _only_chance(
    left: Lines, k: int, right: Lines, j: int, join: Join, half: int, n: int, work: Real
) -> float:
    """The greatest probability of the only difference: where it is least, or greatest, on the polygon."""
    comparator, bound = join.comparator[0], join.bound[0]
    if comparator >= EQUAL:
        return 1.0 if comparator == DIFFERENT else 0.0
    zero = instant(left, k, right, j)
    a, b, c = difference(left, k, right, j, join.left_dimension[0], join.right_dimension[0], zero)
    low, high = measure(work, half, n, a, b, c)
    wide, narrow = ordered(left.tolerance[k], right.tolerance[j])
    if comparator <= LESS:
        return chance_within(max(0.0, max(low, -high)) / MILLION, bound, wide, narrow)
    return chance_beyond(max(high, -low) / MILLION, bound, wide, narrow)


@njit(**LOOP)
def _two_sided(join: Join) -> int:
    """How many conditions ask for a large difference: it may be so on either side of zero, and each is looked at."""
    many = 0
    for i in range(len(join.bound)):
        many += is_rising(join.comparator[i])
    return many


@njit(**LOOP)
def _beyond(
    left: Lines,
    k: int,
    right: Lines,
    j: int,
    join: Join,
    room: float,
    sides: int,
    half: int,
    n: int,
    work: Real,
) -> tuple[int, int]:
    """Cut the polygon to where all conditions hold with `room` to spare, on one side of zero for each that is two-sided."""
    zero = instant(left, k, right, j)
    x, y = 0.0, 0.0
    for i in range(n):
        x = max(x, abs(work[half, i]))
        y = max(y, abs(work[half + 1, i]))
    for i in range(len(join.bound)):
        comparator, bound = join.comparator[i], join.bound[i]
        if n == 0 or comparator == EQUAL:
            return half, 0
        if comparator > EQUAL:
            continue
        of_k, of_j = join.left_dimension[i], join.right_dimension[i]
        a, b, c = difference(left, k, right, j, of_k, of_j, zero)
        slack = TOUCH * (
            difference_size(left, k, right, j, of_k, of_j, zero, x, y) + MILLION * (bound + room)
        )
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


@njit(**LOOP)
def _distance_bound(left: Lines, k: int, right: Lines, j: int, join: Join) -> float:
    """The distance that is asked, with the tolerances as the certainty has it; below zero: nothing is near enough."""
    both = left.tolerance[k] + right.tolerance[j]
    if join.certainty == MAY:
        return together(join.distance, both)
    if join.certainty == MUST:
        rest = together(join.distance, -both)
        return 0.0 if -TOUCH * both <= rest < 0.0 else rest
    return join.distance
