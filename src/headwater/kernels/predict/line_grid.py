"""Which lines may match a new one? A grid over what lines can reach, updated line by line.

Queries whose answers follow from lives do not need it: see `batch_neighbours`.

Rule 1  A line is in every cell that its box meets: the range over its life of the values that a join compares, widened so that
        two lines match only if their boxes meet. A new line searches the cells of its own box.
Rule 2  A line that would be in more than MOST_CELLS cells is in one list beside the grid, which every search reads; when
        it searches itself, it reads all lines. So does every line of a join without a bounded reach.
Rule 3  Cells are found by a hash of join, side and place; cells that share a bucket are distinguished by the whole hash. A line that
        is in several of the cells searched is found once.
Rule 4  Cells are as wide as boxes are on average: when that has changed by half, the grid is rebuilt.
Rule 5  A life that is cut keeps its box, which is only too large; one that is extended gets a new one.

Memory  At most MOST_CELLS entries a line and side of a join.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.geometry import reach
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real, Whole
from headwater.kernels.predict.plan import JOINS, ONCE, SOURCES, Plan, join_of
from headwater.model.splitmix import next_of_splitmix64

MOST_CELLS: Final = 16
AXES: Final = 2
"""Values of at most so many conditions are axes of the grid; the others are tested pair by pair."""

# Columns of `LineGrid.entries`, int64[…, …].
NEXT: Final = 0  # in the bucket
PREVIOUS: Final = 1  # in the bucket; -1 − bucket for the first
SLOT: Final = 2
CELL: Final = 3
ALONG: Final = 4  # the next entry of the same line
ENTRY: Final = 5

# Places in `LineGrid.at`, int64[…].
USED: Final = 0  # entries ever used
FREE: Final = 1  # the first of those that are free again, or -1
ALIVE: Final = 2  # lines in `alive`
SERIAL: Final = 3  # searches so far
PLACES: Final = 4


class LineGrid(NamedTuple):
    """`axes` float64[joins, AXES]: the width of cells (0: no such axis; all 0: no grid). `buckets` int64[2^b]: first entries.
    `first` int64[lines]: a line's first entry or -1. `alive` int64[2, lines]: the lines in the grid, and the place of each among them
    or -1. `seen` int64[lines]: the search that found it last."""

    axes: Real
    buckets: Whole
    entries: Whole
    first: Whole
    alive: Whole
    seen: Whole
    at: Whole


@loop(**LOOP)
def put(grid: LineGrid, plan: Plan, lines: Lines, line: int) -> None:
    """Add a line to the grid; there is room for MOST_CELLS entries a side of each join."""
    at, source = grid.at, line % plan.rules[SOURCES]
    if grid.alive[1, line] < 0:
        grid.alive[0, at[ALIVE]] = line
        grid.alive[1, line] = at[ALIVE]
        at[ALIVE] += 1
    for j in range(plan.rules[JOINS]):
        if grid.axes[j, 0] <= 0.0:
            continue
        join = join_of(plan.joins, j)
        for side in range(1 if plan.rules[ONCE] == 1 else 2):
            alias = plan.joins.left[j] if side == 0 else plan.joins.right[j]
            if plan.source[alias] == source:
                _stand(grid, lines, line, join, j, side)


@loop(**LOOP)
def drop(grid: LineGrid, line: int) -> None:
    """Remove a line, so that no search finds it any more."""
    at = grid.at
    place, last = grid.alive[1, line], grid.alive[0, at[ALIVE] - 1]
    grid.alive[0, place] = last
    grid.alive[1, last] = place
    grid.alive[1, line] = -1
    at[ALIVE] -= 1
    leave(grid, line)


@loop(**LOOP)
def leave(grid: LineGrid, line: int) -> None:
    """Remove a line from its cells."""
    entries, at = grid.entries, grid.at
    entry = grid.first[line]
    while entry >= 0:
        after, before = entries[entry, NEXT], entries[entry, PREVIOUS]
        if before < 0:
            grid.buckets[-1 - before] = after
        else:
            entries[before, NEXT] = after
        if after >= 0:
            entries[after, PREVIOUS] = before
        along = entries[entry, ALONG]
        entries[entry, NEXT] = at[FREE]
        at[FREE] = entry
        entry = along
    grid.first[line] = -1


@loop(**LOOP)
def near(grid: LineGrid, plan: Plan, lines: Lines, line: int, j: int, side: int, hits: Whole) -> int:
    """Write the lines into `hits` that may match a line on a side of a join; returns how many."""
    at = grid.at
    join = join_of(plan.joins, j)
    found = 0
    cells = 0
    if grid.axes[j, 0] > 0.0:
        x, x_last, y, y_last = _cells(grid, lines, line, join, j, side)
        cells = _how_many(x, x_last, y, y_last)
    if cells == 0:
        for place in range(at[ALIVE]):
            hits[place] = grid.alive[0, place]
        return at[ALIVE]
    at[SERIAL] += 1
    other = 0 if plan.rules[ONCE] == 1 else 1 - side
    found = _look(grid, _wide(j, other), hits, found)
    for cx in range(x, x_last + 1):
        for cy in range(y, y_last + 1):
            found = _look(grid, _name(j, other, cx, cy), hits, found)
    return found


@loop(**LOOP)
def has_cells(grid: LineGrid, plan: Plan) -> bool:
    """Whether there is room for one more line."""
    return grid.at[USED] + 2 * MOST_CELLS * plan.rules[JOINS] <= len(grid.entries)


@loop(**LOOP)
def draw(grid: LineGrid, plan: Plan, lines: Lines) -> None:
    """Put all lines of the grid into the empty cells of a new grid."""
    for place in range(grid.at[ALIVE]):
        put(grid, plan, lines, grid.alive[0, place])


@loop(**LOOP)
def widths(plan: Plan, lines: Lines, alive: Whole, axes: Real) -> None:
    """Write the width of the cells of a grid for these lines into `axes`."""
    for j in range(plan.rules[JOINS]):
        join = join_of(plan.joins, j)
        for axis in range(AXES):
            total, many = 0.0, 0
            for place in range(len(alive)):
                line = alive[place]
                for side in range(2):
                    alias = plan.joins.left[j] if side == 0 else plan.joins.right[j]
                    if plan.source[alias] != line % plan.rules[SOURCES]:
                        continue
                    low, high = reach(lines, line, join, side, axis)
                    if high - low < np.inf:
                        total += high - low
                        many += 1
            axes[j, axis] = total / many if many > 0 and total > 0.0 else 0.0
        if axes[j, 0] == 0.0 and axes[j, 1] > 0.0:
            axes[j, 0] = 1.0


@loop(**LOOP)
def _stand(grid: LineGrid, lines: Lines, line: int, join: Join, j: int, side: int) -> None:
    """Put a line into the cells of its box."""
    x, x_last, y, y_last = _cells(grid, lines, line, join, j, side)
    if _how_many(x, x_last, y, y_last) == 0:
        _enter(grid, line, _wide(j, side))
        return
    for cx in range(x, x_last + 1):
        for cy in range(y, y_last + 1):
            _enter(grid, line, _name(j, side, cx, cy))


@loop(**LOOP)
def _enter(grid: LineGrid, line: int, cell: int) -> None:
    entries, at = grid.entries, grid.at
    entry = at[FREE]
    if entry >= 0:
        at[FREE] = entries[entry, NEXT]
    else:
        entry = at[USED]
        at[USED] += 1
    bucket = cell & (len(grid.buckets) - 1)
    after = grid.buckets[bucket]
    entries[entry, NEXT] = after
    entries[entry, PREVIOUS] = -1 - bucket
    entries[entry, SLOT] = line
    entries[entry, CELL] = cell
    entries[entry, ALONG] = grid.first[line]
    if after >= 0:
        entries[after, PREVIOUS] = entry
    grid.buckets[bucket] = entry
    grid.first[line] = entry


@loop(**LOOP)
def _look(grid: LineGrid, cell: int, hits: Whole, found: int) -> int:
    entries, seen, serial = grid.entries, grid.seen, grid.at[SERIAL]
    entry = grid.buckets[cell & (len(grid.buckets) - 1)]
    while entry >= 0:
        line = entries[entry, SLOT]
        if entries[entry, CELL] == cell:
            # Whether a line has been found before is unpredictable: counting without a branch costs less than mispredicting.
            hits[found] = line
            found += seen[line] != serial
            seen[line] = serial
        entry = entries[entry, NEXT]
    return found


@loop(**LOOP)
def _cells(
    grid: LineGrid, lines: Lines, line: int, join: Join, j: int, side: int
) -> tuple[int, int, int, int]:
    """The first and the last cell along both axes; the last before the first: too many, or unbounded."""
    first_x, last_x = _span(grid.axes[j, 0], lines, line, join, side, 0)
    first_y, last_y = _span(grid.axes[j, 1], lines, line, join, side, 1)
    return first_x, last_x, first_y, last_y


@loop(**LOOP)
def _span(width: float, lines: Lines, line: int, join: Join, side: int, axis: int) -> tuple[int, int]:
    if width <= 0.0:
        return 0, 0
    low, high = reach(lines, line, join, side, axis)
    first, last = np.floor(low / width), np.floor(high / width)
    if not (last - first < MOST_CELLS) or not (abs(first) < 2.0**52):
        return 0, -1
    return int(first), int(last)


@loop(**LOOP)
def _how_many(x: int, x_last: int, y: int, y_last: int) -> int:
    """The number of these cells; 0: too many."""
    cells = (x_last - x + 1) * (y_last - y + 1)
    return cells if cells <= MOST_CELLS else 0


@loop(**LOOP)
def _wide(j: int, side: int) -> Any:
    return mixed(mixed(2 * j + side + 1))


@loop(**LOOP)
def _name(j: int, side: int, x: int, y: int) -> Any:
    return mixed(mixed(mixed(2 * j + side) ^ x) ^ y)


@loop(**LOOP)
def mixed(number: Any) -> Any:
    """A whole number whose bits depend on all bits of this one: one step of splitmix64."""
    return np.int64(next_of_splitmix64(number))
