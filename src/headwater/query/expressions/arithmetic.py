"""What `+ - * / %` and the signs make of columns.

Rule 1  Whole numbers, instants and durations are exact in 64 bits; a result that does not fit is NULL.
Rule 2  BIGINT / BIGINT is a DOUBLE. Division by zero is NULL. `%` has the sign of its left side.
Rule 3  A DOUBLE result that is infinite or no number is NULL.
"""

from __future__ import annotations

import numpy as np

from headwater.query.expressions.kinds import ExprType, binary_type
from headwater.query.expressions.values import Array, Mask, Value, both_valid, doubles, nulls

_LEAST = np.iinfo(np.int64).min
_TOO_LARGE = 2.0**63


def combine_numbers(operator: str, left: Value, right: Value) -> Value:
    """`left operator right`, for any types that the operator takes."""
    kind = binary_type(operator, left.kind, right.kind)
    assert kind is not None, f"{left.kind} {operator} {right.kind} was not checked"
    if ExprType.NULL in (left.kind, right.kind):
        return nulls(kind)
    if kind is ExprType.DOUBLE:
        return _doubles(operator, left, right)
    if ExprType.DOUBLE in (left.kind, right.kind) or (kind is ExprType.DURATION and operator == "/"):
        return _scaled_duration(operator, left, right)
    return _whole(operator, kind, left, right)


def negate(value: Value) -> Value:
    """`-value`."""
    if value.kind is ExprType.NULL:
        return value
    if value.kind is ExprType.DOUBLE:
        return Value(value.kind, -value.values, value.valid)
    return Value(value.kind, -value.values, both_valid(value.valid, unless(value.values == _LEAST)))


def absolute(value: Value) -> Value:
    """The value without its sign."""
    if value.kind is ExprType.DOUBLE:
        return Value(value.kind, np.abs(value.values), value.valid)
    return Value(value.kind, np.abs(value.values), both_valid(value.valid, unless(value.values == _LEAST)))


def unless(bad: Mask) -> Mask | None:
    """The mask of the good places; None when there are no bad ones."""
    return ~bad if bad.any() else None


def _doubles(operator: str, left: Value, right: Value) -> Value:
    a, b = left.values.astype(np.float64), right.values.astype(np.float64)
    valid = both_valid(left.valid, right.valid)
    if operator == "+":
        return doubles(a + b, valid)
    if operator == "-":
        return doubles(a - b, valid)
    if operator == "*":
        return doubles(a * b, valid)
    zero = b == 0
    divisor = np.where(zero, 1.0, b)
    return doubles(a / divisor if operator == "/" else np.fmod(a, divisor), valid, unless(zero))


def _scaled_duration(operator: str, left: Value, right: Value) -> Value:
    """A duration times or divided by a number, to the nearest microsecond."""
    scaled = _doubles(operator, left, right)
    rounded = np.rint(scaled.values)
    bad = ~((rounded >= -_TOO_LARGE) & (rounded < _TOO_LARGE))
    micros = np.where(bad, 0.0, rounded).astype(np.int64)
    return Value(ExprType.DURATION, micros, both_valid(scaled.valid, unless(bad)))


def _whole(operator: str, kind: ExprType, left: Value, right: Value) -> Value:
    a, b = left.values, right.values
    valid = both_valid(left.valid, right.valid)
    if operator == "+":
        total = a + b
        return Value(kind, total, both_valid(valid, unless(((a ^ total) & (b ^ total)) < 0)))
    if operator == "-":
        rest = a - b
        return Value(kind, rest, both_valid(valid, unless(((a ^ b) & (a ^ rest)) < 0)))
    if operator == "*":
        return Value(kind, a * b, both_valid(valid, unless(_product_overflows(a, b))))
    zero = b == 0
    # Dividing the least whole number by -1 overflows; the rest is 0 for 1 and -1 alike.
    divisor = np.where(zero | (b == -1), 1, b)
    return Value(kind, np.fmod(a, divisor), both_valid(valid, unless(zero)))


def _product_overflows(a: Array, b: Array) -> Mask:
    near = np.abs(a.astype(np.float64) * b.astype(np.float64)) >= _TOO_LARGE / 2
    if not near.any():
        return near
    wrapped = a * b
    safe = np.where((a == 0) | (a == -1), 1, a)
    exact = np.where(a == -1, b != _LEAST, (a == 0) | ((wrapped // safe == b) & (wrapped % safe == 0)))
    return near & ~exact
