"""What may go wrong in a simulated world? Everything that may is a field of one struct, and drawn from one seed.

Rule 1  Shares are of the frames handed to a link, drawn anew for each. A lost frame has still occupied its link.
Rule 2  At `until` everything stops: no frame is harmed after it, partitions end, nodes that are down come up. Then a protocol that
        is right settles (law 11).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from headwater.model import SECOND, Instant, Network, NodeId

MOST_DRAWN_PARTITIONS = 4
MOST_DRAWN_CRASHES = 4


class Partition(NamedTuple):
    """From `start` to before `end` nothing passes between two neighbours."""

    start: Instant
    end: Instant
    link: tuple[NodeId, NodeId]


class Crash(NamedTuple):
    """A node stops at a time and starts again `down_for` microseconds later from what it had saved."""

    node: NodeId
    at: Instant
    down_for: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """All that goes wrong. Without arguments: nothing does."""

    loss: float = 0.0
    """Share of frames that vanish."""
    duplication: float = 0.0
    """Share of frames that arrive twice."""
    corruption: float = 0.0
    """Share of frames that arrive with one bit changed."""
    reordering: float = 0.0
    """Share of frames that are held back by up to `held_us`, so that later ones overtake them."""
    held_us: int = 300_000
    delay_us: int = 0
    """Every frame takes up to so much longer; the order stays."""
    lost: frozenset[int] = frozenset()
    """Frames that vanish for certain: their running numbers in the world, from 0. To put a finger on one frame."""
    doubled: frozenset[int] = frozenset()
    """Frames that arrive twice for certain, likewise."""
    partitions: tuple[Partition, ...] = ()
    crashes: tuple[Crash, ...] = ()
    until: Instant | None = None
    """When all of it stops; None: never."""

    @classmethod
    def none(cls) -> Faults:
        """A perfect world."""
        return NO_FAULTS

    @classmethod
    def drawn(
        cls, seed: int, network: Network, *, start: Instant = 0, lasting_us: int = 30 * SECOND
    ) -> Faults:
        """Some of everything, until `lasting_us` after `start`."""
        luck = Random(f"faults {seed}")
        until = start + lasting_us
        partitions = []
        for _ in range(luck.randint(0, MOST_DRAWN_PARTITIONS) if network.links else 0):
            begin, end = sorted(luck.randint(start, until) for _ in range(2))
            link = luck.choice(network.links)
            partitions.append(Partition(begin, end, (link.one, link.other)))
        crashes = [
            Crash(luck.choice(network.nodes), luck.randint(start, until), luck.randint(0, lasting_us // 4))
            for _ in range(luck.randint(0, MOST_DRAWN_CRASHES))
        ]
        return cls(
            loss=luck.choice([0.0, 0.05, 0.3]),
            duplication=luck.choice([0.0, 0.05, 0.3]),
            corruption=luck.choice([0.0, 0.02, 0.1]),
            reordering=luck.choice([0.0, 0.1, 0.5]),
            held_us=luck.choice([50_000, 300_000, 2 * SECOND]),
            delay_us=luck.choice([0, 20_000, SECOND]),
            partitions=tuple(partitions),
            crashes=tuple(crashes),
            until=until,
        )

    def random_ones(self) -> bool:
        """Whether any frame may be harmed at all, partitions aside."""
        shares = (self.loss, self.duplication, self.corruption, self.reordering, self.delay_us)
        return any(shares) or bool(self.lost) or bool(self.doubled)


NO_FAULTS = Faults()
