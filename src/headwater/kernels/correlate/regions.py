"""Which regions hold a place, without trying all of them?

A grid of cells lies over all regions; a cell knows the regions that reach into it, and only these are tested whether they
really hold a place. Stations report from the same places again and again, so places are looked up once each, not once a row.

Rule 1  The grid only proposes. What a region contains is decided as `model.place` decides it, border included.
Memory  At most MOST_CELLS cells and about as many entries as regions times the cells they touch; nothing between steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from headwater.model import Box, Circle, Polygon, Region, Rows, StreamSchema, distance_m

MOST_CELLS = 1 << 16
_CELLS_A_REGION = 16  # cells are a few times finer than regions, so that few wrong regions are proposed

Numbers = NDArray[np.int64]
Coordinates = NDArray[np.float64]
Mask = NDArray[np.bool_]

_CIRCLE, _BOX, _POLYGON = 0, 1, 2


class Grid(NamedTuple):
    """Cells over the hull of all regions; cell (i, j) proposes `regions[first[c]:first[c + 1]]` with c = j * across + i."""

    west: float
    south: float
    width: float
    height: float
    across: int
    upward: int
    first: Numbers
    regions: Numbers


class Places(NamedTuple):
    """The different places of some rows: `number[n]` of each row's place (-1: none), and where they are."""

    number: Numbers
    x: Coordinates
    y: Coordinates


class Regions:
    """All regions of a group of queries, ready to be looked up for many places."""

    def __init__(self, regions: Sequence[Region]) -> None:
        self.regions = tuple(regions)
        self.grid = lay_grid(self.regions)
        self._kinds = np.array([_kind(region) for region in self.regions], np.int64)
        self._numbers = np.array([_numbers(region) for region in self.regions], np.float64).reshape(-1, 5)

    def holding(self, places: Places) -> tuple[Numbers, Numbers]:
        """For place p the regions `held[first[p]:first[p + 1]]` that contain it, as `first, held`."""
        room = _first_room(len(places.x))
        place, region, unsure = _propose(places.x, places.y, self.grid, self._kinds, self._numbers, room)
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
        """Each row's place (-1: none), and for each place the regions that hold it, as `place, first, held`."""
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
    """The same numbers in memory that compiled loops take as it is: contiguous and writeable."""
    return np.require(values, np.float64, ["C", "W"])


def lay_grid(regions: Sequence[Region]) -> Grid:
    """The grid whose cells propose every region that reaches into them."""
    boxes = [(n, *_widened(bounds)) for n, region in enumerate(regions) for bounds in region.bounds()]
    if not boxes:
        return Grid(0.0, 0.0, 1.0, 1.0, 0, 0, np.zeros(1, np.int64), np.empty(0, np.int64))
    table = np.array(boxes, np.float64)
    west, south = float(table[:, 1].min()), float(table[:, 2].min())
    east, north = float(table[:, 3].max()), float(table[:, 4].max())
    side = max(1, min(math.isqrt(_CELLS_A_REGION * len(boxes)), math.isqrt(MOST_CELLS)))
    width, height = (east - west) / side or 1.0, (north - south) / side or 1.0
    low_i = _cell(table[:, 1], west, width, side)
    low_j = _cell(table[:, 2], south, height, side)
    high_i = _cell(table[:, 3], west, width, side)
    high_j = _cell(table[:, 4], south, height, side)
    first, cells = _rasterise(table[:, 0].astype(np.int64), low_i, low_j, high_i, high_j, side)
    return Grid(west, south, width, height, side, side, first, cells)


@numba.njit(cache=True, inline="always")
def cell_of(grid: Grid, x: float, y: float) -> int:
    """The cell of a place; -1 outside the grid."""
    across = (x - grid.west) / grid.width
    upward = (y - grid.south) / grid.height
    if not (across >= 0.0 and upward >= 0.0 and across <= grid.across and upward <= grid.upward):
        return -1
    i = min(int(across), grid.across - 1)
    j = min(int(upward), grid.upward - 1)
    return j * grid.across + i


@numba.njit(cache=True)
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
        h = bits_x[i] * np.uint64(0x9E3779B97F4A7C15) ^ bits_y[i] * np.uint64(0xC2B2AE3D27D4EB4F)
        h ^= h >> np.uint64(29)
        h *= np.uint64(0xBF58476D1CE4E5B9)
        slot = int(h >> np.uint64(20)) & (capacity - 1)
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


@numba.njit(cache=True)
def _propose(
    x: Coordinates, y: Coordinates, grid: Grid, kinds: Numbers, numbers: Coordinates, capacity: int
) -> tuple[Numbers, Numbers, Mask]:
    """Pairs of a place and a region that holds it; `unsure` ones (polygons) are still to be tested.

    There is room for `capacity` of them at first.
    """
    place, region, unsure = (
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.bool_),
    )
    count = 0
    for p in range(len(x)):
        cell = cell_of(grid, x[p], y[p])
        if cell < 0:
            continue
        for entry in range(grid.first[cell], grid.first[cell + 1]):
            r = grid.regions[entry]
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


@numba.njit(cache=True, inline="always")
def _holds(kind: int, numbers: Coordinates, x: float, y: float) -> bool:
    if kind == _CIRCLE:
        return distance_m(x, y, numbers[0], numbers[1], numbers[4] != 0.0) <= numbers[2]
    inside = x >= numbers[0] and x <= numbers[2]
    if numbers[4] != 0.0 and numbers[0] > numbers[2]:
        inside = x >= numbers[0] or x <= numbers[2]
    return inside and y >= numbers[1] and y <= numbers[3]


def _rasterise(
    region: Numbers, low_i: Numbers, low_j: Numbers, high_i: Numbers, high_j: Numbers, side: int
) -> tuple[Numbers, Numbers]:
    """For every cell the regions with a box over it: `first, regions`."""
    across = high_i - low_i + 1
    cells = across * (high_j - low_j + 1)
    box = np.repeat(np.arange(len(region)), cells)
    within = np.arange(len(box)) - np.repeat(np.cumsum(cells) - cells, cells)
    cell = (low_j[box] + within // across[box]) * side + low_i[box] + within % across[box]
    # A region in two boxes (over the date line) may touch a cell twice; it is proposed once.
    pairs = np.unique(cell * (int(region.max()) + 1) + region[box])
    cell, found = np.divmod(pairs, int(region.max()) + 1)
    return np.searchsorted(cell, np.arange(side * side + 1)).astype(np.int64), found


def _cell(at: Coordinates, start: float, size: float, side: int) -> Numbers:
    return np.clip(np.floor((at - start) / size), 0, side - 1).astype(np.int64)


def _widened(bounds: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """A hair wider, so that rounding in the bounds or in the cell of a place never hides a region from a place in it."""
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
