"""Which lines are stored if there is room for only n?

Rule 1  An update cuts its sensor's former line, even if the update itself is refused. Then lines that nothing can match any more, those with
        end + w before the update, are purged. Only if n lines are still stored, one is given up.
Rule 2  LEAST: of the stored ones and the new one that of the least contribution (see `contribution`); OLDEST: the stored one of the
        earliest update; RANDOM: any stored one, chosen by a hash of seed, key and time of the new update, so that no
        generator has a state; NEWEST: the new one. Ties: the earlier update, the smaller key, the earlier in the stream.
Rule 3  The life of a line given up goes to the neighbour of its sensor with the smaller error in its place (the former if equal), or to the
        only neighbour: that one's life now extends from its own start to the other's end, or from the other's
        start to its own end, a silence between them (at most w, or the former were purged) included. The new line counts as a
        neighbour. An empty life goes nowhere, nor does that of a refused update.
Rule 4  Lines are worth less than infinity only while their sensor has neighbours of them, so the last line of each sensor is given up last.

Cost    O(log n) an update for LEAST and OLDEST, O(1) beside purging for NEWEST, O(n) for RANDOM.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Lines, Real, Whole
from headwater.kernels.predict.lines.contribution import contribution, erring
from headwater.kernels.predict.lines.events import ADD, GIVE_UP, LIFE, PURGE, Keys, Updates, note
from headwater.kernels.predict.lines.heap import Heap, build, move, put, take
from headwater.kernels.predict.lines.slots import fill
from headwater.model.splitmix import GOLDEN, next_of_splitmix64

# Places in `Buffer.rules`, int64[…].
LIMIT: Final = 0  # how many lines are stored at most
WITHIN: Final = 1
POLICY: Final = 2
SEED: Final = 3

# Policies.
LEAST: Final = 0
NEWEST: Final = 1
OLDEST: Final = 2
RANDOM: Final = 3

# Places in `Buffer.counts`, int64[…].
STORED: Final = 0  # lines stored now
NUMBER: Final = 1  # updates seen so far
GIVEN_UP: Final = 2
HANDED_ON_US: Final = 3
EVENTS: Final = 4  # events recorded
COUNTS: Final = 5


class Buffer(NamedTuple):
    """The stored lines by slot, each with its neighbours of the same sensor (-1: none) and its worth; and two orders over them.

    `last` is the last line of each sensor by code. `by_end` and `by_worth` hold all stored lines, except that NEWEST and RANDOM
    need no order by worth.
    """

    lines: Lines
    key: Whole
    stored: NDArray[np.bool_]
    last: Whole
    before: Whole
    after: Whole
    number: Whole
    worth: Real
    by_end: Heap
    by_worth: Heap
    rules: Whole
    counts: Whole
    events: Whole


@loop(**LOOP)
def keep(buffer: Buffer, updates: Updates, keys: Keys, free: Whole, watermark: int) -> None:
    """Take updates in order, then let time pass until `watermark`. `free` are slots for as many lines as there are updates."""
    counts, rules = buffer.counts, buffer.rules
    counts[STORED] = build(buffer.by_end, buffer.stored)
    if _has_order(buffer):
        build(buffer.by_worth, buffer.stored)
    used = 0
    for i in range(len(updates.t0)):
        now = updates.t0[i]
        _cut(buffer, updates.key[i], now)
        _purge(buffer, now)
        victim = -1
        if counts[STORED] >= rules[LIMIT]:
            if rules[POLICY] == NEWEST:
                counts[GIVEN_UP] += 1
                counts[NUMBER] += 1
                continue
            if rules[POLICY] == OLDEST:
                victim = buffer.by_worth.slots[0]
            elif rules[POLICY] == RANDOM:
                victim = _any_of(buffer, keys.identity[updates.key[i]], now)
        slot = free[used]
        _insert(buffer, updates, i, slot)
        if counts[STORED] > rules[LIMIT]:
            if victim < 0:
                victim = buffer.by_worth.slots[0]
            _give_up(buffer, victim, slot, now)
        if victim != slot:
            used += 1
            _note(buffer, ADD, slot, now)
    _purge(buffer, watermark)


@loop(**LOOP)
def _cut(buffer: Buffer, code: int, now: int) -> None:
    """The sensor's former line ends where a new one begins, at the latest."""
    former = buffer.last[code]
    if former >= 0 and buffer.lines.end[former] > now:
        buffer.lines.end[former] = now
        move(buffer.by_end, buffer.counts[STORED], former)
        _note(buffer, LIFE, former, now)


