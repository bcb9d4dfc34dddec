"""What is simulated, and what is measured in it: a row of the table."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Final

from headwater_lab.reproduce.outcome import Cell

SETS: Final = ("filter-split-forward", "exact")
PAIRWISE: Final = ("operator-placement", "multi-join")
ON_RECEIPT: Final = "exact-on-receipt"
"""The exact cover where the probable one decides, so that nothing but wrong decisions lies between the two."""
SOUND: Final = "filter-split-forward-sound"
"""The probable cover with as many trials as its error takes."""


@dataclass(frozen=True, slots=True)
class Case:
    """Which scene, how many of its subscriptions, which approach, and whether links and nodes fail meanwhile."""

    part: str
    scene: str
    approach: str
    subscriptions: int
    faults: bool = False

    def __str__(self) -> str:
        return f"{self.scene}, {self.subscriptions:,} subscriptions, {self.approach}{', faults' if self.faults else ''}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A row: the case, its size, loads in operators and readings over links, what reached users, and cover decisions."""

    part: str
    scene: str
    nodes: int
    sensors: int
    readings: int
    approach: str
    subscriptions: int
    faults: bool
    subscription_load: int
    event_load: int
    subscription_bytes: int
    event_bytes: int
    expected: int
    delivered: int
    wrong: int
    twice: int
    recall: float
    cover_decisions: int
    covered: int
    cover_wrong: int
    cover_us_median: float
    cover_us_p99: float
    elapsed_s: float

    @property
    def truly_open(self) -> int:
        """Decisions about operators that were not covered: those in which a probable cover can err."""
        return self.cover_decisions - self.covered + self.cover_wrong

    def cells(self) -> tuple[Cell, ...]:
        """As a row of the table."""
        return tuple(int(cell) if isinstance(cell, bool) else cell for cell in astuple(self))


COLUMNS: Final = tuple(field.name for field in fields(Measured))
