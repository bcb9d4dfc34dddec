"""Is there a place inside the region that a query names?

A circle needs a radius, a box must not be upside down, a polygon needs an inside: three corners, some area, no edge across
another. Geographic places are degrees; a geographic box whose west is greater than its east crosses the date line.
"""

from __future__ import annotations

import numpy as np

from headwater.model import Box, Circle, Polygon, Region, Span
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.streams import length_m
from headwater.query.operators.correlate.tree import BoxArea, CircleArea, PolygonArea

Corners = tuple[tuple[float, float], ...]


def check_region(
    area: CircleArea | BoxArea | PolygonArea, geographic: bool | None, complaints: Complaints
) -> Region | None:
    """The region, or None and a complaint; `geographic` is None if the stream is not known."""
    if isinstance(area, CircleArea):
        return _circle(area, geographic, complaints)
    if isinstance(area, BoxArea):
        return _box(area, geographic, complaints)
    return _polygon(area, geographic, complaints)


def _circle(area: CircleArea, geographic: bool | None, complaints: Complaints) -> Region | None:
    on_earth = _on_earth([(area.x, area.y)], geographic, area.span, complaints)
    radius_m = length_m(area.radius, "the radius of a CIRCLE", complaints)
    if radius_m is None:
        return None
    if radius_m <= 0:
        complaints.refuse(
            "empty-region",
            "the radius of the CIRCLE is not greater than zero",
            area.radius.span or area.span,
            "give a radius as in CIRCLE (7.17, 45.87, 5 KM)",
        )
        return None
    return Circle(float(area.x), float(area.y), radius_m, bool(geographic)) if on_earth else None


def _box(area: BoxArea, geographic: bool | None, complaints: Complaints) -> Region | None:
    corners = [(area.west, area.south), (area.east, area.north)]
    whole = _on_earth(corners, geographic, area.span, complaints)
    if area.south > area.north:
        complaints.refuse(
            "empty-region",
            f"the BOX has its south ({area.south}) above its north ({area.north})",
            area.span,
            "the order is BOX (west, south, east, north)",
        )
        whole = False
    if area.west > area.east and geographic is False:
        complaints.refuse(
            "empty-region",
            f"the BOX has its west ({area.west}) to the right of its east ({area.east})",
            area.span,
            "the order is BOX (west, south, east, north); only a GEOGRAPHIC box can cross the date line",
        )
        whole = False
    if not whole:
        return None
    return Box(float(area.west), float(area.south), float(area.east), float(area.north), bool(geographic))


def _polygon(area: PolygonArea, geographic: bool | None, complaints: Complaints) -> Region | None:
    corners: Corners = tuple((float(x), float(y)) for x, y in area.corners)
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners = corners[:-1]  # the ring closes by itself, and many people close it
    if not _on_earth(corners, geographic, area.span, complaints):
        return None
    if wrong := _no_inside(corners):
        complaints.refuse(
            "empty-region",
            f"the POLYGON {wrong}",
            area.span,
            "list its corners in order along its border",
        )
        return None
    return Polygon(corners, bool(geographic))


def _no_inside(corners: Corners) -> str | None:
    if len(set(corners)) < 3:
        return "has fewer than three corners"
    import shapely  # which takes a tenth of a second: only where there is a polygon

    ring = shapely.Polygon(corners)
    with np.errstate(all="ignore"):  # corners may be as far away as numbers go
        if not ring.area > 0:
            return "has no area"
        if not ring.is_valid:
            return f"crosses or touches itself ({shapely.is_valid_reason(ring).lower()})"
    return None


def _on_earth(
    places: list[tuple[float, float]] | Corners,
    geographic: bool | None,
    span: Span | None,
    complaints: Complaints,
) -> bool:
    if not geographic:
        return True
    for x, y in places:
        if abs(x) > 180 or abs(y) > 90:
            complaints.refuse(
                "empty-region",
                f"({x}, {y}) is not a geographic place: longitudes go from -180 to 180, latitudes from -90 to 90",
                span,
                "the longitude comes first, then the latitude",
            )
            return False
    return True
