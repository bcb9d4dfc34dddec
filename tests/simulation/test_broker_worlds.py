"""Brokers with reliable delivery in seeded worlds: whatever happens to frames and nodes, users get the same, once, and the world settles.

A seed that fails here is looked at with `make sim SEED=…`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from headwater.apps.overlay.approaches import APPROACHES
from headwater.apps.overlay.random_scenes import Scene, draw_scene
from headwater.apps.overlay.replay import (
    MOST_STEPS,
    TIGHT,
    broker_maker,
    dropped_in,
    judged,
    main,
    replay,
    world_of,
)
from headwater.drivers.simulator import (
    NO_FAULTS,
    Crash,
    Faults,
    Partition,
    Trace,
    World,
    answers,
    load,
    settles,
)
from headwater.model import SECOND, Filter, Link, Network, NodeId, Operator, Source
from headwater.protocols.broker import Broker, Request, advertise, canonical, retract, subscribe, unsubscribe
from headwater.protocols.delivery import Reliable
from tests.laws.broker_worlds import expected
from tests.simulation.worlds import quiet_now
from tests.unit.protocols.broker.bus import reading

SEEDS = 100
"""Worlds of the suite."""


@pytest.mark.parametrize("first", range(0, SEEDS, 20))
def test_users_get_everything_once_whatever_goes_wrong(first: int) -> None:
    for seed in range(first, first + 20):
        replayed = replay(seed)
        assert replayed.right, f"make sim SEED={seed}"
        quiet_now(replayed.world)


def test_faults_do_happen_in_these_worlds_and_readings_do_come() -> None:
    worlds = [replay(seed) for seed in range(12)]
    assert sum(load(one.world).lost for one in worlds) > 50
    assert sum(len(one.faults.crashes) for one in worlds) > 10
    assert sum(len(answers(one.world.delivered)) for one in worlds) > 100
    assert {draw_scene(seed, APPROACHES).approach for seed in range(SEEDS)} == set(APPROACHES)


def test_what_worlds_are_judged_by_is_the_definition_of_correlate() -> None:
    for seed in range(80):
        scene = draw_scene(seed, APPROACHES, leaving=False)
        must, may = scene.bounds()
        assert must == expected(list(scene.standing.values()), scene.recorded)
        assert may == expected([*scene.standing.values(), *scene.ended.values()], scene.recorded)


@pytest.mark.parametrize("seed", [2, 6, 9])
def test_the_same_seed_gives_the_same_trace_and_another_faults_another(seed: int) -> None:
    once, again = replay(seed), replay(seed)
    assert bytes(once.trace) == bytes(again.trace) and once.trace.digest() == again.trace.digest()
    assert once.trace.digest() != replay(seed, faults=Faults(loss=0.2, until=SECOND)).trace.digest()


def test_a_replay_shows_its_world_and_its_judgement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["2"]) == 0
    shown = capsys.readouterr().out
    assert "approach" in shown and "Faults(" in shown and "digest" in shown and shown.endswith("right\n")
    assert main(["0", "3"]) == 0
    assert capsys.readouterr().out.startswith("3 worlds, 0 not right")
    assert main(["seven"]) == 2


# --- one thing goes wrong, at every place of a small run ---------------------------------------------------------------

NODES = ("n0", "n1", "n2", "n3")
A, B, C, D = Source("ka", "a"), Source("kb", "b"), Source("kc", "b"), Source("kd", "b")
MS = 1000
BEGIN = 3 * SECOND
"""When users come. Until then the news of the sources has reached them, whatever goes wrong."""


def small_scene(approach: str) -> Scene:
    """n0 - n1 - n2, n1 - n3: a at n2, b at n3 and n0, some of it for a while only; two users, one of whom changes their mind."""
    links = (Link("n0", "n1", 5 * MS), Link("n1", "n2", 7 * MS), Link("n1", "n3", 3 * MS))
    network = Network(NODES, links, {"n2": (A,), "n3": (B, D), "n0": (C,)})
    return Scene(approach, network, gather_us=0)


def operator(name: str, low: float, high: float) -> Operator:
    return Operator(name, (Filter("a", low, high), Filter("b", low, high)), SECOND)


def small_world(approach: str, faults: Faults = NO_FAULTS, trace: Trace | None = None) -> World:
    scene = small_scene(approach)
    wide, narrow, last = operator("wide", 0.0, 10.0), operator("narrow", 2.0, 8.0), operator("last", 1.0, 9.0)
    world = world_of(scene, broker_maker(scene)[0], seed=0, faults=faults, settings=TIGHT, trace=trace)
    world.at(0, "n2", advertise([A]))
    world.at(0, "n3", advertise([B, D]))
    steps = [
        (0, "n0", subscribe(Request.of(wide))),
        (10, "n0", subscribe(Request.of(narrow))),
        (40, "n2", reading(A, (40 * MS, 5.0, 0))),
        (50, "n3", reading(B, (50 * MS, 6.0, 0), (51 * MS, 9.5, 1))),
        (55, "n3", reading(D, (55 * MS, 20.0, 0))),
        (60, "n0", unsubscribe(Request.of(canonical(wide)).name)),
        (65, "n0", advertise([C])),
        (80, "n0", reading(C, (80 * MS, 3.0, 0))),
        (90, "n3", retract([("kd", "b")])),
        (100, "n3", subscribe(Request.of(last))),
        (110, "n2", reading(A, (110 * MS, 7.0, 1), (111 * MS, 1.5, 2))),
        (115, "n3", advertise([D])),
    ]
    for at_ms, node, message in steps:
        world.at(BEGIN + at_ms * MS, node, message)
    return world


def must_come() -> set[tuple[str, str, str, int]]:
    """Of 'wide' what was complete before it was taken back may come or not; everything else must."""
    narrow = {
        ("narrow", "ka", "a", 0),
        ("narrow", "ka", "a", 1),
        ("narrow", "kb", "b", 0),
        ("narrow", "kc", "b", 0),
    }
    last = {("last", "ka", "a", n) for n in range(3)} | {("last", "kb", "b", 0), ("last", "kc", "b", 0)}
    return narrow | last


def settled(world: World) -> None:
    assert settles(world, most_steps=MOST_STEPS)
    quiet_now(world)
    came = [answer[1:] for answer in answers(world.delivered, ["query", "key", "attribute", "number"])]
    assert len(came) == len(set(came)) and not world.reported
    assert {answer for answer in came if answer[0] != "wide"} == must_come()
    assert {answer[1:] for answer in came if answer[0] == "wide"} <= {
        ("ka", "a", 0),
        ("kb", "b", 0),
        ("kb", "b", 1),
    }


def steps_of(approach: str) -> tuple[int, int]:
    """Events and frames of the small run when nothing goes wrong."""
    world, events = small_world(approach), 0
    while world.step():
        events += 1
    settled(world)
    return events, load(world).frames


def every_place(approach: str, places: Sequence[tuple[int, Any]]) -> Sequence[tuple[int, Any]]:
    """All of them for one approach; for each of the others, which share most of it, one in seven, not the same ones."""
    return places if approach == "exact" else places[APPROACHES.index(approach) :: 7]


@pytest.mark.parametrize("approach", APPROACHES)
def test_a_node_may_stop_and_start_again_after_any_step(approach: str) -> None:
    events, _ = steps_of(approach)
    places = [(s, node) for s in range(events + 1) for n, node in enumerate(NODES) if (s + n) % 2]
    for step, node in every_place(approach, places):
        world = small_world(approach)
        for _ in range(step):
            world.step()
        world.crash(node, down_for=(step // 2 % 2) * SECOND // 4)
        settled(world)


@pytest.mark.parametrize("approach", APPROACHES)
def test_any_one_frame_may_be_lost_or_doubled(approach: str) -> None:
    _, frames = steps_of(approach)
    for frame, fault in every_place(
        approach, [(n, what) for n in range(frames) for what in ("lost", "doubled")]
    ):
        settled(small_world(approach, Faults(**{fault: frozenset([frame])})))


@pytest.mark.parametrize("approach", APPROACHES)
def test_a_link_may_be_cut_and_a_node_stop_at_any_time(approach: str) -> None:
    times = (0, 10 * MS, *range(BEGIN - 90 * MS, BEGIN + 130 * MS, 20 * MS))
    links = (("n0", "n1"), ("n1", "n2"), ("n1", "n3"))
    for start, link in every_place(approach, [(time, link) for time in times for link in links]):
        cut = Partition(start, start + 100 * MS, link)
        crash = Crash("n1", start + 40 * MS, 90 * MS)
        settled(small_world(approach, Faults(partitions=(cut,), crashes=(crash,))))


@pytest.mark.parametrize("approach", APPROACHES)
def test_saving_and_loading_all_nodes_after_every_step_changes_nothing(approach: str) -> None:
    faults = Faults(loss=0.2, duplication=0.2, reordering=0.3, held_us=60 * MS, until=4 * SECOND)
    plain, reloaded = Trace(), Trace()
    settled(small_world(approach, faults, plain))
    world = small_world(approach, faults, reloaded)
    make, _ = broker_maker(small_scene(approach))

    def load_core(tree: dict[str, object]) -> Broker:
        core = make(cast(str, tree["name"]))
        core.restore(tree)
        return core

    while world.step():
        for name, node in world.nodes.items():
            world.nodes[name] = Reliable.load(cast(Reliable, node).save(), load_core)
    settled(world)
    assert bytes(plain) == bytes(reloaded)


def test_a_frame_in_the_name_of_another_neighbour_changes_nothing() -> None:
    """A peer that sends a subscription for a neighbour it is not."""
    world = small_world("exact")
    world.run(until=BEGIN + 5 * MS)
    frames = cast(Reliable, world.nodes["n0"]).receive(
        subscribe(Request.of(operator("x", -5.0, 20.0))), "n0", world.now
    )
    forged = frames[0].message  # type: ignore[union-attr]
    victim = cast(Reliable, world.nodes["n1"])
    before = victim.save()
    (report,) = victim.receive(forged, "n2", world.now)
    assert report.error.code == "wrong-peer" and report.peer == "n2"  # type: ignore[union-attr]
    assert victim.save() == before


def brokers(world: World) -> dict[NodeId, Broker]:
    return {name: cast(Broker, cast(Reliable, node).core) for name, node in world.nodes.items()}


def test_the_judge_sees_what_is_missing_wrong_and_delivered_twice() -> None:
    replayed = next(
        one for one in map(replay, range(50)) if len(one.world.delivered) > 3 and not one.scene.left
    )
    scene, dropped = replayed.scene, dropped_in(replayed.scene, brokers(replayed.world))
    must, _ = scene.bounds(dropped)
    came = sorted(must)
    assert judged(scene, dropped, came).right
    assert judged(scene, dropped, came[1:]).missed == (came[0],)
    assert judged(scene, dropped, [*came, came[0]]).twice == (came[0],)
    wrong = ("nobody", "k0", "a", 0)
    assert judged(scene, dropped, [*came, wrong]).wrong == (wrong,)
