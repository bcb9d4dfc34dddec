"""Which lines are near which, when many arrive at once? All lines in the order of their places, laid out again for each batch of new ones.

A line's *box* is what it can reach (`reach`) from the time of the first line of the batch, and w before, to the end of its life as
known to the step. Two lines match only if their boxes meet.

Rule 1  A line is in one cell, that of the middle of its box, on a level that depends on the size of the box. A line without such a cell is in
        a list that every search reads. A search visits the cells that can contain middles of boxes that meet its own, level by level.
Rule 2  Cells are half as wide as boxes are on (geometric) average, so that a few very large ones do not matter, and twice as wide from level
        to level. They are taken modulo a power of two: boxes in one place by coincidence are distinguished by comparing them.
Rule 3  Boxes are stored cell by cell, those of a row of cells consecutively: a search reads memory sequentially.
Rule 4  A search finds only lines that came before: each pair is found once.

Memory  Boxes and numbers of all lines, twice, for as long as a step takes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.geometry import reach_since
from headwater.kernels.predict.geometry.shapes import LOOP, Lines, Real, Whole
from headwater.kernels.predict.line_grid import AXES
from headwater.kernels.predict.plan import SOURCES, Plan, join_of

LEVELS: Final = 6

# Columns of `Batch.boxes` and `Batch.drafts`, float64[…, …]: for each axis the low and the high end.
LOW: Final = 0
HIGH: Final = 1
BOX: Final = 2 * AXES

# Places in `Batch.at`, int64[…].
COUNT: Final = 0  # lines laid out here
BITS: Final = 1  # there are 2^BITS rows of cells on a level …
BITS_ALONG: Final = 2  # … with 2^BITS_ALONG cells each
PLACES: Final = 3

SHIFT: Final = 32
LINE: Final = 2**SHIFT - 1
_FAR: Final = 2.0**52


class Batch(NamedTuple):
    """The lines on one side of a join. In the order of cells: `boxes` float64[room, BOX], and `who` int64[room], number · 2^32 + line, where
    lines that are not new have number 0 and new ones 1, 2, …. `starts` int64[…]: where each cell begins, level by level, and at last where
    the list of lines without a cell begins. `widths` float64[AXES] of the cells of level 0, 0 for no such axis; `half` float64[LEVELS, AXES]: how far
    boxes of a level extend from their middles, at most, or -1 for none. `drafts`, `drafted` and `cells`: boxes, who, and cells, in order of arrival."""

    boxes: Real
    who: Whole
    starts: Whole
    widths: Real
    half: Real
    drafts: Real
    drafted: Whole
    cells: Whole
    at: Whole


def batch_for(lines: int) -> Batch:
    """A batch with room for so many lines."""
    return Batch(
        np.empty((lines, BOX)),
        np.empty(lines, np.int64),
        np.empty((LEVELS << _bits(lines)) + 2, np.int64),
        np.empty(AXES),
        np.empty((LEVELS, AXES)),
        np.empty((lines, BOX)),
        np.empty(lines, np.int64),
        np.empty(lines, np.int64),
        np.zeros(PLACES, np.int64),
    )


@loop(**LOOP)
def lay(
    batch: Batch, plan: Plan, lines: Lines, side: int, there: Whole, old: int, since: int, sorts: bool
) -> None:
    """Lay out the lines that can be on a side of the first join; the first `old` of them are not new.

    Not `sorts`: none of them gets a cell.
    """
    join, drafts, count = join_of(plan.joins, 0), batch.drafts, 0
    source = plan.source[plan.joins.left[0] if side == 0 else plan.joins.right[0]]
    for place in range(len(there)):
        if there[place] % plan.rules[SOURCES] == source:
            batch.drafted[count] = (max(place - old + 1, 0) << SHIFT) | there[place]
            count += 1
    for axis in range(AXES):
        total, many = 0.0, 0
        for place in range(count):
            low, high = reach_since(lines, batch.drafted[place] & LINE, join, side, axis, since)
            drafts[place, 2 * axis + LOW], drafts[place, 2 * axis + HIGH] = low, high
            if 0.0 < high - low < np.inf:
                total += np.log(high - low)
                many += 1
        batch.widths[axis] = 0.5 * np.exp(total / many) if sorts and many > 0 else 0.0
    bits = _bits(count)
    along = bits if batch.widths[0] <= 0.0 else 0 if batch.widths[1] <= 0.0 else bits // 2
    batch.at[COUNT], batch.at[BITS], batch.at[BITS_ALONG] = count, bits - along, along
    last = (LEVELS << bits) + 1
    starts = batch.starts
    starts[: last + 1] = 0
    batch.half[:] = -1.0
    for place in range(count):
        cell = _cell(batch, place)
        batch.cells[place] = cell
        starts[cell + 1] += 1
    for cell in range(last):
        starts[cell + 1] += starts[cell]
    # Now `starts` of a cell is its beginning, and that of the next one its end. From the last line to the first, ends
    # move down to beginnings; then all of them move up by one.
    for place in range(count - 1, -1, -1):
        cell = batch.cells[place] + 1
        starts[cell] -= 1
        at = starts[cell]
        batch.who[at] = batch.drafted[place]
        for column in range(BOX):
            batch.boxes[at, column] = drafts[place, column]
    for cell in range(last):
        starts[cell] = starts[cell + 1]
    starts[last] = count


@loop(**LOOP)
def look(batch: Batch, box: Real, number: int, hits: Whole) -> int:
    """Write those lines into `hits` that came before a number and whose boxes meet this one; returns how many."""
    rows, along = 1 << batch.at[BITS], 1 << batch.at[BITS_ALONG]
    apart = LEVELS * rows * along
    before = number << SHIFT
    found = _meet(batch, batch.starts[apart], batch.starts[apart + 1], box, before, hits, 0)
    for level in range(LEVELS):
        if batch.half[level, 0] < 0.0:
            continue
        row, many_rows = _span(batch, box, level, 0, rows)
        first, many = _span(batch, box, level, 1, along)
        for _ in range(many_rows):
            base = (level * rows + row) * along
            stop = min(first + many, along)
            found = _meet(
                batch, batch.starts[base + first], batch.starts[base + stop], box, before, hits, found
            )
            if first + many > along:
                around = base + first + many - along
                found = _meet(batch, batch.starts[base], batch.starts[around], box, before, hits, found)
            row = (row + 1) & (rows - 1)
    return found


@loop(**LOOP, forceinline=True)
def _meet(batch: Batch, first: int, stop: int, box: Real, before: int, hits: Whole, found: int) -> int:
    """Write those of some lines into `hits` that came before and whose boxes meet this one."""
    boxes, who = batch.boxes, batch.who
    low_x, high_x, low_y, high_y = box[0], box[1], box[2], box[3]
    for place in range(first, stop):
        # Whether boxes meet is unpredictable: counting without a branch costs less than mispredicting.
        hits[found] = who[place] & LINE
        found += (
            (boxes[place, 0] <= high_x)
            & (boxes[place, 1] >= low_x)
            & (boxes[place, 2] <= high_y)
            & (boxes[place, 3] >= low_y)
            & (who[place] < before)
        )
    return found


@loop(**LOOP, forceinline=True)
def _span(batch: Batch, box: Real, level: int, axis: int, many: int) -> tuple[int, int]:
    """The first cell along an axis that can contain the middle of a box that meets this one, and how many there are; at most all."""
    if many == 1:
        return 0, 1
    width, half = batch.widths[axis] * (1 << level), batch.half[level, axis]
    first = np.floor((box[2 * axis + LOW] - half) / width)
    last = np.floor((box[2 * axis + HIGH] + half) / width)
    if not (last - first + 1.0 < many) or not (abs(first) < _FAR):
        return 0, many
    return int(first) & (many - 1), int(last - first) + 1


@loop(**LOOP, forceinline=True)
def _cell(batch: Batch, place: int) -> int:
    """The cell of a draft; records how large boxes of its level are."""
    drafts, widths = batch.drafts, batch.widths
    rows, along = 1 << batch.at[BITS], 1 << batch.at[BITS_ALONG]
    apart = LEVELS * rows * along
    if widths[0] <= 0.0 and widths[1] <= 0.0:
        return apart
    level = 0
    for axis in range(AXES):
        if widths[axis] > 0.0:
            size = drafts[place, 2 * axis + HIGH] - drafts[place, 2 * axis + LOW]
            middle = 0.5 * (drafts[place, 2 * axis + HIGH] + drafts[place, 2 * axis + LOW])
            while level < LEVELS and size > 2.0 * widths[axis] * (1 << level):
                level += 1
            if level == LEVELS or not (abs(middle / widths[axis]) < _FAR):
                return apart
    cell = level
    for axis in range(AXES):
        many = rows if axis == 0 else along
        at = 0
        if widths[axis] > 0.0:
            low, high = drafts[place, 2 * axis + LOW], drafts[place, 2 * axis + HIGH]
            at = int(np.floor(0.5 * (low + high) / (widths[axis] * (1 << level)))) & (many - 1)
            batch.half[level, axis] = max(batch.half[level, axis], 0.5 * (high - low))
        else:
            batch.half[level, axis] = 0.0
        cell = cell * many + at
    return cell


@loop(**LOOP)
def _bits(count: int) -> int:
    """The number of cells on a level, at least the number of lines: the logarithm."""
    bits = 4
    while (1 << bits) < count:
        bits += 1
    return bits
