"""Reliable delivery in seeded worlds: whatever happens to frames and nodes, packets come once, in order, and the world settles."""

from __future__ import annotations

import pytest

from headwater.drivers.simulator import NO_FAULTS, Crash, Faults, Partition, Trace, World, load, settles
from headwater.model import SECOND, Link, Message, Network
from headwater.protocols.delivery import DeliverySettings, Reliable
from tests.simulation.worlds import (
    MOST_STEPS,
    Flood,
    delivered_right,
    flood_world,
    packets_right,
    quiet_now,
    random_tree,
    say,
)

TIGHT = DeliverySettings(window_frames=3, window_bytes=200, frame_bytes=60, ack_frames=2)


def settled(world: World, words: list[str]) -> None:
    assert settles(world, most_steps=MOST_STEPS)
    assert delivered_right(world, words).right
    packets_right(world)
    quiet_now(world)


@pytest.mark.parametrize("seed", range(40))
def test_every_packet_comes_once_and_in_order_whatever_goes_wrong(seed: int) -> None:
    network = random_tree(seed, 2 + seed % 12)
    world = flood_world(
        network,
        seed=seed,
        faults=Faults.drawn(seed, network),
        gather_us=(seed % 3) * 100_000,
        settings=TIGHT if seed % 2 else DeliverySettings(),
    )
    settled(world, say(world, seed, 60))


def test_nothing_is_sent_twice_when_nothing_goes_wrong() -> None:
    network = random_tree(1, 30)
    world = flood_world(network, seed=1)
    settled(world, say(world, 1, 500))
    assert sum(t.resends for node in world.nodes.values() for t in node.traffic.values()) == 0  # type: ignore[attr-defined]
    assert load(world).lost == 0 and not world.reported


def test_all_frames_of_a_partition_come_after_it() -> None:
    network = random_tree(3, 2)
    cut = Faults(partitions=(Partition(0, 60 * SECOND, ("n0", "n1")),))
    world = flood_world(network, seed=0, faults=cut)
    words = say(world, 0, 100)
    world.run(until=59 * SECOND)
    assert len(world.delivered) == 100
    settled(world, words)
    assert world.now < 80 * SECOND


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_trace_and_another_seed_another(seed: int) -> None:
    def trace_of(world_seed: int) -> bytes:
        network = random_tree(seed, 8)
        trace = Trace()
        faults = Faults.drawn(seed, network)
        world = flood_world(network, seed=world_seed, faults=faults, trace=trace)
        settled(world, say(world, seed, 40))
        return bytes(trace)

    assert trace_of(seed) == trace_of(seed)
    assert trace_of(seed) != trace_of(seed + 1)


# --- one thing goes wrong, at every place of a small run ---------------------------------------------------------------

EVENTS, FRAMES = 75, 20  # of the small run below; checked there


def small_world(faults: Faults = NO_FAULTS, trace: Trace | None = None) -> tuple[World, list[str]]:
    world = flood_world(
        random_tree(5, 3), seed=0, faults=faults, gather_us=5_000, settings=TIGHT, trace=trace
    )
    words = [f"word{number}" for number in range(9)]
    for number, word in enumerate(words):
        world.at(10_000 * number, f"n{number % 3}", Message("say", word.encode()))
    return world, words


def test_the_cases_below_reach_every_step_of_the_small_run() -> None:
    world, words = small_world()
    events = 0
    while world.step():
        events += 1
    settled(world, words)
    assert (events, load(world).frames) == (EVENTS, FRAMES)


@pytest.mark.parametrize("node", ["n0", "n1", "n2"])
@pytest.mark.parametrize("step", range(EVENTS + 1))
@pytest.mark.parametrize("down_for", [0, SECOND])
def test_a_node_may_stop_and_start_again_after_any_step(step: int, node: str, down_for: int) -> None:
    world, words = small_world()
    for _ in range(step):
        world.step()
    world.crash(node, down_for=down_for)
    settled(world, words)


@pytest.mark.parametrize("frame", range(FRAMES))
def test_any_one_frame_may_be_lost_or_doubled(frame: int) -> None:
    for faults in (Faults(lost=frozenset([frame])), Faults(doubled=frozenset([frame]))):
        world, words = small_world(faults)
        settled(world, words)


@pytest.mark.parametrize("frame", range(FRAMES))
def test_any_two_frames_in_a_row_may_be_lost_while_a_node_restarts(frame: int) -> None:
    faults = Faults(lost=frozenset([frame, frame + 1]), crashes=(Crash("n1", 30_000, 200_000),))
    world, words = small_world(faults)
    settled(world, words)


def test_saving_and_loading_all_nodes_after_every_step_changes_nothing() -> None:
    faults = Faults(loss=0.3, duplication=0.2, reordering=0.3, corruption=0.1, until=SECOND)
    plain, reloaded = Trace(), Trace()
    world, words = small_world(faults, plain)
    settled(world, words)
    world, words = small_world(faults, reloaded)
    while world.step():
        for name, node in world.nodes.items():
            world.nodes[name] = Reliable.load(node.save(), Flood.load)  # type: ignore[attr-defined]
    settled(world, words)
    assert bytes(plain) == bytes(reloaded)


def test_a_link_that_takes_minutes_for_a_frame_is_not_filled_with_copies() -> None:
    network = Network(("a", "b"), (Link("a", "b", latency_us=SECOND, bytes_per_s=125.0),))
    world = flood_world(network, seed=1)
    words = [f"{number:04d}" + 4_000 * "x" for number in range(40)]  # half a minute each
    for number, word in enumerate(words):
        world.at(number * 60 * SECOND, "a", Message("say", word.encode()))
    assert settles(world, most_steps=10_000)
    assert delivered_right(world, words).right
    carried = world.carried["a", "b"].bytes
    assert carried < 1.5 * sum(map(len, words))
