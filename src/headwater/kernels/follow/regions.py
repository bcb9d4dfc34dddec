"""Where is an interest? Boxes around regions, for searches, and whether a place lies inside.

A region contains its border. A circle is all places at most its radius away, a box reaches half its width and height to each side
(`headwater.kernels.boxes`); a shape is a polygon written as WKT.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray

from headwater.kernels.boxes import around_boxes, around_circles
from headwater.kernels.follow.question import FollowQuery, Real, Whole
from headwater.kernels.polygons import polygon

Mask = NDArray[np.bool_]


def bounds_of(query: FollowQuery, x: Real, y: Real, shapes: Sequence[str]) -> tuple[Real, Whole]:
    """Boxes float64[n, 4] (west, south, east, north) that contain the regions around some places, and the region of each box."""
    if query.focals.shape is not None:
        return np.array([polygon(text).bounds for text in shapes]).reshape(-1, 4), np.arange(len(shapes))
    if query.box_m is not None:
        return around_boxes(x, y, query.box_m, geographic=query.geographic)
    assert query.radius_m is not None
    return around_circles(x, y, query.radius_m, geographic=query.geographic)


def inside_shape(text: str, x: Real, y: Real) -> Mask:
    """Which places lie inside a shape or on its border."""
    inside: Mask = shapely.intersects_xy(polygon(text), x, y)
    return inside
