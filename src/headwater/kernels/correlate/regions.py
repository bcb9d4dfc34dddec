"""Which regions contain a place? Found without testing all of them.

Cells (`kernels.cells`) cover the boxes around regions; only the regions that a cell lists are tested exactly. Stations
report from the same places again and again, so each place is searched for once, not once a row.

Rule 1  Cells only propose. `model.place` decides what a region contains, border included.
Memory  That of `cells`: at most MOST_A_BOX entries for a box, as a mean, and MOST_CELLS_A_SIDE cells along each side. Nothing between steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels import cells
from headwater.kernels.cells import Cells, cell_at
from headwater.model import Box, Circle, Polygon, Region, Rows, StreamSchema, distance_m
from headwater.model.splitmix import GOLDEN, SECOND_FACTOR, half_mixed

MOST_CELLS_A_SIDE = 256
MOST_A_BOX = 256  # cells that a box may be listed in, as a mean over all boxes
_CELLS_A_REGION = 16  # cells are a few times finer than regions, so that few wrong regions are proposed

Numbers = NDArray[np.int64]
Coordinates = NDArray[np.float64]
Mask = NDArray[np.bool_]

_CIRCLE, _BOX, _POLYGON = 0, 1, 2


class RegionCells(NamedTuple):
    """Cells over the boxes around regions, and for each box the number of its region. A region over the date line has two boxes."""

    cells: Cells
    region: Numbers


class Places(NamedTuple):
    """The different places of some rows: `number[n]` of each row's place (-1: none), and where they are."""

    number: Numbers
    x: Coordinates
    y: Coordinates


class Regions:
    """All regions of a group of queries, prepared for searches for many places."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.regions = tuple(regions)
        self.cells = lay_out(self.regions)
        self._kinds = np.array([_kind(region) for region in self.regions], np.int64)
        self._numbers = np.array([_numbers(region) for region in self.regions], np.float64).reshape(-1, 5)

    def holding(self, places: Places) -> tuple[Numbers, Numbers]:
        """For place p the regions `held[first[p]:first[p + 1]]` that contain it, as `first, held`."""
        room = _first_room(len(places.x))
        place, region, unsure = _propose(places.x, places.y, self.cells, self._kinds, self._numbers, room)
        if unsure.any():
            holds = ~unsure
            for number in np.unique(region[unsure]).tolist():
                unsure_here = np.flatnonzero(unsure & (region == number))
                where = place[unsure_here]
                holds[unsure_here] = self.regions[number].contains(places.x[where], places.y[where])
            place, region = place[holds], region[holds]
        first = np.searchsorted(place, np.arange(len(places.x) + 1)).astype(np.int64)
        return first, region

    def of_rows(self, schema: StreamSchema, rows: Rows) -> tuple[Numbers, Numbers, Numbers]:
        """Each row's place (-1: none), and for each place the regions that contain it, as `place, first, held`."""
        place = schema.place
        if place is None or place.x not in rows or place.y not in rows:
            return np.full(rows.count, -1, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64)
        x, y = rows[place.x], rows[place.y]
        known = x.is_valid & y.is_valid
        if not self.regions:
            return known.astype(np.int64) - 1, np.zeros(2, np.int64), np.empty(0, np.int64)
        places = different_places(own(x.values), own(y.values), known)
        return places.number, *self.holding(places)


