"""The candidates of one standing query: which objects of the window are in its set, or may enter it?

The list of a query has its candidates, nearest first and newer first if they are equally near. The first k are its
set. An object outside the list can never enter the set (exact algorithms), or hardly ever (PA).

Rule 1  All that happens at one instant applies together: `begin` opens an instant, candidates are put in, `finish` compares
        the set with the previous one and emits the difference. An instant is finished when a later one begins, or with the step.
Rule 2  An object dominated by k others, newer and nearer or equally near (with ties: nearer), never enters the set again.
        `prune` drops such objects, when the list is (1 + γ) times as long as it was after the last pruning.
Rule 3  PA stores the first `CUT` and no others.
Rule 4  A member of the set that expires leaves at its own instant: `EXPIRY` is the earliest such clock.

The clock is the event time, or, where the window is a number of rows, the number of the object. Lists live in one pool of
entries; a list that needs more room moves to its end. Nothing here allocates: where room is missing, a function returns FULL or
GROW, having changed nothing that matters, and is called again with more.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

LOOP: Final[dict[str, Any]] = {"_nrt": False}
"""How the loops here and in `engine` are compiled: without counting references to the arrays that they pass to one another for
every object, which took a fifth of the time. They allocate no array."""

NEVER: Final = np.iinfo(np.int64).max
NOT_OPEN: Final = np.iinfo(np.int64).min

# Results of a call.
DONE: Final = 0
FULL: Final = 1  # no room for what is emitted
GROW: Final = 2  # no room in the pool

# Columns of `CandidateLists.table`, int64[lists, …].
BEGIN: Final = 0  # where its entries begin in the pool
LENGTH: Final = 1
ROOM: Final = 2
LIMIT: Final = 3  # it is pruned when it is longer
OPEN: Final = 4  # the instant that is open
EXPIRY: Final = 5  # the clock at which the first member of the set leaves
OLDEST: Final = 6  # not above the clock of any entry
TOPS: Final = 7  # how many are in the set
DIRTY: Final = 8  # whether the set may have changed
TAKEN: Final = 9  # the last object that came in on arrival
K: Final = 10
CUT: Final = 11  # PA: how many it stores; RAPF: the rank among recent objects up to which one enters at once
TICK: Final = 12  # the next tick to emit, or its place in the list of ticks
SINCE: Final = 13  # the event time from which on it sees objects
STALE: Final = 14  # objects taken since the thresholds were computed
LIST_COLUMNS: Final = 15

# Rows of `ids`, int64[…, pool]; `scores` is parallel to it. Most loops read one or two of them, and so touch little memory.
SEQ: Final = 0
CLOCK: Final = 1
FLAGS: Final = 2

IN_SET: Final = 1
EMITTED: Final = 2

# Columns of `emitted`, int64[…, …]; `emitted_scores` is parallel to it.
WHOSE: Final = 0
WHAT: Final = 1  # the object's SEQ
WHEN: Final = 2
HOW: Final = 3
RANK: Final = 4
EMITTED_COLUMNS: Final = 5

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
HALF: Final = 6  # half the window: no object stays recent for longer
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


class CandidateLists(NamedTuple):
    """All lists of a query set: a row of `table` each, their entries in one pool, and what is emitted of them.

    `newest` is room for k numbers; a list may grow by the share `gamma` before it is pruned again.
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
    """Recent and new objects, partition by partition and in order; and, where the window is a number of rows, the partitions' ticks.

    `last_clocks` is the clock of the last object of the same partition and instant.
    """

    values: Real
    times: Whole
    clocks: Whole
    last_clocks: Whole
    seqs: Whole
    ticks: Whole


class Partition(NamedTuple):
    """Where the new objects of a partition begin and end, and its ticks; `base` is the list of its first query."""

    base: int
    first: int
    stop: int
    first_tick: int
    stop_tick: int


@loop(**LOOP, forceinline=True)
def put(lists: CandidateLists, b: int, score: float, seq: int, clock: int) -> int:
    """Put an object in its place; GROW if the pool has no room."""
    table, ids, scores = lists.table, lists.ids, lists.scores
    length = table[b, LENGTH]
    if length == table[b, ROOM] and not _move(lists, b):
        return GROW
    start = table[b, BEGIN]
    place = _place(lists, b, score, seq)
    for p in range(start + length, place, -1):
        _copy(lists, p - 1, p)
    scores[place] = score
    ids[SEQ, place] = seq
    ids[CLOCK, place] = clock
    ids[FLAGS, place] = 0
    table[b, LENGTH] = length + 1
    if clock < table[b, OLDEST]:
        table[b, OLDEST] = clock
    # With ties the set may extend beyond the first k.
    if place - start < max(table[b, K], table[b, TOPS]) or score == scores[start + table[b, K] - 1]:
        table[b, DIRTY] = 1
    lists.room[INSERTED] += 1
    return DONE


