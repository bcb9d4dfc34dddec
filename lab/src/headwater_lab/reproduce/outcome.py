"""What an experiment gives: a table, the panels of a picture, and claims that hold or do not."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from headwater.apps.text_columns import aligned
from headwater_lab.bench.figures import spoken

Say = Callable[[str], None]
Cell = str | int | float
Series = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that was published, whether it holds in what was measured, and by what that is seen."""

    words: str
    holds: bool
    evidence: str
    published: str = ""

    def __str__(self) -> str:
        verdict = f"{'holds' if self.holds else 'does not hold'}: {self.words}"
        return "\n    ".join(
            [verdict, *([f"published: {self.published}"] if self.published else []), self.evidence]
        )


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram: lines by their name; each axis is `log` or `linear`. With a `file` it is a picture of its own."""

    title: str
    across: str
    upward: str
    lines: Mapping[str, Series]
    scale: str = "log"
    scale_across: str = "log"
    file: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All results; `failures` are wrong answers, after which no number counts.

    `about` says how it was measured; with it, the outcome is also written as a page and as Parquet. `texts` are further files, by
    the ends of their names.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    panels: Sequence[Panel]
    claims: Sequence[Claim]
    failures: Sequence[str] = field(default=())
    about: Sequence[str] = field(default=())
    texts: Mapping[str, str] = field(default_factory=dict)

    def table(self) -> str:
        """The rows as lines for people."""
        return "\n".join(aligned([self.columns, *self.shown()]))

    def shown(self) -> list[list[str]]:
        """The rows as people read them."""
        return [[_shown(cell) for cell in row] for row in self.rows]

    def write_parquet(self, path: Path) -> None:
        """The rows as they were measured, with the types of their columns."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        pq.write_table(pa.table(dict(zip(self.columns, map(pa.array, columns), strict=True))), path)

    def write_csv(self, path: Path) -> None:
        """The rows as they were measured."""
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([self.columns, *self.rows])

    def write_json(self, path: Path) -> None:
        """Claims and figures, a figure with the keys that `headwater bench --json` writes: a point of a picture has no requirement."""
        content = {
            "claims": [
                {"name": c.words, "published": c.published, "evidence": c.evidence, "met": c.holds}
                for c in self.claims
            ],
            "figures": [
                {"name": name, "value": value, "unit": unit, "wanted": None, "met": None}
                for name, value, unit in self._points()
            ],
        }
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def _points(self) -> Iterator[tuple[str, float, str]]:
        """Every point that is drawn: where it is, its value, and what is measured."""
        for panel in self.panels:
            title = " ".join(panel.title.split())
            for line, series in panel.lines.items():
                for across, upward in series:
                    yield f"{title}: {line}, {panel.across} {across:g}", float(upward), panel.upward


def cells_of(row: Any, digits: int) -> tuple[Cell, ...]:
    """The fields of a dataclass as a row of a table, rounded to what means something."""
    return tuple(round(cell, digits) if isinstance(cell, float) else cell for cell in astuple(row))


def _shown(cell: Cell) -> str:
    return cell if isinstance(cell, str) else spoken(cell)
