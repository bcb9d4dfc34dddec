"""Which of the stored lines comes first, if their sort keys change all the time?

A binary heap of slots with the place of each slot, so that a line whose life or worth has changed is moved, and one that
is removed is taken out, in O(log n). Lines are ordered by a number of their own (`first`), then update time, key, number in the
stream: a total order, so that the first line does not depend on the history of the heap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Whole


class Heap(NamedTuple):
    """`slots` int64[n]: the heap; `place` int64[slots]: the place of each. By slot: `first` (int64 or float64), `t0`, `number`,
    `key`, whose `rank` is given by key."""

    slots: Whole
    place: Whole
    first: NDArray[Any]
    t0: Whole
    key: Whole
    rank: Whole
    number: Whole


@loop(**LOOP)
def build(heap: Heap, stored: NDArray[np.bool_]) -> int:
    """Make a heap of all stored lines; returns how many they are."""
    size = 0
    for slot in range(len(stored)):
        if stored[slot]:
            heap.slots[size] = slot
            heap.place[slot] = size
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        _down(heap, size, at)
    return size


@loop(**LOOP)
def put(heap: Heap, size: int, slot: int) -> None:
    """Put a line into a heap of `size` others."""
    heap.slots[size] = slot
    heap.place[slot] = size
    _up(heap, size)


@loop(**LOOP)
def take(heap: Heap, size: int, slot: int) -> None:
    """Remove a line from a heap of `size`."""
    at = heap.place[slot]
    moved = heap.slots[size - 1]
    if moved != slot:
        heap.slots[at] = moved
        heap.place[moved] = at
        _up(heap, at)
        _down(heap, size - 1, heap.place[moved])


@loop(**LOOP)
def move(heap: Heap, size: int, slot: int) -> None:
    """Find a line's place again after its sort key has changed."""
    _up(heap, heap.place[slot])
    _down(heap, size, heap.place[slot])


@loop(**LOOP)
def _is_before(heap: Heap, a: int, b: int) -> bool:
    if heap.first[a] != heap.first[b]:
        return heap.first[a] < heap.first[b]
    if heap.t0[a] != heap.t0[b]:
        return heap.t0[a] < heap.t0[b]
    if heap.key[a] != heap.key[b]:
        return heap.rank[heap.key[a]] < heap.rank[heap.key[b]]
    return heap.number[a] < heap.number[b]


@loop(**LOOP)
def _up(heap: Heap, at: int) -> None:
    slot = heap.slots[at]
    while at > 0:
        parent = heap.slots[(at - 1) // 2]
        if not _is_before(heap, slot, parent):
            break
        heap.slots[at] = parent
        heap.place[parent] = at
        at = (at - 1) // 2
    heap.slots[at] = slot
    heap.place[slot] = at


@loop(**LOOP)
def _down(heap: Heap, size: int, at: int) -> None:
    slot = heap.slots[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _is_before(heap, heap.slots[child + 1], heap.slots[child]):
            child += 1
        if not _is_before(heap, heap.slots[child], slot):
            break
        heap.slots[at] = heap.slots[child]
        heap.place[heap.slots[at]] = at
        at = child
    heap.slots[at] = slot
    heap.place[slot] = at
