"""The candidates of one standing query: which objects of the window are in its set, or may come into it?

A band is the list of a query's candidates, nearest first and newer first where they are equally near. The first k are its
set. What is not in the list can never come into the set (exact algorithms), or hardly ever (PA).

Rule 1  All that happens at one instant applies together: `begin` opens an instant, candidates are put in, `finish` compares
        the set with what it was and tells. An instant is finished when a later one begins, or with the step.
Rule 2  An object dominated by k others, newer and nearer or equally near (with ties: nearer), never comes into the set again.
        `prune` drops such objects, when the band is (1 + γ) times as long as it was after the last pruning.
Rule 3  PA keeps the first `CUT` and no others.
Rule 4  A member of the set whose time is up leaves at its own instant: `EXPIRY` is the earliest such clock.

The clock is the event time, or, where the window is a number of rows, the number of the object. Bands live in one pool of
entries; a band that needs more room moves to its end. Nothing here allocates: where room is missing, a function says FULL or
GROW, having changed nothing that matters, and is called again with more.
"""

from __future__ import annotations

from typing import Any, Final

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
FULL: Final = 1  # no room for what is told
GROW: Final = 2  # no room in the pool

# Columns of `bands`, int64[bands, …].
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
TICK: Final = 12  # the next tick to tell, or its place in the list of ticks
SINCE: Final = 13  # the event time from which on it sees objects
STALE: Final = 14  # objects taken since the thresholds were worked out
BAND_COLUMNS: Final = 15

# Columns of `ids`, int64[pool, …]; `scores` stands beside it.
SEQ: Final = 0
CLOCK: Final = 1
FLAGS: Final = 2

IN_SET: Final = 1
TOLD: Final = 2

# Columns of `told`, int64[…, …]; `told_scores` stands beside it.
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
TOLD_END: Final = 1
INSERTED: Final = 2
ROOMS: Final = 3

Span = tuple[int, int, int]
"""The rows of a lane that are new: the first, one behind the last, and the clock of the first."""


@njit(**LOOP, forceinline=True)
def put(
    bands: Whole, ids: Whole, scores: Real, room: Whole, b: int, score: float, seq: int, clock: int
) -> int:
    """Put an object in its place; GROW if the pool has no room."""
    length = bands[b, LENGTH]
    if length == bands[b, ROOM] and not _move(bands, ids, scores, room, b):
        return GROW
    begin = bands[b, BEGIN]
    low, high = begin, begin + length
    while low < high:
        middle = (low + high) >> 1
        if scores[middle] < score or (scores[middle] == score and ids[middle, SEQ] > seq):
            low = middle + 1
        else:
            high = middle
    for p in range(begin + length, low, -1):
        scores[p] = scores[p - 1]
        ids[p, SEQ] = ids[p - 1, SEQ]
        ids[p, CLOCK] = ids[p - 1, CLOCK]
        ids[p, FLAGS] = ids[p - 1, FLAGS]
    scores[low] = score
    ids[low, SEQ] = seq
    ids[low, CLOCK] = clock
    ids[low, FLAGS] = 0
    bands[b, LENGTH] = length + 1
    if clock < bands[b, OLDEST]:
        bands[b, OLDEST] = clock
    # With ties the set may reach beyond the first k.
    if low - begin < max(bands[b, K], bands[b, TOPS]) or score == scores[begin + bands[b, K] - 1]:
        bands[b, DIRTY] = 1
    room[INSERTED] += 1
    return DONE


@njit(**LOOP, forceinline=True)
def holds(bands: Whole, ids: Whole, scores: Real, b: int, score: float, seq: int) -> bool:
    """Whether an object is in a band."""
    low = bands[b, BEGIN]
    high = end = low + bands[b, LENGTH]
    while low < high:
        middle = (low + high) >> 1
        if scores[middle] < score or (scores[middle] == score and ids[middle, SEQ] > seq):
            low = middle + 1
        else:
            high = middle
    return low < end and ids[low, SEQ] == seq


@njit(**LOOP)
def _move(bands: Whole, ids: Whole, scores: Real, room: Whole, b: int) -> bool:
    """Give a band twice the room, at the end of the pool."""
    begin, length = bands[b, BEGIN], bands[b, LENGTH]
    wanted = max(8, 2 * bands[b, ROOM])
    end = room[POOL_END]
    if end + wanted > len(scores):
        return False
    if begin + bands[b, ROOM] == end:
        # The last one only grows.
        room[POOL_END] = begin + wanted if begin + wanted > end else end
        bands[b, ROOM] = wanted
        return True
    for p in range(length):
        scores[end + p] = scores[begin + p]
        for column in range(3):
            ids[end + p, column] = ids[begin + p, column]
    bands[b, BEGIN] = end
    bands[b, ROOM] = wanted
    room[POOL_END] = end + wanted
    return True


