"""FENCE from text to answers against its oracle, and the laws of every kernel, at the level of a zone's program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.hosts.zone import Program
from headwater.kernels.fence import by_key, updates
from headwater.kernels.fence.by_key import ByKey
from headwater.kernels.fence.geometry import side
from headwater.kernels.fence.moving_step import Sides
from headwater.model import BEGINNING
from headwater.query.planning.groups import Group
from tests.laws.draws import bounded
from tests.laws.fence_worlds import KINDS, FenceWorld, worlds
from tests.laws.oracles import fence
from tests.laws.quiet_kernels import BegunAnewWhereBlank, SteppedWhileNothingIsDue
from tests.laws.zone_runs import (
    Answers,
    Row,
    Steps,
    collected,
    lock,
    ordered_steps,
    run_changed,
    run_plan,
    steps_of,
)

# --- the oracle -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@bounded(150)
@given(data=st.data())
def test_fence_emits_what_the_oracle_emits(kind: str, data: st.DataObject):
    world = data.draw(worlds(kind))
    emitted, counts = run(world)
    for question in world.questions:
        found = [without_names(row) for row in emitted.get(question.name, [])]
        assert by_content(found) == by_content(world.oracle(question))
        positions, fences = world.positions(question), world.fences(question)
        expected = {
            f"positions_without_place:{question.name}": sum(
                not fence.is_update(update) for update in positions
            ),
            f"fences_without_place:{question.name}": sum(not fence.is_update(update) for update in fences),
            f"fences_without_shape:{question.name}": sum(
                fence.is_update(update) and update.shape is None for update in fences
            ),
        }
        assert {name: counts.get(name, 0) for name in expected} == expected


def without_names(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("query", "match_id")}


numbers = st.floats(-1e100, 1e100, allow_subnormal=False).filter(
    lambda x: x == 0 or abs(x) > 1e-100
) | st.sampled_from([n * 0.1 for n in range(-9, 10)])


@bounded(3000)
@example((0.1, 0.1, 0.3, 0.3, 0.2, 0.2))
@example((0.1, 0.1, 0.7, 0.7, 0.3, 0.3))
@given(st.tuples(*[numbers] * 6))
def test_the_side_of_a_line_is_exact(given: tuple[float, ...]):
    ax, ay, bx, by, x, y = map(Fraction, given)
    turn = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    assert side(*given) == (turn > 0) - (turn < 0)


@pytest.fixture
def always_by_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few are known, and however many rows there are, a step takes those whom it needs."""
    for name in ("FEW", "TAKES_ALL", "TAKES_SOME"):
        monkeypatch.setattr(by_key, name, 0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "standing"])
@bounded(60)
@given(data=st.data())
def test_a_step_that_takes_those_it_needs_emits_what_the_oracle_emits(
    always_by_key, kind: str, data: st.DataObject
):
    world = data.draw(worlds(kind))
    whole = run(world)
    for question in world.questions:
        found = [without_names(row) for row in whole[0].get(question.name, [])]
        assert by_content(found) == by_content(world.oracle(question))
    same(run(world, steps_of(world), restoring=True), whole)
    same(run(world, steps_of(world), zones=2), whole)


@bounded(60)
@given(world=worlds(), few=st.integers(0, 6), all_of=st.integers(0, 4), some_of=st.integers(0, 4))
def test_when_a_step_takes_everybody_is_a_matter_of_speed(
    world: FenceWorld, few: int, all_of: int, some_of: int
):
    """Law 7: forms of the state are turned into one another."""
    whole = run(world)
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (("FEW", few), ("TAKES_ALL", all_of), ("TAKES_SOME", some_of)):
            patched.setattr(by_key, name, value)
        same(run(world, steps_of(world), restoring=True), whole)


# --- the laws -------------------------------------------------------------------------------------------------------------


@bounded(200)
@given(world=worlds())
def test_any_split_gives_the_same_answers(world: FenceWorld):
    """Law 2, identities included: every stream is cut by itself."""
    same(run(world, steps_of(world)), run(world))


@bounded(200)
@given(world=worlds())
def test_restoring_changes_nothing(world: FenceWorld):
    """Law 4: through bytes between every two steps."""
    same(run(world, steps_of(world), restoring=True), run(world))


@pytest.mark.parametrize("zones", [2, 3])
@bounded(120)
@given(world=worlds())
def test_zones_share_the_answers_out(zones: int, world: FenceWorld):
    same(run(world, steps_of(world), zones=zones), run(world))


@bounded(100)
@given(world=worlds())
def test_stretches_of_any_size_give_the_same_answers(world: FenceWorld):
    """Law 7: what is taken at once where fences move is a matter of speed."""
    whole = run(world)
    before = updates.LEAST_STRETCH
    try:
        updates.LEAST_STRETCH = 1  # type: ignore[misc]
        same(run(world), whole)
    finally:
        updates.LEAST_STRETCH = before  # type: ignore[misc]


@bounded(100)
@given(world=worlds())
def test_a_step_from_an_old_state_gives_again_what_it_gave(world: FenceWorld):
    """Law 5: no step writes to its state or its rows."""
    plan = world.plan()
    program = Program(plan)
    groups = program.start().groups
    gave = []
    for ordered in ordered_steps(world, plan, steps_of(world)):
        lock(rows for rows, _ in ordered.values())
        following, answers, counts = program.advance(groups, ordered)
        gave.append((groups, ordered, collected(answers), dict(counts)))
        groups = following
    for groups, ordered, emitted, counts in [*reversed(gave), *gave]:
        _, answers, again = program.advance(groups, ordered)
        assert (collected(answers), dict(again)) == (emitted, counts)


