"""Which queries answer alike? Those with the same columns and the same SELECT list share a shape, and are projected at once."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model import Answers, Column, ColumnType, Rows
from headwater.query.checking.answer_columns import RESERVED, Columns, SelectList
from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.expressions.evaluate import evaluate
from headwater.query.language.tree import Expression, Name


@dataclass(frozen=True, slots=True)
class Projection:
    """The SELECT list of one shape, over the columns that the kernel answers."""

    shape: int
    columns: SelectList


def shapes(catalogue: Catalogue) -> tuple[dict[str, int], tuple[Projection, ...]]:
    """The shape of every query, and what each shape selects. Numbers are in order of first use."""
    numbers: dict[object, int] = {}
    same: dict[tuple[int, int], int] = {}  # most queries share their columns with others as one object
    found: dict[str, int] = {}
    projections: list[Projection] = []
    for name, query in catalogue.queries.items():
        objects = id(query.answers), id(query.selected)
        if objects not in same:
            same[objects] = numbers.setdefault(_alike(query), len(projections))
        if same[objects] == len(projections):
            projections.append(Projection(len(projections), query.selected))
        found[name] = same[objects]
    return found, tuple(projections)


def project(projection: Projection, answers: Answers) -> Rows:
    """The reserved columns, then what is selected."""
    assert projection.shape == answers.shape
    rows = answers.rows
    columns = {name: rows[name] for name in RESERVED}
    for name, expression, kind in projection.columns:
        columns[name] = column_of(expression, rows, kind)
    return Rows(columns, rows.count)


def column_of(expression: Expression, rows: Rows, kind: ColumnType) -> Column:
    """An entry of a SELECT list over rows."""
    if isinstance(expression, Name):
        return rows[expression.name]
    column = evaluate(expression, rows)
    assert column.type is kind, f"{expression} was checked to be {kind}, and is {column.type}"
    return column


def _alike(query: CheckedQuery) -> tuple[Columns, str]:
    # By its printed form: as values, 1, 1.0 and TRUE would be equal.
    return query.answers, repr(query.selected)
