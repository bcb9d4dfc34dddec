"""NEAREST … PER: nothing of a partition is left when its window is empty, and a step writes the partitions that it touches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.kernels.nearest.kernel import NearestKernel, NearestState
from headwater.kernels.nearest.per_partition import PartitionsState
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import (
    BEGINNING,
    END,
    SECOND,
    Column,
    ColumnType,
    KeyedStore,
    Rows,
    StreamSchema,
    encode,
    strings,
)

READINGS = StreamSchema(
    "readings",
    (("at", ColumnType.TIMESTAMP), ("room", ColumnType.STRING), ("v", ColumnType.DOUBLE)),
    time="at",
)


def kernel(
    *,
    seconds: int | None = 10,
    rows: int | None = None,
    emission: Emission = Emission.CHANGES,
    every: int | None = None,
    algorithm: Algorithm = Algorithm.RAPF,
    forget: int | None = None,
) -> NearestKernel:
    """The two readings of each room that are nearest to 0."""
    query = NearestQuery(
        "q", "f", 1, None, 2, Metric.EUCLIDEAN, ("v",), None, Points(np.zeros((1, 1))),
        None if seconds is None else seconds * SECOND, rows, "room", False, algorithm,
        0.01 if algorithm is Algorithm.PA else None, emission, None if every is None else every * SECOND, (("room", "room"),),
        forget_us=None if forget is None else forget * SECOND,
    )  # fmt: skip
    return NearestKernel(READINGS, [query])


def readings(second: float, rooms: Sequence[str], v: float = 1.0) -> Rows:
    many = len(rooms)
    return Rows.of(
        {
            "at": Column(ColumnType.TIMESTAMP, np.full(many, round(second * SECOND))),
            "room": strings(list(rooms)),
            "v": Column(ColumnType.DOUBLE, np.full(many, v)),
        }
    )


def store(state: NearestState) -> KeyedStore:
    (part,) = state.query_sets
    assert isinstance(part, PartitionsState)
    return part.store


def saved_bytes(of: NearestKernel, state: NearestState) -> int:
    saved = of.save(state)
    runs = [encode(tree) for one in saved.stores.values() for run in one.runs for tree in run.trees()]
    rows = sum(chunk.rows.count for log in saved.logs.values() for chunk in log.chunks)
    return len(encode(saved.values)) + sum(map(len, runs)) + 100 * rows


@pytest.mark.parametrize("algorithm", list(Algorithm), ids=lambda algorithm: algorithm.name)
@pytest.mark.parametrize(("emission", "every"), [(Emission.CHANGES, None), (Emission.EVERY, 3)])
def test_what_is_saved_does_not_follow_the_partitions_that_came_and_went(algorithm, emission, every):
    sizes = []
    for many in (20, 200):
        per_room = kernel(emission=emission, every=every, algorithm=algorithm)
        state = per_room.start(BEGINNING)
        for second in range(many):
            rooms = [f"room {second} {n}" for n in range(50)]
            state = per_room.step(state, readings(second, rooms), (second + 1) * SECOND).state
        assert len(store(state)) == 500  # those of ten seconds: who leaves at the watermark is still there
        state = per_room.step(state, readings(0, []), (many + 20) * SECOND).state
        assert len(store(state)) == 0
        sizes.append(saved_bytes(per_room, state))
    assert abs(sizes[1] - sizes[0]) <= 16
    assert max(sizes) < 1_000


def test_a_step_writes_the_partitions_that_it_touches():
    per_room = kernel(seconds=3600)
    state = per_room.step(
        per_room.start(BEGINNING), readings(0, [f"room {n}" for n in range(5_000)]), SECOND
    ).state
    after = per_room.step(state, readings(1, ["room 7", "new"]), 2 * SECOND).state
    assert store(after).runs[0] is store(state).runs[0]
    assert [len(run) for run in store(after).runs] == [5_000, 2]
    assert per_room.step(after, readings(2, []), 3 * SECOND).state.query_sets[0] is after.query_sets[0]


def test_a_partition_without_rows_emits_what_time_does_to_it():
    per_room = kernel()
    state = per_room.step(per_room.start(BEGINNING), readings(0, ["a", "b"]), SECOND).state
    state = per_room.step(state, readings(5, ["b"]), 6 * SECOND).state
    step = per_room.step(state, readings(11, ["c"]), 12 * SECOND)
    changes = [
        (row["event_time"] / SECOND, row["change"], row["room"])
        for block in step.answers
        for row in block.rows.tolist()
    ]
    assert sorted(changes) == [(10, "leave", "a"), (10, "leave", "b"), (11, "enter", "c")]
    assert len(store(step.state)) == 2


def test_a_window_of_rows_keeps_the_last_rows_of_a_partition_for_good():
    per_room = kernel(seconds=None, rows=2)
    state = per_room.start(BEGINNING)
    for second in range(5):
        state = per_room.step(state, readings(second, ["a", f"b {second}"]), (second + 1) * SECOND).state
    state = per_room.step(state, readings(0, []), END).state
    assert len(store(state)) == 6
    assert sum(map(len, per_room.candidates(state).values())) == 2 + 5


def test_forget_ends_what_a_window_of_rows_keeps():
    per_room = kernel(seconds=None, rows=2, forget=3)
    state = per_room.start(BEGINNING)
    for second in range(100):
        state = per_room.step(state, readings(second, ["a", f"b {second}"]), (second + 1) * SECOND).state
    # Who was heard of at 96 leaves at 99.000001; at the watermark, 100, those of 97 to 99 are there.
    assert len(store(state)) == 1 + 3
    state = per_room.step(state, readings(0, []), 110 * SECOND).state
    assert len(store(state)) == 0
