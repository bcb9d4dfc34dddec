"""Keys of rows and keys of records: what kernels that keep their state by key have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, Ids, Text, compacted
from headwater.model.keyed_records import Values
from headwater.model.keyed_store import order_of_ids, search


def different(column: Column) -> Column:
    """The keys of a column, none of which is NULL: each once, in order."""
    if column.type is not ColumnType.STRING:
        return Column(column.type, np.unique(column.values))
    used = compacted(column)
    assert used.names is not None
    return Column(column.type, np.arange(len(used.names), dtype=np.int32), None, used.names)


def column_of(values: Values) -> Column:
    """A column of keys as records have it, as rows do."""
    if isinstance(values, Text):
        return values.column()
    assert isinstance(values, Column)
    return values


def is_among(ids: Ids, others: Ids) -> NDArray[np.bool_]:
    """Which keys are among others."""
    found: NDArray[np.bool_] = search(others[order_of_ids(others)], ids) >= 0
    return found
