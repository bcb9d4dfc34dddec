"""Which events lie where? Rows in order of time with a place each, and a grid over them.

Rule 1  Cells hold the rows in order. A grid spans the places of its own rows, with about ROWS_A_CELL rows a cell.
Rule 2  A place that is no number is in no cell.
Rule 3  What is found is in order: of each box the rows as they came.

Memory  Twelve bytes a row.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.follow.question import Real, Whole
from headwater.model.place import distance_m

ROWS_A_CELL: Final = 4

_LOOP: Final[dict[str, Any]] = {"cache": True, "nogil": True}


class Places(NamedTuple):
    """`time` rises; row `member[first[c] : first[c + 1]]` stand in cell c, which counts from the west, row by row from the south."""

    time: Whole
    x: Real
    y: Real
    first: NDArray[np.int32]
    member: NDArray[np.int32]
    corner: Real  # float64[2]: the south-west end
    size: Real  # float64[2]: the sides of a cell
    shape: Whole  # int64[2]: cells across and along


class Look(NamedTuple):
    """What is looked for: boxes float64[n, 4] and times [since, until) for each of them, around centres if a radius (>= 0) is given."""

    boxes: Real
    since: Whole
    until: Whole
    x: Real
    y: Real
    radius_m: float
    geographic: bool


def lay_out(time: Whole, x: Real, y: Real) -> Places:
    """The grid of some rows."""
    there = np.isfinite(x) & np.isfinite(y)
    if not there.any():
        return Places(
            time,
            x,
            y,
            np.zeros(2, np.int32),
            np.zeros(0, np.int32),
            np.zeros(2),
            np.ones(2),
            np.ones(2, np.int64),
        )
    west, south, east, north = x[there].min(), y[there].min(), x[there].max(), y[there].max()
    many = max(1, int(math.sqrt(np.count_nonzero(there) / ROWS_A_CELL)))
    corner = np.array([west, south])
    size = np.maximum(np.array([east - west, north - south]) / many, 1e-300)
    shape = np.array([many if east > west else 1, many if north > south else 1])
    first, member = _sort_in(x, y, there, corner, size, shape)
    return Places(time, x, y, first, member, corner, size, shape)


def find(places: Places, look: Look) -> tuple[Whole, Whole]:
    """The rows found, and the box of each: in the order of boxes, and of rows in each box."""
    counts, room = np.zeros(len(look.boxes), np.int64), np.empty(max(1024, 4 * len(look.boxes)), np.int64)
    while (needed := _find(places, look, counts, room)) > len(room):
        room = np.empty(needed, np.int64)
    return room[: int(counts.sum())], np.repeat(np.arange(len(counts)), counts)


@njit(**_LOOP)
def _cell(value: float, corner: float, size: float, many: int) -> int:
    """The column or row of cells in which a coordinate lies; the outermost for what lies beyond."""
    at = (value - corner) / size
    return int(min(max(at, 0.0), many - 1.0))


@njit(**_LOOP)
def _sort_in(
    x: Real, y: Real, there: NDArray[np.bool_], corner: Real, size: Real, shape: Whole
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows by cell, in order within each."""
    cells = np.empty(len(x), np.int64)
    first = np.zeros(shape[0] * shape[1] + 1, np.int32)
    for row in range(len(x)):
        cells[row] = -1
        if there[row]:
            across, along = (
                _cell(x[row], corner[0], size[0], shape[0]),
                _cell(y[row], corner[1], size[1], shape[1]),
            )
            cells[row] = along * shape[0] + across
            first[cells[row] + 1] += 1
    for cell in range(len(first) - 1):
        first[cell + 1] += first[cell]
    member = np.empty(first[-1], np.int32)
    place = first[:-1].copy()
    for row in range(len(x)):
        if cells[row] >= 0:
            member[place[cells[row]]] = row
            place[cells[row]] += 1
    return first, member


@njit(**_LOOP)
def is_in(look: Look, box: int, x: float, y: float) -> bool:
    """Whether a place lies in a box, and in the circle if there is one."""
    if not (look.boxes[box, 0] <= x <= look.boxes[box, 2] and look.boxes[box, 1] <= y <= look.boxes[box, 3]):
        return False
    return look.radius_m < 0.0 or distance_m(x, y, look.x[box], look.y[box], look.geographic) <= look.radius_m


@njit(**_LOOP)
def cells_of(places: Places, look: Look, box: int) -> tuple[int, int, int, int]:
    """The cells that a box meets: from column to column, from row to row."""
    corner, size, shape = places.corner, places.size, places.shape
    return (
        _cell(look.boxes[box, 0], corner[0], size[0], shape[0]),
        _cell(look.boxes[box, 2], corner[0], size[0], shape[0]),
        _cell(look.boxes[box, 1], corner[1], size[1], shape[1]),
        _cell(look.boxes[box, 3], corner[1], size[1], shape[1]),
    )


@njit(**_LOOP)
def _find(places: Places, look: Look, counts: Whole, room: Whole) -> int:
    """Write what is found into `room`; how much room it takes, which may be more than there is: then it is to be called again."""
    found = 0
    for box in range(len(look.boxes)):
        begun = found
        low = np.searchsorted(places.time, look.since[box])
        high = np.searchsorted(places.time, look.until[box])
        if low < high and len(places.member):
            west, east, south, north = cells_of(places, look, box)
            for along in range(south, north + 1):
                for across in range(west, east + 1):
                    cell = along * places.shape[0] + across
                    for place in range(places.first[cell], places.first[cell + 1]):
                        row = places.member[place]
                        if low <= row < high and is_in(look, box, places.x[row], places.y[row]):
                            if found < len(room):
                                room[found] = row
                            found += 1
        counts[box] = found - begun
        if found <= len(room):
            room[begun:found].sort()
    return found
