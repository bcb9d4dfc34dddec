"""The rows of a partition that are stored for long, in blocks that are written once.

A record holds the last rows of its partition. If many are stored, because an attempt is open for long, all but these are in
blocks of BLOCK_ROWS, in a store of their own: a step writes the rows that came, not those that are stored. Block n of a partition
holds its rows up to number (n + 1) * BLOCK_ROWS; the first one may hold fewer.

Memory  A block is removed when none of its rows is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.model import END, Column, ColumnType, KeyedStore, Rows
from headwater.model.keyed_records import Ids, Ragged, Records, key_ids, no_records

Numbers = NDArray[np.int64]

BLOCK_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Spans:
    """The rows of some partitions that are in blocks: the numbers from `first` to `until`; none where these are equal."""

    ids: Ids
    first: Numbers
    until: Numbers

    def blocks(self) -> tuple[Numbers, Numbers]:
        """For each block the place of its partition, and its number."""
        lowest, many = self.first // BLOCK_ROWS, (self.until + BLOCK_ROWS - 1) // BLOCK_ROWS
        many = np.where(self.first < self.until, many - lowest, 0)
        of_block = np.repeat(np.arange(len(many)), many)
        within = np.arange(len(of_block)) - np.repeat(np.cumsum(many) - many, many)
        return of_block, lowest[of_block] + within

    def block_ids(self, of_block: Numbers, number: Numbers) -> Ids:
        """The identities of blocks in their store."""
        parts = (*self.ids[of_block].view(np.int64).T, number)
        return key_ids([Column(ColumnType.BIGINT, part) for part in parts], len(number))


def shape_of_blocks(record: Records) -> Records:
    """The contents of a block, given those of a record: its rows."""
    none = no_records()
    return Records(none.ids, none.due, none.hold, {}, {"rows": record.lists["rows"]})


def read_blocks(store: KeyedStore, spans: Spans) -> tuple[Rows, Numbers]:
    """The rows of the spans, partition by partition and in order, and the place of the partition of each."""
    of_block, number = spans.blocks()
    records, place = store.find(spans.block_ids(of_block, number))
    rows = records.lists["rows"]
    start, end = rows.offsets[place], rows.offsets[place + 1]
    length = end - start
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length), length)  # from the end of its block
    of_row = np.repeat(of_block, length)
    needed = within + np.repeat((number + 1) * BLOCK_ROWS, length) >= spans.first[of_row]
    chosen = (within + np.repeat(end, length))[needed]
    columns = {name: values.take(chosen) for name, values in rows.lines.items() if isinstance(values, Column)}
    return Rows(columns, len(chosen)), of_row[needed]


def spilled(first: Numbers, until: Numbers, end: Numbers) -> Numbers:
    """Up to which number rows are in blocks now: `until` so far, the first one stored is `first`, and `end` comes next."""
    until = np.maximum(until, first)
    return np.where(end - until >= 2 * BLOCK_ROWS, end // BLOCK_ROWS * BLOCK_ROWS, until)


def write_blocks(store: KeyedStore, before: Spans, after: Spans, rows: Rows, offset: Numbers) -> KeyedStore:
    """The store after a step: `before` and `after` are of the same partitions; row number n is at n + offset of the table."""
    old, old_number = before.blocks()
    gone = ((old_number + 1) * BLOCK_ROWS <= after.first[old]) | (after.first >= after.until)[old]
    added = Spans(after.ids, np.maximum(before.until, after.first), after.until)
    new, number = added.blocks()
    if not gone.any() and not len(new):
        return store
    low = np.maximum(added.first[new], number * BLOCK_ROWS) + offset[new]
    high = (number + 1) * BLOCK_ROWS + offset[new]
    never = np.full(len(new), END)
    records = Records(
        added.block_ids(new, number),
        never,
        never,
        {},
        {"rows": rows_between(rows, low, high, store.like)},
    )
    # One after the other: after a silence that FORGET ended, the numbers of a partition begin anew.
    store = store.put(no_records(), before.block_ids(old[gone], old_number[gone]))
    return store.put(records, no_records().ids)


def rows_between(rows: Rows, low: Numbers, high: Numbers, like: Records) -> Ragged:
    """The rows from `low` to `high` of a table, for each of them, with the columns of `like`."""
    length = high - low
    offsets = np.concatenate([[0], np.cumsum(length)])
    chosen = np.repeat(low - offsets[:-1], length) + np.arange(offsets[-1])
    return Ragged(offsets, {name: rows[name].take(chosen) for name in like.lists["rows"].lines})
