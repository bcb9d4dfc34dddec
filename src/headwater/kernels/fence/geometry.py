"""Does a place lie in a fence, and does a line meet it?

Rule 1  A fence is the rings of a polygon, of several, or with holes: a place is inside if a ray from it meets them an odd number of
        times, or if it lies on one of them. Or it is a circle: all places at most its radius away.
Rule 2  On which side of a line a place lies is decided exactly, for any coordinates whose products neither overflow nor underflow
        (from 1e-140 to 1e150): first in floating point with a bound on the error, and only where that does not decide, with all digits
        (Shewchuk 1997). So borders are borders, however the corners are written, and it does not matter where a ring begins.
Rule 3  Lines and edges are straight in the coordinates, in longitude and latitude too. Between two geographic places the line goes the
        shorter way around the Earth. Whether it meets a geographic circle is decided in a plane with the scale of the circle's centre.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.model.place import EARTH_RADIUS_M, distance_m

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

LOOP: Final[dict[str, Any]] = {"nogil": True}

_A_DEGREE_M: Final = math.radians(1.0) * EARTH_RADIUS_M
_ERROR: Final = (3.0 + 16.0 * 2.0**-53) * 2.0**-53
_SPLITTER: Final = 134_217_729.0  # 2^27 + 1


class Shapes(NamedTuple):
    """Fences by number. Rings `first_ring[n]:first_ring[n + 1]` are those of fence n; a ring's last corner is its first one again.

    A circle has no rings but a centre and a radius, which is below 0 for all others. `boxes` float64[b, 4] (west, south, east, north)
    contain the fences, `owner` is the fence of each box: a circle over the date line has two, which share no place.
    """

    first_ring: Whole
    first_corner: Whole
    x: Real
    y: Real
    centre_x: Real
    centre_y: Real
    radius_m: Real
    boxes: Real
    owner: Whole
    geographic: bool


@loop(**LOOP)
def contains(shapes: Shapes, fence: int, x: float, y: float) -> bool:
    """Whether a place lies in a fence or on its border."""
    if shapes.radius_m[fence] >= 0.0:
        centre_x, centre_y = shapes.centre_x[fence], shapes.centre_y[fence]
        return distance_m(x, y, centre_x, centre_y, shapes.geographic) <= shapes.radius_m[fence]
    inside = False
    for ring in range(shapes.first_ring[fence], shapes.first_ring[fence + 1]):
        for corner in range(shapes.first_corner[ring], shapes.first_corner[ring + 1] - 1):
            ax, ay = shapes.x[corner], shapes.y[corner]
            bx, by = shapes.x[corner + 1], shapes.y[corner + 1]
            if y < min(ay, by) or y > max(ay, by) or x > max(ax, bx):
                continue
            if ay == by:
                if x >= min(ax, bx):
                    return True
                continue
            # An edge includes its lower end and excludes its upper one: a ray through a corner meets two edges, or none, or one.
            is_met = (ay <= y) != (by <= y)
            if x < min(ax, bx):
                inside ^= is_met
                continue
            turn = side(ax, ay, bx, by, x, y)
            if turn == 0:
                return True
            if is_met and (turn > 0) == (by > ay):
                inside = not inside
    return inside


@loop(**LOOP)
def meets(shapes: Shapes, fence: int, px: float, py: float, qx: float, qy: float) -> bool:
    """Whether the line between two places meets a fence that contains neither of them."""
    if shapes.radius_m[fence] >= 0.0:
        return _meets_circle(shapes, fence, px, py, qx, qy)
    if shapes.geographic and abs(qx - px) > 180.0:
        around = 360.0 if qx < px else -360.0
        return _meets_rings(shapes, fence, px, py, qx + around, qy) or _meets_rings(
            shapes, fence, px - around, py, qx, qy
        )
    return _meets_rings(shapes, fence, px, py, qx, qy)


@loop(**LOOP)
def _meets_rings(shapes: Shapes, fence: int, px: float, py: float, qx: float, qy: float) -> bool:
    west, east, south, north = min(px, qx), max(px, qx), min(py, qy), max(py, qy)
    for ring in range(shapes.first_ring[fence], shapes.first_ring[fence + 1]):
        for corner in range(shapes.first_corner[ring], shapes.first_corner[ring + 1] - 1):
            ax, ay = shapes.x[corner], shapes.y[corner]
            bx, by = shapes.x[corner + 1], shapes.y[corner + 1]
            if max(ax, bx) < west or min(ax, bx) > east or max(ay, by) < south or min(ay, by) > north:
                continue
            if side(px, py, qx, qy, ax, ay) * side(px, py, qx, qy, bx, by) > 0:
                continue
            if side(ax, ay, bx, by, px, py) * side(ax, ay, bx, by, qx, qy) <= 0:
                return True
    return False


@loop(**LOOP)
def _meets_circle(shapes: Shapes, fence: int, px: float, py: float, qx: float, qy: float) -> bool:
    centre_x, centre_y, radius = shapes.centre_x[fence], shapes.centre_y[fence], shapes.radius_m[fence]
    away_x, away_y, along_x, along_y = centre_x - px, centre_y - py, qx - px, qy - py
    if shapes.geographic:
        across = math.cos(math.radians(centre_y)) * _A_DEGREE_M
        away_x, along_x = _shorter(away_x) * across, _shorter(along_x) * across
        away_y, along_y = away_y * _A_DEGREE_M, along_y * _A_DEGREE_M
    length = along_x * along_x + along_y * along_y
    ahead = away_x * along_x + away_y * along_y
    if ahead <= 0.0 or ahead >= length:
        return False
    aside = along_x * away_y - along_y * away_x
    return aside * aside <= radius * radius * length


@loop(**LOOP)
def _shorter(degrees: float) -> float:
    if degrees > 180.0:
        return degrees - 360.0
    return degrees + 360.0 if degrees < -180.0 else degrees


@loop(**LOOP)
def side(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """1 if a place lies to the left of the line from a to b, -1 to the right, 0 on it."""
    left, right = (bx - ax) * (y - ay), (by - ay) * (x - ax)
    turn = left - right
    if abs(turn) > _ERROR * (abs(left) + abs(right)):
        return 1 if turn > 0.0 else -1
    return _exact_side(ax, ay, bx, by, x, y)


@loop(**LOOP)
def _exact_side(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """The same with exact arithmetic: the sign of a sum of twelve numbers, no two of which overlap."""
    if (ax == bx and (x == ax or ay == by)) or (ay == by and y == ay):
        return 0
    parts = np.zeros(12)
    many = 0
    for one, other in ((bx, y), (-bx, ay), (-ax, y), (-by, x), (by, ax), (ay, x)):
        high, low = _product(one, other)
        for number in (low, high):
            rest = number
            for place in range(many):
                rest, parts[place] = _sum(rest, parts[place])
            parts[many] = rest
            many += 1
    for place in range(many - 1, -1, -1):
        if parts[place] != 0.0:
            return 1 if parts[place] > 0.0 else -1
    return 0


@loop(**LOOP)
def _sum(a: float, b: float) -> tuple[float, float]:
    """A sum, and its rounding error."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


@loop(**LOOP)
def _product(a: float, b: float) -> tuple[float, float]:
    """A product, and its rounding error."""
    total = a * b
    wide_a, wide_b = _SPLITTER * a, _SPLITTER * b
    high_a, high_b = wide_a - (wide_a - a), wide_b - (wide_b - b)
    low_a, low_b = a - high_a, b - high_b
    return total, low_a * low_b - (((total - high_a * high_b) - low_a * high_b) - high_a * low_b)
