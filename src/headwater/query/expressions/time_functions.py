"""Functions of instants: what a calendar and a clock in UTC show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from headwater.model import UNITS
from headwater.query.expressions.function_table import Function, phrase, taking
from headwater.query.expressions.kinds import ExprType
from headwater.query.expressions.values import Array, Value

_DAY, _HOUR, _MINUTE, _SECOND = (UNITS[unit] for unit in ("DAYS", "HOURS", "MINUTES", "SECONDS"))

# Spark divides towards zero: every instant is made positive before the division, and moved back after it.
_SHIFT_DAYS: Final = 50_000_000
_SPARK_DATE: Final = f"DATE_FROM_UNIX_DATE(CAST(TRY_ADD(SHIFTLEFT({{0}}, 0), {_SHIFT_DAYS * _DAY}L) DIV {_DAY}L - {_SHIFT_DAYS}L AS INT))"


def _days(instants: Array) -> Array:
    return (instants // _DAY).astype("datetime64[D]")


def _year(instants: Array) -> Array:
    return _days(instants).astype("datetime64[Y]").astype(np.int64) + 1970


def _month(instants: Array) -> Array:
    return _days(instants).astype("datetime64[M]").astype(np.int64) % 12 + 1


def _day(instants: Array) -> Array:
    days = _days(instants)
    return (days - days.astype("datetime64[M]").astype("datetime64[D]")).astype(np.int64) + 1


def _calendar(name: str, meaning: str, compute: Callable[[Array], Array]) -> Function:
    return _function(name, meaning, compute, f"CAST({name}({_SPARK_DATE}) AS BIGINT)")


def _clock(name: str, meaning: str, whole: int, part: int) -> Function:
    def compute(instants: Array) -> Array:
        return instants % whole // part

    return _function(name, meaning, compute, f"(PMOD({{0}}, {whole}L) DIV {part}L)")


def _function(name: str, meaning: str, compute: Callable[[Array], Array], spark: str) -> Function:
    def computed(value: Value) -> Value:
        return Value(ExprType.BIGINT, compute(value.values), value.valid)

    resolve = taking(ExprType.TIMESTAMP, gives=ExprType.BIGINT)
    return Function(f"{name}(t)", meaning, resolve, computed, phrase(spark))


TIME_FUNCTIONS: Final = (
    _calendar("YEAR", "the year of t", _year),
    _calendar("MONTH", "the month of t, 1 to 12", _month),
    _calendar("DAY", "the day of the month of t, 1 to 31", _day),
    _clock("HOUR", "the hour of t, 0 to 23", _DAY, _HOUR),
    _clock("MINUTE", "the minute of t, 0 to 59", _HOUR, _MINUTE),
    _clock("SECOND", "the second of t, 0 to 59, without its fraction", _MINUTE, _SECOND),
)
