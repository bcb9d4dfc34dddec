"""The heap of lines against a sorted list: lines come, go, and change what they are ordered by."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from headwater.kernels.predict.lines.heap import Heap, build, move, put, take

SLOTS = 80


def some_heap(random: Random, first: np.ndarray) -> Heap:
    """No lines yet; few different numbers everywhere, so that every part of the order matters."""
    few = [np.array([random.randrange(limit) for _ in range(SLOTS)]) for limit in (3, 4)]
    rank = np.array(random.sample(range(10), 4))
    place = np.zeros(SLOTS, np.int64)
    return Heap(np.zeros(SLOTS, np.int64), place, first, few[0], few[1], rank, np.arange(SLOTS)[::-1].copy())


def order(heap: Heap, slot: int) -> tuple[float, int, int, int]:
    return heap.first[slot], heap.t0[slot], heap.rank[heap.key[slot]], heap.number[slot]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_the_first_line_is_always_on_top(seed: int, kind: type):
    random = Random(seed)
    heap = some_heap(random, np.array([random.randrange(9) for _ in range(SLOTS)], kind))
    stored = np.array([random.random() < 0.5 for _ in range(SLOTS)])
    size = build(heap, stored)
    inside = set(np.flatnonzero(stored).tolist())
    assert size == len(inside)
    for _ in range(400):
        slot = random.randrange(SLOTS)
        if slot not in inside:
            put(heap, len(inside), slot)
            inside.add(slot)
        elif random.random() < 0.5:
            take(heap, len(inside), slot)
            inside.remove(slot)
        else:
            heap.first[slot] = random.randrange(9)
            move(heap, len(inside), slot)
        assert set(heap.slots[: len(inside)].tolist()) == inside
        if inside:
            assert heap.slots[0] == min(inside, key=lambda slot: order(heap, slot))
    for size in range(len(inside), 0, -1):
        assert heap.slots[0] == min(inside, key=lambda slot: order(heap, slot))
        inside.remove(int(heap.slots[0]))
        take(heap, size, heap.slots[0])
