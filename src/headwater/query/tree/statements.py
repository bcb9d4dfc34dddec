"""Streams, points, fences, queries and CORRELATE."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType, Span
from headwater.query.tree.expressions import Between, Binary, Expression, Quantity, nowhere
from headwater.query.tree.fence import Fence
from headwater.query.tree.follow import Follow
from headwater.query.tree.nearest import Nearest
from headwater.query.tree.patterns import MatchRecognize
from headwater.query.tree.predict import Predict, Suppress


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`name TYPE [KEY | TIME]`."""

    name: str
    type: ColumnType
    key: bool = False
    time: bool = False
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class PlaceDefinition:
    """`PLACE (x, y) [GEOGRAPHIC]`."""

    x: str
    y: str
    geographic: bool = False
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class CreateStream:
    """`CREATE STREAM name (columns) [LATE t [DROP]] [IDLE t] [DEDUPLICATE]`."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    place: PlaceDefinition | None = None
    late: Quantity | None = None
    drop_late: bool = False
    idle: Quantity | None = None
    deduplicate: bool = False
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class CreatePoints:
    """`CREATE POINTS name (columns)`: places and values that queries ask about, each with a name."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class CreateFences:
    """`CREATE FENCES name (columns)`: polygons that queries ask about, each with a name and what else is known of it."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class CircleArea:
    """`CIRCLE (x, y, radius)`; a radius without unit is metres."""

    x: float | int
    y: float | int
    radius: Quantity
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class BoxArea:
    """`BOX (west, south, east, north)`."""

    west: float | int
    south: float | int
    east: float | int
    north: float | int
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class PolygonArea:
    """`POLYGON ((x, y), (x, y), (x, y), …)`."""

    corners: tuple[tuple[float | int, float | int], ...]
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class SensorsArea:
    """`SENSORS ('s1', 's2')`: not a region but a list of keys."""

    keys: tuple[str | int, ...]
    span: Span | None = nowhere()


Area = CircleArea | BoxArea | PolygonArea | SensorsArea


@dataclass(frozen=True, slots=True)
class Clause:
    """`[n OF] ['sensor'.]attribute condition [AS name]`.

    `condition` is a Between or a Binary comparison whose left side is the Name of the attribute and whose other sides
    are constants.
    """

    condition: Between | Binary
    sensor: str | int | None = None
    count: int | None = None
    alias: str | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Correlate:
    """`CORRELATE (clauses [DISTINCT SENSORS] WITHIN t [, d] [INSIDE area] [EMIT …] [LIMIT n PER ROW])`."""

    clauses: tuple[Clause, ...]
    within: Quantity
    distance: Quantity | None = None
    area: Area | None = None
    distinct_sensors: bool = False
    emit: Emit | None = None
    limit: int | None = None
    span: Span | None = nowhere()


Operator = Correlate | MatchRecognize | Nearest | Suppress | Predict | Follow | Fence


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a SELECT list: an expression, with `AS alias` where it has one."""

    expression: Expression
    alias: str | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Select:
    """`SELECT items FROM source, … [WHERE condition] [operator …]`; items None is `*`.

    `operator` is the last one, which answers; `chain` are those before it, each of which the next one reads.
    """

    items: tuple[Item, ...] | None
    source: str
    where: Expression | None = None
    operator: Operator | None = None
    chain: tuple[Operator, ...] = ()
    further_sources: tuple[str, ...] = ()
    source_span: Span | None = nowhere()
    further_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class CreateQuery:
    """`CREATE QUERY name AS select`; `hidden`: nobody wrote it, it is a step of a chain of operators."""

    name: str
    select: Select
    hidden: bool = False
    span: Span | None = nowhere()


Statement = CreateStream | CreatePoints | CreateFences | CreateQuery


@dataclass(frozen=True, slots=True)
class Script:
    """Statements in the order written."""

    statements: tuple[Statement, ...]
