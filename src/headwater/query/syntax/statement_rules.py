"""What each statement rule of `grammar.lark` adds to the tree; the methods carry the names of the rules."""

from __future__ import annotations

from typing import Any, Final, cast

from lark import Token, v_args

from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType
from headwater.query.checks.complaints import suggest
from headwater.query.syntax.fence_rules import FenceRules
from headwater.query.syntax.leaves import (
    Number,
    literal,
    name_of,
    place_of,
    refused,
    stretch,
    text_of,
    whole_number,
)
from headwater.query.syntax.options import Option, once
from headwater.query.syntax.tokens import span_of
from headwater.query.tree import (
    Area,
    Between,
    Binary,
    BoxArea,
    CircleArea,
    Clause,
    ColumnDefinition,
    Correlate,
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Expression,
    Item,
    Literal,
    Name,
    Operator,
    PlaceDefinition,
    PolygonArea,
    Quantity,
    Select,
    SensorsArea,
    Unit,
)

TYPES: Final = {
    **dict.fromkeys(("STRING", "VARCHAR", "TEXT"), ColumnType.STRING),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), ColumnType.DOUBLE),
    **dict.fromkeys(("BIGINT", "INT", "INTEGER", "LONG"), ColumnType.BIGINT),
    "BOOLEAN": ColumnType.BOOLEAN,
    "TIMESTAMP": ColumnType.TIMESTAMP,
}


