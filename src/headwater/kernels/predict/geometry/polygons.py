"""The possible times of a pair: a convex polygon in the plane of the two times, cut by one straight border after another.

A corner (x, y) is a time of the left line and one of the right line, in microseconds after an instant of the pair. The polygon
begins as the two lives and the band |x − y| <= w, all of them whole microseconds and exact. A border is a·x + b·y + c between two
limits; what is beyond is cut away (Sutherland and Hodgman), corner by corner.

Rule 1  A corner beyond a border by no more than the border's `slack` is on it, and is stored unchanged. The slack is the possible rounding
        error (`slack_of`): some last digits of the sizes of the border's terms, and the errors of the corners. The first corners
        are exact; one that is cut has the error by which the border's slack moves it along its edge, which is large where
        the two are nearly parallel. The greatest of these, the `BLUR`, is carried along. So polygons that only touch are found, as
        one point or a segment, exactly where exact fractions would find them, and larger differences are kept.
        Sizes are those of differences, never of the values themselves: two values of forty thousand millions are subtracted first.
Rule 2  Polygons are closed. That a border itself is excluded (`<`, the end of a life) matters only if nothing else is
        left: a polygon satisfies a strict border if one of its corners is off it by more than the slack. By convexity a point
        that satisfies all strict borders exists if each is satisfied by some corner.
Rule 3  Corners go counter-clockwise. Equal neighbours are stored once.
Rule 4  No slack is above `TOUCH` of the sizes: where rounding could do more, corners are as good as anywhere on their edges. `bounds`
        relies on it.

Memory  Two lists of corners in rows 0-1 and 2-3 of a work array, used in turn, a measure of each corner in row 4, the blur in row 5. A
        cut adds at most one corner. Nothing is allocated.
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Real

LAST_DIGITS: Final = 2.0**-48
"""The possible rounding error of a measure, relative to the sizes of its terms: a dozen roundings of 2^-53 each, and some margin."""
TOUCH: Final = 2.0**-36
TINY: Final = 1e-100
"""The slack where all numbers are zero."""
TOUCH_US: Final = 1e-3
"""Times nearer than this, in microseconds, are one: the possible error of a cut at a life's end."""

ROWS: Final = 6
MEASURE: Final = 4
BLUR: Final = 5


@loop(**LOOP, forceinline=True)
def slack_of(size: float, steep: float, work: Real) -> float:
    """The slack of a border of such sizes, |a| + |b| being `steep`, of the present polygon."""
    return min(LAST_DIGITS * size + steep * work[BLUR, 0], TOUCH * size) + TINY


@loop(**LOOP, forceinline=True)
def put(work: Real, half: int, n: int, x: float, y: float) -> int:
    """Append a corner unless it equals the last one; returns the number of corners."""
    if n > 0 and work[half, n - 1] == x and work[half + 1, n - 1] == y:
        return n
    work[half, n] = x
    work[half + 1, n] = y
    return n + 1


@loop(**LOOP, forceinline=True)
def closed(work: Real, half: int, n: int) -> int:
    """The number of corners without a last one that equals the first."""
    if n > 1 and work[half, n - 1] == work[half, 0] and work[half + 1, n - 1] == work[half + 1, 0]:
        return n - 1
    return n


@loop(**LOOP)
def band(work: Real, x0: int, x1: int, y0: int, y1: int, w: int) -> int:
    """Put the polygon x0 <= x <= x1, y0 <= y <= y1, |x − y| <= w into the first half; returns the number of corners."""
    work[BLUR, 0] = 0.0
    x0, x1, y0, y1 = max(x0, y0 - w), min(x1, y1 + w), max(y0, x0 - w), min(y1, x1 + w)
    if x0 > x1 or y0 > y1:
        return 0
    # Now the corners (x0, y0) and (x1, y1) are within the band; it may cut off a triangle at each of the other two.
    n = put(work, 0, 0, x0, y0)
    if x1 - y0 > w:
        n = put(work, 0, n, y0 + w, y0)
        n = put(work, 0, n, x1, x1 - w)
    else:
        n = put(work, 0, n, x1, y0)
    n = put(work, 0, n, x1, y1)
    if y1 - x0 > w:
        n = put(work, 0, n, y1 - w, y1)
        n = put(work, 0, n, x0, x0 + w)
    else:
        n = put(work, 0, n, x0, y1)
    return closed(work, 0, n)


@loop(**LOOP, forceinline=True)
def measure(work: Real, half: int, n: int, a: float, b: float, c: float) -> tuple[float, float]:
    """Write a·x + b·y + c of each corner next to it; returns the least and the greatest."""
    low, high = math.inf, -math.inf
    for i in range(n):
        value = a * work[half, i] + b * work[half + 1, i] + c
        work[MEASURE, i] = value
        low = min(low, value)
        high = max(high, value)
    return low, high


