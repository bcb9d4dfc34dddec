"""Brokers over perfect links: whatever the tree, the subscriptions and the order of things, users get the READINGS of CORRELATE.

What is expected comes from the definition of CORRELATE (`oracles/correlate.py`) over all readings, without a network and without the kernel that
nodes match with.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headwater.apps.overlay.approaches import APPROACHES, PROBABLE
from headwater.apps.overlay.random_scenes import Reply, Scene, draw_scene
from headwater.apps.overlay.replay import dropped_in, judged
from headwater.model import encode
from headwater.protocols.broker import Broker, Filtering, Request, canonical
from headwater.protocols.broker.filtering import Requests
from headwater.protocols.cover import Exact
from tests.laws.broker_worlds import expected, played
from tests.laws.draws import bounded
from tests.unit.protocols.broker.bus import Bus

SEEDS = st.integers(0, 2**32)
SURE = tuple(name for name in APPROACHES if name not in PROBABLE)
ONCE_PER_LINK = ("multi-join", *PROBABLE, "exact")


def check(scene: Scene, bus: Bus) -> None:
    """What users got is what the definition says; nobody blames anybody."""
    dropped = dropped_in(scene, bus.nodes)
    assert set(dropped) <= {tell.subscription for tell in bus.tells}
    assert len(bus.delivered) == len(set(bus.delivered)) and not bus.reported
    remaining = [one for one in scene.standing.values() if one.name not in dropped]
    came = {reply for reply in bus.delivered if reply[0] not in scene.ended}
    assert came == expected(remaining, scene.recorded)
    assert set(bus.delivered) - came <= expected(list(scene.ended.values()), scene.recorded)


@bounded(150)
@given(seed=SEEDS)
def test_users_get_the_readings_of_correlate(seed: int) -> None:
    scene = draw_scene(seed, SURE, leaving=False)
    bus, _ = played(scene, order=seed)
    check(scene, bus)


@bounded(50)
@given(seed=SEEDS)
def test_the_probable_cover_delivers_nothing_wrong_and_loses_only_where_a_decision_was_wrong(
    seed: int,
) -> None:
    scene = draw_scene(seed, PROBABLE, leaving=False)
    bus, watched = played(scene, order=seed)
    assert watched is not None
    if watched.wrong == 0:
        check(scene, bus)
    remaining = [*scene.standing.values(), *scene.ended.values()]
    assert set(bus.delivered) <= expected(remaining, scene.recorded)


@bounded(60)
@given(seed=SEEDS)
def test_sources_that_leave_take_nothing_from_the_others_and_nobody_is_blamed_for_them(seed: int) -> None:
    scene = draw_scene(seed, SURE)
    bus, _ = played(scene, order=seed)
    judgement = judged(scene, dropped_in(scene, bus.nodes), bus.delivered)
    assert judgement.right and not bus.reported


@bounded(40)
@given(seed=SEEDS)
def test_what_was_complete_before_a_source_left_is_delivered(seed: int) -> None:
    scene = draw_scene(seed, SURE)
    last = next((n for n, step in enumerate(scene.steps) if step.message.kind == "retract"), None)
    whole = replace(scene, steps=scene.steps[:last], standing={}, ended={})
    bus, _ = played(whole)
    before = set(bus.delivered)
    bus, _ = played(scene)
    assert before <= set(bus.delivered)


@bounded(60)
@given(seed=SEEDS)
def test_each_reading_crosses_a_link_at_most_once(seed: int) -> None:
    scene = draw_scene(seed, ONCE_PER_LINK, leaving=False)
    bus, _ = played(scene, order=seed)
    crossed = [(frozenset((one, other)), *rest) for one, other, *rest in bus.readings_crossed()]
    assert len(crossed) == len(set(crossed))


@bounded(50)
@given(seed=SEEDS)
def test_only_the_final_subscriptions_matter(seed: int) -> None:
    """The same readings with subscriptions that came and went, and with only those that stayed, in another order of messages."""
    scene = draw_scene(seed, SURE, leaving=False)
    steps = [step for step in scene.steps if not _about(step.words, scene.ended)]
    bus, _ = played(scene, order=seed)
    plain, _ = played(replace(scene, steps=steps), order=seed + 1)
    # Which subscriptions come before the news of their sources is a matter of order.
    dropped = {*dropped_in(scene, bus.nodes), *dropped_in(scene, plain.nodes)}
    remaining = scene.standing.keys() - dropped
    assert _of(bus, remaining) == _of(plain, remaining)


def _about(words: str, names: Collection[str]) -> bool:
    what, name, *_ = words.split()
    return what in ("subscribe", "unsubscribe") and name in names


def _of(bus: Bus, names: Collection[str]) -> set[Reply]:
    return {reply for reply in bus.delivered if reply[0] in names}


@bounded(50)
@given(seed=SEEDS)
def test_when_all_subscriptions_are_taken_back_nothing_of_them_stays(seed: int) -> None:
    scene = draw_scene(seed, APPROACHES)
    bus, _ = played(scene, order=seed)
    luck = Random(seed)
    requested = [(name, one.name) for name, node in bus.nodes.items() for one in _own(node)]
    for node, operator in luck.sample(requested, len(requested)):
        bus.cancel(node, operator)
        bus.hand_over(luck.choice([0, 1, 5]))
    bus.settle()
    assert not bus.reported
    for node in bus.nodes.values():
        assert node.save()["placement"] == []
        for side in node.sides.values():
            assert not any(map(len, (side.requested, side.covered, side.sent, side.held, side.reasons)))


def _own(node: Broker) -> list[Request]:
    side = node.sides[node.name]
    return [*side.requested, *side.covered]


@bounded(60)
@given(seed=SEEDS)
def test_what_a_node_requests_is_what_its_neighbour_received(seed: int) -> None:
    """Two ends of a link agree, everything sent has a reason, and nothing waits under a cover that is gone."""
    scene = draw_scene(seed, APPROACHES)
    bus, watched = played(scene, order=seed)
    for name, node in bus.nodes.items():
        for other, side in node.sides.items():
            assert side.reasons.keys() == {one.name for one in [*side.sent, *side.held]}
            if other != name:
                there = bus.nodes[other].sides[name]
                assert {one.name for one in side.sent} == {
                    one.name for one in [*there.requested, *there.covered]
                }
            assert not (scene.approach in ("centralized", "naive") and (len(side.covered) or len(side.held)))
            if watched is not None and watched.wrong == 0:
                assert all(_covers(side.requested, one) for one in side.covered)
                assert all(_covers(side.sent, one) for one in side.held)


def _covers(shelf: Requests, requested: Request) -> bool:
    return Filtering("sender", Exact(budget=1_000_000)).covers(shelf, requested)


@bounded(30)
@given(seed=SEEDS)
def test_saving_and_restoring_after_every_step_changes_nothing(seed: int) -> None:
    scene = draw_scene(seed, APPROACHES)
    plain, _ = played(scene, order=seed)
    restarted, _ = played(scene, order=seed, restarting=True)
    assert plain.crossed == restarted.crossed and plain.delivered == restarted.delivered
    assert [tell.subscription for tell in plain.tells] == [tell.subscription for tell in restarted.tells]
    for name, node in plain.nodes.items():
        assert encode(node.save()) == encode(restarted.nodes[name].save())


def test_writing_an_operator_in_the_one_way_all_nodes_write_it_is_done_once_and_for_all() -> None:
    for seed in range(200):
        for one in draw_scene(seed, SURE).standing.values():
            written = canonical(one.operator)
            assert canonical(written) == written
