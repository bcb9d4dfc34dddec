"""The subscriptions of the benchmark, made so that it is known how often a reading matches.

Every clause is a range that holds a stated share of its attribute's readings. A subscription on a region is made around one
report of a station inside it: its ranges hold that report's values, so it answers at least once, and mostly with readings
of different stations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from headwater_lab.bench.stations import ATTRIBUTES, SIDE_M, STREAM, Floats, Reports

WITHIN_S: Final = 30
REGIONS_A_SIDE: Final = 10
RADIUS_M: Final = 6_000.0
CLAUSES: Final = 3

_SAMPLE = 100_000


@dataclass(frozen=True, slots=True)
class Range:
    """A clause: readings of `attribute` from `low` to `high`."""

    attribute: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Circle:
    """A region."""

    x: float
    y: float
    radius_m: float


@dataclass(frozen=True, slots=True)
class Question:
    """One subscription."""

    name: str
    ranges: tuple[Range, ...]
    region: Circle | None = None

    def text(self) -> str:
        """The query in the language."""
        clauses = ", ".join(f"{r.attribute} BETWEEN {r.low!r} AND {r.high!r}" for r in self.ranges)
        inside = (
            f" INSIDE CIRCLE ({self.region.x!r}, {self.region.y!r}, {self.region.radius_m!r} METERS)"
            if self.region
            else ""
        )
        return (
            f"CREATE QUERY {self.name} AS SELECT * FROM weather "
            f"CORRELATE ({clauses} WITHIN {WITHIN_S} SECONDS{inside});"
        )


def script(questions: Sequence[Question]) -> str:
    """The stream and all queries as one text."""
    return STREAM + "\n".join(question.text() for question in questions)


def everywhere(reports: Reports, *, share: float) -> Question:
    """One subscription without a region; `share` of the readings of an attribute match its clause."""
    ranges = []
    for name in list(ATTRIBUTES)[:CLAUSES]:
        low, high = np.quantile(_sample(reports, name), [0.5 - share / 2, 0.5 + share / 2])
        ranges.append(Range(name, float(low), float(high)))
    return Question("everywhere", tuple(ranges))


def on_regions(reports: Reports, count: int, *, share: float, seed: int) -> list[Question]:
    """So many subscriptions, spread evenly over `REGIONS_A_SIDE` squared regions."""
    random = np.random.default_rng(seed)
    circles = _circles()
    rows_of = [_rows_inside(reports, circle) for circle in circles]
    ordered = {name: np.sort(_sample(reports, name)) for name in ATTRIBUTES}
    questions = []
    for number in range(count):
        place = number % len(circles)
        row = rows_of[place][random.integers(len(rows_of[place]))]
        chosen = sorted(random.choice(len(ATTRIBUTES), CLAUSES, replace=False).tolist())
        names = [list(ATTRIBUTES)[index] for index in chosen]
        ranges = tuple(
            _range_containing(name, ordered[name], float(reports.values[name][row]), share, random.uniform())
            for name in names
        )
        questions.append(Question(f"region{place:02d}_{number:04d}", ranges, circles[place]))
    return questions


def _range_containing(name: str, ordered: Floats, value: float, share: float, lean: float) -> Range:
    """A range that holds `value` and about `share` of the readings."""
    width = int(share * len(ordered))
    start = int(np.searchsorted(ordered, value)) - int(width * lean)
    low = min(max(start, 0), len(ordered) - 1 - width)
    return Range(name, min(float(ordered[low]), value), max(float(ordered[low + width]), value))


def _circles() -> list[Circle]:
    step = SIDE_M / REGIONS_A_SIDE
    middles = [step / 2 + step * i for i in range(REGIONS_A_SIDE)]
    return [Circle(x, y, RADIUS_M) for x in middles for y in middles]


def inside(reports: Reports, circle: Circle) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which stations lie in a circle."""
    dx, dy = reports.place[:, 0] - circle.x, reports.place[:, 1] - circle.y
    return np.hypot(dx, dy) <= circle.radius_m


def _rows_inside(reports: Reports, circle: Circle) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.flatnonzero(inside(reports, circle)[reports.station])


def _sample(reports: Reports, name: str) -> Floats:
    values = reports.values[name]
    return values[:: max(1, len(values) // _SAMPLE)]
