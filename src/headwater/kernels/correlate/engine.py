"""The loop over new rows: store the matches of a row, then answer for every subscription it touches.

Rule 1  All matches of a row are stored before any subscription is answered: one row may serve several clauses.
Rule 2  A subscription sees rows from its own `since` on, and is answered at most once a row.
Rule 3  A plain READINGS subscription emits, whenever it is complete, everything in its window that it has not emitted: that is
        everything after the row at which it last was complete (`emitted_until`).

Cost    Per row: its matches, the subscriptions that have them, and their answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.chains import NONE, Chains, Heads, Past, remember
from headwater.kernels.correlate.match import Matches
from headwater.kernels.correlate.past_matches import MOST_CELLS_NEAR, History, list_match, nodes_near
from headwater.kernels.correlate.search import ClauseSearch, candidates, gathered, next_event
from headwater.kernels.correlate.subscription_table import (
    BY_SENSOR,
    HEAD,
    LATEST_PLAIN,
    LATEST_SEARCH,
    READINGS_PLAIN,
    READINGS_SEARCH,
    SubscriptionTable,
)

Numbers = NDArray[np.int64]


class StepFindings(NamedTuple):
    """The results of a step, in arrays with room to grow.

    Complex events: subscription, row ρ and, one after the other, the rows of its clauses. Readings to emit: subscription,
    row ρ, the reading's row and attribute, four numbers each. `counts`: events, rows of events, numbers of readings to emit,
    and rows at which a LIMIT cut.
    """

    subscription: Numbers
    newest: Numbers
    rows: Numbers
    emitted: Numbers
    counts: Numbers


EVENTS, ROWS, EMITTED, CUTS = range(4)


def advance(
    history: History,
    since: Numbers,
    emitted_until: Numbers,
    matches: Matches,
    *,
    next_match: int,
    answering: bool,
) -> StepFindings:
    """Take matches in the order of their rows. Changes `emitted_until` and the arrays of `history`, which belong to the caller."""
    subscriptions = history.subscriptions
    # None if nothing is searched, or emitted after a search: then that part of the loop is not even compiled.
    searching = bool((subscriptions.kind >= LATEST_SEARCH).any()) or None
    emitting = bool((subscriptions.kind == READINGS_SEARCH).any()) or None
    found = _advance(
        history,
        since,
        emitted_until,
        matches,
        next_match,
        answering,
        searching,
        emitting,
    )
    counts = found.counts.tolist()
    return StepFindings(
        found.subscription[: counts[EVENTS]],
        found.newest[: counts[EVENTS]],
        found.rows[: counts[ROWS]],
        found.emitted[: counts[EMITTED]],
        found.counts,
    )


@loop
def _advance(
    history: History,
    since: Numbers,
    emitted_until: Numbers,
    matches: Matches,
    next_match: int,
    answering: bool,
    searching: bool | None,
    emitting: bool | None,
) -> StepFindings:
    subscriptions, heads, chains, lists, past = history
    match_row, match_class = matches
    found = StepFindings(
        np.empty(subscriptions.room, np.int64),
        np.empty(subscriptions.room, np.int64),
        np.empty(4 * subscriptions.room, np.int64),
        np.empty(4 * subscriptions.room, np.int64),
        np.zeros(4, np.int64),
    )
    answered_at = np.full(len(since), -1, np.int64)
    start = 0
    while start < len(match_row):
        row = match_row[start]
        time = past.time[row - past.first]
        stop = start
        while stop < len(match_row) and match_row[stop] == row:
            of_class = match_class[stop]
            heads.row[of_class], heads.time[of_class] = row, time
            mode = subscriptions.class_mode[of_class]
            if mode != HEAD:
                remember(heads, chains, next_match, of_class, row)
                if searching is not None and mode >= BY_SENSOR:
                    list_match(subscriptions, chains, lists, past, next_match, of_class, row)
                next_match += 1
            stop += 1
        for entry in range(start, stop if answering else start):
            of_class = match_class[entry]
            for a in range(
                subscriptions.first_subscriber[of_class], subscriptions.first_subscriber[of_class + 1]
            ):
                s = subscriptions.subscriber[a]
                if answered_at[s] == row or time < since[s]:
                    continue
                answered_at[s] = row
                after = max(time - subscriptions.within_us[s], since[s] - 1)
                if not _complete(subscriptions, heads, s, after):
                    continue
                kind = subscriptions.kind[s]
                if kind == LATEST_PLAIN:
                    found = _note_heads(subscriptions, heads, found, s, row)
                elif kind == READINGS_PLAIN:
                    found = _emit_rest(history, found, s, row, after, emitted_until[s])
                    emitted_until[s] = row
                elif kind == READINGS_SEARCH:
                    if emitting is not None:
                        found = _emit_found(history, found, s, row, after)
                elif searching is not None:
                    found = _note_events(history, found, s, row, after)
        start = stop
    return found


@loop(inline="always")
def _complete(subscriptions: SubscriptionTable, heads: Heads, s: int, after: int) -> bool:
    """Whether every clause has a match in the window: without that there is no event."""
    for clause in range(subscriptions.first_clause[s], subscriptions.first_clause[s + 1]):
        if heads.time[subscriptions.clause_class[clause]] <= after:
            return False
    return True


@loop
def _with_room(found: StepFindings, rows: int) -> StepFindings:
    """Room for one more event of so many rows."""
    if found.counts[EVENTS] < len(found.newest) and found.counts[ROWS] + rows <= len(found.rows):
        return found
    return StepFindings(
        np.concatenate((found.subscription, np.empty_like(found.subscription))),
        np.concatenate((found.newest, np.empty_like(found.newest))),
        np.concatenate((found.rows, np.empty(len(found.rows) + rows, np.int64))),
        found.emitted,
        found.counts,
    )


@loop
def _note(found: StepFindings, s: int, newest: int) -> None:
    """Note an event of which the rows have been noted."""
    found.subscription[found.counts[EVENTS]], found.newest[found.counts[EVENTS]] = s, newest
    found.counts[EVENTS] += 1


@loop
def _note_heads(
    subscriptions: SubscriptionTable, heads: Heads, found: StepFindings, s: int, newest: int
) -> StepFindings:
    """The latest match of each clause: the latest event of a plain subscription."""
    start, stop = subscriptions.first_clause[s], subscriptions.first_clause[s + 1]
    found = _with_room(found, stop - start)
    for clause in range(start, stop):
        found.rows[found.counts[ROWS]] = heads.row[subscriptions.clause_class[clause]]
        found.counts[ROWS] += 1
    _note(found, s, newest)
    return found


@loop
def _note_events(history: History, found: StepFindings, s: int, newest: int, after: int) -> StepFindings:
    """The latest event of a searched subscription, or as many as its LIMIT allows."""
    search = candidates(history, s, newest, after)
    latest = history.subscriptions.kind[s] == LATEST_SEARCH
    left = 1 if latest else history.subscriptions.limit[s]
    while next_event(search):
        if left == 0:
            found.counts[CUTS] += 1
            break
        found = _with_room(found, len(search.chosen))
        for clause in range(len(search.chosen)):
            found.rows[found.counts[ROWS]] = search.row[search.chosen[clause]]
            found.counts[ROWS] += 1
        _note(found, s, newest)
        left -= 1
        if latest:
            break
    return found


@loop
def _emit_one(found: StepFindings, s: int, newest: int, row: int, attribute: int) -> StepFindings:
    at = found.counts[EMITTED]
    if at + 4 > len(found.emitted):
        emitted = np.concatenate((found.emitted, np.empty_like(found.emitted)))
        found = StepFindings(found.subscription, found.newest, found.rows, emitted, found.counts)
    found.emitted[at], found.emitted[at + 1], found.emitted[at + 2], found.emitted[at + 3] = (
        s,
        newest,
        row,
        attribute,
    )
    found.counts[EMITTED] = at + 4
    return found


@loop
def _emit_rest(
    history: History, found: StepFindings, s: int, newest: int, after: int, emitted_until: int
) -> StepFindings:
    """Emit every reading in the window of a complete plain subscription that has not been emitted."""
    subscriptions, heads, chains, _, past = history
    for clause in range(subscriptions.first_clause[s], subscriptions.first_clause[s + 1]):
        match = heads.latest[subscriptions.clause_class[clause]]
        while match >= chains.first:
            row = chains.row[match - chains.first]
            if row <= emitted_until or past.time[row - past.first] <= after:
                break
            found = _emit_one(found, s, newest, row, subscriptions.clause_attribute[clause])
            match = chains.earlier[match - chains.first]
    return found


@loop
def _emit_found(history: History, found: StepFindings, s: int, newest: int, after: int) -> StepFindings:
    """Emit every reading, not emitted before, for which an event with ρ is found."""
    search = candidates(history, s, newest, after)
    if not next_event(search):
        return found
    found = _emit_event(history.subscriptions, history.chains, found, search, s)
    for one in range(len(search.chosen)):
        if search.row[search.first[one]] == newest and not _is_repeated(search, one, one):
            for other in range(len(search.chosen)):
                if not _is_repeated(search, other, one):
                    found = _emit_with(history, found, search, s, one, other, after)
    return found


@loop
def _emit_with(
    history: History, found: StepFindings, search: ClauseSearch, s: int, one: int, other: int, after: int
) -> StepFindings:
    """With clause `one` bound to ρ, emit every match of `other` that has an event; `one` itself: ρ alone."""
    subscriptions, _, chains, lists, past = history
    nodes = np.empty(MOST_CELLS_NEAR, np.int64)
    of_class = subscriptions.clause_class[subscriptions.first_clause[s] + other]
    for n in range(nodes_near(subscriptions, lists, past, of_class, search.newest, nodes)):
        match, last = lists.not_emitted[nodes[n]], NONE
        while match >= chains.first and past.time[chains.row[match - chains.first] - past.first] > after:
            m = match - chains.first
            if chains.emitted[m]:  # leave it out from now on
                if last == NONE:
                    lists.not_emitted[nodes[n]] = chains.earlier[m]
                else:
                    chains.earlier[last - chains.first] = chains.earlier[m]
            else:
                last = match
                if other != one or chains.row[m] == search.newest:
                    bound = _narrowed(subscriptions, chains, past, search, s, one, other, match)
                    if next_event(bound):
                        found = _emit_event(subscriptions, chains, found, bound, s)
            match = chains.earlier[m]
    return found


@loop
def _is_repeated(search: ClauseSearch, clause: int, but: int) -> bool:
    """Whether an earlier clause, other than `but`, is of the same `n OF`: both have the same result."""
    repeated = False
    for i in range(clause):
        repeated = repeated or (i != but and search.group[i] == search.group[clause])
    return repeated


@loop
def _narrowed(
    subscriptions: SubscriptionTable,
    chains: Chains,
    past: Past,
    search: ClauseSearch,
    s: int,
    one: int,
    other: int,
    others: int,
) -> ClauseSearch:
    """The same search with clause `one` bound to its latest match, which is ρ's, and clause `other` to match `others`."""
    first = np.zeros_like(search.first)
    match = np.empty(len(search.match) + 2, np.int64)
    count = 0
    for i in range(len(search.chosen)):
        if i in (one, other):
            match[count] = search.match[search.first[one]] if i == one else others
            count += 1
        else:
            for c in range(search.first[i], search.first[i + 1]):
                match[count] = search.match[c]
                count += 1
        first[i + 1] = count
    return gathered(subscriptions, chains, past, s, search.newest, first, match[:count])


@loop
def _emit_event(
    subscriptions: SubscriptionTable, chains: Chains, found: StepFindings, event: ClauseSearch, s: int
) -> StepFindings:
    """Emit those readings of an event that have not been emitted."""
    for i in range(len(event.chosen)):
        m = event.match[event.chosen[i]] - chains.first
        if not chains.emitted[m]:
            _mark(subscriptions, chains, s, m, event.attribute[i])
            found = _emit_one(found, s, event.newest, event.row[event.chosen[i]], event.attribute[i])
    return found


@loop
def _mark(subscriptions: SubscriptionTable, chains: Chains, s: int, m: int, attribute: int) -> None:
    """Mark a reading as emitted: all matches of its row, which are adjacent, that belong to this subscription."""
    first, last = m, m
    while first > 0 and chains.row[first - 1] == chains.row[m]:
        first -= 1
    while last + 1 < len(chains.row) and chains.row[last + 1] == chains.row[m]:
        last += 1
    for other in range(first, last + 1):
        of_class = chains.of_class[other]
        if subscriptions.class_owner[of_class] == s and subscriptions.class_attribute[of_class] == attribute:
            chains.emitted[other] = True
