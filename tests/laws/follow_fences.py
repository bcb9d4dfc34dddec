"""FENCE behind FOLLOW, in the worlds of FOLLOW: the polygons that there are, and what the oracle tells of the rows of an interest."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headwater.model import END, GEOMETRY, SECOND, Column, ColumnType, Rows
from tests.laws.oracles import fence

Row = dict[str, Any]

FENCE_IDENTITY = ("change", "object", "fence")
"""Beside its time, what makes an answer the same in two interests; where the object was last may differ."""


def fence_changes(text: str, rows: Sequence[Row], *, geographic: bool) -> list[Row]:
    """What a FENCE tells of rows: of the zones, or of rows that are as near to one another as RADIUS."""
    stands = text.startswith("FENCE (zones")
    words = frozenset(re.findall("[a-z]+", text.partition("DETECT")[2].partition("FORGET")[0].lower()))
    forget_us = int(text.partition("FORGET ")[2].partition(" ")[0]) * SECOND
    fencing = fence.Fencing(
        words or frozenset({"enter", "exit"}), forget_us, same=not stands, roaming=not stands
    )
    positions = [fence.Update(row["event_time"], row["id"], (row["x"], row["y"])) for row in rows]
    if stands:
        return fence.changes(fencing, positions, standing=_zones(geographic=geographic), until=END)
    radius_m = float(text.partition("RADIUS ")[2].partition(" ")[0])
    around = [
        replace(one, shape=fence.Circle(one.place, radius_m, geographic)) for one in positions if one.place
    ]
    return fence.changes(fencing, positions, around, until=END)


def zone_rows(*, geographic: bool) -> Rows:
    """The zones, as a host reads them: polygons with holes; on Earth those on both sides of the date line are cut."""
    drawn = _zones(geographic=geographic)
    parts = {
        name: [[ring] for ring in shape.rings] if geographic else [shape.rings]
        for name, shape in drawn.items()
    }
    texts = [json.dumps({"type": "MultiPolygon", "coordinates": rings}) for rings in parts.values()]
    columns = {"name": list(drawn), GEOMETRY: texts}
    return Rows.of({name: Column.of(ColumnType.STRING, cells) for name, cells in columns.items()})


def _zones(*, geographic: bool) -> dict[str, fence.Rings]:
    """Polygons among the places where things are: one of them has a hole, another is hardly more than a line."""
    if geographic:
        both = [_ring(179.99, 60.0, 180.0, 60.0015), _ring(-180.0, 60.0, -179.999, 60.0015)]
        west = [_ring(-179.998, 60.001, -179.9, 60.01)]
        return {"both": fence.Rings(both, True), "west": fence.Rings(west, True)}
    return {
        "square": fence.Rings([_ring(0, 0, 2, 1)]),
        "hollow": fence.Rings([_ring(1, 0, 4, 3), _ring(1.5, 0.5, 3.5, 2.5)]),
        "hair": fence.Rings([[(0.0, 3.0), (4.0, 3.0), (4.0, 2.9), (0.0, 3.0)]]),
    }


def _ring(west: float, south: float, east: float, north: float) -> list[tuple[float, float]]:
    return [(west, south), (east, south), (east, north), (west, north), (west, south)]
