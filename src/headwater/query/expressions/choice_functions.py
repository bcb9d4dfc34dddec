"""Functions that choose among their arguments, which are of one type."""

from __future__ import annotations

from typing import Final

import numpy as np

from headwater.query.expressions.comparison import compare, is_true
from headwater.query.expressions.function_table import Function, SparkForm, phrase, taking_alike
from headwater.query.expressions.values import Value, both_valid, choose, is_valid


def _extreme(operator: str, values: tuple[Value, ...]) -> Value:
    """The first value that no other beats; NULLs are passed over."""
    found = values[0]
    for value in values[1:]:
        beats = is_true(compare(operator, value, found)) | ~is_valid(found)
        found = choose([beats & is_valid(value)], [value], found)
    return found


def _coalesce(*values: Value) -> Value:
    return choose([is_valid(value) for value in values[:-1]], values[:-1], values[-1])


def _null_if(value: Value, unwanted: Value) -> Value:
    equal = is_true(compare("=", value, unwanted))
    length = np.broadcast_shapes(value.values.shape, equal.shape)
    values = np.broadcast_to(value.values, length)
    return Value(value.kind, values, both_valid(value.valid, ~equal), value.names)


def _listed(function: str) -> SparkForm:
    return lambda arguments, _: f"{function}({', '.join(arguments)})"


CHOICE_FUNCTIONS: Final = (
    Function(
        "LEAST(a, b, …)",
        "the least of the values; NULLs are ignored",
        taking_alike(least=2),
        lambda *values: _extreme("<", values),
        _listed("LEAST"),
    ),
    Function(
        "GREATEST(a, b, …)",
        "the greatest of the values; NULLs are ignored",
        taking_alike(least=2),
        lambda *values: _extreme(">", values),
        _listed("GREATEST"),
    ),
    Function(
        "COALESCE(a, …)",
        "the first value that is not NULL",
        taking_alike(least=1),
        _coalesce,
        _listed("COALESCE"),
    ),
    Function(
        "NULLIF(a, b)",
        "a, but NULL where it equals b",
        taking_alike(least=2, most=2),
        _null_if,
        phrase("CASE WHEN {0} = {1} THEN NULL ELSE {0} END"),
    ),
)
