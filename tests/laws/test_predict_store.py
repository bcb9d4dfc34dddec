"""The line store against its definition, and the laws that its readers rely on.

Every update has its number as its tolerance, which the store only passes on: so events can be told apart however slots are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.kernels.predict.choices import GiveUp
from headwater.kernels.predict.lines.events import LINE, PURGE, WHAT, Keys, Updates
from headwater.kernels.predict.lines.store import Happened, LineState, LineStore
from headwater.model import END, SECOND, decode, encode
from tests.laws.draws import bounded
from tests.laws.oracles import predict_store as oracle

SEEDS = st.integers(0, 2**32)
POLICIES: tuple[oracle.Policy, ...] = ("LEAST", "NEWEST", "OLDEST", "RANDOM")
WHATS = ("ADD", "LIFE", "GIVE_UP", "PURGE")


@dataclass(frozen=True)
class World:
    """Updates in stream order, cut into steps: each ends before an update, with a watermark not above its time."""

    updates: tuple[oracle.Update, ...]
    steps: tuple[tuple[int, int], ...]
    dimensions: int
    within_us: int
    buffer: int | None
    policy: oracle.Policy
    seed: int

    @property
    def store(self) -> LineStore:
        return LineStore(
            self.dimensions,
            self.within_us,
            buffer=self.buffer,
            give_up=GiveUp[self.policy],
            seed=self.seed,
        )

    @property
    def oracle(self) -> oracle.Store:
        return oracle.Store(self.within_us, self.buffer, self.policy, self.seed)

    @property
    def whole(self) -> tuple[tuple[int, int], ...]:
        """All at once."""
        return ((len(self.updates), END),)


def small_world(seed: int, policy: oracle.Policy | None) -> World:
    """Whole seconds and half numbers, so that sums are exact and ties are ties; many lines are equal or cross."""
    random = Random(seed)
    dimensions = random.choice([1, 1, 2, 3])
    span = random.choice([5, 20, 60])
    count = random.choice([0, 3, 12, 30, 30])
    rows = sorted((random.randint(0, span), random.randrange(random.randint(1, 5))) for _ in range(count))
    flat = random.random() < 0.2
    updates = [
        oracle.Update(
            number,
            key,
            second * SECOND,
            tuple(float(random.randint(-4, 4)) for _ in range(dimensions)),
            tuple(0.0 if flat else random.randint(-4, 4) / 2 for _ in range(dimensions)),
            random.choice([1, 3, 10, 10, 100]) * SECOND,
        )
        for number, (second, key) in enumerate(rows)
    ]
    return _world(random, updates, dimensions, policy, random.choice([0, 0, 2, 10]) * SECOND)


def large_world(seed: int, policy: oracle.Policy) -> World:
    """More lines than a few, so that those to be given up have to be looked for."""
    random = Random(seed)
    rows = sorted((random.randint(0, 100), random.randrange(12)) for _ in range(150))
    updates = [
        oracle.Update(number, key, second * SECOND, (float(random.randint(-9, 9)),), (0.0,), 40 * SECOND)
        for number, (second, key) in enumerate(rows)
    ]
    return replace(_world(random, updates, 1, policy, 60 * SECOND), buffer=random.choice([15, 40]))


def rough_world(seed: int, policy: oracle.Policy | None) -> World:
    """Any microsecond, any number."""
    random = Random(seed)
    rows = sorted(
        (random.randint(-(10**8), 10**8), random.randrange(4)) for _ in range(random.choice([10, 40]))
    )
    updates = [
        oracle.Update(
            number,
            key,
            time,
            (random.gauss(0, 100),),
            (random.gauss(0, 10),),
            random.randint(1, 10**8),
        )
        for number, (time, key) in enumerate(rows)
    ]
    return _world(random, updates, 1, policy, random.randint(0, 3 * 10**7))


def _world(
    random: Random,
    updates: list[oracle.Update],
    dimensions: int,
    policy: oracle.Policy | None,
    within_us: int,
) -> World:
    buffer = None if policy is None else random.choice([1, 2, 3, 5, 8])
    steps, at = [], 0
    watermark = updates[0].t0 if updates else 0
    while at < len(updates):
        at = min(len(updates), at + random.choice([0, 1, 2, 7, 15]))
        bound = updates[at].t0 if at < len(updates) else updates[-1].t0 + random.choice([1, 100 * SECOND])
        seen = max(watermark, updates[at - 1].t0) if at else watermark
        watermark = random.choice([seen, bound, random.randint(seen, bound)])
        steps.append((at, watermark))
    return World(
        tuple(updates),
        (*steps, (len(updates), END)),
        dimensions,
        within_us,
        buffer,
        policy or "LEAST",
        random.randint(-5, 2**63),
    )


def worlds(policy: oracle.Policy | None) -> st.SearchStrategy[World]:
    return SEEDS.map(lambda seed: (rough_world if seed % 4 == 0 else small_world)(seed, policy))


def any_worlds() -> st.SearchStrategy[World]:
    return st.sampled_from([None, *POLICIES]).flatmap(worlds)


def arrays(updates: tuple[oracle.Update, ...], dimensions: int, code: Any = None) -> Updates:
    return Updates(
        np.array([update.key if code is None else code[update.key] for update in updates], np.int64),
        np.array([update.t0 for update in updates], np.int64),
        np.array([update.values for update in updates], np.float64).reshape(-1, dimensions),
        np.array([update.slopes for update in updates], np.float64).reshape(-1, dimensions),
        np.array([update.number for update in updates], np.float64),
        np.array([update.heartbeat_us for update in updates], np.int64),
    )


def named(state: LineState, events: np.ndarray) -> list[oracle.Event]:
    """Events by the numbers of their updates; purges of one moment in the order of these."""
    found: list[oracle.Event] = []
    for what, slot, start, end, when in events.tolist():
        event = (WHATS[what], int(state.lines.tolerance[slot]), start, end, when)
        at = len(found)
        while event[0] == "PURGE" and at and found[at - 1][0] == "PURGE" and found[at - 1][4] == when:
            if found[at - 1][1] < event[1]:
                break
            at -= 1
        found.insert(at, event)
    return found


def run(
    world: World, steps: tuple[tuple[int, int], ...], code: Any = None, keys: Keys | None = None
) -> Iterator[tuple[LineState, list[oracle.Event], int, int]]:
    """After each step: the state, what happened, updates and seconds given up."""
    store = world.store
    state, done = store.start(), 0
    for until, watermark in steps:
        updates = arrays(world.updates[done:until], world.dimensions, code)
        state, happened = store.step(state, updates, watermark, keys)
        yield (
            state,
            named(state, happened.events),
            happened.updates_given_up,
            happened.seconds_given_up,
        )
        done = until


def everything(world: World, steps: tuple[tuple[int, int], ...], *, purges: bool) -> Any:
    """All events, with purges or without, and the counts."""
    parts = list(run(world, steps))
    events = [event for part in parts for event in part[1] if purges or event[0] != "PURGE"]
    return events, sum(part[2] for part in parts), sum(part[3] for part in parts)


def stored(state: LineState) -> list[tuple[int, int, int, int]]:
    """Sensor, number and life of all stored lines, by sensor and in the order of the stream."""
    lines, slots = state.lines, np.flatnonzero(state.stored)
    columns = (state.key, lines.tolerance.astype(np.int64), lines.start, lines.end)
    return sorted(zip(*(column[slots].tolist() for column in columns), strict=True))


@pytest.mark.parametrize("policy", [None, *POLICIES])
@bounded(400)
@given(st.data())
def test_what_happens_is_what_the_definition_says(policy: oracle.Policy | None, data: st.DataObject):
    check_against_the_definition(data.draw(worlds(policy)))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(6))
def test_a_large_buffer_does_what_the_definition_says(policy: oracle.Policy, seed: int):
    check_against_the_definition(large_world(seed, policy))


def check_against_the_definition(world: World) -> None:
    defined, done, given_up, seconds = world.oracle, 0, 0, 0
    for (until, watermark), (state, events, given_up_now, seconds_now) in zip(
        world.steps, run(world, world.steps), strict=True
    ):
        expected = [event for update in world.updates[done:until] for event in defined.take(update)]
        assert events == expected + defined.purge(watermark)
        assert stored(state) == sorted(
            (line.update.key, line.update.number, line.start, line.end) for line in defined.stored
        )
        given_up, seconds, done = given_up + given_up_now, seconds + seconds_now, until
        assert (given_up, seconds) == (defined.given_up, defined.handed_on_us // SECOND)


@bounded(400)
@given(any_worlds())
def test_steps_change_neither_lives_nor_what_is_given_up(world: World):
    assert everything(world, world.steps, purges=False) == everything(world, world.whole, purges=False)
    in_steps, at_once = (
        sorted(event[:4] for event in everything(world, steps, purges=True)[0] if event[0] == "PURGE")
        for steps in (world.steps, world.whole)
    )
    assert in_steps == at_once


@bounded(200)
@given(any_worlds(), SEEDS)
def test_keys_matter_and_their_codes_do_not(world: World, seed: int):
    code = Random(seed).sample(range(9), 9)
    rank, identity = np.zeros(9, np.int64), np.zeros(9, np.int64)
    rank[code], identity[code] = 10 * np.arange(9), np.arange(9)
    events = [part[1:] for part in run(world, world.steps, code, Keys(rank, identity))]
    assert events == [part[1:] for part in run(world, world.steps)]


@bounded(200)
@given(any_worlds())
def test_a_step_changes_nothing_that_it_is_given_and_can_be_taken_again(world: World):
    store, done = world.store, 0
    state = store.start()
    for until, watermark in world.steps:
        updates = arrays(world.updates[done:until], world.dimensions)
        before = [column.copy() for column in (*_columns(state), *updates)]
        following, happened = store.step(state, updates, watermark)
        again, happened_again = store.step(state, updates, watermark)
        for column, was in zip((*_columns(state), *updates), before, strict=True):
            np.testing.assert_array_equal(column, was)
        np.testing.assert_array_equal(happened.events, happened_again.events)
        for column, same in zip(_columns(following), _columns(again), strict=True):
            np.testing.assert_array_equal(column, same)
        state, done = following, until


@bounded(200)
@given(any_worlds())
def test_a_saved_store_goes_on_as_it_would_have(world: World):
    store, done = world.store, 0
    state, saved = store.start(), store.start()
    for until, watermark in world.steps:
        updates = arrays(world.updates[done:until], world.dimensions)
        state, happened = store.step(state, updates, watermark)
        saved, happened_saved = store.step(saved, updates, watermark)
        assert _without_slots(happened, state) == _without_slots(happened_saved, saved)
        assert happened.updates_given_up == happened_saved.updates_given_up
        assert happened.seconds_given_up == happened_saved.seconds_given_up
        codes = np.arange(len(saved.last))
        saved, done = store.load(decode(encode(store.save(saved, codes)))), until
        assert saved.stored[: np.count_nonzero(saved.stored)].all()


def _without_slots(happened: Happened, state: LineState) -> tuple[list[list[int]], list[list[int]]]:
    """Events with lines by sensor and update time, and those of lines purged apart: slots decide the order of the latter."""
    slots = happened.events[:, LINE]
    named = np.column_stack([happened.events, state.key[slots], state.lines.t0[slots]])
    named[:, LINE] = 0
    is_purge = happened.events[:, WHAT] == PURGE
    return named[~is_purge].tolist(), sorted(named[is_purge].tolist())


@bounded(200)
@given(any_worlds())
def test_slots_are_used_again_only_in_a_later_step_and_a_buffer_is_never_exceeded(world: World):
    store, done = world.store, 0
    state = store.start()
    held: set[int] = set()
    for until, watermark in world.steps:
        updates = arrays(world.updates[done:until], world.dimensions)
        state, happened = store.step(state, updates, watermark)
        freed: set[int] = set()
        for event in happened.events.tolist():
            what, slot = WHATS[event[WHAT]], event[LINE]
            if what == "ADD":
                assert slot not in held | freed
                held.add(slot)
            else:
                assert slot in held
            if what in ("GIVE_UP", "PURGE"):
                held.remove(slot)
                freed.add(slot)
            assert world.buffer is None or len(held) <= world.buffer
        assert held == set(np.flatnonzero(state.stored).tolist())
        done = until


@bounded(300)
@given(worlds("LEAST"))
def test_contributions_and_neighbours_are_always_those_of_the_stored_lines(world: World):
    for state, *_ in run(world, world.steps):
        known = oracle.Store(world.within_us, world.buffer)
        slots = {int(state.lines.tolerance[slot]): slot for slot in np.flatnonzero(state.stored)}
        for key, number, start, end in stored(state):
            known.sensors.setdefault(key, []).append(oracle.Line(world.updates[number], start, end))
        for lines in known.sensors.values():
            places = [-1, *(slots[line.update.number] for line in lines), -1]
            for line, before, slot, after in zip(lines, places, places[1:], places[2:], strict=False):
                assert (state.before[slot], state.after[slot]) == (before, after)
                worth = known.contribution(line)
                assert state.worth[slot] == worth or math.isclose(state.worth[slot], worth, rel_tol=1e-9)
        last = {key: slots[lines[-1].update.number] for key, lines in known.sensors.items()}
        assert {key: slot for key, slot in enumerate(state.last.tolist()) if slot >= 0} == last


def _columns(state: LineState) -> list[Any]:
    values = [getattr(state, field.name) for field in fields(state)]
    return [*values[0], *(np.asarray(value) for value in values[1:])]
