"""Pairs of lines that may answer a plain query: who is noted, and what for?

A query *follows from lives* if it is plain (see `plain_pair_test`), VALIDATED and without a buffer. Then a line's life is promised when it comes
and cut at most once, and what a pair emits follows from the promised lives and the cuts, whenever it is worked out. So no
answer is worked out, or changed, when lines come and go: pairs are noted, and `pair_intervals` goes through all of them once a step.

Rule 1  A line that comes is shown to the lines that came before it and that it may match. Those that pass a look are noted, with the time
        before which the pair does not begin and the one before which it does not end.
Rule 2  Lives are those at the end of the step: what a pair emitted before a cut it also emits with the life that is cut. Only
        the end that a pair does not come before is that of the promise, since `pair_intervals` begins with it.
Rule 3  Lines come in batches, a part of those that are there: for each, all lines are laid out anew (`batch_neighbours`), and those whose end was more
        than w before are left out for good. The new ones look in the order in which they stand, so neighbours follow one another.
Rule 4  Nothing here makes an array: where room is missing, the loop says so and goes on with the same line when there is some.
Rule 5  There is room for so few pairs that they stay at hand: those that are noted are settled before more are.

Memory  One row per pair that has passed a look and is not over yet.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from numba import njit

from headwater.kernels.predict.batch_neighbours import COUNT, LINE, Batch, lay, look
from headwater.kernels.predict.batch_neighbours import SHIFT as NUMBER
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real, Whole
from headwater.kernels.predict.plain_pair_test import quick_test
from headwater.kernels.predict.plan import EVERY, ONCE, WITHIN, ZONES, Plan, join_of
from headwater.kernels.predict.search import DONE, NO_ROOM
from headwater.kernels.predict.zones import is_here, is_ours

# Columns of `Pairs.rows`, int64[…, …].
LINES: Final = 0  # the left line · 2^32 + the right line of the join
DUE: Final = 1  # nothing is emitted before, unless a line is cut
BEGINS: Final = 2
ENDS: Final = 3
LIVES: Final = 4  # the sum of the ends of the lives for which it begins and ends then; VAGUE: it does so then at the earliest
SURE: Final = 5  # 1: at what was emitted last its probability was 1
PAIR: Final = 6

VAGUE: Final = -(2**63) + 1
SHIFT: Final = 32
RIGHT: Final = 2**32 - 1

# Places in `Ground.at`, int64[…].
CAME: Final = 0  # lines that have come
THERE: Final = 1  # lines that are there
BATCH: Final = 2  # lines of the batch that is laid out, or 0
SIDE: Final = 3  # the side of the join whose lines look, …
NEXT: Final = 4  # … and the place in its batch of the next one
PLACES: Final = 5

FEWEST: Final = 64
"""Lines that come in a batch, at least, …"""
PART: Final = 4
"""… and one for so many that are there."""


class Pairs(NamedTuple):
    """`rows` int64[room, PAIR]; `at` int64[1]: how many there are."""

    rows: Whole
    at: Whole


class Ground(NamedTuple):
    """Where pairs are found. By line: `promised` int64, the end of its life if it is never cut; `rank` and `identity` int64 of its key;
    `corners` as in `search`. `there` int64[…]: the lines that are there, with room for those that come. `batches`: one for the
    left and one for the right lines; not `sorts`: everybody looks at all. `hits` int64[… + 1]: who is looked at."""

    plan: Plan
    lines: Lines
    promised: Whole
    rank: Whole
    identity: Whole
    corners: Real
    tile: float
    hears_all: bool
    there: Whole
    batches: tuple[Batch, Batch]
    sorts: bool
    hits: Whole
    at: Whole


@njit(**LOOP)
def keep_ours(ground: Ground, came: Whole) -> int:
    """Move those up that are for this zone; says how many they are."""
    lines, count = ground.lines, 0
    for line in came:
        # Zones agree on who answers by the boxes of promised lives.
        end = lines.end[line]
        lines.end[line] = ground.promised[line]
        is_for_us = is_here(ground.plan, lines, line, ground.tile, ground.hears_all, ground.corners)
        lines.end[line] = end
        if is_for_us:
            came[count] = line
            count += 1
    return count


@njit(**LOOP)
def note_some(ground: Ground, pairs: Pairs, came: Whole) -> int:
    """Take lines that come, in order, until all of them have. Not DONE: to be called again when there is room."""
    at, join = ground.at, join_of(ground.plan.joins, 0)
    sides = 1 if ground.plan.rules[ONCE] == 1 else 2
    while at[CAME] < len(came):
        if at[BATCH] == 0:
            _lay_next(ground, came, sides)
        while at[SIDE] < sides:
            side = at[SIDE]
            if not _note_pairs_near(ground, pairs, join, side, 0 if sides == 1 else 1 - side):
                return NO_ROOM
            at[SIDE], at[NEXT] = side + 1, 0
        at[THERE] += at[BATCH]
        at[CAME] += at[BATCH]
        at[BATCH] = at[SIDE] = 0
    return DONE


@njit(**LOOP)
def _lay_next(ground: Ground, came: Whole, sides: int) -> None:
    """Lay out the next batch of lines, and those that are there."""
    plan, at = ground.plan, ground.at
    since = ground.lines.start[came[at[CAME]]] - plan.rules[WITHIN]
    old = _keep_since(ground, since)
    many = min(max(FEWEST, old // PART), len(came) - at[CAME])
    for place in range(many):
        ground.there[old + place] = came[at[CAME] + place]
    there = ground.there[: old + many]
    for side in range(sides):
        lay(ground.batches[side], plan, ground.lines, side, there, old, since, ground.sorts)
    at[BATCH] = many


@njit(**LOOP)
def _keep_since(ground: Ground, since: int) -> int:
    """Leave those out whose lives ended before; says how many are left."""
    there, end, remaining = ground.there, ground.lines.end, 0
    for place in range(ground.at[THERE]):
        there[remaining] = there[place]
        remaining += end[there[place]] >= since
    ground.at[THERE] = remaining
    return remaining


@njit(**LOOP)
def _note_pairs_near(ground: Ground, pairs: Pairs, join: Join, side: int, other: int) -> bool:
    """Let the new lines on a side of the join look at those on the other one, from NEXT on. False: no room."""
    batch, beside, at = ground.batches[side], ground.batches[other], ground.at
    for place in range(at[NEXT], batch.at[COUNT]):
        number = batch.who[place] >> NUMBER
        if number > 0:
            found = look(beside, batch.boxes[place], number, ground.hits)
            if pairs.at[0] + found > len(pairs.rows):
                at[NEXT] = place
                return False
            _note(ground, pairs, batch.who[place] & LINE, join, side, found)
    return True


@njit(**LOOP, forceinline=True)
def _note(ground: Ground, pairs: Pairs, line: int, join: Join, side: int, found: int) -> None:
    """Note the pairs of a line, which stands on a side of the join, with those that were found."""
    plan, lines, rank, rows, promised = ground.plan, ground.lines, ground.rank, pairs.rows, ground.promised
    is_once, has_zones = plan.rules[ONCE] == 1, plan.rules[ZONES] > 0
    is_same_source = plan.source[0] == plan.source[1]
    count = pairs.at[0]
    for place in range(found):
        other = ground.hits[place]
        if is_same_source and rank[other] == rank[line]:
            continue
        is_left = (side == 0) != (is_once and rank[line] > rank[other])
        left, right = (line, other) if is_left else (other, line)
        may, early, last = quick_test(lines, left, right, join, min(promised[left], promised[right]))
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