def own(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers in memory that compiled loops accept: contiguous and writeable."""
    return np.require(values, np.float64, ["C", "W"])


def lay_out(regions: Sequence[Region]) -> RegionCells:
    """The cells that propose every region that extends into them."""
    boxes = [(n, *_widened(bounds)) for n, region in enumerate(regions) for bounds in region.bounds()]
    table = np.array(boxes, np.float64).reshape(-1, 5)
    many = min(math.isqrt(_CELLS_A_REGION * len(boxes)), MOST_CELLS_A_SIDE)
    return RegionCells(cells.lay_out(table[:, 1:], many, MOST_A_BOX), table[:, 0].astype(np.int64))


@loop
def different_places(x: Coordinates, y: Coordinates, known: Mask) -> Places:
    """Number the places of rows, equal places alike; rows without one (`known` false) get -1."""
    capacity = 16
    while capacity < 2 * len(x):
        capacity *= 2
    table = np.full(capacity, -1, np.int32)
    number = np.empty(len(x), np.int64)
    xs, ys = np.empty(len(x)), np.empty(len(x))
    bits_x, bits_y = x.view(np.uint64), y.view(np.uint64)
    count = 0
    for i in range(len(x)):
        if not known[i]:
            number[i] = -1
            continue
        slot = int(half_mixed(bits_x[i] * GOLDEN ^ bits_y[i] * SECOND_FACTOR)) & (capacity - 1)
        while table[slot] >= 0 and not (xs[table[slot]] == x[i] and ys[table[slot]] == y[i]):
            slot = (slot + 1) & (capacity - 1)
        if table[slot] < 0:
            table[slot] = count
            xs[count], ys[count] = x[i], y[i]
            count += 1
        number[i] = table[slot]
    return Places(number, xs[:count].copy(), ys[:count].copy())


def _first_room(places: int) -> int:
    """How many pairs of a place and a region there is room for at first."""
    return 2 * places + 16


@loop
def _propose(
    x: Coordinates, y: Coordinates, proposed: RegionCells, kinds: Numbers, numbers: Coordinates, capacity: int
) -> tuple[Numbers, Numbers, Mask]:
    """Pairs of a place and a region that contains it; `unsure` ones (polygons) are still to be tested.

    There is room for `capacity` of them at first.
    """
    place, region, unsure = (
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.bool_),
    )
    count = 0
    for p in range(len(x)):
        cell = cell_at(proposed.cells, x[p], y[p])
        for entry in range(proposed.cells.first[cell], proposed.cells.first[cell + 1]):
            r = proposed.region[proposed.cells.member[entry]]
            if count > 0 and place[count - 1] == p and region[count - 1] == r:
                continue  # found in its other box
            if kinds[r] != _POLYGON and not _holds(kinds[r], numbers[r], x[p], y[p]):
                continue
            if count == capacity:
                capacity *= 2
                place = np.concatenate((place, np.empty(capacity - count, np.int64)))
                region = np.concatenate((region, np.empty(capacity - count, np.int64)))
                unsure = np.concatenate((unsure, np.empty(capacity - count, np.bool_)))
            place[count], region[count], unsure[count] = p, r, kinds[r] == _POLYGON
            count += 1
    return place[:count].copy(), region[:count].copy(), unsure[:count].copy()


@loop(inline="always")
def _holds(kind: int, numbers: Coordinates, x: float, y: float) -> bool:
    if kind == _CIRCLE:
        return distance_m(x, y, numbers[0], numbers[1], numbers[4] != 0.0) <= numbers[2]
    inside = x >= numbers[0] and x <= numbers[2]
    if numbers[4] != 0.0 and numbers[0] > numbers[2]:
        inside = x >= numbers[0] or x <= numbers[2]
    return inside and y >= numbers[1] and y <= numbers[3]


def _widened(bounds: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """Slightly wider, so that rounding in the bounds or in the cell of a place never hides a region from a place in it."""
    west, south, east, north = bounds
    across = 1e-9 * (abs(west) + abs(east)) + 1e-9
    upward = 1e-9 * (abs(south) + abs(north)) + 1e-9
    return west - across, south - upward, east + across, north + upward


def _kind(region: Region) -> int:
    if isinstance(region, Polygon):
        return _POLYGON
    return _CIRCLE if isinstance(region, Circle) else _BOX


def _numbers(region: Region) -> tuple[float, float, float, float, float]:
    if isinstance(region, Circle):
        return region.x, region.y, region.radius_m, 0.0, float(region.geographic)
    if isinstance(region, Box):
        return region.west, region.south, region.east, region.north, float(region.geographic)
    return 0.0, 0.0, 0.0, 0.0, float(region.geographic)
