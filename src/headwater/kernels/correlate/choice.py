"""Is there one reading for each filter so that all of them can be together?

The inner half of `cliques`: candidates for each filter are given, those that go with the readings already fixed.

Rule 1  Before each choice it is tested whether the open filters can all be served at once by different readings, and different
        keys within a group (a matching in a bipartite graph). If this fails there is no event.
Rule 2  Without distances, and if no filter of a group shares readings with one outside, that settles it. Otherwise what was
        matched is tried as it is, and then the filters are chosen one by one, those with few candidates first.
Rule 3  Filters that are the same choose in ascending order: what they choose is a set, and is tried once.
Memory  The candidates.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numba
import numpy as np

from headwater.kernels.correlate.shapes import Flags, Numbers

NONE: Final = -1

LOOP: Final[dict[str, Any]] = {"cache": True, "_nrt": False}
"""How loops are compiled that make no array: without counting references to those that they hand to one another."""


class Choice(NamedTuple):
    """The search at one anchor: candidates of filter f are `first[f]:first[f + 1]`.

    `serves` is what of a candidate no two filters may have: its reading, or its key in its group. `struck[c]` counts the choices
    that exclude c. `open[f]`: still to be chosen. `holds[f]`: the candidate it has, or NONE. `order`: of the open filters at first.
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
    """One operator's part of the book."""

    within_us: int
    simple: bool
    needed: Flags
    wanted: Flags
    of_filter: Numbers
    keep: Numbers
    key: Numbers
    fits: Flags
    first_mate: Numbers
    mate: Numbers
    twin: Numbers


@numba.njit(**LOOP)
def find(rules: Rules, choice: Choice, anchored: int, other: int, slot: int, row: int) -> bool:
    """Find one candidate for each needed filter but `anchored`, and but `other` which has the reading of `slot` and `row`."""
    filters = len(rules.needed)
    for c in range(choice.first[filters]):
        choice.struck[c] = other != NONE and (choice.row[c] == row or not rules.fits[slot, choice.slot[c]])
    for f in range(filters):
        choice.open[f] = rules.needed[f] and f != anchored and f != other
        choice.holds[f] = NONE
    if not _serve_all(choice):
        return False
    return rules.simple or _agrees(rules, choice) or _choose_one_by_one(rules, choice)


@numba.njit(cache=True)
def no_choice(rules: Rules) -> Choice:
    """Room for the candidates of any anchor."""
    filters, most = len(rules.needed), rules.keep.sum()
    return Choice(
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


@numba.njit(**LOOP)
def _agrees(rules: Rules, choice: Choice) -> bool:
    """Whether what the open filters hold is an event as it is."""
    for f in range(len(choice.open)):
        for g in range(f):
            if (
                choice.open[f]
                and choice.open[g]
                and _excludes(rules, choice, choice.holds[f], choice.holds[g])
            ):
                return False
    return True


@numba.njit(**LOOP)
def _excludes(rules: Rules, choice: Choice, c: int, d: int) -> bool:
    return choice.row[c] == choice.row[d] or not rules.fits[choice.slot[c], choice.slot[d]]


@numba.njit(**LOOP)
def _choose_one_by_one(rules: Rules, choice: Choice) -> bool:
    """Go through all choices for the open filters until the rest can agree."""
    _put_in_order(choice)
    chosen, level = choice.chosen, 0
    chosen[:] = NONE
    while level >= 0:
        f = choice.order[level]
        if chosen[f] != NONE:
            _strike(rules, choice, chosen[f], -1)
            choice.open[f] = True
        chosen[f] = _next_candidate(rules, choice, f)
        if chosen[f] == NONE:
            level -= 1
            continue
        _strike(rules, choice, chosen[f], 1)
        choice.open[f], choice.holds[f] = False, chosen[f]
        if _serve_all(choice):
            if _agrees(rules, choice):
                return True
            level += 1  # never past the last: when all are chosen, they agree
    return False


@numba.njit(**LOOP)
def _put_in_order(choice: Choice) -> None:
    """Open filters with few candidates first, equal ones as they stand."""
    count = 0
    for f in range(len(choice.open)):
        if choice.open[f]:
            at = count
            size = choice.first[f + 1] - choice.first[f]
            while at > 0:
                before = choice.order[at - 1]
                if choice.first[before + 1] - choice.first[before] <= size:
                    break
                choice.order[at] = before
                at -= 1
            choice.order[at] = f
            count += 1


@numba.njit(**LOOP)
def _next_candidate(rules: Rules, choice: Choice, f: int) -> int:
    chosen = choice.chosen
    c = chosen[f] + 1
    if chosen[f] == NONE:
        c, twin = choice.first[f], rules.twin[f]
        while twin != NONE and chosen[twin] == NONE:
            twin = rules.twin[twin]
        if twin != NONE:
            c += chosen[twin] - choice.first[twin] + 1
    while c < choice.first[f + 1]:
        if choice.struck[c] == 0:
            return c
        c += 1
    return NONE


@numba.njit(**LOOP)
def _strike(rules: Rules, choice: Choice, c: int, step: int) -> None:
    """Count a choice, or take it back (step -1), at all candidates that it excludes."""
    for d in range(choice.first[len(choice.open)]):
        choice.struck[d] += step * _excludes(rules, choice, c, d)


@numba.njit(**LOOP)
def _serve_all(choice: Choice) -> bool:
    """Give every open filter a candidate so that nothing is had twice (augmenting paths)."""
    served = True
    for f in range(len(choice.open)):
        if choice.open[f]:
            choice.holds[f] = NONE
    for f in range(len(choice.open)):
        served = served and (not choice.open[f] or _serve(choice, f))
    return served


@numba.njit(**LOOP)
def _holder(choice: Choice, c: int) -> int:
    for f in range(len(choice.open)):
        if choice.open[f] and choice.holds[f] != NONE and choice.serves[choice.holds[f]] == choice.serves[c]:
            return f
    return NONE


@numba.njit(**LOOP)
def _serve(choice: Choice, wanting: int) -> bool:
    """Serve one more filter, by having others take something else if need be."""
    for c in range(choice.first[wanting], choice.first[wanting + 1]):
        if choice.struck[c] == 0 and _holder(choice, c) == NONE:
            choice.holds[wanting] = c
            return True
    queue, seen = choice.queue, choice.seen
    came_from, took = choice.came_from, choice.took  # who displaces this filter, with which candidate
    seen[:] = False
    seen[wanting] = True
    came_from[wanting] = NONE
    queue[0], head, tail = wanting, 0, 1
    while head < tail:
        f = queue[head]
        head += 1
        for c in range(choice.first[f], choice.first[f + 1]):
            if choice.struck[c] != 0:
                continue
            holder = _holder(choice, c)
            if holder == NONE:
                while f != NONE:  # what each filter on the way held goes to the one that displaced it
                    choice.holds[f], c = c, took[f]
                    f = came_from[f]
                return True
            if not seen[holder]:
                seen[holder] = True
                came_from[holder], took[holder] = f, c
                queue[tail] = holder
                tail += 1
    return False
