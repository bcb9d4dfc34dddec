"""NEAREST against its oracle and the laws of every kernel, and what is true of it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from headwater.kernels.nearest import grid, query_sets
from headwater.kernels.nearest.choices import Algorithm, Emission
from headwater.kernels.nearest.query_sets import QuerySet
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import BEGINNING, END, Instant
from tests.laws.draws import bounded
from tests.laws.kernel_laws import (
    LAWS,
    Row,
    any_split_gives_the_same_answers,
    between_times,
    equals_the_oracle,
    restored,
    run,
)
from tests.laws.nearest_worlds import (
    ROW_CONDITIONS,
    NearestWorld,
    emitting,
    long_worlds,
    most_stored,
    worlds,
)
from tests.laws.oracles import nearest as oracle


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(150)
@given(world=worlds())
def test_nearest_keeps_the_law(law, world: NearestWorld):
    law(world)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(15)
@given(world=long_worlds())
def test_nearest_keeps_the_law_over_many_rows(law, world: NearestWorld):
    law(world)


@bounded(150)
@given(world=worlds())
def test_an_index_that_is_drawn_at_every_object_changes_nothing(eager_index, world: NearestWorld):
    whole = replace(world, before=tuple(replace(query, per=None, forget_us=None) for query in world.before))
    equals_the_oracle(whole)
    any_split_gives_the_same_answers(whole)


@pytest.fixture
def eager_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid for a single point already, and drawn anew whenever there is a chance to."""
    monkeypatch.setattr(query_sets, "FEWEST", 1)
    monkeypatch.setattr(grid, "FEWEST", 1)
    budget = QuerySet._budget
    monkeypatch.setattr(QuerySet, "_budget", lambda of, grid: 0 if of.indexed else budget(of, grid))


# --- time -----------------------------------------------------------------------------------------------------------------


@bounded(100)
@given(world=worlds())
def test_answers_come_in_order_and_as_soon_as_time_allows(world: NearestWorld):
    kernel = world.kernel()
    state, after = kernel.start(BEGINNING), BEGINNING
    for watermark in [*world.watermarks, END]:
        step = kernel.step(state, between_times(world, after, watermark), watermark)
        assert step.complete_until == watermark
        for block in step.answers:
            times = block.rows["event_time"].values
            assert (times[1:] >= times[:-1]).all()
        state, after = step.state, watermark


# --- points and queries -----------------------------------------------------------------------------------------------------


@bounded(150)
@given(world=worlds())
def test_points_come_go_and_move_without_disturbing_the_others(world: NearestWorld):
    undisturbed = run(world, [END]).emitted
    old = {query.name: query for query in world.before}
    for change in world.watermarks:
        before = run(world, [w for w in world.watermarks if w <= change])
        kernel = world.kernel(after_change=True)
        state = restored(world.kernel(), before.state, kernel, since=change)
        rest = [*(w for w in world.watermarks if w > change), END]
        later = run(world, rest, kernel=kernel, state=state, after=change, complete=before.complete)
        fresh = world.oracle(change, after_change=True)
        for query in world.after:
            if query.name not in world.repointed:
                continue
            for point in oracle.points(query):
                emitted = _of_point(later.emitted[query.name], point[0])
                if point in oracle.points(old[query.name]):
                    emitted = _of_point(before.emitted[query.name], point[0]) + emitted
                    assert emitted == _of_point(undisturbed[query.name], point[0])
                else:
                    assert _sorted(emitted) == _sorted(_of_point(fresh[query.name], point[0]))


def _of_point(rows: Sequence[Row], point: Any) -> list[Row]:
    return [row for row in rows if row.get("point") == point]


def _sorted(rows: Sequence[Row]) -> list[str]:
    """Answers without their identities, in some order."""
    return sorted(repr({name: item for name, item in row.items() if name != "match_id"}) for row in rows)


@bounded(80)
@given(world=worlds())
def test_a_state_that_goes_to_two_holders_goes_on_as_one_would(world: NearestWorld):
    undisturbed = run(world, [END]).emitted
    for change in world.watermarks:
        before = run(world, [w for w in world.watermarks if w <= change])
        parts = []
        for queries in _halves(world.before):
            kernel = world.kernel_of(queries)
            state = restored(world.kernel(), before.state, kernel, since=change)
            parts.append(
                run(world, [END], kernel=kernel, state=state, after=change, complete=before.complete)
            )
        for name in world.queries:
            emitted = [row for part in (before, *parts) for row in part.emitted[name]]
            assert _with_ids(emitted) == _with_ids(undisturbed[name])


