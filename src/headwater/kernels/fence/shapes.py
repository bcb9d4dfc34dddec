"""Fences as columns: polygons, circles, boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import shapely

from headwater.kernels.fence.geometry import Real, Shapes, Whole
from headwater.kernels.follow.regions import polygon
from headwater.model.place import EARTH_RADIUS_M

Ring = Real  # float64[n, 2]; its last corner is its first one again


def of_rings(fences: Sequence[Sequence[Ring]], *, geographic: bool) -> Shapes:
    """Polygons: the rings of each of them."""
    rings = [ring for fence in fences for ring in fence]
    corners = np.concatenate([np.zeros((0, 2)), *rings])
    first_ring = _firsts([len(fence) for fence in fences])
    first_corner = _firsts([len(ring) for ring in rings])
    boxes = np.empty((len(fences), 4))
    for number, fence in enumerate(fences):
        around = np.concatenate(list(fence))
        boxes[number, :2], boxes[number, 2:] = around.min(axis=0), around.max(axis=0)
    nowhere, no_radius = np.zeros(len(fences)), np.full(len(fences), -1.0)
    return Shapes(
        first_ring,
        first_corner,
        np.ascontiguousarray(corners[:, 0]),
        np.ascontiguousarray(corners[:, 1]),
        nowhere,
        nowhere,
        no_radius,
        boxes,
        np.arange(len(fences)),
        geographic,
    )


def of_texts(texts: Sequence[str], *, geographic: bool) -> Shapes:
    """Polygons as WKT, all of them good ones."""
    return of_rings([_rings(text) for text in texts], geographic=geographic)


def circles(x: Real, y: Real, radius_m: float, *, geographic: bool) -> Shapes:
    """Circles around places."""
    if geographic:
        boxes, owner = _cut_at_the_date_line(*_around_circles(x, y, radius_m))
    else:
        # A hair wider, so that rounding never cuts a place on the border.
        reach = radius_m + 1e-12 * np.maximum(np.maximum(np.abs(x), np.abs(y)), max(1.0, radius_m))
        boxes, owner = np.stack([x - reach, y - reach, x + reach, y + reach], axis=1), np.arange(len(x))
    no_rings, none = np.zeros(len(x) + 1, np.int64), np.zeros(0)
    return Shapes(
        no_rings,
        np.zeros(1, np.int64),
        none,
        none,
        x,
        y,
        np.full(len(x), radius_m),
        boxes,
        owner,
        geographic,
    )


def boxes_around(x: Real, y: Real, box_m: tuple[float, float], *, geographic: bool) -> Shapes:
    """Boxes around places; in degrees at the latitude of their centres where places are geographic, and two over the date line."""
    if geographic:
        sides, owner = _cut_at_the_date_line(*_around_boxes(x, y, box_m))
    else:
        across, along = box_m[0] / 2.0, box_m[1] / 2.0
        sides, owner = np.stack([x - across, y - along, x + across, y + along], axis=1), np.arange(len(x))
    none = np.zeros(len(x))
    return Shapes(
        np.searchsorted(owner, np.arange(len(x) + 1)),
        np.arange(0, 5 * len(sides) + 1, 5),
        np.ascontiguousarray(sides[:, [0, 2, 2, 0, 0]]).ravel(),
        np.ascontiguousarray(sides[:, [1, 1, 3, 3, 1]]).ravel(),
        none,
        none,
        np.full(len(x), -1.0),
        sides,
        owner,
        geographic,
    )


@lru_cache(maxsize=65_536)
def _rings(text: str) -> tuple[Ring, ...]:
    return tuple(
        np.array(shapely.get_coordinates(ring))
        for ring in shapely.get_rings(shapely.get_parts(polygon(text)))
    )


def _firsts(counts: Sequence[int]) -> Whole:
    first = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=first[1:])
    return first


def _around_circles(x: Real, y: Real, radius_m: float) -> tuple[Real, Real, Real, Real]:
    """West, south, east and north of circles on the globe, a hair wider; west and east may lie beyond the date line."""
    angle = radius_m / EARTH_RADIUS_M * (1 + 1e-9) + 1e-12
    reach = math.degrees(angle)
    with_pole = (y - reach <= -90.0) | (y + reach >= 90.0)
    shrinks = np.maximum(np.cos(np.radians(y)), 1e-300)
    spread = np.degrees(np.arcsin(np.minimum(1.0, math.sin(min(angle, math.pi / 2)) / shrinks))) + 1e-9
    spread = np.where(with_pole, 180.0, spread)
    return _within(x, spread, y - reach, y + reach)


def _around_boxes(x: Real, y: Real, box_m: tuple[float, float]) -> tuple[Real, Real, Real, Real]:
    """The same of boxes, as wide as that is at the latitude of their centres."""
    along = math.degrees(box_m[1] / 2.0 / EARTH_RADIUS_M)
    shrinks = np.maximum(np.cos(np.radians(y)), 1e-300)
    across = np.degrees(box_m[0] / 2.0 / EARTH_RADIUS_M / shrinks)
    return _within(x, across, y - along, y + along)


def _within(x: Real, spread: Real, south: Real, north: Real) -> tuple[Real, Real, Real, Real]:
    all_around = spread >= 180.0
    west, east = np.where(all_around, -180.0, x - spread), np.where(all_around, 180.0, x + spread)
    return west, np.maximum(south, -90.0), east, np.minimum(north, 90.0)


def _cut_at_the_date_line(west: Real, south: Real, east: Real, north: Real) -> tuple[Real, Whole]:
    """Boxes, two for what lies around the date line, and whose each is."""
    is_west, is_east = west < -180.0, east > 180.0
    over = np.flatnonzero(is_west | is_east)
    whole = np.stack(
        [np.where(is_west, west + 360.0, west), south, np.where(is_west | is_east, 180.0, east), north],
        axis=1,
    )
    ends = np.where(is_east, east - 360.0, east)
    rest = np.stack([np.full(len(over), -180.0), south[over], ends[over], north[over]], axis=1)
    owner = np.concatenate([np.arange(len(west)), over])
    order = np.argsort(owner, kind="stable")
    return np.concatenate([whole, rest])[order], owner[order]
