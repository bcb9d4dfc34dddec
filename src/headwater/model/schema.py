"""What a stream looks like: its columns, which of them is the time, the key and the place, and its lateness. And points and fences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from headwater.model.rows import ColumnType

INTEREST_SERIAL: Final = "#apart"
"""A column of whole numbers beside those of a stream: the interest of each row. Rows of different interests are never combined, and it is not part of
their content."""


@dataclass(frozen=True, slots=True)
class PlaceColumns:
    """The two columns that say where: metres in a plane, or longitude and latitude in degrees."""

    x: str
    y: str
    geographic: bool = False


@dataclass(frozen=True, slots=True)
class StreamSchema:
    """A stream as declared, or the answers of a query read as a stream.

    `late_us` is how far the watermark stays behind the greatest event time; `idle_us` after how long a silent
    input stops holding the others back (None: never); `drop_late`: late rows are counted, not delivered.
    """

    name: str
    columns: tuple[tuple[str, ColumnType], ...]
    time: str
    key: str | None = None
    place: PlaceColumns | None = None
    late_us: int = 0
    drop_late: bool = False
    idle_us: int | None = None
    deduplicate: bool = False

    @property
    def types(self) -> dict[str, ColumnType]:
        """The type of every column."""
        return dict(self.columns)

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that put rows in order: time, key, then the rest as declared."""
        first = (self.time, self.key) if self.key else (self.time,)
        return (*first, *(name for name, _ in self.columns if name not in first))


@dataclass(frozen=True, slots=True)
class PointsSchema:
    """Points as declared: `key` is the column that names each of them, all others are numbers."""

    name: str
    columns: tuple[tuple[str, ColumnType], ...]
    key: str

    @property
    def types(self) -> dict[str, ColumnType]:
        """The type of every column."""
        return dict(self.columns)


GEOMETRY: Final = "geometry"
"""The column of a table of fences that holds their polygons, as the text of a GeoJSON geometry or as WKT."""


@dataclass(frozen=True, slots=True)
class FencesSchema:
    """Fences as declared: `key` is the column that names each of them. Their polygons are in no declared column."""

    name: str
    columns: tuple[tuple[str, ColumnType], ...]
    key: str

    @property
    def types(self) -> dict[str, ColumnType]:
        """The type of every column, that of the polygons last."""
        return {**dict(self.columns), GEOMETRY: ColumnType.STRING}
