"""Is a CREATE POINTS one that points can be read into?

Points need exactly one KEY column (STRING or BIGINT), which names each of them; all other columns are numbers. They have no
time: a point is there while the query is.
"""

from __future__ import annotations

from headwater.model import ColumnType, PointsSchema
from headwater.query.catalogue import CheckedPoints
from headwater.query.checks.complaints import Complaints
from headwater.query.checks.streams import check_key
from headwater.query.tree import ColumnDefinition, CreatePoints


def check_points(tree: CreatePoints, complaints: Complaints) -> CheckedPoints | None:
    """The points as far as they can be used; None when nothing names them."""
    columns: dict[str, ColumnType] = {}
    for column in tree.columns:
        if column.name in columns:
            complaints.refuse(
                "duplicate-name",
                f"points '{tree.name}' have two columns named '{column.name}'",
                column.span,
                "rename one of them",
            )
        columns.setdefault(column.name, column.type)
        _check_column(column, complaints)
    key = _key(tree, complaints)
    return None if key is None else CheckedPoints(tree, PointsSchema(tree.name, tuple(columns.items()), key))


def _check_column(column: ColumnDefinition, complaints: Complaints) -> None:
    if column.time:
        complaints.refuse(
            "wrong-points",
            f"points have no time, but '{column.name}' is marked TIME",
            column.span,
            "leave the column out",
        )
    elif not column.key and not column.type.numeric:
        complaints.refuse(
            "attribute-not-numeric",
            f"the coordinates of points are numbers, but '{column.name}' is {column.type.value}",
            column.span,
            "declare it DOUBLE; a column of the file that is no coordinate is left out here",
        )


def _key(tree: CreatePoints, complaints: Complaints) -> str | None:
    marked = [column for column in tree.columns if column.key]
    if not marked:
        complaints.refuse(
            "needs-key",
            f"nothing names the points '{tree.name}'",
            tree.span,
            "mark the column that does, as in id STRING KEY",
        )
        return None
    return check_key(marked, f"points '{tree.name}' have", "a point", complaints)
