"""Where things are: distances in metres, and regions that contain their border.

A plane has metres and Euclidean distance. Geographic places are longitude and latitude in degrees, with great-circle
distance on a sphere. Edges of geographic polygons are straight in longitude and latitude; a box whose west is greater
than its east crosses the date line. Shapely, which decides about polygons, is imported when there is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.model.rows import Mask

EARTH_RADIUS_M = 6_371_008.8

Coordinates = NDArray[np.float64]
Bounds = tuple[float, float, float, float]  # west, south, east, north

EVERYWHERE: Bounds = (-math.inf, -math.inf, math.inf, math.inf)


@loop(inline="always")
def distance_m(x1: float, y1: float, x2: float, y2: float, geographic: bool) -> float:
    """Metres between two places."""
    if not geographic:
        return math.sqrt((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2))
    # The haversine form is precise for near places, which most queries compare.
    south, north = math.radians(y1), math.radians(y2)
    across = math.sin(math.radians(x2 - x1) / 2.0)
    along = math.sin((north - south) / 2.0)
    h = along * along + math.cos(south) * math.cos(north) * across * across
    return 2.0 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(h)))


@loop
def distances_m(x: Coordinates, y: Coordinates, to_x: float, to_y: float, geographic: bool) -> Coordinates:
    """Metres from every place of a column to one place."""
    metres = np.empty(len(x))
    for i in range(len(x)):
        metres[i] = distance_m(x[i], y[i], to_x, to_y, geographic)
    return metres


@dataclass(frozen=True, slots=True)
class Circle:
    """All places at most `radius_m` from the centre."""

    x: float
    y: float
    radius_m: float
    geographic: bool = False

    def contains(self, x: Coordinates, y: Coordinates) -> Mask:
        """Which of the places lie inside or on the border."""
        return distances_m(x, y, self.x, self.y, self.geographic) <= self.radius_m

    def bounds(self) -> list[Bounds]:
        """Boxes that together hold the region; two where it crosses the date line."""
        # Slightly wider than the region itself, so that rounding never cuts a place on the border.
        if not self.geographic:
            r = self.radius_m + 1e-12 * max(1.0, abs(self.x), abs(self.y), self.radius_m)
            return [(self.x - r, self.y - r, self.x + r, self.y + r)]
        angle = self.radius_m / EARTH_RADIUS_M * (1 + 1e-9) + 1e-12
        reach = math.degrees(angle)
        south, north = self.y - reach, self.y + reach
        if south <= -90 or north >= 90:
            return [(-180.0, max(south, -90.0), 180.0, min(north, 90.0))]
        spread = math.degrees(math.asin(min(1.0, math.sin(angle) / math.cos(math.radians(self.y))))) + 1e-9
        return _around_the_date_line(self.x - spread, south, self.x + spread, north)


@dataclass(frozen=True, slots=True)
class Box:
    """All places between west and east and between south and north."""

    west: float
    south: float
    east: float
    north: float
    geographic: bool = False

    def contains(self, x: Coordinates, y: Coordinates) -> Mask:
        """Which of the places lie inside or on the border."""
        across = (x >= self.west) & (x <= self.east)
        if self.geographic and self.west > self.east:
            across = (x >= self.west) | (x <= self.east)
        return across & (y >= self.south) & (y <= self.north)

    def bounds(self) -> list[Bounds]:
        """Boxes that together are the region."""
        if self.geographic and self.west > self.east:
            return [(self.west, self.south, 180.0, self.north), (-180.0, self.south, self.east, self.north)]
        return [(self.west, self.south, self.east, self.north)]


@dataclass(frozen=True)
class Polygon:
    """All places inside a ring of corners, which closes by itself."""

    corners: tuple[tuple[float, float], ...]
    geographic: bool = False

    @cached_property
    def shape(self) -> Any:
        """The prepared shapely polygon."""
        import shapely

        polygon = shapely.Polygon(self.corners)
        shapely.prepare(polygon)
        return polygon

    def __getstate__(self) -> dict[str, Any]:
        return {"corners": self.corners, "geographic": self.geographic}

    def contains(self, x: Coordinates, y: Coordinates) -> Mask:
        """Which of the places lie inside or on the border."""
        import shapely

        west, south, east, north = self.bounds()[0]
        inside = (x >= west) & (x <= east) & (y >= south) & (y <= north)
        inside[inside] = shapely.intersects_xy(self.shape, x[inside], y[inside])
        return inside

    def bounds(self) -> list[Bounds]:
        """The box around the corners."""
        xs, ys = zip(*self.corners, strict=True)
        return [(min(xs), min(ys), max(xs), max(ys))]


Region = Circle | Box | Polygon


def _around_the_date_line(west: float, south: float, east: float, north: float) -> list[Bounds]:
    if east - west >= 360:
        return [(-180.0, south, 180.0, north)]
    if west < -180:
        return [(west + 360, south, 180.0, north), (-180.0, south, east, north)]
    if east > 180:
        return [(west, south, 180.0, north), (-180.0, south, east - 360, north)]
    return [(west, south, east, north)]
