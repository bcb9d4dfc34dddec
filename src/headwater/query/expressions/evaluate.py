"""What is the value of an expression for every row?

Rule 1  Whole columns at once; no row is ever processed alone. String functions process the dictionary.
Rule 2  Three-valued logic: a comparison with NULL is NULL, and a condition holds only where it is true.
Rule 3  Nothing fails on a row: an expression without a value (a division by zero, a root of -1, a whole number beyond 64 bits) is NULL.

The expression has been checked with `type_of` before; what it forbids is an assertion here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, Rows
from headwater.query.expressions.arithmetic import combine_numbers, negate
from headwater.query.expressions.comparison import (
    compare,
    conjunction,
    disjunction,
    is_among,
    is_between,
    is_true,
    opposite,
)
from headwater.query.expressions.functions import FUNCTIONS
from headwater.query.expressions.kinds import COMPARISONS, ExprType, column_key, common_type, literal_type
from headwater.query.expressions.text_functions import concatenate
from headwater.query.expressions.values import (
    Value,
    choose,
    coerce,
    constant,
    from_column,
    is_valid,
    nulls,
    to_column,
)
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
    Star,
    Timestamp,
    Unary,
)
from headwater.query.language.walk import parts_of

Scalar = float | int | str | bool | None


def evaluate(expression: Expression, rows: Rows) -> Column:
    """The column of its values; a duration comes as a DOUBLE of seconds."""
    with np.errstate(all="ignore"):
        return to_column(_value(expression, rows), rows.count)


def evaluate_constant(expression: Expression) -> Scalar:
    """The value of an expression without columns."""
    value: Scalar = evaluate(expression, Rows({}, 1)).tolist()[0]
    return value


def condition(expression: Expression) -> Condition:
    """An expression as a condition on rows."""
    return Condition(expression)


@dataclass(frozen=True, slots=True)
class Condition:
    """True where the expression is; false where it is false or NULL."""

    expression: Expression

    def __call__(self, rows: Rows) -> NDArray[np.bool_]:
        """`bool[n]`."""
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(is_true(_value(self.expression, rows)), rows.count))


def _value(expression: Expression, rows: Rows) -> Value:
    match expression:
        case Name():
            return from_column(rows[column_key(expression)])
        case Literal() | Quantity() | Timestamp():
            return _constant(expression)
        case Binary():
            return _binary(expression.operator, _value(expression.left, rows), _value(expression.right, rows))
        case Unary():
            value = _value(expression.operand, rows)
            if expression.operator == "NOT":
                return opposite(value)
            return negate(value) if expression.operator == "-" else value
        case Between():
            inside = is_between(*(_value(part, rows) for part in parts_of(expression)))
            return opposite(inside) if expression.negated else inside
        case In():
            found = is_among(
                _value(expression.operand, rows), [_value(item, rows) for item in expression.items]
            )
            return opposite(found) if expression.negated else found
        case IsNull():
            missing = ~is_valid(_value(expression.operand, rows))
            return Value(ExprType.BOOLEAN, ~missing if expression.negated else missing)
        case Case():
            return _case(expression, rows)
        case Call():
            return _call(expression, rows)
        case Star():
            raise AssertionError("a star has no value of its own")


def _constant(expression: Literal | Quantity | Timestamp) -> Value:
    if isinstance(expression, Timestamp):
        return constant(ExprType.TIMESTAMP, expression.instant)
    if isinstance(expression, Quantity):
        if expression.unit.is_time:
            return constant(ExprType.DURATION, expression.micros)
        return constant(ExprType.DOUBLE, expression.meters)
    kind = literal_type(expression)
    return nulls(kind) if kind is ExprType.NULL else constant(kind, expression.value)


def _binary(operator: str, left: Value, right: Value) -> Value:
    if operator == "AND":
        return conjunction(left, right)
    if operator == "OR":
        return disjunction(left, right)
    if operator in COMPARISONS:
        return compare(operator, left, right)
    if operator == "||":
        return concatenate(coerce(left, ExprType.STRING), coerce(right, ExprType.STRING))
    return combine_numbers(operator, left, right)


def _case(expression: Case, rows: Rows) -> Value:
    conditions = [is_true(_value(condition, rows)) for condition, _ in expression.branches]
    values = [_value(value, rows) for _, value in expression.branches]
    otherwise = _value(expression.otherwise, rows) if expression.otherwise else nulls(ExprType.NULL)
    kind = common_type([*(value.kind for value in values), otherwise.kind])
    assert kind is not None, "CASE was not checked"
    return choose(conditions, [coerce(value, kind) for value in values], coerce(otherwise, kind))


def _call(expression: Call, rows: Rows) -> Value:
    function = FUNCTIONS[expression.function]
    arguments = [_value(argument, rows) for argument in expression.arguments]
    signature = function.resolve([argument.kind for argument in arguments])
    assert signature is not None, f"{expression.function} was not checked"
    if signature.gives is ExprType.NULL:
        return nulls(ExprType.NULL)
    return function.compute(*map(coerce, arguments, signature.takes))
