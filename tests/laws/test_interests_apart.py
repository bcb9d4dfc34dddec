"""Kernels that keep the rows of many interests apart: each is answered as if it had a kernel of its own, also when it is split off or left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.kernels.pattern.kernel import PatternKernel
from headwater.kernels.select import SelectKernel
from headwater.model import BEGINNING, END, INTEREST_SERIAL, Column, ColumnType, Instant, Kernel, Rows
from tests.laws.draws import bounded
from tests.laws.pattern_worlds import event_patterns, node_patterns, preferred_patterns
from tests.laws.quiet_kernels import SteppedWhileNothingIsDue, nobody_is_due
from tests.laws.test_pattern_laws import worlds as pattern_worlds
from tests.laws.test_select_laws import SelectWorld
from tests.laws.test_select_laws import worlds as select_worlds

INTERESTS = (3, 4, 1 << 40)
TIME = "at"  # the column of both kinds of worlds
WORLDS = {
    "select": select_worlds(),
    "preferred": pattern_worlds(preferred_patterns(), 9),
    "every": pattern_worlds(event_patterns(), 9),
    "node": pattern_worlds(node_patterns(), 9),
}


@dataclass(frozen=True)
class InterestWorld:
    """A kernel that keeps interests apart, rows of interests by INTEREST_SERIAL, and where they are cut."""

    kernel: Any
    rows: Rows
    watermarks: list[Instant]
    random: Random

    def rows_of(self, interests: tuple[int, ...]) -> Rows:
        return self.rows.take(np.isin(self.rows[INTEREST_SERIAL].values, interests))


@st.composite
def worlds(draw: st.DrawFn, kind: str) -> InterestWorld:
    world: Any = draw(WORLDS[kind])
    random = Random(draw(st.integers(0, 1 << 32)))
    of = np.array([random.choice(INTERESTS) for _ in range(world.rows.count)], np.int64)
    rows = world.rows.having(**{INTEREST_SERIAL: Column(ColumnType.BIGINT, of)})
    alone = world.kernel()
    kernel: Kernel[Any]
    if isinstance(world, SelectWorld):
        kernel = SelectKernel(alone.schema, alone.queries, alone.conditions, by_interest=True)
    else:
        queries = [replace(query, by_interest=True) for query in alone.queries]
        kernel = PatternKernel(alone.schema, queries, alone.conditions)
    return InterestWorld(kernel, rows, list(world.watermarks), random)


@pytest.mark.parametrize("kind", WORLDS)
@bounded(40)
@given(data=st.data())
def test_every_interest_is_answered_as_if_it_had_a_kernel_of_its_own(kind: str, data: st.DataObject):
    world = data.draw(worlds(kind))
    together = answers_of(world.kernel, world.rows, world.watermarks)
    alone = [answers_of(world.kernel, world.rows_of((one,)), world.watermarks) for one in INTERESTS]
    assert together == [sorted(chain(*steps)) for steps in zip(*alone, strict=True)]


@pytest.mark.parametrize("kind", WORLDS)
@bounded(40)
@given(data=st.data())
def test_an_interest_that_is_not_due_may_be_stepped_or_left_out(kind: str, data: st.DataObject):
    world = data.draw(worlds(kind))
    for one in INTERESTS:
        rows = world.rows_of((one,))
        quiet = SteppedWhileNothingIsDue(world.kernel, TIME, nobody_is_due)
        assert answers_of(quiet, rows, world.watermarks) == answers_of(world.kernel, rows, world.watermarks)


@pytest.mark.parametrize("kind", WORLDS)
@bounded(40)
@given(data=st.data())
def test_only_those_that_are_due_answer_a_step_without_rows(kind: str, data: st.DataObject):
    world = data.draw(worlds(kind))
    state, after = world.kernel.start(BEGINNING), BEGINNING
    for watermark in world.watermarks:
        state = world.kernel.step(state, between(world.rows, after, watermark), watermark).state
        after = watermark
        for until in (watermark + 1, watermark + 1_500_000, watermark + 60_000_000):
            due = set(world.kernel.due_interests(state, until).tolist())
            step = world.kernel.step(state, between(world.rows, 0, 0), until)
            assert due <= set(INTERESTS)
            assert {row[INTEREST_SERIAL] for block in step.answers for row in block.rows.tolist()} <= due
            assert until > world.kernel.next_due(state) or not due


@pytest.mark.parametrize("kind", WORLDS)
@bounded(40)
@given(data=st.data())
def test_interests_that_are_split_off_go_on_as_they_would_have(kind: str, data: st.DataObject):
    world = data.draw(worlds(kind))
    expected = answers_of(world.kernel, world.rows, world.watermarks)
    some = tuple(sorted(world.random.sample(INTERESTS, world.random.randint(0, 3))))
    rest = tuple(one for one in INTERESTS if one not in some)
    for cut in range(len(world.watermarks)):
        state, after = world.kernel.start(BEGINNING), BEGINNING
        for watermark in world.watermarks[: cut + 1]:
            state = world.kernel.step(state, between(world.rows, after, watermark), watermark).state
            after = watermark
        parts = world.kernel.split(state, np.array(some, np.int64))
        later = [
            answers_of(world.kernel, world.rows_of(of), world.watermarks[cut + 1 :], part, after)
            for of, part in zip((some, rest), parts, strict=True)
        ]
        assert expected[cut + 1 :] == [sorted(chain(*steps)) for steps in zip(*later, strict=True)]


def answers_of(
    kernel: Kernel[Any],
    rows: Rows,
    watermarks: list[Instant],
    state: Any = None,
    after: Instant = BEGINNING,
) -> list[list[str]]:
    """What the steps emit, in any order."""
    state, steps = kernel.start(BEGINNING) if state is None else state, []
    for watermark in [*watermarks, END]:
        step = kernel.step(state, between(rows, after, watermark), watermark)
        steps.append(sorted(repr(row) for block in step.answers for row in block.rows.tolist()))
        state, after = step.state, watermark
    return steps


def between(rows: Rows, start: Instant, stop: Instant) -> Rows:
    times = rows[TIME].values
    return rows.take((times >= start) & (times < stop))
