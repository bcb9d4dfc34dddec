"""FOLLOW from text to answers against its oracle, and the laws of every kernel, at the level of a zone's program.

What is behind a FOLLOW (patterns with and without consumption, CORRELATE, NEAREST, SUPPRESS, PREDICT, FENCE, queries that read queries)
runs in it; so the laws are asked of whole texts: any split of every stream, saving and restoring between any two steps, any number of
zones, any order of arrival, other queries beside it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.hosts.zone import (
    Arrivals,
    Program,
    Unit,
    clusters_of,
)
from headwater.kernels.follow.by_key import everybody
from headwater.kernels.follow.choices import Saving
from headwater.kernels.follow.kernel import FollowKernel, FollowState
from headwater.model import BEGINNING, END, HIGHEST, Instant, Rows, row_log
from headwater.query.planning.groups import store_of
from tests.laws.draws import bounded
from tests.laws.follow_operators import GRAPHS, OPERATORS
from tests.laws.follow_worlds import (
    FollowWorld,
    Question,
    crowded,
    make_world,
    overlapping,
    worlds,
)
from tests.laws.oracles import follow
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
    useful,
)

KINDS = [*OPERATORS, *GRAPHS]
# Operators whose answers do not depend on where they begin. What is told once, at the first time it is true (READINGS, ENTERS), does.
STRONG = (
    "alone",
    "latest",
    "all",
    "rises",
    "gaps",
    "every",
    "absent",
    "changes",
    "fences",
    "climbs",
    "maybe",
)
FREE = (
    "alone", "latest", "all", "rises", "gaps", "every", "absent", "enters", "changes", "ticks", "fences", "climbs", "maybe",
    "free graph", "short graph",
)  # fmt: skip
# What is saved for some of them, with nothing else in the world.
SAVED = {
    "alone": [Saving.SPACE, Saving.SUBGRAPHS],
    "latest": [Saving.TIME, Saving.SUBGRAPHS],
    "rises": [Saving.TIME, Saving.SUBGRAPHS],
    "changes": [Saving.TIME, Saving.SUBGRAPHS],
    "free graph": list(Saving),
    "pairs": [],
    "sent": [],
}
NOT_COMPARED = ("query", "match_id", "probability")


# --- reuse -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FREE)
@bounded(40)
@given(data=st.data(), saving=st.sampled_from([None, *Saving]))
def test_what_is_not_streamed_changes_no_answer(kind: str, data: st.DataObject, saving: Saving | None):
    """With one of the savings left off, and with all of them."""
    seed = data.draw(st.integers(0, 1 << 64))
    world = data.draw(st.sampled_from([make_world(seed, kind), overlapping(kind, seed)]))
    steps = steps_of(world)
    off = list(Saving) if saving is None else [saving]
    alike(run(world, steps)[0], run(world, steps, off=off)[0])


@pytest.mark.parametrize("kind", FREE)
def test_what_is_not_streamed_changes_no_answer_where_much_is_settled_and_much_differs(kind: str):
    for seed in range(40):
        world = crowded(kind, seed)
        alike(run(world)[0], run(world, off=list(Saving))[0])


@pytest.mark.parametrize(("kind", "savings"), SAVED.items())
def test_each_saving_saves_and_with_all_off_everything_is_streamed(kind: str, savings: Sequence[Saving]):
    on, off = Counter[str](), Counter[str]()
    for seed in range(20):
        world = overlapping(kind, seed)
        for total, left_off in ((on, ()), (off, Saving)):
            for name, count in run(world, off=left_off)[1].items():
                total[name.partition(":")[0]] += count
    saved = {saving: on[f"saved_{saving.value}"] for saving in Saving}
    assert {saving for saving, many in saved.items() if many} == set(savings)
    assert (
        on["events_historical"] + on["events_live"] + saved_in(on)
        == off["events_historical"] + off["events_live"]
    )
    assert saved_in(off) == 0


@pytest.mark.parametrize("kind", ["alone", "pairs", "readings", "rises"])
def test_an_update_condition_leaves_out_updates_and_changes_nothing_else(kind: str):
    """The updates that begin interests, with UPDATE ALWAYS, make the same answers."""
    left_out = 0
    for seed in range(60):
        world = overlapping(kind, seed)
        (question,) = world.questions
        if question.focals != "cars":
            continue
        always = world.questions[0].following
        condition = make_world(seed, kind, questions=1).questions[0].following
        following = replace(condition, forget_us=follow.HOUR_US, each=always.each, best_effort=None)
        world = replace(world, questions=(replace(question, following=following),))
        events, updates = world.events(question), world.updates(question)
        starts = {
            (focal, interest.start)
            for focal in follow.focals(updates)
            for interest in follow.interests(following, focal, events, updates)
        }
        cars = world.rows["cars"]
        begins = [(row["car"], row["at"]) in starts for row in cars.tolist()]
        left_out += len(begins) - sum(begins)
        only = replace(
            world,
            rows={**world.rows, "cars": cars.take(np.array(begins))},
            questions=(replace(question, following=replace(following, update=follow.ALWAYS)),),
        )
        alike(run(world)[0], run(only)[0])
    assert left_out > 50


def saved_in(counts: Counter[str]) -> int:
    return sum(count for name, count in counts.items() if name.startswith("saved_"))


# --- the oracle ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@bounded(40)
@given(data=st.data())
def test_follow_delivers_what_the_oracle_delivers(kind: str, data: st.DataObject):
    world = data.draw(worlds(kind))
    answers, counts = run(world)
    for question in world.questions:
        for name, expected in world.oracle(question).items():
            agree(answers.get(name, []), expected)
        cut = sum(count for name, count in counts.items() if is_count(name, "events_cut", question))
        assert cut == world.cut(question)
        missing = sum(
            count for name, count in counts.items() if is_count(name, "focals_without_place", question)
        )
        assert missing == sum(not follow.is_update(update) for update in world.updates(question))


def agree(answers: Sequence[Row], expected: Sequence[follow.Delivered]) -> None:
    """The same answers; for each focal object, interests in order and an interest's answers by event time."""
    shown = [{name: row[name] for name in row if name not in NOT_COMPARED} for row in answers]
    names = list(shown[0]) if shown else None
    rows = [{name: one.row[name] for name in names or one.row} for one in expected]
    assert sorted(map(repr, shown)) == sorted(map(repr, rows))
    assert by_focal(shown) == by_focal(rows)


