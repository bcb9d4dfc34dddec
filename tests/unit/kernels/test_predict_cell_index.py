"""Keys by the cells of their boxes: nobody whose box meets another is missed, and nothing is left of those who are gone."""

from __future__ import annotations

import numpy as np
import pytest

from headwater.kernels.predict.cell_index import Boxes, no_boxes
from headwater.model import Column, ColumnType, key_ids


def boxes_of(keys: np.ndarray, boxes: np.ndarray) -> Boxes:
    return Boxes(key_ids([Column(ColumnType.BIGINT, keys)], len(keys)), boxes)


def drawn(random: np.random.Generator, count: int, scale: float) -> np.ndarray:
    """Boxes of all sizes, some of them points, on a grid so that places lie on borders."""
    corner = random.integers(-20, 20, (count, 2)) * scale
    size = random.choice([0.0, 1.0, 2.0, 3.0, 8.0, 40.0], (count, 2)) * scale
    return np.concatenate([corner, corner + size], axis=1)


def test_who_stays_in_a_cell_writes_nothing():
    keys, box = np.arange(1), np.array([[0.0, 0.0, 10.0, 10.0]])
    near = no_boxes().moved(boxes_of(keys[:0], box[:0]), boxes_of(keys, box))
    assert near.moved(boxes_of(keys, box), boxes_of(keys, box + 0.25)) is near


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-7, 1e9, 1 / 3, 1e280])
def test_whoever_meets_a_box_is_found_on_their_layer(scale: float):
    random = np.random.default_rng(2)
    keys, layer = np.arange(80), np.arange(80) % 3
    where = drawn(random, 80, scale)
    where[:, 2:] += scale  # none of them a point: their cells would be too small to be looked at
    near = no_boxes().moved(boxes_of(keys[:0], where[:0]), Boxes(boxes_of(keys, where).ids, where, layer))
    counted = 0
    for turn in range(150):
        box = drawn(random, 1, scale)
        box[0, 2:] = np.minimum(box[0, 2:], box[0, :2] + 3 * scale)
        meets = (where[:, :2] <= box[0, 2:]).all(axis=1) & (where[:, 2:] >= box[0, :2]).all(axis=1)
        expected = boxes_of(keys[meets & (layer == turn % 3)], where[:0]).ids
        found = near.meeting(box, turn % 3)
        assert found is not None
        of_layer = {tuple(of) for of in boxes_of(keys[layer == turn % 3], where[:0]).ids.tolist()}
        assert {tuple(of) for of in expected.tolist()} <= {tuple(of) for of in found.tolist()} <= of_layer
        counted += len(expected)
    assert counted > 50
    near = near.moved(Boxes(boxes_of(keys, where).ids, where, layer), boxes_of(keys[:0], where[:0]))
    assert near.levels == () and len(near.cells) == 0 and near.cells.size == 0


def test_a_box_that_meets_more_cells_than_there_are_says_so():
    keys, small = np.arange(2), np.array([[0.0, 0.0, 1.0, 1.0], [1e6, 1e6, 1e6 + 1, 1e6 + 1]])
    near = no_boxes().moved(boxes_of(keys[:0], small[:0]), boxes_of(keys, small))
    assert near.meeting(np.array([[0.0, 0.0, 1e6, 1e6]]), 0) is None
    assert near.meeting(np.array([[0.0, 0.0, 1e290, 1e290]]), 0) is None
