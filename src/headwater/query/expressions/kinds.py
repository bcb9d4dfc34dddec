"""Which types expressions have, and what operators make of them.

A DURATION exists only inside expressions: it is what TIMESTAMP - TIMESTAMP gives and `30 SECONDS` is, in microseconds. As
a column of an answer it becomes a DOUBLE of seconds. A length (`500 METERS`) is a DOUBLE of metres from the beginning. NULL
is the type of the word NULL and of what is reckoned with it; it fits everywhere.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

from headwater.model import ColumnType
from headwater.query.language.tree import Literal, Name


class ExprType(enum.Enum):
    """The type of an expression."""

    STRING = "STRING"
    DOUBLE = "DOUBLE"
    BIGINT = "BIGINT"
    BOOLEAN = "BOOLEAN"
    TIMESTAMP = "TIMESTAMP"
    DURATION = "DURATION"
    ID = "ID"
    NULL = "NULL"

    @property
    def column(self) -> ColumnType:
        """The type of a column of answers that holds it."""
        return _COLUMNS.get(self) or ColumnType(self.value)


_COLUMNS: Final = {ExprType.DURATION: ColumnType.DOUBLE, ExprType.NULL: ColumnType.STRING}

COMPARISONS: Final = ("=", "<>", "<", "<=", ">", ">=")
LOGIC: Final = ("AND", "OR")

_B, _D, _T, _S = ExprType.BIGINT, ExprType.DOUBLE, ExprType.TIMESTAMP, ExprType.DURATION

# What + - * / % give; numbers first, BIGINT beside DOUBLE counts as DOUBLE.
_ARITHMETIC: Final[dict[tuple[str, ExprType, ExprType], ExprType]] = {
    **{(sign, _B, _B): _B for sign in ("+", "-", "*", "%")},
    **{(sign, _D, _D): _D for sign in ("+", "-", "*", "/", "%")},
    ("/", _B, _B): _D,
    ("-", _T, _T): _S,
    ("+", _T, _S): _T,
    ("-", _T, _S): _T,
    ("+", _S, _T): _T,
    ("+", _S, _S): _S,
    ("-", _S, _S): _S,
    ("/", _S, _S): _D,
    **{(sign, _S, number): _S for sign in ("*", "/") for number in (_B, _D)},
    **{("*", number, _S): _S for number in (_B, _D)},
}


def of_column(kind: ColumnType) -> ExprType:
    """The type of an expression that is a column."""
    return ExprType(kind.value)


def literal_type(literal: Literal) -> ExprType:
    """The type of a constant."""
    match literal.value:
        case None:
            return ExprType.NULL
        case bool():
            return ExprType.BOOLEAN
        case int():
            return ExprType.BIGINT
        case float():
            return ExprType.DOUBLE
        case str():
            return ExprType.STRING


def column_key(name: Name) -> str:
    """The name of a column among types and rows: `x`, or `A.x` after a row variable."""
    return name.name if name.qualifier is None else f"{name.qualifier}.{name.name}"


def common_type(kinds: Iterable[ExprType]) -> ExprType | None:
    """The type that values of all these types can be converted to; None if there is none."""
    found = set(kinds) - {ExprType.NULL}
    if found == {_B, _D}:
        return _D
    if len(found) > 1:
        return None
    return found.pop() if found else ExprType.NULL


def unary_type(operator: str, kind: ExprType) -> ExprType | None:
    """What a sign or NOT gives; None where it makes no sense."""
    fitting = (ExprType.BOOLEAN,) if operator == "NOT" else (_B, _D, _S)
    return kind if kind in (*fitting, ExprType.NULL) else None


def binary_type(operator: str, left: ExprType, right: ExprType) -> ExprType | None:
    """What an operator between two types gives; None where it makes no sense."""
    if operator in LOGIC:
        return ExprType.BOOLEAN if {left, right} <= {ExprType.BOOLEAN, ExprType.NULL} else None
    if operator in COMPARISONS:
        return None if common_type((left, right)) is None else ExprType.BOOLEAN
    if operator == "||":
        return ExprType.STRING if {left, right} <= {ExprType.STRING, ExprType.NULL} else None
    return _arithmetic_type(operator, left, right)


def _arithmetic_type(operator: str, left: ExprType, right: ExprType) -> ExprType | None:
    null = ExprType.NULL
    if null in (left, right):
        # Whatever type was meant, the value is NULL; but 'text' + NULL makes no sense either.
        sides = [(a, b) for a in _choices(left) for b in _choices(right)]
        return null if any((operator, *side) in _ARITHMETIC for side in sides) else None
    if {left, right} == {_B, _D}:
        left = right = _D
    return _ARITHMETIC.get((operator, left, right))


def _choices(kind: ExprType) -> tuple[ExprType, ...]:
    return (_B, _D, _T, _S) if kind is ExprType.NULL else (kind,)
