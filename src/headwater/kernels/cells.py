"""Which boxes of the plane meet which cells? The index of FOLLOW, over places of events, and of FENCE, over boxes around fences.

Rule 1  The cells span the boxes except for one in a hundred at each end, so that a few distant boxes do not enlarge all cells. A cell
        lists the boxes that meet it, in their order.
Rule 2  Whatever lies outside the cells is listed in the outermost ones, and searched for there.
Rule 3  Where boxes are so large that each would be listed more than a given number of times on average, cells are larger.

Memory  Four bytes for every time that a box is listed, and eight for each cell.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

_LOOP: Final[dict[str, Any]] = {"nogil": True}


FEW: Final = 100
"""At each end, one in so many boxes may lie outside the cells."""


class Cells(NamedTuple):
    """Boxes `member[first[c] : first[c + 1]]` meet cell c, which counts from the west, row by row from the south."""

    first: Whole
    member: NDArray[np.int32]
    corner: Real  # float64[2]: the south-west end
    size: Real  # float64[2]: the sides of a cell
    shape: Whole  # int64[2]: cells across and along


def lay_out(boxes: Real, many: int, most: int) -> Cells:
    """`many` by `many` cells over some boxes, float64[n, 4], or fewer, so that a box is listed `most` times on average."""
    if not len(boxes):
        return Cells(
            np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(2), np.ones(2), np.ones(2, np.int64)
        )
    corner = _without_few(boxes[:, :2], first=True)
    end = np.maximum(_without_few(boxes[:, 2:], first=False), corner)
    while True:
        # Divided one by one, so that the extremes of all doubles do not overflow; a single cell needs no search.
        size = np.maximum(end / max(many, 2) - corner / max(many, 2), 1e-300)
        shape = np.where(end > corner, many, 1).astype(np.int64)
        first = _counted(boxes, corner, size, shape)
        if many == 1 or first[-1] <= most * len(boxes):
            break
        many = max(1, many // 2)
    return Cells(first, _sorted_in(boxes, corner, size, shape, first), corner, size, shape)


def _without_few(places: Real, *, first: bool) -> Real:
    """The least (`first`) or the greatest coordinates, float64[2], a few outliers excluded."""
    few = len(places) // FEW
    place = few if first else len(places) - 1 - few
    found: Real = np.partition(places, place, axis=0)[place]
    return found


@loop(**_LOOP)
def cell_at(cells: Cells, x: float, y: float) -> int:
    """The cell of a place."""
    across = column_of(x, cells.corner[0], cells.size[0], cells.shape[0])
    return column_of(y, cells.corner[1], cells.size[1], cells.shape[1]) * cells.shape[0] + across


@loop(**_LOOP)
def column_of(value: float, corner: float, size: float, many: int) -> int:
    """The column or row of cells that contains a coordinate; the outermost one if it lies outside."""
    at = (value - corner) / size
    return int(min(at, many - 1.0)) if at > 0.0 else 0


@loop(**_LOOP)
def cells_of(boxes: Real, box: int, corner: Real, size: Real, shape: Whole) -> tuple[int, int, int, int]:
    """The cells that a box meets: from column to column, from row to row."""
    return (
        column_of(boxes[box, 0], corner[0], size[0], shape[0]),
        column_of(boxes[box, 2], corner[0], size[0], shape[0]),
        column_of(boxes[box, 1], corner[1], size[1], shape[1]),
        column_of(boxes[box, 3], corner[1], size[1], shape[1]),
    )


@loop(**_LOOP)
def _counted(boxes: Real, corner: Real, size: Real, shape: Whole) -> Whole:
    """Where the list of each cell begins, and the total length of all lists."""
    first = np.zeros(shape[0] * shape[1] + 1, np.int64)
    for box in range(len(boxes)):
        west, east, south, north = cells_of(boxes, box, corner, size, shape)
        for along in range(south, north + 1):
            for across in range(west, east + 1):
                first[along * shape[0] + across + 1] += 1
    for cell in range(len(first) - 1):
        first[cell + 1] += first[cell]
    return first


@loop(**_LOOP)
def _sorted_in(boxes: Real, corner: Real, size: Real, shape: Whole, first: Whole) -> NDArray[np.int32]:
    """Boxes by cell, in order within each."""
    place = first[:-1].copy()
    member = np.empty(first[-1], np.int32)
    for box in range(len(boxes)):
        west, east, south, north = cells_of(boxes, box, corner, size, shape)
        for along in range(south, north + 1):
            for across in range(west, east + 1):
                cell = along * shape[0] + across
                member[place[cell]] = box
                place[cell] += 1
    return member
