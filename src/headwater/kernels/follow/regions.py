"""Where is an interest? Boxes around regions, to look things up by, and whether a place lies inside.

Rule 1  A region contains its border. A circle is all places at most its radius away, a box reaches half its width and height to each
        side, in degrees at the latitude of its centre where places are geographic; a shape is a polygon written as WKT.
Rule 2  What lies around the date line is two boxes, which share no place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from headwater.kernels.follow.question import FollowQuery, Real, Whole
from headwater.model.place import EARTH_RADIUS_M, Bounds, Box, Circle

Mask = NDArray[np.bool_]


def bounds_of(query: FollowQuery, x: Real, y: Real, shapes: Sequence[str]) -> tuple[Real, Whole]:
    """Boxes float64[n, 4] (west, south, east, north) that hold the regions around some places, and whose each box is."""
    if query.focals.shape is not None:
        return np.array([polygon(text).bounds for text in shapes]).reshape(-1, 4), np.arange(len(shapes))
    if not query.geographic:
        if query.box_m is not None:
            across, along = query.box_m[0] / 2.0, query.box_m[1] / 2.0
            return np.stack([x - across, y - along, x + across, y + along], axis=1), np.arange(len(x))
        assert query.radius_m is not None
        size = np.maximum(np.maximum(np.abs(x), np.abs(y)), max(1.0, query.radius_m))
        reach = query.radius_m + 1e-12 * size
        return np.stack([x - reach, y - reach, x + reach, y + reach], axis=1), np.arange(len(x))
    found = [_around(query, *place) for place in zip(x.tolist(), y.tolist(), strict=True)]
    owner = np.repeat(np.arange(len(found)), [len(boxes) for boxes in found])
    return np.array([box for boxes in found for box in boxes]).reshape(-1, 4), owner


def inside_shape(text: str, x: Real, y: Real) -> Mask:
    """Which places lie inside a shape or on its border."""
    inside: Mask = shapely.intersects_xy(polygon(text), x, y)
    return inside


def is_shape(text: str) -> bool:
    """Whether a text is a polygon that does not cross itself."""
    return polygon(text) is not None


@lru_cache(maxsize=65_536)
def polygon(text: str) -> Any:
    """The prepared polygon of a text; None: it is none, or no good one."""
    with np.errstate(all="ignore"):
        found = shapely.from_wkt(text, on_invalid="ignore")
    if found is None or found.geom_type not in ("Polygon", "MultiPolygon") or found.is_empty:
        return None
    if not found.is_valid or not np.isfinite(found.bounds).all():
        return None
    shapely.prepare(found)
    return found


def _around(query: FollowQuery, x: float, y: float) -> list[Bounds]:
    if query.radius_m is not None:
        return Circle(x, y, query.radius_m, True).bounds()
    assert query.box_m is not None
    along = math.degrees(query.box_m[1] / 2.0 / EARTH_RADIUS_M)
    shrinks = math.cos(math.radians(y))
    across = 180.0 if shrinks <= 0.0 else math.degrees(query.box_m[0] / 2.0 / EARTH_RADIUS_M / shrinks)
    south, north = max(y - along, -90.0), min(y + along, 90.0)
    if across >= 180.0:
        return [(-180.0, south, 180.0, north)]
    west, east = x - across, x + across
    west, east = (west + 360.0 if west < -180.0 else west), (east - 360.0 if east > 180.0 else east)
    return Box(west, south, east, north, True).bounds()
