"""Which readings are in which operator? (The matcher that nodes of a network use.)

A reading is a *member* of an operator if its filter is needed and it is part of a complex event: one reading for each needed
filter, and if its own filter is not needed, itself besides; all strictly within δt and δl, no reading for two filters, different
keys within a group, none before `since`. Without needed filters every reading of a returned filter is a member.

Rule 1  The result depends only on the set of readings: more of them never remove a member, and their order is that of time.
Rule 2  Readings are picked once for all operators of a shape; then for each operator there is one pass over those in its intervals.
Rule 3  If filters cannot conflict, the window (T − δt, T] that ends at a reading contains a complex event iff it
        contains a reading for each needed filter, and then everything in it is a member (two pointers, linear).
Rule 4  Otherwise complex events are searched for, newest reading by newest reading (`cliques`).
Memory  None between two calls but the operators themselves; the answer is operators x readings.
Source  READINGS of CORRELATE, over a fixed set of readings instead of a stream.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.anchor_search import NONE
from headwater.kernels.correlate.cliques import NEVER, Picked, first_missing, mark_searched
from headwater.kernels.correlate.shapes import (
    Doubles,
    Flags,
    Numbers,
    ShapeTable,
    SourceSets,
    shapes_of,
    table_of,
)
from headwater.model import Operator, Readings, Source


class MemberMatcher:
    """Prepares operators for matching; has no state."""

    def prepare(self, operators: Sequence[Operator], sources: Sequence[Source]) -> Membership:
        """Operators over readings whose `source` is an index into `sources`."""
        sets = SourceSets(sources)
        return Membership(len(operators), len(sources), table_of(shapes_of(operators, sets), sets))


class Membership:
    """Operators ready to be matched; `sources`: those whose readings any of them reads."""

    def __init__(self, operators: int, sources: int, table: ShapeTable) -> None:
        self._operators = operators
        self._sources = sources
        self._table = table
        self.sources = np.isin(np.arange(sources), table.slot_source)

    def members(self, readings: Readings, *, each: bool) -> NDArray[np.bool_]:
        """Which readings (by time) are in which operator: bool[operators, n]; not `each`: in any of them, bool[1, n]."""
        source, time, value, _ = readings
        marked = np.zeros((self._operators if each else 1, len(source)), np.bool_)
        if len(source):
            assert source.min() >= 0, "a source before the first"
            assert source.max() < self._sources, "a source that was not given to prepare"
            assert np.all(time[1:] >= time[:-1]), "readings must come by time"
            _mark(self._table, self._sources, source, time, value, each, marked)
        return marked


@loop
def _mark(
    table: ShapeTable,
    sources: int,
    source: NDArray[np.int32],
    time: Numbers,
    value: Doubles,
    each: bool,
    marked: Flags,
) -> None:
    """Mark the members of all operators."""
    first_way = np.full(sources, NONE, np.int64)
    for shape in range(len(table.within_us)):
        picked = _pick(table, shape, source, time, value, first_way)
        if len(picked.row) == 0:
            continue
        chosen = np.empty(len(picked.row), np.int64)
        for member in range(table.first_member[shape], table.first_member[shape + 1]):
            into = marked[table.member[member] if each else 0]
            found = chosen[: _choose(table, shape, member, picked, chosen)]
            if not each and not _some_open(table, shape, picked, found, into):
                continue
            if table.searched[shape]:
                mark_searched(table, shape, member, picked, found, len(source), into)
            else:
                _sweep(table, shape, picked, found, into)


@loop
def _pick(
    table: ShapeTable,
    shape: int,
    source: NDArray[np.int32],
    time: Numbers,
    value: Doubles,
    first_way: Numbers,
) -> Picked:
    """The readings of a shape's sources. `first_way` is empty (NONE for each source) before and after."""
    first, stop = table.first_slot[shape], table.first_slot[shape + 1]
    next_way = np.empty(stop - first, np.int64)
    for slot in range(stop - first):
        of = table.slot_source[first + slot]
        next_way[slot], first_way[of] = first_way[of], slot
    count = 0
    for n in range(len(source)):
        slot = first_way[source[n]]
        while slot != NONE:
            count += 1
            slot = next_way[slot]
    row, slots, of_filter = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    times, values = np.empty(count, np.int64), np.empty(count)
    count = 0
    for n in range(len(source)):
        slot = first_way[source[n]]
        while slot != NONE:
            row[count], slots[count], of_filter[count] = n, slot, table.slot_filter[first + slot]
            times[count], values[count] = time[n], value[n]
            count += 1
            slot = next_way[slot]
    for slot in range(first, stop):
        first_way[table.slot_source[slot]] = NONE
    return Picked(row, slots, of_filter, times, values)


@loop
def _choose(table: ShapeTable, shape: int, member: int, picked: Picked, chosen: Numbers) -> int:
    """Write the picked readings that are in the operator's intervals into `chosen`; returns how many."""
    filters = table.first_filter[shape + 1] - table.first_filter[shape]
    first = table.first_bound[shape] + (member - table.first_member[shape]) * filters
    low, high = table.low[first : first + filters], table.high[first : first + filters]
    count = 0
    for n in range(np.searchsorted(picked.time, table.since[member]), len(picked.row)):
        # Always written, and counted only if chosen: a branch here would be mispredicted half of the time.
        chosen[count] = n
        of = picked.filter[n]
        count += (low[of] <= picked.value[n]) & (picked.value[n] <= high[of])
    return count


@loop
def _some_open(table: ShapeTable, shape: int, picked: Picked, chosen: Numbers, into: Flags) -> bool:
    """Whether there is a reading that could be marked and is not."""
    returned = table.returned[table.first_filter[shape] : table.first_filter[shape + 1]]
    n = 0
    while n < len(chosen) and (into[picked.row[chosen[n]]] or not returned[picked.filter[chosen[n]]]):
        n += 1
    return n < len(chosen)


@loop
def _sweep(table: ShapeTable, shape: int, picked: Picked, chosen: Numbers, into: Flags) -> None:
    """Mark what lies in windows in which every needed filter has a reading (Rule 3)."""
    needed = table.needed[table.first_filter[shape] : table.first_filter[shape + 1]]
    returned = table.returned[table.first_filter[shape] : table.first_filter[shape + 1]]
    latest = np.full(len(needed), NEVER, np.int64)
    missing = 0  # a needed filter without a reading in the window, if there is one
    done = 0  # everything before is marked, or too old for every later window
    for newest in range(len(chosen)):
        now = picked.time[chosen[newest]]
        after = now - table.within_us[shape]
        latest[picked.filter[chosen[newest]]] = now
        if needed[missing] and latest[missing] <= after:
            continue
        missing = first_missing(needed, latest, after)
        if missing != NONE:
            continue
        missing = 0
        while done <= newest:
            n = chosen[done]
            if picked.time[n] > after and returned[picked.filter[n]]:
                into[picked.row[n]] = True
            done += 1
