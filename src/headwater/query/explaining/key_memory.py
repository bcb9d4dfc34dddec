"""How much memory do so many keys take? Worked out from the records that each kernel stores by key.

A kernel that stores something for each key shows it in its stores (`Saved.stores`), whose shape is known before any row has
arrived. Declared sets have not been read then: the fences of a set take nothing by key, and each point of a set takes the same, so it
is counted for one point and said for each further one. `explain` describes elsewhere what a query stores of rows of any key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.model import BEGINNING, Column, Kernel, KeyedStore, Records, RecordsByKey, Text
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
    """What the queries of a kernel store for a key: always, for each line of each of its lists, and for each further point."""

    queries: str
    key_bytes: int
    line_bytes: tuple[int, ...]
    point_bytes: int = 0

    def in_words(self, keys: int) -> str:
        """For so many stored keys."""
        words = f"{size_in_words(self.key_bytes)} a key: {size_in_words(keys * self.key_bytes)}"
        if self.point_bytes:
            words += f" with one point, and {size_in_words(keys * self.point_bytes)} for each further point"
        if self.line_bytes:
            least, most = min(self.line_bytes), max(self.line_bytes)
            each = f"{least}" if least == most else f"{least} to {most}"
            words += f"; and {each} bytes for each of its rows or partial matches: {size_in_words(keys * most)} for one a key"
        return words


def key_memory(plan: Plan) -> list[KeyMemory]:
    """The memory by key of every kernel that has some."""
    found = []
    with_one, with_two = (plan.with_placeholders(points).groups(0) for points in (1, 2))
    for group, larger in zip(with_one, with_two, strict=True):
        if stores := _empty_stores(group.kernel):
            shapes = [store.like for store in stores.values()]
            lines = [_width(ragged.lines) for shape in shapes for ragged in shape.lists.values()]
            named = listed(group.queries, _MOST_NAMED) or group.name
            key_bytes = sum(map(_key_bytes, shapes))
            further = sum(_key_bytes(store.like) for store in _empty_stores(larger.kernel).values())
            found.append(KeyMemory(named, key_bytes, tuple(lines), further - key_bytes))
    return found


def _empty_stores(kernel: Kernel[Any]) -> Mapping[str, KeyedStore]:
    return (
        kernel.empty_stores()
        if isinstance(kernel, RecordsByKey)
        else kernel.save(kernel.start(BEGINNING)).stores
    )


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
