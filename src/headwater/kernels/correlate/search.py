"""Which readings, one for each clause, are compatible and the latest in the order?

The exact search for subscriptions whose clauses depend on one another: a distance between places, different sensors, or one
reading that could serve two clauses. Clause by clause as written, latest candidate first, so that complex events come in
the order of the language and the first one found is the LATEST answer.

Rule 1  Every event found contains a reading of the newest row ρ; nothing in it is after ρ, since nothing after is known yet.
Rule 2  A chosen candidate strikes out what it excludes from the clauses still open; a clause without candidates, or no way
        left to use ρ, ends the branch at once.
Rule 3  From the first dead end on it also tests whether the open clauses can all be served at once (a matching in a
        bipartite graph), so that scarce sensors cannot make the search long. That test does not cover distances; for them the
        language bounds the number of clauses.
Memory  The candidates of one subscription at one row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.chains import Chains, Past
from headwater.kernels.correlate.past_matches import MOST_CELLS_NEAR, History, nodes_near
from headwater.kernels.correlate.subscription_table import READINGS_SEARCH, SubscriptionTable
from headwater.model.place import EARTH_RADIUS_M, distance_m

Numbers = NDArray[np.int64]
Coordinates = NDArray[np.float64]


class ClauseSearch(NamedTuple):
    """One subscription at one row: the candidates of every clause, and the position of the search.

    Clause i has `match[first[i]:first[i + 1]]`, latest first. `struck[c]` is 0 while candidate c is open, otherwise 1 + the
    clause whose choice struck it out; `open[i]` counts the open ones. `chosen[i]` is the candidate of clause i, or -1.
    """

    newest: int  # ρ
    ordered: bool  # readings of `n OF` in descending order: a set of them is emitted once
    distinct: bool
    exchangeable: bool
    within_m: float
    geographic: bool
    group: Numbers
    attribute: Numbers
    first: Numbers
    match: Numbers
    row: Numbers
    key: Numbers
    x: Coordinates
    y: Coordinates
    struck: Numbers
    open: Numbers
    chosen: Numbers


@loop
def candidates(history: History, subscription: int, newest: int, after: int) -> ClauseSearch:
    """All matches later than `after` that could be in an event with row `newest`: near enough, and no more than can matter."""
    subscriptions, heads, chains, lists, past = history
    start, stop = subscriptions.first_clause[subscription], subscriptions.first_clause[subscription + 1]
    needed = subscriptions.from_lists[subscription]
    first = np.zeros(stop - start + 1, np.int64)
    found = np.empty(subscriptions.room, np.int64)
    ways = np.empty(MOST_CELLS_NEAR, np.int64)
    count = 0
    here = newest - past.first
    for i in range(stop - start):
        of_class = subscriptions.clause_class[start + i]
        most = count + subscriptions.most[subscription] * (
            subscriptions.class_keep[of_class] if needed else 1
        )
        ways[0], open_ways = heads.latest[of_class], 1
        if needed:
            open_ways = nodes_near(subscriptions, lists, past, of_class, newest, ways)
            for way in range(open_ways):
                ways[way] = lists.needed[ways[way]]
        while open_ways > 0 and count < most:
            way = _latest_way(ways, open_ways)
            match = ways[way]
            if match < chains.first:
                break
            m = match - chains.first
            there = chains.row[m] - past.first
            if past.time[there] <= after:
                break
            ways[way] = chains.older[m] if needed else chains.earlier[m]
            if near(
                past.x[here],
                past.y[here],
                past.x[there],
                past.y[there],
                subscriptions.within_m[subscription],
                subscriptions.geographic,
            ):
                if count == len(found):
                    found = np.concatenate((found, np.empty(count, np.int64)))
                found[count] = match
                count += 1
        first[i + 1] = count
    return gathered(subscriptions, chains, past, subscription, newest, first, found[:count])


@loop
def _latest_way(ways: Numbers, open_ways: int) -> int:
    """Of several lists, the one whose next match is the latest."""
    latest = 0
    for way in range(1, open_ways):
        if ways[way] > ways[latest]:
            latest = way
    return latest


@loop
def gathered(
    subscriptions: SubscriptionTable,
    chains: Chains,
    past: Past,
    subscription: int,
    newest: int,
    first: Numbers,
    match: Numbers,
) -> ClauseSearch:
    """A search that has not begun, over these candidates."""
    start, stop = subscriptions.first_clause[subscription], subscriptions.first_clause[subscription + 1]
    row, key = np.empty(len(match), np.int64), np.empty(len(match), np.int64)
    x, y = np.empty(len(match)), np.empty(len(match))
    for c in range(len(match)):
        row[c] = chains.row[match[c] - chains.first]
        key[c], x[c], y[c] = (
            past.key[row[c] - past.first],
            past.x[row[c] - past.first],
            past.y[row[c] - past.first],
        )
    return ClauseSearch(
        newest,
        subscriptions.kind[subscription] != READINGS_SEARCH,
        subscriptions.distinct[subscription],
        subscriptions.exchangeable[subscription],
        subscriptions.within_m[subscription],
        subscriptions.geographic,
        subscriptions.clause_group[start:stop],
        subscriptions.clause_attribute[start:stop],
        first,
        match,
        row,
        key,
        x,
        y,
        np.zeros(len(match), np.int64),
        first[1:] - first[:-1],
        np.full(stop - start, -1, np.int64),
    )


@loop
def next_event(search: ClauseSearch) -> bool:
    """Find the next event in the order, after the present one if there is one."""
    clauses = len(search.chosen)
    for i in range(clauses):
        if search.first[i] == search.first[i + 1]:
            return False
    fresh = search.chosen[clauses - 1] < 0
    level = 0 if fresh else clauses - 1
    dead_ends = 0
    while level >= 0:
        _release(search, level)
        if not _advance(search, level):
            search.chosen[level] = -1
            level -= 1
            continue
        fits = _strike_out(search, level)
        if fits and dead_ends > 0 and level < clauses - 1:
            fits = completes(search, level)
        if fits and level == clauses - 1:
            return True
        if fits:
            level += 1
            search.chosen[level] = -1
        elif fresh and dead_ends == 0:
            # The first dead end: is there any event at all? Then start again, and test ahead at every choice.
            while level >= 0:
                _release(search, level)
                search.chosen[level] = -1
                level -= 1
            if completes(search, level):
                level = 0
        dead_ends += not fits
    return False


@loop
def near(x1: float, y1: float, x2: float, y2: float, limit_m: float, geographic: bool) -> bool:
    """Whether two places are strictly closer than the limit, which may be infinite."""
    if limit_m == math.inf:
        return True
    if geographic:
        # The difference in latitude alone is a lower bound, much cheaper than the distance.
        if math.radians(abs(y1 - y2)) * EARTH_RADIUS_M > limit_m * (1.0 + 1e-9) + 1e-6:
            return False
    elif abs(x1 - x2) >= limit_m or abs(y1 - y2) >= limit_m:
        return False
    return distance_m(x1, y1, x2, y2, geographic) < limit_m


@loop
def completes(search: ClauseSearch, level: int) -> bool:
    """Whether the clauses after `level` can be served at once, by mutual exclusion alone (without distances)."""
    if not search.exchangeable:
        return True
    holds = np.empty(len(search.chosen), np.int64)
    # The clause that takes ρ is bound to it; if ρ is chosen already, no clause needs to be.
    first, stop = level + 1, len(search.chosen)
    uses_newest = _uses_newest(search, level)
    if uses_newest:
        first, stop = -1, 0
    for bound in range(first, stop):
        holds[:] = -1
        if bound >= 0:
            c = search.first[bound]
            if search.struck[c] != 0 or search.row[c] != search.newest:
                continue
            holds[bound] = c
        if _serve_all(search, level, holds, bound):
            return True
    return False


@loop
def _advance(search: ClauseSearch, level: int) -> bool:
    """Choose the next open candidate of a clause."""
    c = search.chosen[level] + 1 if search.chosen[level] >= 0 else search.first[level]
    while c < search.first[level + 1]:
        if search.struck[c] == 0:
            search.chosen[level] = c
            return True
        c += 1
    return False


@loop
def _strike_out(search: ClauseSearch, level: int) -> bool:
    """Strike out what the choice at `level` excludes; returns whether every open clause, and ρ, still has a candidate."""
    newest_is_open = _uses_newest(search, level)
    fits = True
    for i in range(level + 1, len(search.chosen)):
        for c in range(search.first[i], search.first[i + 1]):
            if search.struck[c] == 0 and _excludes(search, level, search.chosen[level], i, c):
                search.struck[c] = level + 1
                search.open[i] -= 1
        ways_needed = 1
        if search.ordered:  # then clauses of one group have the same candidates, and each needs its own
            for j in range(i + 1, len(search.chosen)):
                ways_needed += search.group[j] == search.group[i]
        fits = fits and search.open[i] >= ways_needed
        c = search.first[i]
        newest_is_open = newest_is_open or (search.struck[c] == 0 and search.row[c] == search.newest)
    return fits and newest_is_open


@loop
def _release(search: ClauseSearch, level: int) -> None:
    """Undo what the choice at `level` struck out."""
    if search.chosen[level] < 0:
        return
    for i in range(level + 1, len(search.chosen)):
        for c in range(search.first[i], search.first[i + 1]):
            if search.struck[c] == level + 1:
                search.struck[c] = 0
                search.open[i] += 1


@loop
def _uses_newest(search: ClauseSearch, level: int) -> bool:
    uses = False
    for i in range(level + 1):
        uses = uses or search.row[search.chosen[i]] == search.newest
    return uses


@loop
def _excludes(search: ClauseSearch, one: int, c: int, other: int, d: int) -> bool:
    """Whether candidate c of clause `one` and candidate d of clause `other`, written after it, cannot both be taken."""
    if _rivals(search, one, c, other, d):
        return True
    if search.ordered and search.group[one] == search.group[other] and search.row[d] >= search.row[c]:
        return True
    return not near(search.x[c], search.y[c], search.x[d], search.y[d], search.within_m, search.geographic)


@loop
def _rivals(search: ClauseSearch, one: int, c: int, other: int, d: int) -> bool:
    """Whether two candidates are the same reading, or of the same sensor where sensors must differ."""
    if search.distinct or search.group[one] == search.group[other]:
        return search.key[c] == search.key[d]
    return search.attribute[one] == search.attribute[other] and search.row[c] == search.row[d]


@loop
def _is_alike(search: ClauseSearch, clause: int, c: int, d: int) -> bool:
    """Whether two candidates of one clause exclude the same candidates of others."""
    by_sensor = search.distinct
    for other in range(len(search.group)):
        by_sensor = by_sensor or (other != clause and search.group[other] == search.group[clause])
    return search.key[c] == search.key[d] if by_sensor else search.row[c] == search.row[d]


@loop
def _serve_all(search: ClauseSearch, level: int, holds: Numbers, bound: int) -> bool:
    """Give every clause after `level` a candidate of its own (Berge's augmenting paths); `bound` keeps its candidate."""
    for i in range(level + 1, len(search.chosen)):
        if i != bound and not _serve(search, level, holds, bound, i):
            return False
    return True


@loop
def _serve(search: ClauseSearch, level: int, holds: Numbers, bound: int, clause: int) -> bool:
    clauses = len(search.chosen)
    queue = np.empty(clauses, np.int64)
    came_from = np.full(clauses, -1, np.int64)  # who displaced this clause, with which candidate:
    took = np.full(clauses, -1, np.int64)
    seen = np.zeros(clauses, np.bool_)
    seen[clause] = True
    if bound >= 0:
        seen[bound] = True
    queue[0], head, tail = clause, 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for c in range(search.first[i], search.first[i + 1]):
            if search.struck[c] != 0 or (holds[i] >= 0 and _is_alike(search, i, c, holds[i])):
                continue
            holder = -1
            for j in range(level + 1, clauses):
                if holds[j] >= 0 and j != i and _rivals(search, i, c, j, holds[j]):
                    holder = j
            if holder < 0:
                while i >= 0:  # what each clause on the way held goes to the clause that displaced it
                    holds[i], c = c, took[i]
                    i = came_from[i]
                return True
            if not seen[holder]:
                seen[holder] = True
                came_from[holder], took[holder] = i, c
                queue[tail] = holder
                tail += 1
    return False
