"""Rows partition by partition: common to the queries with the same PARTITION BY, ORDER BY, WHERE and FORGET.

Rule 1  A row has a number in its partition, from 0 on; batches do not change it.
Rule 2  A step reads the partitions that have new rows, and those for which time changes something: a partial match runs
        out of time, an absence is certain, FORGET ends the partition. No other partition is touched (`touched`).
Rule 3  A step's table has, for each of them, the rows that are stored and after them the new ones, in order (`arrange`).
Rule 4  FORGET t cuts a partition where it is silent for longer than t (`cut`). Each piece is a partition of its own: at its end
        open matches are decided as at the end of the input, and the next piece begins empty: its matches count from 1,
        `^` holds at its first row, and PREV finds nothing before it.
Rule 5  A query sees rows from a certain time on, and never earlier ones: queries that began at different times have
        lanes of their own.

Memory  A record for each partition of which something is needed, and none for the others:
        - where a partial match is open, its rows, those as early as its first one, and what it remembers (see `runs`), until it
          is decided;
        - where some query has PREV, the last rows that it can refer to, for ever or until FORGET;
        - where some query needs MATCH_NUMBER and has emitted a match, the number, for ever or until FORGET;
        - where some query has `^`, that the partition has begun, for ever or until FORGET.
        AFTER MATCH SKIP needs nothing more: the search continues at a row that is stored, or the next one to come. A record
        without rows and partial matches has 72 bytes and its key, and 24 more for each query whose number it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.question import RowTest, Value
from headwater.kernels.pattern.row_blocks import Spans, read_blocks
from headwater.kernels.pattern.runs import Segments
from headwater.model import (
    BEGINNING,
    INTEREST_SERIAL,
    Column,
    ColumnType,
    Instant,
    KeyedStore,
    Rows,
    join_rows,
)
from headwater.model.keyed_records import Ids, Ragged, Records, Values, key_ids, no_records, take_values
from headwater.model.keyed_store import first_places
from headwater.model.partitions import by_partition, numbered
from headwater.model.rows import Mask

Numbers = NDArray[np.int64]

EMPTY_RECORD_BYTES: Final = 72
"""The size of a record without its key, rows and partial matches."""
_KEY: Final = "key "  # before the names of key columns in a record


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane, the queries in it by their place in the kernel's list, and what is stored of its partitions."""

    number: int  # never used for two lanes, so that the contents of its store never change their form
    since: Instant
    queries: tuple[int, ...]
    slots: tuple[int, ...]  # the slot of each query in the records, which stays when others leave
    store: KeyedStore
    blocks: KeyedStore  # rows that are stored for long, see `blocks`


