"""What each expression rule of `grammar.lark` adds to the tree; the methods carry the names of the rules."""

from __future__ import annotations

from lark import Token, Transformer, v_args

from headwater.model import parse_instant
from headwater.query.language.leaves import (
    literal,
    name_of,
    number_of,
    quantity,
    refused,
    stretch,
    text_of,
    too_deep,
)
from headwater.query.language.tokens import MAX_DEPTH, span_of
from headwater.query.language.tree import (
    Between,
    Binary,
    Call,
    Case,
    Expression,
    In,
    IsNull,
    Literal,
    Name,
    Quantity,
    Scope,
    Star,
    Timestamp,
    Unary,
)

Branch = tuple[Expression, Expression]


@v_args(inline=True)
class ExpressionRules(Transformer):  # type: ignore[type-arg]
    """Called by the parser as it reads; raises QueryError where the words are in order but say nothing."""

    def binary(self, left: Expression, operator: str, right: Expression) -> Binary:
        """Two sides and the operator between them; a long chain grows to the left, and is refused as soon as it is too deep."""
        span = stretch(left, right)
        if _operators_to_the_left(left) >= MAX_DEPTH - 1:
            raise too_deep(span)
        return Binary(operator.upper(), left, right, span=span)

    def unary(self, operator: Token, operand: Expression) -> Unary:
        """`-x`, `+x`, `NOT x`."""
        return Unary(operator.upper(), operand, span=stretch(operator, operand))

    def between(
        self, operand: Expression, negated: Token | None, low: Expression, high: Expression
    ) -> Between:
        """`x [NOT] BETWEEN low AND high`."""
        return Between(operand, low, high, negated is not None, span=stretch(operand, high))

    def in_list(self, operand: Expression, negated: Token | None, *items: Expression | Token) -> In:
        """`x [NOT] IN (…)`; the last argument is the closing parenthesis."""
        *listed, end = items
        return In(operand, tuple(listed), negated is not None, span=stretch(operand, end))  # type: ignore[arg-type]

    def is_null(self, operand: Expression, negated: Token | None, end: Token) -> IsNull:
        """`x IS [NOT] NULL`."""
        return IsNull(operand, negated is not None, span=stretch(operand, end))

    def case(
        self, word: Token, operand: Expression | None, *parts: Branch | Expression | Token | None
    ) -> Case:
        """`CASE [x] WHEN … END`; with an operand, each WHEN is a comparison with it."""
        *pairs, otherwise, end = parts
        branches: list[Branch] = pairs  # type: ignore[assignment]
        if operand is not None:
            branches = [(Binary("=", operand, value, span=value.span), then) for value, then in branches]
        return Case(tuple(branches), otherwise, span=stretch(word, end))  # type: ignore[arg-type]

    def branch(self, condition: Expression, value: Expression) -> Branch:
        """`WHEN condition THEN value`."""
        return condition, value

    def call(self, function: Token, arguments: tuple[Expression, ...] | None, end: Token) -> Call:
        """`FUNCTION(…)`."""
        return Call(function.upper(), arguments or (), span=stretch(function, end))

    def scoped_call(
        self, scope: Token, function: Token, arguments: tuple[Expression, ...] | None, end: Token
    ) -> Call:
        """`RUNNING FUNCTION(…)` or `FINAL FUNCTION(…)`."""
        return Call(function.upper(), arguments or (), Scope(scope.upper()), span=stretch(scope, end))

    def scope(self, word: Token) -> Token:
        """RUNNING or FINAL."""
        return word

    def star(self, sign: Token) -> Star:
        """`*` in a call."""
        return Star(span=span_of(sign))

    def variable_star(self, variable: Token, sign: Token) -> Star:
        """`A.*` in a call."""
        return Star(name_of(variable), span=stretch(variable, sign))

    def arguments(self, *arguments: Expression) -> tuple[Expression, ...]:
        """The arguments of a call."""
        return arguments

    def column_name(self, name: Token) -> Name:
        """`column`."""
        return Name(name_of(name), span=span_of(name))

    def qualified_name(self, qualifier: Token, name: Token) -> Name:
        """`variable.column`."""
        return Name(name_of(name), name_of(qualifier), span=stretch(qualifier, name))

    def string(self, token: Token) -> Literal:
        """A string in single quotes."""
        return Literal(text_of(token), span=span_of(token))

    def null(self, token: Token) -> Literal:
        """NULL."""
        return Literal(None, span=span_of(token))

    def true(self, token: Token) -> Literal:
        """TRUE."""
        return Literal(True, span=span_of(token))

    def false(self, token: Token) -> Literal:
        """FALSE."""
        return Literal(False, span=span_of(token))

    def number(self, token: Token) -> Literal:
        """A number."""
        return literal(token)

    def number_quantity(self, token: Token, unit: Token) -> Quantity:
        """A number with a unit."""
        return quantity(token, number_of(token), unit)

    def negative_number(self, minus: Token, token: Token) -> Literal:
        """A minus sign and the number after it, which are one number."""
        return literal(token, minus)

    def negative_quantity(self, minus: Token, token: Token, unit: Token) -> Quantity:
        """The same with a unit."""
        return quantity(minus, number_of(token, minus), unit)

    def timestamp(self, word: Token, token: Token) -> Timestamp:
        """`TIMESTAMP '2026-01-31 06:00:00'`."""
        try:
            return Timestamp(parse_instant(text_of(token)), span=stretch(word, token))
        except (ValueError, OverflowError):
            advice = "write it like TIMESTAMP '2026-01-31 06:00:00' (UTC) or '2026-01-31T06:00:00+01:00'"
            raise refused(f"{token} is not a date and time", span_of(token), advice) from None

    def plain_quantity(self, minus: Token | None, token: Token, unit: Token) -> Quantity:
        """`[-]30 SECONDS`."""
        return quantity(minus or token, number_of(token, minus), unit)

    def interval_number(self, word: Token, minus: Token | None, token: Token, unit: Token) -> Quantity:
        """`INTERVAL 6 SECONDS`."""
        return quantity(word, number_of(token, minus), unit)

    def interval_string(self, word: Token, token: Token, unit: Token) -> Quantity:
        """`INTERVAL '6' SECOND`."""
        said = text_of(token).strip()
        digits = Token("NUMBER", said.removeprefix("-"), None, token.line, token.column)
        if not digits.replace(".", "", 1).isdecimal() or not digits.isascii():
            raise refused(f"{token} is not a number", span_of(token), "write it like INTERVAL '6' SECOND")
        return quantity(word, number_of(digits, token if said.startswith("-") else None), unit)

    def unit(self, word: Token) -> Token:
        """A unit of time or length."""
        return word

    def comparator(self, sign: Token) -> str:
        """A comparison; `!=` is another way to write `<>`."""
        return "<>" if sign == "!=" else str(sign)

    def sum_sign(self, sign: Token) -> str:
        """`+`, `-` or `||`."""
        return str(sign)

    def product_sign(self, sign: Token) -> str:
        """`*`, `/` or `%`."""
        return str(sign)


def _operators_to_the_left(expression: Expression) -> int:
    count = 0
    while isinstance(expression, Binary):
        count, expression = count + 1, expression.left
    return count
