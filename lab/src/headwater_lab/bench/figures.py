"""Targets and what was reached: what every benchmark prints, and writes as JSON."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    "=": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number and the bound it is to keep: `comparison` is one of >=, <=, < and =."""

    name: str
    value: float
    unit: str
    comparison: str
    bound: float

    @property
    def required(self) -> str:
        """The bound in words."""
        return f"{self.comparison} {spoken(self.bound)}"

    @property
    def met(self) -> bool:
        """Whether it holds."""
        return _COMPARISONS[self.comparison](self.value, self.bound)


def write_figures(figures: Sequence[Figure], path: Path) -> None:
    """All figures as JSON: `{"figures": [{"name", "value", "unit", "wanted", "met"}]}`."""
    listed = [
        {"name": f.name, "value": f.value, "unit": f.unit, "wanted": f.required, "met": f.met}
        for f in figures
    ]
    path.write_text(json.dumps({"figures": listed}, indent=2) + "\n")


def table(figures: Sequence[Figure]) -> str:
    """All figures as lines for people."""
    cells = [("figure", "reached", "target", "unit", "")]
    cells += [(f.name, spoken(f.value), f.required, f.unit, "met" if f.met else "NOT MET") for f in figures]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = [
        f"{name:<{widths[0]}}  {reached:>{widths[1]}}  {required:>{widths[2]}}  {unit:<{widths[3]}}  {met}".rstrip()
        for name, reached, required, unit, met in cells
    ]
    return "\n".join([lines[0], "-" * max(len(line) for line in lines), *lines[1:]])


def spoken(value: float) -> str:
    """A number as people read it."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
