"""When does a frame arrive, and does it?

Rule 1  A link carries one frame after the other in each direction: a frame starts when the one before it is through, takes its
        bytes at the link's speed, and arrives the link's latency later. Without faults frames arrive in the order they were sent.
Rule 2  Luck comes from the seed alone, and is drawn only for what the faults can do: without faults the seed changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from headwater.drivers.simulator.faults import Faults
from headwater.model import SECOND, Instant, Link, NodeId


class Arrival(NamedTuple):
    """A frame comes out of a link; `flip` is the share of its bits before the one that has changed."""

    at: Instant
    flip: float | None = None


@dataclass(slots=True)
class Carried:
    """What was handed to a link in one direction, and how much of it was lost there."""

    frames: int = 0
    bytes: int = 0
    lost: int = 0


class _Wire:
    """A link in one direction: until when it is occupied, and when the last frame arrives that stayed in order."""

    __slots__ = ("carried", "cuts", "free_at", "last_at", "latency_us", "us_per_byte")

    def __init__(self, link: Link, cuts: list[tuple[Instant, Instant]]) -> None:
        self.latency_us = link.latency_us
        self.us_per_byte = SECOND / link.bytes_per_s
        self.cuts = cuts
        self.carried = Carried()
        self.free_at = self.last_at = -(2**62)


class Links:
    """All links of a world, in both directions."""

    def __init__(self, links: Sequence[Link], *, seed: int, faults: Faults) -> None:
        self._faults = faults
        self._luck = Random(f"links {seed}")
        self._random = faults.random_ones()
        self._number = -1
        self._wires: dict[tuple[NodeId, NodeId], _Wire] = {}
        for link in links:
            for way in ((link.one, link.other), (link.other, link.one)):
                self._wires[way] = _Wire(link, self._cuts(way))

    @property
    def carried(self) -> dict[tuple[NodeId, NodeId], Carried]:
        """What each link carried, by sender and recipient."""
        return {way: wire.carried for way, wire in self._wires.items()}

    def joins(self, one: NodeId, other: NodeId) -> bool:
        """Whether two nodes are neighbours."""
        return (one, other) in self._wires

    def carry(self, sender: NodeId, to: NodeId, size: int, now: Instant) -> list[Arrival]:
        """Hand a frame to a link; none: it is lost, two: it is doubled."""
        wire = self._wires[sender, to]
        self._number += 1
        carried = wire.carried
        carried.frames += 1
        carried.bytes += size
        start = wire.free_at if wire.free_at > now else now
        wire.free_at = through = start + round(size * wire.us_per_byte)
        if wire.cuts and any(cut <= now < end for cut, end in wire.cuts):
            carried.lost += 1
            return []
        at = through + wire.latency_us
        if not self._random or self._over(now):
            wire.last_at = at = max(at, wire.last_at)
            return [Arrival(at)]
        arrivals = self._harmed(wire, at)
        carried.lost += not arrivals
        return arrivals

    def _harmed(self, wire: _Wire, at: Instant) -> list[Arrival]:
        faults, luck = self._faults, self._luck
        if self._number in faults.lost or self._happens(faults.loss):
            return []
        double = self._number in faults.doubled or self._happens(faults.duplication)
        if faults.delay_us:
            at += luck.randint(0, faults.delay_us)
        wire.last_at = at = max(at, wire.last_at)
        return [self._one(at) for _ in range(2 if double else 1)]

    def _one(self, at: Instant) -> Arrival:
        faults, luck = self._faults, self._luck
        if self._happens(faults.reordering):
            at += luck.randint(0, faults.held_us)
        return Arrival(at, luck.random() if self._happens(faults.corruption) else None)

    def _happens(self, share: float) -> bool:
        return share > 0.0 and self._luck.random() < share

    def _over(self, now: Instant) -> bool:
        until = self._faults.until
        return until is not None and now >= until

    def _cuts(self, way: tuple[NodeId, NodeId]) -> list[tuple[Instant, Instant]]:
        until = self._faults.until
        return [
            (start, end if until is None else min(end, until))
            for start, end, link in self._faults.partitions
            if way in (link, link[::-1])
        ]
