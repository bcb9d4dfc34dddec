"""Which sensors do the rows of a step belong to? Keys of any type, each once.

Rule 1  Each row is read once, and each key that occurs is hashed once.

Memory  None: a store holds the state of a sensor under the hash of its key.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, compacted, key_ids, text_hashes

Whole = NDArray[np.int64]
Ids = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of some rows, once each: their identities uint64[n, 2], and the number of every row's key.

    `content` represents each key in `match_id`: the hash of a text, so that it is not hashed for every answer.
    """

    ids: Ids
    number: Whole
    content: Column | None = None

    def __len__(self) -> int:
        return len(self.ids)


def keys_of(column: Column) -> Keys:
    """The keys of a column, none of them NULL."""
    different, number = _different(column)
    content = _hashed(different) if different.type is ColumnType.STRING else different
    return Keys(key_ids([content], len(content)), number, content)


def only_key(rows: int) -> Keys:
    """The keys of a stream without a key column: all rows are of one sensor."""
    return Keys(key_ids([], 1), np.zeros(rows, np.int64))


def _different(column: Column) -> tuple[Column, Whole]:
    """The keys that occur, once each; and for every row the number of its key."""
    if column.type is ColumnType.STRING:
        used = compacted(Column(column.type, column.values, None, column.names))
        assert used.names is not None
        once = Column(column.type, np.arange(len(used.names), dtype=np.int32), None, used.names)
        return once, used.values.astype(np.int64)
    values, number = np.unique(column.values, return_inverse=True)
    return Column(column.type, values), number.astype(np.int64)


def _hashed(column: Column) -> Column:
    """The hash of every text, which `match_id` uses too."""
    return Column(ColumnType.BIGINT, text_hashes(column.tolist()).view(np.int64))
