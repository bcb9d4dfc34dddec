"""Pairs of lines that may answer a plain query: which pairs are noted, and with which bounds?

A query *follows from lives* if it is plain (see `plain_pair_test`), VALIDATED and without a buffer. Then a line's life is promised on arrival
and cut at most once, and what a pair emits follows from the promised lives and the cuts, whenever it is computed. So no
answer is computed, or changed, when lines are added or removed: pairs are noted, and `pair_intervals` processes all of them once a step.

Rule 1  A new line is compared with the earlier lines that it may match. Pairs that pass a first test are noted, with a time
        before which the pair does not begin and one before which it does not end.
Rule 2  Lives are those at the end of the step: what a pair emitted before a cut it also emits with the life that is cut. Only
        the lower bound of a pair's end uses the promise, since `pair_intervals` begins with it.
Rule 3  Lines are processed in batches, whose size is a part of all lines: for each, all lines are laid out again (`batch_neighbours`), and those whose end was more
        than w before are removed for good. The new ones search in the order of their places, so neighbours follow one another.
Rule 4  Nothing here allocates: where room is missing, the loop returns and continues with the same line when there is some.
Rule 5  There is room for only as many pairs as stay in the cache: noted pairs are settled before more are noted.

Memory  One row per pair that has passed the first test and is not over yet.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from headwater.compiled import loop
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
SURE: Final = 5  # 1: its probability in the last row was 1
PAIR: Final = 6

VAGUE: Final = -(2**63) + 1
SHIFT: Final = 32
RIGHT: Final = 2**32 - 1

# Places in `Ground.at`, int64[…].
CAME: Final = 0  # lines that have arrived
THERE: Final = 1  # lines that exist
BATCH: Final = 2  # lines of the batch that is laid out, or 0
SIDE: Final = 3  # the side of the join whose lines search, …
NEXT: Final = 4  # … and the place in its batch of the next one
PLACES: Final = 5

FEWEST: Final = 64
"""A batch has at least so many lines, …"""
PART: Final = 4
"""… and one for so many that exist."""


class Pairs(NamedTuple):
    """`rows` int64[room, PAIR]; `at` int64[1]: how many there are."""

    rows: Whole
    at: Whole


class Ground(NamedTuple):
    """Where pairs are found. By line: `promised` int64, the end of its life if it is never cut; `rank` and `identity` int64 of its key;
    `corners` as in `search`. `there` int64[…]: the existing lines, with room for new ones. `batches`: one for the
    left and one for the right lines; not `sorts`: every search reads all. `hits` int64[… + 1]: the lines found."""

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


@loop(**LOOP)
def keep_ours(ground: Ground, came: Whole) -> int:
    """Keep those found that are for this zone; returns how many."""
    lines, count = ground.lines, 0
    for line in came:
        # Zones agree on the owner of a pair by the boxes of promised lives.
        end = lines.end[line]
        lines.end[line] = ground.promised[line]
        is_for_us = is_here(ground.plan, lines, line, ground.tile, ground.hears_all, ground.corners)
        lines.end[line] = end
        if is_for_us:
            came[count] = line
            count += 1
    return count


@loop(**LOOP)
def note_some(ground: Ground, pairs: Pairs, came: Whole) -> int:
    """Process new lines in order until all of them are done. Not DONE: to be called again when there is room."""
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


@loop(**LOOP)
def _lay_next(ground: Ground, came: Whole, sides: int) -> None:
    """Lay out the next batch of lines, and the existing ones."""
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


@loop(**LOOP)
def _keep_since(ground: Ground, since: int) -> int:
    """Remove lines whose lives ended before; returns how many are left."""
    there, end, remaining = ground.there, ground.lines.end, 0
    for place in range(ground.at[THERE]):
        there[remaining] = there[place]
        remaining += end[there[place]] >= since
    ground.at[THERE] = remaining
    return remaining


@loop(**LOOP)
def _note_pairs_near(ground: Ground, pairs: Pairs, join: Join, side: int, other: int) -> bool:
    """Let the new lines on a side of the join search those on the other one, from NEXT on. False: no room."""
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


@loop(**LOOP, forceinline=True)
def _note(ground: Ground, pairs: Pairs, line: int, join: Join, side: int, found: int) -> None:
    """Note the pairs of a line, on a side of the join, with those that were found."""
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
