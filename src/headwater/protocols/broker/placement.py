"""What was requested from this node, and what does it request from others for that?

Rule 1  An operator that came from one side is divided among all others (`splitting`). What is covered goes no further (`filtering`): on receipt an
        operator by others from the same side, at the sender a part by what was requested from that side before.
Rule 2  Asking comes before taking back, always: there is no moment at which something needed is not requested.
Rule 3  A part may belong to several operators; it is taken back with the last of them.
Rule 4  What is taken back may have covered others. Those are requested now, unless something else covers them.
Rule 5  The parts for the node's own sensors are worked out like the others, and stored: they are what a sensor would receive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater.model import HeadwaterError, LimitReached, NodeId, Operator, PeerError, Source
from headwater.protocols.broker.directory import Directory
from headwater.protocols.broker.filtering import Filtering
from headwater.protocols.broker.messages import Request, subscribe, unsubscribe
from headwater.protocols.broker.outbox import Outbox
from headwater.protocols.broker.side import Side
from headwater.protocols.broker.splitting import Splitting

MOST_OPERATORS: Final = 1_000_000


class Placement:
    """Operators from all sides, and their parts for all sides."""

    def __init__(
        self,
        name: NodeId,
        sides: Mapping[NodeId, Side],
        directory: Directory,
        outbox: Outbox,
        *,
        filtering: Filtering,
        splitting: Splitting,
    ) -> None:
        self._name, self._sides, self._directory, self._outbox = name, sides, directory, outbox
        self._filtering, self._split = filtering, splitting.parts
        self._parts: dict[tuple[NodeId, str], dict[NodeId, list[Request]]] = {}

    def add(self, request: Request, sender: NodeId) -> bool:
        """An operator came; False: nothing is new, or no source could answer it."""
        side = self._sides[sender]
        if request.name in side.requested or request.name in side.covered:
            return False
        if not self._room_for(request.operator, sender):
            return False
        if sender == self._name and not self._answerable(request.operator):
            return False
        side.changed()
        if self._filtering.where == "receipt" and self._filtering.covers(side.requested, request):
            side.covered.add(request)
        else:
            side.requested.add(request)
            self._place(request, sender)
        return True

    def remove(self, name: str, sender: NodeId) -> list[Request]:
        """An operator is taken back; the operators that are no longer covered without it."""
        side = self._sides[sender]
        side.forget(name)
        side.changed()
        if name in side.covered:
            side.covered.take(name)
        if name not in side.requested:
            return []
        gone = side.requested.take(name)
        exposed = []
        for other in side.covered.like(gone):
            if not self._filtering.covers(side.requested, other):
                side.requested.add(side.covered.take(other.name))
                self._place(other, sender)
                exposed.append(other)
        for to, parts in self._parts.pop((sender, name)).items():
            for part in parts:
                self._unwant(to, part, f"{sender}/{name}")
        return exposed

    def sources_changed(self, sources: Sequence[Source], sender: NodeId) -> None:
        """Sources came or went on a side: split the operators from elsewhere that they concern again."""
        for name, side in self._sides.items():
            side.changed()
            if name == sender != self._name:
                continue
            for request in list(side.requested):
                if any(f.takes(source) for f in request.operator.filters for source in sources):
                    self._place(request, name)
                    if name == self._name:
                        self._answerable(request.operator)

    def save(self) -> list[Any]:
        """Which parts each operator has; the parts themselves are stored with the sides."""
        return [
            [sender, name, [[to, part.name] for to, parts in divided.items() for part in parts]]
            for (sender, name), divided in self._parts.items()
        ]

    def restore(self, saved: list[Any]) -> None:
        """What `save` gave; the sides are there again."""
        for sender, name, parts in saved:
            divided = self._parts.setdefault((sender, name), {})
            for to, part in parts:
                found = self._sides[to].sent.get(part) or self._sides[to].held.get(part)
                assert found is not None, "a part that is neither sent nor held"
                divided.setdefault(to, []).append(found)

    def _place(self, request: Request, sender: NodeId) -> None:
        divided = self._divide(request, sender)
        before = self._parts.get((sender, request.name), {})
        self._parts[sender, request.name] = divided
        reason = f"{sender}/{request.name}"
        for to, parts in divided.items():
            for part in parts:
                self._want(to, part, reason)
        divided_names = {(to, part.name) for to, parts in divided.items() for part in parts}
        for to, parts in before.items():
            for part in parts:
                if (to, part.name) not in divided_names:
                    self._unwant(to, part, reason)

    def _divide(self, request: Request, sender: NodeId) -> dict[NodeId, list[Request]]:
        """The parts for each side. A user's own node may have sources itself; a neighbour requests only what lies beyond it."""
        but = None if sender == self._name else sender
        where = self._directory.where(request.operator.filters, but=but)
        return {
            to: [
                request if part == request.operator else Request.of(part)
                for part in self._split(request.operator, to, where)
            ]
            for to in self._sides
            if to != but
        }

    def _want(self, to: NodeId, part: Request, reason: str) -> None:
        side = self._sides[to]
        side.reasons.setdefault(part.name, set()).add(reason)
        if part.name in side.sent or part.name in side.held:
            return
        decided_here = self._filtering.where == "sender" or to == self._name
        if decided_here and self._filtering.covers(side.sent, part):
            side.held.add(part)
        else:
            self._ask(to, part)

    def _unwant(self, to: NodeId, part: Request, reason: str) -> None:
        side = self._sides[to]
        side.reasons[part.name].discard(reason)
        if side.reasons[part.name]:
            return
        del side.reasons[part.name]
        if part.name in side.held:
            side.held.take(part.name)
            return
        side.sent.take(part.name)
        for other in side.held.like(part):
            if not self._filtering.covers(side.sent, other):
                self._ask(to, side.held.take(other.name))
        if to != self._name:
            self._outbox.send(to, unsubscribe(part.name), 1)

    def _ask(self, to: NodeId, part: Request) -> None:
        self._sides[to].sent.add(part)
        if to != self._name:
            self._outbox.send(to, subscribe(part), 1)

    def _room_for(self, operator: Operator, sender: NodeId) -> bool:
        """Whether another operator may come; the sender gets an error otherwise."""
        if sum(len(side.requested) + len(side.covered) for side in self._sides.values()) < MOST_OPERATORS:
            return True
        message = f"'{self._name}' has {MOST_OPERATORS} operators and accepts no more"
        if sender != self._name:
            raise PeerError("limit-reached", message)
        self._outbox.tell(operator.subscription, LimitReached("operators of a node", MOST_OPERATORS, message))
        return False

    def _answerable(self, operator: Operator) -> bool:
        """Whether there are sources for all of it anywhere; its user gets an error otherwise."""
        for f, where in zip(operator.filters, self._directory.where(operator.filters, but=None), strict=True):
            if f.needed and not where:
                keys = "" if f.keys is None else f" {' or '.join(repr(key) for key in f.keys)}"
                place = "" if f.region is None else " in its region"
                error = HeadwaterError(
                    "no-sources",
                    f"no sensor{keys}{place} measures '{f.attribute}', which '{operator.subscription}' requests",
                    advice=[
                        "check the attribute, the sensors and the region, and subscribe again when there is one"
                    ],
                )
                self._outbox.tell(operator.subscription, error)
                return False
        return True
