"""The loop over new rows: remember what matched, then ask every subscription it touches for an answer.

Rule 1  All matches of a row are remembered before any subscription is asked: one row may serve several clauses.
Rule 2  A subscription sees rows from its own `since` on, and is asked at most once a row.
Rule 3  A plain READINGS subscription has, whenever it is complete, told everything still in its window: all that is left to
        tell is what came after the row at which it last was complete (`told_until`).

Cost    Per row: its matches, the subscriptions that ask for them, and what they answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from headwater.kernels.correlate.book import (
    BY_SENSOR,
    HEAD,
    LATEST_PLAIN,
    LATEST_SEARCH,
    READINGS_PLAIN,
    READINGS_SEARCH,
    Book,
)
from headwater.kernels.correlate.chains import NONE, Chains, Heads, Past, remember
from headwater.kernels.correlate.search import Choice, candidates, gathered, next_event
from headwater.kernels.correlate.spots import MOST_CELLS_AROUND, Spots, list_match, nodes_around

Numbers = NDArray[np.int64]


class Found(NamedTuple):
    """What a step found.

    Complex events: subscription, row ρ and, one after the other, the rows of its clauses. Readings to tell: subscription,
    row ρ, the reading's row and attribute, four numbers each. `cuts`: rows at which a LIMIT cut.
    """

    subscription: Numbers
    newest: Numbers
    rows: Numbers
    told: Numbers
    cuts: int


@numba.njit(cache=True)
def advance(
    book: Book,
    since: Numbers,
    told_until: Numbers,
    heads: Heads,
    chains: Chains,
    spots: Spots,
    past: Past,
    match_row: Numbers,
    match_class: Numbers,
    next_match: int,
    answering: bool,
    searching: bool | None,
    telling: bool | None,
) -> Found:
    """Take matches in the order of their rows. Changes `told_until`, `heads`, `chains` and `spots`, the caller's own.

    `searching` is None where no subscription is searched, `telling` where none of those is READINGS: what is then not needed
    is not compiled either.
    """
    subscription, newest = np.empty(256, np.int64), np.empty(256, np.int64)
    rows, told = np.empty(1024, np.int64), np.empty(1024, np.int64)
    events, filled, tellings, cuts = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    asked = np.full(len(since), -1, np.int64)
    start = 0
    while start < len(match_row):
        row = match_row[start]
        time = past.time[row - past.first]
        stop = start
        while stop < len(match_row) and match_row[stop] == row:
            of_class = match_class[stop]
            heads.row[of_class], heads.time[of_class] = row, time
            mode = book.class_mode[of_class]
            if mode != HEAD:
                remember(heads, chains, next_match, of_class, row)
                if searching is not None and mode >= BY_SENSOR:
                    list_match(book, chains, spots, past, next_match, of_class, row)
                next_match += 1
            stop += 1
        entry = start if answering else stop
        start = stop
        while entry < stop:
            of_class = match_class[entry]
            entry += 1
            for a in range(book.first_asker[of_class], book.first_asker[of_class + 1]):
                s = book.asker[a]
                if asked[s] == row or time < since[s]:
                    continue
                asked[s] = row
                after = max(time - book.within_us[s], since[s] - 1)
                if not _complete(book, heads, s, after):
                    continue
                kind = book.kind[s]
                if kind == LATEST_PLAIN:
                    subscription, newest = _room(subscription, events, 1), _room(newest, events, 1)
                    subscription[events], newest[events] = s, row
                    events += 1
                    for clause in range(book.first_clause[s], book.first_clause[s + 1]):
                        rows = _room(rows, filled, 1)
                        rows[filled] = heads.row[book.clause_class[clause]]
                        filled += 1
                elif kind == READINGS_PLAIN:
                    told, tellings = _tell_rest(
                        book, heads, chains, past, s, row, after, told_until[s], told, tellings
                    )
                    told_until[s] = row
                elif kind == READINGS_SEARCH:
                    if telling is not None:
                        told, tellings = _tell_found(
                            book, heads, chains, spots, past, s, row, after, told, tellings
                        )
                elif searching is not None:
                    choice = candidates(book, heads, chains, spots, past, s, row, after, True)
                    left = book.limit[s]
                    while next_event(choice):
                        if left == 0:
                            cuts += 1
                            break
                        left -= 1
                        subscription, newest = _room(subscription, events, 1), _room(newest, events, 1)
                        subscription[events], newest[events] = s, row
                        events += 1
                        for clause in range(len(choice.chosen)):
                            rows = _room(rows, filled, 1)
                            rows[filled] = choice.row[choice.chosen[clause]]
                            filled += 1
                        if kind == LATEST_SEARCH:
                            break
    return Found(subscription[:events], newest[:events], rows[:filled], told[:tellings], int(cuts))


@numba.njit(cache=True, inline="always")
def _complete(book: Book, heads: Heads, s: int, after: int) -> bool:
    """Whether every clause has a match in the window: without that there is no event."""
    for clause in range(book.first_clause[s], book.first_clause[s + 1]):
        if heads.time[book.clause_class[clause]] <= after:
            return False
    return True


@numba.njit(cache=True, inline="always")
def _room(array: Numbers, used: int, more: int) -> Numbers:
    if used + more <= len(array):
        return array
    return np.concatenate((array, np.empty(len(array) + more, np.int64)))


@numba.njit(cache=True)
def _tell_rest(
    book: Book,
    heads: Heads,
    chains: Chains,
    past: Past,
    s: int,
    newest: int,
    after: int,
    told_until: int,
    told: Numbers,
    telling: int,
) -> tuple[Numbers, int]:
    """Tell every reading in the window of a complete plain subscription that has not been told."""
    for clause in range(book.first_clause[s], book.first_clause[s + 1]):
        match = heads.latest[book.clause_class[clause]]
        while match >= chains.first:
            row = chains.row[match - chains.first]
            if row <= told_until or past.time[row - past.first] <= after:
                break
            told = _room(told, telling, 4)
            told[telling], told[telling + 1] = s, newest
            told[telling + 2], told[telling + 3] = row, book.clause_attribute[clause]
            telling += 4
            match = chains.earlier[match - chains.first]
    return told, telling


@numba.njit(cache=True)
def _tell_found(
    book: Book,
    heads: Heads,
    chains: Chains,
    spots: Spots,
    past: Past,
    s: int,
    newest: int,
    after: int,
    told: Numbers,
    telling: int,
) -> tuple[Numbers, int]:
    """Tell every untold reading for which an event with ρ is found."""
    choice = candidates(book, heads, chains, spots, past, s, newest, after, False)
    if not next_event(choice):
        return told, telling
    told, telling = _tell(book, chains, choice, s, told, telling)
    nodes = np.empty(MOST_CELLS_AROUND, np.int64)
    base = book.first_clause[s]
    for one in range(len(choice.chosen)):
        c = choice.first[one]
        if choice.row[c] != newest or _is_repeated(choice, one, NONE):
            continue
        # With `one` bound to ρ, is there an event with this match of `other`? `one` itself: with ρ alone.
        for other in range(len(choice.chosen)):
            if _is_repeated(choice, other, one):
                continue
            of_class = book.clause_class[base + other]
            for n in range(nodes_around(book, spots, past, of_class, newest, nodes)):
                match, last = spots.untold[nodes[n]], NONE
                while (
                    match >= chains.first and past.time[chains.row[match - chains.first] - past.first] > after
                ):
                    m = match - chains.first
                    if chains.told[m]:  # leave it out from now on
                        if last == NONE:
                            spots.untold[nodes[n]] = chains.earlier[m]
                        else:
                            chains.earlier[last - chains.first] = chains.earlier[m]
                    else:
                        last = match
                        if other != one or chains.row[m] == newest:
                            bound = _narrowed(
                                book, chains, past, choice, s, one, choice.match[c], other, match
                            )
                            if next_event(bound):
                                told, telling = _tell(book, chains, bound, s, told, telling)
                    match = chains.earlier[m]
    return told, telling


@numba.njit(cache=True)
def _is_repeated(choice: Choice, clause: int, but: int) -> bool:
    """Whether an earlier clause, `but` left out, is of the same `n OF`: what holds for that one holds for this."""
    repeated = False
    for i in range(clause):
        repeated = repeated or (i != but and clause != but and choice.group[i] == choice.group[clause])
    return repeated


@numba.njit(cache=True)
def _narrowed(
    book: Book,
    chains: Chains,
    past: Past,
    choice: Choice,
    s: int,
    one: int,
    its: int,
    other: int,
    others: int,
) -> Choice:
    """The same search with clause `one` bound to match `its` and clause `other` to match `others`."""
    first = np.zeros_like(choice.first)
    match = np.empty(len(choice.match) + 2, np.int64)
    count = 0
    for i in range(len(choice.chosen)):
        if i in (one, other):
            match[count] = its if i == one else others
            count += 1
        else:
            for c in range(choice.first[i], choice.first[i + 1]):
                match[count] = choice.match[c]
                count += 1
        first[i + 1] = count
    return gathered(book, chains, past, s, choice.newest, choice.ordered, first, match[:count])


@numba.njit(cache=True)
def _tell(
    book: Book, chains: Chains, found: Choice, s: int, told: Numbers, telling: int
) -> tuple[Numbers, int]:
    """Tell those readings of an event that have not been told."""
    for i in range(len(found.chosen)):
        match = found.match[found.chosen[i]]
        if chains.told[match - chains.first]:
            continue
        _mark(book, chains, s, match - chains.first, found.attribute[i])
        told = _room(told, telling, 4)
        told[telling], told[telling + 1] = s, found.newest
        told[telling + 2], told[telling + 3] = found.row[found.chosen[i]], found.attribute[i]
        telling += 4
    return told, telling


@numba.njit(cache=True)
def _mark(book: Book, chains: Chains, s: int, m: int, attribute: int) -> None:
    """Mark a reading as told: all matches of its row, which stand side by side, that are this subscription's."""
    first, last = m, m
    while first > 0 and chains.row[first - 1] == chains.row[m]:
        first -= 1
    while last + 1 < len(chains.row) and chains.row[last + 1] == chains.row[m]:
        last += 1
    for other in range(first, last + 1):
        of_class = chains.of_class[other]
        if book.class_owner[of_class] == s and book.class_attribute[of_class] == attribute:
            chains.told[other] = True