@njit(**LOOP)
def prune(bands: Whole, ids: Whole, scores: Real, rules: Whole, newest: Whole, b: int, gamma: float) -> None:
    """Drop what is dominated, members of the set aside; `newest` is room for k numbers."""
    begin, length, k = bands[b, BEGIN], bands[b, LENGTH], bands[b, K]
    ties = rules[TIES] == 1
    known = 0  # how many of the nearer ones are in `newest`, the k newest of them, oldest on top
    kept = begin
    waiting = begin  # where the entries begin that are as near as this one, with ties
    for p in range(begin, begin + length):
        seq = ids[p, SEQ]
        if ties:
            while waiting < kept and scores[waiting] < scores[p]:
                known = _push_newest(newest, known, k, ids[waiting, SEQ])
                waiting += 1
        if (ids[p, FLAGS] & IN_SET) == 0 and known == k and newest[0] > seq:
            continue
        if kept < p:
            scores[kept] = scores[p]
            ids[kept, SEQ] = seq
            ids[kept, CLOCK] = ids[p, CLOCK]
            ids[kept, FLAGS] = ids[p, FLAGS]
        kept += 1
        if not ties:
            known = _push_newest(newest, known, k, seq)
    bands[b, LENGTH] = kept - begin
    bands[b, LIMIT] = max(k, int((1.0 + gamma) * (kept - begin)))


@njit(**LOOP)
def _push_newest(newest: Whole, known: int, k: int, seq: int) -> int:
    """Remember a number if it is one of the k greatest: a heap with the least on top."""
    if known < k:
        p = known
        while p > 0 and newest[(p - 1) >> 1] > seq:
            newest[p] = newest[(p - 1) >> 1]
            p = (p - 1) >> 1
        newest[p] = seq
        return known + 1
    if seq <= newest[0]:
        return known
    p = 0
    while True:
        child = 2 * p + 1
        if child >= k:
            break
        if child + 1 < k and newest[child + 1] < newest[child]:
            child += 1
        if newest[child] >= seq:
            break
        newest[p] = newest[child]
        p = child
    newest[p] = seq
    return known


@njit(**LOOP)
def begin(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    times: Whole,
    last_clocks: Whole,
    span: Span,
    ticks: Whole,
    b: int,
    instant: int,
    clock: int,
) -> int:
    """Open an instant, having finished all earlier ones; what expires at it has gone then."""
    if bands[b, OPEN] == instant:
        return DONE
    if not settle(
        bands, ids, scores, rules, told, told_scores, room, times, last_clocks, span, ticks, b, instant
    ):
        return FULL
    if not _open(bands, ids, scores, rules, told, told_scores, room, ticks, b, instant, clock):
        return FULL
    return DONE


@njit(**LOOP)
def settle(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    times: Whole,
    last_clocks: Whole,
    span: Span,
    ticks: Whole,
    b: int,
    instant: int,
) -> bool:
    """Finish everything that happens before an instant, ticks aside; False if there is no room to tell it."""
    if bands[b, OPEN] >= instant:
        return True
    if bands[b, OPEN] != NOT_OPEN and not finish(bands, ids, scores, rules, told, told_scores, room, b):
        return False
    first, stop, first_clock = span
    while True:
        expiry = bands[b, EXPIRY]
        if expiry == NEVER:
            return True
        stamp, clock = expiry, expiry
        if rules[BY_TIME] == 0:
            row = first + expiry - first_clock
            if row >= stop:
                return True
            stamp, clock = times[row], last_clocks[row]
        if stamp >= instant:
            return True
        if not _open(bands, ids, scores, rules, told, told_scores, room, ticks, b, stamp, clock):
            return False
        if not finish(bands, ids, scores, rules, told, told_scores, room, b):
            return False


@njit(**LOOP)
def _open(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    ticks: Whole,
    b: int,
    instant: int,
    clock: int,
) -> bool:
    if rules[EMISSION] == TICKS and not tell_ticks(
        bands, ids, scores, rules, told, told_scores, room, ticks, b, instant
    ):
        return False
    if room[TOLD_END] + bands[b, LENGTH] > len(told):
        return False
    bands[b, OPEN] = instant
    expire(bands, ids, scores, rules, told, told_scores, room, b, instant, clock)
    return True


