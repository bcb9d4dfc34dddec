"""What is run, and what is measured in it: rows of the table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from headwater.kernels.predict.choices import GiveUp
from headwater_lab.reproduce.outcome import Cell, cells_of

OBJECTS: Final = "objects"
BUFFERS: Final = "buffers"
TRAFFIC: Final = "traffic"
LAB_PAIRS: Final = "lab, pairs"
LAB_VALUES: Final = "lab, values"
RECORDED: Final = (TRAFFIC, LAB_PAIRS, LAB_VALUES)
CONSTRAINT: Final = "value constraint"
DELAYED: Final = "buffers, delayed"
LEFT_OUT: Final = "buffers, late left out"

UNCONSTRAINED: Final = "none"
UNCONSTRAINED_GENERAL: Final = "none, general search"

UNLIMITED: Final = "unlimited"
POLICIES: Final = {
    "least contribution": GiveUp.LEAST,
    "oldest": GiveUp.OLDEST,
    "random": GiveUp.RANDOM,
    "refuse": GiveUp.NEWEST,
}
"""What goes when a buffer is full, in the order in which the paper finds them, the best first."""


@dataclass(frozen=True, slots=True)
class Case:
    """A task: of the made-up objects how many there are and w, of recorded ones which predictor; it gives several rows."""

    part: str
    objects: int = 0
    within_s: int = 3
    predictor: str = ""

    def __str__(self) -> str:
        if self.part not in RECORDED:
            return f"{self.part}: {self.objects:,} objects, w = {self.within_s} s"
        return f"{self.part}: {self.predictor}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A row: what was sent, which question, how much was sent, and how much of the truth was answered.

    `precision`, `recall` and `f` are against the last samples, by the query's own definition with its w; `f_now` against the last
    samples without w; the others against real positions, with w. Recorded data has nothing but its samples: there all are one.
    """

    part: str
    objects: int
    predictor: str
    tolerance: float
    within_s: int
    certainty: str
    buffer: str
    readings: int
    updates: int
    updates_per_s: float
    sent: float
    answers: int
    true_pairs: float
    precision: float
    recall: float
    f: float
    f_now: float
    precision_real: float
    recall_real: float
    f_real: float
    given_up: int
    kernel_s: float
    constraint: str = UNCONSTRAINED

    def cells(self) -> tuple[Cell, ...]:
        """As a row of the table."""
        return cells_of(self, 5)


COLUMNS: Final = tuple(field.name for field in fields(Measured))
