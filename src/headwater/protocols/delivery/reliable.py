"""How does a node that assumes perfect links run over links that lose, double, damage, delay and reorder? Inside this one.

             core: receive(message) ............ effects: Send, Deliver, Tell, Report
                        ^                             |
    packets in order, each once              Send -> packet -> frame; all else goes out as it is
                        |                             v
    Reliable:  frame -> Receiving               Sending -> frames, new and again

Rule 1  Between two neighbours the core's messages arrive in the order they were sent, each exactly once, for as long as both nodes
        keep their saved state. (A node that has forgotten its state is another node, and needs another name.)
Rule 2  Messages whose sender is the node itself come from its own sensors and users and go to the core untouched.
Rule 3  What a peer gets wrong is a Report and changes nothing: bytes that are no frame, a frame under another name, an
        acknowledgement of what was never sent, anything from a node that is no neighbour. A frame is judged before it is used.
Rule 4  Everything the core sends to a neighbour in one step goes into as few frames as it fits in, with the acknowledgement.
Rule 5  Quiet: when everything is acknowledged, `next_wake` is the core's own.

States  of what is sent: see the table in `sending.py`. What is received has none but its numbers.
Time    is an argument. One timer per neighbour, found through a heap that is put right when it is read.
Source  Cerf, Kahn 1974; pauses as in TCP (Jacobson 1988, Karn 1987). Acknowledgements are cumulative.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, Protocol

from headwater.model import (
    Effect,
    Instant,
    Message,
    Node,
    NodeId,
    PeerError,
    Report,
    Send,
    decode,
    encode,
)
from headwater.protocols.delivery.frames import heading, pack, read_frame, write_frame
from headwater.protocols.delivery.receiving import Receiving
from headwater.protocols.delivery.sending import Sending
from headwater.protocols.delivery.settings import USUAL, DeliverySettings

FRAME = "frame"


class Core(Node, Protocol):
    """A node that assumes perfect links, and whose state can be saved."""

    def save(self) -> dict[str, Any]:
        """The state as a tree for the codec."""
        ...


@dataclass(slots=True)
class Traffic:
    """What went out to one neighbour: frames and their bytes, how many of them were sent again, how many only acknowledged."""

    frames: int = 0
    bytes: int = 0
    resends: int = 0
    acks: int = 0


class _Peer:
    """A neighbour: the two halves of the link, and the time its entry in the heap of timers has."""

    __slots__ = ("armed", "begin_in", "begin_out", "index", "name", "receiving", "sending", "traffic")

    def __init__(
        self, index: int, us: NodeId, name: NodeId, sending: Sending, receiving: Receiving, traffic: Traffic
    ) -> None:
        self.index = index
        self.name = name
        self.sending = sending
        self.receiving = receiving
        self.traffic = traffic
        self.begin_in = heading(name, us)
        self.begin_out = heading(us, name)
        self.armed: Instant | None = None

    def due(self) -> Instant | None:
        resend_at, ack_at = self.sending.resend_at, self.receiving.ack_at
        if resend_at is None or ack_at is None:
            return ack_at if resend_at is None else resend_at
        return min(resend_at, ack_at)


class Reliable:
    """A node around a core: frames to and from neighbours outside, the core's messages inside."""

    def __init__(
        self,
        name: NodeId,
        neighbours: Sequence[NodeId],
        core: Core,
        settings: DeliverySettings = USUAL,
    ) -> None:
        assert name not in neighbours and len(set(neighbours)) == len(neighbours), (
            "a node cannot be its own neighbour"
        )
        self.name = name
        self.core = core
        self.settings = settings
        self._peers = {
            other: _Peer(index, name, other, Sending(settings), Receiving(settings), Traffic())
            for index, other in enumerate(neighbours)
        }
        self._by_index = list(self._peers.values())
        self._timers: list[tuple[Instant, int]] = []

    @property
    def neighbours(self) -> tuple[NodeId, ...]:
        """The nodes beside this one."""
        return tuple(self._peers)

    @property
    def traffic(self) -> dict[NodeId, Traffic]:
        """What went out, by neighbour."""
        return {name: peer.traffic for name, peer in self._peers.items()}

    def receive(self, message: Message, sender: NodeId, now: Instant) -> list[Effect]:
        """Something local for the core, or a frame from a neighbour."""
        if sender == self.name:
            return self._carry_out(self.core.receive(message, sender, now), {}, now)
        peer = self._peers.get(sender)
        try:
            if peer is None:
                raise PeerError("not-a-neighbour", f"'{sender}' is not a neighbour of '{self.name}'")
            if message.kind != FRAME:
                raise PeerError("bad-frame", f"a message from '{sender}' is not a frame but '{message.kind}'")
            frame = read_frame(message.body, peer.begin_in)
            if frame.ack > peer.sending.last:
                raise PeerError(
                    "wrong-ack",
                    f"'{sender}' acknowledges frame {frame.ack}, the last was {peer.sending.last}",
                )
        except PeerError as error:
            return [Report(sender, error)]
        again = peer.sending.acknowledge(frame.ack, now)
        core_effects: list[Effect] = []
        if frame.number:
            for packet in peer.receiving.take(frame, now):
                core_effects += self.core.receive(packet, sender, now)
        return self._carry_out(core_effects, {peer: again}, now)

    def wake(self, now: Instant) -> list[Effect]:
        """Send again what is overdue, acknowledge what is owed, wake the core if it is due."""
        touched: dict[_Peer, list[tuple[int, bytes]]] = {}
        for peer in self._overdue(now):
            resend_at = peer.sending.resend_at
            late = resend_at is not None and resend_at <= now
            touched[peer] = peer.sending.time_out(now) if late else []
        core_wake = self.core.next_wake()
        core_effects = self.core.wake(now) if core_wake is not None and core_wake <= now else []
        return self._carry_out(core_effects, touched, now)

    def next_wake(self) -> Instant | None:
        """The earliest of the core's wish and the neighbours' timers."""
        mine, core = self._next_timer(), self.core.next_wake()
        if mine is None or core is None:
            return core if mine is None else mine
        return min(mine, core)

    def save(self) -> bytes:
        """Everything, as bytes; `load` of it behaves exactly as this one would."""
        tree = {
            "name": self.name,
            "settings": asdict(self.settings),
            "peers": [
                [peer.name, peer.sending.save(), peer.receiving.save(), list(astuple(peer.traffic))]
                for peer in self._by_index
            ],
            "core": self.core.save(),
        }
        return encode(tree)

    @classmethod
    def load(cls, data: bytes, core_loader: Callable[[dict[str, Any]], Core]) -> Reliable:
        """A saved node; `core_loader` makes the core from its own tree."""
        tree = decode(data)
        settings = DeliverySettings(**tree["settings"])
        node = cls(tree["name"], [saved[0] for saved in tree["peers"]], core_loader(tree["core"]), settings)
        for peer, (_, sending, receiving, traffic) in zip(node._by_index, tree["peers"], strict=True):
            peer.sending = Sending.load(sending, settings)
            peer.receiving = Receiving.load(receiving, settings)
            peer.traffic = Traffic(*traffic)
            node._arm(peer)
        return node

    # --- below: how effects become frames, and timers a heap -------------------------------------------------------

    def _carry_out(
        self, core_effects: Iterable[Effect], touched: dict[_Peer, list[tuple[int, bytes]]], now: Instant
    ) -> list[Effect]:
        """What goes out: the core's words to users, then frames to the neighbours it sends to or that are due."""
        effects: list[Effect] = []
        for effect in core_effects:
            if isinstance(effect, Send):
                peer = self._peers[effect.to]
                touched.setdefault(peer, [])
                if not peer.sending.offer(pack(effect.message)):
                    effects.append(Report(peer.name, _given_up(peer.name, self.settings)))
            else:
                effects.append(effect)
        for peer, again in touched.items():
            self._flush(peer, again, effects, now)
            self._arm(peer)
        return effects

    def _flush(
        self, peer: _Peer, again: list[tuple[int, bytes]], effects: list[Effect], now: Instant
    ) -> None:
        new = peer.sending.new_frames(now)
        ack_at = peer.receiving.ack_at
        if not again and not new:
            if ack_at is None or ack_at > now:
                return
            frames = [(0, b"")]
            peer.traffic.acks += 1
        else:
            frames = again + new
        peer.traffic.resends += len(again)
        peer.traffic.frames += len(frames)
        for number, payload in frames:
            data = write_frame(peer.begin_out, number, peer.receiving.got, payload)
            peer.traffic.bytes += len(data)
            effects.append(Send(peer.name, Message(FRAME, data)))
        peer.receiving.acknowledged()

    def _arm(self, peer: _Peer) -> None:
        due = peer.due()
        if due is not None and (peer.armed is None or due < peer.armed):
            peer.armed = due
            heapq.heappush(self._timers, (due, peer.index))

    def _next_timer(self) -> Instant | None:
        """The earliest timer. Entries that were put off since are put where they belong when they come up."""
        timers = self._timers
        while timers:
            at, index = timers[0]
            peer = self._by_index[index]
            if at == peer.armed:
                if peer.due() == at:
                    return at
                peer.armed = None
            heapq.heappop(timers)
            if peer.armed is None:
                self._arm(peer)
        return None

    def _overdue(self, now: Instant) -> list[_Peer]:
        """The neighbours whose time has come, in the order of the neighbours whatever the heap looks like."""
        overdue: set[int] = set()
        while (at := self._next_timer()) is not None and at <= now:
            _, index = heapq.heappop(self._timers)
            self._by_index[index].armed = None
            overdue.add(index)
        return [self._by_index[index] for index in sorted(overdue)]


def _given_up(peer: NodeId, settings: DeliverySettings) -> PeerError:
    return PeerError(
        "peer-given-up",
        f"'{peer}' acknowledges too little: more than {settings.waiting_bytes} bytes are waiting for it",
        advice=["nothing more is sent to it; join the two nodes again under new names"],
    )