def _halves(queries: Sequence[NearestQuery]) -> list[list[NearestQuery]]:
    """Every other query, or every other point of a query that has several."""
    halves: tuple[list[NearestQuery], list[NearestQuery]] = ([], [])
    for n, query in enumerate(queries):
        ids = query.points.ids
        if ids is None or len(ids) < 2:
            halves[n % 2].append(query)
            continue
        for half in (0, 1):
            mine = np.arange(half, len(ids), 2)
            halves[half].append(replace(query, points=Points(query.points.coordinates[mine], ids.take(mine))))
    return [half for half in halves if half]


def _with_ids(rows: Sequence[Row]) -> list[str]:
    return sorted(map(repr, rows))


@bounded(80)
@given(world=worlds())
def test_every_query_answers_as_it_does_alone(world: NearestWorld):
    together = run(world, [END])
    counts: Counter[str] = Counter()
    for query in world.before:
        alone = run(world, [END], kernel=world.kernel_of([query]))
        counts.update(alone.counts)
        assert alone.emitted[query.name] == together.emitted[query.name]
    assert dict(counts) == together.counts


@bounded(80)
@given(world=worlds())
def test_exact_algorithms_are_one(world: NearestWorld):
    exact = [replace(query, sigma=None) for query in world.before]
    emitted = [
        run(
            world,
            [END],
            kernel=world.kernel_of([replace(query, algorithm=algorithm) for query in exact]),
        ).emitted
        for algorithm in (Algorithm.RA, Algorithm.RAPF)
    ]
    assert emitted[0] == emitted[1]


# --- what is kept ---------------------------------------------------------------------------------------------------------------


@bounded(100)
@given(world=long_worlds())
def test_all_that_may_become_an_answer_is_stored_and_little_else(world: NearestWorld):
    """RA keeps the strict k-skyband. RAPF may put off what is in its recent buffer; PA keeps no more than R*."""
    kernel = world.kernel()
    state, after = kernel.start(BEGINNING), BEGINNING
    for watermark in [*world.watermarks, END]:
        state = kernel.step(state, between_times(world, after, watermark), watermark).state
        after = watermark
        found = kernel.candidates(state)
        for query, name, window in world.windows_before(watermark):
            stored = Counter(time for time, *_ in found.get(name, []))
            assert stored <= Counter(one.time for one in window)
            assert stored.total() <= most_stored(query)
            if query.algorithm is Algorithm.PA:
                continue
            expected = oracle.skyband(query, window)
            if query.algorithm is Algorithm.RAPF:
                old = window[-1].count - (world.recent or 1 << 30) if window else 0
                expected = [one for one in expected if one.count < old]
                assert Counter(one.time for one in oracle.nearest(query, window)) <= stored
            assert Counter(one.time for one in expected) <= stored


# --- the mirror --------------------------------------------------------------------------------------------------------------


@bounded(100)
@given(world=worlds())
def test_a_mirror_of_the_changes_holds_the_set_at_every_instant(world: NearestWorld):
    world = emitting(world, Emission.CHANGES)
    emitted = run(world, [*world.watermarks, END]).emitted
    for query in world.before:
        moments = [
            (point[0], oracle.history(query, found))
            for point, _, found in oracle.windows(world.schema, world.listed, query, ROW_CONDITIONS)
        ]
        instants = {moment.time for _, history in moments for moment in history}
        assert {row["event_time"] for row in emitted[query.name]} <= instants
        mirror: Counter[str] = Counter()
        waiting = sorted(emitted[query.name], key=lambda row: row["event_time"])
        for instant in sorted(instants):
            while waiting and waiting[0]["event_time"] == instant:
                change = waiting.pop(0)
                mirror[_content(change)] += 1 if change["change"] == "enter" else -1
            assert min(mirror.values(), default=0) >= 0
            assert +mirror == _set_at(world, query, moments, instant)


def _set_at(
    world: NearestWorld,
    query: NearestQuery,
    moments: Sequence[tuple[Any, Sequence[oracle.Moment]]],
    instant: Instant,
) -> Counter[str]:
    """What is near to each point just after an instant, of all PER values together."""
    found: Counter[str] = Counter()
    for point, history in moments:
        past = [moment for moment in history if moment.time <= instant]
        for one in past[-1].nearest if past else []:
            found[_content(oracle.answer(world.schema, query, (point, ()), instant, "enter", one))] += 1
    return found


def _content(row: Row) -> str:
    left_out = ("query", "event_time", "match_id", "change")
    return repr({name: item for name, item in row.items() if name not in left_out})
