"""The order of events, crashes, wake-ups, quiet and the trace of a world; with plain nodes, without reliable delivery."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b

import pytest

from headwater.drivers.simulator import (
    NO_FAULTS,
    Crash,
    Faults,
    Trace,
    World,
    answers,
    judge,
    load,
    settles,
)
from headwater.model import (
    SECOND,
    Effect,
    HeadwaterError,
    Instant,
    LimitReached,
    Link,
    Message,
    Network,
    NodeId,
    PeerError,
    Report,
    Send,
    Tell,
)
from tests.simulation.worlds import heard


class Echo:
    """Notes down what it got; does what it is told locally: `send b`, `tell`, `report`, `deliver`, `wake 500`."""

    def __init__(self, got: list[list[object]] | None = None, wakes: list[int] | None = None) -> None:
        self.got = got or []
        self.wakes = wakes or []

    def receive(self, message: Message, sender: NodeId, now: Instant) -> list[Effect]:
        self.got.append([now, sender, message.body.decode(errors="replace")])
        what, _, more = message.body.decode(errors="replace").partition(" ")
        if what == "wake":
            self.wakes = sorted([*self.wakes, int(more)])
        effects: Mapping[str, Effect] = {
            "send": Send(more, Message("echo", b"hello")),
            "tell": Tell("s", HeadwaterError("gone", "it is gone")),
            "report": Report("x", PeerError("odd", "it is odd")),
            "deliver": heard("word", now),
        }
        return [effects[what]] if what in effects else []

    def wake(self, now: Instant) -> list[Effect]:
        self.got.append([now, "clock", ""])
        self.wakes = [at for at in self.wakes if at > now]
        return []

    def next_wake(self) -> Instant | None:
        return min(self.wakes, default=None)

    def save(self) -> bytes:
        return json.dumps([self.got, self.wakes]).encode()

    @classmethod
    def load(cls, saved: bytes) -> Echo:
        return cls(*json.loads(saved))


def world_of(
    *things: tuple[Instant, NodeId, str], faults: Faults = NO_FAULTS, trace: Trace | None = None
) -> World:
    world = World(
        {"a": Echo(), "b": Echo()},
        [Link("a", "b", 1_000, 1e6)],
        seed=0,
        faults=faults,
        revive=Echo.load,
        trace=trace,
    )
    for at, node, words in things:
        world.at(at, node, Message("say", words.encode()))
    return world


def got(world: World, node: NodeId) -> list[list[object]]:
    echo = world.nodes[node]
    assert isinstance(echo, Echo)
    return echo.got


def test_events_happen_by_time_and_those_of_one_time_as_they_became_known() -> None:
    world = world_of((7, "b", "third"), (5, "b", "first"), (5, "b", "second"))
    world.run()
    assert got(world, "b") == [[5, "b", "first"], [5, "b", "second"], [7, "b", "third"]]
    assert world.now == 7 and world.quiet


def test_a_message_arrives_after_bytes_and_latency() -> None:
    world = world_of((0, "a", "send b"))
    world.run()
    assert got(world, "b") == [[1_005, "a", "hello"]]
    assert (load(world).frames, load(world).bytes) == (1, 5)


def test_a_run_stops_after_what_happens_at_its_end() -> None:
    world = world_of((5, "a", "x"), (9, "a", "y"), (10, "a", "z"))
    world.run(until=9)
    assert [at for at, _, _ in got(world, "a")] == [5, 9]
    assert world.now == 9 and not world.quiet
    world.run(until=50)
    assert world.now == 50 and world.quiet


def test_effects_for_people_are_stored_with_their_time_and_node() -> None:
    world = world_of((1, "a", "tell"), (2, "a", "report"), (3, "b", "deliver"))
    world.run()
    assert [(at, node, one.error.code) for at, node, one in world.tells] == [(1, "a", "gone")]
    assert [(at, node, one.error.code) for at, node, one in world.reported] == [(2, "a", "odd")]
    assert answers(world.delivered, ["query", "event_time"]) == [("b", "word", 3)]


def test_a_node_is_woken_when_it_requested_and_an_earlier_request_comes_first() -> None:
    world = world_of((0, "a", "wake 500"), (1, "a", "wake 300"))
    world.run()
    assert [at for at, who, _ in got(world, "a") if who == "clock"] == [300, 500]
    assert world.quiet


def test_while_a_node_is_down_frames_are_lost_timers_stand_still_and_local_words_wait() -> None:
    world = world_of(
        (0, "a", "wake 400"),
        (50, "a", "send b"),
        (200, "a", "local"),
        (0, "b", "send a"),
        faults=Faults(crashes=(Crash("a", 100, 2_000),)),
    )
    world.run()
    assert got(world, "a") == [
        [0, "a", "wake 400"],
        [50, "a", "send b"],
        [2_100, "a", "local"],
        [2_100, "clock", ""],
    ]
    assert got(world, "b") == [[0, "b", "send a"], [1_055, "a", "hello"]]
    assert world.quiet


def test_a_node_is_up_again_when_faults_stop_and_none_goes_down_after() -> None:
    faults = Faults(crashes=(Crash("a", 100, 99 * SECOND), Crash("b", 600, 10)), until=500)
    world = world_of((200, "a", "x"), (600, "b", "y"), faults=faults)
    world.run()
    assert got(world, "a") == [[500, "a", "x"]] and got(world, "b") == [[600, "b", "y"]]


def test_a_node_that_is_down_cannot_go_down() -> None:
    world = world_of((500, "a", "x"), faults=Faults(crashes=(Crash("a", 100, 200), Crash("a", 150, 900))))
    world.run()
    assert got(world, "a") == [[500, "a", "x"]]


def test_a_damaged_frame_differs_in_one_bit() -> None:
    world = world_of((0, "a", "send b"), faults=Faults(corruption=1.0))
    world.run()
    (message,) = got(world, "b")
    assert message[2] != "hello"


def test_a_world_that_does_not_settle_is_stopped() -> None:
    class Restless(Echo):
        def next_wake(self) -> Instant | None:
            return 0

    world = World({"a": Restless()}, [], seed=0)
    assert not settles(world, most_steps=100)
    with pytest.raises(LimitReached, match="not quiet after 100 steps"):
        world.run(most_steps=100)


def test_a_trace_has_one_line_for_each_event() -> None:
    trace = Trace()
    faults = Faults(crashes=(Crash("a", 2_000, 10),), lost=frozenset([1]))
    world = world_of(
        (0, "a", "send b"),
        (1, "b", "tell"),
        (5, "b", "send a"),
        (6, "b", "wake 9"),
        faults=faults,
        trace=trace,
    )
    world.run()
    fields = [line.decode().split() for line in trace.lines]
    assert [" ".join(line[:5]) for line in fields] == [
        "0 local a a say",
        "1 local b b say",
        "1 tell b s gone",
        "5 local b b say",
        "5 lost a b echo",
        "6 local b b say",
        "9 wake b - -",
        "1005 receive b a echo",
        "2000 crash a - -",
        "2010 restart a - -",
    ]
    assert fields[0][5:] == ["6", blake2b(b"send b", digest_size=8).hexdigest()]
    assert trace.count == 10 and bytes(trace) == b"".join(trace.lines)


def test_a_trace_that_keeps_no_lines_has_the_same_digest() -> None:
    long, short = Trace(), Trace(keep=1)
    for trace in (long, short):
        world_of((0, "a", "send b"), (1, "b", "tell"), trace=trace).run()
    assert len(short.lines) == 1 and short.count == long.count == 4
    assert short.digest() == long.digest()


def test_judging_distinguishes_twice_wrong_and_missed() -> None:
    verdict = judge(["x", "y", "y", "z"], ["x", "y", "w"])
    assert (verdict.twice, verdict.wrong, verdict.missed) == (("y",), ("z",), ("w",))
    assert verdict.recall == pytest.approx(2 / 3) and not verdict.right
    assert judge([], []).right and judge([], []).recall == 1.0


def test_drawn_faults_are_the_seed_and_end() -> None:
    network = Network(("a", "b"), (Link("a", "b"),))
    drawn = [Faults.drawn(seed, network, start=100, lasting_us=SECOND) for seed in range(50)]
    assert drawn[3] == Faults.drawn(3, network, start=100, lasting_us=SECOND)
    assert all(one.until == 100 + SECOND for one in drawn) and len(set(drawn)) == 50
    assert all(100 <= crash.at <= 100 + SECOND for one in drawn for crash in one.crashes)
    assert any(one.partitions for one in drawn) and any(one.crashes for one in drawn)
    assert Faults.none() == NO_FAULTS and not NO_FAULTS.random_ones()
