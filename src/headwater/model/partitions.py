"""Rows by the values of some columns: the partition of each row, and all rows of one partition together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.model.rows import Column, ColumnType, Rows, join_columns

Numbers = NDArray[np.int64]


def numbered(keys: Rows, rows: Rows, columns: Sequence[str]) -> tuple[Rows, Numbers]:
    """All partitions, the known ones first; and the partition of every row."""
    if not columns:
        return Rows({}, 1), np.zeros(rows.count, np.int64)
    joined = {name: join_columns([keys[name], rows[name]]) for name in columns}
    codes = np.zeros(keys.count + rows.count, np.int64)
    for column in joined.values():
        part, many = _codes(column)
        codes = codes * many + part
        if len(columns) > 1:
            codes = np.unique(codes, return_inverse=True)[1]
    most = int(codes.max(initial=-1)) + 1
    numbers = np.full(most, -1, np.int64)
    numbers[codes[: keys.count]] = np.arange(keys.count)
    there = np.zeros(most, np.bool_)
    there[codes] = True
    new = np.flatnonzero(there & (numbers < 0))
    numbers[new] = keys.count + np.arange(len(new))
    found = numbers[codes[keys.count :]]
    if not len(new):
        return keys, found
    place = np.empty(len(new), np.int64)
    is_new = np.flatnonzero(found >= keys.count)
    place[found[is_new] - keys.count] = is_new
    added = {name: column.take(place + keys.count) for name, column in joined.items()}
    before = {name: column.take(slice(0, keys.count)) for name, column in joined.items()}
    return Rows({n: join_columns([before[n], added[n]]) for n in columns}, keys.count + len(new)), found


def _codes(column: Column) -> tuple[Numbers, int]:
    """Small whole numbers, equal where the values are; NULL is a value of its own here."""
    if column.type is ColumnType.STRING:
        assert column.names is not None
        values, many = column.values.astype(np.int64), len(column.names)
    else:
        names, inverse = np.unique(column.values, return_inverse=True)
        values, many = inverse.astype(np.int64), len(names)
    if column.valid is not None:
        values = np.where(column.valid, values, many)
    return values, many + 1


@loop
def by_partition(partition: Numbers, count: int) -> Numbers:
    """The order by partition that preserves the order of rows within a partition."""
    begin = np.zeros(count + 1, np.int64)
    for row in range(len(partition)):
        begin[partition[row] + 1] += 1
    for number in range(count):
        begin[number + 1] += begin[number]
    place = np.empty(len(partition), np.int64)
    for row in range(len(partition)):
        place[begin[partition[row]]] = row
        begin[partition[row]] += 1
    return place
