"""A FENCE query as the kernel sees it: the stream of positions, the fences, and which changes it reports.

The kernel gets rows of several sources at once. A `Taking` says which of them are rows of one source and under which names its
columns are found; so positions may be fences at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from headwater.kernels.fence.choices import Detect
from headwater.kernels.fence.geometry import Shapes
from headwater.model import Column, ColumnType, Rows

SOURCE: Final = "source"


@dataclass(frozen=True, slots=True)
class Taking:
    """The rows of one source: its number among them (None: there is no other), and the name of each of its columns there."""

    source: int | None
    columns: Mapping[str, str]

    def rows(self, rows: Rows) -> Rows:
        """Its rows, with its own names; without columns that were not sent."""
        own = Rows({name: rows[there] for name, there in self.columns.items() if there in rows}, rows.count)
        return own if self.source is None else own.take(rows[SOURCE].values == self.source)


@dataclass(frozen=True, slots=True)
class Placed:
    """The positions among the rows of a source: those for which a condition holds; and the column of their shapes, if there is one.

    `where` is the index of the condition in the kernel's list.
    """

    taking: Taking
    where: int | None
    key: str
    x: str
    y: str
    x_type: ColumnType
    y_type: ColumnType
    key_type: ColumnType
    shape: str | None = None


@dataclass(frozen=True, slots=True)
class Fences:
    """Fences that stand still: their names, different and in order, and their shapes in the same order."""

    key: Column
    shapes: Shapes

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, slots=True)
class FenceQuery:
    """A standing FENCE. Lengths in metres, times in microseconds.

    There are either `fences`, which stand still, or `moving` ones. `same`: they are rows of the stream of positions, and an object is never in
    its own fence; with `roaming` the smaller key of a pair is the object. `share` is (zone, zones): only objects of this zone.
    """

    name: str
    fingerprint: str
    shape: int
    positions: Placed
    fences: Fences | None
    moving: Placed | None
    geographic: bool
    radius_m: float | None
    box_m: tuple[float, float] | None
    detect: frozenset[Detect]
    forget_us: int
    same: bool
    roaming: bool
    share: tuple[int, int] | None

    @property
    def has_shapes(self) -> bool:
        """Whether fences that move have shapes, and are not circles or boxes."""
        return self.moving is not None and self.moving.shape is not None