@v_args(inline=True)
class Rules(FenceRules):
    """All rules of the grammar."""

    # --- statements -----------------------------------------------------------------------------------------------

    def create_stream(self, create: Token, name: Token, *parts: Any) -> CreateStream:
        """`CREATE STREAM name (…) …`."""
        places = [
            Option("PLACE", part, place_of(part)) for part in parts if isinstance(part, PlaceDefinition)
        ]
        options = once([*places, *(part for part in parts if isinstance(part, Option))])
        late, drop_late = options.get("LATE", (None, False))
        return CreateStream(
            name_of(name),
            tuple(part for part in parts if isinstance(part, ColumnDefinition)),
            options.get("PLACE"),
            late,
            drop_late,
            options.get("IDLE"),
            "DEDUPLICATE" in options,
            span=stretch(create, name),
        )

    def column(self, name: Token, kind: ColumnType, *roles: Token) -> ColumnDefinition:
        """`name TYPE [KEY | TIME]`."""
        said = [role.upper() for role in roles]
        return ColumnDefinition(name_of(name), kind, "KEY" in said, "TIME" in said, span=span_of(name))

    def type(self, word: Token) -> ColumnType:
        """The type a word stands for."""
        kind = TYPES.get(word.upper())
        if kind is None:
            raise refused(f"there is no type named '{word}'", span_of(word), *suggest(word, TYPES, "types"))
        return kind

    def column_role(self, word: Token) -> Token:
        """KEY or TIME."""
        return word

    def place(
        self, place: Token, x: Token, y: Token, end: Token, geographic: Token | None
    ) -> PlaceDefinition:
        """`PLACE (x, y) [GEOGRAPHIC]`."""
        span = stretch(place, geographic or end)
        return PlaceDefinition(name_of(x), name_of(y), geographic is not None, span=span)

    def late_option(self, word: Token, late: Quantity, drop: Token | None) -> Option:
        """`LATE t [DROP]`."""
        return Option("LATE", (late, drop is not None), span_of(word))

    def idle_option(self, word: Token, idle: Quantity) -> Option:
        """`IDLE t`."""
        return Option("IDLE", idle, span_of(word))

    def deduplicate_option(self, word: Token) -> Option:
        """`DEDUPLICATE`."""
        return Option("DEDUPLICATE", True, span_of(word))

    def create_points(self, create: Token, name: Token, *parts: Any) -> CreatePoints:
        """`CREATE POINTS name (…)`."""
        for part in parts:
            if isinstance(part, PlaceDefinition):
                advice = (
                    "leave it out: BY PLACE takes the columns that are named like the place of the stream"
                )
                raise refused("POINTS take no PLACE", part.span, advice)
        return CreatePoints(name_of(name), parts, span=stretch(create, name))

    def create_fences(self, create: Token, name: Token, *parts: Any) -> CreateFences:
        """`CREATE FENCES name (…)`."""
        for part in parts:
            if isinstance(part, PlaceDefinition):
                advice = (
                    "leave it out: fences are polygons, in the units of the positions they are asked about"
                )
                raise refused("FENCES take no PLACE", part.span, advice)
        return CreateFences(name_of(name), parts, span=stretch(create, name))

    def create_query(self, create: Token, name: Token, select: Select) -> CreateQuery:
        """`CREATE QUERY name AS select`."""
        return CreateQuery(name_of(name), select, span=stretch(create, name))

    def select(
        self,
        select: Token,
        items: tuple[Item, ...] | None,
        sources: tuple[Token, ...],
        where: Expression | None,
        *operators: Operator,
    ) -> Select:
        """`SELECT items FROM sources [WHERE …] [operators]`."""
        source, *further = sources
        return Select(
            items,
            name_of(source),
            where,
            operators[-1] if operators else None,
            operators[:-1],
            tuple(map(name_of, further)),
            source_span=span_of(source),
            further_spans=tuple(map(span_of, further)),
            span=stretch(select, source),
        )

    def sources(self, *names: Token) -> tuple[Token, ...]:
        """What a query reads."""
        return names

    def all_items(self) -> None:
        """`*`."""
        return

    def some_items(self, *items: Item) -> tuple[Item, ...]:
        """A list of items."""
        return items

    def item(self, expression: Expression, alias: Token | None) -> Item:
        """`expression [AS name]`."""
        return Item(expression, _alias(alias), span=stretch(expression, alias or expression))

    # --- CORRELATE ------------------------------------------------------------------------------------------------

    def correlate(self, word: Token, clauses: tuple[Clause, ...], *given: Option) -> Correlate:
        """`CORRELATE (clauses options)`."""
        options = once(given)
        if "WITHIN" not in options:
            advice = "say how near in time the readings must be: WITHIN 30 SECONDS"
            raise refused("CORRELATE without WITHIN", span_of(word), advice)
        within, distance = options["WITHIN"]
        return Correlate(
            clauses,
            within,
            distance,
            options.get("INSIDE"),
            "DISTINCT SENSORS" in options,
            options.get("EMIT"),
            options.get("LIMIT"),
            span=span_of(word),
        )

    def clauses(self, *clauses: Clause) -> tuple[Clause, ...]:
        """One clause after the other."""
        return clauses

    def clause(
        self,
        count: Literal | None,
        sensor: Literal | None,
        attribute: Token,
        condition: Between | Binary,
        alias: Token | None,
    ) -> Clause:
        """`[n OF] ['sensor'.]attribute range [AS name]`; the range comes without its left side."""
        name = Name(name_of(attribute), span=span_of(attribute))
        span = stretch(name, condition)
        whole = (
            Between(name, condition.low, condition.high, condition.negated, span=span)
            if isinstance(condition, Between)
            else Binary(condition.operator, name, condition.right, span=span)
        )
        return Clause(
            whole,
            cast(str | int | None, sensor and sensor.value),
            cast(int | None, count and count.value),
            _alias(alias),
            span=stretch(count or sensor or name, alias or condition),
        )

    def clause_count(self, number: Token) -> Literal:
        """`n OF`."""
        return Literal(whole_number(number, "OF"), span=span_of(number))

    def between_range(self, negated: Token | None, low: Expression, high: Expression) -> Between:
        """`[NOT] BETWEEN low AND high`, the left side to be filled in."""
        return Between(low, low, high, negated is not None, span=stretch(low, high))

    def comparison_range(self, operator: str, right: Expression) -> Binary:
        """`>= value`, the left side to be filled in."""
        return Binary(operator, right, right, span=place_of(right))

    def distinct_option(self, word: Token) -> Option:
        """`DISTINCT SENSORS`."""
        return Option("DISTINCT SENSORS", True, span_of(word))

    def within_option(self, word: Token, first: Quantity, second: Quantity | None) -> Option:
        """`WITHIN t [, d]`, also in the other order."""
        turned = second is not None and second.unit.is_time and not first.unit.is_time
        return Option("WITHIN", (second, first) if turned else (first, second), span_of(word))

    def inside_option(self, word: Token, area: Area) -> Option:
        """`INSIDE area`."""
        return Option("INSIDE", area, span_of(word))

    def sensors_option(self, area: SensorsArea) -> Option:
        """`SENSORS (…)` without INSIDE."""
        return Option("INSIDE", area, place_of(area))

    def emit_option(self, word: Token, emit: Emit) -> Option:
        """`EMIT …`."""
        return Option("EMIT", emit, span_of(word))

    def emitted(self, word: Token) -> Emit:
        """READINGS, LATEST or ALL."""
        return Emit(word.upper())

    def limit_option(self, word: Token, number: Token, _: Token) -> Option:
        """`LIMIT n PER ROW`."""
        return Option("LIMIT", whole_number(number, "LIMIT"), span_of(word))

    def circle_area(
        self, word: Token, x: Literal, y: Literal, radius: Literal | Quantity, end: Token
    ) -> CircleArea:
        """`CIRCLE (x, y, radius)`."""
        if isinstance(radius, Literal):
            radius = Quantity(_number(radius), Unit.METERS, span=radius.span)
        return CircleArea(_number(x), _number(y), radius, span=stretch(word, end))

    def box_area(self, word: Token, *sides: Any) -> BoxArea:
        """`BOX (west, south, east, north)`."""
        west, south, east, north, end = sides
        return BoxArea(_number(west), _number(south), _number(east), _number(north), span=stretch(word, end))

    def polygon_area(self, word: Token, *corners: Any) -> PolygonArea:
        """`POLYGON ((x, y), …)`."""
        return PolygonArea(corners[:-1], span=stretch(word, corners[-1]))

    def sensors_area(self, word: Token, *keys: Any) -> SensorsArea:
        """`SENSORS (keys)`."""
        return SensorsArea(tuple(key.value for key in keys[:-1]), span=stretch(word, keys[-1]))

    def corner(self, x: Literal, y: Literal) -> tuple[Number, Number]:
        """`(x, y)`."""
        return _number(x), _number(y)

    def coordinate(self, minus: Token | None, number: Token) -> Literal:
        """A number with its sign."""
        return literal(number, minus)

    def string_key(self, text: Token) -> Literal:
        """A sensor by name."""
        return Literal(text_of(text), span=span_of(text))

    def number_key(self, minus: Token | None, number: Token) -> Literal:
        """A sensor by number."""
        return Literal(whole_number(number, "a key", minus), span=stretch(minus or number, number))


def _alias(token: Token | None) -> str | None:
    return None if token is None else name_of(token)


def _number(node: Literal) -> Number:
    assert isinstance(node.value, int | float)
    return node.value
