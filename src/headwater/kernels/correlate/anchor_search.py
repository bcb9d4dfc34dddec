"""Is there one reading for each filter so that all of them can be together?

The inner half of `cliques`: the candidates for each filter are given, namely those compatible with the readings already fixed.

Rule 1  Before each choice, a matching in a bipartite graph tests whether the open filters can all be served at once by different readings,
        and different keys within a group. If this fails there is no event.
Rule 2  Without distances, and if no filter of a group shares readings with one outside, that decides it. Otherwise the matching is first
        tried as it is, and then the filters are chosen one by one, those with few candidates first.
Rule 3  Equal filters choose in ascending order: their choice is a set, which is tried once.
Memory  The candidates.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.correlate.shapes import Flags, Numbers

NONE: Final = -1

LOOP: Final[dict[str, Any]] = {"_nrt": False}
"""How loops that allocate no array are compiled: without counting references to the arrays that they pass to one another."""


class AnchorSearch(NamedTuple):
    """The search at one anchor: candidates of filter f are `first[f]:first[f + 1]`.

    `serves` is the part of a candidate that no two filters may share: its reading, or its key in its group. `struck[c]` counts the choices
    that exclude c. `open[f]`: still to be chosen. `holds[f]`: its candidate, or NONE. `order`: of the filters that were open at first.
    """

    first: Numbers
    of: Numbers  # which reading of the past
    slot: Numbers
    row: Numbers
    serves: Numbers
    struck: Numbers
    open: Flags
    holds: Numbers
    order: Numbers
    chosen: Numbers  # while filters are chosen one by one, and below while one is served
    queue: Numbers
    came_from: Numbers
    took: Numbers
    seen: Flags


class Rules(NamedTuple):
    """One operator's part of the table of shapes."""

    within_us: int
    simple: bool
    needed: Flags
    returned: Flags
    of_filter: Numbers
    keep: Numbers
    key: Numbers
    fits: Flags
    first_mate: Numbers
    mate: Numbers
    twin: Numbers


@loop(**LOOP)
def find(rules: Rules, search: AnchorSearch, anchored: int, other: int, slot: int, row: int) -> bool:
    """Find one candidate for each needed filter but `anchored`, and but `other` which has the reading of `slot` and `row`."""
    filters = len(rules.needed)
    for c in range(search.first[filters]):
        search.struck[c] = other != NONE and (search.row[c] == row or not rules.fits[slot, search.slot[c]])
    for f in range(filters):
        search.open[f] = rules.needed[f] and f != anchored and f != other
        search.holds[f] = NONE
    if not _serve_all(search):
        return False
    return rules.simple or _agrees(rules, search) or _choose_one_by_one(rules, search)


@loop
def no_search(rules: Rules) -> AnchorSearch:
    """Room for the candidates of any anchor."""
    filters, most = len(rules.needed), rules.keep.sum()
    return AnchorSearch(
        np.zeros(filters + 1, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(filters, np.bool_),
        np.full(filters, NONE, np.int64),
        np.empty(filters, np.int64),
        np.empty(filters, np.int64),
        np.empty(filters, np.int64),
        np.empty(filters, np.int64),
        np.empty(filters, np.int64),
        np.zeros(filters, np.bool_),
    )


@loop(**LOOP)
def _agrees(rules: Rules, search: AnchorSearch) -> bool:
    """Whether the present candidates of the open filters are an event."""
    for f in range(len(search.open)):
        for g in range(f):
            if (
                search.open[f]
                and search.open[g]
                and _excludes(rules, search, search.holds[f], search.holds[g])
            ):
                return False
    return True


@loop(**LOOP)
def _excludes(rules: Rules, search: AnchorSearch, c: int, d: int) -> bool:
    return search.row[c] == search.row[d] or not rules.fits[search.slot[c], search.slot[d]]


@loop(**LOOP)
def _choose_one_by_one(rules: Rules, search: AnchorSearch) -> bool:
    """Go through all choices for the open filters until the rest can agree."""
    _put_in_order(search)
    chosen, level = search.chosen, 0
    chosen[:] = NONE
    while level >= 0:
        f = search.order[level]
        if chosen[f] != NONE:
            _strike(rules, search, chosen[f], -1)
            search.open[f] = True
        chosen[f] = _next_candidate(rules, search, f)
        if chosen[f] == NONE:
            level -= 1
            continue
        _strike(rules, search, chosen[f], 1)
        search.open[f], search.holds[f] = False, chosen[f]
        if _serve_all(search):
            if _agrees(rules, search):
                return True
            level += 1  # never past the last: when all are chosen, they are compatible
    return False


@loop(**LOOP)
def _put_in_order(search: AnchorSearch) -> None:
    """Open filters with few candidates first; equal ones keep their order."""
    count = 0
    for f in range(len(search.open)):
        if search.open[f]:
            at = count
            size = search.first[f + 1] - search.first[f]
            while at > 0:
                before = search.order[at - 1]
                if search.first[before + 1] - search.first[before] <= size:
                    break
                search.order[at] = before
                at -= 1
            search.order[at] = f
            count += 1


@loop(**LOOP)
def _next_candidate(rules: Rules, search: AnchorSearch, f: int) -> int:
    chosen = search.chosen
    c = chosen[f] + 1
    if chosen[f] == NONE:
        c, twin = search.first[f], rules.twin[f]
        while twin != NONE and chosen[twin] == NONE:
            twin = rules.twin[twin]
        if twin != NONE:
            c += chosen[twin] - search.first[twin] + 1
    while c < search.first[f + 1]:
        if search.struck[c] == 0:
            return c
        c += 1
    return NONE


@loop(**LOOP)
def _strike(rules: Rules, search: AnchorSearch, c: int, step: int) -> None:
    """Count a choice, or undo it (step -1), at all candidates that it excludes."""
    for d in range(search.first[len(search.open)]):
        search.struck[d] += step * _excludes(rules, search, c, d)


@loop(**LOOP)
def _serve_all(search: AnchorSearch) -> bool:
    """Give every open filter a candidate so that none is used twice (augmenting paths)."""
    served = True
    for f in range(len(search.open)):
        if search.open[f]:
            search.holds[f] = NONE
    for f in range(len(search.open)):
        served = served and (not search.open[f] or _serve(search, f))
    return served


@loop(**LOOP)
def _holder(search: AnchorSearch, c: int) -> int:
    for f in range(len(search.open)):
        if search.open[f] and search.holds[f] != NONE and search.serves[search.holds[f]] == search.serves[c]:
            return f
    return NONE


@loop(**LOOP)
def _serve(search: AnchorSearch, wanting: int) -> bool:
    """Serve one more filter, if necessary by giving others another candidate."""
    for c in range(search.first[wanting], search.first[wanting + 1]):
        if search.struck[c] == 0 and _holder(search, c) == NONE:
            search.holds[wanting] = c
            return True
    queue, seen = search.queue, search.seen
    came_from, took = search.came_from, search.took  # who displaces this filter, with which candidate
    seen[:] = False
    seen[wanting] = True
    came_from[wanting] = NONE
    queue[0], head, tail = wanting, 0, 1
    while head < tail:
        f = queue[head]
        head += 1
        for c in range(search.first[f], search.first[f + 1]):
            if search.struck[c] != 0:
                continue
            holder = _holder(search, c)
            if holder == NONE:
                while f != NONE:  # what each filter on the way held goes to the one that displaced it
                    search.holds[f], c = c, took[f]
                    f = came_from[f]
                return True
            if not seen[holder]:
                seen[holder] = True
                came_from[holder], took[holder] = f, c
                queue[tail] = holder
                tail += 1
    return False
