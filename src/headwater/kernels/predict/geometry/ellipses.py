"""Which times of a pair bring two moving points near enough? DISTANCE: the polygon without the outside of an ellipse.

The vector between two evenly moving points is linear in both times, so its length is at most K inside an ellipse (a strip, if
the velocities are parallel). On the ellipse and the polygon together, the least and the greatest x or y or max(x, y) are found at
a few points, each in closed form: where the ellipse cuts an edge or the diagonal x = y, or ends of these within it; and where the
ellipse itself has its least and greatest x and y, if the polygon contains that point.

Rule 1  On a segment the vector is followed from one end to the other, and its nearest point computed from there: no squares of
        large numbers are subtracted.
Rule 2  A distance above K by no more than the slack touches: TOUCH of the sizes of its terms (see `polygons`), as a distance without zeros
        is found by roots; if both points stand still it is one root, and the slack is its rounding error. A chord so short that
        it may be a rounding error is a point.
Rule 3  Velocities that are parallel to a millionth of a thousandth make a strip: its ends are outside every life.
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.borders import MILLION, difference, difference_size, instant
from headwater.kernels.predict.geometry.polygons import TOUCH, TOUCH_US, farthest
from headwater.kernels.predict.geometry.shapes import LOOP, Pair, Real

PARALLEL: Final = 1e-18
STILL: Final = 1e-250
"""Squares of slopes below this belong to lines that do not move: their products would underflow."""
ROUNDING: Final = 1e-15

Segment = tuple[float, float, float, float]
Chord = tuple[bool, float, float, float]
"""Whether a segment is near enough anywhere; the two fractions of its length between which it is; its least distance."""


@loop(**LOOP)
def distance_limits(pair: Pair, bound: float, half: int, n: int, work: Real) -> tuple[float, float, float]:
    """The bound in millionths, its slack, and the rounding error of a distance, for times within the polygon."""
    left, k, right, j = pair
    zero = instant(pair)
    x, y = farthest(work, half, n)
    size, moves = MILLION * bound, False
    for of in range(left.values.shape[1]):
        size += difference_size(pair, of, of, zero, x, y)
        moves = moves or left.slopes[k, of] != 0.0 or right.slopes[j, of] != 0.0
    return MILLION * bound, (TOUCH if moves else ROUNDING) * size, ROUNDING * size


@loop(**LOOP)
def least_distance(pair: Pair, bound: float, half: int, n: int, work: Real) -> tuple[float, float]:
    """The least distance within the polygon, and the slack of a comparison with the bound, both in units of the value."""
    limit, slack, rounding = distance_limits(pair, bound, half, n, work)
    least = math.inf
    for i in range(n):
        last = i - 1 if i > 0 else n - 1
        ends = work[half, last], work[half + 1, last], work[half, i], work[half + 1, i]
        least = min(least, _chord(pair, ends, limit, slack, rounding)[3])
    there, x, y, nearest, _, _, _, _ = _middle(pair)
    if there and _contains(work, half, n, x, y):
        least = min(least, nearest)
    return least / MILLION, slack / MILLION


@loop(**LOOP)
def touches_before(pair: Pair, bound: float, half: int, n: int, work: Real) -> bool:
    """Whether some point of the polygon with the least distance lies before the end of both lives."""
    left, k, right, j = pair
    limit, slack, rounding = distance_limits(pair, bound, half, n, work)
    zero = instant(pair)
    end_x, end_y = left.end[k] - zero - TOUCH_US, right.end[j] - zero - TOUCH_US
    there, x, y, nearest, _, _, _, _ = _middle(pair)
    if there and nearest <= limit + slack and x < end_x and y < end_y and _contains(work, half, n, x, y):
        return True
    for i in range(n):
        last = i - 1 if i > 0 else n - 1
        ends = work[half, last], work[half + 1, last], work[half, i], work[half + 1, i]
        near, first, latest, _ = _chord(pair, ends, limit, slack, rounding)
        x, y, to_x, to_y = ends
        for share in (first, latest):
            if near and x + share * (to_x - x) < end_x and y + share * (to_y - y) < end_y:
                return True
    return False


@loop(**LOOP)
def near_extent(pair: Pair, bound: float, half: int, n: int, work: Real) -> tuple[bool, float, float]:
    """Whether the distance is at most the bound anywhere within the polygon; the least and the greatest max(x, y) there."""
    limit, slack, rounding = distance_limits(pair, bound, half, n, work)
    low, high = math.inf, -math.inf
    first, last_crossing = math.inf, -math.inf
    for i in range(n):
        last = i - 1 if i > 0 else n - 1
        ends = work[half, last], work[half + 1, last], work[half, i], work[half + 1, i]
        low, high = _stretch(pair, ends, limit, slack, rounding, low, high)
        before, after = ends[0] - ends[1], ends[2] - ends[3]
        if (before <= 0.0) != (after <= 0.0):
            crossing = ends[0] + before / (before - after) * (ends[2] - ends[0])
            first, last_crossing = min(first, crossing), max(last_crossing, crossing)
    if first <= last_crossing:
        ends = first, first, last_crossing, last_crossing
        low, high = _stretch(pair, ends, limit, slack, rounding, low, high)
    there, x, y, nearest, aa, ab, bb, det = _middle(pair)
    if there and nearest <= limit + slack:
        radius = math.sqrt((limit - nearest) * (limit + nearest)) if limit - nearest > rounding else 0.0
        for way in range(4):
            # The points with the least and greatest x, then y: along the columns of the inverse of the ellipse's matrix.
            # Roots separately: slopes may be so small that the product underflows.
            step = radius / (math.sqrt(bb if way < 2 else aa) * math.sqrt(det))
            step = -step if way % 2 == 0 else step
            px = x + step * (bb if way < 2 else ab)
            py = y + step * (ab if way < 2 else aa)
            if _contains(work, half, n, px, py):
                low, high = min(low, max(px, py)), max(high, max(px, py))
    return low <= high, low, high


@loop(**LOOP)
def _stretch(
    pair: Pair,
    ends: Segment,
    limit: float,
    slack: float,
    rounding: float,
    low: float,
    high: float,
) -> tuple[float, float]:
    """The least and the greatest max(x, y), including what is near enough on a segment that does not cross x = y inside."""
    there, first, last, _ = _chord(pair, ends, limit, slack, rounding)
    if there:
        x, y, to_x, to_y = ends
        one = max(x + first * (to_x - x), y + first * (to_y - y))
        other = max(x + last * (to_x - x), y + last * (to_y - y))
        low, high = min(low, min(one, other)), max(high, max(one, other))
    return low, high


@loop(**LOOP)
def _chord(pair: Pair, ends: Segment, limit: float, slack: float, rounding: float) -> Chord:
    """What the ellipse leaves of a segment."""
    left, _, _, _ = pair
    x, y, to_x, to_y = ends
    along, square, start, end = 0.0, 0.0, 0.0, 0.0
    zero = instant(pair)
    for of in range(left.values.shape[1]):
        a, b, c = difference(pair, of, of, zero)
        here, there = a * x + b * y + c, a * to_x + b * to_y + c
        step = a * (to_x - x) + b * (to_y - y)
        along -= here * step
        square += step * step
        start += here * here
        end += there * there
    start, end = math.sqrt(start), math.sqrt(end)
    nearest = min(start, end)
    if math.sqrt(square) <= rounding:
        return nearest <= limit + slack, 0.0, 1.0, nearest
    middle = along / square
    least = 0.0
    for of in range(left.values.shape[1]):
        a, b, c = difference(pair, of, of, zero)
        at = a * x + b * y + c + middle * (a * (to_x - x) + b * (to_y - y))
        least += at * at
    least = math.sqrt(least)
    if 0.0 < middle < 1.0:
        nearest = min(nearest, least)
    half = 0.0
    if limit - least > rounding:
        half = math.sqrt((limit - least) * (limit + least) / square)
    first, last = max(0.0, middle - half), min(1.0, middle + half)
    if least <= limit + slack and first <= last:
        return True, first, last, nearest
    if start <= limit + slack:
        return True, 0.0, 0.0, nearest
    if end <= limit + slack:
        return True, 1.0, 1.0, nearest
    return False, 0.0, 0.0, nearest


@loop(**LOOP)
def _middle(pair: Pair) -> tuple[bool, float, float, float, float, float, float, float]:
    """The middle of the ellipse: whether there is one, its times, its distance, and the matrix: aa, ab, bb, determinant.

    The vector is M·(x, y) + c with columns a and −b; MᵀM is (aa, −ab; −ab, bb).
    """
    left, _, _, _ = pair
    zero = instant(pair)
    aa, ab, bb, ac, bc, det = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    dimensions = left.values.shape[1]
    for of in range(dimensions):
        a, b, c = difference(pair, of, of, zero)
        aa += a * a
        ab -= a * b
        bb += b * b
        ac -= a * c
        bc -= b * c
        for before in range(of):
            other_a, other_b, _ = difference(pair, before, before, zero)
            area = a * other_b - b * other_a
            det += area * area
    if det <= PARALLEL * aa * bb or aa < STILL or bb < STILL:
        return False, 0.0, 0.0, 0.0, aa, ab, bb, det
    x = (bb * ac + ab * bc) / det
    y = (ab * ac + aa * bc) / det
    nearest = 0.0
    for of in range(dimensions):
        a, b, c = difference(pair, of, of, zero)
        at = a * x + b * y + c
        nearest += at * at
    return True, x, y, math.sqrt(nearest), aa, ab, bb, det


@loop(**LOOP)
def _contains(work: Real, half: int, n: int, x: float, y: float) -> bool:
    """Whether the polygon contains a point, or nearly so."""
    low_x, high_x, low_y, high_y = math.inf, -math.inf, math.inf, -math.inf
    for i in range(n):
        last = i - 1 if i > 0 else n - 1
        from_x, from_y, to_x, to_y = work[half, last], work[half + 1, last], work[half, i], work[half + 1, i]
        across = (to_x - from_x) * (y - from_y) - (to_y - from_y) * (x - from_x)
        if across < -TOUCH_US * (abs(to_x - from_x) + abs(to_y - from_y)):
            return False
        low_x, high_x = min(low_x, to_x), max(high_x, to_x)
        low_y, high_y = min(low_y, to_y), max(high_y, to_y)
    return low_x - TOUCH_US <= x <= high_x + TOUCH_US and low_y - TOUCH_US <= y <= high_y + TOUCH_US
