import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import EARTH_RADIUS_M, Box, Circle, Polygon, Region, distance_m, distances_m
from tests.unit.model.making import often

DEGREE_M = math.pi * EARTH_RADIUS_M / 180  # of a great circle

COORDINATE = st.floats(-1000, 1000) | st.integers(-3, 3).map(float)
LON = st.floats(-180, 180) | st.sampled_from([-180.0, -179.9, 0.0, 179.9, 180.0])
LAT = st.floats(-90, 90) | st.sampled_from([-90.0, -89.9, 0.0, 89.9, 90.0])


def inside(region: Region, *places: tuple[float, float]) -> list[bool]:
    xs, ys = np.array(places, np.float64).T
    return region.contains(xs.copy(), ys.copy()).tolist()


@pytest.mark.parametrize(
    ("a", "b", "metres"),
    [
        ((0, 0), (1, 0), DEGREE_M),
        ((0, 0), (0, 1), DEGREE_M),
        ((179.5, 0), (-179.5, 0), DEGREE_M),  # across the date line
        ((180, 10), (-180, 10), 0),  # one meridian with two names
        ((0, 90), (123, 90), 0),  # every longitude meets at a pole
        ((0, 89), (180, 89), 2 * DEGREE_M),  # over the pole
        ((0, -89), (180, -89), 2 * DEGREE_M),
        ((0, 0), (180, 0), 180 * DEGREE_M),  # the other side of the world
        (
            (0, 60),
            (1, 60),
            2 * EARTH_RADIUS_M * math.asin(0.5 * math.sin(math.radians(0.5))),
        ),  # cos 60° = 0.5
    ],
)
def test_great_circle_distances(a: tuple[float, float], b: tuple[float, float], metres: float):
    assert distance_m(*map(float, a + b), True) == pytest.approx(metres, rel=1e-6, abs=1e-6)
    assert distance_m(*map(float, b + a), True) == distance_m(*map(float, a + b), True)


def test_distances_in_a_plane():
    assert distance_m(0.0, 0.0, 3.0, 4.0, False) == 5.0
    assert distances_m(np.array([0.0, 3.0]), np.array([0.0, 4.0]), 0.0, 0.0, False).tolist() == [0.0, 5.0]


def test_near_geographic_places_keep_their_digits():
    assert distance_m(7.0, 45.0, 7.0, 45.00001, True) == pytest.approx(1.11195, rel=1e-5)


def test_a_circle_contains_its_border():
    assert inside(Circle(10, 10, 5), (13, 14), (13.0001, 14), (10, 10), (5, 10), (4.9999, 10)) == [
        True,
        False,
        True,
        True,
        False,
    ]


def test_a_geographic_circle_reaches_across_the_date_line_and_over_a_pole():
    date_line = Circle(179.9, 0, 50_000, geographic=True)
    assert inside(date_line, (-179.9, 0), (179.6, 0), (-179.6, 0)) == [True, True, False]
    pole = Circle(0, 89.9, 50_000, geographic=True)
    assert inside(pole, (180, 89.9), (90, 89.8), (0, 89.0)) == [True, True, False]


def test_a_box_contains_its_border_and_may_cross_the_date_line():
    assert inside(Box(0, 0, 2, 1), (0, 0), (2, 1), (2.001, 1), (1, -0.001)) == [True, True, False, False]
    pacific = Box(170, -10, -170, 10, geographic=True)
    assert inside(pacific, (170, 0), (180, 0), (-180, 0), (-170, 10), (0, 0), (169.9, 0)) == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]
    assert pacific.bounds() == [(170, -10, 180.0, 10), (-180.0, -10, -170, 10)]


def test_a_polygon_contains_its_border_and_its_corners():
    notch = Polygon(((0, 0), (4, 0), (4, 4), (2, 2), (0, 4)))
    assert inside(notch, (0, 0), (4, 4), (2, 2), (3, 3), (1, 3), (2, 2.001), (2, 0), (5, 0)) == [
        True,
        True,
        True,
        True,
        True,
        False,
        True,
        False,
    ]


def test_a_polygon_survives_pickling_after_use():
    polygon = Polygon(((0, 0), (1, 0), (0, 1)))
    assert inside(polygon, (0.2, 0.2)) == [True]
    assert inside(pickle.loads(pickle.dumps(polygon)), (0.2, 0.2), (0.9, 0.9)) == [True, False]


def plane_regions() -> st.SearchStrategy[Region]:
    ordered = st.tuples(COORDINATE, COORDINATE).map(sorted)
    return (
        st.builds(Circle, COORDINATE, COORDINATE, st.floats(1e-3, 500))
        | st.builds(lambda x, y: Box(x[0], y[0], x[1], y[1]), ordered, ordered)
        | st.builds(
            lambda x, y, w, h: Polygon(((x, y), (x + w, y), (x + w / 3, y + h))),
            COORDINATE,
            COORDINATE,
            st.floats(0.1, 100),
            st.floats(0.1, 100),
        )
    )


def geographic_regions() -> st.SearchStrategy[Region]:
    ordered = st.tuples(LAT, LAT).map(sorted)
    return st.builds(Circle, LON, LAT, st.floats(0.1, 5e6), st.just(True)) | st.builds(
        lambda west, east, y: Box(west, y[0], east, y[1], True), LON, LON, ordered
    )


@often
@given(plane_regions(), st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1), st.floats(0, 2 * math.pi))
def test_bounds_hold_every_place_of_a_region(region: Region, places: list[tuple[float, float]], angle: float):
    _assert_bounds_hold(region, [*places, *_on_the_border(region, angle)])


@often
@given(geographic_regions(), st.lists(st.tuples(LON, LAT), min_size=1))
def test_bounds_hold_every_place_of_a_geographic_region(region: Region, places: list[tuple[float, float]]):
    near = []
    if isinstance(region, Circle):
        reach = math.degrees(region.radius_m / EARTH_RADIUS_M)
        near = [(region.x, max(-90.0, region.y - reach)), (region.x, min(90.0, region.y + reach))]
    _assert_bounds_hold(region, places + near)


def _on_the_border(region: Region, angle: float) -> list[tuple[float, float]]:
    if isinstance(region, Circle):
        r = region.radius_m
        ends = [(region.x + r, region.y), (region.x - r, region.y), (region.x, region.y + r)]
        return [*ends, (region.x + r * math.cos(angle), region.y + r * math.sin(angle))]
    return list(region.corners) if isinstance(region, Polygon) else [(region.west, region.north)]


def _assert_bounds_hold(region: Region, places: list[tuple[float, float]]) -> None:
    for (x, y), within in zip(places, inside(region, *places), strict=True):
        held = any(w <= x <= e and s <= y <= n for w, s, e, n in region.bounds())
        assert held or not within
