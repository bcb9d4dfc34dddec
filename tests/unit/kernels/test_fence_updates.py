"""Stretches: they hold every update once, in order, and there are few of them however many objects come at once."""

from __future__ import annotations

import numpy as np
import pytest

from headwater.kernels.fence.updates import LEAST_STRETCH, Updates, stretches
from headwater.model import Column, ColumnType

NO_SHAPE = Column(ColumnType.STRING, np.zeros(0, np.int32), None, np.array([""], object))


def updates(key: np.ndarray, time: np.ndarray) -> Updates:
    nowhere = np.zeros(len(key))
    shape = Column(ColumnType.STRING, np.zeros(len(key), np.int32), None, NO_SHAPE.names)
    return Updates(Column(ColumnType.BIGINT, key), time, nowhere, nowhere, shape)


NOBODY = updates(np.zeros(0, np.int64), np.zeros(0, np.int64))


def sizes(positions: Updates, fences: Updates, known: int) -> list[int]:
    watermark = 10_000_000
    cut = list(stretches(positions, fences, known, watermark))
    assert np.concatenate([some.time for some, _, _ in cut]).tolist() == positions.time.tolist()
    assert np.concatenate([others.time for _, others, _ in cut]).tolist() == fences.time.tolist()
    before = 0
    for some, others, until in cut:
        times = np.concatenate([some.time, others.time])
        assert before <= times.min(initial=until) and times.max(initial=before) < until
        before = until
    assert before == watermark
    return [len(some.time) + len(others.time) for some, others, _ in cut]


def test_few_updates_are_one_stretch() -> None:
    some = np.arange(LEAST_STRETCH)
    assert sizes(updates(some, some), NOBODY, known=0) == [LEAST_STRETCH]
    assert sizes(NOBODY, NOBODY, known=5) == [0]


def test_where_everybody_is_new_stretches_grow_with_those_who_came() -> None:
    some = np.arange(1_000_000)
    first = LEAST_STRETCH
    grow = [first, *(2 * first * 3**step for step in range(5))]  # each holds twice what came before it
    assert sizes(updates(some, some), NOBODY, known=0) == [*grow, 1_000_000 - sum(grow)]


@pytest.mark.parametrize("known", [0, 10_000])
def test_those_who_report_again_and_again_do_not_make_stretches_longer(known: int) -> None:
    time = np.arange(100_000)
    size = max(LEAST_STRETCH, 2 * known)
    expected = [size] * (100_000 // size) + [100_000 % size] * (100_000 % size > 0)
    assert sizes(updates(time % 1_000, time), NOBODY, known=known) == expected


def test_rows_of_one_instant_stay_together() -> None:
    key, time = np.arange(3 * LEAST_STRETCH), np.repeat([1, 2], [2 * LEAST_STRETCH, LEAST_STRETCH])
    assert sizes(updates(key, time), updates(key, time), known=0) == [4 * LEAST_STRETCH, 2 * LEAST_STRETCH]
