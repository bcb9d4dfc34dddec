"""Which rows do answers have that are emitted at a series of ticks?

Rule 1  Rows are in the order of time, and at one time in the order of their answers. With sorted answers it is enough to count the rows
        of each tick: only ends, which are between the ticks, need sorting.
Rule 2  Ticks without rows have no place, so there are never more of them than rows.
Rule 3  Answers are processed in groups, and within each group tick by tick: the words that every tick reads stay in the cache,
        and output is written sequentially.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.answer_identity import ID
from headwater.kernels.predict.answers import NEVER
from headwater.kernels.predict.geometry.shapes import LOOP, Real, Whole
from headwater.kernels.predict.ordering import SOME, in_order, prefetch

AT_HAND: Final = 16_384
"""About so many rows of a group of answers are written before those of the next group."""


class Ticks(NamedTuple):
    """By answer: `first` int64, the number of its first tick; `many` int64, its number of ticks; `last` int64, when it is emitted once
    more: no tick, or NEVER. Ticks are `every` apart. `chances` int64: where the probabilities of its rows begin, if a query reads them."""

    first: Whole
    many: Whole
    last: Whole
    chances: Whole
    every: int


class Written(NamedTuple):
    """By row: `time` int64; `ids` int64[rows, ID] and `words`, the columns of its answer that are needed; `chance` float64, if there are any: else it is empty."""

    time: Whole
    ids: Whole
    words: tuple[Whole, ...]
    chance: Real


class _Stand(NamedTuple):
    """By answer: `place` int64, which of the ticks with rows is its first. By tick: `when` int64; `upto` int64, the place of its next row.
    `starts` int64[ticks + 1] and `which` int64[room]: where the rows of each tick begin among those of a group of answers, and the answers of
    these rows."""

    place: Whole
    when: Whole
    upto: Whole
    starts: Whole
    which: Whole


def write_ticks(ticks: Ticks, answer_words: Whole, chance: Real) -> Written:
    """All rows of sorted answers. `answer_words` int64[answers, …]: see `answer_identity`; `chance` as in `Speech`."""
    over = np.flatnonzero(ticks.last != NEVER)
    ends = ticks.last[over]
    if len(ends):
        order = in_order([ends])
        over, ends = over[order], ends[order]
    place = _closed_up(ticks.first - ticks.first.min(), ticks.many)
    when, rows = _counted(ticks, place)
    before = np.searchsorted(ends, when)
    where = np.arange(len(ends)) + np.repeat(rows, np.diff(before, prepend=0, append=len(ends)))
    count, width = int(rows[-1]) + len(ends), answer_words.shape[1] - ID
    written = Written(
        np.empty(count, np.int64),
        np.empty((count, ID), np.int64),
        tuple(np.empty(count, np.int64) for _ in range(width)),
        np.empty(count if len(chance) else 0),
    )
    _write_ends(answer_words, ticks, over, ends, where, chance, written)
    # A group of answers has at most as many rows more than needed as there are ticks.
    which = np.empty(2 * max(AT_HAND, len(when)), np.int64)
    stand = _Stand(place, when, rows[:-1] + before, np.empty(len(rows), np.int64), which)
    first = 0
    while first < len(answer_words):
        first = _write_some(answer_words, ticks, stand, first, chance, written)
    return written


def _counted(ticks: Ticks, place: Whole) -> tuple[Whole, Whole]:
    """By tick that has a place: its time, and the number of rows before it; and the number of all rows."""
    count, low = int((place + ticks.many).max()), int(ticks.first.min())
    change, gap = np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
    _count(ticks, place, low, change, gap)
    when = (low + np.arange(count) + np.maximum.accumulate(gap)) * ticks.every
    return when, np.append(0, np.cumsum(np.cumsum(change[:count])))


def _closed_up(number: Whole, many: Whole) -> Whole:
    """The numbers of first ticks, without ticks at which nothing is emitted if those are the most."""
    after = number + many
    if after.max() <= many.sum():
        return number
    order = np.argsort(number)
    gaps = number[order[1:]] - np.maximum.accumulate(after[order])[:-1]
    closed = number.copy()
    closed[order[1:]] -= np.cumsum(np.maximum(gaps, 0))
    return closed


@loop(**LOOP)
def _count(ticks: Ticks, place: Whole, low: int, change: Whole, gap: Whole) -> None:
    """By tick: how many answers more there are than at the one before, and how many ticks without rows are before it, where one begins."""
    first, many = ticks.first, ticks.many
    for answer in range(len(place)):
        if many[answer] > 0:
            at = np.uint64(place[answer])
            change[at] += 1
            change[at + np.uint64(many[answer])] -= 1
            gap[at] = first[answer] - low - place[answer]


@loop(**LOOP)
def _write_ends(
    answer_words: Whole, ticks: Ticks, over: Whole, ends: Whole, where: Whole, chance: Real, rows: Written
) -> Any:
    """Write the rows at ends: their answers, times, and places. The result has no meaning: see `prefetch`."""
    seen = 0
    for start in range(0, len(over), SOME):
        stop = min(start + SOME, len(over))
        seen ^= prefetch(answer_words, over, start, stop)
        for row in range(start, stop):
            _write(answer_words, over[row], where[row], ends[row], rows)
            if len(chance):
                rows.chance[where[row]] = chance[ticks.chances[over[row]] + ticks.many[over[row]]]
    return seen


@loop(**LOOP)
def _write_some(
    answer_words: Whole, ticks: Ticks, stand: _Stand, first: int, chance: Real, rows: Written
) -> int:
    """Write the rows at ticks of a group of answers, from the first of these on; returns the end of the group."""
    place, many, starts, which = stand.place, ticks.many, stand.starts, stand.which
    stop, count = first, 0
    starts[:] = 0
    while stop < len(place) and count < len(which) // 2:
        starts[place[stop]] += 1
        starts[place[stop] + many[stop]] -= 1
        count += many[stop]
        stop += 1
    written, row = 0, 0
    for tick in range(len(starts)):
        written += starts[tick]
        starts[tick] = row
        row += written
    for answer in range(first, stop):
        for tick in range(place[answer], place[answer] + many[answer]):
            which[starts[tick]] = answer
            starts[tick] += 1
    row = 0
    for tick in range(len(stand.when)):
        where = stand.upto[tick]
        while row < starts[tick]:
            answer = which[row]
            _write(answer_words, answer, where, stand.when[tick], rows)
            if len(chance):
                rows.chance[where] = chance[ticks.chances[answer] + tick - place[answer]]
            row += 1
            where += 1
        stand.upto[tick] = where
    return stop


@loop(**LOOP, inline="always")
def _write(answer_words: Whole, answer: int, where: int, time: int, rows: Written) -> None:
    """Write a row. Places are unsigned, so that indexing does not test for negative numbers."""
    row, place = np.uint64(answer), np.uint64(where)
    rows.time[place] = time
    for word in range(ID):
        rows.ids[place, word] = answer_words[row, word]
    for column in range(len(rows.words)):
        rows.words[column][place] = answer_words[row, ID + column]
