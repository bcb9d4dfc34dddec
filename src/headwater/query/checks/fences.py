"""Is a CREATE FENCES one that fences can be read into?

Fences need exactly one KEY column (STRING or BIGINT), which names each of them. The other columns, of any type, are what a WHERE may
ask about. Their polygons have no column: they are the geometry of a GeoJSON feature. A fence is there while the query is.
"""

from __future__ import annotations

from headwater.model import GEOMETRY, ColumnType, FencesSchema
from headwater.query.catalogue import CheckedFences
from headwater.query.checks.complaints import Complaints
from headwater.query.checks.streams import check_key
from headwater.query.tree import ColumnDefinition, CreateFences


def check_fences(tree: CreateFences, complaints: Complaints) -> CheckedFences | None:
    """The fences as far as they can be used; None when nothing names them."""
    columns: dict[str, ColumnType] = {}
    for column in tree.columns:
        if column.name in columns:
            complaints.refuse(
                "duplicate-name",
                f"fences '{tree.name}' have two columns named '{column.name}'",
                column.span,
                "rename one of them",
            )
        columns.setdefault(column.name, column.type)
        _check_column(column, complaints)
    key = _key(tree, complaints)
    return None if key is None else CheckedFences(tree, FencesSchema(tree.name, tuple(columns.items()), key))


def _check_column(column: ColumnDefinition, complaints: Complaints) -> None:
    if column.time:
        complaints.refuse(
            "wrong-fences",
            f"fences have no time, but '{column.name}' is marked TIME",
            column.span,
            "leave TIME out; fences that move are a stream with KEY and PLACE",
        )
    elif column.name == GEOMETRY:
        complaints.refuse(
            "wrong-fences",
            f"'{GEOMETRY}' is what the polygon of a fence is called, and it needs no column",
            column.span,
            "leave the column out: polygons are the geometry of GeoJSON features",
        )


def _key(tree: CreateFences, complaints: Complaints) -> str | None:
    marked = [column for column in tree.columns if column.key]
    if not marked:
        complaints.refuse(
            "needs-key",
            f"nothing names the fences '{tree.name}'",
            tree.span,
            "mark the column that does, as in name STRING KEY",
        )
        return None
    return check_key(marked, f"fences '{tree.name}' have", "a fence", complaints)
