"""What a node has decided to do in this step, and how much it has sent over its links since it began."""

from __future__ import annotations

from collections import Counter
from typing import Any

from headwater.model import Effect, HeadwaterError, Message, NodeId, PeerError, Report, Send, Tell


class Outbox:
    """Effects in the order they were decided.

    `load` counts by kind of message and neighbour what the paper counts: operators for `subscribe` and `unsubscribe`, readings for
    `events`, sources for `advertise` and `retract`; `bytes` are those of the messages.
    """

    def __init__(self) -> None:
        self.load: Counter[tuple[str, NodeId]] = Counter()
        self.bytes: Counter[tuple[str, NodeId]] = Counter()
        self.effects: list[Effect] = []

    def send(self, to: NodeId, message: Message, count: int) -> None:
        """Something for a neighbour."""
        self.load[message.kind, to] += count
        self.bytes[message.kind, to] += len(message.body)
        self.effects.append(Send(to, message))

    def report(self, peer: NodeId, error: PeerError) -> None:
        """A peer's mistake."""
        self.effects.append(Report(peer, error))

    def tell(self, subscription: str, error: HeadwaterError) -> None:
        """Words to a user."""
        self.effects.append(Tell(subscription, error))

    def taken(self) -> list[Effect]:
        """The effects of this step, and none left."""
        effects, self.effects = self.effects, []
        return effects

    def save(self) -> dict[str, Any]:
        """What was counted."""
        return {
            "counted": [
                [kind, side, count, self.bytes[kind, side]] for (kind, side), count in self.load.items()
            ]
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """What `save` gave."""
        for kind, side, count, size in saved["counted"]:
            self.load[kind, side], self.bytes[kind, side] = count, size
