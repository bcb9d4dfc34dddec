"""Which readings are in a complex event, when filters can get in one another's way?

The exact search behind `members`, for operators with distances that decide, groups that share keys, or filters that want the same
readings. Each event is looked for at its newest reading, the *anchor*.

Rule 1  A member is found as part of an event that holds the anchor and itself, so two readings are fixed and one reading for
        each other needed filter is chosen. If the anchor is in no event, nothing is with it.
Rule 2  Readings of a slot that no other filter can want are interchangeable: the latest stands for all, and all in the window are
        members if one is. Where m filters can want the readings of a slot, the latest m stand for all.
Rule 3  Before each choice it is asked whether the open filters can all be served at once by different readings, and different
        keys within a group (a matching in a bipartite graph). Without distances that settles it; otherwise what was
        matched is tried, and then the filters are chosen one by one. Filters that are the same choose in ascending order.
Memory  The candidates at one anchor: at most m for each slot.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from headwater.kernels.correlate.shapes import Book, Doubles, Flags, Numbers
from headwater.model.operators import UNGROUPED

NEVER = -(2**63)
NONE = -1


class Picked(NamedTuple):
    """The readings that operators of a shape look at, by time; one that two filters may take stands here twice."""

    row: Numbers
    slot: Numbers
    filter: Numbers
    time: Numbers
    value: Doubles


class Past(NamedTuple):
    """The readings of one operator, `chosen` from those picked, as far as they have been looked at.

    `latest[slot]` is the latest of a slot, `earlier[n]` the one before it in its slot. `told[n]`: found to be a member.
    """

    slot: Numbers
    row: Numbers
    filter: Numbers
    time: Numbers
    latest: Numbers
    earlier: Numbers
    told: Flags


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
    twin: Numbers


@numba.njit(cache=True)
def mark_searched(
    book: Book, shape: int, member: int, picked: Picked, chosen: Numbers, rows: int, into: Flags
) -> None:
    """Mark the members of an operator whose readings are `chosen`; `rows` is more than any row's number."""
    rules = _rules(book, shape, member)
    slots = len(rules.of_filter)
    past = Past(
        picked.slot[chosen],
        picked.row[chosen],
        picked.filter[chosen],
        picked.time[chosen],
        np.full(slots, NONE, np.int64),
        np.empty(len(chosen), np.int64),
        np.zeros(len(chosen), np.bool_),
    )
    choice = _no_choice(rules)
    last = np.full(len(rules.needed), NEVER, np.int64)
    for anchor in range(len(chosen)):
        of, slot = past.filter[anchor], past.slot[anchor]
        past.earlier[anchor], past.latest[slot] = past.latest[slot], anchor
        last[of] = past.time[anchor]
        after = past.time[anchor] - rules.within_us
        if not rules.needed[of] and into[past.row[anchor]]:
            continue
        if first_missing(rules.needed, last, after) != NONE:
            continue
        if _gather(rules, past, choice, anchor, after, rows) and _find(rules, choice, of, NONE, NONE, NONE):
            _tell(rules, past, anchor, after, into)
            _tell_event(rules, past, choice, after, into)
            if rules.needed[of]:
                _mark_companions(rules, past, choice, anchor, after, into)


@numba.njit(cache=True)
def first_missing(needed: Flags, latest: Numbers, after: int) -> int:
    """The first needed filter whose latest reading is not later than `after`, or NONE."""
    for f in range(len(needed)):
        if needed[f] and latest[f] <= after:
            return f
    return NONE


@numba.njit(cache=True)
def _rules(book: Book, shape: int, member: int) -> Rules:
    slot, end = book.first_slot[shape], book.first_slot[shape + 1]
    start, stop = book.first_filter[shape], book.first_filter[shape + 1]
    bound = book.first_bound[shape] + (member - book.first_member[shape]) * (stop - start)
    pairs = book.fits[book.first_pair[shape] : book.first_pair[shape + 1]]
    return Rules(
        book.within_us[shape],
        book.simple[shape],
        book.needed[start:stop],
        book.wanted[start:stop],
        book.slot_filter[slot:end],
        book.slot_keep[slot:end],
        book.slot_key[slot:end],
        pairs.reshape(end - slot, end - slot),
        book.twin[bound : bound + stop - start],
    )


@numba.njit(cache=True)
def _no_choice(rules: Rules) -> Choice:
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
    )


@numba.njit(cache=True)
def _gather(rules: Rules, past: Past, choice: Choice, anchor: int, after: int, rows: int) -> bool:
    """Find the candidates that can be with the anchor; whether every needed filter has one."""
    here, own, count, slot = past.slot[anchor], past.filter[anchor], 0, 0
    for f in range(len(rules.needed)):
        choice.first[f] = count
        while slot < len(rules.of_filter) and rules.of_filter[slot] == f:
            if rules.needed[f] and rules.fits[here, slot]:
                n, left = past.latest[slot], rules.keep[slot]
                while n != NONE and left > 0 and past.time[n] > after:
                    if past.row[n] != past.row[anchor]:
                        key = rules.key[slot]
                        choice.of[count], choice.slot[count], choice.row[count] = n, slot, past.row[n]
                        choice.serves[count] = past.row[n] if key == UNGROUPED else rows + key
                        count, left = count + 1, left - 1
                    n = past.earlier[n]
            slot += 1
        if rules.needed[f] and f != own and choice.first[f] == count:
            return False
    choice.first[len(rules.needed)] = count
    return True


