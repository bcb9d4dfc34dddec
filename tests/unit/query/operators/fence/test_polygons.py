"""Which geometries are fences, and why others are not."""

from __future__ import annotations

import json

import pytest

from headwater.query.operators.fence.polygons import NoFence, rings_of, text_of, text_of_text

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
HOLE = [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]


def polygon(*rings) -> dict:
    return {"type": "Polygon", "coordinates": list(rings)}


def test_holes_and_parts_are_rings():
    text = text_of(
        {"type": "MultiPolygon", "coordinates": [[SQUARE, HOLE], [[[9, 9], [10, 9], [10, 10], [9, 9]]]]}
    )
    assert [len(ring) for ring in rings_of(text)] == [5, 5, 4]


def test_every_digit_is_kept():
    corners = [[0.1, 0.2], [0.30000000000000004, 1e-17], [1 / 3, 2 / 3], [0.1, 0.2]]
    assert rings_of(text_of(polygon(corners)))[0].tolist() == corners


def test_heights_are_left_out():
    tall = [[x, y, 7] for x, y in SQUARE]
    assert rings_of(text_of(polygon(tall)))[0].tolist() == SQUARE


def test_wkt_and_geojson_text_are_the_same():
    wkt = "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))"
    assert (
        text_of_text(wkt) == text_of_text(json.dumps(polygon(SQUARE, HOLE))) == text_of(polygon(SQUARE, HOLE))
    )


@pytest.mark.parametrize(
    ("geometry", "reason"),
    [
        (None, "no-polygon: its geometry is missing"),
        ({}, "no-polygon: its geometry is missing"),
        ({"type": "Point", "coordinates": [1, 2]}, "no-polygon: its geometry is a Point"),
        (
            {"type": "GeometryCollection", "geometries": []},
            "no-polygon: its geometry is a GeometryCollection",
        ),
        ({"type": "Polygon"}, "no-polygon: a polygon of its geometry has no ring"),
        ({"type": "Polygon", "coordinates": []}, "no-polygon: a polygon of its geometry has no ring"),
        ({"type": "MultiPolygon", "coordinates": []}, "no-polygon: its geometry has no coordinates"),
        ({"type": "MultiPolygon", "coordinates": [[]]}, "no-polygon: a polygon of its geometry has no ring"),
        (polygon([[0, 0], [4, 0], [0, 0]]), "few-corners: a ring has 3 positions, 2 of them different"),
        (
            polygon([[0, 0], [4, 0], [4, 0], [0, 0]]),
            "few-corners: a ring has 4 positions, 2 of them different",
        ),
        (polygon([]), "few-corners: a ring has 0 positions"),
        (polygon(SQUARE[:-1]), "open-ring"),
        (polygon([[0, 0], [4, 4], [4, 0], [0, 4], [0, 0]]), "crosses-itself"),
        (polygon(SQUARE, [[9, 9], [10, 9], [10, 10], [9, 9]]), "crosses-itself"),
        (polygon(SQUARE, [[1, 1], [6, 1], [1, 3], [1, 1]]), "crosses-itself"),
        (polygon([[0, 0], [4, 0], [float("nan"), 4], [0, 0]]), "bad-geometry"),
        (polygon([[0, 0], [4, 0], [10**400, 4], [0, 0]]), "bad-geometry"),
        (polygon([[0, 0], [4, True], [4, 4], [0, 0]]), "bad-geometry"),
        (polygon([[0, 0], [4], [4, 4], [0, 0]]), "bad-geometry"),
        (polygon("ring"), "bad-geometry"),
        ({"type": "Polygon", "coordinates": "far"}, "no-polygon"),
        ({"type": ["Polygon"], "coordinates": [SQUARE]}, "no-polygon: its geometry is missing"),
    ],
)
def test_what_is_not_a_fence_is_reported_with_the_reason(geometry, reason: str):
    with pytest.raises(NoFence) as refused:
        text_of(geometry)
    assert str(refused.value).startswith(reason)


@pytest.mark.parametrize(
    "text", ["", "round", "{", "[]", "POLYGON ((0 0, 1 1))", "POINT (1 2)", "POLYGON EMPTY", "{}"]
)
def test_texts_that_are_no_fences(text: str):
    with pytest.raises(NoFence):
        text_of_text(text)


def test_places_beyond_the_globe():
    far = [[179, 0], [181, 0], [181, 2], [179, 0]]
    text_of(polygon(far))
    with pytest.raises(NoFence, match="place-out-of-range: 181 is not within ±180 degrees"):
        text_of(polygon(far), geographic=True)
