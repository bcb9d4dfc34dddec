"""Keys by the cells of their boxes: nobody who is near is missed, and nothing is left of those who are gone."""

from __future__ import annotations

import numpy as np
import pytest

from headwater.kernels.box_index import Boxes, BoxIndex, empty_box_index
from headwater.model import Column, ColumnType, key_ids


def boxes_of(keys: np.ndarray, boxes: np.ndarray) -> Boxes:
    return Boxes(key_ids([Column(ColumnType.BIGINT, keys)], len(keys)), boxes)


def drawn(random: np.random.Generator, count: int, scale: float) -> np.ndarray:
    """Boxes of all sizes, some of them points, on a grid so that places lie on borders."""
    corner = random.integers(-20, 20, (count, 2)) * scale
    size = random.choice([0.0, 1.0, 2.0, 3.0, 8.0, 40.0], (count, 2)) * scale
    return np.concatenate([corner, corner + size], axis=1)


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-7, 1e9, 1 / 3])
def test_whoever_is_near_is_found_wherever_they_went(scale: float):
    random = np.random.default_rng(1)
    keys = np.arange(60)
    where, near = drawn(random, 60, scale), empty_box_index(geographic=False)
    near = near.moved(boxes_of(keys[:0], where[:0]), boxes_of(keys, where))
    for _ in range(20):
        x, y = (random.integers(-20, 60, 5) * scale for _ in range(2))
        inside = (where[:, None, 0] <= x) & (x <= where[:, None, 2])
        inside &= (where[:, None, 1] <= y) & (y <= where[:, None, 3])
        expected = boxes_of(keys[inside.any(axis=1)], where[inside.any(axis=1)]).ids
        found = {tuple(of) for of in near.holding(x, y).tolist()}
        assert {tuple(of) for of in expected.tolist()} <= found
        moving = np.sort(random.choice(60, 20, replace=False))
        after = where.copy()
        after[moving] = drawn(random, 20, scale)
        near = near.moved(boxes_of(moving, where[moving]), boxes_of(moving, after[moving]))
        where = after
    near = near.moved(boxes_of(keys, where), boxes_of(keys[:0], where[:0]))
    assert near.levels == () and len(near.entries) == 0 and near.entries.size == 0


def test_who_is_far_is_not_looked_at():
    keys = np.arange(10_000)
    x, y = (keys % 100) * 100.0, (keys // 100) * 100.0
    near: BoxIndex = empty_box_index(geographic=False).moved(
        boxes_of(keys[:0], np.zeros((0, 4))), boxes_of(keys, np.column_stack([x - 5, y - 5, x + 5, y + 5]))
    )
    assert len(near.holding(np.array([500.0]), np.array([700.0]))) == 1


def test_who_stays_in_a_cell_writes_nothing():
    keys, box = np.arange(1), np.array([[0.0, 0.0, 10.0, 10.0]])
    near = empty_box_index(geographic=False).moved(boxes_of(keys[:0], box[:0]), boxes_of(keys, box))
    assert near.moved(boxes_of(keys, box), boxes_of(keys, box + 0.25)) is near


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-7, 1e9, 1 / 3])
def test_whoever_meets_a_box_is_found(scale: float):
    random = np.random.default_rng(2)
    keys, where = np.arange(60), drawn(random, 60, scale)
    near = empty_box_index(geographic=False).moved(boxes_of(keys[:0], where[:0]), boxes_of(keys, where))
    for box in drawn(random, 50, scale):
        meets = (where[:, 0] <= box[2]) & (where[:, 2] >= box[0])
        meets &= (where[:, 1] <= box[3]) & (where[:, 3] >= box[1])
        expected = {tuple(of) for of in boxes_of(keys[meets], where[meets]).ids.tolist()}
        assert expected <= {tuple(of) for of in near.meeting(box[None]).tolist()}


def test_many_at_one_place_are_entries_by_themselves():
    keys = np.arange(5_000)
    place = np.tile([3.0, 4.0, 3.0, 4.0], (len(keys), 1))
    near = empty_box_index(geographic=True).moved(boxes_of(keys[:0], place[:0]), boxes_of(keys, place))
    assert len(near.holding(np.array([3.0]), np.array([4.0]))) == 5_000
    moved = near.moved(boxes_of(keys[:1], place[:1]), boxes_of(keys[:1], place[:1] + 1.0))
    assert len(moved.holding(np.array([3.0]), np.array([4.0]))) == 4_999
    assert len(moved.entries.runs[-1]) == 2  # where it was, and where it is
