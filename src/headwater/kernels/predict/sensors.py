"""Keys as numbers: which sensor an update is of, the order of keys, and their identity.

Rule 1  A key gets the next code on its first appearance. Answers never depend on codes, only on `rank` and `identity`, so codes may change
        between two steps.
Memory  One entry per key that has a line, and at most as many again of keys that have none left (see `kernel`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.predict.geometry.shapes import Whole
from headwater.model import Column, ColumnType, text_hash


@dataclass(frozen=True, slots=True)
class Sensors:
    """`names`: all keys in order. By code: `rank` int64, the place among them; `identity` int64, what content hashes of a key."""

    type: ColumnType
    names: NDArray[Any]
    rank: Whole
    identity: Whole

    @classmethod
    def none(cls, kind: ColumnType) -> Sensors:
        """No keys yet."""
        empty = np.empty(0, object if kind is ColumnType.STRING else kind.dtype)
        return cls(kind, empty, np.empty(0, np.int64), np.empty(0, np.int64))

    def codes(self, column: Column) -> tuple[Sensors, Whole]:
        """The codes of keys, none of them NULL, and all sensors with the new ones among them."""
        used, place = np.unique(column.values, return_inverse=True)
        names = used if column.names is None else column.names[used]
        among = np.searchsorted(self.names, names)
        is_known = np.zeros(len(names), np.bool_)
        inside = among < len(self.names)
        is_known[inside] = self.names[among[inside]] == names[inside]
        sensors = self if is_known.all() else self._with(names[~is_known], among[~is_known])
        if sensors is not self:
            among = np.searchsorted(sensors.names, names)
        by_rank = np.empty(len(sensors.rank), np.int64)
        by_rank[sensors.rank] = np.arange(len(sensors.rank))
        return sensors, by_rank[among][place.reshape(-1)]

    def column(self, codes: Whole) -> Column:
        """The keys of these codes."""
        if self.type is ColumnType.STRING:
            return Column(self.type, self.rank[codes].astype(np.int32), None, self.names)
        return Column(self.type, self.names[self.rank[codes]])

    def only(self, codes: Whole) -> Sensors:
        """The keys of some codes, which rise; the first of them has code 0."""
        by_rank = np.argsort(self.rank[codes], kind="stable")
        rank = np.empty(len(codes), np.int64)
        rank[by_rank] = np.arange(len(codes))
        return Sensors(self.type, self.names[self.rank[codes][by_rank]], rank, self.identity[codes])

    def save(self) -> dict[str, Any]:
        """For the codec."""
        names = self.names.tolist() if self.type is ColumnType.STRING else self.names
        return {"type": self.type.value, "names": names, "rank": self.rank}

    @classmethod
    def load(cls, saved: dict[str, Any]) -> Sensors:
        """The saved state."""
        kind = ColumnType(saved["type"])
        names = np.array([*saved["names"], ""], object)[:-1] if kind is ColumnType.STRING else saved["names"]
        rank = np.array(saved["rank"], np.int64)
        return cls(kind, names, rank, _identities(kind, names)[rank])

    def _with(self, names: NDArray[Any], among: Whole) -> Sensors:
        """The sensors with new names, which are inserted before these places."""
        many = len(self.rank)
        by_rank = np.empty(many, np.int64)
        by_rank[self.rank] = np.arange(many)
        by_rank = np.insert(by_rank, among, many + np.arange(len(names)))
        rank = np.empty(len(by_rank), np.int64)
        rank[by_rank] = np.arange(len(by_rank))
        return Sensors(
            self.type,
            np.insert(self.names, among, names),
            rank,
            np.concatenate([self.identity, _identities(self.type, names)]),
        )


def _identities(kind: ColumnType, names: NDArray[Any]) -> Whole:
    """The 64 bits by which content hashes know each key."""
    if kind is ColumnType.STRING:
        return np.array([text_hash(name) for name in names.tolist()], np.uint64).view(np.int64)
    if kind is ColumnType.DOUBLE:
        return (names + 0.0).view(np.int64)
    return names.astype(np.int64)
