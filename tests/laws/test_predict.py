"""PREDICT against its oracle and the laws of every kernel, and what is true of it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.kernels.predict.choices import GiveUp
from headwater.model import END, Instant
from tests.laws.draws import bounded
from tests.laws.kernel_laws import (
    LAWS,
    any_split_gives_the_same_answers,
    equals_the_oracle,
    inputs_are_not_modified,
    new_queries_see_what_comes,
    optimisations_change_nothing,
    restored,
    restoring_changes_nothing,
    run,
    state_stays_below_its_bound,
)
from tests.laws.oracles import predict as oracle
from tests.laws.predict_worlds import ROW_CONDITIONS, PredictWorld, agree, worlds

Row = dict[str, Any]
KINDS = ("value", "pair", "planes", "distance", "three", "odds")

# The oracle knows times to the microsecond, so these two are asked in our own way.
BY_THE_ORACLE = (equals_the_oracle, new_queries_see_what_comes)
OTHERS = [law for law in LAWS if law not in (*BY_THE_ORACLE, state_stays_below_its_bound)]


@pytest.mark.parametrize("law", OTHERS, ids=lambda law: law.__name__)
@bounded(60)
@given(world=worlds())
def test_predict_keeps_the_law(law, world: PredictWorld):
    law(world)


@bounded(25)
@given(world=worlds())
def test_the_state_of_predict_stays_below_its_bound(world: PredictWorld):
    """Lines that ended less than w before the watermark, and answers that are not over."""
    state_stays_below_its_bound(world)


@pytest.mark.parametrize("kind", KINDS)
@bounded(40)
@given(data=st.data())
def test_predict_emits_what_the_oracle_emits(kind: str, data: st.DataObject):
    world = data.draw(worlds(kind))
    done = run(world, [END])
    for query in world.before:
        agree(done.emitted[query.name], world.emitted(query), query)
    assert done.counts == world.oracle_counts()


@bounded(40)
@given(world=worlds())
def test_new_queries_see_what_comes(world: PredictWorld):
    for change in world.watermarks:
        before = run(world, [w for w in world.watermarks if w <= change])
        kernel = world.kernel(after_change=True)
        state = restored(world.kernel(), before.state, kernel, since=change)
        rest = [*(w for w in world.watermarks if w > change), END]
        later = run(world, rest, kernel=kernel, state=state, after=change, complete=before.complete)
        for query in world.after:
            if query.name not in world.queries or query.name in world.replaced:
                agree(later.emitted[query.name], world.emitted(query, change), query)


# --- telling -----------------------------------------------------------------------------------------------------------------


@bounded(80)
@given(world=worlds(emission="tentative"))
def test_what_remains_of_the_tentative_answers_is_what_is_validated(world: PredictWorld):
    """The latest row of every match_id, without those that are withdrawn, against one row per answer."""
    done = run(world, [END])
    certain = [replace(query, tentative=False, ahead_us=None) for query in world.before]
    validated = run(world, [END], kernel=world.kernel_of(certain)).emitted
    for name, rows in done.emitted.items():
        assert by_answer(standing(rows)) == by_answer(validated.get(name, []))


@bounded(50)
@given(world=worlds(emission="ahead"))
def test_what_is_emitted_ahead_is_part_of_what_is_emitted_at_once(world: PredictWorld):
    """AHEAD tells every answer that comes to its time, and each in the end as it stands."""
    done = run(world, [END])
    at_once = run(
        world, [END], kernel=world.kernel_of([replace(query, ahead_us=None) for query in world.before])
    ).emitted
    for name, rows in done.emitted.items():
        stands = by_answer(standing(rows))
        assert stands == by_answer(standing(at_once.get(name, [])))
        assert {row["match_id"] for row in rows} <= {row["match_id"] for row in at_once.get(name, [])}


@bounded(50)
@given(world=worlds(emission="every"))
def test_ticks_are_parts_of_the_answers_they_belong_to(world: PredictWorld):
    for query in world.before:
        rows = run(world, [END], kernel=world.kernel_of([query])).emitted[query.name]
        last = {row["match_id"]: row for row in sorted(rows, key=lambda row: row["event_time"])}
        assert query.every_us is not None
        for row in rows:
            whole = last[row["match_id"]]
            assert row["event_time"] == row["ends"] <= whole["ends"]
            assert row["begins"] == whole["begins"]
            assert row is whole or row["ends"] % query.every_us == 0
        ticks = Counter(row["match_id"] for row in rows)
        for match, whole in last.items():
            first = -(-whole["begins"] // query.every_us) * query.every_us
            assert ticks[match] == 1 + max(0, -(-(whole["ends"] - first) // query.every_us))


def standing(rows: Sequence[Row]) -> list[Row]:
    """What stands in the end of what was told, in the order in which it was told."""
    latest: dict[str, Row] = {}
    for row in in_order_of_emission(rows):
        latest[row["match_id"]] = row
    return [row for row in latest.values() if not row["withdrawn"]]


def in_order_of_emission(rows: Sequence[Row]) -> list[Row]:
    """By time; of one time, an answer is made before it is cut, and cut before it is withdrawn."""
    return sorted(rows, key=lambda row: (row["event_time"], row["withdrawn"], -row["ends"], row["begins"]))


def by_answer(rows: Sequence[Row]) -> dict[str, tuple[Instant, Instant]]:
    return {row["match_id"]: (row["begins"], row["ends"]) for row in rows}


# --- zones and queries ---------------------------------------------------------------------------------------------------------


@bounded(50)
@given(world=worlds(), zones=st.sampled_from([2, 3, 5]))
def test_zones_share_the_pairs_out(world: PredictWorld, zones: int):
    whole = run(world, [*world.watermarks, END]).emitted
    parts: dict[str, list[Row]] = {name: [] for name in whole}
    for zone in range(zones):
        queries = [replace(query, share=(zone, zones)) for query in world.before if len(query.aliases) > 1]
        emitted = run(world, [*world.watermarks, END], kernel=world.kernel_of(queries)).emitted
        for name, rows in emitted.items():
            parts[name] += rows
    for query in world.before:
        if len(query.aliases) > 1:
            assert as_set(parts[query.name]) == as_set(whole[query.name])


@bounded(50)
@given(world=worlds())
def test_every_query_answers_as_it_does_alone(world: PredictWorld):
    together = run(world, [END])
    counts: Counter[str] = Counter()
    for query in world.before:
        alone = run(world, [END], kernel=world.kernel_of([query]))
        counts.update(alone.counts)
        assert alone.emitted[query.name] == together.emitted[query.name]
    assert dict(counts) == together.counts


def as_set(rows: Sequence[Row]) -> list[str]:
    return sorted(map(repr, rows))


# --- storage -----------------------------------------------------------------------------------------------------------------


@bounded(50)
@given(world=worlds(), policy=st.sampled_from(list(GiveUp)))
def test_a_buffer_that_is_large_enough_changes_nothing(world: PredictWorld, policy: GiveUp):
    queries = [replace(query, buffer=world.rows.count, give_up=policy) for query in world.before]
    stored = run(world, [*world.watermarks, END], kernel=world.kernel_of(queries))
    unbounded = run(world, [END])
    assert stored.emitted == unbounded.emitted
    assert stored.counts == unbounded.counts


@pytest.mark.parametrize(
    "law",
    [
        any_split_gives_the_same_answers,
        restoring_changes_nothing,
        inputs_are_not_modified,
        optimisations_change_nothing,
    ],
    ids=lambda law: law.__name__,
)
@bounded(50)
@given(world=worlds(), policy=st.sampled_from(list(GiveUp)), room=st.sampled_from([1, 2, 3, 5]))
def test_a_buffer_keeps_the_law(law, world: PredictWorld, policy: GiveUp, room: int):
    law(with_buffer(world, policy, room))


@bounded(50)
@given(world=worlds(), policy=st.sampled_from(list(GiveUp)), room=st.sampled_from([1, 2, 3, 5]))
def test_a_buffer_never_holds_more_than_it_may(world: PredictWorld, policy: GiveUp, room: int):
    small = with_buffer(world, policy, room)
    state = run(small, [*world.watermarks, 1 << 40]).state
    for source in state.whole.sources:
        assert source.lines.stored.sum() <= room


@bounded(60)
@given(world=worlds("value", "validated"), policy=st.sampled_from([GiveUp.NEWEST, GiveUp.OLDEST]))
def test_single_lines_live_as_long_as_they_are_stored(world: PredictWorld, policy: GiveUp):
    """No window: a line that is over is purged, so nothing is covered; a line given up is certain up to that moment."""
    small = with_buffer(world, policy, 2)
    done = run(small, [END])
    for query in small.before:
        updates = oracle.updates_of(world.schema, world.listed, query, ROW_CONDITIONS)
        if len({(update.key, update.time) for update in updates}) < len(updates):
            continue
        lines = _stored_lives(updates, 2, policy)
        expected = [
            oracle.EmittedRow(answer.ends, answer, answer.begins, answer.ends)
            for answer in oracle.Finder(query).answers(lines)
        ]
        agree(done.emitted[query.name], expected, query)


def with_buffer(world: PredictWorld, policy: GiveUp, room: int) -> PredictWorld:
    before = tuple(replace(query, buffer=room, give_up=policy, seed=world.seed % 5) for query in world.before)
    return replace(world, before=before)


def _stored_lives(updates: Sequence[oracle.Update], room: int, policy: GiveUp) -> list[oracle.Update]:
    """The lives of lines with room for a few of them, when the new one or the oldest has to go."""
    stored: list[oracle.Update] = []
    over: list[oracle.Update] = []
    for update in updates:
        stored = [replace(u, end=min(u.end, update.time)) if u.key == update.key else u for u in stored]
        over += [line for line in stored if line.end < update.time]
        stored = [line for line in stored if line.end >= update.time]
        if len(stored) == room:
            if policy is GiveUp.NEWEST:
                continue
            oldest = min(stored, key=lambda line: (line.time, line.key))
            stored.remove(oldest)
            over.append(replace(oldest, end=min(oldest.end, update.time)))
        stored.append(update)
    return [line for line in [*over, *stored] if line.end > line.start]
