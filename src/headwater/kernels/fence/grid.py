"""Which fences may a place lie in, or a line meet? A grid over the boxes around fences.

Rule 1  A cell holds the boxes that meet it. There are about four cells a box, fewer where boxes are so large that cells would
        hold more than MOST_A_BOX of each on the whole.
Rule 2  A line is looked for row of cells by row of cells: in those that it passes.

Memory  At most MOST_A_BOX entries a box, and four bytes for each of them and for each cell.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.fence.geometry import LOOP, Real, Whole

MOST_A_BOX: Final = 12
"""Cells that a box may be listed in, as a mean over all boxes."""


class Grid(NamedTuple):
    """Boxes `member[first[c] : first[c + 1]]` meet cell c, which counts from the west, row by row from the south."""

    boxes: Real
    owner: Whole
    first: Whole
    member: NDArray[np.int32]
    corner: Real  # float64[2]: the south-west end
    size: Real  # float64[2]: the sides of a cell
    shape: Whole  # int64[2]: cells across and along


def lay_out(boxes: Real, owner: Whole) -> Grid:
    """The grid of some boxes."""
    if not len(boxes):
        return Grid(
            boxes,
            owner,
            np.zeros(2, np.int64),
            np.zeros(0, np.int32),
            np.zeros(2),
            np.ones(2),
            np.ones(2, np.int64),
        )
    corner, end = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    many = max(1, math.ceil(2.0 * math.sqrt(len(boxes))))
    while True:
        size = np.maximum((end - corner) / many, 1e-300)
        shape = np.where(end > corner, many, 1).astype(np.int64)
        entries = _entries(boxes, corner, size, shape)
        if many == 1 or entries <= MOST_A_BOX * len(boxes):
            break
        many = max(1, many // 2)
    first, member = _sort_in(boxes, corner, size, shape, entries)
    return Grid(boxes, owner, first, member, corner, size, shape)


@njit(**LOOP)
def cell_of(value: float, corner: float, size: float, many: int) -> int:
    """The column or row of cells in which a coordinate lies; the outermost for what lies beyond."""
    at = (value - corner) / size
    return int(min(max(at, 0.0), many - 1.0))


@njit(**LOOP)
def _cells(boxes: Real, box: int, corner: Real, size: Real, shape: Whole) -> tuple[int, int, int, int]:
    return (
        cell_of(boxes[box, 0], corner[0], size[0], shape[0]),
        cell_of(boxes[box, 2], corner[0], size[0], shape[0]),
        cell_of(boxes[box, 1], corner[1], size[1], shape[1]),
        cell_of(boxes[box, 3], corner[1], size[1], shape[1]),
    )


@njit(**LOOP)
def _entries(boxes: Real, corner: Real, size: Real, shape: Whole) -> int:
    entries = 0
    for box in range(len(boxes)):
        west, east, south, north = _cells(boxes, box, corner, size, shape)
        entries += (east - west + 1) * (north - south + 1)
    return entries


@njit(**LOOP)
def _sort_in(
    boxes: Real, corner: Real, size: Real, shape: Whole, entries: int
) -> tuple[Whole, NDArray[np.int32]]:
    """Boxes by cell, in order within each."""
    first = np.zeros(shape[0] * shape[1] + 1, np.int64)
    for box in range(len(boxes)):
        west, east, south, north = _cells(boxes, box, corner, size, shape)
        for along in range(south, north + 1):
            for across in range(west, east + 1):
                first[along * shape[0] + across + 1] += 1
    for cell in range(len(first) - 1):
        first[cell + 1] += first[cell]
    place = first[:-1].copy()
    member = np.empty(entries, np.int32)
    for box in range(len(boxes)):
        west, east, south, north = _cells(boxes, box, corner, size, shape)
        for along in range(south, north + 1):
            for across in range(west, east + 1):
                cell = along * shape[0] + across
                member[place[cell]] = box
                place[cell] += 1
    return first, member


@njit(**LOOP)
def candidates_along(
    grid: Grid, px: float, py: float, qx: float, qy: float, seen: Whole, stamp: int, found: Whole
) -> int:
    """Write the fences whose boxes a line may meet into `found`, each once; how many they are.

    `seen` int64[fences] holds no `stamp` before. A cell more at each end of a row makes up for rounding.
    """
    many = 0
    if not len(grid.member):
        return 0
    corner, size, shape = grid.corner, grid.size, grid.shape
    west, east, south, north = min(px, qx), max(px, qx), min(py, qy), max(py, qy)
    low, high = cell_of(south, corner[1], size[1], shape[1]), cell_of(north, corner[1], size[1], shape[1])
    for along in range(low, high + 1):
        begins, ends = west, east
        if north > south and high > low:
            # A little more than the row, so that rounding never cuts a line that is nearly level.
            bottom = max(south, corner[1] + (along - 1e-6) * size[1]) if along > 0 else south
            top = min(north, corner[1] + (along + 1.000001) * size[1]) if along < shape[1] - 1 else north
            one = px + (qx - px) * ((bottom - py) / (qy - py))
            other = px + (qx - px) * ((top - py) / (qy - py))
            begins, ends = max(west, min(one, other)), min(east, max(one, other))
        left = max(cell_of(begins, corner[0], size[0], shape[0]) - 1, 0)
        right = min(cell_of(ends, corner[0], size[0], shape[0]) + 1, shape[0] - 1)
        for across in range(left, right + 1):
            cell = along * shape[0] + across
            for place in range(grid.first[cell], grid.first[cell + 1]):
                box = grid.member[place]
                fence = grid.owner[box]
                if seen[fence] == stamp:
                    continue
                if (
                    grid.boxes[box, 0] <= east
                    and grid.boxes[box, 2] >= west
                    and grid.boxes[box, 1] <= north
                    and grid.boxes[box, 3] >= south
                ):
                    seen[fence] = stamp
                    found[many] = fence
                    many += 1
    return many