def by_focal(rows: Sequence[Row]) -> dict[Any, list[tuple[int, Instant]]]:
    found: dict[Any, list[tuple[int, Instant]]] = {}
    for row in rows:
        found.setdefault(row["focal"], []).append((row["interest"], row["event_time"]))
    return found


def is_count(name: str, what: str, question: Question) -> bool:
    """Whether something is counted of a FOLLOW: under its own name, or that of the link of its chain."""
    counted, _, query = name.partition(":")
    own = f"{question.name}_near" if question.graph else question.name
    return counted == what and query.partition("/")[0] == own


@bounded(150)
@given(world=worlds())
def test_completeness_is_strong_where_operators_do_not_depend_on_where_they_begin(world: FollowWorld):
    """Two interests of one region deliver the same of the time that both deliver; a question to the definition alone."""
    for question in world.questions:
        following = question.following
        if question.kind not in STRONG or following.best_effort is not None or not following.each:
            continue
        (found,) = world.oracle(question).values()
        events, updates = world.events(question), world.updates(question)
        interests = [
            interest
            for focal in follow.focals(updates)
            for interest in follow.interests(following, focal, events, updates)
        ]
        for one in interests:
            for other in interests:
                if one.centre == other.centre:
                    since = max(one.start, other.start) - following.last_us
                    until = min(one.end, other.end)
                    mine, theirs = (
                        {d.answer.identity for d in found if d.interest == interest and since <= d.answer.event_time < until}
                        for interest in (one, other)
                    )  # fmt: skip
                    assert mine == theirs


