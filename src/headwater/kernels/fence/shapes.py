"""Fences as columns: polygons, circles, boxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import shapely

from headwater.kernels.boxes import around_boxes, around_circles
from headwater.kernels.fence.geometry import Real, Shapes, Whole
from headwater.kernels.polygons import polygon

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
    """Polygons of valid WKT texts."""
    return of_rings([_rings(text) for text in texts], geographic=geographic)


def circles(x: Real, y: Real, radius_m: float, *, geographic: bool) -> Shapes:
    """Circles around places."""
    boxes, owner = around_circles(x, y, radius_m, geographic=geographic)
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
    sides, owner = around_boxes(x, y, box_m, geographic=geographic)
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