@loop(**LOOP)
def _purge(buffer: Buffer, now: int) -> None:
    """Remove the lines with end + w < `now`."""
    while buffer.counts[STORED] > 0:
        slot = buffer.by_end.slots[0]
        if buffer.lines.end[slot] >= now - buffer.rules[WITHIN]:
            return
        _note(buffer, PURGE, slot, now)
        _remove(buffer, slot)


@loop(**LOOP)
def _insert(buffer: Buffer, updates: Updates, i: int, slot: int) -> None:
    """Store an update as the last line of its sensor."""
    code, counts = updates.key[i], buffer.counts
    former = buffer.last[code]
    fill(buffer.lines, buffer.key, buffer.stored, slot, updates, i)
    buffer.number[slot] = counts[NUMBER]
    buffer.before[slot], buffer.after[slot] = former, -1
    buffer.last[code] = slot
    buffer.worth[slot] = np.inf if buffer.rules[POLICY] == LEAST else 0.0
    put(buffer.by_end, counts[STORED], slot)
    if _has_order(buffer):
        put(buffer.by_worth, counts[STORED], slot)
    counts[STORED] += 1
    counts[NUMBER] += 1
    if former >= 0:
        buffer.after[former] = slot
        _weigh(buffer, former)


@loop(**LOOP)
def _give_up(buffer: Buffer, victim: int, fresh: int, now: int) -> None:
    """Remove a line and pass its life to a neighbour; `fresh` is the new line, of which nothing has been emitted yet."""
    lines, counts = buffer.lines, buffer.counts
    counts[GIVEN_UP] += 1
    if victim != fresh:
        _note(buffer, GIVE_UP, victim, now)
    start, end = lines.start[victim], lines.end[victim]
    before, after = buffer.before[victim], buffer.after[victim]
    _remove(buffer, victim)
    if start == end or (before < 0 and after < 0):
        return
    counts[HANDED_ON_US] += end - start
    if after < 0 or (before >= 0 and erring(lines, victim, before) <= erring(lines, victim, after)):
        coverer = before
        lines.end[before] = end
        move(buffer.by_end, counts[STORED], before)
    else:
        coverer = after
        lines.start[after] = start
    _weigh(buffer, coverer)
    if coverer != fresh:
        _note(buffer, LIFE, coverer, now)


@loop(**LOOP)
def _remove(buffer: Buffer, slot: int) -> None:
    """Remove a line; its neighbours become neighbours of one another."""
    counts = buffer.counts
    before, after = buffer.before[slot], buffer.after[slot]
    buffer.stored[slot] = False
    take(buffer.by_end, counts[STORED], slot)
    if _has_order(buffer):
        take(buffer.by_worth, counts[STORED], slot)
    counts[STORED] -= 1
    if after >= 0:
        buffer.before[after] = before
        _weigh(buffer, after)
    else:
        buffer.last[buffer.key[slot]] = before
    if before >= 0:
        buffer.after[before] = after
        _weigh(buffer, before)


@loop(**LOOP)
def _weigh(buffer: Buffer, slot: int) -> None:
    """Compute again what a line is worth."""
    if buffer.rules[POLICY] == LEAST:
        buffer.worth[slot] = contribution(buffer.lines, slot, buffer.before[slot], buffer.after[slot])
        move(buffer.by_worth, buffer.counts[STORED], slot)


@loop(**LOOP)
def _has_order(buffer: Buffer) -> bool:
    return buffer.rules[POLICY] == LEAST or buffer.rules[POLICY] == OLDEST


@loop(**LOOP)
def _any_of(buffer: Buffer, identity: int, now: int) -> int:
    """The stored line with the least hash of its number, salted with the new update: an arbitrary one, but always the same."""
    salt = next_of_splitmix64(
        next_of_splitmix64(next_of_splitmix64(np.uint64(buffer.rules[SEED])) ^ np.uint64(identity))
        ^ np.uint64(now)
    )
    chosen, least = -1, np.uint64(0)
    for at in range(buffer.counts[STORED]):
        slot = buffer.by_end.slots[at]
        drawn = next_of_splitmix64(salt + np.uint64(buffer.number[slot]) * GOLDEN)
        if chosen < 0 or drawn < least:
            chosen, least = slot, drawn
    return chosen


@loop(**LOOP)
def _note(buffer: Buffer, what: int, slot: int, when: int) -> None:
    lines, counts = buffer.lines, buffer.counts
    counts[EVENTS] = note(buffer.events, counts[EVENTS], what, slot, lines.start[slot], lines.end[slot], when)
