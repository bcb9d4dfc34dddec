"""The index of FOLLOW and FENCE: what meets a box is listed in its cells, however boxes lie."""

from __future__ import annotations

import numpy as np
import pytest

from headwater.kernels.cells import Cells, Real, cell_at, cells_of, lay_out

FAR = 5_000_000.0


def listed(cells: Cells, boxes: Real, box: int) -> set[int]:
    west, east, south, north = cells_of(boxes, box, cells.corner, cells.size, cells.shape)
    found = set()
    for along in range(south, north + 1):
        for across in range(west, east + 1):
            cell = along * int(cells.shape[0]) + across
            found |= set(cells.member[cells.first[cell] : cells.first[cell + 1]].tolist())
    return found


def some_boxes(many: int, seed: int) -> Real:
    random = np.random.default_rng(seed)
    low = random.uniform(0, 1_000, (many, 2))
    return np.hstack([low, low + random.uniform(0, 20, (many, 2))])


def meet(boxes: Real, box: int) -> set[int]:
    one = boxes[box]
    apart = (boxes[:, 0] > one[2]) | (boxes[:, 2] < one[0]) | (boxes[:, 1] > one[3]) | (boxes[:, 3] < one[1])
    return set(np.flatnonzero(~apart).tolist())


@pytest.mark.parametrize("moved", [0, 1, 30])
def test_what_meets_a_box_is_listed_in_its_cells(moved: int):
    boxes = some_boxes(400, moved)
    boxes[:moved] += FAR
    cells = lay_out(boxes, 40, 12)
    for box in range(len(boxes)):
        assert meet(boxes, box) <= listed(cells, boxes, box)


def test_a_few_that_are_far_away_make_no_cell_larger():
    boxes = some_boxes(1_000, 1)
    near = lay_out(boxes, 60, 12)
    boxes[0], boxes[1] = FAR, -FAR
    cells = lay_out(boxes, 60, 12)
    assert np.diff(cells.first).max() <= 2 * np.diff(near.first).max()


def test_the_ends_of_all_numbers_are_in_some_cell():
    end = np.finfo(np.float64).max
    for many in (1, 2, 40):
        boxes = np.array([[end, end, end, end], [-end, -end, -end, -end], [0.0, 0.0, 1.0, 1.0]])
        cells = lay_out(boxes, many, 12)
        for x, y in ((end, -end), (0.0, 0.0), (-end, end)):
            assert 0 <= cell_at(cells, x, y) < len(cells.first) - 1
        assert all(box in listed(cells, boxes, box) for box in range(3))


def test_without_boxes_there_is_one_empty_cell():
    cells = lay_out(np.zeros((0, 4)), 5, 12)
    assert cell_at(cells, 3.0, 4.0) == 0
    assert cells.first.tolist() == [0, 0]
