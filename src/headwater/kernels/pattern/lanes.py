"""Rows partition by partition: what the queries with the same PARTITION BY, ORDER BY and WHERE have in common.

Rule 1  A row has a number in its partition, from 0 on; batches do not change it.
Rule 2  A step's table holds, for each partition, the rows that are kept and behind them the new ones, in order.
Rule 3  A query sees rows from a certain time on, and never what was before: queries that began at different times have
        lanes of their own.

Memory  Of each partition the rows that open attempts still need and those that PREV can look back to. The key and the
        number of rows so far stay for as long as the query does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.pattern.question import RowTest, Value
from headwater.model import Column, Instant, Log, Rows, join_rows
from headwater.model.partitions import by_partition, numbered
from headwater.model.rows import Mask

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LaneState:
    """The partitions known (`keys`, one row each; `counts`, rows so far) and the rows kept, by partition and in order."""

    since: Instant
    keys: Rows
    counts: Numbers
    rows: Rows | None = None
    partition: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    log: Log = field(default_factory=Log)
    key_log: Log = field(default_factory=Log)


class Arranged:
    """The rows of a step, partition by partition, and values of them worked out once."""

    def __init__(self, rows: Rows, partition: Numbers, fresh: NDArray[np.bool_], time: str) -> None:
        self.rows = rows
        self.partition = partition
        self.fresh = fresh
        self.time: Numbers = rows[time].values
        self._values: dict[str, Column] = {}
        self._tests: dict[str, Mask] = {}

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
    """The column at some rows; NULL where the row is not there."""
    taken = column.take(rows)
    valid = there if taken.valid is None else there & taken.valid
    if valid.all():
        return taken
    zero = taken.values.dtype.type()
    return Column(taken.type, np.where(valid, taken.values, zero), valid, taken.names)


def arrange(
    lane: LaneState, rows: Rows, partition_by: Sequence[str], order: Sequence[str], time: str
) -> tuple[Arranged, Rows, Numbers]:
    """The table of a step; and the keys and counts of all partitions, the new ones included (counts as before the step)."""
    keys, numbers = numbered(lane.keys, rows, partition_by)
    counts = np.concatenate([lane.counts, np.zeros(keys.count - lane.keys.count, np.int64)])
    if lane.rows is None or not lane.rows.count:
        joined, partition, kept = rows, numbers, 0
    else:
        joined = join_rows([lane.rows, rows])
        partition, kept = np.concatenate([lane.partition, numbers]), lane.rows.count
    if order:
        # Kept rows are in order already, and earlier than the new ones.
        ranks = [joined[name].ranks() for name in reversed(order)]
        place = np.lexsort([*ranks, joined[time].values, partition])
    else:
        place = by_partition(partition, keys.count)
    fresh = np.zeros(len(partition), np.bool_)
    fresh[kept:] = True
    arranged = Arranged(joined.take(place), partition[place], fresh[place], time)
    return arranged, keys, counts
