"""Pairs of lines that may answer a plain query: who is noted, and what for?

A query *follows from lives* if it is plain (see `glances`), VALIDATED and without a buffer. Then a line's life is promised when it comes
and cut at most once, and what a pair tells follows from the promised lives and the cuts, whenever it is worked out. So no
answer is worked out, or changed, when lines come and go: pairs are noted in one list, and `settling` goes through it once a step.

Rule 1  A line that comes is shown to the lines that it may match. Those that pass a glance are noted, with the time before which
        the pair does not begin and the one before which it does not end.
Rule 2  All others began before a new line does; what was over before, even with w, is taken out of the grid by whoever finds it.
Rule 3  Nothing here makes an array: where room is missing, the loop says so before it takes the next event.

Memory  One row per pair that has passed a glance and is not over yet.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from numba import njit

from headwater.kernels.predict import index
from headwater.kernels.predict.geometry.ranges import MAY, MUST
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real, Whole
from headwater.kernels.predict.glances import SPARE, glance
from headwater.kernels.predict.index import Grid
from headwater.kernels.predict.lines.events import ADD, END, LIFE, LINE, START, WHAT, WHEN
from headwater.kernels.predict.plan import EVERY, ONCE, SOURCES, WITHIN, ZONES, Plan, join_of
from headwater.kernels.predict.search import DONE, DRAW, NO_CELLS, NO_ROOM
from headwater.kernels.predict.zones import is_here, is_ours

# Columns of `Pairs.rows`, int64[…, …].
LINES: Final = 0  # the left line · 2^32 + the right line of the join
DUE: Final = 1  # nothing is told before, unless a line is cut
BEGINS: Final = 2
ENDS: Final = 3
LIVES: Final = 4  # the sum of the ends of the lives for which it begins and ends then; VAGUE: it does so then at the earliest
SURE: Final = 5  # 1: at what was told last its probability was 1
PAIR: Final = 6

VAGUE: Final = -(2**63) + 1
SHIFT: Final = 32
RIGHT: Final = 2**32 - 1

# Places in `Ground.at`, int64[…].
EVENT: Final = 0  # the event that is next
ADDED: Final = 1  # lines that have come since the grid was looked at
PATIENCE: Final = 2  # how many may come until it is looked at again
PLACES: Final = 3


class Pairs(NamedTuple):
    """`rows` int64[room, PAIR]; `at` int64[1]: how many there are."""

    rows: Whole
    at: Whole


class Ground(NamedTuple):
    """Where pairs are found. By line: `promised` int64, the end of its life if it is never cut; `rank` and `identity` int64 of its key;
    `corners` as in `search`. `hits` int64[lines + 1]: who is looked at."""

    plan: Plan
    lines: Lines
    promised: Whole
    rank: Whole
    identity: Whole
    corners: Real
    tile: float
    hears_all: bool
    grid: Grid
    hits: Whole
    at: Whole


@njit(**LOOP)
def note_all(ground: Ground, pairs: Pairs, events: Whole) -> int:
    """Take all events in order. Not DONE: to be called again when there is room."""
    at, grid, lines = ground.at, ground.grid, ground.lines
    while at[EVENT] < len(events):
        event = events[at[EVENT]]
        line = event[LINE]
        if event[WHAT] == ADD:
            if at[ADDED] > at[PATIENCE]:
                return DRAW
            if not index.has_cells(grid, ground.plan):
                return NO_CELLS
            if pairs.at[0] + 2 * (grid.at[index.ALIVE] + 1) > len(pairs.rows):
                return NO_ROOM
            _add(ground, pairs, line, event[START], event[END], event[WHEN])
        elif event[WHAT] == LIFE:
            lines.start[line], lines.end[line] = event[START], event[END]
        elif grid.alive[1, line] >= 0:
            index.drop(grid, line)
        at[EVENT] += 1
    return DONE


@njit(**LOOP)
def _add(ground: Ground, pairs: Pairs, line: int, start: int, end: int, when: int) -> None:
    """A line comes."""
    plan, lines = ground.plan, ground.lines
    lines.start[line], lines.end[line], ground.promised[line] = start, end, end
    ground.at[ADDED] += 1
    if plan.rules[ZONES] > 0 and not is_here(
        plan, lines, line, ground.tile, ground.hears_all, ground.corners
    ):
        return
    index.put(ground.grid, plan, lines, line)
    if start == end:
        return  # its sensor spoke again at once
    sources = plan.rules[SOURCES]
    for alias in range(1 if plan.rules[ONCE] == 1 else 2):
        if plan.source[alias] == line % sources:
            side = 0 if plan.joins.left[0] == alias else 1
            found = index.near(ground.grid, plan, lines, line, 0, side, ground.hits)
            _note(ground, pairs, line, side, plan.source[1 - alias], found, when)


@njit(**LOOP, forceinline=True)
def _note(ground: Ground, pairs: Pairs, line: int, side: int, wanted: int, found: int, when: int) -> None:
    """Note the pairs of a line, which stands on a side of the join, with lines of the wanted source."""
    plan, lines, rank, rows = ground.plan, ground.lines, ground.rank, pairs.rows
    join = join_of(plan.joins, 0)
    sources, is_once, has_zones = plan.rules[SOURCES], plan.rules[ONCE] == 1, plan.rules[ZONES] > 0
    is_same_source = line % sources == wanted
    count, since = pairs.at[0], when - plan.rules[WITHIN]
    for place in range(found):
        other = ground.hits[place]
        if lines.end[other] < since:
            index.drop(ground.grid, other)
            continue
        if not _may_meet(lines, line, other, join, side, when):
            continue
        if sources > 1 and other % sources != wanted:
            continue
        if is_same_source and rank[other] == rank[line]:
            continue
        is_left = (side == 0) != (is_once and rank[line] > rank[other])
        left, right = (line, other) if is_left else (other, line)
        may, early, last = glance(lines, left, right, join)
        if not may:
            continue
        if has_zones and not is_ours(
            plan, lines.t0, ground.identity, ground.corners, ground.tile, left, right
        ):
            continue
        rows[count, LINES] = (left << SHIFT) | right
        rows[count, DUE] = early if plan.rules[EVERY] > 0 else last
        rows[count, BEGINS], rows[count, ENDS] = early, last
        rows[count, LIVES], rows[count, SURE] = VAGUE, 0
        count += 1
    pairs.at[0] = count


@njit(**LOOP, forceinline=True)
def _may_meet(lines: Lines, line: int, other: int, join: Join, side: int, when: int) -> bool:
    """Whether a line that begins now and another one may be near one another: fast, and never a false no.

    Differences at one time for both lines are straight, and an answer has one that is at most its bound and w times the steeper slope
    (rule 1 of `glances`). If a pair can be swapped, so can all its conditions.
    """
    w = join.within_us * 1e-6
    span = (min(lines.end[line], lines.end[other]) - when) * 1e-6 + w
    since = (when - lines.t0[other]) * 1e-6
    more = 0.0
    if join.certainty == MAY or join.certainty == MUST:
        more = lines.tolerance[line] + lines.tolerance[other]
        more = more if join.certainty == MAY else -more
    may = True
    for i in range(len(join.bound)):
        of, of_other = join.left_dimension[i], join.right_dimension[i]
        if side == 1:
            of, of_other = of_other, of
        slope, slope_other = lines.slopes[line, of], lines.slopes[other, of_other]
        value, value_other = lines.values[line, of], lines.values[other, of_other]
        gap = value - (value_other + slope_other * since)
        later = gap + (slope - slope_other) * span
        steep = max(abs(slope), abs(slope_other))
        wide = join.bound[i] + more + steep * w
        wide += SPARE * (abs(value) + abs(value_other) + abs(wide) + steep * (since + abs(span)))
        may = may and min(gap, later) <= wide and max(gap, later) >= -wide
    return may