# --- the laws --------------------------------------------------------------------------------------------------------------------


@bounded(120)
@given(world=worlds())
def test_any_split_gives_the_same_answers(world: FollowWorld):
    """Law 2, identities included: every stream is cut by itself."""
    same(run(world, steps_of(world)), run(world))


@pytest.mark.parametrize(
    "world",
    [
        make_world(
            300037, questions=2, events=18, updates=25, cuts=12
        ),  # delivered, forgotten, and told again by an open run
    ],
    ids=lambda world: str(world.seed),
)
def test_worlds_that_once_went_wrong(world: FollowWorld):
    same(run(world, steps_of(world)), run(world))


@bounded(120)
@given(world=worlds())
def test_restoring_changes_nothing(world: FollowWorld):
    """Law 4: through bytes between every two steps."""
    same(run(world, steps_of(world), restoring=True), run(world))


@pytest.mark.parametrize("zones", [2, 3])
@bounded(60)
@given(world=worlds())
def test_zones_share_the_answers_out(zones: int, world: FollowWorld):
    same(run(world, steps_of(world), zones=zones), run(world))


@bounded(60)
@given(world=worlds())
def test_any_arrival_order_gives_the_same_answers(world: FollowWorld):
    """Law 3: shuffled rows of all streams come to the queues at once, and the input ends."""
    plan = world.plan()
    program = Program(plan)
    units = {}
    for number, stream in enumerate(world.rows):
        shuffled = list(range(world.rows[stream].count))
        random.Random(world.seed).shuffle(shuffled)
        rows = useful(plan, stream, world.rows[stream].take(np.array(shuffled, np.int64)))
        times = rows[plan.stream(stream).time].values
        units[stream] = [Unit(stream, number, 0, clusters_of(times), rows)]
    state, output = program.step(program.start(), Arrivals(units))
    assert not output.late
    _, rest = program.step(state, Arrivals({}, end=True))
    alike(collected([*output.answers, *rest.answers]), run(world)[0])


@bounded(80)
@given(world=worlds())
def test_late_rows_are_as_if_they_had_never_been(world: FollowWorld):
    """Rows come to the queues in parts and in no good order; what is told as late, event or update, is seen by nobody."""
    plan = world.plan()
    program = Program(plan)
    state, blocks = program.start(), []
    late: dict[str, Counter[tuple[Any, ...]]] = {stream: Counter() for stream in world.rows}
    for number, (stream, rows) in enumerate(in_disorder(world)):
        sent = useful(plan, stream, rows)
        unit = Unit(stream, number, 0, clusters_of(rows["at"].values), sent)
        state, output = program.step(state, Arrivals({stream: [unit]}))
        blocks += output.answers
        for name, late_rows in output.late.items():
            late[name].update(contents(late_rows, plan.columns_read(name)))
    _, output = program.step(state, Arrivals({}, end=True))
    in_time = {}
    for stream, rows in world.rows.items():
        left = late[stream].copy()
        on_time = []
        for place, content in enumerate(contents(rows, plan.columns_read(stream))):
            left[content] -= 1
            if left[content] < 0:
                on_time.append(place)
        in_time[stream] = rows.take(np.array(on_time, np.int64))
    alike(collected([*blocks, *output.answers]), run(replace(world, rows=in_time))[0])


def in_disorder(world: FollowWorld) -> list[tuple[str, Rows]]:
    """The rows of all streams in parts, about in the order of their times."""
    draw = random.Random(world.seed)
    parts = []
    for stream, rows in world.rows.items():
        about = [at + draw.randrange(6_000_000) for at in rows["at"].tolist()]
        order = sorted(range(rows.count), key=about.__getitem__)
        size = draw.choice([2, 5, 8])
        for start in range(0, rows.count, size):
            part = order[start : start + size]
            parts.append((about[part[0]], stream, rows.take(np.array(part, np.int64))))
    return [(stream, rows) for _, stream, rows in sorted(parts, key=lambda part: part[:2])]


