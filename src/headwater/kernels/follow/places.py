"""Which events lie where? Rows in order of time with a place each, and a grid over them.

Rule 1  A grid spans the places of its own rows, with about ROWS_A_CELL rows a cell; a place is a box without extent.
Rule 2  A place with NaN is in no cell.
Rule 3  The rows found for a box are in their original order.

Memory  Six bytes a row, in addition to times and places.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels import cells
from headwater.kernels.cells import Cells, cells_of
from headwater.kernels.follow.question import Real, Whole
from headwater.model.place import distance_m

ROWS_A_CELL: Final = 4

_LOOP: Final[dict[str, Any]] = {"nogil": True}


class Places(NamedTuple):
    """Rows whose `time` rises, where they are, and the cells that list them."""

    time: Whole
    x: Real
    y: Real
    cells: Cells


class Look(NamedTuple):
    """A search: boxes float64[n, 4] and times [since, until) for each of them, around centres if a radius (>= 0) is given."""

    boxes: Real
    since: Whole
    until: Whole
    x: Real
    y: Real
    radius_m: float
    geographic: bool


def lay_out(time: Whole, x: Real, y: Real) -> Places:
    """The grid of some rows."""
    there = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    many = max(1, int(math.sqrt(len(there) / ROWS_A_CELL)))
    found = cells.lay_out(np.column_stack([x[there], y[there], x[there], y[there]]), many, 1)
    return Places(time, x, y, found._replace(member=there[found.member].astype(np.int32)))


def find(places: Places, look: Look) -> tuple[Whole, Whole]:
    """The rows found, and the box of each: in the order of boxes, and of rows in each box."""
    counts, room = np.zeros(len(look.boxes), np.int64), np.empty(_first_room(len(look.boxes)), np.int64)
    while (needed := _find(places, look, counts, room)) > len(room):
        room = np.empty(needed, np.int64)
    return room[: int(counts.sum())], np.repeat(np.arange(len(counts)), counts)


def _first_room(boxes: int) -> int:
    """How many rows there is room for at first; the room grows when more are found."""
    return max(1024, 4 * boxes)


@loop(**_LOOP)
def is_in(look: Look, box: int, x: float, y: float) -> bool:
    """Whether a place lies in a box, and in the circle if there is one."""
    if not (look.boxes[box, 0] <= x <= look.boxes[box, 2] and look.boxes[box, 1] <= y <= look.boxes[box, 3]):
        return False
    return look.radius_m < 0.0 or distance_m(x, y, look.x[box], look.y[box], look.geographic) <= look.radius_m


@loop(**_LOOP)
def _find(places: Places, look: Look, counts: Whole, room: Whole) -> int:
    """Write what is found into `room`; returns how much room it takes. If that is more than there is, it must be called again."""
    found, listed = 0, places.cells
    for box in range(len(look.boxes)):
        begun = found
        low = np.searchsorted(places.time, look.since[box])
        high = np.searchsorted(places.time, look.until[box])
        if low < high and len(listed.member):
            west, east, south, north = cells_of(look.boxes, box, listed.corner, listed.size, listed.shape)
            for along in range(south, north + 1):
                for across in range(west, east + 1):
                    cell = along * listed.shape[0] + across
                    for place in range(listed.first[cell], listed.first[cell + 1]):
                        row = listed.member[place]
                        if low <= row < high and is_in(look, box, places.x[row], places.y[row]):
                            if found < len(room):
                                room[found] = row
                            found += 1
        counts[box] = found - begun
        if found <= len(room):
            room[begun:found].sort()
    return found
