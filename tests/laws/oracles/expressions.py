"""The value of an expression for one row, the slow way: `docs/reference/language.md` transcribed for clarity.

A value is a Python value and the type it has; None is NULL. Whole numbers are exact, whatever their size, until a result is
looked at: what does not fit 64 bits is NULL.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.query.expressions import ExprType
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
    Timestamp,
    Unary,
)

B, D, T, S = ExprType.BIGINT, ExprType.DOUBLE, ExprType.TIMESTAMP, ExprType.DURATION
TEXT, BOOL, NULL = ExprType.STRING, ExprType.BOOLEAN, ExprType.NULL

Typed = tuple[ExprType, Any]
Row = Mapping[str, Typed]


def value_of(expression: Expression, row: Row) -> Typed:
    """The type and the value."""
    match expression:
        case Name(name):
            return row[name]
        case Literal(value):
            return _literal_type(value), value
        case Timestamp(instant):
            return T, instant
        case Quantity() if expression.unit.is_time:
            return S, expression.micros
        case Quantity():
            return D, float(expression.meters)
        case Unary("NOT", operand):
            return BOOL, _not(value_of(operand, row)[1])
        case Unary(sign, operand):
            kind, value = value_of(operand, row)
            return kind, _fitting(kind, value if sign == "+" or value is None else -value)
        case Binary(operator, left, right):
            return _binary(operator, value_of(left, row), value_of(right, row))
        case Between(operand, low, high, negated):
            sides = _all_as_common([value_of(part, row) for part in (operand, low, high)])
            inside = _and(_compare(">=", sides[0], sides[1]), _compare("<=", sides[0], sides[2]))
            return BOOL, _not(inside) if negated else inside
        case In(operand, items, negated):
            value, *others = _all_as_common([value_of(part, row) for part in (operand, *items)])
            equals = [_compare("=", value, other) for other in others]
            found = True if True in equals else (None if None in equals else False)
            return BOOL, _not(found) if negated else found
        case IsNull(operand, negated):
            return BOOL, (value_of(operand, row)[1] is None) != negated
        case Case(branches, otherwise):
            values = [value_of(value, row) for _, value in branches]
            values.append(value_of(otherwise, row) if otherwise else (NULL, None))
            holds = [value_of(condition, row)[1] for condition, _ in branches]
            return _as_common(values, holds.index(True) if True in holds else -1)
        case Call(function, arguments):
            return _call(function, [value_of(argument, row) for argument in arguments])
    raise AssertionError(expression)


def shown(typed: Typed) -> Any:
    """As a column of answers has it: a duration in seconds."""
    kind, value = typed
    return float(value) / 1e6 if kind is S and value is not None else value


def _binary(operator: str, left: Typed, right: Typed) -> Typed:
    if operator == "AND":
        return BOOL, _and(left[1], right[1])
    if operator == "OR":
        return BOOL, _not(_and(_not(left[1]), _not(right[1])))
    if operator in ("=", "<>", "<", "<=", ">", ">="):
        return BOOL, _compare(operator, left, right)
    kind = _result_type(operator, left[0], right[0])
    a, b = left[1], right[1]
    if a is None or b is None:
        return kind, None
    if operator == "||":
        return kind, a + b
    if operator in "/%" and b == 0:
        return kind, None
    if kind is D:
        return kind, _fitting(kind, _of_doubles(operator, float(a), float(b)))
    if kind is S and (D in (left[0], right[0]) or operator == "/"):
        scaled = _of_doubles(operator, float(a), float(b))
        return kind, _fitting(kind, round(scaled)) if math.isfinite(scaled) else None
    whole = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "%": lambda: _rest(a, b)}
    return kind, _fitting(kind, whole[operator]())


def _result_type(operator: str, left: ExprType, right: ExprType) -> ExprType:
    kinds = {left, right}
    if operator == "||":
        return TEXT
    if NULL in kinds:
        return NULL
    if kinds == {S} and operator == "/":
        return D
    if kinds == {T}:
        return S
    if T in kinds:
        return T
    if S in kinds:
        return S
    return D if D in kinds or operator == "/" else B


def _of_doubles(operator: str, a: float, b: float) -> float:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
        case _:
            return math.fmod(a, b)


def _rest(a: int, b: int) -> int:
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


def _fitting(kind: ExprType, value: Any) -> Any:
    if value is None or kind in (TEXT, BOOL):
        return value
    if kind is D:
        return value if math.isfinite(value) else None
    return value if -(2**63) <= value < 2**63 else None


def _compare(operator: str, left: Typed, right: Typed) -> bool | None:
    a = _as_common([left, right], 0)[1]
    b = _as_common([left, right], 1)[1]
    if a is None or b is None:
        return None
    return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def _as_common(values: list[Typed], chosen: int) -> Typed:
    """One of some values, as the type that all of them have in common."""
    kinds = {kind for kind, _ in values} - {NULL}
    assert len(kinds) < 2 or kinds == {B, D}
    kind = D if len(kinds) == 2 else (kinds.pop() if kinds else NULL)
    value = values[chosen][1]
    return kind, float(value) if kind is D and value is not None else value


def _all_as_common(values: list[Typed]) -> list[Typed]:
    return [_as_common(values, n) for n in range(len(values))]


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _literal_type(value: Any) -> ExprType:
    return {type(None): NULL, bool: BOOL, int: B, float: D, str: TEXT}[type(value)]


# --- functions ----------------------------------------------------------------------------------------------------------


def _call(function: str, arguments: list[Typed]) -> Typed:
    match function:
        case "COALESCE":
            there = [n for n, (_, value) in enumerate(arguments) if value is not None]
            return _as_common(arguments, there[0] if there else 0)
        case "NULLIF":
            kind, value = _as_common(arguments, 0)
            return kind, None if _compare("=", *arguments) else value
        case "LEAST" | "GREATEST":
            values = [_as_common(arguments, n) for n in range(len(arguments))]
            there = [value for _, value in values if value is not None]
            return values[0][0], (min(there) if function == "LEAST" else max(there)) if there else None
    kind, compute = _FUNCTIONS[function]
    first = arguments[0][0]
    kind = kind or first
    if any(value is None for _, value in arguments):
        return kind, None
    return kind, _fitting(kind, compute(*(value for _, value in arguments)))


def _substring(text: str, position: int, length: int = 2**31 - 1) -> str:
    position, length = (max(-(2**31), min(number, 2**31 - 1)) for number in (position, length))
    first = position if position > 0 else (len(text) + 1 + position if position < 0 else 1)
    return "".join(c for n, c in enumerate(text, start=1) if first <= n < first + length)


def _moment(instant: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)


def _clock(instant: int, name: str) -> int:
    """From a calendar; outside the years that Python's has, four hundred years on or back look the same."""
    cycle = 400 * 146097 // 400 * 86_400_000_000
    shift = 0
    while not -62135596800000000 <= instant <= 253402300799999999:
        instant, shift = (instant - cycle, shift + 400) if instant > 0 else (instant + cycle, shift - 400)
    return getattr(_moment(instant), name) + (shift if name == "year" else 0)