@dataclass(frozen=True, slots=True)
class Touched:
    """The partitions of a step: first those with a record, in the order of `records`, then those that are new."""

    ids: Ids
    keys: Rows  # one row each
    records: Records
    of_row: Numbers  # the partition of each new row

    @property
    def known(self) -> int:
        """How many have a record."""
        return len(self.records)

    def known_or(self, name: str, otherwise: int) -> Numbers:
        """Whole numbers of the records; new partitions have the default."""
        stored = self.records.table[name]
        assert isinstance(stored, np.ndarray)
        return np.concatenate([stored, np.full(len(self.ids) - self.known, otherwise, np.int64)])

    def stored_rows(self, blocks: KeyedStore) -> tuple[list[Rows], Numbers]:
        """The rows that are stored, without their keys, in parts, and the partition of each; those in blocks come first."""
        last = self.records.lists["rows"]
        columns = {name: values for name, values in last.lines.items() if isinstance(values, Column)}
        of_row = np.repeat(np.arange(self.known), np.diff(last.offsets))
        rows, spans = Rows(columns, len(of_row)), self.spans()
        if not (spans.first < spans.until).any():
            return [rows], of_row
        earlier, of_earlier = read_blocks(blocks, spans)
        return [earlier, rows], np.concatenate([of_earlier, of_row])

    def spans(self) -> Spans:
        """Which rows of the known partitions are in blocks."""
        return spans_of(self.records)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The partitions of a step, cut by FORGET: `segments.partition` is 0, 1, 2, …

    `partition` int64[pieces]: the place of its partition among those touched. `first`: the piece that continues the stored part of a
    known partition, or -1. `over`: no row of it can come any more. `last_time`: of its last row so far (with FORGET).
    """

    segments: Segments
    partition: Numbers
    first: Numbers
    over: Mask
    last_time: Numbers | None = None

    def spans(self, found: Touched) -> Spans:
        """Which rows of each piece are in blocks before the step."""
        first, until = np.zeros((2, len(self.partition)), np.int64)
        known, goes_on = found.spans(), self.first >= 0
        first[self.first[goes_on]], until[self.first[goes_on]] = known.first[goes_on], known.until[goes_on]
        return Spans(found.ids[self.partition], first, until)

    def those(self, *, are_over: bool) -> Segments:
        """The pieces that are over, or those that continue."""
        if (self.over == are_over).all():
            return self.segments
        chosen = np.flatnonzero(self.over == are_over)
        return Segments(*(part[chosen] for part in self.segments))


class Arranged:
    """The rows of a step, partition by partition, and values of them computed once."""

    def __init__(self, rows: Rows, partition: Numbers, fresh: NDArray[np.bool_], time: str) -> None:
        self.rows = rows
        self.partition = partition
        self.fresh = fresh
        self.time: Numbers = rows[time].values
        self._time_column = time
        self._values: dict[str, Column] = {}
        self._tests: dict[str, Mask] = {}

    def cut_at(self, partition: Numbers) -> Arranged:
        """The same rows in other partitions, in the same order."""
        return Arranged(self.rows, partition, self.fresh, self._time_column)

    def value(self, value: Value) -> Column:
        """A value of every row."""
        if value.key not in self._values:
            self._values[value.key] = value.compute(self.rows)
        return self._values[value.key]

    def test(self, test: RowTest) -> Mask:
        """Whether a test holds, for every row."""
        if test.key not in self._tests:
            columns = {f"#{n}": self._shifted(value, shift) for n, (value, shift) in enumerate(test.terms)}
            self._tests[test.key] = test.test(Rows(columns, self.rows.count))
        return self._tests[test.key]

    def _shifted(self, value: Value, shift: int) -> Column:
        column = self.value(value)
        if shift == 0:
            return column
        count = len(self.partition)
        away = np.arange(count) + shift
        there = (away >= 0) & (away < count)
        away = np.clip(away, 0, max(count - 1, 0))
        there &= self.partition[away] == self.partition
        return at_rows(column, away, there)


def at_rows(column: Column, rows: Numbers, there: Mask) -> Column:
    """The column at some rows; NULL if the row does not exist."""
    taken = column.take(rows)
    valid = there if taken.valid is None else there & taken.valid
    if valid.all():
        return taken
    zero = taken.values.dtype.type()
    return Column(taken.type, np.where(valid, taken.values, zero), valid, taken.names)


def spans_of(records: Records) -> Spans:
    """Which rows of some partitions are in blocks."""
    first, count = records.table["first"], records.table["count"]
    assert isinstance(first, np.ndarray) and isinstance(count, np.ndarray)
    return Spans(records.ids, first, count - np.diff(records.lists["rows"].offsets))


def shape_of_records(keys: Mapping[str, ColumnType], rows: Mapping[str, ColumnType]) -> Records:
    """The contents of a lane's records: the columns of the key and of the stored rows."""
    none = no_records()
    columns = {name: Column.of(kind, ()) for name, kind in rows.items()}
    return Records(
        none.ids,
        none.due,
        none.hold,
        {
            **{_KEY + name: Column.of(kind, ()) for name, kind in keys.items()},
            "count": none.due,  # rows so far: the number of the next one
            "first": none.due,  # the number of the first row that is stored
            "last": none.due,  # the time of the last row (with FORGET)
        },
        {
            "rows": Ragged(np.zeros(1, np.int64), columns),
            "open": Ragged(np.zeros(1, np.int64), {"words": none.due}),
        },
    )


def touched(store: KeyedStore, rows: Rows, columns: Sequence[str], due: Ids) -> Touched:
    """The partitions that have rows, and those that are due."""
    if rows.count:
        keys, of_row = numbered(rows.select(columns).take(slice(0, 0)), rows, columns)
    else:
        keys, of_row = Rows({}, 0), np.zeros(0, np.int64)
    ids = _partition_ids([keys[name] for name in columns] if rows.count else (), columns, keys)
    records, found = store.find(np.concatenate([ids, due]))
    number = found[: len(ids)]
    is_new = number < 0
    number = np.where(is_new, len(records) + np.cumsum(is_new) - 1, number)
    every = np.concatenate([records.ids, ids[is_new]])
    return Touched(every, _keys(columns, keys, number, records, len(every)), records, number[of_row])


def _partition_ids(parts: Sequence[Column], columns: Sequence[str], keys: Rows) -> Ids:
    """The identities of some partitions. Those of one interest begin with its number, so that they are adjacent in a store."""
    ids = key_ids(parts, keys.count)
    if keys.count and INTEREST_SERIAL in columns:
        ids[:, 0] = keys[INTEREST_SERIAL].values.view(np.uint64)
    return ids


def records_of_interests(store: KeyedStore, interests: Numbers) -> Records:
    """The records of the partitions of some interests, which are in rising order."""
    low = interests.view(np.uint64)

    def choose(ids: Ids) -> Numbers:
        first, last = first_places(ids, low), first_places(ids, low + np.uint64(1))
        many = last - first
        return np.repeat(first - (np.cumsum(many) - many), many) + np.arange(many.sum())

    return store.chosen(choose)


