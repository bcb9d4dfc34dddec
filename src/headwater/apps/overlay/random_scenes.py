"""A small overlay drawn from a seed, with all that may happen in one: sources, subscriptions and readings that come, and some that go.

Rule 1  Everything can be requested from a network occurs: several sources for an attribute, keys, regions, δl, `n OF`, different sensors,
        subscriptions to the past. Values, times and places are few, so that things meet.
Rule 2  A scene is a list of local happenings with their times. Whatever becomes of the messages between nodes, `bounds` holds: users get
        nothing that the whole record does not give, and no less than what sources that never left give alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, NamedTuple

import numpy as np

from headwater.kernels.correlate.members import MemberMatcher
from headwater.model import (
    BEGINNING,
    SECOND,
    Box,
    Circle,
    Filter,
    Instant,
    Link,
    Message,
    Network,
    NodeId,
    Operator,
    Polygon,
    Readings,
    Region,
    Source,
)
from headwater.model.network_operators import UNGROUPED
from headwater.protocols.broker import (
    Events,
    Request,
    advertise,
    canonical,
    events,
    retract,
    subscribe,
    unsubscribe,
)
from headwater.workloads.station_subscriptions import Standing
from headwater.workloads.stations import Recorded

FIRST_STEP: Final = 2 * SECOND
"""When the first subscription comes; sources that are there from the beginning say so at 0."""

_ATTRIBUTES, _KEYS = "abc", ("k0", "k1", "k2")
_HIGHEST_VALUE, _LONGEST_PAUSE_S = 8, 2
_DRAWS: Final = 5
_REGIONS: tuple[Region, ...] = (
    Box(0.0, 0.0, 2.0, 1.0),
    Box(1.0, 0.0, 3.0, 1.0),
    Box(0.0, 0.0, 3.0, 1.0),
    Box(2.0, 0.0, 2.0, 0.0),
    Circle(1.0, 0.0, 1.0),
    Circle(1.0, 0.0, 2.0),
    Polygon(((0.0, -0.5), (3.0, -0.5), (0.0, 1.5))),
)

Reply = tuple[str, str, str, int]
"""What a user gets: subscription, key and attribute of the source, number of the reading."""


class Step(NamedTuple):
    """Something local: what a sensor or a user of a node says, and in words."""

    time: Instant
    node: NodeId
    message: Message
    words: str


@dataclass(slots=True)
class Scene:
    """An approach on a network, what happens there, and what came of it for the judge.

    `standing`: subscriptions that were never taken back; `ended`: those that were; `left`: sources that were gone for a while or for good.
    """

    approach: str
    network: Network
    gather_us: int
    steps: list[Step] = field(default_factory=list)
    standing: dict[str, Standing] = field(default_factory=dict)
    ended: dict[str, Standing] = field(default_factory=dict)
    left: set[Source] = field(default_factory=set)
    recorded: Recorded = field(default_factory=lambda: Recorded((), _columns([])))

    def bounds(self, dropped: Sequence[str] = ()) -> tuple[set[Reply], set[Reply]]:
        """What users must get and what they may get; `dropped`: subscriptions that found no sources when they came."""
        standing = [one for one in self.standing.values() if one.name not in dropped]
        stayed = [source not in self.left for source in self.recorded.sources]
        surely = self.recorded.readings.take(np.array(stayed, np.bool_)[self.recorded.readings.source])
        must = replies(standing, replace(self.recorded, readings=surely))
        return must, replies([*standing, *self.ended.values()], self.recorded)


def replies(standing: Sequence[Standing], recorded: Recorded) -> set[Reply]:
    """The READINGS of CORRELATE over a record, without a network."""
    if not standing or not len(recorded.readings.time):
        return set()
    matching = MemberMatcher().prepare([one.operator for one in standing], recorded.sources)
    which, at = np.nonzero(matching.members(recorded.readings, each=True))
    sources = [recorded.sources[i] for i in recorded.readings.source[at].tolist()]
    numbers = recorded.readings.number[at].tolist()
    return {
        (standing[i].name, source.key, source.attribute, number)
        for i, source, number in zip(which.tolist(), sources, numbers, strict=True)
    }


def draw_scene(seed: int, approaches: Sequence[str], *, most_steps: int = 40, leaving: bool = True) -> Scene:
    """One of the approaches, on a tree of 1 to 7 nodes."""
    luck = Random(f"scene {seed}")
    homes = _some_sources(
        luck, names := tuple(f"n{i}" for i in range(luck.choice([1, 2, 3, 3, 4, 4, 5, 6, 7])))
    )
    links = tuple(
        Link(names[luck.randrange(i)], names[i], luck.randint(1, 40) * 1000) for i in range(1, len(names))
    )
    by_node = {node: tuple(s for s, home in homes.items() if home == node) for node in names}
    network = Network(names, links, {node: there for node, there in by_node.items() if there})
    scene = Scene(luck.choice(approaches), network, luck.choice([0, 0, SECOND // 10]))
    _Drawing(scene, luck, homes, leaving=leaving).draw(luck.randint(most_steps // 4, most_steps))
    return scene


class _Drawing:
    """A scene in the making."""

    def __init__(self, scene: Scene, luck: Random, homes: dict[Source, NodeId], *, leaving: bool) -> None:
        self.scene, self.luck, self.homes, self.leaving = scene, luck, homes, leaving
        self.active: list[Source] = []
        self.readings: list[tuple[Instant, Source, float, int]] = []
        self.names: dict[str, str] = {}
        self.within_us = luck.choice([3, 8]) * SECOND

    def draw(self, count: int) -> None:
        for source in self.homes:
            if self.luck.random() < 0.9 or not self.active:
                self.attach(source, 0)
        time = FIRST_STEP
        for number in range(count):
            time += self.luck.randint(0, _LONGEST_PAUSE_S) * SECOND
            self.step(time, f"s{number}")
        sources = tuple(self.homes)
        rows = sorted(self.readings, key=lambda row: row[0])
        self.scene.recorded = Recorded(
            sources, _columns([(sources.index(s), t, v, n) for t, s, v, n in rows])
        )

    def step(self, time: Instant, name: str) -> None:
        luck, chance = self.luck, self.luck.random()
        away = [source for source in self.homes if source not in self.active]
        if chance < 0.25:
            self.ask(name, time)
        elif chance < 0.33 and self.scene.standing:
            self.cancel(luck.choice(list(self.scene.standing)), time)
        elif chance < 0.38 and away:
            self.attach(luck.choice(away), time)
        elif chance < 0.40 and self.leaving and len(self.active) > 2:
            self.detach(luck.choice(self.active), time)
        else:
            for _ in range(luck.randint(1, 3)):
                self.publish(luck.choice(self.active), time)

    def say(self, time: Instant, node: NodeId, message: Message, words: str) -> None:
        self.scene.steps.append(Step(time, node, message, words))

    def attach(self, source: Source, time: Instant) -> None:
        self.active.append(source)
        self.say(time, self.homes[source], advertise([source]), f"advertise {source.key} {source.attribute}")

    def detach(self, source: Source, time: Instant) -> None:
        self.active.remove(source)
        self.scene.left.add(source)
        pair = (source.key, source.attribute)
        self.say(time, self.homes[source], retract([pair]), f"retract {source.key} {source.attribute}")

    def ask(self, name: str, time: Instant) -> None:
        operator = replace(self.some_operator(time), subscription=name)
        node = self.luck.choice(self.scene.network.nodes)
        self.scene.standing[name] = Standing(name, node, operator)
        self.names[name] = Request.of(canonical(operator)).name
        self.say(time, node, subscribe(Request.of(operator)), f"subscribe {name} {_words(operator)}")

    def some_operator(self, time: Instant) -> Operator:
        """Nearly always one that the sources there are can answer."""
        for _ in range(_DRAWS):
            operator = _some_operator(self.luck, self.within_us, time)
            if all(any(f.takes(source) for source in self.homes) for f in operator.filters):
                break
        return operator

    def cancel(self, name: str, time: Instant) -> None:
        one = self.scene.ended[name] = self.scene.standing.pop(name)
        self.say(time, one.user_node, unsubscribe(self.names[name]), f"unsubscribe {name}")

    def publish(self, source: Source, now: Instant) -> None:
        """A reading of now, or one that comes late."""
        number = sum(other == source for _, other, _, _ in self.readings)
        time = now - (self.luck.randint(0, 2) * SECOND if self.luck.random() < 0.3 else 0)
        value = float(self.luck.randint(0, _HIGHEST_VALUE))
        self.readings.append((time, source, value, number))
        reading = Events(((source.key, source.attribute),), _columns([(0, time, value, number)]))
        self.say(
            now, self.homes[source], events(reading), f"publish {source.key} {source.attribute} {value:g}"
        )


def _some_sources(luck: Random, nodes: Sequence[NodeId]) -> dict[Source, NodeId]:
    pairs = [(key, attribute) for key in _KEYS for attribute in _ATTRIBUTES]
    chosen = luck.sample(pairs, luck.randint(3, 7))
    return {
        Source(*pair, float(luck.randint(0, 3)), float(luck.randint(0, 1))): luck.choice(nodes)
        for pair in chosen
    }


def _some_operator(luck: Random, within_us: int, now: Instant) -> Operator:
    """As a query of the language would give it: one region for all clauses that name no sensor."""
    region = luck.choice([*[None] * 12, *_REGIONS])
    filters: list[Filter] = []
    for group in range(luck.choice([1, 2, 2, 3])):
        low = luck.randint(0, _HIGHEST_VALUE - 3)
        keys = None if luck.random() < 0.9 else (luck.choice(_KEYS),)
        one = Filter(
            luck.choice(_ATTRIBUTES),
            float(low),
            float(low + luck.randint(2, 8)),
            None if keys else region,
            keys,
        )
        twice = keys is None and not filters and luck.random() < 0.25
        filters += [replace(one, group=group)] * 2 if twice else [one]
    if luck.random() < 0.1:
        filters = [replace(one, group=0) for one in filters]
    within_m = luck.choice([None, None, 1.5])
    since = luck.choice([BEGINNING, BEGINNING, now, now - SECOND])
    return Operator("", tuple(filters), within_us, within_m, since=since)


def _words(operator: Operator) -> str:
    words = []
    for one in operator.filters:
        keys = "" if one.keys is None else f" of {' '.join(one.keys)}"
        group = "" if one.group == UNGROUPED else f" group {one.group}"
        words.append(f"{one.attribute} {one.low:g}..{one.high:g}{keys}{group}")
    region = next((one.region for one in operator.filters if one.region is not None), None)
    near = "" if operator.within_m is None else f" near {operator.within_m:g}"
    since = "" if operator.since == BEGINNING else f" since {operator.since / SECOND:g}"
    place = "" if region is None else f" in {region}"
    return f"{', '.join(words)} within {operator.within_us // SECOND}{near}{since}{place}"


def _columns(rows: Sequence[tuple[int, Instant, float, int]]) -> Readings:
    """Readings from (source, time, value, number)."""
    source, time, value, number = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Readings(
        np.array(source, np.int32),
        np.array(time, np.int64),
        np.array(value, np.float64),
        np.array(number, np.int64),
    )
