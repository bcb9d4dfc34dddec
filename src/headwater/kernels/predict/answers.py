"""The answers that are not over yet: their lines, their begins and ends, and when each is next due.

Rule 1  An answer is in one list for each of its lines, so that a line that changes finds all its answers.
Rule 2  `due` is the next time at which time alone emits a row of it, or drops it. It is one array without gaps, which is
        scanned once a step: that costs less than the copy which a step makes of it anyway.
Rule 3  Nothing here allocates: where room is missing, a function says so, having changed nothing.

Memory  One row per answer that has not ended before the watermark.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Whole

NEVER: Final = np.iinfo(np.int64).max

# Columns of `Table.rows`, int64[…, FIRST + 3 · aliases].
BEGINS: Final = 0
ENDS: Final = 1
MADE: Final = 2  # the time of the update that made it
PIECE: Final = 3
FLAGS: Final = 4
FIRST: Final = (
    5  # its lines, one per alias; then the next one's places in their lists, then the previous ones'
)

EMITTED: Final = 1  # FLAGS: a row of it has been emitted (TENTATIVE)

# Places in `Table.at`, int64[…].
USED: Final = 0  # rows ever used
FREE: Final = 1  # the first of those that are free again, or -1; the next one is in BEGINS
FRESH: Final = 2  # rows taken that are in no list yet
COUNT: Final = 3  # rows in use
PLACES: Final = 4


class Table(NamedTuple):
    """`rows` int64[room, …], `due` int64[room] (NEVER where there is no answer), `heads` int64[lines]: the first place in each line's list, or -1, as row · aliases + alias; `fresh`
    int64[room]: rows taken that are in no list yet."""

    rows: Whole
    due: Whole
    heads: Whole
    fresh: Whole
    at: Whole


@loop(**LOOP, forceinline=True)
def take(table: Table) -> int:
    """A row for a new answer, or -1."""
    at = table.at
    row = at[FREE]
    if row >= 0:
        at[FREE] = table.rows[row, BEGINS]
    elif at[USED] < len(table.rows):
        row = at[USED]
        at[USED] += 1
    else:
        return -1
    table.fresh[at[FRESH]] = row
    at[FRESH] += 1
    return row


@loop(**LOOP, forceinline=True)
def give_back(table: Table) -> None:
    """Free the rows that were taken last and are in no list yet."""
    at = table.at
    while at[FRESH] > 0:
        at[FRESH] -= 1
        row = table.fresh[at[FRESH]]
        table.due[row] = NEVER
        table.rows[row, BEGINS] = at[FREE]
        at[FREE] = row


@loop(**LOOP, forceinline=True)
def enlist(table: Table, row: int, many: int) -> None:
    """Put an answer into the lists of its lines."""
    rows, heads = table.rows, table.heads
    table.at[COUNT] += 1
    for alias in range(many):
        line = rows[row, FIRST + alias]
        after = heads[line]
        rows[row, FIRST + many + alias] = after
        rows[row, FIRST + 2 * many + alias] = -1 - line
        if after >= 0:
            rows[after // many, FIRST + 2 * many + after % many] = row * many + alias
        heads[line] = row * many + alias


@loop(**LOOP, forceinline=True)
def forget(table: Table, row: int, many: int) -> None:
    """Remove an answer from all lists and free its row."""
    rows, at = table.rows, table.at
    for alias in range(many):
        after, before = rows[row, FIRST + many + alias], rows[row, FIRST + 2 * many + alias]
        if before < 0:
            table.heads[-1 - before] = after
        else:
            rows[before // many, FIRST + many + before % many] = after
        if after >= 0:
            rows[after // many, FIRST + 2 * many + after % many] = before
    table.due[row] = NEVER
    rows[row, BEGINS] = at[FREE]
    at[FREE] = row
    at[COUNT] -= 1


@loop(**LOOP)
def enlist_all(table: Table, many: int) -> None:
    """Put all rows in use into the lists of their lines; a row that is not due is free."""
    at = table.at
    at[FREE], at[COUNT] = -1, 0
    for row in range(at[USED] - 1, -1, -1):
        if table.due[row] == NEVER:
            table.rows[row, BEGINS] = at[FREE]
            at[FREE] = row
        else:
            enlist(table, row, many)
