"""How does a network of nodes behave, as far as its seed decides? Discrete events in one heap; nothing here waits.

Rule 1  Events happen in the order of their time, those of one time in the order in which they became known.
Rule 2  A step is one message received, or one wake-up. Its effects are carried out once the state after it is safe: a node that
        stops is started again from its state after its last step (`save`, `revive`).
Rule 3  While a node is down, frames for it are lost, its timers stand still (overdue ones fire when it is up again), and what its
        own sensors and users say waits for it in order.
Rule 4  The world is quiet when nothing is on its way, nothing local is to come, no node is down and none wants to be woken. A node
        asks to be woken only for work that has effects, so a right protocol gets quiet by itself.

Memory  what is on its way, and what was delivered and reported since the beginning.
Source  the simulator of TigerBeetle (faults are the fields of one struct); FoundationDB's simulation.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from headwater.drivers.simulator.faults import NO_FAULTS, Faults
from headwater.drivers.simulator.links import Arrival, Carried, Links
from headwater.drivers.simulator.trace import Trace
from headwater.model import (
    BEGINNING,
    END,
    Deliver,
    Effect,
    Instant,
    LimitReached,
    Link,
    Message,
    Node,
    NodeId,
    Report,
    Send,
    Tell,
    encode,
    rows_tree,
)

MOST_STEPS = 50_000_000
"""Steps of one `run`; a world that takes more is stopped with a LimitReached: its nodes keep each other busy for ever."""

_ARRIVE, _LOCAL, _WAKE, _CRASH, _RESTART = range(5)


class Durable(Node, Protocol):
    """A node that can be stopped and started again."""

    def save(self) -> bytes:
        """Its state."""
        ...


class World:
    """Nodes, links between them, and what goes wrong."""

    def __init__(
        self,
        nodes: Mapping[NodeId, Node],
        links: Sequence[Link],
        *,
        seed: int,
        faults: Faults = NO_FAULTS,
        revive: Callable[[bytes], Node] | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.nodes = dict(nodes)
        self.now: Instant = BEGINNING
        self.steps = 0
        self.delivered: list[tuple[Instant, NodeId, Deliver]] = []
        self.tells: list[tuple[Instant, NodeId, Tell]] = []
        self.reported: list[tuple[Instant, NodeId, Report]] = []
        self._links = Links(links, seed=seed, faults=faults)
        self._until = faults.until
        self._revive = revive
        self._trace = trace
        self._heap: list[tuple[Instant, int, int, NodeId, Any]] = []
        self._number = 0
        self._coming = 0  # events in the heap that are no wake-ups
        self._armed: dict[NodeId, Instant] = {}
        self._down: dict[NodeId, tuple[bytes, list[Message]]] = {}
        for crash in faults.crashes:
            if self._until is None or crash.at < self._until:
                self._push(crash.at, _CRASH, crash.node, crash.down_for)
        for node in self.nodes:
            self._arm(node)

    @property
    def carried(self) -> dict[tuple[NodeId, NodeId], Carried]:
        """Frames and bytes handed to each link, by sender and recipient."""
        return self._links.carried

    @property
    def quiet(self) -> bool:
        """Whether nothing is left to happen."""
        if self._coming or self._down:
            return False
        return all(node.next_wake() is None for node in self.nodes.values())

    def at(self, time: Instant, node: NodeId, message: Message) -> None:
        """Something local happens: the node itself is its sender."""
        assert time >= self.now and node in self.nodes, "nothing can happen in the past"
        self._push(time, _LOCAL, node, message)

    def run(self, until: Instant | None = None, *, most_steps: int = MOST_STEPS) -> None:
        """Until the world is quiet, or everything up to and including a time has happened."""
        heap, end = self._heap, END if until is None else until
        last = self.steps + most_steps
        while heap and heap[0][0] <= end:
            if self.steps >= last:
                raise LimitReached(
                    "most_steps", most_steps, f"the world is not quiet after {most_steps} steps"
                )
            self.step()
        if until is not None:
            self.now = max(self.now, until)

    def step(self) -> bool:
        """The next event; False: there is none."""
        if not self._heap:
            return False
        self.now, _, what, node, more = heapq.heappop(self._heap)
        if what == _WAKE:
            self._wake(node)
            return True
        self._coming -= 1
        if what == _ARRIVE:
            self._arrive(node, *more)
        elif what == _LOCAL:
            self._local(node, more)
        elif what == _CRASH:
            self.crash(node, down_for=more)
        else:
            self._restart(node)
        return True

    def crash(self, node: NodeId, *, down_for: int) -> None:
        """A node stops now; one that is down already stays as it is."""
        if node in self._down:
            return
        assert self._revive is not None, "a world with crashes needs `revive`"
        stopped: Any = self.nodes[node]
        self._down[node] = (stopped.save(), [])
        back_at = self.now + down_for
        if self._until is not None:
            back_at = max(self.now, min(back_at, self._until))
        self._push(back_at, _RESTART, node, None)
        if self._trace:
            self._trace.record(self.now, "crash", node, body=self._down[node][0])

    def _arrive(self, node: NodeId, sender: NodeId, message: Message) -> None:
        if node in self._down:
            if self._trace:
                self._trace.record(self.now, "missed", node, sender, message.kind, message.body)
            return
        if self._trace:
            self._trace.record(self.now, "receive", node, sender, message.kind, message.body)
        self._release(node, self.nodes[node].receive(message, sender, self.now))

    def _local(self, node: NodeId, message: Message) -> None:
        if node in self._down:
            self._down[node][1].append(message)
            return
        if self._trace:
            self._trace.record(self.now, "local", node, node, message.kind, message.body)
        self._release(node, self.nodes[node].receive(message, node, self.now))

    def _wake(self, node: NodeId) -> None:
        """A wake-up may have been put off or called off since it was noted down."""
        if node in self._down or self._armed.get(node) != self.now:
            return
        del self._armed[node]
        at = self.nodes[node].next_wake()
        if at is None or at > self.now:
            self._arm(node)
            return
        if self._trace:
            self._trace.record(self.now, "wake", node)
        self._release(node, self.nodes[node].wake(self.now))

    def _restart(self, node: NodeId) -> None:
        assert self._revive is not None
        saved, said = self._down.pop(node)
        self.nodes[node] = self._revive(saved)
        if self._trace:
            self._trace.record(self.now, "restart", node, body=saved)
        self._armed.pop(node, None)
        self._arm(node)
        for message in said:
            self._local(node, message)

    def _release(self, node: NodeId, effects: Sequence[Effect]) -> None:
        """Carry out the effects of a step."""
        self.steps += 1
        for effect in effects:
            if isinstance(effect, Send):
                self._send(node, effect.to, effect.message)
            elif isinstance(effect, Deliver):
                self.delivered.append((self.now, node, effect))
                if self._trace:
                    body = encode(rows_tree(effect.answers.rows))
                    self._trace.record(self.now, "deliver", node, body=body)
            elif isinstance(effect, Tell):
                self.tells.append((self.now, node, effect))
                if self._trace:
                    body = effect.error.message.encode()
                    self._trace.record(self.now, "tell", node, effect.subscription, effect.error.code, body)
            else:
                self.reported.append((self.now, node, effect))
                if self._trace:
                    body = effect.error.message.encode()
                    self._trace.record(self.now, "report", node, effect.peer, effect.error.code, body)
        self._arm(node)

    def _send(self, node: NodeId, to: NodeId, message: Message) -> None:
        assert self._links.joins(node, to), f"'{node}' sends to '{to}', which is not a neighbour"
        arrivals = self._links.carry(node, to, len(message.body), self.now)
        if not arrivals and self._trace:
            self._trace.record(self.now, "lost", to, node, message.kind, message.body)
        for arrival in arrivals:
            self._push(arrival.at, _ARRIVE, to, (node, _as_arrived(message, arrival)))

    def _arm(self, node: NodeId) -> None:
        """Note down when a node wants to be woken, if that is earlier than what is noted."""
        at = self.nodes[node].next_wake()
        if at is None:
            return
        at = max(at, self.now)
        armed = self._armed.get(node)
        if armed is None or at < armed:
            self._armed[node] = at
            self._number += 1
            heapq.heappush(self._heap, (at, self._number, _WAKE, node, None))

    def _push(self, at: Instant, what: int, node: NodeId, more: Any) -> None:
        self._coming += 1
        self._number += 1
        heapq.heappush(self._heap, (at, self._number, what, node, more))


def _as_arrived(message: Message, arrival: Arrival) -> Message:
    """The message as it comes out of the link: with one bit changed, if that is its fate."""
    if arrival.flip is None or not message.body:
        return message
    body = bytearray(message.body)
    bit = int(arrival.flip * 8 * len(body))
    body[bit // 8] ^= 1 << bit % 8
    return Message(message.kind, bytes(body))
