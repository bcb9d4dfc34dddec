"""What is run, and what is measured in it: rows of the table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from headwater_lab.reproduce.outcome import Cell, cells_of

PREDEPLOYED: Final = "3.8"
UPDATES: Final = "3.9"
BEGINNINGS: Final = "3.10"

ACCIDENTS: Final = "accidents"
FRIENDS: Final = "friends"
SPEEDS: Final = "speeds"

POSTS: Final = "predeployed"
EACH: Final = "followed, basic"
ONCE: Final = "followed, saving"

ALWAYS: Final = "ALWAYS"
CONDITIONS: Final = (
    ALWAYS,
    "EVERY 5 SECONDS",
    "EVERY 20 SECONDS",
    "MOVED 25 METERS",
    "MOVED 100 METERS",
    "QUALITY 0.9, 0",
    "QUALITY 0.9, 0.9",
)
"""When a new interest begins; the last but one is the paper's, which goes by precision alone."""

BASIC: Final = "all windows"
AVERAGE: Final = "average"
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class Case:
    """One run on Spark: all points of a figure for an application (edges of boxes, or sizes of the counting window), and whose traffic."""

    figure: str
    application: str
    points: tuple[int, ...]
    seed: int

    def __str__(self) -> str:
        return f"figure {self.figure}, {self.application}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A row: a way to do it, what was passed on, and how much of what was to be found was found.

    `streamed` is live and historical events of all drivers (of all posts, for the predeployed ones), `a_driver` that of one of them, and
    `relative` that beside the yardstick of the figure: the predeployed ones, or UPDATE ALWAYS, or the past of all windows. `run_s` is how long
    the run took in which it was measured, together with others.
    """

    figure: str
    application: str
    edge_m: int
    latest: int
    seed: int
    way: str
    drivers: int
    interests: int
    live: int
    historical: int
    streamed: int
    saved: int
    a_driver: float
    relative: float
    precision: float
    recall: float
    answers: int
    completeness: float
    run_s: float

    def cells(self) -> tuple[Cell, ...]:
        """As a row of the table."""
        return cells_of(self, 6)


COLUMNS: Final = tuple(field.name for field in fields(Measured))
