"""The candidates of one standing query: which objects of the window are in its set, or may come into it?

A band is the list of a query's candidates, nearest first and newer first where they are equally near. The first k are its
set. What is not in the list can never come into the set (exact algorithms), or hardly ever (PA).

Rule 1  All that happens at one instant applies together: `begin` opens an instant, candidates are put in, `finish` compares
        the set with what it was and emits the difference. An instant is finished when a later one begins, or with the step.
Rule 2  An object dominated by k others, newer and nearer or equally near (with ties: nearer), never comes into the set again.
        `prune` drops such objects, when the band is (1 + γ) times as long as it was after the last pruning.
Rule 3  PA keeps the first `CUT` and no others.
Rule 4  A member of the set whose time is up leaves at its own instant: `EXPIRY` is the earliest such clock.

The clock is the event time, or, where the window is a number of rows, the number of the object. Bands live in one pool of
entries; a band that needs more room moves to its end. Nothing here allocates: where room is missing, a function says FULL or
GROW, having changed nothing that matters, and is called again with more.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

LOOP: Final[dict[str, Any]] = {"cache": True, "_nrt": False}
"""How the loops here and in `engine` are compiled: without counting references to the arrays that they hand to one another for
every object, which took a fifth of the time. Nothing in them makes an array."""

NEVER: Final = np.iinfo(np.int64).max
NOT_OPEN: Final = np.iinfo(np.int64).min

# What a call came to.
DONE: Final = 0
FULL: Final = 1  # no room for what is emitted
GROW: Final = 2  # no room in the pool

# Columns of `Bands.table`, int64[bands, …].
BEGIN: Final = 0  # where its entries begin in the pool
LENGTH: Final = 1
ROOM: Final = 2
LIMIT: Final = 3  # it is pruned when it is longer
OPEN: Final = 4  # the instant that is open
EXPIRY: Final = 5  # the clock at which the first member of the set goes
OLDEST: Final = 6  # not above the clock of any entry
TOPS: Final = 7  # how many are in the set
DIRTY: Final = 8  # whether the set may have changed
TAKEN: Final = 9  # the last object that came in on arrival
K: Final = 10
CUT: Final = 11  # PA: how many it keeps; RAPF: the rank among recent objects up to which one comes in at once
TICK: Final = 12  # the next tick to emit, or its place in the list of ticks
SINCE: Final = 13  # the event time from which on it sees objects
STALE: Final = 14  # objects taken since the thresholds were worked out
BAND_COLUMNS: Final = 15

# Rows of `ids`, int64[…, pool]; `scores` stands beside it. Most loops look at one or two of them, and so does the memory.
SEQ: Final = 0
CLOCK: Final = 1
FLAGS: Final = 2

IN_SET: Final = 1
EMITTED: Final = 2

# Columns of `emitted`, int64[…, …]; `emitted_scores` stands beside it.
WHOSE: Final = 0
WHAT: Final = 1  # the object's SEQ
WHEN: Final = 2
HOW: Final = 3
RANK: Final = 4
TOLD_COLUMNS: Final = 5

LEAVE: Final = 0
ENTER: Final = 1
AT_TICK: Final = 2

# Places in `rules`, int64[…].
WINDOW: Final = 0
BY_TIME: Final = 1
TIES: Final = 2
ALGORITHM: Final = 3
EMISSION: Final = 4
EVERY: Final = 5
HALF: Final = 6  # half the window: no object stays longer among the recent ones
RECENT: Final = 7  # how many objects are recent, at most
RULES: Final = 8

RA: Final = 0
RAPF: Final = 1
PA: Final = 2

ENTERS: Final = 0
CHANGES: Final = 1
TICKS: Final = 2

# Places in `room`, int64[…]: what is used.
POOL_END: Final = 0
EMITTED_END: Final = 1
INSERTED: Final = 2
ROOMS: Final = 3


class Bands(NamedTuple):
    """All bands of a field: a row of `table` each, their entries in one pool, and what is emitted of them.

    `newest` is room for k numbers; a band may grow by the share `gamma` before it is pruned again.
    """

    table: Whole
    ids: Whole
    scores: Real
    emitted: Whole
    emitted_scores: Real
    room: Whole
    rules: Whole
    newest: Whole
    gamma: float


class Objects(NamedTuple):
    """Recent and new objects, lane by lane and in order; and, where the window is a number of rows, the lanes' ticks.

    `last_clocks` is the clock of the last object of the same lane and instant.
    """

    values: Real
    times: Whole
    clocks: Whole
    last_clocks: Whole
    seqs: Whole
    ticks: Whole


class Lane(NamedTuple):
    """Where the new objects of a lane begin and end, and its ticks; `base` is the band of its first query."""

    base: int
    first: int
    stop: int
    first_tick: int
    stop_tick: int


@njit(**LOOP, forceinline=True)
def put(bands: Bands, b: int, score: float, seq: int, clock: int) -> int:
    """Put an object in its place; GROW if the pool has no room."""
    table, ids, scores = bands.table, bands.ids, bands.scores
    length = table[b, LENGTH]
    if length == table[b, ROOM] and not _move(bands, b):
        return GROW
    start = table[b, BEGIN]
    place = _place(bands, b, score, seq)
    for p in range(start + length, place, -1):
        _copy(bands, p - 1, p)
    scores[place] = score
    ids[SEQ, place] = seq
    ids[CLOCK, place] = clock
    ids[FLAGS, place] = 0
    table[b, LENGTH] = length + 1
    if clock < table[b, OLDEST]:
        table[b, OLDEST] = clock
    # With ties the set may reach beyond the first k.
    if place - start < max(table[b, K], table[b, TOPS]) or score == scores[start + table[b, K] - 1]:
        table[b, DIRTY] = 1
    bands.room[INSERTED] += 1
    return DONE


@njit(**LOOP, forceinline=True)
def holds(bands: Bands, b: int, score: float, seq: int) -> bool:
    """Whether an object is in a band."""
    place = _place(bands, b, score, seq)
    return place < bands.table[b, BEGIN] + bands.table[b, LENGTH] and bands.ids[SEQ, place] == seq


@njit(**LOOP, forceinline=True)
def _place(bands: Bands, b: int, score: float, seq: int) -> int:
    """Where in the pool an object stands in a band, or would: by its score, of equal ones the newer first."""
    ids, scores = bands.ids, bands.scores
    low, left = bands.table[b, BEGIN], bands.table[b, LENGTH]
    end = low + left
    while left > 0:  # without a branch on what is compared, which cannot be foreseen
        half = (left + 1) >> 1
        low += half * (scores[low + half - 1] < score)
        left -= half
    while low < end and scores[low] == score and ids[SEQ, low] > seq:
        low += 1
    return low


@njit(**LOOP, forceinline=True)
def _copy(bands: Bands, source: int, target: int) -> None:
    bands.scores[target] = bands.scores[source]
    bands.ids[SEQ, target] = bands.ids[SEQ, source]
    bands.ids[CLOCK, target] = bands.ids[CLOCK, source]
    bands.ids[FLAGS, target] = bands.ids[FLAGS, source]


@njit(**LOOP)
def _move(bands: Bands, b: int) -> bool:
    """Give a band twice the room, at the end of the pool."""
    table, room = bands.table, bands.room
    start, end = table[b, BEGIN], room[POOL_END]
    more = max(8, 2 * table[b, ROOM])
    if end + more > len(bands.scores):
        return False
    if start + table[b, ROOM] < end:  # the last one only grows
        for p in range(table[b, LENGTH]):
            _copy(bands, start + p, end + p)
        start = end
    table[b, BEGIN] = start
    table[b, ROOM] = more
    room[POOL_END] = max(end, start + more)
    return True


@njit(**LOOP)
def prune(bands: Bands, b: int) -> None:
    """Drop what is dominated, members of the set aside."""
    table, ids, scores, newest = bands.table, bands.ids, bands.scores, bands.newest
    start, length, k = table[b, BEGIN], table[b, LENGTH], table[b, K]
    ties = bands.rules[TIES] == 1
    for p in range(k):  # the k newest of the nearer ones, oldest first
        newest[p] = NOT_OPEN
    stop = start
    waiting = start  # where the entries begin that are as near as this one, with ties
    for p in range(start, start + length):
        seq = ids[SEQ, p]
        if ties:
            while waiting < stop and scores[waiting] < scores[p]:
                _add_newest(newest, k, ids[SEQ, waiting])
                waiting += 1
        if (ids[FLAGS, p] & IN_SET) == 0 and newest[0] > seq:
            continue
        if stop < p:
            _copy(bands, p, stop)
        stop += 1
        if not ties:
            _add_newest(newest, k, seq)
    table[b, LENGTH] = stop - start
    table[b, LIMIT] = max(k, int((1.0 + bands.gamma) * (stop - start)))


@njit(**LOOP, forceinline=True)
def _add_newest(newest: Whole, k: int, seq: int) -> None:
    """Put a number in its place among the k greatest, the least of which goes; no branch, so it is several at a time."""
    for p in range(k - 1):
        newest[p] = min(newest[p + 1], max(newest[p], seq))
    newest[k - 1] = max(newest[k - 1], seq)


@njit(**LOOP)
def begin(bands: Bands, objects: Objects, lane: Lane, b: int, instant: int, clock: int) -> int:
    """Open an instant, having finished all earlier ones; what expires at it has gone then."""
    if bands.table[b, OPEN] == instant:
        return DONE
    if not settle(bands, objects, lane, b, instant):
        return FULL
    return DONE if _open(bands, objects, lane, b, instant, clock) else FULL


@njit(**LOOP)
def settle(bands: Bands, objects: Objects, lane: Lane, b: int, instant: int) -> bool:
    """Finish everything that happens before an instant, ticks aside; False if there is no room to emit it."""
    table = bands.table
    if table[b, OPEN] >= instant:
        return True
    if table[b, OPEN] != NOT_OPEN and not finish(bands, b):
        return False
    while table[b, EXPIRY] != NEVER:
        stamp = clock = table[b, EXPIRY]
        if bands.rules[BY_TIME] == 0:
            # The object whose coming takes it out is one of the new ones, or has not come yet.
            row = lane.stop if lane.first == lane.stop else lane.first + clock - objects.clocks[lane.first]
            if row >= lane.stop:
                return True
            stamp, clock = objects.times[row], objects.last_clocks[row]
        if stamp >= instant:
            return True
        if not (_open(bands, objects, lane, b, stamp, clock) and finish(bands, b)):
            return False
    return True


@njit(**LOOP)
def _open(bands: Bands, objects: Objects, lane: Lane, b: int, instant: int, clock: int) -> bool:
    if bands.rules[EMISSION] == TICKS and not emit_ticks(bands, objects, lane, b, instant):
        return False
    if bands.room[EMITTED_END] + bands.table[b, LENGTH] > len(bands.emitted):
        return False
    bands.table[b, OPEN] = instant
    expire(bands, b, instant, clock)
    return True


@njit(**LOOP)
def expire(bands: Bands, b: int, instant: int, clock: int) -> None:
    """Drop what is older than the window at a clock; there is room to emit it."""
    table, ids, scores, rules = bands.table, bands.ids, bands.scores, bands.rules
    gone = clock - rules[WINDOW]
    if table[b, OLDEST] > gone:
        return
    start, stop, oldest = table[b, BEGIN], table[b, BEGIN], NEVER
    for p in range(start, start + table[b, LENGTH]):
        if ids[CLOCK, p] > gone:
            oldest = min(oldest, ids[CLOCK, p])
            if stop < p:
                _copy(bands, p, stop)
            stop += 1
        elif ids[FLAGS, p] & IN_SET:
            table[b, TOPS] -= 1
            table[b, DIRTY] = 1
            if rules[EMISSION] == CHANGES:
                _emit(bands, b, ids[SEQ, p], instant, LEAVE, 0, scores[p])
    table[b, LENGTH] = stop - start
    table[b, OLDEST] = oldest


@njit(**LOOP)
def finish(bands: Bands, b: int) -> bool:
    """Close the open instant: the set is what it is now, and what changed is emitted."""
    table, ids, scores, rules = bands.table, bands.ids, bands.scores, bands.rules
    if table[b, DIRTY] == 0:
        table[b, OPEN] = NOT_OPEN
        return True
    start, length = table[b, BEGIN], table[b, LENGTH]
    if bands.room[EMITTED_END] + length > len(bands.emitted):
        return False
    instant, emission = table[b, OPEN], rules[EMISSION]
    keeps = min(length, table[b, CUT]) if rules[ALGORITHM] == PA else length
    members = min(table[b, K], keeps)
    if rules[TIES] == 1:
        while 0 < members < keeps and scores[start + members] == scores[start + members - 1]:
            members += 1
    were, oldest = table[b, TOPS], NEVER
    for p in range(start, start + length):
        is_in = p - start < members
        was_in = (ids[FLAGS, p] & IN_SET) != 0
        if not is_in and were == 0:
            break
        were -= was_in
        if is_in:
            oldest = min(oldest, ids[CLOCK, p])
        if is_in and not was_in:
            if emission == CHANGES or (emission == ENTERS and (ids[FLAGS, p] & EMITTED) == 0):
                _emit(bands, b, ids[SEQ, p], instant, ENTER, 0, scores[p])
            ids[FLAGS, p] = IN_SET | EMITTED
        elif was_in and not is_in:
            ids[FLAGS, p] &= ~IN_SET
            if emission == CHANGES:
                _emit(bands, b, ids[SEQ, p], instant, LEAVE, 0, scores[p])
    table[b, LENGTH] = keeps
    table[b, TOPS] = members
    table[b, EXPIRY] = NEVER if oldest == NEVER else oldest + rules[WINDOW]
    table[b, DIRTY] = 0
    table[b, OPEN] = NOT_OPEN
    return True


@njit(**LOOP)
def emit_ticks(bands: Bands, objects: Objects, lane: Lane, b: int, instant: int) -> bool:
    """Emit the set at every tick up to and including an instant; all that happens before has been finished."""
    table, rules = bands.table, bands.rules
    while True:
        if rules[BY_TIME] == 1:
            tick, every = table[b, TICK], rules[EVERY]
            if table[b, TOPS] == 0 and tick <= instant:
                table[b, TICK] = instant - instant % every + every
                return True
            next_tick = tick + every
        else:
            place = lane.first_tick + table[b, TICK]
            tick = objects.ticks[place] if place < lane.stop_tick else NEVER
            next_tick = table[b, TICK] + 1
        if tick > instant:
            return True
        if bands.room[EMITTED_END] + table[b, TOPS] > len(bands.emitted):
            return False
        p, rank = table[b, BEGIN], 0
        while rank < table[b, TOPS]:
            if bands.ids[FLAGS, p] & IN_SET:
                rank += 1
                _emit(bands, b, bands.ids[SEQ, p], tick, AT_TICK, rank, bands.scores[p])
            p += 1
        table[b, TICK] = next_tick


@njit(**LOOP, forceinline=True)
def _emit(bands: Bands, b: int, seq: int, instant: int, how: int, rank: int, score: float) -> None:
    emitted, n = bands.emitted, bands.room[EMITTED_END]
    emitted[n, WHOSE] = b
    emitted[n, WHAT] = seq
    emitted[n, WHEN] = instant
    emitted[n, HOW] = how
    emitted[n, RANK] = rank
    bands.emitted_scores[n] = score
    bands.room[EMITTED_END] = n + 1
