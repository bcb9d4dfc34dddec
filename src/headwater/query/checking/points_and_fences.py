"""Is a CREATE POINTS or CREATE FENCES one that points or fences can be read into?

Both need exactly one KEY column (STRING or BIGINT), which names each of them. They have no time: a point or fence is there while the
query is. All other columns of points are numbers. Those of fences, of any type, are what a WHERE may ask about; their polygons have no
column: they are the geometry of a GeoJSON feature.
"""

from __future__ import annotations

from headwater.model import GEOMETRY, ColumnType, FencesSchema, PointsSchema
from headwater.query.checking.catalogue import CheckedFences, CheckedPoints
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.streams import check_key
from headwater.query.language.tree import ColumnDefinition, CreateFences, CreatePoints


def check_points(tree: CreatePoints, complaints: Complaints) -> CheckedPoints | None:
    """The points as far as they can be used; None when nothing names them."""
    columns = _columns(tree, "points", complaints)
    for column in tree.columns:
        _check_coordinate(column, complaints)
    key = _key(tree, "points", "a point", "id", complaints)
    return None if key is None else CheckedPoints(tree, PointsSchema(tree.name, columns, key))


def check_fences(tree: CreateFences, complaints: Complaints) -> CheckedFences | None:
    """The fences as far as they can be used; None when nothing names them."""
    columns = _columns(tree, "fences", complaints)
    for column in tree.columns:
        _check_property(column, complaints)
    key = _key(tree, "fences", "a fence", "name", complaints)
    return None if key is None else CheckedFences(tree, FencesSchema(tree.name, columns, key))


def _columns(
    tree: CreatePoints | CreateFences, what: str, complaints: Complaints
) -> tuple[tuple[str, ColumnType], ...]:
    columns: dict[str, ColumnType] = {}
    for column in tree.columns:
        if column.name in columns:
            complaints.refuse(
                "duplicate-name",
                f"{what} '{tree.name}' have two columns named '{column.name}'",
                column.span,
                "rename one of them",
            )
        columns.setdefault(column.name, column.type)
    return tuple(columns.items())


def _check_coordinate(column: ColumnDefinition, complaints: Complaints) -> None:
    if column.time:
        complaints.refuse(
            "wrong-points",
            f"points have no time, but '{column.name}' is marked TIME",
            column.span,
            "remove the column",
        )
    elif not column.key and not column.type.numeric:
        complaints.refuse(
            "attribute-not-numeric",
            f"the coordinates of points are numbers, but '{column.name}' is {column.type.value}",
            column.span,
            "declare it DOUBLE; do not declare columns of the file that are not coordinates",
        )


def _check_property(column: ColumnDefinition, complaints: Complaints) -> None:
    if column.time:
        complaints.refuse(
            "wrong-fences",
            f"fences have no time, but '{column.name}' is marked TIME",
            column.span,
            "leave TIME out; for moving fences use a stream with KEY and PLACE",
        )
    elif column.name == GEOMETRY:
        complaints.refuse(
            "wrong-fences",
            f"'{GEOMETRY}' is the name of the polygon of a fence, and it needs no column",
            column.span,
            "remove the column: polygons are the geometry of GeoJSON features",
        )


def _key(
    tree: CreatePoints | CreateFences, what: str, one: str, example: str, complaints: Complaints
) -> str | None:
    marked = [column for column in tree.columns if column.key]
    if not marked:
        complaints.refuse(
            "needs-key",
            f"no column is the KEY of the {what} '{tree.name}'",
            tree.span,
            f"mark the column that names them, as in {example} STRING KEY",
        )
        return None
    return check_key(marked, f"{what} '{tree.name}' have", one, complaints)