def _keys(columns: Sequence[str], keys: Rows, number: Numbers, records: Records, many: int) -> Rows:
    """The keys of all partitions: from rows if there are any, otherwise from the records."""
    if not columns:
        return Rows({}, many)
    has_rows = np.zeros(many, np.bool_)
    has_rows[number] = True
    silent = np.flatnonzero(~has_rows)
    place = np.empty(many, np.int64)
    place[np.concatenate([number, silent])] = np.arange(many)
    if not len(silent):
        return keys.take(place)
    stored = {name: _column(take_values(records.table[_KEY + name], silent)) for name in columns}
    return join_rows([keys, Rows.of(stored)]).take(place)


def _column(values: Values) -> Column:
    """A column of keys as it was before it was stored."""
    assert not isinstance(values, np.ndarray)
    return values if isinstance(values, Column) else values.column()


def arrange(
    rows: Rows, partition: Numbers, stored: int, keys: Rows, order: Sequence[str], time: str
) -> Arranged:
    """The table of a step: rows without their keys, of which the first `stored` are in order already and earlier than the others."""
    if order:
        whole = rows.having(**{name: keys[name].take(partition) for name in keys.columns})
        ranks = [whole[name].ranks() for name in reversed(order)]
        place = np.lexsort([*ranks, rows[time].values, partition])
    else:
        place = by_partition(partition, keys.count)
    fresh = np.zeros(len(partition), np.bool_)
    fresh[stored:] = True
    partition = partition[place]
    keyed = {name: column.take(partition) for name, column in keys.columns.items()}
    return Arranged(rows.take(place).having(**keyed), partition, fresh[place], time)


def whole(table: Arranged, found: Touched, is_over: bool) -> Pieces:
    """The pieces of a lane without FORGET: each partition is one."""
    many = len(found.ids)
    every = np.arange(many)
    low, high = _bounds(table.partition, every)
    count = found.known_or("count", 0)
    old_rows = np.bincount(table.partition[~table.fresh], minlength=many)
    segments = Segments(every, low, high, count - old_rows, count)
    first = every[: found.known]
    return Pieces(segments, every, first, np.full(many, is_over))


def cut(table: Arranged, found: Touched, forget_us: int, until: Instant) -> tuple[Arranged, Pieces]:
    """The pieces of a lane with FORGET, and the table in which each piece is a partition; no row will be before `until`."""
    before = whole(table, found, is_over=False).segments
    last = found.known_or("last", BEGINNING)
    has_rows = before.low < before.high
    is_silent = _follow_silence(table, before, last, found.known, forget_us)
    # A partition without new rows has nothing open: where silence ended it, a new one begins in its place.
    is_renewed = np.zeros(len(last), np.bool_)
    is_renewed[has_rows] = is_silent[before.low[has_rows]]
    goes_on = (np.arange(len(last)) < found.known) & ~is_renewed
    is_silent[before.low[has_rows]] = False
    inner = np.flatnonzero(is_silent)
    low = np.concatenate([before.low, inner])
    partition = np.concatenate([before.partition, table.partition[inner]])
    order = np.lexsort([low, partition])
    low, partition, is_first = low[order], partition[order], order < len(last)
    is_last = np.append(is_first[1:], True)
    high = np.where(is_last, before.high[partition], np.append(low[1:], 0))
    known = is_first & goes_on[partition]
    every = np.arange(len(low))
    segments = Segments(
        every,
        low,
        high,
        np.where(known, before.base[partition], 0),
        np.where(known, before.fresh[partition], 0),
    )
    last_time = last[partition]
    last_time[low < high] = table.time[high[low < high] - 1]
    first = np.where(goes_on, every[is_first], -1)[: found.known]
    pieces = Pieces(segments, partition, first, ~is_last | (last_time + forget_us < until), last_time)
    return table.cut_at(np.repeat(every, high - low)), pieces


def _follow_silence(table: Arranged, segments: Segments, last: Numbers, known: int, forget_us: int) -> Mask:
    """For each row of the table whether its partition was silent for too long before it."""
    before = np.empty_like(table.time)
    before[1:] = table.time[:-1]
    some = np.flatnonzero(segments.low < segments.high)
    low = segments.low[some]
    heard_of = table.fresh[low] & (some < known)
    before[low] = np.where(heard_of, last[some], table.time[low])
    silent: Mask = table.fresh & (table.time - before > forget_us)
    return silent


def keys_as_stored(keys: Rows, partition: Numbers) -> dict[str, Values]:
    """The columns of a record that hold the key, for some partitions."""
    return {_KEY + name: column.take(partition) for name, column in keys.columns.items()}


@loop
def with_equals(time: Numbers, low: Numbers, needed: Numbers, high: Numbers) -> Numbers:
    """For each segment the first row as early as the first needed one: the place of a row among equal rows is part of `match_id`."""
    first = needed.copy()
    for segment in range(len(first)):
        at = first[segment]
        if at < high[segment]:
            while at > low[segment] and time[at - 1] == time[at]:
                at -= 1
        first[segment] = at
    return first


def _bounds(partition: Numbers, every: Numbers) -> tuple[Numbers, Numbers]:
    return np.searchsorted(partition, every), np.searchsorted(partition, every, side="right")
