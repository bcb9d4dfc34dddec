"""What is on its way to one neighbour, and when is it sent again?

Rule 1  Frames are numbered from 1 without gaps and keep their packets for ever: a frame sent again is the same frame.
Rule 2  A frame is forgotten when it or a later one is acknowledged, never before.
Rule 3  One timer for all frames on their way. It starts anew whenever an acknowledgement makes progress.
Rule 4  When the timer runs out the oldest frame is sent again, and the next pause is twice as long. From then on until all that
        was on its way is acknowledged (REPAIRING), progress that leaves a gap sends the next ones at once, twice as many each
        time: a link that was cut for a while is full again after a few round trips.
Rule 5  The pause is the smoothed round trip plus four times its mean deviation (Jacobson 1988), measured only on frames that
        were sent once (Karn 1987), plus the time the neighbour may hold its acknowledgement back, plus the time the oldest
        frame takes on a slow link. A pause that has grown stays so until a frame that was sent once is acknowledged (at most
        MOST_GROWN times what was measured): otherwise a link slower than expected would have every frame sent twice for ever.
        Both bounds give way to twice the time that the last acknowledged frame took: on a link where a frame takes minutes,
        shorter pauses would fill it with copies.

Memory  `window_frames` and `window_bytes` on their way, `waiting_bytes` waiting. Beyond that the neighbour is given up.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from headwater.model import SECOND, Instant
from headwater.protocols.byte_arrays import join_bytes, split_bytes
from headwater.protocols.delivery.settings import DeliverySettings

MOST_GROWN = 8

QUIET = "quiet"  # nothing on its way: no timer
WAITING = "waiting"  # frames on their way, none known to be lost
REPAIRING = "repairing"  # the timer ran out: what was on its way then is not yet acknowledged
GIVEN_UP = "given up"  # too much was waiting: nothing goes out, nothing is stored

SENT, ALL_ACKED, TIMED_OUT, REPAIRED, OVERFLOWED = "sent", "all acked", "timed out", "repaired", "overflowed"

TRANSITIONS = {
    (QUIET, SENT): WAITING,
    (WAITING, ALL_ACKED): QUIET,
    (WAITING, TIMED_OUT): REPAIRING,
    (WAITING, OVERFLOWED): GIVEN_UP,
    (REPAIRING, TIMED_OUT): REPAIRING,
    (REPAIRING, REPAIRED): WAITING,
    (REPAIRING, ALL_ACKED): QUIET,
    (REPAIRING, OVERFLOWED): GIVEN_UP,
}


class _Flying:
    """A frame on its way. `again`: it was sent more than once; `repair`: in which repair it was sent last."""

    __slots__ = ("again", "number", "payload", "repair", "sent_at")

    def __init__(self, number: int, payload: bytes, sent_at: Instant) -> None:
        self.number = number
        self.payload = payload
        self.sent_at = sent_at
        self.again = False
        self.repair = 0


class Sending:
    """The half of a link that sends: packets in, frames out, acknowledgements in."""

    __slots__ = (
        "_burst", "_flying", "_flying_bytes", "_least_patience_us", "_pause_us", "_repair_to", "_repairs", "_round_trip_us", "_settings",
        "_spread_us", "_timeout_us", "_waiting", "_waiting_bytes", "last", "resend_at", "state",
    )  # fmt: skip

    def __init__(self, settings: DeliverySettings) -> None:
        self._settings = settings
        self.state = QUIET
        self.last = 0
        """The number of the last frame sent."""
        self.resend_at: Instant | None = None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._flying: deque[_Flying] = deque()
        self._flying_bytes = 0
        self._timeout_us = settings.first_resend_us
        self._pause_us = settings.first_resend_us
        self._least_patience_us = 0  # twice the time that the last acknowledged frame took
        self._round_trip_us = self._spread_us = 0
        self._repairs = self._repair_to = 0
        self._burst = 0

    def offer(self, packet: bytes) -> bool:
        """A packet to be sent; False: it is one too many, and the neighbour is given up."""
        if self.state == GIVEN_UP:
            return True
        self._waiting.append(packet)
        self._waiting_bytes += len(packet)
        # Only packets behind frames on their way count as waiting: in one step a core may offer any amount.
        if self._waiting_bytes > self._settings.waiting_bytes and self._flying:
            self._give_up()
            return False
        return True

    def new_frames(self, now: Instant) -> list[tuple[int, bytes]]:
        """Number and payload of the frames that may go out now for the first time."""
        frames: list[tuple[int, bytes]] = []
        while self._waiting and self._room():
            payload = self._next_payload()
            self.last += 1
            self._flying.append(_Flying(self.last, payload, now))
            self._flying_bytes += len(payload)
            frames.append((self.last, payload))
        if frames and self.state == QUIET:
            self._move(SENT)
            self._start_timer(now)
        return frames

    def acknowledge(self, ack: int, now: Instant) -> list[tuple[int, bytes]]:
        """The neighbour has everything up to `ack`; number and payload of the frames to send again at once."""
        flying = self._flying
        if not flying or flying[0].number > ack:
            return []
        while flying and flying[0].number <= ack:
            newest = flying.popleft()
            self._flying_bytes -= len(newest.payload)
        self._least_patience_us = 2 * (now - newest.sent_at)
        if newest.again:
            self._pause_us = min(self._pause_us, max(MOST_GROWN * self._timeout_us, self._least_patience_us))
        else:
            self._measure(now - newest.sent_at)
            self._pause_us = self._timeout_us
        if not flying:
            self._move(ALL_ACKED)
            self.resend_at = None
            return []
        self._start_timer(now)
        return self._repair(ack) if self.state == REPAIRING else []

    def time_out(self, now: Instant) -> list[tuple[int, bytes]]:
        """The timer ran out; number and payload of the frame to send again."""
        self._move(TIMED_OUT)
        self._repairs += 1
        self._repair_to = self.last
        self._burst = 1
        self._pause_us = min(2 * self._pause_us, self._most_us())
        self._start_timer(now)
        return self._again()

    def save(self) -> dict[str, Any]:
        """As a tree."""
        return {
            "state": self.state,
            "last": self.last,
            "resend_at": self.resend_at,
            "waiting": join_bytes(self._waiting),
            "flying": join_bytes(frame.payload for frame in self._flying),
            "flights": [
                [frame.number, frame.sent_at, int(frame.again), frame.repair] for frame in self._flying
            ],
            "pauses": [
                self._timeout_us,
                self._pause_us,
                self._round_trip_us,
                self._spread_us,
                self._least_patience_us,
            ],
            "repair": [self._repairs, self._repair_to, self._burst],
        }

    @classmethod
    def load(cls, tree: dict[str, Any], settings: DeliverySettings) -> Sending:
        """The sending half from what was saved."""
        half = cls(settings)
        half.state, half.last, half.resend_at = tree["state"], tree["last"], tree["resend_at"]
        half._waiting = deque(split_bytes(tree["waiting"]))
        half._waiting_bytes = sum(map(len, half._waiting))
        for payload, flight in zip(split_bytes(tree["flying"]), tree["flights"], strict=True):
            frame = _Flying(flight[0], payload, flight[1])
            frame.again, frame.repair = bool(flight[2]), flight[3]
            half._flying.append(frame)
            half._flying_bytes += len(payload)
        half._timeout_us, half._pause_us, half._round_trip_us, half._spread_us = tree["pauses"][:4]
        half._least_patience_us = tree["pauses"][4]
        half._repairs, half._repair_to, half._burst = tree["repair"]
        return half

    def _start_timer(self, now: Instant) -> None:
        slow_us = len(self._flying[0].payload) * SECOND // self._settings.least_bytes_per_s
        self.resend_at = now + self._pause_us + slow_us

    def _room(self) -> bool:
        if not self._flying:
            return True
        return (
            len(self._flying) < self._settings.window_frames
            and self._flying_bytes < self._settings.window_bytes
        )

    def _next_payload(self) -> bytes:
        waiting = self._waiting
        packets = [waiting.popleft()]
        size = len(packets[0])
        while waiting and size + len(waiting[0]) <= self._settings.frame_bytes:
            packets.append(waiting.popleft())
            size += len(packets[-1])
        self._waiting_bytes -= size
        return packets[0] if len(packets) == 1 else b"".join(packets)

    def _repair(self, ack: int) -> list[tuple[int, bytes]]:
        if ack >= self._repair_to:
            self._move(REPAIRED)
            return []
        self._burst *= 2
        return self._again()

    def _again(self) -> list[tuple[int, bytes]]:
        """The oldest frames, those left out that this repair has already sent."""
        frames = []
        for frame in list(self._flying)[: self._burst]:
            if frame.repair != self._repairs and frame.number <= self._repair_to:
                frame.repair = self._repairs
                frame.again = True
                frames.append((frame.number, frame.payload))
        return frames

    def _measure(self, round_trip_us: int) -> None:
        if self._round_trip_us == 0:
            self._round_trip_us, self._spread_us = round_trip_us, round_trip_us // 2
        else:
            self._spread_us += (abs(round_trip_us - self._round_trip_us) - self._spread_us) // 4
            self._round_trip_us += (round_trip_us - self._round_trip_us) // 8
        pause = self._round_trip_us + 4 * self._spread_us + self._settings.ack_delay_us
        self._timeout_us = min(max(pause, self._settings.least_resend_us), self._most_us())

    def _most_us(self) -> int:
        return max(self._settings.most_resend_us, self._least_patience_us)

    def _give_up(self) -> None:
        self._move(OVERFLOWED)
        self._waiting.clear()
        self._flying.clear()
        self._waiting_bytes = self._flying_bytes = 0
        self.resend_at = None

    def _move(self, happening: str) -> None:
        self.state = TRANSITIONS[self.state, happening]
