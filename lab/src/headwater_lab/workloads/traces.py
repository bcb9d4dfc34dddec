"""Vehicles on roads, second by second, from any source: columns, and what cameras beside the roads see of them.

Rule 1  A trace has one report of each driving vehicle for each whole second: where it is, how fast, on which road and lane. Second 0 is
        `START`.
Rule 2  Vehicles are numbered in the order in which they are used: the ones that drive longest first, ties at random.
Rule 3  Cameras are `apart_m` apart in both directions. Each reports every vehicle in a square around it, at the camera's place.

Memory  56 bytes a report, 40 a sighting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.model import SECOND
from headwater_lab.workloads.moving_objects import START

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Trace:
    """Reports in order of time: `car[n]`, `second[n]`, `x[n]`, `y[n]` in metres from a corner, `speed[n]` in m/s, `road[n]`, `lane[n]`."""

    car: Whole
    second: Whole
    x: Floats
    y: Floats
    speed: Floats
    road: Whole
    lane: Whole

    def __len__(self) -> int:
        return len(self.car)

    @property
    def cars(self) -> int:
        """How many vehicles there are."""
        return int(self.car.max(initial=-1)) + 1

    @property
    def seconds(self) -> int:
        """How long it is."""
        return int(self.second.max(initial=-1)) + 1

    @property
    def sides_m(self) -> tuple[float, float]:
        """How large a rectangle from the corner holds every place."""
        return float(self.x.max(initial=0.0)), float(self.y.max(initial=0.0))

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """As columns of a stream with the time `at`."""
        return {
            "car": self.car,
            "at": START + self.second * SECOND,
            "x": self.x,
            "y": self.y,
            "speed": self.speed,
            "road": self.road,
            "lane": self.lane,
        }


@dataclass(frozen=True, slots=True)
class Sightings:
    """What cameras see, in order of time: `camera[n]` at `x[n]`, `y[n]` sees `car[n]` in `second[n]`."""

    camera: Whole
    second: Whole
    x: Floats
    y: Floats
    car: Whole

    def __len__(self) -> int:
        return len(self.car)


def trace_of(
    car: Whole,
    second: Whole,
    place: Floats,
    speed: Floats,
    road: Whole,
    lane: Whole,
    *,
    corner: Floats | None = None,
) -> Trace:
    """Reports in any order, with any numbers for vehicles, as a trace; `place` is float64[n, 2], and `corner` the least there can be."""
    order = np.lexsort((car, second))
    number = _longest_first(car)[order]
    if corner is None:
        corner = place.min(axis=0) if len(place) else np.zeros(2)
    x, y = np.ascontiguousarray((place[order] - corner).T)
    begins = int(second.min()) if len(second) else 0
    return Trace(number, second[order] - begins, x, y, speed[order], road[order], lane[order])


def see(trace: Trace, *, apart_m: float, side_m: float, first_m: float) -> Sightings:
    """What cameras at `first_m`, `first_m` + `apart_m`, … see in squares of `side_m`, which do not overlap."""
    assert side_m <= apart_m
    column, row = (np.rint((places - first_m) / apart_m).astype(np.int64) for places in (trace.x, trace.y))
    x: Floats = np.asarray(first_m + column * apart_m, np.float64)
    y: Floats = np.asarray(first_m + row * apart_m, np.float64)
    seen = np.flatnonzero((np.abs(trace.x - x) <= side_m / 2) & (np.abs(trace.y - y) <= side_m / 2))
    columns = int(column.max(initial=0)) + 1
    camera = row[seen] * columns + column[seen]
    return Sightings(camera, trace.second[seen], x[seen], y[seen], trace.car[seen])


def _longest_first(car: Whole) -> Whole:
    """The new number of the vehicle of each report."""
    _, code, reports = np.unique(car, return_inverse=True, return_counts=True)
    tie = np.random.default_rng(len(reports)).permutation(len(reports))
    rank = np.empty(len(reports), np.int64)
    rank[np.lexsort((tie, -reports))] = np.arange(len(reports))
    return rank[code]
