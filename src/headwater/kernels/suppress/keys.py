"""Which sensors do the rows of a step speak of? Keys of any type, each once.

Rule 1  Only what differs is looked at: a step costs one look at every row, and one hash for every key that it has rows of.

Memory  None: what is known of a sensor stands in a store under the hash of its key.
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
    """The keys of some rows, once each: their identities uint64[n, 2], and which of them every row has.

    `content` is what stands for each key in `match_id`: of a text its hash, so that it is not hashed with every answer.
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
    """That of a stream without a key: all rows are of one sensor."""
    return Keys(key_ids([], 1), np.zeros(rows, np.int64))


def _different(column: Column) -> tuple[Column, Whole]:
    """The keys that occur, once each; and for every row which of them it has."""
    if column.type is ColumnType.STRING:
        used = compacted(Column(column.type, column.values, None, column.names))
        assert used.names is not None
        once = Column(column.type, np.arange(len(used.names), dtype=np.int32), None, used.names)
        return once, used.values.astype(np.int64)
    values, number = np.unique(column.values, return_inverse=True)
    return Column(column.type, values), number.astype(np.int64)


def _hashed(column: Column) -> Column:
    """The hash of every text, which is what `match_id` is made of too."""
    return Column(ColumnType.BIGINT, text_hashes(column.tolist()).view(np.int64))
