"""Streams, points, fences and queries."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater.model import ColumnType, Span
from headwater.query.language.tree.expressions import Expression, Quantity, nowhere
from headwater.query.operators.correlate.tree import Correlate
from headwater.query.operators.fence.tree import Fence
from headwater.query.operators.follow.tree import Follow
from headwater.query.operators.nearest.tree import Nearest
from headwater.query.operators.pattern.tree import MatchRecognize
from headwater.query.operators.predict.tree import Predict
from headwater.query.operators.suppress.tree import Suppress

Operator = Correlate | MatchRecognize | Nearest | Suppress | Predict | Follow | Fence
"""An operator as written."""


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
    """`CREATE QUERY name AS select`; `view`: `CREATE VIEW`, whose answers only other queries read.

    `hidden`: it is not in the text; it is a step of a chain of operators.
    """

    name: str
    select: Select
    hidden: bool = False
    view: bool = False
    span: Span | None = nowhere()


Statement = CreateStream | CreatePoints | CreateFences | CreateQuery


@dataclass(frozen=True, slots=True)
class Script:
    """Statements in the order written."""

    statements: tuple[Statement, ...]