@loop(**LOOP)
def keep_below(work: Real, half: int, n: int, sign: float, limit: float, slack: float) -> int:
    """Write the part with sign·measure <= sign·limit into the other half; returns the number of corners. Corners are measured."""
    other = 2 - half
    m = 0
    far = 0.0  # how far a corner moves along its edge, for each unit of error of its measure
    last_x, last_y = work[half, n - 1], work[half + 1, n - 1]
    last = sign * (work[MEASURE, n - 1] - limit)
    for i in range(n):
        x, y = work[half, i], work[half + 1, i]
        this = sign * (work[MEASURE, i] - limit)
        if (last <= slack) != (this <= slack):
            share = min(1.0, max(0.0, last / (last - this)))
            far = max(far, max(abs(x - last_x), abs(y - last_y)) / abs(last - this))
            m = put(work, other, m, last_x + share * (x - last_x), last_y + share * (y - last_y))
        if this <= slack:
            m = put(work, other, m, x, y)
        last_x, last_y, last = x, y, this
    work[BLUR, 0] += slack * far
    return closed(work, other, m)


@loop(**LOOP, forceinline=True)
def farthest(work: Real, half: int, n: int) -> tuple[float, float]:
    """The greatest times of the corners, whatever their sign."""
    x, y = 0.0, 0.0
    for i in range(n):
        x = max(x, abs(work[half, i]))
        y = max(y, abs(work[half + 1, i]))
    return x, y


@loop(**LOOP)
def clip(  # noqa: PLR0913 runs for every border of every pair
    work: Real, half: int, n: int, a: float, b: float, c: float, low: float, high: float, slack: float
) -> tuple[int, int]:
    """Cut away what is not low <= a·x + b·y + c <= high; returns the half with the rest, and its number of corners."""
    least, most = measure(work, half, n, a, b, c)
    if least > high + slack or most < low - slack:
        return half, 0
    if most > high + slack:
        n = keep_below(work, half, n, 1.0, high, slack)
        half = 2 - half
        if least < low - slack and n > 0:
            measure(work, half, n, a, b, c)
            n = keep_below(work, half, n, -1.0, low, slack)
            half = 2 - half
    elif least < low - slack:
        n = keep_below(work, half, n, -1.0, low, slack)
        half = 2 - half
    return half, n


@loop(**LOOP)
def extent(work: Real, half: int, n: int) -> tuple[float, float, float, float]:
    """The least and the greatest of max(x, y) on the polygon, the least x and the least y."""
    low, high, least_x, least_y = math.inf, -math.inf, math.inf, math.inf
    last_x, last_y = work[half, n - 1], work[half + 1, n - 1]
    for i in range(n):
        x, y = work[half, i], work[half + 1, i]
        later = max(x, y)
        low = min(low, later)
        high = max(high, later)
        least_x = min(least_x, x)
        least_y = min(least_y, y)
        # Where an edge crosses x = y, the later of its two times may be earlier than at both of its ends.
        last, this = last_x - last_y, x - y
        if last * this < 0.0:
            low = min(low, last_x + last / (last - this) * (x - last_x))
        last_x, last_y = x, y
    return low, high, least_x, least_y


@loop(**LOOP)
def corners(work: Real, half: int, n: int) -> tuple[int, int]:
    """Keep only real corners, no equal neighbours and none on a straight edge; returns how many, and which is leftmost."""
    near = TOUCH_US
    for i in range(n):
        near = max(near, TOUCH * max(abs(work[half, i]), abs(work[half + 1, i])))
    removed = True
    while removed and n > 1:
        removed = False
        for i in range(n):
            last, after = (i - 1) % n, (i + 1) % n
            one_x, one_y = work[half, i] - work[half, last], work[half + 1, i] - work[half + 1, last]
            two_x, two_y = work[half, after] - work[half, last], work[half + 1, after] - work[half + 1, last]
            across = abs(one_x * two_y - one_y * two_x)
            same = max(abs(one_x), abs(one_y)) <= near
            if same or (n > 2 and across <= near * max(abs(two_x), abs(two_y))):
                for at in range(i, n - 1):
                    work[half, at], work[half + 1, at] = work[half, at + 1], work[half + 1, at + 1]
                n -= 1
                removed = True
                break
    first = 0
    for i in range(1, n):
        x, least = work[half, i], work[half, first]
        if x < least - near or (x <= least + near and work[half + 1, i] < work[half + 1, first]):
            first = i
    return n, first
