"""Which objects enter, leave, are in or cross fences that stand still? One walk over the positions of each object, in order of time.

Rule 1  The previous state of an object is the list of fences that it was in, not the present fences: a new fence contains no object
        until an object inside it sends its next position.
Rule 2  An object that is silent for longer than FORGET leaves all fences a microsecond after that, and is new afterwards. The
        answer is emitted once time has passed that instant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.cells import cell_at
from headwater.kernels.fence.geometry import LOOP, Real, Shapes, Whole, contains, meets
from headwater.kernels.fence.grid import FenceGrid, candidates_along
from headwater.kernels.fence.objects import NEVER

EXIT, ENTER, INSIDE, CROSS, OUTSIDE = range(5)
"""The order of changes of one object at one time."""


class Changes(NamedTuple):
    """Changes, one row each: which change, when, the object, the fence (-1: none), and where the object was."""

    change: NDArray[np.int8]
    time: Whole
    slot: Whole
    fence: Whole
    x: Real
    y: Real


class Stays(NamedTuple):
    """The fences that each object is in: those of slot s are `fence[first[s] : first[s + 1]]`, in order."""

    first: Whole
    fence: Whole


class FenceIndex(NamedTuple):
    """Fences and the grid over their boxes; `which` is the shape of each fence, or of each version of one that moves."""

    shapes: Shapes
    grid: FenceGrid
    which: Whole


class Latest(NamedTuple):
    """The last time and place of the object in each slot; NEVER if not known."""

    time: Whole
    x: Real
    y: Real


class Moves(NamedTuple):
    """Positions by slot, `first[s] : first[s + 1]`, and within each slot in order of time, no two at one time."""

    first: Whole
    time: Whole
    x: Real
    y: Real


@loop(**LOOP)
def find_inside(shapes: Shapes, grid: FenceGrid, x: float, y: float, found: Whole) -> int:
    """Write the fences that contain a place into `found`, in order; returns how many."""
    many = 0
    if not len(grid.cells.member):
        return 0
    cell = cell_at(grid.cells, x, y)
    for place in range(grid.cells.first[cell], grid.cells.first[cell + 1]):
        box = grid.cells.member[place]
        if not (
            grid.boxes[box, 0] <= x <= grid.boxes[box, 2] and grid.boxes[box, 1] <= y <= grid.boxes[box, 3]
        ):
            continue
        fence = grid.owner[box]
        if contains(shapes, fence, x, y):
            found[many] = fence
            many += 1
    return many


def first_room(many: int) -> int:
    """How many changes or stays there is room for at first, if so many are likely; the room grows when there are more."""
    return max(16, many)


@loop(**LOOP)
def room_for(many: int) -> Changes:
    """Room for a number of changes."""
    return Changes(
        np.empty(many, np.int8),
        np.empty(many, np.int64),
        np.empty(many, np.int64),
        np.empty(many, np.int64),
        np.empty(many, np.float64),
        np.empty(many, np.float64),
    )


@loop(**LOOP)
def _grown(changes: Changes) -> Changes:
    """The same with twice the room."""
    had = len(changes.time)
    grown = room_for(2 * had)
    grown.change[:had], grown.time[:had], grown.slot[:had] = changes.change, changes.time, changes.slot
    grown.fence[:had], grown.x[:had], grown.y[:had] = changes.fence, changes.x, changes.y
    return grown


@loop(**LOOP)
def put(
    changes: Changes, many: int, change: int, time: int, slot: int, fence: int, x: float, y: float
) -> Changes:
    """The changes with one more after the first `many`."""
    if many == len(changes.time):
        changes = _grown(changes)
    changes.change[many], changes.time[many], changes.slot[many] = change, time, slot
    changes.fence[many], changes.x[many], changes.y[many] = fence, x, y
    return changes


@loop(**LOOP)
def find_crossed(
    index: FenceIndex,
    px: float,
    py: float,
    x: float,
    y: float,
    seen: Whole,
    stamp: int,
    found: Whole,
) -> int:
    """Write the fences between two places into `found`: those that the line meets and that contain neither place; returns how many.

    `seen` has one entry for each fence, none of them `stamp`, and `found` has room for twice as many.
    """
    shapes, grid, which = index
    if shapes.geographic and abs(x - px) > 180.0:
        around = 360.0 if x < px else -360.0
        near = candidates_along(grid, px, py, x + around, y, seen, stamp, found)
        near += candidates_along(grid, px - around, py, x, y, seen, stamp, found[near:])
    else:
        near = candidates_along(grid, px, py, x, y, seen, stamp, found)
    many = 0
    for place in range(near):
        shape = which[found[place]]
        if (
            not contains(shapes, shape, x, y)
            and not contains(shapes, shape, px, py)
            and meets(shapes, shape, px, py, x, y)
        ):
            found[many] = found[place]
            many += 1
    return many


@loop(**LOOP)
def walk(
    index: FenceIndex,
    reported: NDArray[np.bool_],
    forget_us: int,
    watermark: int,
    moves: Moves,
    before: Stays,
    latest: Latest,
    room: int,
) -> tuple[Changes, int, Stays]:
    """Walk all objects; updates `latest`. `room` is the first room for changes, and for stays."""
    shapes, grid = index.shapes, index.grid
    last, last_x, last_y = latest
    fences = len(shapes.radius_m)
    changes, many = room_for(room), 0
    now, was, crossed = np.empty(fences, np.int64), np.empty(fences, np.int64), np.empty(2 * fences, np.int64)
    # Worth its cost: downstream of a FOLLOW there is one walk for each interest.
    seen, stamp = np.full(fences if reported[CROSS] else 0, -1, np.int64), 0
    first = np.zeros(len(last) + 1, np.int64)
    stays, stay_count = np.empty(room, np.int64), 0
    for slot in range(len(last)):
        in_before = before.first[slot + 1] - before.first[slot]
        was[:in_before] = before.fence[before.first[slot] : before.first[slot + 1]]
        for move in range(moves.first[slot], moves.first[slot + 1]):
            time, x, y = moves.time[move], moves.x[move], moves.y[move]
            if last[slot] != NEVER and time - last[slot] > forget_us:
                if reported[EXIT]:
                    for place in range(in_before):
                        gone = last[slot] + forget_us + 1
                        changes = put(changes, many, EXIT, gone, slot, was[place], last_x[slot], last_y[slot])
                        many += 1
                in_before, last[slot] = 0, NEVER
            in_now = find_inside(shapes, grid, x, y, now)
            one, other = 0, 0
            while one < in_before or other < in_now:
                if other == in_now or (one < in_before and was[one] < now[other]):
                    if reported[EXIT]:
                        changes = put(changes, many, EXIT, time, slot, was[one], x, y)
                        many += 1
                    one += 1
                elif one == in_before or now[other] < was[one]:
                    if reported[ENTER]:
                        changes = put(changes, many, ENTER, time, slot, now[other], x, y)
                        many += 1
                    other += 1
                else:
                    one, other = one + 1, other + 1
            if reported[INSIDE]:
                for place in range(in_now):
                    changes = put(changes, many, INSIDE, time, slot, now[place], x, y)
                    many += 1
            if reported[OUTSIDE] and in_now == 0:
                changes = put(changes, many, OUTSIDE, time, slot, -1, x, y)
                many += 1
            if reported[CROSS] and last[slot] != NEVER and (last_x[slot] != x or last_y[slot] != y):
                met = find_crossed(index, last_x[slot], last_y[slot], x, y, seen, stamp, crossed)
                stamp += 1
                for place in range(met):
                    changes = put(changes, many, CROSS, time, slot, crossed[place], x, y)
                    many += 1
            last[slot], last_x[slot], last_y[slot] = time, x, y
            was[:in_now], in_before = now[:in_now], in_now
        if last[slot] != NEVER and last[slot] + forget_us + 1 < watermark:
            if reported[EXIT]:
                for place in range(in_before):
                    gone = last[slot] + forget_us + 1
                    changes = put(changes, many, EXIT, gone, slot, was[place], last_x[slot], last_y[slot])
                    many += 1
            in_before, last[slot] = 0, NEVER
        while stay_count + in_before > len(stays):
            stays = np.concatenate((stays, np.empty(len(stays), np.int64)))
        stays[stay_count : stay_count + in_before] = was[:in_before]
        stay_count += in_before
        first[slot + 1] = stay_count
    return changes, many, Stays(first, stays[:stay_count].copy())
