"""The smallest pieces of a tree: names, numbers, quantities and their places, from tokens.

A span goes from the first word of a node to its last; if these are on different lines it ends with the first.
"""

from __future__ import annotations

import math
from typing import Any, Final, cast

from lark import Token

from headwater.model import QueryError, Span
from headwater.query.language.tokens import MAX_DEPTH, span_of
from headwater.query.language.tree import Literal, Quantity, Unit

Number = float | int

UNITS: Final = {
    **dict.fromkeys(("SECOND", "SECONDS"), Unit.SECONDS),
    **dict.fromkeys(("MINUTE", "MINUTES"), Unit.MINUTES),
    **dict.fromkeys(("HOUR", "HOURS"), Unit.HOURS),
    **dict.fromkeys(("DAY", "DAYS"), Unit.DAYS),
    **dict.fromkeys(("METER", "METERS", "METRE", "METRES"), Unit.METERS),
    "KM": Unit.KM,
}

_LONG: Final = 2**63


def place_of(node: Any) -> Span:
    """The place of a token or a node."""
    return span_of(node) if isinstance(node, Token) else cast(Span, node.span)


def stretch(first: Any, last: Any) -> Span:
    """From the beginning of one token or node to the end of another."""
    start, end = place_of(first), place_of(last)
    if start.line != end.line or end.column < start.column:
        return start
    return Span(start.line, start.column, end.column + end.length - start.column)


def name_of(token: Token) -> str:
    """The name in a word or a quoted name."""
    if token.type != "QUOTED":
        return str(token)
    name = token[1:-1].replace('""', '"')
    if not name:
        raise refused(
            "a name is empty", span_of(token), "write at least one character between the double quotes"
        )
    return name


def text_of(token: Token) -> str:
    """What a string says."""
    return token[1:-1].replace("''", "'")


def number_of(token: Token, minus: Token | None = None) -> Number:
    """The number in a token, with the sign before it."""
    sign = "-" if minus is not None else ""
    if token.isdigit():
        # Beyond some thousands of digits Python itself refuses to read a whole number.
        if len(token) > 40 or not -_LONG <= int(sign + token) < _LONG:
            advice = f"integers go up to {_LONG - 1}; with a decimal point it is a DOUBLE"
            raise refused("this integer is too large", stretch(minus or token, token), advice)
        return int(sign + token)
    number = float(sign + token)
    if math.isinf(number):
        advice = "the largest is about 1.797e308"
        raise refused("this number is too large", stretch(minus or token, token), advice)
    return number


def whole_number(token: Token, what: str, minus: Token | None = None) -> int:
    """A number that must be whole."""
    number = number_of(token, minus)
    if isinstance(number, float):
        raise refused(
            f"{what} takes an integer, not {token}", span_of(token), "write it without a decimal point"
        )
    return number


def literal(token: Token, minus: Token | None = None) -> Literal:
    """A number as a node."""
    return Literal(number_of(token, minus), span=stretch(minus or token, token))


def quantity(first: Token, number: Number, unit: Token) -> Quantity:
    """A number with its unit as a node that begins with the token `first`."""
    made = Quantity(number, UNITS[unit.upper()], span=stretch(first, unit))
    if not math.isfinite(made.amount * made.unit.factor * 1e6):
        raise refused("this number is too large for its unit", made.span, "use a smaller number")
    return made


def refused(message: str, span: Span | None, *advice: str) -> QueryError:
    """The error that a rule raises."""
    return QueryError("syntax", message, span=span, advice=advice)


def too_deep(span: Span | None) -> QueryError:
    """The error for an expression or a pattern beyond MAX_DEPTH."""
    advice = "write long lists of alternatives with IN, or split the query into queries that read one another"
    return refused(f"an expression here is more than {MAX_DEPTH} levels deep", span, advice)


def alias_of(token: Token | None) -> str | None:
    """The name after AS, if there is one."""
    return None if token is None else name_of(token)
