"""Is a geometry a polygon that can be a fence? GeoJSON and WKT, as rings of corners.

Rule 1  A fence is a Polygon or a MultiPolygon; holes count. A ring ends where it begins, has three different corners or more, crosses
        neither itself nor the others, and its coordinates are finite numbers. Coordinates after the first two (heights) are left out.
Rule 2  A polygon is stored as the text of a GeoJSON geometry, with every digit of its coordinates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ring = NDArray[np.float64]  # float64[n, 2]; its last corner is its first one again

_WORLD = (180.0, 90.0)


class NoFence(Exception):  # noqa: N818 - it says what something is
    """Why a geometry is no fence: a code and words, as bad rows have them."""


def text_of(geometry: Any, *, geographic: bool = False) -> str:
    """The canonical text of a GeoJSON geometry, as `json` reads it; raises NoFence."""
    polygons = _polygons(geometry)
    for ring in (ring for rings in polygons for ring in rings):
        _check_ring(ring)
        if geographic:
            _check_world(ring)
    _check_crossings(polygons)
    return _written(polygons)


def text_of_text(text: str, *, geographic: bool = False) -> str:
    """The same of a geometry that is a text: of GeoJSON or WKT."""
    if text.lstrip().startswith("{"):
        try:
            return text_of(json.loads(text), geographic=geographic)
        except ValueError as fault:
            raise NoFence(f"bad-geometry: it is not JSON: {fault}") from fault
    import shapely  # which takes a tenth of a second: files of fences are read by runs that have none, too

    with np.errstate(all="ignore"):
        found = shapely.from_wkt(text, on_invalid="ignore")
    if found is None:
        raise NoFence("bad-geometry: it is neither a GeoJSON geometry nor WKT")
    return text_of(_as_geojson(found), geographic=geographic)


def rings_of(text: str) -> list[Ring]:
    """The rings of a canonical text."""
    return [np.array(ring, np.float64) for rings in _polygons(json.loads(text)) for ring in rings]


def _polygons(geometry: Any) -> list[Any]:
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Polygon", "MultiPolygon"):
        named = f"a {kind}" if isinstance(kind, str) else "missing"
        raise NoFence(f"no-polygon: its geometry is {named}, but a fence must be a Polygon or a MultiPolygon")
    coordinates = geometry.get("coordinates")
    polygons = [coordinates] if kind == "Polygon" else coordinates
    if not isinstance(polygons, list) or not polygons:
        raise NoFence("no-polygon: its geometry has no coordinates")
    if not all(isinstance(rings, list) and rings for rings in polygons):
        raise NoFence("no-polygon: a polygon of its geometry has no ring")
    return polygons


def _check_ring(ring: Any) -> None:
    if not isinstance(ring, list) or not all(map(_is_position, ring)):
        raise NoFence("bad-geometry: a ring is a list of positions, each with two finite numbers or more")
    corners = {(float(corner[0]), float(corner[1])) for corner in ring}
    if len(ring) < 4 or len(corners) < 3:
        raise NoFence(
            f"few-corners: a ring has {len(ring)} positions, {len(corners)} of them different; "
            "it needs 4, of which the last repeats the first"
        )
    if ring[0][:2] != ring[-1][:2]:
        raise NoFence("open-ring: a ring does not end where it begins")


def _is_position(corner: Any) -> bool:
    if not isinstance(corner, list) or len(corner) < 2:
        return False
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)
        for value in corner[:2]
    )


def _is_finite(value: float | int) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _check_world(ring: Sequence[Sequence[float]]) -> None:
    for value, bound in (pair for corner in ring for pair in zip(corner, _WORLD, strict=False)):
        if abs(value) > bound:
            raise NoFence(f"place-out-of-range: {value} is not within ±{bound:.0f} degrees")


def _check_crossings(polygons: Sequence[Sequence[Any]]) -> None:
    import shapely

    shape = shapely.MultiPolygon(
        [(_flat(rings[0]), [_flat(hole) for hole in rings[1:]]) for rings in polygons]
    )
    if not shapely.is_valid(shape):
        raise NoFence(f"crosses-itself: {_why(shapely.is_valid_reason(shape))}")


def _why(reason: str) -> str:
    what, _, place = reason.partition("[")
    at = f" at ({place.rstrip(']').replace(' ', ', ')})" if place else ""
    return f"its polygon is not simple: {what.strip().lower()}{at}"


def _flat(ring: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    return [(float(corner[0]), float(corner[1])) for corner in ring]


def _written(polygons: Sequence[Sequence[Any]]) -> str:
    flat = [[_flat(ring) for ring in rings] for rings in polygons]
    one = len(flat) == 1
    node = {"type": "Polygon" if one else "MultiPolygon", "coordinates": flat[0] if one else flat}
    return json.dumps(node, separators=(",", ":"))


def _as_geojson(shape: Any) -> dict[str, Any]:
    parts = list(_parts(shape))
    if not parts or shape.is_empty:
        return {"type": shape.geom_type, "coordinates": []}
    return {"type": "MultiPolygon", "coordinates": [_rings(part) for part in parts]}


def _parts(shape: Any) -> Iterator[Any]:
    if shape.geom_type == "Polygon":
        yield shape
    elif shape.geom_type == "MultiPolygon":
        yield from shape.geoms


def _rings(part: Any) -> list[list[list[float]]]:
    import shapely

    return [shapely.get_coordinates(ring).tolist() for ring in (part.exterior, *part.interiors)]
