"""What came from one neighbour, and when is it acknowledged?

Rule 1  Frames are handed on in the order of their numbers, each once. One that comes early is stored until those before it are
        there; one that came before is dropped, and acknowledged again: its acknowledgement may have been lost.
Rule 2  An acknowledgement waits for a frame that goes the other way, `ack_delay_us` at most. It does not wait when `ack_frames`
        are owed, when a gap has just been filled, or when a frame came twice: then the neighbour may be waiting for it.

Memory  `window_frames` and `window_bytes` of frames that came early; more are dropped, the neighbour sends them again.
"""

from __future__ import annotations

from typing import Any

from headwater.model import Instant, Message
from headwater.protocols.byte_arrays import join_bytes, split_bytes
from headwater.protocols.delivery.frames import Frame, unpack
from headwater.protocols.delivery.settings import DeliverySettings


class Receiving:
    """The half of a link that receives: frames in, packets out in their order."""

    __slots__ = ("_early", "_early_bytes", "_owed", "_settings", "ack_at", "got")

    def __init__(self, settings: DeliverySettings) -> None:
        self._settings = settings
        self.got = 0
        """The last number that is here without a gap: what is acknowledged."""
        self.ack_at: Instant | None = None
        self._owed = 0
        self._early: dict[int, bytes] = {}
        self._early_bytes = 0

    def take(self, frame: Frame, now: Instant) -> list[Message]:
        """The packets whose turn has come with a frame that has some."""
        number = frame.number
        if number == self.got + 1:
            self.got = number
            self._owe(now)
            return frame.packets + self._follow(now) if self._early else frame.packets
        if number <= self.got:
            self.ack_at = now
        elif number not in self._early and self._room(frame):
            self._early[number] = frame.payload
            self._early_bytes += len(frame.payload)
        return []

    def acknowledged(self) -> None:
        """A frame went out, and `got` with it."""
        self.ack_at = None
        self._owed = 0

    def save(self) -> dict[str, Any]:
        """As a tree."""
        return {
            "got": self.got,
            "ack_at": self.ack_at,
            "owed": self._owed,
            "early": list(self._early),
            "early_payloads": join_bytes(self._early.values()),
        }

    @classmethod
    def load(cls, tree: dict[str, Any], settings: DeliverySettings) -> Receiving:
        """The receiving half from what was saved."""
        half = cls(settings)
        half.got, half.ack_at, half._owed = tree["got"], tree["ack_at"], tree["owed"]
        half._early = dict(zip(tree["early"], split_bytes(tree["early_payloads"]), strict=True))
        half._early_bytes = sum(map(len, half._early.values()))
        return half

    def _owe(self, now: Instant) -> None:
        self._owed += 1
        if self._owed >= self._settings.ack_frames:
            self.ack_at = now
        elif self.ack_at is None:
            self.ack_at = now + self._settings.ack_delay_us

    def _follow(self, now: Instant) -> list[Message]:
        """The packets of frames that came early and follow without a gap."""
        packets: list[Message] = []
        self.ack_at = now
        while (payload := self._early.pop(self.got + 1, None)) is not None:
            self.got += 1
            self._early_bytes -= len(payload)
            packets += unpack(payload)
        return packets

    def _room(self, frame: Frame) -> bool:
        return (
            frame.number <= self.got + self._settings.window_frames
            and self._early_bytes + len(frame.payload) <= self._settings.window_bytes
        )