@njit(**LOOP)
def expire(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    b: int,
    instant: int,
    clock: int,
) -> None:
    """Drop what the window has left behind at a clock; there is room to tell it."""
    window = rules[WINDOW]
    if bands[b, OLDEST] > clock - window:
        return
    start, kept, oldest = bands[b, BEGIN], bands[b, BEGIN], NEVER
    for p in range(start, start + bands[b, LENGTH]):
        if ids[p, CLOCK] <= clock - window:
            if ids[p, FLAGS] & IN_SET:
                bands[b, TOPS] -= 1
                bands[b, DIRTY] = 1
                if rules[EMISSION] == CHANGES:
                    _tell(told, told_scores, room, b, ids[p, SEQ], instant, LEAVE, 0, scores[p])
            continue
        oldest = min(oldest, ids[p, CLOCK])
        if kept < p:
            scores[kept] = scores[p]
            for column in range(3):
                ids[kept, column] = ids[p, column]
        kept += 1
    bands[b, LENGTH] = kept - start
    bands[b, OLDEST] = oldest


@njit(**LOOP)
def finish(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    b: int,
) -> bool:
    """Close the open instant: the set is what it is now, and what changed is told."""
    if bands[b, DIRTY] == 0:
        bands[b, OPEN] = NOT_OPEN
        return True
    start, length, k = bands[b, BEGIN], bands[b, LENGTH], bands[b, K]
    if room[TOLD_END] + length > len(told):
        return False
    instant, emission = bands[b, OPEN], rules[EMISSION]
    keeps = min(length, bands[b, CUT]) if rules[ALGORITHM] == PA else length
    members = min(k, keeps)
    if rules[TIES] == 1:
        while 0 < members < keeps and scores[start + members] == scores[start + members - 1]:
            members += 1
    were = bands[b, TOPS]
    oldest = NEVER
    for p in range(start, start + length):
        is_in = p - start < members
        was_in = (ids[p, FLAGS] & IN_SET) != 0
        if not is_in and were == 0:
            break
        if is_in:
            oldest = min(oldest, ids[p, CLOCK])
        if was_in:
            were -= 1
        if is_in and not was_in:
            if emission == CHANGES or (emission == ENTERS and (ids[p, FLAGS] & TOLD) == 0):
                _tell(told, told_scores, room, b, ids[p, SEQ], instant, ENTER, 0, scores[p])
            ids[p, FLAGS] = IN_SET | TOLD
        elif was_in and not is_in:
            ids[p, FLAGS] &= ~IN_SET
            if emission == CHANGES:
                _tell(told, told_scores, room, b, ids[p, SEQ], instant, LEAVE, 0, scores[p])
    bands[b, LENGTH] = keeps
    bands[b, TOPS] = members
    bands[b, EXPIRY] = NEVER if oldest == NEVER else oldest + rules[WINDOW]
    bands[b, DIRTY] = 0
    bands[b, OPEN] = NOT_OPEN
    return True


@njit(**LOOP)
def tell_ticks(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    ticks: Whole,
    b: int,
    instant: int,
) -> bool:
    """Tell the set at every tick up to and including an instant; all that happens before has been finished."""
    while True:
        if rules[BY_TIME] == 1:
            tick, every = bands[b, TICK], rules[EVERY]
            if bands[b, TOPS] == 0 and tick <= instant:
                bands[b, TICK] = instant - instant % every + every
                return True
            following = tick + every
        else:
            place = bands[b, TICK]
            tick = ticks[place] if place < len(ticks) else NEVER
            following = place + 1
        if tick > instant:
            return True
        if room[TOLD_END] + bands[b, TOPS] > len(told):
            return False
        p, rank = bands[b, BEGIN], 0
        while rank < bands[b, TOPS]:
            if ids[p, FLAGS] & IN_SET:
                rank += 1
                _tell(told, told_scores, room, b, ids[p, SEQ], tick, AT_TICK, rank, scores[p])
            p += 1
        bands[b, TICK] = following


@njit(**LOOP, inline="always")
def _tell(
    told: Whole,
    told_scores: Real,
    room: Whole,
    b: int,
    seq: int,
    instant: int,
    how: int,
    rank: int,
    score: float,
) -> None:
    n = room[TOLD_END]
    told[n, WHOSE] = b
    told[n, WHAT] = seq
    told[n, WHEN] = instant
    told[n, HOW] = how
    told[n, RANK] = rank
    told_scores[n] = score
    room[TOLD_END] = n + 1
