"""Which readings are in a complex event, if filters can conflict with one another?

The exact search after `members`, for operators with distances that matter, groups that share keys, or filters that take the same
readings. Each event is searched for at its newest reading, the *anchor*.

Rule 1  A member is found as part of an event that contains the anchor and itself, so two readings are fixed and one reading for
        each other needed filter is chosen (`anchor_search`). If the anchor is in no event, nothing is together with it.
Rule 2  Readings of a slot that no other filter takes are interchangeable: the latest represents all, and all in the window are
        members if one is. Where m filters take the readings of a slot, the latest m represent all.
Memory  The candidates at one anchor: at most m for each slot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.correlate.anchor_search import LOOP, NONE, AnchorSearch, Rules, find, no_search
from headwater.kernels.correlate.shapes import Doubles, Flags, Numbers, ShapeTable
from headwater.model.network_operators import UNGROUPED

NEVER = -(2**63)


class Picked(NamedTuple):
    """The readings that operators of a shape read, by time; one that two filters may take is listed twice."""

    row: Numbers
    slot: Numbers
    filter: Numbers
    time: Numbers
    value: Doubles


class Past(NamedTuple):
    """The readings of one operator, `chosen` from those picked, up to the present one.

    `latest[slot]` is the latest of a slot, `earlier[n]` the previous one in its slot. `is_member[n]`: found to be a member.
    """

    slot: Numbers
    row: Numbers
    filter: Numbers
    time: Numbers
    latest: Numbers
    earlier: Numbers
    is_member: Flags


@loop
def mark_searched(
    table: ShapeTable, shape: int, member: int, picked: Picked, chosen: Numbers, rows: int, into: Flags
) -> None:
    """Mark the members of an operator whose readings are `chosen`; `rows` is more than any row's number."""
    rules = _rules(table, shape, member)
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
    search = no_search(rules)
    last = np.full(len(rules.needed), NEVER, np.int64)
    first_open = 0
    for anchor in range(len(chosen)):
        of, slot = past.filter[anchor], past.slot[anchor]
        past.earlier[anchor], past.latest[slot] = past.latest[slot], anchor
        last[of] = past.time[anchor]
        after = past.time[anchor] - rules.within_us
        first_open = _skip_done(rules, past, first_open, anchor, after, into)
        if first_open > anchor or (not rules.needed[of] and into[past.row[anchor]]):
            continue
        if first_missing(rules.needed, last, after) != NONE:
            continue
        if _gather(rules, past, search, anchor, after, rows) and find(rules, search, of, NONE, NONE, NONE):
            _mark_alike(rules, past, anchor, after, into)
            _mark_event(rules, past, search, after, into)
            if rules.needed[of]:
                _mark_companions(rules, past, search, anchor, after, into)


@loop(**LOOP)
def first_missing(needed: Flags, latest: Numbers, after: int) -> int:
    """The first needed filter whose latest reading is not later than `after`, or NONE."""
    for f in range(len(needed)):
        if needed[f] and latest[f] <= after:
            return f
    return NONE


@loop(**LOOP)
def _skip_done(rules: Rules, past: Past, n: int, newest: int, after: int, into: Flags) -> int:
    """The first reading from n on that is in the window and may still have to be marked."""
    while n <= newest and (past.time[n] <= after or into[past.row[n]] or not rules.returned[past.filter[n]]):
        n += 1
    return n


@loop
def _rules(table: ShapeTable, shape: int, member: int) -> Rules:
    slot, end = table.first_slot[shape], table.first_slot[shape + 1]
    start, stop = table.first_filter[shape], table.first_filter[shape + 1]
    bound = table.first_bound[shape] + (member - table.first_member[shape]) * (stop - start)
    pairs = table.fits[table.first_pair[shape] : table.first_pair[shape + 1]]
    return Rules(
        table.within_us[shape],
        table.simple[shape],
        table.needed[start:stop],
        table.returned[start:stop],
        table.slot_filter[slot:end],
        table.slot_keep[slot:end],
        table.slot_key[slot:end],
        pairs.reshape(end - slot, end - slot),
        table.first_mate[slot : end + 1],
        table.mate,
        table.twin[bound : bound + stop - start],
    )


@loop(**LOOP)
def _gather(rules: Rules, past: Past, search: AnchorSearch, anchor: int, after: int, rows: int) -> bool:
    """Find the candidates compatible with the anchor; returns whether every needed filter has one."""
    here, own, count = past.slot[anchor], past.filter[anchor], 0
    mate, end = rules.first_mate[here], rules.first_mate[here + 1]
    for f in range(len(rules.needed)):
        search.first[f] = count
        while mate < end and rules.of_filter[rules.mate[mate]] == f:
            if rules.needed[f]:
                count = _gather_slot(rules, past, search, anchor, after, rows, rules.mate[mate], count)
            mate += 1
        if rules.needed[f] and f != own and search.first[f] == count:
            return False
    search.first[len(rules.needed)] = count
    return True


@loop(**LOOP)
def _gather_slot(
    rules: Rules, past: Past, search: AnchorSearch, anchor: int, after: int, rows: int, slot: int, count: int
) -> int:
    """Add the latest readings of a slot to the candidates; returns how many there are then."""
    n, left, key = past.latest[slot], rules.keep[slot], rules.key[slot]
    while n != NONE and left > 0 and past.time[n] > after:
        if past.row[n] != past.row[anchor]:
            search.of[count], search.slot[count], search.row[count] = n, slot, past.row[n]
            search.serves[count] = past.row[n] if key == UNGROUPED else rows + key
            count, left = count + 1, left - 1
        n = past.earlier[n]
    return count


@loop(**LOOP)
def _mark_companions(
    rules: Rules, past: Past, search: AnchorSearch, anchor: int, after: int, into: Flags
) -> None:
    """Mark the readings that are in an event with the anchor."""
    own, here = past.filter[anchor], past.slot[anchor]
    for mate in range(rules.first_mate[here], rules.first_mate[here + 1]):
        slot = rules.mate[mate]
        f = rules.of_filter[slot]
        if not rules.returned[f]:
            continue
        alike = rules.keep[slot] == 1
        n = past.latest[slot]
        while n != NONE and past.time[n] > after and not (alike and past.is_member[n]):
            if not into[past.row[n]] and past.row[n] != past.row[anchor]:
                if find(rules, search, own, f, slot, past.row[n]):
                    _mark_alike(rules, past, n, after, into)
                    _mark_event(rules, past, search, after, into)
                elif alike:
                    break
            n = past.earlier[n]


@loop(**LOOP)
def _mark_alike(rules: Rules, past: Past, n: int, after: int, into: Flags) -> None:
    """Mark a member, and the interchangeable readings in the window."""
    if not rules.returned[past.filter[n]]:
        return
    alike = rules.keep[past.slot[n]] == 1
    while n != NONE and past.time[n] > after and not past.is_member[n]:
        past.is_member[n] = into[past.row[n]] = True
        n = past.earlier[n] if alike else NONE


@loop(**LOOP)
def _mark_event(rules: Rules, past: Past, search: AnchorSearch, after: int, into: Flags) -> None:
    for f in range(len(search.holds)):
        if search.holds[f] != NONE:
            _mark_alike(rules, past, search.of[search.holds[f]], after, into)
