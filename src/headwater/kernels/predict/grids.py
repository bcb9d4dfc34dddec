"""Grids between steps and during them: made, copied, enlarged, rebuilt. `line_grid` fills and searches them."""

from __future__ import annotations

from typing import Final

import numpy as np

from headwater.kernels.predict import line_grid
from headwater.kernels.predict.geometry.shapes import Lines, Real, Whole
from headwater.kernels.predict.line_grid import AXES, LineGrid
from headwater.kernels.predict.plan import Plan

PATIENCE: Final = 128
"""After at least so many new lines the grid is examined again."""

_ENTRIES: Final = 64 * line_grid.MOST_CELLS
"""Room for so many entries when the first are added."""

_CHANGED: Final = 1.5
"""When boxes have become wider, or narrower, by this factor since the grid was built, it is rebuilt."""


def no_grid(joins: int) -> LineGrid:
    """Without lines."""
    return _grid(np.zeros((joins, AXES)), 0, 0)


def grid_of(alive: Whole, joins: int, slots: int) -> LineGrid:
    """A grid with lines in no cells yet."""
    grid = _grid(np.zeros((joins, AXES)), slots, 0)
    grid.alive[0, : len(alive)] = alive
    grid.alive[1, alive] = np.arange(len(alive))
    grid.at[line_grid.ALIVE] = len(alive)
    return grid


def alive_in(grid: LineGrid) -> Whole:
    """The lines in the grid."""
    return grid.alive[0, : grid.at[line_grid.ALIVE]]


def patience_of(grid: LineGrid) -> int:
    """How many lines may be added until the grid is examined again."""
    return max(PATIENCE, int(grid.at[line_grid.ALIVE]))


def sized(grid: LineGrid, slots: int) -> LineGrid:
    """A copy for so many lines; lines that lose their place were not in it."""
    known = min(slots, len(grid.first))
    first, alive = np.full(slots, -1), np.full((2, slots), -1)
    first[:known] = grid.first[:known]
    count = int(grid.at[line_grid.ALIVE])
    alive[0, :count] = grid.alive[0, :count]
    alive[1, :known] = grid.alive[1, :known]
    at = grid.at.copy()
    at[line_grid.SERIAL] = 0
    return LineGrid(
        grid.axes, grid.buckets.copy(), grid.entries.copy(), first, alive, np.zeros(slots, np.int64), at
    )


def with_cells(grid: LineGrid) -> LineGrid:
    """The grid with twice the room for entries."""
    entries = np.empty((max(2 * len(grid.entries), _ENTRIES), line_grid.ENTRY), np.int64)
    entries[: len(grid.entries)] = grid.entries
    return grid._replace(entries=entries)


def drawn(grid: LineGrid, plan: Plan, lines: Lines) -> LineGrid:
    """The grid, rebuilt if its cells no longer fit the boxes of lines."""
    axes = np.zeros_like(grid.axes)
    alive = alive_in(grid)
    line_grid.widths(plan, lines, alive, axes)
    fits = (axes <= grid.axes * _CHANGED) & (grid.axes <= axes * _CHANGED)
    if fits.all() and grid.at[line_grid.USED] <= 2 * len(grid.buckets):
        return grid
    room = 2 * line_grid.MOST_CELLS * len(axes) * (len(alive) + 2)
    fresh = _grid(axes, grid.alive.shape[1], room)
    fresh.alive[:] = grid.alive
    fresh.at[line_grid.ALIVE] = len(alive)
    line_grid.draw(fresh, plan, lines)
    return fresh


def _grid(axes: Real, slots: int, room: int) -> LineGrid:
    """An empty grid with room for so many entries."""
    at = np.zeros(line_grid.PLACES, np.int64)
    at[line_grid.FREE] = -1
    buckets = max(16, 1 << max(room // (2 * line_grid.MOST_CELLS), 1).bit_length() + 2)
    alive = np.full((2, slots), -1)
    return LineGrid(
        axes,
        np.full(buckets, -1),
        np.empty((room, line_grid.ENTRY), np.int64),
        np.full(slots, -1),
        alive,
        np.zeros(slots, np.int64),
        at,
    )