@loop(**LOOP, forceinline=True)
def holds(lists: CandidateLists, b: int, score: float, seq: int) -> bool:
    """Whether an object is in a list."""
    place = _place(lists, b, score, seq)
    return place < lists.table[b, BEGIN] + lists.table[b, LENGTH] and lists.ids[SEQ, place] == seq


@loop(**LOOP, forceinline=True)
def _place(lists: CandidateLists, b: int, score: float, seq: int) -> int:
    """Where an object is in the pool, or would be: by its score, of equal ones the newer first."""
    ids, scores = lists.ids, lists.scores
    low, left = lists.table[b, BEGIN], lists.table[b, LENGTH]
    end = low + left
    while left > 0:  # without a branch on the comparison, which is unpredictable
        half = (left + 1) >> 1
        low += half * (scores[low + half - 1] < score)
        left -= half
    while low < end and scores[low] == score and ids[SEQ, low] > seq:
        low += 1
    return low


@loop(**LOOP, forceinline=True)
def _copy(lists: CandidateLists, source: int, target: int) -> None:
    lists.scores[target] = lists.scores[source]
    lists.ids[SEQ, target] = lists.ids[SEQ, source]
    lists.ids[CLOCK, target] = lists.ids[CLOCK, source]
    lists.ids[FLAGS, target] = lists.ids[FLAGS, source]


@loop(**LOOP)
def _move(lists: CandidateLists, b: int) -> bool:
    """Give a list twice the room, at the end of the pool."""
    table, room = lists.table, lists.room
    start, end = table[b, BEGIN], room[POOL_END]
    more = max(8, 2 * table[b, ROOM])
    if end + more > len(lists.scores):
        return False
    if start + table[b, ROOM] < end:  # the last one only grows
        for p in range(table[b, LENGTH]):
            _copy(lists, start + p, end + p)
        start = end
    table[b, BEGIN] = start
    table[b, ROOM] = more
    room[POOL_END] = max(end, start + more)
    return True


@loop(**LOOP)
def prune(lists: CandidateLists, b: int) -> None:
    """Drop dominated objects that are not members of the set."""
    table, ids, scores, newest = lists.table, lists.ids, lists.scores, lists.newest
    start, length, k = table[b, BEGIN], table[b, LENGTH], table[b, K]
    ties = lists.rules[TIES] == 1
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
            _copy(lists, p, stop)
        stop += 1
        if not ties:
            _add_newest(newest, k, seq)
    table[b, LENGTH] = stop - start
    table[b, LIMIT] = max(k, int((1.0 + lists.gamma) * (stop - start)))


@loop(**LOOP, forceinline=True)
def _add_newest(newest: Whole, k: int, seq: int) -> None:
    """Insert a number among the k greatest, and drop the least; without a branch, so that it is vectorised."""
    for p in range(k - 1):
        newest[p] = min(newest[p + 1], max(newest[p], seq))
    newest[k - 1] = max(newest[k - 1], seq)


@loop(**LOOP)
def begin(
    lists: CandidateLists, objects: Objects, partition: Partition, b: int, instant: int, clock: int
) -> int:
    """Open an instant, after finishing all earlier ones; what expires at it has left then."""
    if lists.table[b, OPEN] == instant:
        return DONE
    if not settle(lists, objects, partition, b, instant):
        return FULL
    return DONE if _open(lists, objects, partition, b, instant, clock) else FULL


@loop(**LOOP)
def settle(lists: CandidateLists, objects: Objects, partition: Partition, b: int, instant: int) -> bool:
    """Finish everything that happens before an instant, except ticks; False if there is no room to emit it."""
    table = lists.table
    if table[b, OPEN] >= instant:
        return True
    if table[b, OPEN] != NOT_OPEN and not finish(lists, b):
        return False
    while table[b, EXPIRY] != NEVER:
        stamp = clock = table[b, EXPIRY]
        if lists.rules[BY_TIME] == 0:
            # The object whose arrival removes it is one of the new ones, or has not come yet.
            row = (
                partition.stop
                if partition.first == partition.stop
                else partition.first + clock - objects.clocks[partition.first]
            )
            if row >= partition.stop:
                return True
            stamp, clock = objects.times[row], objects.last_clocks[row]
        if stamp >= instant:
            return True
        if not (_open(lists, objects, partition, b, stamp, clock) and finish(lists, b)):
            return False
    return True