def _distance(x1: float, y1: float, x2: float, y2: float) -> float:
    x, y = float(x1) - float(x2), float(y1) - float(y2)
    return math.sqrt(x * x + y * y)


def _sign(x: float) -> float:
    return (x > 0) - (x < 0)


# The type of the result (None: that of the first argument) and how it is worked out where nothing is NULL.
_FUNCTIONS: dict[str, tuple[ExprType | None, Any]] = {
    "ABS": (None, abs),
    "SIGN": (None, _sign),
    "SQRT": (D, lambda x: math.sqrt(x) if x >= 0 else math.nan),
    "RADIANS": (D, lambda x: x * 0.017453292519943295),
    "DEGREES": (D, lambda x: x * 57.29577951308232),
    "DISTANCE": (D, _distance),
    "LENGTH": (B, len),
    "TRIM": (TEXT, lambda text: text.strip(" ")),
    "SUBSTRING": (TEXT, _substring),
    "CONCAT": (TEXT, lambda *parts: "".join(parts)),
    "YEAR": (B, lambda t: _clock(t, "year")),
    "MONTH": (B, lambda t: _clock(t, "month")),
    "DAY": (B, lambda t: _clock(t, "day")),
    "HOUR": (B, lambda t: _clock(t, "hour")),
    "MINUTE": (B, lambda t: _clock(t, "minute")),
    "SECOND": (B, lambda t: _clock(t, "second")),
}
