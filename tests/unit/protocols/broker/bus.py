"""A network with perfect links for tests: messages are handed over one at a time, each link in its order."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from headwater.model import (
    Deliver,
    Effect,
    Message,
    Network,
    NodeId,
    Operator,
    Readings,
    Report,
    Send,
    Source,
    Tell,
    decode,
    encode,
)
from headwater.protocols.broker import (
    Broker,
    Events,
    Request,
    advertise,
    canonical,
    events,
    retract,
    subscribe,
    unsubscribe,
)
from headwater.protocols.broker.messages import read_events

Make = Callable[[NodeId, Sequence[NodeId]], Broker]


class Bus:
    """Brokers joined by perfect links; with a `shuffle` the links take turns by chance.

    `restarting`: after every step the node that took it is saved, thrown away and made again.
    """

    def __init__(
        self,
        network: Network,
        make: Make,
        shuffle: random.Random | None = None,
        *,
        restarting: bool = False,
    ) -> None:
        self.network, self.shuffle, self.now = network, shuffle, 0
        self.make, self.restarting = make, restarting
        self.beside = network.neighbours()
        self.nodes: dict[NodeId, Broker] = {name: make(name, beside) for name, beside in self.beside.items()}
        self.links: dict[tuple[NodeId, NodeId], deque[Message]] = {}
        self.crossed: list[tuple[NodeId, NodeId, Message]] = []
        self.delivered: list[tuple[str, str, str, int]] = []
        self.tells: list[Tell] = []
        self.reported: list[Report] = []

    def say(self, node: NodeId, message: Message) -> None:
        """Something local happens; what follows from it waits on the links."""
        self._carry_out(node, self.nodes[node].receive(message, node, self.now))

    def settle(self) -> None:
        """Hand over until nothing is under way and nobody wants to be woken."""
        while self._step():
            pass

    def hand_over(self, most: int) -> None:
        """At most so many steps."""
        for _ in range(most):
            if not self._step():
                break

    def restart(self, node: NodeId) -> None:
        """A node is saved, thrown away, and made again."""
        tree = decode(encode(self.nodes[node].save()))
        self.nodes[node] = self.make(node, self.beside[node])
        self.nodes[node].restore(tree)

    def attach(self, node: NodeId, *sources: Source) -> None:
        self.say(node, advertise(sources))

    def detach(self, node: NodeId, *sources: Source) -> None:
        self.say(node, retract([(s.key, s.attribute) for s in sources]))

    def ask(self, node: NodeId, operator: Operator) -> str:
        """Subscribe; the name to unsubscribe with."""
        self.say(node, subscribe(Request.of(operator)))
        return Request.of(canonical(operator)).name

    def cancel(self, node: NodeId, name: str) -> None:
        self.say(node, unsubscribe(name))

    def publish(self, node: NodeId, source: Source, *readings: tuple[int, float, int]) -> None:
        """Readings of one source: time, value, number."""
        self.say(node, reading(source, *readings))

    def readings_crossed(self) -> list[tuple[NodeId, NodeId, tuple[str, str], int]]:
        """Every reading with every link it crossed: from, to, key and attribute, number."""
        found = []
        for one, other, message in self.crossed:
            if message.kind == "events":
                arrived = read_events(message.body)
                for source, number in zip(arrived.readings.source, arrived.readings.number, strict=True):
                    found.append((one, other, arrived.sources[source], int(number)))
        return found

    def _step(self) -> bool:
        waiting = [link for link, queue in self.links.items() if queue]
        if waiting:
            link = self.shuffle.choice(waiting) if self.shuffle else waiting[0]
            message = self.links[link].popleft()
            self.crossed.append((*link, message))
            self._carry_out(link[1], self.nodes[link[1]].receive(message, link[0], self.now))
            return True
        for name, node in self.nodes.items():
            at = node.next_wake()
            if at is not None:
                self.now = max(self.now, at)
                self._carry_out(name, node.wake(self.now))
                return True
        return False

    def _carry_out(self, node: NodeId, effects: list[Effect]) -> None:
        if self.restarting:
            self.restart(node)
        for effect in effects:
            match effect:
                case Send():
                    self.links.setdefault((node, effect.to), deque()).append(effect.message)
                case Deliver():
                    rows = effect.answers.rows
                    lists = [rows.columns[c].tolist() for c in ("query", "key", "attribute")]
                    numbers = rows.columns["number"].values.tolist()
                    self.delivered += zip(*lists, numbers, strict=True)
                case Tell():
                    self.tells.append(effect)
                case Report():
                    self.reported.append(effect)


def reading(source: Source, *readings: tuple[int, float, int]) -> Message:
    """A message with readings of one source: time, value, number."""
    time, value, number = (np.array(column) for column in zip(*readings, strict=True))
    columns = Readings(
        np.zeros(len(time), np.int32),
        time.astype(np.int64),
        value.astype(np.float64),
        number.astype(np.int64),
    )
    return events(Events(((source.key, source.attribute),), columns))


def saved(broker: Broker) -> dict[str, Any]:
    """What a broker knows, what it has counted left out."""
    tree = broker.save()
    del tree["outbox"]
    return tree
