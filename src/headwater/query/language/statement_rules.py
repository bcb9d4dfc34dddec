"""What each statement rule of `grammar.lark` adds to the tree; the methods carry the names of the rules."""

from __future__ import annotations

from typing import Any, Final, get_args

from lark import Token, v_args

from headwater.model import ColumnType
from headwater.query.language.leaves import (
    alias_of,
    name_of,
    place_of,
    refused,
    stretch,
)
from headwater.query.language.options import Option, once
from headwater.query.language.shared_rules import SharedRules
from headwater.query.language.suggestions import suggest
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import (
    ColumnDefinition,
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Expression,
    Item,
    Operator,
    PlaceDefinition,
    Quantity,
    Select,
)

TYPES: Final = {
    **dict.fromkeys(("STRING", "VARCHAR", "TEXT"), ColumnType.STRING),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), ColumnType.DOUBLE),
    **dict.fromkeys(("BIGINT", "INT", "INTEGER", "LONG"), ColumnType.BIGINT),
    "BOOLEAN": ColumnType.BOOLEAN,
    "TIMESTAMP": ColumnType.TIMESTAMP,
}


@v_args(inline=True)
class StatementRules(SharedRules):
    """The rules of statements, and what all operators share."""

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
        """The type that a word names."""
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
                advice = "leave it out: BY PLACE uses the columns with the names of the stream's place"
                raise refused("POINTS cannot have a PLACE", part.span, advice)
        return CreatePoints(name_of(name), parts, span=stretch(create, name))

    def create_fences(self, create: Token, name: Token, *parts: Any) -> CreateFences:
        """`CREATE FENCES name (…)`."""
        for part in parts:
            if isinstance(part, PlaceDefinition):
                advice = "leave it out: fences are polygons, in the units of the positions"
                raise refused("FENCES cannot have a PLACE", part.span, advice)
        return CreateFences(name_of(name), parts, span=stretch(create, name))

    def create_query(self, create: Token, name: Token, select: Select) -> CreateQuery:
        """`CREATE QUERY name AS select`."""
        return CreateQuery(name_of(name), select, span=stretch(create, name))

    def create_view(self, create: Token, name: Token, select: Select) -> CreateQuery:
        """`CREATE VIEW name AS select`."""
        return CreateQuery(name_of(name), select, view=True, span=stretch(create, name))

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
        return Item(expression, alias_of(alias), span=stretch(expression, alias or expression))


def all_rules() -> StatementRules:
    """The rules of statements together with those of every operator."""
    operators = [operator.rules() for operator in get_args(Operator)]
    rules: StatementRules = type("Rules", (StatementRules, *operators), {})()
    return rules
