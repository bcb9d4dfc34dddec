"""Which columns does a SELECT list give, and does its WHERE decide about rows?"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.model import ColumnType
from headwater.query.checking.answer_columns import RESERVED, Columns, SelectList
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.expression_types import type_of
from headwater.query.expressions import ExprType
from headwater.query.language.tree import Expression, Item, Name


def check_select_list(
    items: tuple[Item, ...] | None, answers: Columns, starred: Columns, complaints: Complaints
) -> SelectList | None:
    """The SELECT list with its names and types, or None and complaints."""
    if items is None:
        return tuple((name, Name(name), kind) for name, kind in starred)
    scope = {**dict(answers), "event_time": ColumnType.TIMESTAMP}
    selected: list[tuple[str, Expression, ColumnType]] = []
    seen: set[str] = set()
    whole = True
    for item in items:
        name = _name(item, complaints)
        taken = isinstance(item.expression, Name) and item.expression.name in ("query", "match_id")
        kind = None if name is None and taken else type_of(item.expression, scope, complaints)
        if name is not None and name in seen:
            complaints.refuse(
                "duplicate-name",
                f"the SELECT list has two columns named '{name}'",
                item.span,
                "give one of them another name with AS",
            )
            name = None
        if name is None or kind is None:
            whole = False
            continue
        seen.add(name)
        selected.append((name, item.expression, kind.column))
    return tuple(selected) if whole else None


def check_where(where: Expression | None, columns: Mapping[str, ColumnType], complaints: Complaints) -> None:
    """WHERE must be a condition on the rows that are read."""
    if where is None:
        return
    kind = type_of(where, columns, complaints)
    if kind is not None and kind is not ExprType.BOOLEAN:
        complaints.refuse(
            "type-mismatch",
            f"WHERE needs a condition, but this is {kind.value}",
            where.span,
            "compare it with a value, as in temperature > 0",
        )


def _name(item: Item, complaints: Complaints) -> str | None:
    expression = item.expression
    name = item.alias or (expression.name if isinstance(expression, Name) else None)
    if name is None:
        complaints.refuse(
            "select-needs-name",
            "this entry of the SELECT list has no name",
            item.span or expression.span,
            "name it with AS, as in temperature * 1.8 + 32 AS fahrenheit",
        )
    elif name in RESERVED:
        complaints.refuse(
            "reserved-column",
            f"every answer already has a column '{name}'",
            item.span or expression.span,
            "leave it out, or give it another name with AS",
        )
        return None
    return name
