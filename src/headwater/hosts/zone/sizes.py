"""How much state has a zone, and for which queries?

Sizes are those of what is saved, so measuring only reads the size of every chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.model import END, Instant, Log, Saved, Text

_ITEM_BYTES: Final = 16
"""The assumed size of a number or text of a tree."""


@dataclass(frozen=True, slots=True)
class StateSize:
    """The bytes, rows and keys of a state, and the event time of the oldest; END: it has no times."""

    size: int = 0
    rows: int = 0
    keys: int = 0
    oldest: Instant = END

    def __add__(self, other: StateSize) -> StateSize:
        return StateSize(
            self.size + other.size,
            self.rows + other.rows,
            self.keys + other.keys,
            min(self.oldest, other.oldest),
        )


def size_of_saved(saved: Saved) -> StateSize:
    """The size of a kernel's state, by what it saves."""
    total = StateSize(_tree_bytes(saved.values))
    for log in saved.logs.values():
        total += size_of_log(log)
    for store in saved.stores.values():
        oldest = store.held if saved.holds_are_times else END
        total += StateSize(store.size, store.lines, len(store), oldest)
    return total


def size_of_log(log: Log) -> StateSize:
    """The size of a log."""
    size = sum(chunk.size for chunk in log.chunks)
    rows = sum(chunk.rows.count for chunk in log.chunks)
    return StateSize(size, rows, 0, min((chunk.oldest for chunk in log.chunks), default=END))


def add_sizes(zones: Iterable[Mapping[str, StateSize]]) -> dict[str, StateSize]:
    """The size of all zones together."""
    total: dict[str, StateSize] = {}
    for sizes in zones:
        for name, size in sizes.items():
            total[name] = total.get(name, StateSize()) + size
    return total


def _tree_bytes(node: Any) -> int:
    if isinstance(node, np.ndarray):
        return int(node.nbytes)
    if isinstance(node, Mapping):
        return sum(map(_tree_bytes, node.values()))
    if isinstance(node, list | tuple):
        return sum(map(_tree_bytes, node))
    if isinstance(node, Text):
        return int(node.offsets.nbytes + node.data.nbytes)
    return _ITEM_BYTES
