"""What an experiment gives: a table, the panels of a picture, and claims that hold or do not."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headwater.apps.bench.figures import spoken
from headwater.apps.bench.nearest_table import aligned

Say = Callable[[str], None]
Cell = str | int | float
Series = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that was published, whether it holds in what was measured, and by what that is seen."""

    words: str
    holds: bool
    evidence: str

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'does not hold'}: {self.words}\n    {self.evidence}"


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram: lines by their name; the axis across is logarithmic, the other one may be."""

    title: str
    across: str
    upward: str
    lines: Mapping[str, Series]
    scale: str = "log"


@dataclass(frozen=True, slots=True)
class Outcome:
    """All of it; `failures` are answers that were wrong, after which no number counts."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    panels: Sequence[Panel]
    claims: Sequence[Claim]
    failures: Sequence[str] = field(default=())

    def table(self) -> str:
        """The rows as lines for people."""
        return "\n".join(aligned([self.columns, *([_shown(cell) for cell in row] for row in self.rows)]))

    def write_csv(self, path: Path) -> None:
        """The rows as they were measured."""
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([self.columns, *self.rows])


def _shown(cell: Cell) -> str:
    return cell if isinstance(cell, str) else spoken(cell)
