"""The type of an expression, with its errors reported to `Complaints`; and constants, evaluated."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.model import ColumnType
from headwater.query import expressions
from headwater.query.checking.complaints import Complaints
from headwater.query.expressions import ExprType
from headwater.query.language.tree import Expression, Literal

Scalar = float | int | str | bool | None


def type_of(
    expression: Expression, columns: Mapping[str, ColumnType], complaints: Complaints
) -> ExprType | None:
    """The type, or None and complaints."""
    return expressions.type_of(expression, columns, complaints.errors)


def constant(expression: Expression) -> Scalar:
    """The value of an expression that was checked and has no columns."""
    # Most are plain, and there are thousands of clauses.
    return expression.value if isinstance(expression, Literal) else expressions.evaluate_constant(expression)
