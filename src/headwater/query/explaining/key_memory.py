"""How much memory do so many keys take? Worked out from the records that each kernel keeps by key.

A kernel that remembers something of each key says so by its stores (`Saved.stores`), whose shape is known before any row has
come. What a query keeps of rows, whoever they are of, is in its own words (`explain`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from headwater.model import BEGINNING, Column, Records, RecordsByKey, Text
from headwater.query.language.words import listed, size_in_words
from headwater.query.planning.plan import Plan

TEXT_BYTES: Final = 16
"""What the text of a key is taken to be long."""
RECORD_BYTES: Final = 32
"""The identity of a key, when it is due and what it holds back."""
_OFFSET_BYTES: Final = 8
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class KeyMemory:
    """What the queries of a kernel keep of a key: always, and for each line of each of its lists."""

    queries: str
    key_bytes: int
    line_bytes: tuple[int, ...]

    def in_words(self, keys: int) -> str:
        """For so many keys that are remembered."""
        told = f"{size_in_words(self.key_bytes)} a key: {size_in_words(keys * self.key_bytes)}"
        if self.line_bytes:
            least, most = min(self.line_bytes), max(self.line_bytes)
            each = f"{least}" if least == most else f"{least} to {most}"
            told += f"; and {each} bytes for each of its rows or partial matches: {size_in_words(keys * most)} for one a key"
        return told


def key_memory(plan: Plan) -> list[KeyMemory]:
    """The memory by key of every kernel that has some."""
    found = []
    for group in plan.groups(0):
        kernel = group.kernel
        stores = (
            kernel.empty_stores()
            if isinstance(kernel, RecordsByKey)
            else kernel.save(kernel.start(BEGINNING)).stores
        )
        if stores:
            shapes = [store.like for store in stores.values()]
            lines = [_width(ragged.lines) for shape in shapes for ragged in shape.lists.values()]
            named = listed(group.queries, _MOST_NAMED) or group.name
            found.append(KeyMemory(named, sum(map(_key_bytes, shapes)), tuple(lines)))
    return found


def _key_bytes(shape: Records) -> int:
    return RECORD_BYTES + _width(shape.table) + _OFFSET_BYTES * len(shape.lists)


def _width(columns: Mapping[str, object]) -> int:
    """Bytes of one line."""
    total = 0
    for values in columns.values():
        if isinstance(values, Text):
            total += _OFFSET_BYTES + TEXT_BYTES
        elif isinstance(values, Column):
            total += values.type.dtype.itemsize
        else:
            assert isinstance(values, np.ndarray)
            total += values.dtype.itemsize * int(np.prod(values.shape[1:], dtype=np.int64))
    return total
