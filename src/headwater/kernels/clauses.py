"""Which reading does a clause match? A *clause* is a range on one attribute. CORRELATE consists of clauses, and the planner finds useful rows by them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """Values from `low` to `high`; an open end excludes its value."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """One reading of `attribute`, in `interval` or, for a STRING attribute, equal to `text`.

    `sensor` binds the clause to one key. Clauses made from one `n OF` have the same `group` (others have a group of their
    own): they are interchangeable and take readings of different sensors.
    """

    name: str
    attribute: str
    interval: Interval | None
    text: str | None = None
    sensor: str | int | None = None
    group: int = 0