def contents(rows: Rows, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """What rows say in some columns."""
    return [tuple(row[name] for name in names) for row in rows.tolist()]


@bounded(60)
@given(world=worlds())
def test_a_step_from_an_old_state_gives_again_what_it_gave(world: FollowWorld):
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


@bounded(80)
@given(world=worlds())
def test_every_query_answers_as_it_does_alone(world: FollowWorld):
    together, _ = run(world)
    for question in world.questions:
        alone, _ = run(world, text=world.text_of([question]))
        alike(alone, {name: together[name] for name in question.links if name in together})


@bounded(60)
@given(world=worlds())
def test_queries_come_and_go_unnoticed(world: FollowWorld):
    """Law 4 with other queries: those that stay answer as if nothing had happened."""
    undisturbed, _ = run(world)
    stays = world.questions[:1]
    steps = steps_of(world)
    for change in range(len(steps)):
        for before, after in ((world.questions, stays), (stays, world.questions)):
            answers = changed(world, steps, change, world.text_of(before), world.text_of(after))
            mine, whole = (
                {name: some[name] for name in stays[0].links if name in some}
                for some in (answers, undisturbed)
            )
            alike(mine, whole)


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("together", [True, False])
def test_downstream_queries_come_and_go_unnoticed(kind: str, together: bool):
    """Law 4 with queries behind the same FOLLOW; whether interests are answered `together` is the same before and after."""
    for seed in range(20):
        world, chance = overlapping(kind, seed), random.Random(seed)
        graph = world.questions[0].graph
        alone = {"met", "close"} & set(graph)
        gone = {link for link in graph if link not in alone and chance.random() < 0.5}
        gone |= {link for link, of in graph.items() if of.reads in gone}
        whole = without_links(world, alone if together else set())
        fewer = without_links(world, gone | (alone if together else set()))
        steps = steps_of(world)
        change = chance.randrange(len(steps))
        undisturbed, _ = run(world, text=whole)
        for before, after in ((whole, fewer), (fewer, whole)):
            answers = changed(world, steps, change, before, after)
            for link in set(graph) - gone - (alone if together else set()):
                name = f"q0_{link}"
                alike({name: answers.get(name, [])}, {name: undisturbed.get(name, [])})


def test_operators_begin_anew_where_interests_are_no_longer_answered_together():
    world = overlapping("free graph", 3)
    steps = steps_of(world)
    for change in range(len(steps)):
        answers = changed(world, steps, change, without_links(world, {"met", "close"}), world.text)
        assert set(by_content(answers["q0_near"])) == set(by_content(run(world)[0]["q0_near"]))


def without_links(world: FollowWorld, links: Iterable[str]) -> str:
    """The text of a world without some of the queries behind its FOLLOW."""
    starts = tuple(f"CREATE QUERY q0_{link} " for link in links)
    return "\n".join(line for line in world.text.splitlines() if not line.startswith(starts or ("\0",)))


def same(one: tuple[Answers, dict[str, int]], other: tuple[Answers, dict[str, int]]) -> None:
    """The same answers, and the same counts; how much is stored at once depends on the steps."""
    alike(one[0], other[0])
    mine, theirs = (
        {name: n for name, n in run[1].items() if not name.startswith(HIGHEST)} for run in (one, other)
    )
    assert mine == theirs


def alike(one: Answers, other: Answers) -> None:
    """The same answers, identities included; of each focal object, interests in order.

    Within an interest an answer is told when it is known: a loop that is still open may wait while others, of a later time, are told.
    """
    assert {name: by_content(rows) for name, rows in one.items()} == {
        name: by_content(rows) for name, rows in other.items()
    }
    assert {name: interests_in(rows) for name, rows in one.items()} == {
        name: interests_in(rows) for name, rows in other.items()
    }


def interests_in(rows: Sequence[Row]) -> dict[Any, list[int]]:
    return {focal: [interest for interest, _ in pairs] for focal, pairs in by_focal(rows).items()}


def by_content(rows: Sequence[Row]) -> list[str]:
    return sorted(map(repr, rows))


# --- what is kept ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@bounded(12)
@given(data=st.data())
def test_state_stays_below_its_bound(kind: str, data: st.DataObject):
    """Law 6. After every step: events as far back as interests may ask, by whole chunks; one interest for every object heard of within
    FORGET; what was delivered as long as it may come again; operators of interests that are alive. And no answer follows of the time
    that was called complete.
    """
    seed = data.draw(st.integers(0, 1 << 64))
    world = data.draw(st.sampled_from([make_world(seed, kind, questions=1, cuts=6), overlapping(kind, seed)]))
    (question,) = world.questions
    plan = world.plan()
    program = Program(plan)
    groups, blocks, complete = program.start().groups, list[Row](), BEGINNING
    with chunks_of(data.draw(st.sampled_from([2, 8, 8192]))):
        for ordered in ordered_steps(world, plan, steps_of(world)):
            groups, answers, _, after = program.advance_until(groups, ordered)
            new = [row for block in answers for row in block.tolist()]
            assert all(row["event_time"] >= complete for row in new)
            blocks, complete = blocks + new, after
            for group in program.groups:
                if isinstance(group.kernel, FollowKernel):
                    check_bounds(world, question, group.kernel, groups[group.name], blocks)
                    check_stores(world, question, groups, groups[group.name].watermark, ordered)


@contextmanager
def chunks_of(rows: int) -> Iterator[None]:
    """Chunks so small that there are several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_log, "CHUNK_ROWS", rows)
        yield


def check_stores(
    world: FollowWorld,
    question: Question,
    groups: Mapping[str, Any],
    now: Instant,
    ordered: Mapping[str, tuple[Rows, Instant]],
) -> None:
    following = question.following
    reach_us = following.last_us + question.windows_us
    history_us = max(reach_us, following.quality_us if following.update == follow.QUALITY else 0)
    for source in question.sources:
        came = world.rows[source]["at"].values
        needed = np.count_nonzero((came >= now - history_us) & (came < ordered[source][1]))
        # A chunk stays as a whole while its newest event may be asked for: so the first one may hold older events, fewer than fill it.
        assert groups[store_of(source)].count < needed + row_log.CHUNK_ROWS


def check_bounds(
    world: FollowWorld, question: Question, kernel: FollowKernel, state: FollowState, emitted: Sequence[Row]
) -> None:
    now, following, (part,) = state.watermark, question.following, state.queries
    (query,) = kernel.queries
    alive, delivered = everybody(query, part.objects)
    reach_us = following.last_us + question.windows_us
    heard = {
        row.key: row.time
        for row in world.updates(question)
        if row.place is not None and row.key is not None and row.time < now
    }
    known = {focal for focal, time in heard.items() if time >= now - following.forget_us and now < END}
    assert sorted(alive.focal.tolist()) == sorted(known)
    start = dict(zip(alive.focal.tolist(), alive.start.tolist(), strict=True))
    # What a later interest may bring again, or what the present one may of those before.
    again = [row for row in emitted if row["event_time"] >= min(now, start.get(row["focal"], now)) - reach_us]
    assert len(delivered.time) <= (0 if following.each else len(again))
    if query.operators is not None:
        saved = kernel.save(state).stores[f"{query.name}/behind/interests"]
        assert set(saved.everything().ids[:, 0].tolist()) <= set(alive.serial.tolist())


# --- runs ------------------------------------------------------------------------------------------------------------------------


def run(
    world: FollowWorld,
    steps: Steps | None = None,
    *,
    text: str = "",
    zones: int = 1,
    restoring: bool = False,
    off: Iterable[Saving] = (),
) -> tuple[Answers, dict[str, int]]:
    plan = world.plan(text, zones=zones).without_savings(*off)
    return run_plan(world, plan, steps, restoring=restoring)


def changed(world: FollowWorld, steps: Steps, change: int, before: str, after: str) -> Answers:
    return run_changed(world, steps, change, world.plan(before), world.plan(after))
