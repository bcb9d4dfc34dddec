"""What does a condition see? Its parts, each with the values in it, for a row under test and the rows bound so far.

A condition is taken apart where it is joined by AND. Columns, navigation and aggregates are worked out one by one, from the
rows themselves, so that a person can read what was compared: `39.5 > 43.0 is false`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from headwater.kernels.pattern.trace import Bound, Recording
from headwater.model import Column, ColumnType, Rows, StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.expressions import ExprType, evaluate
from headwater.query.language.expression_text import expression_text
from headwater.query.language.tree import Binary, Call, Expression, Literal, Name, Timestamp
from headwater.query.language.walk import columns_of, parts_of, with_parts
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.programs import is_under_test, value_of
from headwater.query.operators.pattern.terms import (
    AGGREGATES,
    LOGICAL,
    PHYSICAL,
    AggregateTerm,
    Lowered,
    Place,
    RowTerm,
    Term,
    Where,
    lower,
)
from headwater.query.operators.pattern.tree import Loop, MatchRecognize
from headwater.query.operators.pattern.walk import every_pattern

_OVER_MATCHES: Final = frozenset((*LOGICAL, *PHYSICAL, *AGGREGATES, "CLASSIFIER", "MATCH_NUMBER"))


@dataclass(slots=True)
class ConditionValues:
    """What the parts of a condition see: values of the row under test and of the rows bound so far."""

    data: Recording
    operator: PatternOperator
    written: MatchRecognize
    schema: StreamSchema
    columns: tuple[str, ...] = field(init=False)
    _conditions: tuple[Expression, ...] = field(init=False)
    _lowered: dict[tuple[int, int], Lowered] = field(default_factory=dict)

    def __post_init__(self) -> None:
        defined = {definition.name: definition.condition for definition in self.written.define}
        loops = (part for part in every_pattern(self.written.pattern) if isinstance(part, Loop))
        untils = (loop.until for loop in loops if loop.until is not None)
        self._conditions = (*(defined[name] for name, _ in self.operator.define), *untils)
        used = {column.name for condition in self._conditions for column in columns_of(condition)}
        self.columns = tuple(name for name in self.schema.types if name in used and name != self.schema.time)

    def parts(self, condition: int) -> list[Expression]:
        """A condition, taken apart where it is joined by AND."""
        return list(_joined(self._conditions[condition]))

    def lines(self, condition: int, variable: int, bound: Bound, row: int, number: int) -> list[str]:
        """One line a part: as written, with the values it saw, and whether it holds; `variable` -1 is UNTIL."""
        if condition < 0:
            return []
        lines = []
        for part in self.parts(condition):
            truth = self.truth(part, variable, bound, row, number)
            verdict = "unknown (NULL)" if truth is None else str(truth).lower()
            lines.append(
                f"  {expression_text(part)}: {expression_text(self._with_values(part, variable, bound, row, number))} is {verdict}"
            )
        return lines

    def truth(self, part: Expression, variable: int, bound: Bound, row: int, number: int) -> bool | None:
        """Whether a part of a condition holds for a row."""
        found: bool | None = self._value(part, variable, bound, row, number)[0]
        return found

    def _with_values(
        self, node: Expression, variable: int, bound: Bound, row: int, number: int
    ) -> Expression:
        """The same with values in the place of columns, navigation and aggregates."""
        if isinstance(node, Name) or (isinstance(node, Call) and node.function in _OVER_MATCHES):
            return as_node(*self._value(node, variable, bound, row, number))
        return with_parts(
            node, (self._with_values(part, variable, bound, row, number) for part in parts_of(node))
        )

    def _value(
        self, node: Expression, variable: int, bound: Bound, row: int, number: int
    ) -> tuple[Any, ExprType]:
        lowered = self._taken_apart(node, variable)
        rows = bound if variable < 0 else (*bound, (row, variable))
        columns = {
            f"#{place}": Column.of(ColumnType(kind.value), [self._term(term, rows, row, number)])
            for place, (term, kind) in enumerate(zip(lowered.terms, lowered.kinds, strict=True))
        }
        return evaluate(lowered.expression, Rows(columns, 1)).tolist()[0], lowered.kind

    def _taken_apart(self, node: Expression, variable: int) -> Lowered:
        key = (id(node), variable)
        if key not in self._lowered:
            name = None if variable < 0 else self.operator.variables[variable]
            place = Place(Where.UNTIL if name is None else Where.DEFINE, name, every=self.operator.every)
            lowered = lower(
                node,
                variables=self.operator.variables,
                subsets=dict(self.operator.subsets),
                columns=self.schema.types,
                place=place,
                complaints=Complaints(),
            )
            assert lowered is not None, "conditions were checked"
            self._lowered[key] = lowered
        return self._lowered[key]

    def _term(self, term: Term, bound: Bound, row: int, number: int) -> Any:
        if isinstance(term, RowTerm):
            return self._row_value(term, bound, row)
        if isinstance(term, AggregateTerm):
            return self._aggregate(term, bound)
        return number

    def _row_value(self, term: RowTerm, bound: Bound, row: int) -> Any:
        found: int | None = row
        if not is_under_test(term):
            rows = self._members(term.variables, bound)
            there = term.offset < len(rows)
            found = rows[term.offset if term.first else -1 - term.offset] if there else None
        partition = self.data.table.partition[row]
        if found is None or not self.data.low[partition] <= found + term.shift < self.data.high[partition]:
            return None
        return self._at(term.argument, [found + term.shift])[0]

    def _aggregate(self, term: AggregateTerm, bound: Bound) -> Any:
        rows = self._members(term.variables, bound)
        if term.argument is None:
            return len(rows)
        values = [value for value in self._at(term.argument, rows) if value is not None]
        return _AGGREGATES[term.function](values)

    def _members(self, variables: tuple[str, ...] | None, bound: Bound) -> list[int]:
        names = self.operator.variables
        return [row for row, variable in bound if variables is None or names[variable] in variables]

    def _at(self, argument: Expression, rows: list[int]) -> list[Any]:
        return self.data.table.value(value_of(argument)).take(np.array(rows, np.int64)).tolist()


def as_node(value: Any, kind: ExprType) -> Expression:
    """A value as it is written."""
    if value is not None and kind is ExprType.TIMESTAMP:
        return Timestamp(int(value))
    return Literal(value)


def _joined(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Binary) and condition.operator == "AND":
        yield from _joined(condition.left)
        yield from _joined(condition.right)
    else:
        yield condition


def _total(values: list[Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total += value
    if isinstance(total, float):
        return total if np.isfinite(total) else None
    return total if -(1 << 63) <= total < 1 << 63 else None


def _mean(values: list[Any]) -> Any:
    total = _total(values)
    return None if total is None else total / len(values)


_AGGREGATES: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "COUNT": len,
    "SUM": lambda values: _total(values) if values else None,
    "AVG": lambda values: _mean(values) if values else None,
    "MIN": lambda values: min(values, default=None),
    "MAX": lambda values: max(values, default=None),
}
