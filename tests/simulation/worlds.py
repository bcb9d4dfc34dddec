"""Worlds for tests: networks, a small core that floods what is said at a node, and checks that hold for every core.

Cores of another kind: give `reliable_world` one for each node of a network and `load_core`, say things with `world.at`, then
`settles(world, most_steps=MOST_STEPS)` and `judge(answers(world.delivered), expected)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import Any

from headwater.drivers.simulator import (
    NO_FAULTS,
    Faults,
    Judgement,
    Trace,
    World,
    answers,
    judge,
    reliable_world,
)
from headwater.model import (
    SECOND,
    Answers,
    Column,
    ColumnType,
    Deliver,
    Effect,
    Instant,
    Link,
    Message,
    Network,
    NodeId,
    PeerError,
    Report,
    Rows,
    Send,
)
from headwater.protocols.delivery import USUAL, DeliverySettings

MOST_STEPS = 1_000_000


class Flood:
    """A core for trees: what is said at one node is delivered at every node, once.

    It numbers what it sends to each neighbour, and keeps the numbers it got from each: so order and repeats show. With
    `gather_us` it sends only so much later, all at once.
    """

    def __init__(self, name: NodeId, neighbours: Sequence[NodeId], gather_us: int = 0) -> None:
        self.name = name
        self.gather_us = gather_us
        self.sent = dict.fromkeys(neighbours, 0)
        self.got: dict[NodeId, list[int]] = {other: [] for other in neighbours}
        self.gathered: list[list[str]] = []
        self.wake_at: Instant | None = None

    def receive(self, message: Message, sender: NodeId, now: Instant) -> list[Effect]:
        word = message.body.decode(errors="replace")
        if sender != self.name:
            number, _, word = word.partition(" ")
            if message.kind != "flood" or not number.isdecimal():
                return [Report(sender, PeerError("no-flood", "no number and word"))]
            self.got[sender].append(int(number))
        self.gathered += [[other, word] for other in self.sent if other != sender]
        if self.gather_us:
            self.wake_at = now + self.gather_us if self.wake_at is None else self.wake_at
            return [heard(word, now)]
        return [heard(word, now), *self.send()]

    def wake(self, now: Instant) -> list[Effect]:
        assert self.wake_at is not None and self.wake_at <= now
        self.wake_at = None
        return self.send()

    def next_wake(self) -> Instant | None:
        return self.wake_at

    def send(self) -> list[Effect]:
        effects: list[Effect] = []
        for other, word in self.gathered:
            effects.append(Send(other, Message("flood", f"{self.sent[other]} {word}".encode())))
            self.sent[other] += 1
        self.gathered = []
        return effects

    def save(self) -> dict[str, Any]:
        names = ("name", "gather_us", "sent", "got", "gathered", "wake_at")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def load(cls, tree: dict[str, Any]) -> Flood:
        core = cls(tree["name"], list(tree["sent"]))
        for name, value in tree.items():
            setattr(core, name, value)
        return core


def heard(word: str, now: Instant) -> Deliver:
    columns = {
        "query": Column.of(ColumnType.STRING, [word]),
        "event_time": Column.of(ColumnType.TIMESTAMP, [now]),
        "match_id": Column.of(ColumnType.ID, [blake2b(word.encode(), digest_size=16).hexdigest().encode()]),
    }
    return Deliver(Answers(0, Rows(columns, 1)))


def random_tree(seed: int, nodes: int) -> Network:
    """A tree in which each node hangs on one of those before it."""
    luck = Random(f"tree {seed}")
    names = tuple(f"n{number}" for number in range(nodes))
    links = tuple(
        Link(
            names[luck.randrange(number)],
            names[number],
            luck.randint(1_000, 40_000),
            luck.choice([1e4, 1.25e6]),
        )
        for number in range(1, nodes)
    )
    return Network(names, links)


def flood_world(
    network: Network,
    *,
    seed: int,
    faults: Faults = NO_FAULTS,
    gather_us: int = 0,
    settings: DeliverySettings = USUAL,
    trace: Trace | None = None,
) -> World:
    beside = network.neighbours()
    cores = {node: Flood(node, beside[node], gather_us) for node in network.nodes}
    return reliable_world(
        network, cores, seed=seed, faults=faults, load_core=Flood.load, settings=settings, trace=trace
    )


def say(world: World, seed: int, words: int, *, lasting_us: int = 20 * SECOND) -> list[str]:
    """Words said at random nodes and times; give them back."""
    luck = Random(f"words {seed}")
    said = [f"word{number}" for number in range(words)]
    nodes = list(world.nodes)
    for word in said:
        world.at(luck.randint(0, lasting_us), luck.choice(nodes), Message("say", word.encode()))
    return said


def delivered_right(world: World, words: Sequence[str]) -> Judgement:
    """Every word at every node once, and nothing else."""
    return judge(
        answers(world.delivered, ["query"]), [(node, word) for node in world.nodes for word in words]
    )


def packets_right(world: World) -> None:
    """Between each two neighbours every packet came exactly once and in order."""
    for name, node in world.nodes.items():
        for other, numbers in node.core.got.items():  # type: ignore[attr-defined]
            assert numbers == list(range(world.nodes[other].core.sent[name]))  # type: ignore[attr-defined]


def quiet_now(world: World) -> None:
    assert world.quiet
    assert all(node.next_wake() is None for node in world.nodes.values())
