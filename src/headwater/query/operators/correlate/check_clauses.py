"""What does each clause of a CORRELATE ask of a reading?

A clause is a range of values, or one text, on one attribute. `n OF clause AS cold` is written out as cold_1 … cold_n; a
clause without AS is named after its attribute, so two clauses on one attribute need AS.
"""

from __future__ import annotations

import math
from typing import Any, Final

from headwater.kernels import clauses as kernel
from headwater.kernels.clauses import Interval
from headwater.model import ColumnType, Span, StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.expression_types import constant, type_of
from headwater.query.language.tree import Between, Binary, Expression, Name
from headwater.query.language.walk import columns_of
from headwater.query.operators.correlate.operator import MOST_READINGS
from headwater.query.operators.correlate.tree import Clause

_RANGES: Final = ("=", "<", "<=", ">", ">=")


def check_clauses(
    clauses: tuple[Clause, ...], schema: StreamSchema | None, complaints: Complaints
) -> tuple[kernel.Clause, ...] | None:
    """Every clause, `n OF` written out; None where something is wrong. Without a schema, what can be checked is."""
    found: list[kernel.Clause] = []
    whole = _distinct_names(clauses, complaints)
    for group, clause in enumerate(clauses):
        made = _clause(clause, group, schema, complaints)
        whole &= made is not None
        found += made or ()
    return tuple(found) if whole else None


def attribute_of(clause: Clause) -> str | None:
    """The attribute a clause is about; None where it is not about one."""
    condition = clause.condition
    side = condition.operand if isinstance(condition, Between) else condition.left
    return side.name if isinstance(side, Name) and side.qualifier is None else None


def names_of(clause: Clause) -> list[str]:
    """The names of its readings in an answer."""
    base = clause.alias or attribute_of(clause) or "?"
    if clause.count is None:
        return [base]
    return [f"{base}_{number}" for number in range(1, min(clause.count, MOST_READINGS + 1) + 1)]


def _clause(
    clause: Clause, group: int, schema: StreamSchema | None, complaints: Complaints
) -> list[kernel.Clause] | None:
    before = len(complaints.errors)
    attribute = attribute_of(clause)
    if clause.count is not None and clause.count < 1:
        complaints.refuse(
            "not-a-count", f"{clause.count} OF needs no reading", clause.span, "use at least 1 OF"
        )
    if why := _no_range(clause.condition):
        _refuse_range(why, clause.condition.span or clause.span, complaints)
        return None
    if schema is None or type_of(clause.condition, schema.types, complaints) is None:
        return None
    assert attribute is not None
    checked = _values_of(clause.condition, attribute, schema.types[attribute], complaints)
    if checked is None or len(complaints.errors) > before:
        return None
    interval, text = checked
    return [kernel.Clause(name, attribute, interval, text, clause.sensor, group) for name in names_of(clause)]


def _no_range(condition: Between | Binary) -> str | None:
    """Why a condition is no range on one attribute, in words."""
    if isinstance(condition, Between) and condition.negated:
        return "NOT BETWEEN gives two ranges"
    if isinstance(condition, Binary) and condition.operator not in _RANGES:
        return f"{condition.operator} is not a range"
    side = condition.operand if isinstance(condition, Between) else condition.left
    if not isinstance(side, Name):
        return "it does not begin with a column"
    if any(columns_of(value) for value in _values(condition)):
        return "a column must be compared with a constant"
    return None


def _values_of(
    condition: Between | Binary, attribute: str, kind: ColumnType, complaints: Complaints
) -> tuple[Interval | None, str | None] | None:
    """The interval or the text of a clause."""
    values = [constant(value) for value in _values(condition)]
    if None in values:
        complaints.refuse(
            "empty-range", f"no '{attribute}' compares with NULL", condition.span, "remove the clause"
        )
        return None
    if kind in (ColumnType.STRING, ColumnType.BOOLEAN):
        if isinstance(condition, Between) or condition.operator != "=":
            example = "'text'" if kind is ColumnType.STRING else "TRUE"
            why = f"'{attribute}' is {kind.value} and can only be = {example}"
            _refuse_range(why, condition.span, complaints)
            return None
        if isinstance(values[0], str):
            return None, values[0]
    interval = _interval(condition, [_exact(value, kind) for value in values])
    if _is_empty(interval, kind):
        _empty_range(condition, attribute, kind, values, complaints)
        return None
    return interval, None


def _interval(condition: Between | Binary, bounds: list[float]) -> Interval:
    if isinstance(condition, Between):
        return Interval(bounds[0], bounds[1])
    bound = bounds[0]
    if condition.operator == "=":
        return Interval(bound, bound)
    if condition.operator in ("<", "<="):
        return Interval(-math.inf, bound, high_open=condition.operator == "<")
    return Interval(bound, math.inf, low_open=condition.operator == ">")


def _is_empty(interval: Interval, kind: ColumnType) -> bool:
    if interval.low > interval.high:
        return True
    finite = math.isfinite(interval.low) and math.isfinite(interval.high)
    return kind is ColumnType.BIGINT and finite and math.ceil(interval.low) > math.floor(interval.high)


def _empty_range(
    condition: Between | Binary, attribute: str, kind: ColumnType, values: list[Any], complaints: Complaints
) -> None:
    if len(values) == 1:
        what, advice = f"is {values[0]}", "compare it with an integer"
    elif values[0] > values[1]:
        what, advice = f"lies between {values[0]} and {values[1]}", "the lower end comes first: swap the two"
    else:
        what, advice = f"lies between {values[0]} and {values[1]}", "use integers"
    complaints.refuse("empty-range", f"no '{attribute}' ({kind.value}) {what}", condition.span, advice)


def _exact(value: Any, kind: ColumnType) -> float:
    """Numbers with a point where the column has them; whole numbers stay whole, however large."""
    return float(value) if kind is ColumnType.DOUBLE else int(value) if isinstance(value, bool) else value


def _distinct_names(clauses: tuple[Clause, ...], complaints: Complaints) -> bool:
    seen: set[str] = set()
    whole = True
    for clause in clauses:
        names = names_of(clause)
        if seen.intersection(names):
            base = clause.alias or attribute_of(clause)
            complaints.refuse(
                "duplicate-name",
                f"two clauses are named '{base}'",
                clause.span,
                "name one of them, as in wind <= 2 AS calm",
            )
            whole = False
        seen.update(names)
    return whole


def _values(condition: Between | Binary) -> tuple[Expression, ...]:
    return (condition.low, condition.high) if isinstance(condition, Between) else (condition.right,)


def _refuse_range(why: str, span: Span | None, complaints: Complaints) -> None:
    complaints.refuse(
        "not-a-range",
        f"the clause is not a range: {why}",
        span,
        "write attribute BETWEEN low AND high, or compare it with one value; put other conditions into WHERE",
    )
