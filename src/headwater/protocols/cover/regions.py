"""How does the region of one filter compare with that of another? Boxes as intervals, everything else by its own containment.

Each reading has its own place, so a region counts once per filter: two more columns of the operator's box, x and y. (One copy for
all filters is unsound: a at 2 and b at 8 match an operator on [0, 10], and neither one on [0, 6] nor one on [4, 10].)

Rule 1  The operator in question is replaced by the box around its region: itself if it is a box. That is no less than it requests.
Rule 2  A row whose region is a box is that box: unions of boxes are exact.
Rule 3  A row whose region is a circle or a polygon counts as unbounded if it contains the whole region of the operator, otherwise
        the row is left out. So a union of circles is never recognised, nor a union of polygons.
Rule 4  A row whose box crosses the date line is two boxes; it counts as the one half that the operator meets. An operator
        whose box crosses the date line needs a row that contains both halves.
Rule 5  Where rounding could decide, the answer is no: a circle contains what lies inside it with a small margin. Regions that
        are equal contain one another. A geographic circle contains a box less than 90° of longitude away on either side if it contains its
        corners (along a parallel and along a meridian distances grow towards the ends); a polygon in it counts as its box.
"""

from __future__ import annotations

import math
from typing import Any, Final

import shapely

from headwater.model import Box, Circle, Polygon, Region, distance_m
from headwater.model.place import EVERYWHERE, Bounds

HAIR: Final = 1e-9
"""Beside a distance on the plane."""

HAIR_ON_EARTH_M: Final = 1.0
"""Great-circle distances lose digits towards the other side of the earth: a quarter of a metre there."""


def around(region: Region | None) -> Bounds:
    """The box around a region (Rule 1)."""
    if region is None:
        return EVERYWHERE
    wests, souths, easts, norths = zip(*region.bounds(), strict=True)
    return min(wests), min(souths), max(easts), max(norths)


def seen_from(inner: Region | None, outer: Region | None) -> Bounds | None:
    """The box that a row's region counts as where `around(inner)` is the box; None: the row is left out."""
    if outer is None or outer == inner:
        return EVERYWHERE
    if not isinstance(outer, Box):
        return EVERYWHERE if inner is not None and _contains(outer, inner) else None
    if not _crosses(outer):
        return outer.bounds()[0]
    if inner is not None and _crosses(inner):
        return _both_halves(outer, inner)
    west, _, east, _ = around(inner)
    if west > outer.east:
        return outer.west, outer.south, math.inf, outer.north
    if east < outer.west:
        return -math.inf, outer.south, outer.east, outer.north
    return None


def _crosses(region: Region) -> bool:
    """Whether a region lies on both sides of the date line, as two boxes or inside two boxes."""
    return len(region.bounds()) > 1


def _both_halves(outer: Box, inner: Region) -> Bounds | None:
    halves = inner.bounds()
    inside = all(west >= outer.west or east <= outer.east for west, _, east, _ in halves)
    return (-math.inf, outer.south, math.inf, outer.north) if inside else None


def _contains(outer: Circle | Polygon, inner: Region) -> bool:
    if outer.geographic != inner.geographic:
        return False
    if isinstance(outer, Polygon):
        return _polygon_contains(outer, inner)
    if isinstance(inner, Circle):
        apart = distance_m(outer.x, outer.y, inner.x, inner.y, outer.geographic)
        return _within(apart + inner.radius_m, outer)
    if outer.geographic:
        return all(_holds_degrees(outer, box) for box in inner.bounds())
    corners = inner.corners if isinstance(inner, Polygon) else _corners(inner.bounds()[0])
    return all(_within(distance_m(outer.x, outer.y, x, y, False), outer) for x, y in corners)


def _within(distance: float, circle: Circle) -> bool:
    if not math.isfinite(distance):
        return False
    hair = HAIR_ON_EARTH_M if circle.geographic else HAIR * distance
    return distance + hair <= circle.radius_m


def _holds_degrees(circle: Circle, box: Bounds) -> bool:
    west, south, east, north = box
    start = math.remainder(west - circle.x, 360.0)
    if not (abs(start) < 90.0 and abs(start + east - west) < 90.0):
        return False
    return all(
        _within(distance_m(circle.x, circle.y, x, y, True), circle)
        for x, y in _corners((west, south, east, north))
    )


def _polygon_contains(outer: Polygon, inner: Region) -> bool:
    shape = outer.shape
    if not shape.is_valid:
        return False
    if isinstance(inner, Polygon):
        return bool(inner.shape.is_valid and shape.covers(inner.shape))
    if isinstance(inner, Circle) and not inner.geographic:
        centre = shapely.Point(inner.x, inner.y)
        room = shape.exterior.distance(centre) - HAIR * max(map(abs, shape.bounds))
        return bool(shape.covers(centre) and room >= inner.radius_m)
    return all(_polygon_holds(shape, box) for box in inner.bounds())


def _polygon_holds(shape: Any, box: Bounds) -> bool:
    west, south, east, north = box
    proper = west < east and south < north and all(map(math.isfinite, box))
    return proper and bool(shape.covers(shapely.box(*box)))


def _corners(box: Bounds) -> list[tuple[float, float]]:
    west, south, east, north = box
    return [(west, south), (west, north), (east, south), (east, north)]
