"""Functions of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from headwater.query.expressions import spark_words
from headwater.query.expressions.arithmetic import absolute
from headwater.query.expressions.function_table import (
    Function,
    Signature,
    SparkForm,
    phrase,
    taking,
    taking_any_of,
)
from headwater.query.expressions.kinds import ExprType
from headwater.query.expressions.values import Array, Value, both_valid, doubles

_B, _D, _S = ExprType.BIGINT, ExprType.DOUBLE, ExprType.DURATION
_RADIANS: Final = 0.017453292519943295
_DEGREES: Final = 57.29577951308232
_WHOLE_FROM: Final = 2.0**52  # from here on every DOUBLE is a whole number
_MOST_DIGITS: Final = 22  # 10 to the 22 is the greatest power of ten that a DOUBLE holds exactly
_LEAST: Final = spark_words.whole(-(2**63))


def _of_doubles(
    usage: str, meaning: str, compute: Callable[..., Array], spark: SparkForm | None = None
) -> Function:
    """A numpy function as a function of the language; it has as many parameters as its usage has commas and one."""

    def computed(*arguments: Value) -> Value:
        return doubles(compute(*(a.values for a in arguments)), *(a.valid for a in arguments))

    parameters = (_D,) * (usage.count(",") + 1)
    return Function(usage, meaning, taking(*parameters, gives=_D), computed, spark)


def _whole_or(compute: Callable[[Array], Array]) -> Callable[[Value], Value]:
    """For DOUBLEs; whole numbers stay as they are."""

    def computed(value: Value) -> Value:
        return value if value.kind is _B else Value(_D, compute(value.values), value.valid)

    return computed


def _half_away(values: Array) -> Array:
    """The nearest whole number, a half going away from zero."""
    size = np.abs(values)
    down = np.floor(size)
    rounded = np.copysign(down + (size - down >= 0.5), values)
    return np.where(size < _WHOLE_FROM, rounded, values)


def _round(value: Value, digits: Value | None = None) -> Value:
    if digits is None:
        return _whole_or(_half_away)(value)
    places = np.clip(digits.values, -_MOST_DIGITS, _MOST_DIGITS)
    power = 10.0 ** np.abs(places)
    shifted = np.where(places >= 0, value.values * power, value.values / power)
    rounded = _half_away(shifted)
    back = np.where(places >= 0, rounded / power, rounded * power)
    # Beyond _WHOLE_FROM there is nothing to round, and shifting back could lose the last digit.
    result = np.where((places >= 0) & ~(np.abs(shifted) < _WHOLE_FROM), value.values, back)
    return doubles(result, both_valid(value.valid, digits.valid))


def _distance(x1: Array, y1: Array, x2: Array, y2: Array) -> Array:
    return np.sqrt((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2))


def _spark_distance(arguments: Sequence[str], _: Signature) -> str:
    x1, y1, x2, y2 = arguments
    across, along = f"({x1} - {x2})", f"({y1} - {y2})"
    return spark_words.finite(f"SQRT(({across} * {across}) + ({along} * {along}))")


def _spark_sign(arguments: Sequence[str], signature: Signature) -> str:
    if signature.gives is _D:
        return f"SIGNUM({arguments[0]})"
    return f"CAST(SIGNUM(CAST({arguments[0]} AS DOUBLE)) AS BIGINT)"


def _spark_absolute(arguments: Sequence[str], signature: Signature) -> str:
    return (
        f"ABS({arguments[0]})"
        if signature.gives is _D
        else f"ABS({spark_words.without(arguments[0], _LEAST)})"
    )


_NUMBER = taking_any_of(taking(_B, gives=_B), taking(_D, gives=_D))

NUMBER_FUNCTIONS: Final = (
    Function(
        "ABS(x)",
        "the absolute value of x; also of a duration",
        taking_any_of(_NUMBER, taking(_S, gives=_S)),
        absolute,
        _spark_absolute,
    ),
    Function(
        "SIGN(x)",
        "-1, 0 or 1, of the type of x",
        _NUMBER,
        lambda x: Value(x.kind, np.sign(x.values), x.valid),
        _spark_sign,
    ),
    Function(
        "ROUND(x[, n])",
        "x rounded to n digits after the decimal point (n from -22 to 22, default 0), halves away from zero",
        taking_any_of(_NUMBER, taking(_D, _B, gives=_D)),
        _round,
    ),
    Function("FLOOR(x)", "the greatest integer not above x, of the type of x", _NUMBER, _whole_or(np.floor)),
    Function("CEIL(x)", "the least integer not below x, of the type of x", _NUMBER, _whole_or(np.ceil)),
    _of_doubles(
        "SQRT(x)", "the square root", np.sqrt, phrase(spark_words.without("SQRT({0})", "DOUBLE('NaN')"))
    ),
    _of_doubles("EXP(x)", "e to the x", np.exp),
    _of_doubles("LN(x)", "the natural logarithm", np.log),
    _of_doubles("LOG10(x)", "the logarithm to base 10", np.log10),
    _of_doubles("POWER(x, y)", "x to the y", np.power),
    _of_doubles("SIN(x)", "the sine of an angle in radians", np.sin),
    _of_doubles("COS(x)", "the cosine of an angle in radians", np.cos),
    _of_doubles("TAN(x)", "the tangent of an angle in radians", np.tan),
    _of_doubles("ASIN(x)", "the angle in radians whose sine is x", np.arcsin),
    _of_doubles("ACOS(x)", "the angle in radians whose cosine is x", np.arccos),
    _of_doubles("ATAN(x)", "the angle in radians whose tangent is x", np.arctan),
    _of_doubles("ATAN2(y, x)", "the angle in radians of the direction (x, y)", np.arctan2),
    _of_doubles("RADIANS(x)", "degrees in radians", lambda x: x * _RADIANS, phrase(f"({{0}} * {_RADIANS}D)")),
    _of_doubles(
        "DEGREES(x)",
        "radians in degrees",
        lambda x: x * _DEGREES,
        phrase(spark_words.finite(f"({{0}} * {_DEGREES}D)")),
    ),
    _of_doubles(
        "DISTANCE(x1, y1, x2, y2)",
        "metres between two places of a plane in metres",
        _distance,
        _spark_distance,
    ),
)
