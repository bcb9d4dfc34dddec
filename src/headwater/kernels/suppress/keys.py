"""Which slot is a sensor's? Keys of any type, numbered as they come, the same for all queries of a stream.

Rule 1  A slot is for good: the first key that was seen has 0, and no slot is used twice.
Rule 2  Only what differs is looked up: a step costs a look at every row, and one question for every key that it has rows of.

Memory  One entry a key, for as long as the state lives. Keys are saved as a log: a step writes those that are new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, Log, Rows, compacted, text_hash

Whole = NDArray[np.int64]

KEY = "key"
_AT = "#at"


@dataclass(frozen=True, slots=True)
class Keys:
    """The slot of every key; of texts also a hash a slot, so that a key's text is hashed once and not with every answer."""

    slots: Mapping[Any, int] = field(default_factory=dict)
    hashes: Whole = field(default_factory=lambda: np.zeros(0, np.int64))
    log: Log = field(default_factory=Log)

    def __len__(self) -> int:
        return len(self.slots)

    def with_those_of(self, column: Column) -> tuple[Keys, Whole]:
        """With the keys of a column, none of them NULL; and the slot of every row."""
        different, number = _different(column)
        listed = different.tolist()
        found = np.fromiter(map(self.slots.get, listed, repeat(-1)), np.int64, len(listed))
        new = np.flatnonzero(found < 0)
        if not len(new):
            return self, found[number]
        found[new] = len(self) + np.arange(len(new))
        added = different.take(new)
        slots = {**self.slots, **dict(zip(added.tolist(), found[new].tolist(), strict=True))}
        at = Column(ColumnType.BIGINT, np.zeros(len(new), np.int64))
        log = self.log.append(Rows({KEY: compacted(added), _AT: at}, len(new)), _AT)
        return Keys(slots, np.concatenate([self.hashes, _hashes(added)]), log), found[number]


def keys_from(log: Log) -> Keys:
    """The keys of a log that was saved, in the order in which they came."""
    if (rows := log.rows()) is None:
        return Keys(log=log)
    column = rows[KEY]
    return Keys({key: slot for slot, key in enumerate(column.tolist())}, _hashes(column), log)


def _different(column: Column) -> tuple[Column, Whole]:
    """The keys that occur, once each; and for every row which of them it has."""
    if column.type is ColumnType.STRING:
        kept = compacted(Column(column.type, column.values, None, column.names))
        assert kept.names is not None
        once = Column(column.type, np.arange(len(kept.names), dtype=np.int32), None, kept.names)
        return once, kept.values.astype(np.int64)
    values, number = np.unique(column.values, return_inverse=True)
    return Column(column.type, values), number.astype(np.int64)


def _hashes(column: Column) -> Whole:
    if column.type is not ColumnType.STRING:
        return np.zeros(0, np.int64)
    return np.fromiter(map(text_hash, column.tolist()), np.uint64, len(column)).view(np.int64)
