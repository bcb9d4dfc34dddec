"""What a query text says, as a tree of frozen values.

The parser makes it, the builders make the same, the printer turns it back into text, the checker gives it a meaning.
Spans say where a node stood in the text; they never count when two trees are compared.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType, Span


def _nowhere() -> Span | None:
    return field(default=None, compare=False, repr=False, kw_only=True)


# --- expressions ------------------------------------------------------------------------------------------------


class Unit(enum.Enum):
    """Units a number can carry: seconds and metres are what the engine counts in."""

    SECONDS = ("SECONDS", 1.0)
    MINUTES = ("MINUTES", 60.0)
    HOURS = ("HOURS", 3600.0)
    DAYS = ("DAYS", 86400.0)
    METERS = ("METERS", 1.0)
    KM = ("KM", 1000.0)

    @property
    def is_time(self) -> bool:
        """Whether it measures time; the others measure length."""
        return self not in (Unit.METERS, Unit.KM)

    @property
    def factor(self) -> float:
        """Seconds or metres in one of it."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a string, TRUE, FALSE or NULL (None)."""

    value: float | int | str | bool | None
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Timestamp:
    """TIMESTAMP '2026-01-31 06:00:00', in microseconds."""

    instant: int
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit: 30 SECONDS, 1.5 KM."""

    amount: float | int
    unit: Unit
    span: Span | None = _nowhere()

    @property
    def micros(self) -> int:
        """A duration in microseconds."""
        return round(self.amount * self.unit.factor * 1_000_000)

    @property
    def meters(self) -> float:
        """A length in metres."""
        return self.amount * self.unit.factor


@dataclass(frozen=True, slots=True)
class Name:
    """A column; `qualifier` is what stands before the dot, for operators with row variables."""

    name: str
    qualifier: str | None = None
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `+x` or `NOT x`."""

    operator: str
    operand: Expression
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Binary:
    """`+ - * / % || = <> < <= > >= AND OR` between two expressions."""

    operator: str
    left: Expression
    right: Expression
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Between:
    """`x [NOT] BETWEEN low AND high`, both ends included."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class In:
    """`x [NOT] IN (a, b, …)`."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class IsNull:
    """`x IS [NOT] NULL`."""

    operand: Expression
    negated: bool = False
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE WHEN condition THEN value … [ELSE value] END`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Call:
    """A function, its name in capitals."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span | None = _nowhere()


Expression = Literal | Timestamp | Quantity | Name | Unary | Binary | Between | In | IsNull | Case | Call


# --- statements ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`name TYPE [KEY | TIME]`."""

    name: str
    type: ColumnType
    key: bool = False
    time: bool = False
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class PlaceDefinition:
    """`PLACE (x, y) [GEOGRAPHIC]`."""

    x: str
    y: str
    geographic: bool = False
    span: Span | None = _nowhere()


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
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class CircleArea:
    """`CIRCLE (x, y, radius)`; a radius without unit is metres."""

    x: float | int
    y: float | int
    radius: Quantity
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class BoxArea:
    """`BOX (west, south, east, north)`."""

    west: float | int
    south: float | int
    east: float | int
    north: float | int
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class PolygonArea:
    """`POLYGON ((x, y), (x, y), (x, y), …)`."""

    corners: tuple[tuple[float | int, float | int], ...]
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class SensorsArea:
    """`SENSORS ('s1', 's2')`: not a region but a list of keys."""

    keys: tuple[str | int, ...]
    span: Span | None = _nowhere()


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
    span: Span | None = _nowhere()


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
    span: Span | None = _nowhere()


Operator = Correlate


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a SELECT list: an expression, with `AS alias` where it has one."""

    expression: Expression
    alias: str | None = None
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class Select:
    """`SELECT items FROM source [WHERE condition] [operator]`; items None is `*`."""

    items: tuple[Item, ...] | None
    source: str
    where: Expression | None = None
    operator: Operator | None = None
    source_span: Span | None = _nowhere()
    span: Span | None = _nowhere()


@dataclass(frozen=True, slots=True)
class CreateQuery:
    """`CREATE QUERY name AS select`."""

    name: str
    select: Select
    span: Span | None = _nowhere()


Statement = CreateStream | CreateQuery


@dataclass(frozen=True, slots=True)
class Script:
    """Statements in the order written."""

    statements: tuple[Statement, ...]
