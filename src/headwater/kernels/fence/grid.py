"""Which fences may a place lie in, or a line meet? A grid over the boxes around fences.

Rule 1  There are about four cells a box, fewer if boxes are so large that each would be listed more than MOST_A_BOX times on average.
Rule 2  The search along a line visits the cells that it passes, row by row.

Memory  That of `cells`, and forty bytes a box.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from headwater.compiled import loop
from headwater.kernels import cells
from headwater.kernels.cells import Cells, column_of
from headwater.kernels.fence.geometry import LOOP, Real, Whole

MOST_A_BOX: Final = 12
"""Cells that a box may be listed in, as a mean over all boxes."""


class FenceGrid(NamedTuple):
    """Boxes around fences, the fence of each, and the cells that list them."""

    boxes: Real
    owner: Whole
    cells: Cells


def lay_out(boxes: Real, owner: Whole) -> FenceGrid:
    """The grid of some boxes."""
    many = max(1, math.ceil(2.0 * math.sqrt(len(boxes))))
    return FenceGrid(boxes, owner, cells.lay_out(boxes, many, MOST_A_BOX))


@loop(**LOOP)
def candidates_along(
    grid: FenceGrid, px: float, py: float, qx: float, qy: float, seen: Whole, stamp: int, found: Whole
) -> int:
    """Write the fences whose boxes a line may meet into `found`, each once; returns how many.

    `seen` int64[fences] contains no `stamp` before. One more cell at each end of a row absorbs rounding.
    """
    many = 0
    listed = grid.cells
    if not len(listed.member):
        return 0
    corner, size, shape = listed.corner, listed.size, listed.shape
    west, east, south, north = min(px, qx), max(px, qx), min(py, qy), max(py, qy)
    low, high = column_of(south, corner[1], size[1], shape[1]), column_of(north, corner[1], size[1], shape[1])
    for along in range(low, high + 1):
        begins, ends = west, east
        if north > south and high > low:
            # Slightly more than the row, so that rounding never cuts a line that is nearly level.
            bottom = max(south, corner[1] + (along - 1e-6) * size[1]) if along > 0 else south
            top = min(north, corner[1] + (along + 1.000001) * size[1]) if along < shape[1] - 1 else north
            one = px + (qx - px) * ((bottom - py) / (qy - py))
            other = px + (qx - px) * ((top - py) / (qy - py))
            begins, ends = max(west, min(one, other)), min(east, max(one, other))
        left = max(column_of(begins, corner[0], size[0], shape[0]) - 1, 0)
        right = min(column_of(ends, corner[0], size[0], shape[0]) + 1, shape[0] - 1)
        for across in range(left, right + 1):
            cell = along * shape[0] + across
            for place in range(listed.first[cell], listed.first[cell + 1]):
                box = listed.member[place]
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