@loop(**LOOP)
def _open(
    lists: CandidateLists, objects: Objects, partition: Partition, b: int, instant: int, clock: int
) -> bool:
    if lists.rules[EMISSION] == TICKS and not emit_ticks(lists, objects, partition, b, instant):
        return False
    if lists.room[EMITTED_END] + lists.table[b, LENGTH] > len(lists.emitted):
        return False
    lists.table[b, OPEN] = instant
    expire(lists, b, instant, clock)
    return True


@loop(**LOOP)
def expire(lists: CandidateLists, b: int, instant: int, clock: int) -> None:
    """Drop what is older than the window at a clock; there is room to emit it."""
    table, ids, scores, rules = lists.table, lists.ids, lists.scores, lists.rules
    gone = clock - rules[WINDOW]
    if table[b, OLDEST] > gone:
        return
    start, stop, oldest = table[b, BEGIN], table[b, BEGIN], NEVER
    for p in range(start, start + table[b, LENGTH]):
        if ids[CLOCK, p] > gone:
            oldest = min(oldest, ids[CLOCK, p])
            if stop < p:
                _copy(lists, p, stop)
            stop += 1
        elif ids[FLAGS, p] & IN_SET:
            table[b, TOPS] -= 1
            table[b, DIRTY] = 1
            if rules[EMISSION] == CHANGES:
                _emit(lists, b, ids[SEQ, p], instant, LEAVE, 0, scores[p])
    table[b, LENGTH] = stop - start
    table[b, OLDEST] = oldest


@loop(**LOOP)
def finish(lists: CandidateLists, b: int) -> bool:
    """Close the open instant: emit the difference between the set before and after it."""
    table, ids, scores, rules = lists.table, lists.ids, lists.scores, lists.rules
    if table[b, DIRTY] == 0:
        table[b, OPEN] = NOT_OPEN
        return True
    start, length = table[b, BEGIN], table[b, LENGTH]
    if lists.room[EMITTED_END] + length > len(lists.emitted):
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
                _emit(lists, b, ids[SEQ, p], instant, ENTER, 0, scores[p])
            ids[FLAGS, p] = IN_SET | EMITTED
        elif was_in and not is_in:
            ids[FLAGS, p] &= ~IN_SET
            if emission == CHANGES:
                _emit(lists, b, ids[SEQ, p], instant, LEAVE, 0, scores[p])
    table[b, LENGTH] = keeps
    table[b, TOPS] = members
    table[b, EXPIRY] = NEVER if oldest == NEVER else oldest + rules[WINDOW]
    table[b, DIRTY] = 0
    table[b, OPEN] = NOT_OPEN
    return True


@loop(**LOOP)
def emit_ticks(lists: CandidateLists, objects: Objects, partition: Partition, b: int, instant: int) -> bool:
    """Emit the set at every tick up to and including an instant; everything before has been finished."""
    table, rules = lists.table, lists.rules
    while True:
        if rules[BY_TIME] == 1:
            tick, every = table[b, TICK], rules[EVERY]
            if table[b, TOPS] == 0 and tick <= instant:
                table[b, TICK] = instant - instant % every + every
                return True
            next_tick = tick + every
        else:
            place = partition.first_tick + table[b, TICK]
            tick = objects.ticks[place] if place < partition.stop_tick else NEVER
            next_tick = table[b, TICK] + 1
        if tick > instant:
            return True
        if lists.room[EMITTED_END] + table[b, TOPS] > len(lists.emitted):
            return False
        p, rank = table[b, BEGIN], 0
        while rank < table[b, TOPS]:
            if lists.ids[FLAGS, p] & IN_SET:
                rank += 1
                _emit(lists, b, lists.ids[SEQ, p], tick, AT_TICK, rank, lists.scores[p])
            p += 1
        table[b, TICK] = next_tick


@loop(**LOOP, forceinline=True)
def _emit(lists: CandidateLists, b: int, seq: int, instant: int, how: int, rank: int, score: float) -> None:
    emitted, n = lists.emitted, lists.room[EMITTED_END]
    emitted[n, WHOSE] = b
    emitted[n, WHAT] = seq
    emitted[n, WHEN] = instant
    emitted[n, HOW] = how
    emitted[n, RANK] = rank
    lists.emitted_scores[n] = score
    lists.room[EMITTED_END] = n + 1
