"""What does an expression of DEFINE or MEASURES see, and what does it come to? (`Sight`, `value`)

Every navigation and aggregate is replaced by its value, the expressions oracle does the rest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwater.query.expressions import ExprType
from headwater.query.language.tree import (
    Call,
    Expression,
    Literal,
    Name,
    Scope,
    Star,
)
from tests.laws.oracles.expressions import TEXT, B, D, Typed, value_of

Row = Mapping[str, Any]
Pair = tuple[str, int]  # a variable and the row bound to it


@dataclass(frozen=True)
class Sight:
    """Rows of the partition, what is bound up to the present row and in all, and the row a bare column looks at."""

    types: Mapping[str, ExprType]
    rows: Sequence[Row]
    subsets: Mapping[str, Sequence[str]]
    bound: Sequence[Pair]
    whole: Sequence[Pair]
    row: int | None
    number: int | None

    def rows_of(self, variable: str | None, scope: Scope | None) -> list[int]:
        """The rows of a variable or subset, None: of all variables."""
        members = self.subsets.get(variable, (variable,)) if variable else None
        seen = self.whole if scope is Scope.FINAL else self.bound
        return sorted(row for name, row in seen if members is None or name in members)


def value(expression: Expression, sight: Sight) -> Typed:
    """The type and the value."""
    return _value(expression, lambda part: _looked_up(part, sight))


def _value(expression: Expression, look_up: Callable[[Expression], Typed | None]) -> Typed:
    """Of an expression in which some parts are replaced by what `look_up` finds for them."""
    values: dict[str, Typed] = {}

    def replaced(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(replaced(item) for item in part)
        if not dataclasses.is_dataclass(part) or isinstance(part, type):
            return part
        found = look_up(part)  # type: ignore[arg-type]
        if found is None:
            names = [field.name for field in dataclasses.fields(part) if field.name != "span"]
            return replace(part, **{name: replaced(getattr(part, name)) for name in names})
        values[f"#{len(values)}"] = found
        return Name(f"#{len(values) - 1}")

    return value_of(replaced(expression), values)


def _looked_up(part: Expression, sight: Sight) -> Typed | None:
    match part:
        case Name(_, None):
            return _at(part, sight, sight.row)
        case Name(_, variable):
            return _at(part, sight, _last(sight.rows_of(variable, None)))
        case Call("FIRST" | "LAST" | "PREV" | "NEXT"):
            inner, row = _navigated(part, sight, part.scope)
            return _at(inner, sight, row)
        case Call("CLASSIFIER", ()):
            return _at(part, sight, sight.row)
        case Call("CLASSIFIER", (Name(variable),), scope):
            return _at(Call("CLASSIFIER", ()), sight, _last(sight.rows_of(variable, scope)))
        case Call("MATCH_NUMBER"):
            return B, sight.number
        case Call("COUNT", (Star(variable),), scope):
            return B, len(sight.rows_of(variable, scope))
        case Call("COUNT" | "SUM" | "AVG" | "MIN" | "MAX", (argument,), scope):
            rows = sight.rows_of(_variable(argument), scope)
            return _aggregate(
                part.function, _at(argument, sight, None)[0], [_at(argument, sight, r)[1] for r in rows]
            )
    return None


def _at(expression: Expression, sight: Sight, row: int | None) -> Typed:
    """An expression about one row only; about no row all is NULL."""

    def look_up(part: Expression) -> Typed | None:
        match part:
            case Name(column):
                return sight.types[column], None if row is None else sight.rows[row][column]
            case Call("CLASSIFIER"):
                return TEXT, next((name for name, bound in sight.whole if bound == row), None)
        return None

    return _value(expression, look_up)


def _navigated(call: Call, sight: Sight, scope: Scope | None) -> tuple[Expression, int | None]:
    """The expression inside and the row it is about."""
    inner = call.arguments[0]
    offset = _offset(call)
    if call.function in ("FIRST", "LAST"):
        rows = sight.rows_of(_variable(inner), scope)
        place = offset if call.function == "FIRST" else len(rows) - 1 - offset
        return inner, rows[place] if 0 <= place < len(rows) else None
    if isinstance(inner, Call) and inner.function in ("FIRST", "LAST"):
        inner, base = _navigated(inner, sight, inner.scope or scope)
    else:
        variable = _variable(inner)
        base = sight.row if variable is None else _last(sight.rows_of(variable, scope))
    if base is None:
        return inner, None
    row = base - offset if call.function == "PREV" else base + offset
    return inner, row if 0 <= row < len(sight.rows) else None


def _offset(call: Call) -> int:
    if len(call.arguments) == 1:
        return 1 if call.function in ("PREV", "NEXT") else 0
    offset = call.arguments[1]
    assert isinstance(offset, Literal) and isinstance(offset.value, int)
    return offset.value


def _variable(expression: Expression) -> str | None:
    """The one variable that an expression inside a navigation or aggregate is about, None: any."""
    variables: set[str | None] = set()

    def visit(part: Any) -> None:
        if isinstance(part, Name):
            variables.add(part.qualifier)
        elif isinstance(part, Call) and part.function == "CLASSIFIER":
            variables.update(
                argument.name for argument in part.arguments if isinstance(argument, Name)
            ) if part.arguments else variables.add(None)
        elif isinstance(part, tuple):
            for item in part:
                visit(item)
        elif dataclasses.is_dataclass(part):
            for field in dataclasses.fields(part):
                if field.name != "span":
                    visit(getattr(part, field.name))

    visit(expression)
    assert len(variables) <= 1, expression
    return variables.pop() if variables else None


def _aggregate(function: str, kind: ExprType, values: list[Any]) -> Typed:
    there = [item for item in values if item is not None]
    if function == "COUNT":
        return B, len(there)
    if function == "AVG":
        kind = D
    if not there:
        return kind, None
    if function in ("MIN", "MAX"):
        return kind, min(there) if function == "MIN" else max(there)
    # One after the other: Python's own sum of floats is more exact than the definition. Reading: AVG of whole numbers is
    # their sum as DOUBLE, added in row order, by their number.
    total = 0.0 if kind is D else 0
    for item in there:
        total += float(item) if kind is D else item
    if function == "AVG":
        total /= len(there)
    if kind is D:
        return kind, total if math.isfinite(total) else None
    return kind, total if -(2**63) <= total < 2**63 else None


def _last(rows: Sequence[int]) -> int | None:
    return rows[-1] if rows else None
