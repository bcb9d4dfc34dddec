"""A FENCE query as the kernel gets it: whose positions, which fences, and which changes it reports.

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
        """Its rows, with its own names; without columns that did not travel."""
        own = Rows({name: rows[there] for name, there in self.columns.items() if there in rows}, rows.count)
        return own if self.source is None else own.take(rows[SOURCE].values == self.source)


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows of a source that say where somebody is: those for which a condition holds; and the column of their shapes, if they have any.

    `where` is a place in the kernel's list of conditions.
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
    """Fences that stand still: their names, in order and no two alike, and their shapes in the same order."""

    key: Column
    shapes: Shapes

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, slots=True)
class FenceQuery:
    """A standing FENCE. Lengths in metres, times in microseconds.

    There are either `fences`, which stand still, or `moving` ones. `same`: they are rows of the stream of positions, and nobody is in a
    fence of their own; with `roaming` the smaller key of a pair is the object. `share` is (zone, zones): only objects of this zone.
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
        """Whether fences that move are drawn, and not circles or boxes."""
        return self.moving is not None and self.moving.shape is not None
