"""Keys of rows and keys of records, for all kernels that store their state by key."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, Ids, Text, compacted
from headwater.model.keyed_records import Values
from headwater.model.keyed_store import order_of_ids, search


def different(column: Column) -> Column:
    """The keys of a column without NULL: each once, in order."""
    if column.type is not ColumnType.STRING:
        return Column(column.type, np.unique(column.values))
    used = compacted(column)
    assert used.names is not None
    return Column(column.type, np.arange(len(used.names), dtype=np.int32), None, used.names)


def column_of(values: Values) -> Column:
    """A column of keys in the form of records, from the form of rows."""
    if isinstance(values, Text):
        return values.column()
    assert isinstance(values, Column)
    return values


def is_among(ids: Ids, others: Ids) -> NDArray[np.bool_]:
    """Which keys are among others."""
    found: NDArray[np.bool_] = search(others[order_of_ids(others)], ids) >= 0
    return found