@bounded(100)
@given(world=worlds())
def test_answers_come_in_order_and_in_their_step(world: FenceWorld):
    """An answer is told in the step in which time passes it."""
    plan = world.plan()
    program = Program(plan)
    groups, before = program.start().groups, BEGINNING
    for ordered in ordered_steps(world, plan, steps_of(world)):
        groups, answers, _ = program.advance(groups, ordered)
        reached = max(until for _, until in ordered.values())
        for rows in collected(answers).values():
            times = [row["event_time"] for row in rows]
            assert times == sorted(times)
            assert all(before <= time < reached for time in times)
        before = min(until for _, until in ordered.values())


@pytest.mark.parametrize("kind", KINDS)
@bounded(20)
@given(data=st.data())
def test_steps_before_anything_is_due_change_nothing(kind: str, data: st.DataObject):
    """Law 8: what a kernel says of its states to a host that leaves out steps is true."""
    world = data.draw(worlds(kind))
    steps = steps_of(world)
    altered = run_plan(world, world.plan(), steps, alter=stepped_while_nothing_is_due)
    assert altered == run(world, steps)


@pytest.mark.parametrize("kind", KINDS)
@bounded(20)
@given(data=st.data())
def test_blank_states_go_on_as_the_empty_one(kind: str, data: st.DataObject):
    """Law 8: a host may leave out states of which nothing is known. There is a step before the rows of every time."""
    world = data.draw(worlds(kind))
    times = {int(time) for rows in world.rows.values() for time in rows["at"].values}
    steps: Steps = [dict.fromkeys(world.rows, time) for time in sorted(times)]
    altered = run_plan(world, world.plan(), steps, alter=begun_anew_where_blank)
    assert altered == run(world, steps)


def stepped_while_nothing_is_due(group: Group) -> Group:
    kernel: Any = group.kernel
    return replace(group, kernel=SteppedWhileNothingIsDue(kernel, kernel.schema.time))


def begun_anew_where_blank(group: Group) -> Group:
    return replace(group, kernel=BegunAnewWhereBlank(group.kernel))


@bounded(80)
@given(world=worlds())
def test_every_query_answers_as_it_does_alone(world: FenceWorld):
    together, _ = run(world)
    for question in world.questions:
        alone, _ = run(world, text=world.text_of([question]))
        assert alone.get(question.name, []) == together.get(question.name, [])


@bounded(80)
@given(world=worlds())
def test_queries_come_and_go_unnoticed(world: FenceWorld):
    """Law 4 with other queries: those that stay answer as if nothing had happened."""
    undisturbed, _ = run(world)
    stays = world.questions[0]
    steps = steps_of(world)
    for change in range(len(steps)):
        for before, after in ((world.questions, [stays]), ([stays], world.questions)):
            emitted = changed(world, steps, change, world.text_of(before), world.text_of(after))
            assert by_content(emitted.get(stays.name, [])) == by_content(undisturbed.get(stays.name, []))


@bounded(100)
@given(world=worlds())
def test_nobody_is_remembered_who_is_forgotten(world: FenceWorld):
    """Law 6: what is kept is one row for everybody heard of within FORGET."""
    assert_nobody_is_left(world)


@bounded(60)
@given(world=worlds())
def test_no_record_is_left_of_who_is_forgotten(always_by_key, world: FenceWorld):
    assert_nobody_is_left(world)


def assert_nobody_is_left(world: FenceWorld) -> None:
    plan = world.plan()
    program = Program(plan)
    groups = program.start().groups
    for ordered in ordered_steps(world, plan, steps_of(world)):
        groups, _, _ = program.advance(groups, ordered)
    for name, state in groups.items():
        if name.startswith("fence:"):
            assert all(known_of(part.moving) == 0 for part in state.query_states)


def known_of(moving: Sides | ByKey) -> int:
    """How many are known, and how many boxes, by whatever they are looked for."""
    if isinstance(moving, Sides):
        return moving.known
    return sum(len(side.store) + len(side.near.entries) for side in (moving.objects, moving.fences))


def same(one: tuple[Answers, dict[str, int]], other: tuple[Answers, dict[str, int]]) -> None:
    """The same answers, and the same counts."""
    assert {name: by_content(rows) for name, rows in one[0].items()} == {
        name: by_content(rows) for name, rows in other[0].items()
    }
    assert one[1] == other[1]


def by_content(rows: Sequence[Row]) -> list[str]:
    return sorted(map(repr, rows))


# --- runs -----------------------------------------------------------------------------------------------------------------


def run(
    world: FenceWorld,
    steps: Steps | None = None,
    *,
    text: str = "",
    zones: int = 1,
    restoring: bool = False,
) -> tuple[Answers, dict[str, int]]:
    return run_plan(world, world.plan(text, zones=zones), steps, restoring=restoring)


def changed(world: FenceWorld, steps: Steps, change: int, before: str, after: str) -> Answers:
    return run_changed(world, steps, change, world.plan(before), world.plan(after))
