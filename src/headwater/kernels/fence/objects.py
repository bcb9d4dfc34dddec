"""Which object does a row belong to? The keys of all known objects, in order, and the state of each.

Rule 1  A slot is the place of a key in the order of keys. It changes when keys are added or forgotten.
Memory  One entry for every known key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from headwater.kernels.fence.geometry import Real, Whole
from headwater.model import Column, ColumnType, Rows, compacted, strings
from headwater.model.codec import rows_tree, tree_rows

NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Keys:
    """Different keys in order; for texts also the slot of each name."""

    column: Column
    places: Mapping[Any, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.column)

    @classmethod
    def of(cls, column: Column) -> Keys:
        """Keys that are already in order and different."""
        if column.type is not ColumnType.STRING:
            return cls(column)
        texts = column.tolist()
        return cls(
            Column(column.type, np.arange(len(texts), dtype=np.int32), None, _objects(texts)),
            {text: slot for slot, text in enumerate(texts)},
        )

    def find(self, column: Column) -> Whole:
        """The slot of every row's key, none of which is NULL; -1: it is not known."""
        if column.type is ColumnType.STRING:
            used = compacted(Column(column.type, column.values, None, column.names))
            listed = [] if used.names is None else used.names.tolist()
            slots = np.fromiter(map(self.places.get, listed, repeat(-1)), np.int64, len(listed))
            return slots[used.values] if len(listed) else np.zeros(0, np.int64)
        known = self.column.values
        if not len(known):
            return np.full(len(column), -1, np.int64)
        slots = np.minimum(np.searchsorted(known, column.values), len(known) - 1)
        return np.where(known[slots] == column.values, slots, -1)

    def having(self, column: Column) -> tuple[Keys, Whole]:
        """The keys together with those of a column; and the new slots of the former ones."""
        slots = self.find(column)
        if not len(slots) or slots.min() >= 0:
            return self, np.arange(len(self))
        new = column.take(np.flatnonzero(slots < 0))
        if column.type is ColumnType.STRING:
            merged = Keys.of(strings(sorted({*self.places, *new.tolist()})))
        else:
            merged = Keys(Column(column.type, np.union1d(self.column.values, new.values)))
        return merged, merged.find(self.column)

    def only(self, slots: Whole) -> Keys:
        """Some of them, in order."""
        return self if len(slots) == len(self) else Keys.of(self.column.take(slots))


@dataclass(frozen=True, slots=True)
class Known:
    """The last place of each key, and its time (NEVER: not known), and the shape there, as a text (empty if no query has shapes)."""

    keys: Keys
    time: Whole
    x: Real
    y: Real
    shape: Column

    @classmethod
    def none(cls, kind: ColumnType) -> Known:
        """No key yet."""
        none = np.zeros(0)
        return cls(Keys.of(Column.of(kind, ())), np.zeros(0, np.int64), none, none, strings([]))

    def having(self, keys: Keys, places: Whole) -> Known:
        """The state with further keys, of which nothing is known; `places` are the new slots of the former ones."""
        if keys is self.keys:
            return self
        many = len(keys)
        time, x, y = np.full(many, NEVER, np.int64), np.zeros(many), np.zeros(many)
        time[places], x[places], y[places] = self.time, self.x, self.y
        code = np.zeros(many, np.int32)
        texts = self.shape.names if self.shape.names is not None and len(self.shape.names) else _objects([""])
        code[places] = self.shape.values
        return Known(keys, time, x, y, Column(ColumnType.STRING, code, None, texts))

    def only(self, slots: Whole, keys: Keys | None = None) -> Known:
        """The entries of some slots, in order; `keys` are their keys, if the caller has them."""
        if len(slots) == len(self.time):
            return self
        shape = compacted(self.shape.take(slots))
        keys = self.keys.only(slots) if keys is None else keys
        return Known(keys, self.time[slots], self.x[slots], self.y[slots], shape)

    def save(self) -> dict[str, Any]:
        """As a tree of rows."""
        return rows_tree(
            Rows(
                {
                    "key": self.keys.column,
                    "time": Column(ColumnType.TIMESTAMP, self.time),
                    "x": Column(ColumnType.DOUBLE, self.x),
                    "y": Column(ColumnType.DOUBLE, self.y),
                    "shape": self.shape,
                },
                len(self.time),
            )
        )

    @classmethod
    def load(cls, tree: dict[str, Any]) -> Known:
        """The state of a saved tree."""
        rows = tree_rows(tree)
        time, x, y = (rows[name].values.copy() for name in ("time", "x", "y"))
        return cls(Keys.of(rows["key"]), time, x, y, rows["shape"])


def no_shapes(count: int) -> Column:
    """A column of empty shapes."""
    return Column(ColumnType.STRING, np.zeros(count, np.int32), None, _objects([""]))


def _objects(texts: list[Any]) -> Any:
    return np.array([*texts, ""], object)[:-1]
