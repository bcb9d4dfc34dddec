"""Boxes around regions, in columns: float64[n, 4] (west, south, east, north), and the owner of each box.

Rule 1  The box around a circle is slightly larger than necessary, so that rounding never cuts off a place on the border. A region that
        is a box has its own: half of the width and height to each side, in degrees at the latitude of the centre where places are
        geographic.
Rule 2  A region across the date line gives two boxes that share no place. A region that contains a pole spans all longitudes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from headwater.model.place import EARTH_RADIUS_M

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

_NO_POLE = 1e-300


def around_circles(x: Real, y: Real, radius_m: float, *, geographic: bool) -> tuple[Real, Whole]:
    """Boxes that contain circles around some places."""
    if not geographic:
        reach = radius_m + 1e-12 * np.maximum(np.maximum(np.abs(x), np.abs(y)), max(1.0, radius_m))
        return np.stack([x - reach, y - reach, x + reach, y + reach], axis=1), np.arange(len(x))
    angle = radius_m / EARTH_RADIUS_M * (1 + 1e-9) + 1e-12
    up = math.degrees(angle)
    has_pole = (y - up <= -90.0) | (y + up >= 90.0)
    shrinks = np.maximum(np.cos(np.radians(y)), _NO_POLE)
    across = np.degrees(np.arcsin(np.minimum(1.0, math.sin(min(angle, math.pi / 2)) / shrinks))) + 1e-9
    return _on_earth(x, y, np.where(has_pole, 180.0, across), up)


def around_boxes(x: Real, y: Real, box_m: tuple[float, float], *, geographic: bool) -> tuple[Real, Whole]:
    """Boxes of some width and height around some places."""
    across, up = box_m[0] / 2.0, box_m[1] / 2.0
    if not geographic:
        return np.stack([x - across, y - up, x + across, y + up], axis=1), np.arange(len(x))
    shrinks = np.maximum(np.cos(np.radians(y)), _NO_POLE)
    return _on_earth(x, y, np.degrees(across / EARTH_RADIUS_M / shrinks), math.degrees(up / EARTH_RADIUS_M))


def _on_earth(x: Real, y: Real, across: Real, up: float) -> tuple[Real, Whole]:
    """A number of degrees to each side of some places, cut at the poles and at the date line."""
    everywhere = across >= 180.0
    west, east = np.where(everywhere, -180.0, x - across), np.where(everywhere, 180.0, x + across)
    south, north = np.maximum(y - up, -90.0), np.minimum(y + up, 90.0)
    is_west, is_east = west < -180.0, east > 180.0
    over = np.flatnonzero(is_west | is_east)
    first = np.stack(
        [np.where(is_west, west + 360.0, west), south, np.where(is_west | is_east, 180.0, east), north],
        axis=1,
    )
    ends = np.where(is_east, east - 360.0, east)
    second = np.stack([np.full(len(over), -180.0), south[over], ends[over], north[over]], axis=1)
    owner = np.concatenate([np.arange(len(x)), over])
    order = np.argsort(owner, kind="stable")
    return np.concatenate([first, second])[order], owner[order]
