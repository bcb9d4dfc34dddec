"""What each rule of CORRELATE in `grammar.lark` beside it adds to the tree; the methods carry the names of the rules."""

from __future__ import annotations

from typing import Any, cast

from lark import Token, v_args

from headwater.kernels.correlate.subscription import Emit
from headwater.query.language.leaves import (
    Number,
    alias_of,
    name_of,
    place_of,
    refused,
    stretch,
    text_of,
    whole_number,
)
from headwater.query.language.options import Option, once
from headwater.query.language.shared_rules import SharedRules
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Between, Binary, Expression, Literal, Name, Quantity, Unit
from headwater.query.operators.correlate.tree import (
    Area,
    BoxArea,
    CircleArea,
    Clause,
    Correlate,
    PolygonArea,
    SensorsArea,
)


@v_args(inline=True)
class CorrelateRules(SharedRules):
    """The rules between `CORRELATE (` and its end."""

    def correlate(self, word: Token, clauses: tuple[Clause, ...], *listed: Option) -> Correlate:
        """`CORRELATE (clauses options)`."""
        options = once(listed)
        if "WITHIN" not in options:
            advice = "give the longest time between the readings: WITHIN 30 SECONDS"
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
            alias_of(alias),
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

    def string_key(self, text: Token) -> Literal:
        """A sensor by name."""
        return Literal(text_of(text), span=span_of(text))

    def number_key(self, minus: Token | None, number: Token) -> Literal:
        """A sensor by number."""
        return Literal(whole_number(number, "a key", minus), span=stretch(minus or number, number))


def _number(node: Literal) -> Number:
    assert isinstance(node.value, int | float)
    return node.value
