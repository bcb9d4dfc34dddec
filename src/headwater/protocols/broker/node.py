"""A broker: who on which side wants which readings, and who has them?

```
event                        what the node does
advertise   from j           notes the sources, tells all other sides, divides anew the operators they concern
retract     from j           the same, the other way
subscribe   from m           covered by what m requested before? notes it as covered             (filtering on receipt)
                             otherwise notes it, and asks each other side for its part of it
                             a part covered by what was requested from that side before is held back  (filtering at the sender)
                             sends m what it already has for it
unsubscribe from m           asks for what it covered and nothing else covers, then takes its parts back and forgets it
events      from j           notes the readings, sends each side what became a member of what that side requested
wake                         the same, for readings gathered since
anything else                reports it and drops it
```

Rule 1  The node itself is a side: its sensors advertise and publish, its users subscribe, with the node's name as sender.
Rule 2  A subscription that no source can answer is dropped at its node, and its user gets an error. When its sources leave later it stays,
        its user gets an error, and it is answered again when they come back. Readings of a source that has left, or was elsewhere, count for
        nothing new: they are not sent once the news is.
Rule 3  A peer's nonsense is reported and dropped. What a peer asks or says concerns its own side alone.
Rule 4  Time is an argument. Readings are let go `validity_us` after they were measured; it must be longer than the longest δt and
        the way through the network together. Those that come later are counted and dropped.

Parts   `directory` which sources are where, `placement` what is requested from whom, `flow` which readings go where.
Memory  sources and operators until they are taken back (bounds: `directory`, `placement`), readings while they are valid (`store`).
Source  seed paper, algorithms 1 to 5. Beyond it: unsubscription, sources that come and go, several sources per attribute, operators
        that arrive while readings are under way (what is still valid is sent), filtering at the sender.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.model import Effect, Instant, Matcher, Message, NodeId, PeerError, Source
from headwater.protocols.broker import messages
from headwater.protocols.broker.directory import Directory
from headwater.protocols.broker.filtering import Filtering
from headwater.protocols.broker.flow import Flow
from headwater.protocols.broker.messages import Request
from headwater.protocols.broker.outbox import Outbox
from headwater.protocols.broker.placement import Placement
from headwater.protocols.broker.propagation import Manner, Propagation
from headwater.protocols.broker.side import Side
from headwater.protocols.broker.splitting import Splitting, canonical


@dataclass(frozen=True, slots=True)
class Approach:
    """The three policies of a node."""

    filtering: Filtering
    splitting: Splitting
    propagation: Propagation


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """How long a reading is held, and how long a node waits for more readings before it matches them together."""

    validity_us: int
    gather_us: int = 0


class Broker:
    """The node. It assumes links that lose nothing and keep their order (see `headwater.protocols.delivery`)."""

    def __init__(
        self,
        name: NodeId,
        neighbours: Sequence[NodeId],
        *,
        approach: Approach,
        matcher: Matcher,
        settings: BrokerSettings,
    ) -> None:
        self.name = name
        self.sides = {side: Side(approach.propagation.manner(side)) for side in neighbours}
        self.sides[name] = Side(Manner.EACH)
        self._gather_us = settings.gather_us
        self._wake_at: Instant | None = None
        self._outbox = Outbox()
        self._directory = Directory(self.sides)
        about = (name, self.sides, self._directory, self._outbox)
        split = approach.splitting
        self._placement = Placement(*about, filtering=approach.filtering, splitting=split)
        self._flow = Flow(*about, matcher=matcher, splitting=split, validity_us=settings.validity_us)
        self._on: dict[str, Callable[[bytes, NodeId, Instant], None]] = {
            "advertise": self._advertise,
            "retract": self._retract,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "events": self._events,
        }

    @property
    def load(self) -> Counter[tuple[str, NodeId]]:
        """What was sent so far, by kind of message and neighbour."""
        return self._outbox.load

    @property
    def sizes(self) -> Counter[tuple[str, NodeId]]:
        """The bytes of the messages, likewise."""
        return self._outbox.bytes

    @property
    def counts(self) -> Counter[str]:
        """Things worth telling."""
        return self._flow.counts

    def receive(self, message: Message, sender: NodeId, now: Instant) -> list[Effect]:
        """One of the events of the table above."""
        try:
            if sender not in self.sides:
                raise PeerError("not-a-neighbour", f"'{sender}' is not a neighbour of '{self.name}'")
            if message.kind not in self._on:
                raise messages.nonsense(f"a message of the unknown kind '{message.kind[:40]}'")
            self._on[message.kind](message.body, sender, now)
        except PeerError as error:
            self._outbox.report(sender, error)
        return self._outbox.taken()

    def wake(self, now: Instant) -> list[Effect]:
        """Match what was gathered."""
        if self._wake_at is not None and now >= self._wake_at:
            self._wake_at = None
            self._flow.match()
        return self._outbox.taken()

    def next_wake(self) -> Instant | None:
        """When the readings gathered so far are matched."""
        return self._wake_at

    def save(self) -> dict[str, Any]:
        """The whole state, for the codec."""
        return {
            "name": self.name,
            "directory": self._directory.save(),
            "sides": {name: side.save() for name, side in self.sides.items()},
            "placement": self._placement.save(),
            "flow": self._flow.save(),
            "outbox": self._outbox.save(),
            "wake_at": self._wake_at,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue, as a new node, from what `save` gave."""
        self._directory.restore(saved["directory"])
        for name, tree in saved["sides"].items():
            self.sides[name].restore(tree)
        self._placement.restore(saved["placement"])
        self._flow.restore(saved["flow"])
        self._outbox.restore(saved["outbox"])
        self._wake_at = saved["wake_at"]

    def _advertise(self, body: bytes, sender: NodeId, now: Instant) -> None:
        fresh, moved = [], []
        for source in messages.read_sources(body):
            before = self.sides[sender].sources.get((source.key, source.attribute))
            if before not in (None, source):
                self._flow.match()  # what is to be sent of it goes before the news
            try:
                if self._directory.add(source, sender):
                    fresh.append(source)
                    moved += [] if before is None else [before]
            except PeerError as error:
                self._outbox.report(sender, error)
        self._pass_on(fresh, moved, sender, messages.advertise)

    def _retract(self, body: bytes, sender: NodeId, now: Instant) -> None:
        pairs = messages.read_pairs(body)
        if any(pair in self.sides[sender].sources for pair in pairs):
            self._flow.match()  # likewise
        gone = [source for pair in pairs if (source := self._directory.remove(pair, sender)) is not None]
        self._pass_on(gone, [], sender, _retraction)
        for source in gone:
            heir = self._directory.heir((source.key, source.attribute))
            if heir is not None:
                self._advertise(messages.advertise([heir[1]]).body, heir[0], now)

    def _pass_on(
        self,
        sources: Sequence[Source],
        moved: Sequence[Source],
        sender: NodeId,
        news: Callable[[Sequence[Source]], Message],
    ) -> None:
        if not sources:
            return
        for start in range(0, len(sources), messages.MOST_ROWS):
            piece = sources[start : start + messages.MOST_ROWS]
            message = news(piece)
            for side in self.sides:
                if side not in (sender, self.name):
                    self._outbox.send(side, message, len(piece))
        self._placement.sources_changed([*sources, *moved], sender)

    def _subscribe(self, body: bytes, sender: NodeId, now: Instant) -> None:
        request = messages.read_request(body)
        if sender == self.name:
            request = Request.of(canonical(request.operator))
        if self._placement.add(request, sender):
            self._flow.catch_up(request, sender, now)

    def _unsubscribe(self, body: bytes, sender: NodeId, now: Instant) -> None:
        for exposed in self._placement.remove(messages.read_name(body), sender):
            self._flow.catch_up(exposed, sender, now)

    def _events(self, body: bytes, sender: NodeId, now: Instant) -> None:
        received = messages.read_events(body)
        if sender != self.name and len(received.readings.time) > messages.MOST_ROWS:
            raise messages.nonsense(f"more than {messages.MOST_ROWS} readings at once")
        if not self._flow.add(received, sender, now):
            return
        if self._gather_us == 0:
            self._flow.match()
        elif self._wake_at is None:
            self._wake_at = now + self._gather_us


def _retraction(sources: Sequence[Source]) -> Message:
    return messages.retract([(source.key, source.attribute) for source in sources])
