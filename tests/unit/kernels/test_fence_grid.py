"""The index over fences finds whatever lies there."""

from __future__ import annotations

import numpy as np
import pytest

from headwater.kernels.fence.geometry import contains, meets
from headwater.kernels.fence.grid import MOST_A_BOX, candidates_along, lay_out
from headwater.kernels.fence.shapes import boxes_around, circles, of_rings, of_texts
from headwater.kernels.fence.standing_fences import FenceIndex, find_crossed, find_inside

SEEDS = range(5)


def some_boxes(seed: int, *, many: int = 300, large: float = 5.0):
    random = np.random.default_rng(seed)
    x, y = random.uniform(0, 100, many), random.uniform(0, 40, many)
    wide, high = random.uniform(0.1, large, (2, many))
    rings = [
        [np.array([[a, b], [a + w, b], [a + w, b + h], [a, b + h], [a, b]])]
        for a, b, w, h in zip(x, y, wide, high, strict=True)
    ]
    return random, of_rings(rings, geographic=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_place_is_found_in_all_fences_in_which_it_lies(seed: int):
    random, shapes = some_boxes(seed)
    grid, found = lay_out(shapes.boxes, shapes.owner), np.empty(300, np.int64)
    places = np.concatenate([random.uniform(-10, 110, (200, 2)), shapes.boxes[:50, 2:]])
    for x, y in places:
        many = find_inside(shapes, grid, x, y, found)
        assert found[:many].tolist() == [n for n in range(300) if contains(shapes, n, x, y)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_is_found_in_all_fences_that_it_meets(seed: int):
    random, shapes = some_boxes(seed)
    index = FenceIndex(shapes, lay_out(shapes.boxes, shapes.owner), np.arange(300))
    seen, found = np.full(300, -1), np.empty(600, np.int64)
    for number in range(200):
        px, py, x, y = random.uniform(-20, 120, 4)
        if number % 5 == 0:
            y = py if number % 2 else py + 1e-9
        many = find_crossed(index, px, py, x, y, seen, number, found)
        expected = [
            n
            for n in range(300)
            if not contains(shapes, n, px, py)
            and not contains(shapes, n, x, y)
            and meets(shapes, n, px, py, x, y)
        ]
        assert sorted(found[:many].tolist()) == expected


def test_large_fences_do_not_fill_the_grid():
    _, shapes = some_boxes(1, many=2000, large=100.0)
    grid = lay_out(shapes.boxes, shapes.owner)
    assert len(grid.cells.member) <= MOST_A_BOX * 2000


def test_no_fence_at_all_is_met_by_nobody():
    shapes = of_rings([], geographic=False)
    grid, none = lay_out(shapes.boxes, shapes.owner), np.empty(0, np.int64)
    assert find_inside(shapes, grid, 0.0, 0.0, none) == 0
    assert candidates_along(grid, 0.0, 0.0, 1.0, 1.0, none, 0, none) == 0


def test_fences_at_one_place_are_all_found():
    shapes = circles(np.full(5, 3.0), np.full(5, 4.0), 2.0, geographic=False)
    grid, found = lay_out(shapes.boxes, shapes.owner), np.empty(5, np.int64)
    assert find_inside(shapes, grid, 3.0, 6.0, found) == 5
    assert find_inside(shapes, grid, 3.0, 6.0000001, found) == 0


def test_a_circle_over_the_date_line_is_found_from_both_sides():
    shapes = circles(np.array([179.99]), np.array([0.0]), 5_000.0, geographic=True)
    grid, found = lay_out(shapes.boxes, shapes.owner), np.empty(1, np.int64)
    assert [find_inside(shapes, grid, x, 0.0, found) for x in (179.95, -179.97, -179.9)] == [1, 1, 0]


def test_a_box_over_the_date_line_is_two():
    shapes = boxes_around(
        np.array([-179.99, 7.0]), np.array([0.0, 60.0]), (5_000.0, 2_000.0), geographic=True
    )
    assert shapes.owner.tolist() == [0, 0, 1]
    assert shapes.first_ring.tolist() == [0, 2, 3]
    assert contains(shapes, 0, 179.99, 0.0) and contains(shapes, 0, -179.98, 0.0)
    assert contains(shapes, 1, 7.04, 60.0) and not contains(shapes, 1, 7.05, 60.0)


def test_polygons_of_texts_have_their_holes_and_parts():
    text = "MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0), (3 3, 6 3, 6 6, 3 6, 3 3)), ((20 0, 21 0, 20 1, 20 0)))"
    shapes = of_texts([text], geographic=False)
    inside = [
        contains(shapes, 0, x, y) for x, y in ((1.0, 1.0), (4.0, 4.0), (3.0, 4.0), (20.2, 0.2), (15.0, 0.0))
    ]
    assert inside == [True, False, True, True, False]
