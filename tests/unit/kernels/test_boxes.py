"""Boxes around circles and boxes: on the plane, on Earth, over a pole and over the date line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headwater.kernels.boxes import around_boxes, around_circles
from headwater.model.place import EARTH_RADIUS_M, Circle

A_DEGREE_M = math.radians(1.0) * EARTH_RADIUS_M


def columns(*places: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.array(places).T
    return x, y


def test_on_the_plane_a_box_reaches_half_its_size_to_each_side() -> None:
    boxes, owner = around_boxes(*columns((10.0, 20.0), (0.0, -5.0)), (4.0, 6.0), geographic=False)
    assert boxes.tolist() == [[8.0, 17.0, 12.0, 23.0], [-2.0, -8.0, 2.0, -2.0]]
    assert owner.tolist() == [0, 1]


def test_on_earth_a_box_is_wider_in_degrees_away_from_the_equator() -> None:
    boxes, owner = around_boxes(
        *columns((10.0, 0.0), (10.0, 60.0)), (2 * A_DEGREE_M, 4 * A_DEGREE_M), geographic=True
    )
    assert boxes == pytest.approx(np.array([[9.0, -2.0, 11.0, 2.0], [8.0, 58.0, 12.0, 62.0]]))
    assert owner.tolist() == [0, 1]


def test_over_the_date_line_a_box_is_two_that_stand_together() -> None:
    boxes, owner = around_boxes(
        *columns((179.5, 0.0), (0.0, 0.0), (-179.5, 0.0)), (2 * A_DEGREE_M, 2 * A_DEGREE_M), geographic=True
    )
    assert owner.tolist() == [0, 0, 1, 2, 2]
    assert boxes[:, [0, 2]] == pytest.approx(
        np.array([[178.5, 180.0], [-180.0, -179.5], [-1.0, 1.0], [179.5, 180.0], [-180.0, -178.5]])
    )


def test_a_circle_over_a_pole_goes_all_around() -> None:
    boxes, owner = around_circles(*columns((30.0, 89.5), (30.0, -89.5)), A_DEGREE_M, geographic=True)
    assert boxes == pytest.approx(np.array([[-180.0, 88.5, 180.0, 90.0], [-180.0, -90.0, 180.0, -88.5]]))
    assert owner.tolist() == [0, 1]


def test_nobody_has_no_box() -> None:
    nowhere = np.zeros(0)
    assert [len(part) for part in around_circles(nowhere, nowhere, 5.0, geographic=True)] == [0, 0]


@pytest.mark.parametrize("geographic", [False, True])
def test_circles_have_the_boxes_they_have_one_by_one(geographic: bool) -> None:
    draw = np.random.default_rng(5)
    x, y = draw.uniform(-180, 180, 500), draw.uniform(-90, 90, 500)
    x[:20], y[20:40] = 180.0 - 1e-9, 90.0 - 1e-9
    boxes, owner = around_circles(x, y, 40_000.0, geographic=geographic)
    alone = [Circle(a, b, 40_000.0, geographic).bounds() for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert owner.tolist() == [number for number, found in enumerate(alone) for _ in found]
    np.testing.assert_allclose(boxes, [box for found in alone for box in found], rtol=0, atol=1e-9)
