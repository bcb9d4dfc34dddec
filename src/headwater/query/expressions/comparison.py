"""What comparisons and AND, OR, NOT make of columns, in the three values of SQL: true, false, NULL."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headwater.query.expressions.kinds import ExprType, common_type
from headwater.query.expressions.values import (
    Array,
    Mask,
    Value,
    both_valid,
    coerce,
    is_valid,
    nulls,
    same_dictionary,
)

_BOOLEAN = ExprType.BOOLEAN


def compare(operator: str, left: Value, right: Value) -> Value:
    """`left operator right`; strings by code point, FALSE before TRUE, NULL beside anything is NULL."""
    kind = common_type((left.kind, right.kind))
    assert kind is not None, f"{left.kind} {operator} {right.kind} was not checked"
    if ExprType.NULL in (left.kind, right.kind):
        return nulls(_BOOLEAN)
    a, b = comparable((coerce(left, kind), coerce(right, kind)))
    return Value(_BOOLEAN, _compared(operator, a, b), both_valid(left.valid, right.valid))


def conjunction(left: Value, right: Value) -> Value:
    """`left AND right`: false if one of them is, whatever the other."""
    true = is_true(left) & is_true(right)
    return Value(_BOOLEAN, true, _unless_all(true | is_false(left) | is_false(right)))


def disjunction(left: Value, right: Value) -> Value:
    """`left OR right`: true if one of them is, whatever the other."""
    true = is_true(left) | is_true(right)
    return Value(_BOOLEAN, true, _unless_all(true | (is_false(left) & is_false(right))))


def opposite(value: Value) -> Value:
    """`NOT value`; NOT NULL is NULL."""
    value = coerce(value, _BOOLEAN)
    return Value(_BOOLEAN, ~value.values, value.valid)


def is_between(operand: Value, low: Value, high: Value) -> Value:
    """`operand BETWEEN low AND high`, all three brought to one type."""
    kind = common_type((operand.kind, low.kind, high.kind))
    assert kind is not None, "BETWEEN was not checked"
    operand, low, high = (coerce(value, kind) for value in (operand, low, high))
    return conjunction(compare(">=", operand, low), compare("<=", operand, high))


def is_among(operand: Value, items: Sequence[Value]) -> Value:
    """`operand IN (items)`, all brought to one type: NULL where nothing is equal but something is NULL."""
    kind = common_type([operand.kind, *(item.kind for item in items)])
    assert kind is not None, "IN was not checked"
    if kind is ExprType.NULL or operand.kind is ExprType.NULL:
        return nulls(_BOOLEAN)
    coerced = [coerce(value, kind) for value in (operand, *items)]
    array, *others = comparable(coerced)
    # Constants are looked up all at once: lists of a thousand sensors are common.
    constant = [
        len(other) == 1 and item.valid is None for other, item in zip(others, coerced[1:], strict=True)
    ]
    fixed = [other for other, alone in zip(others, constant, strict=True) if alone]
    found = np.isin(array, np.concatenate(fixed)) if fixed else np.zeros(len(array), np.bool_)
    known = np.ones(1, np.bool_)
    for other, item, alone in zip(others, coerced[1:], constant, strict=True):
        if not alone:
            found = found | ((array == other) & is_valid(item))
            known = known & is_valid(item)
    return Value(_BOOLEAN, found, _unless_all(is_valid(coerced[0]) & (found | known)))


def is_true(value: Value) -> Mask:
    """Where a BOOLEAN is true and not NULL."""
    value = coerce(value, _BOOLEAN)
    return value.values if value.valid is None else value.values & value.valid


def is_false(value: Value) -> Mask:
    """Where a BOOLEAN is false and not NULL."""
    value = coerce(value, _BOOLEAN)
    return ~value.values if value.valid is None else ~value.values & value.valid


def comparable(values: Sequence[Value]) -> list[Array]:
    """Arrays whose order is the order of the values, all of one kind."""
    if values[0].kind is ExprType.STRING:
        return same_dictionary(values)[0]
    return [value.values for value in values]


def _compared(operator: str, a: Array, b: Array) -> Mask:
    if operator == "=":
        return a == b
    if operator == "<>":
        return a != b
    if operator == "<":
        return a < b
    if operator == "<=":
        return a <= b
    if operator == ">":
        return a > b
    return a >= b


def _unless_all(valid: Mask) -> Mask | None:
    return None if valid.all() else valid