@numba.njit(cache=True)
def _mark_companions(rules: Rules, past: Past, choice: Choice, anchor: int, after: int, into: Flags) -> None:
    """Mark what is in an event with the anchor."""
    own = past.filter[anchor]
    for slot in range(len(rules.of_filter)):
        f = rules.of_filter[slot]
        if not rules.wanted[f] or not rules.fits[past.slot[anchor], slot]:
            continue
        alike = rules.keep[slot] == 1
        n = past.latest[slot]
        while n != NONE and past.time[n] > after and not (alike and past.told[n]):
            if not into[past.row[n]] and past.row[n] != past.row[anchor]:
                if _find(rules, choice, own, f, slot, past.row[n]):
                    _tell(rules, past, n, after, into)
                    _tell_event(rules, past, choice, after, into)
                elif alike:
                    break
            n = past.earlier[n]


@numba.njit(cache=True)
def _tell(rules: Rules, past: Past, n: int, after: int, into: Flags) -> None:
    """Mark a member, and those in the window that are like it."""
    if not rules.wanted[past.filter[n]]:
        return
    alike = rules.keep[past.slot[n]] == 1
    while n != NONE and past.time[n] > after and not past.told[n]:
        past.told[n] = into[past.row[n]] = True
        n = past.earlier[n] if alike else NONE


@numba.njit(cache=True)
def _tell_event(rules: Rules, past: Past, choice: Choice, after: int, into: Flags) -> None:
    for c in choice.holds:
        if c != NONE:
            _tell(rules, past, choice.of[c], after, into)


@numba.njit(cache=True)
def _find(rules: Rules, choice: Choice, anchored: int, other: int, slot: int, row: int) -> bool:
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


@numba.njit(cache=True)
def _excludes(rules: Rules, choice: Choice, c: int, d: int) -> bool:
    return choice.row[c] == choice.row[d] or not rules.fits[choice.slot[c], choice.slot[d]]


@numba.njit(cache=True)
def _choose_one_by_one(rules: Rules, choice: Choice) -> bool:
    """Go through all choices for the open filters until the rest can agree."""
    _put_in_order(choice)
    chosen = np.full(len(choice.open), NONE, np.int64)
    level = 0
    while level >= 0:
        f = choice.order[level]
        if chosen[f] != NONE:
            _strike(rules, choice, chosen[f], -1)
            choice.open[f] = True
        chosen[f] = _next_candidate(rules, choice, chosen, f)
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


@numba.njit(cache=True)
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


@numba.njit(cache=True)
def _next_candidate(rules: Rules, choice: Choice, chosen: Numbers, f: int) -> int:
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


@numba.njit(cache=True)
def _strike(rules: Rules, choice: Choice, c: int, step: int) -> None:
    """Count a choice, or take it back (step -1), at all candidates that it excludes."""
    for d in range(choice.first[len(choice.open)]):
        choice.struck[d] += step * _excludes(rules, choice, c, d)


@numba.njit(cache=True)
def _serve_all(choice: Choice) -> bool:
    """Give every open filter a candidate so that nothing is had twice (augmenting paths)."""
    served = True
    for f in range(len(choice.open)):
        if choice.open[f]:
            choice.holds[f] = NONE
    for f in range(len(choice.open)):
        served = served and (not choice.open[f] or _serve(choice, f))
    return served


@numba.njit(cache=True)
def _holder(choice: Choice, c: int) -> int:
    for f in range(len(choice.open)):
        if choice.open[f] and choice.holds[f] != NONE and choice.serves[choice.holds[f]] == choice.serves[c]:
            return f
    return NONE


@numba.njit(cache=True)
def _serve(choice: Choice, wanting: int) -> bool:
    """Serve one more filter, by having others take something else if need be."""
    for c in range(choice.first[wanting], choice.first[wanting + 1]):
        if choice.struck[c] == 0 and _holder(choice, c) == NONE:
            choice.holds[wanting] = c
            return True
    filters = len(choice.open)
    queue = np.empty(filters, np.int64)
    came_from = np.full(filters, NONE, np.int64)  # who displaces this filter, with which candidate:
    took = np.full(filters, NONE, np.int64)
    seen = np.zeros(filters, np.bool_)
    seen[wanting] = True
    queue[0], head, tail = wanting, 0, 1
    while head < tail:
        f = queue[head]
        head += 1
        for c in range(choice.first[f], choice.first[f + 1]):
            if choice.struck[c] != 0:
                continue
            holder = _holder(choice, c)
            if holder == NONE:
                while f != NONE:  # what each filter on the way held goes to the one that wanted it
                    choice.holds[f], c = c, took[f]
                    f = came_from[f]
                return True
            if not seen[holder]:
                seen[holder] = True
                came_from[holder], took[holder] = f, c
                queue[tail] = holder
                tail += 1
    return False
