"""Of a partition that came and went nothing is kept, and a step looks at the partitions that it has rows of.

The numbers of keys grow with HEADWATER_SOAK_KEYS.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headwater.kernels.pattern.kernel import PatternKernel
from headwater.kernels.pattern.packed_runs import MATCH_NUMBER_BYTES
from headwater.kernels.pattern.partitioned_rows import EMPTY_RECORD_BYTES
from headwater.kernels.pattern.question import RowTest
from headwater.model import BEGINNING, SECOND, Column, ColumnType, Rows, Saved, encode, strings
from headwater.query.planning.plan import compile_text
from tests.laws.kernel_laws import restored

STREAM = "CREATE STREAM events (k STRING KEY, at TIMESTAMP TIME, s STRING, x DOUBLE);"
KEYS = int(os.environ.get("HEADWATER_SOAK_KEYS", 1000))

GONE = {
    "row pattern": "PATTERN (A B+ C) WITHIN 10 SECONDS",
    "all rows": "ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B+ C) WITHIN 10 SECONDS",
    "every match": "MATCH EVERY PATTERN (A ~> B ~> NOT C) WITHIN 10 SECONDS WITH TIMEOUTS",
    "gaps": "MATCH EVERY PATTERN (A ~~> B ~> C) WITHIN 3 SECONDS BETWEEN ROWS",
    "node": "MODE FIRST HOLD 8 EVENTS PATTERN (A B C) WITHIN 10 SECONDS",
    "numbers": "MEASURES MATCH_NUMBER() AS n PATTERN (A B) WITHIN 10 SECONDS FORGET 1 MINUTE",
    "rows before": "MEASURES PREV(A.x, 2) AS y PATTERN (A B) WITHIN 10 SECONDS FORGET 1 MINUTE",
    "beginning": "PATTERN (^ A B) WITHIN 10 SECONDS FORGET 1 MINUTE",
    "end": "PATTERN (A B $) FORGET 1 MINUTE",
}
STAY = {
    "numbers": ("MEASURES MATCH_NUMBER() AS n PATTERN (A B) WITHIN 10 SECONDS", MATCH_NUMBER_BYTES),
    "beginning": ("PATTERN (^ A B) WITHIN 10 SECONDS", 0),
}


def kernel_of(pattern: str) -> PatternKernel:
    names = [name for name in "ABC" if re.search(rf"\b{name}\b", pattern.partition("PATTERN")[2])]
    define = ", ".join(f"{name} AS s = '{name.lower()}'" for name in names)
    clause = f"MATCH_RECOGNIZE (PARTITION BY k {pattern} DEFINE {define})"
    plan = compile_text(f"{STREAM} CREATE QUERY q AS SELECT * FROM events {clause};")
    (group,) = plan.groups(0)
    assert isinstance(group.kernel, PatternKernel)
    return group.kernel


def events(keys: np.ndarray[Any, Any], at_s: int, s: str) -> Rows:
    """A row of each key at one time."""
    count = len(keys)
    return Rows.of(
        {
            "k": strings([f"key-{key:08d}" for key in keys.tolist()]),
            "at": Column(ColumnType.TIMESTAMP, np.full(count, at_s * SECOND)),
            "s": strings([s] * count),
            "x": Column(ColumnType.DOUBLE, np.arange(count, dtype=np.float64)),
        }
    )


def after_keys_came_and_went(kernel: PatternKernel, many: int) -> Any:
    """The state after so many keys had an `a` and a `b`, a hundred keys a second, and then nothing for an hour."""
    state = kernel.start(BEGINNING)
    for second, first in enumerate(range(0, many, 100)):
        keys = np.arange(first, min(first + 100, many))
        for at_s, s in ((3 * second, "a"), (3 * second + 1, "b")):
            state = kernel.step(state, events(keys, at_s, s), (at_s + 1) * SECOND).state
    return kernel.step(state, events(keys[:0], 0, ""), (3 * many + 3600) * SECOND).state


def saved_bytes(saved: Saved) -> int:
    runs = [run for store in saved.stores.values() for run in store.runs]
    return len(encode(saved.values)) + sum(len(encode(tree)) for run in runs for tree in run.trees())


@pytest.mark.parametrize("pattern", GONE.values(), ids=GONE.keys())
def test_nothing_is_stored_of_partitions_that_came_and_went(pattern: str) -> None:
    kernel = kernel_of(pattern)
    few, many = (after_keys_came_and_went(kernel, count) for count in (100, KEYS))
    assert [len(lane.store) for lane in many.lanes] == [0]
    assert abs(saved_bytes(kernel.save(many)) - saved_bytes(kernel.save(few))) < 16  # digits of a time
    assert saved_bytes(kernel.save(restored(kernel, many))) == saved_bytes(kernel.save(many))


@pytest.mark.parametrize(("pattern", "more"), STAY.values(), ids=STAY.keys())
def test_what_is_needed_of_a_partition_that_is_gone_has_the_size_that_is_documented(
    pattern: str, more: int
) -> None:
    (lane,) = after_keys_came_and_went(kernel_of(pattern), KEYS).lanes
    key = 8 + len("key-00000000")
    assert len(lane.store) == KEYS
    assert lane.store.everything().size <= KEYS * (EMPTY_RECORD_BYTES + more + key) + 64


def test_a_step_looks_at_the_rows_of_the_partitions_that_it_touches() -> None:
    kernel = kernel_of("MATCH EVERY PATTERN (A ~> B) WITHIN 1 HOUR")
    looked_at: list[int] = []

    def counted(test: RowTest) -> RowTest:
        def evaluate(rows: Rows) -> Any:
            looked_at.append(rows.count)
            return test.test(rows)

        return replace(test, test=evaluate)

    (query,) = kernel.queries
    tests = tuple(counted(test) if isinstance(test, RowTest) else test for test in query.tests)
    counting = PatternKernel(kernel.schema, [replace(query, tests=tests)], kernel.conditions)
    begun = counting.step(counting.start(BEGINNING), events(np.arange(KEYS), 1, "a"), 2 * SECOND).state
    looked_at.clear()
    after = counting.step(begun, events(np.arange(5), 3, "b"), 4 * SECOND)
    assert set(looked_at) == {10}  # an `a` that is kept and a `b`, of five partitions
    assert sum(block.rows.count for block in after.answers) == 5
    before, now = ({run.number for run in state.lanes[0].store.runs} for state in (begun, after.state))
    assert before < now, "what is kept of the others is as it was"
    assert len(after.state.lanes[0].store.runs[-1]) == 5
    assert after.complete_until == SECOND, "answers of the others may still come"


def test_equal_rows_keep_their_identity_when_the_first_is_no_longer_needed() -> None:
    kernel = kernel_of("MEASURES NEXT(A.x) AS y PATTERN (A)")
    row = events(np.arange(1), 1, "a")
    twice = row.take(np.array([0, 0]))
    alone = kernel.step(kernel.start(BEGINNING), twice, 10 * SECOND)
    rest = kernel.step(alone.state, events(np.arange(1), 11, "c"), 12 * SECOND)
    at_once = kernel.step(
        kernel.start(BEGINNING),
        Rows.of(
            {
                name: type(column).of(
                    column.type, column.tolist() * 2 + events(np.arange(1), 11, "c")[name].tolist()
                )
                for name, column in row.columns.items()
            }
        ),
        12 * SECOND,
    )
    identities = [block.rows["match_id"].tolist() for step in (alone, rest) for block in step.answers]
    (together,) = (block.rows["match_id"].tolist() for block in at_once.answers)
    assert [identity for block in identities for identity in block] == together
    assert len(set(together)) == 2


def test_a_step_writes_the_rows_that_came_and_not_all_that_are_stored() -> None:
    kernel = kernel_of("MATCH EVERY PATTERN (A ~> B) WITHIN 1 HOUR")
    state = kernel.step(kernel.start(BEGINNING), events(np.zeros(1, np.int64), 0, "a"), SECOND).state
    written: dict[tuple[str, int], int] = {}
    for second in range(1, 61):
        state = kernel.step(state, events(np.zeros(500, np.int64), second, "c"), (second + 1) * SECOND).state
        for name, store in kernel.save(state).stores.items():
            for run in store.runs:
                written.setdefault((name, run.number), sum(len(encode(tree)) for tree in run.trees()))
    (lane,) = state.lanes
    stored = lane.store.size + lane.blocks.size
    assert stored > 30_000 * 12
    assert sum(written.values()) < 12 * stored  # all that is kept at every step: 30 times
