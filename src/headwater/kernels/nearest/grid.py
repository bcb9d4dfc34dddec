"""Which queries need an object at this place? A regular grid over the attributes, with each query's cells of interest.

Rule 1  A query needs objects within its threshold. Its cells of interest are those that the ball of its registered radius
        touches, which is slightly more than its threshold when it is registered.
Rule 2  While the threshold is above the registered radius, the query is *wide*: it tests every object. So cells grow at
        once; all are rebuilt, the smaller ones too, when testing queries has cost as much as rebuilding does.
Rule 3  The grid covers the points and their surroundings; objects outside belong to the cells at the border. It has at most
        MOST_AXES axes, those along which the balls are smallest compared with the spread of the points: the projection of a ball on
        fewer axes is a ball.
Rule 4  The first test of a query is a rough one, in single precision and along the axes of the grid, with more than the
        error allowed for (`rough`): it rules out no query that takes the object, and few queries pass that the exact test then refuses.
Memory  One number for each query and each of its cells, of which it has at most MOST_CELLS_OF_ONE.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

MOST_AXES: Final = 4
MOST_CELLS: Final = 1 << 15
MOST_CELLS_OF_ONE: Final = 1024
"""A query whose ball touches more cells is not registered: it takes so much that it may as well test everything."""

FINENESS: Final = 1.4
"""Cells along an axis for each registered radius."""

SPARE: Final = 4.0
"""How much larger the ball of the registered radius is than that of the threshold: the more, the fewer queries are wide."""

FEWEST: Final = 16
"""From so many queries on a grid is worth its cost."""


class BallGrid(NamedTuple):
    """`starts[cell]:starts[cell + 1]` are a cell's places in `members`; `radii` are the registered radii of queries.

    `marks` are the points along the axes, float32[queries, MOST_AXES], in units of the longest axis: a distance is converted by `unit`,
    a gap along an axis by its place in `units`.
    """

    axes: Whole
    lows: Real
    per_unit: Real
    counts: Whole
    starts: Whole
    members: NDArray[np.uint32]
    radii: Real
    unit: float
    units: Real
    marks: NDArray[np.float32]


def no_grid(queries: int) -> BallGrid:
    """Every query tests every object."""
    none = np.zeros(0, np.int64)
    return BallGrid(
        none,
        np.zeros(0),
        np.zeros(0),
        none,
        np.zeros(2, np.int64),
        np.zeros(0, np.uint32),
        np.full(queries, -np.inf),
        1.0,
        np.zeros(0),
        np.zeros((0, MOST_AXES), np.float32),
    )


def draw(points: Real, weights: Real, thresholds: Real) -> BallGrid:
    """The grid of queries with these points, weights of the axes and thresholds; an infinite one is not registered."""
    known = np.flatnonzero(np.isfinite(thresholds))
    if len(known) < FEWEST:
        return no_grid(len(points))
    radii = np.full(len(points), -np.inf)
    radii[known] = thresholds[known] * SPARE ** (1 / points.shape[1])
    typical = float(np.median(radii[known]))
    reach = typical / np.sqrt(weights)
    lows, highs = points.min(axis=0) - reach, points.max(axis=0) + reach
    if not (typical > 0 and np.isfinite(highs - lows).all()):
        return no_grid(len(points))
    fits = FINENESS * (highs - lows) / reach
    axes = np.sort(np.argsort(-fits, kind="stable")[:MOST_AXES])
    fits = fits[axes]
    # As many cells along each axis as radii fit; all are reduced by one factor if they are too many together.
    while np.prod(np.maximum(fits, 1.0)) > MOST_CELLS:
        fits *= 0.9
    counts = np.maximum(1, fits.astype(np.int64))
    per_unit = counts / (highs - lows)[axes]
    touched = np.ones(len(points))
    for axis, unit, count in zip(axes, per_unit, counts, strict=True):
        touched *= np.minimum(count, 2 * np.maximum(radii, 0.0) / np.sqrt(weights[axis]) * unit + 1)
    radii[touched > MOST_CELLS_OF_ONE] = -np.inf
    starts, members = _register(points, weights, radii, axes, lows[axes], per_unit, counts)
    roots = np.sqrt(weights[axes])
    unit = 1 / float(np.max((highs - lows)[axes] * roots))
    marks = np.zeros((len(points), MOST_AXES), np.float32)
    marks[:, : len(axes)] = (points - lows)[:, axes] * (roots * unit)
    return BallGrid(axes, lows[axes], per_unit, counts, starts, members, radii, unit, roots * unit, marks)


@loop(inline="always")
def cell_along(value: float, low: float, per_unit: float, count: int) -> int:
    """The place of a value along one axis; beyond the ends, the last cell there is."""
    place = (value - low) * per_unit
    if place < 1.0:
        return 0
    if place >= count:
        return count - 1
    return int(place)


@loop(_nrt=False, forceinline=True)
def rough(grid: BallGrid, distance: float) -> float:
    """The square of a distance between marks that places at most this far apart never exceed."""
    reach = distance * grid.unit * (1 + 1e-6) + 1e-6
    return reach * reach


@loop(_nrt=False, forceinline=True)
def mark_of(grid: BallGrid, values: Real, row: int, a: int) -> np.float32:
    """Where an object is along an axis, as in `marks`."""
    if a >= len(grid.axes):
        return np.float32(0.0)
    return np.float32((values[row, grid.axes[a]] - grid.lows[a]) * grid.units[a])


@loop(_nrt=False, forceinline=True)
def cell_of(grid: BallGrid, values: Real, row: int) -> int:
    """The cell of an object."""
    cell = 0
    for a in range(len(grid.axes)):
        place = cell_along(values[row, grid.axes[a]], grid.lows[a], grid.per_unit[a], grid.counts[a])
        cell = cell * grid.counts[a] + place
    return cell


@loop
def _register(
    points: Real, weights: Real, radii: Real, axes: Whole, lows: Real, per_unit: Real, counts: Whole
) -> tuple[Whole, NDArray[np.uint32]]:
    """Queries by cell: counted first, then filled in."""
    many = len(axes)
    cells, most = 1, 1
    for a in range(many):
        cells *= counts[a]
        most = max(most, counts[a])
    starts = np.zeros(cells + 1, np.int64)
    members = np.zeros(0, np.uint32)
    first, last = np.zeros(many, np.int64), np.zeros(many, np.int64)
    at = np.zeros(many, np.int64)
    apart = np.zeros((many, most))  # from the point to each cell along each axis, squared and weighted
    for turn in range(2):
        if turn == 1:
            for cell in range(cells):
                starts[cell + 1] += starts[cell]
            members = np.empty(starts[cells], np.uint32)
        for q in range(len(points)):
            if radii[q] < 0:
                continue
            # Slightly more, so that rounding never leaves a cell out.
            square = radii[q] * radii[q] * (1 + 1e-9)
            for a in range(many):
                weight, middle = weights[axes[a]], points[q, axes[a]]
                reach = radii[q] / np.sqrt(weight)
                first[a] = cell_along(middle - reach, lows[a], per_unit[a], counts[a])
                last[a] = cell_along(middle + reach, lows[a], per_unit[a], counts[a])
                at[a] = first[a]
                for place in range(first[a], last[a] + 1):
                    gap = _gap(middle, place, lows[a], per_unit[a], counts[a])
                    apart[a, place] = weight * gap * gap
            while True:
                cell, total = 0, 0.0
                for a in range(many):
                    cell = cell * counts[a] + at[a]
                    total += apart[a, at[a]]
                if total <= square and turn == 0:
                    starts[cell + 1] += 1
                elif total <= square:
                    members[starts[cell]] = q
                    starts[cell] += 1
                a = many - 1
                while a >= 0 and at[a] == last[a]:
                    at[a] = first[a]
                    a -= 1
                if a < 0:
                    break
                at[a] += 1
    for cell in range(cells, 0, -1):
        starts[cell] = starts[cell - 1]
    starts[0] = 0
    return starts, members


@loop
def _gap(value: float, place: int, low: float, per_unit: float, count: int) -> float:
    """How far a value is from a cell along one axis; cells at the border extend without end."""
    left = low + place / per_unit
    right = low + (place + 1) / per_unit
    slack = 1e-9 / per_unit
    if place > 0 and value < left - slack:
        return left - slack - value
    if place < count - 1 and value > right + slack:
        return value - right - slack
    return 0.0
