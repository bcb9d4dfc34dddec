"""A network with perfect links for tests: messages are handed over one at a time, each link in its order."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence

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
)
from headwater.protocols.broker import (
    Asked,
    Broker,
    Events,
    advertise,
    events,
    retract,
    subscribe,
    unsubscribe,
)


class Bus:
    """Brokers joined by perfect links; with a `shuffle` the links take turns by chance."""

    def __init__(
        self,
        network: Network,
        make: Callable[[NodeId, Sequence[NodeId]], Broker],
        shuffle: random.Random | None = None,
    ) -> None:
        self.network, self.shuffle, self.now = network, shuffle, 0
        self.nodes: Mapping[NodeId, Broker] = {
            name: make(name, beside) for name, beside in network.neighbours().items()
        }
        self.links: dict[tuple[NodeId, NodeId], deque[Message]] = {}
        self.crossed: list[tuple[NodeId, NodeId, Message]] = []
        self.delivered: list[tuple[str, str, str, int]] = []
        self.told: list[Tell] = []
        self.reported: list[Report] = []

    def say(self, node: NodeId, message: Message) -> None:
        """Something local happens; what follows from it waits on the links."""
        self._carry_out(node, self.nodes[node].receive(message, node, self.now))

    def settle(self) -> None:
        """Hand over until nothing is under way and nobody wants to be woken."""
        while self._step():
            pass

    def attach(self, node: NodeId, *sources: Source) -> None:
        self.say(node, advertise(sources))

    def detach(self, node: NodeId, *sources: Source) -> None:
        self.say(node, retract([(s.key, s.attribute) for s in sources]))

    def ask(self, node: NodeId, operator: Operator) -> str:
        """Subscribe; the name to unsubscribe with."""
        from headwater.protocols.broker import canonical

        self.say(node, subscribe(Asked.of(operator)))
        return Asked.of(canonical(operator)).name

    def cancel(self, node: NodeId, name: str) -> None:
        self.say(node, unsubscribe(name))

    def publish(self, node: NodeId, source: Source, *readings: tuple[int, float, int]) -> None:
        """Readings of one source: time, value, number."""
        time, value, number = (np.array(column) for column in zip(*readings, strict=True))
        columns = Readings(
            np.zeros(len(time), np.int32),
            time.astype(np.int64),
            value.astype(np.float64),
            number.astype(np.int64),
        )
        self.say(node, events(Events(((source.key, source.attribute),), columns)))

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
                    self.told.append(effect)
                case Report():
                    self.reported.append(effect)
