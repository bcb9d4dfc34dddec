"""Which columns does a query answer with, before and after its SELECT list?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headwater.kernels.correlate.subscription import Clause, Emit
from headwater.kernels.nearest.words import Emission
from headwater.kernels.pattern.words import RowsPerMatch
from headwater.model import ColumnType, PlaceColumns, PointsSchema, StreamSchema
from headwater.query.catalogue import (
    RESERVED,
    Columns,
    Neighbourhood,
    Prediction,
    Recognition,
    SelectList,
    Suppression,
)
from headwater.query.checks.updates import HEARTBEAT, REASON, TOLERANCE, slope_of
from headwater.query.walk import columns_of


def correlation_columns(
    schema: StreamSchema, clauses: Iterable[Clause], emit: Emit
) -> tuple[Columns, Columns]:
    """What a CORRELATE kernel answers after the reserved columns, and the part of it that `*` means."""
    types = schema.types
    key_type = types[schema.key] if schema.key else ColumnType.STRING
    place = [(name, types[name]) for name in (schema.place.x, schema.place.y)] if schema.place else []
    if emit is Emit.READINGS:
        readings = (
            ("attribute", ColumnType.STRING),
            ("key", key_type),
            ("reading_time", ColumnType.TIMESTAMP),
            ("value", ColumnType.DOUBLE),
            *place,
        )
        return readings, readings
    columns: list[tuple[str, ColumnType]] = []
    starred: list[tuple[str, ColumnType]] = []
    for clause in clauses:
        name = clause.name
        reading = [
            (name, types[clause.attribute]),
            (f"{name}_key", key_type),
            (f"{name}_time", ColumnType.TIMESTAMP),
        ]
        starred += reading
        columns += reading
        columns += [(f"{name}_{axis}", kind) for axis, kind in place]
    return tuple(columns), tuple(starred)


def row_columns(schema: StreamSchema) -> tuple[Columns, Columns]:
    """What a plain SELECT answers, and the part of it that `*` means: a time named event_time is there already."""
    starred = tuple((name, kind) for name, kind in schema.columns if name != "event_time")
    return schema.columns, starred


def recognition_columns(schema: StreamSchema, recognition: Recognition) -> tuple[Columns, Columns]:
    """What a MATCH_RECOGNIZE kernel answers after the reserved columns, all of which `*` means."""
    if recognition.rows is RowsPerMatch.ONE:
        types = schema.types
        kept = [(name, types[name]) for name in recognition.partition]
    else:
        kept = [(name, kind) for name, kind in schema.columns if name != "event_time"]
    measures = [(name, measure.kind.column) for name, measure in recognition.measures]
    marks = [("timed_out", ColumnType.BOOLEAN)] if recognition.timeouts else []
    columns = (*kept, *measures, *marks)
    return columns, columns


def told_of_neighbours(schema: StreamSchema, near: Neighbourhood, points: PointsSchema | None) -> Columns:
    """What a NEAREST kernel answers by itself, before the columns that it carries over from the row."""
    every = near.emission is Emission.EVERY
    return (
        *([("point", points.types[points.key])] if points else []),
        ("rank", ColumnType.BIGINT) if every else ("change", ColumnType.STRING),
        *([("key", schema.types[schema.key])] if schema.key else []),
        ("object_time", ColumnType.TIMESTAMP),
        *([] if near.metric.ranks_values else [("distance", ColumnType.DOUBLE)]),
    )


def neighbour_columns(
    schema: StreamSchema, near: Neighbourhood, points: PointsSchema | None
) -> tuple[Columns, Columns]:
    """What a NEAREST kernel answers after the reserved columns, and the same in the order of `*`: point and PER come first."""
    types = schema.types
    told = told_of_neighbours(schema, near, points)
    carried = tuple((name, types[column]) for name, column in near.columns)
    first = tuple(column for column in told if column[0] == "point" and points)
    per = carried[:1] if near.columns[0] == (near.per, near.per) else ()
    starred = (*first, *per, *told[len(first) :], *carried[len(per) :])
    return (*told, *carried), starred


def further_columns(schema: StreamSchema, answers: Columns) -> Columns:
    """The columns of the stream that a SELECT list over neighbours may name besides: those with a name of their own."""
    taken = {*dict(answers), *RESERVED}
    return tuple((name, kind) for name, kind in schema.columns if name not in taken)


def used_of(further: Columns, selected: SelectList) -> Columns:
    """Those of them that a SELECT list names, in the order of use."""
    types = dict(further)
    used = (column.name for _, expression, _ in selected for column in columns_of(expression))
    return tuple((name, types[name]) for name in dict.fromkeys(used) if name in types)


def suppression_columns(schema: StreamSchema, asked: Suppression) -> tuple[Columns, Columns]:
    """What a SUPPRESS kernel answers after the reserved columns, all of which `*` means: the columns of an update."""
    columns = (
        *([(schema.key, schema.types[schema.key])] if schema.key else []),
        *((name, ColumnType.DOUBLE) for name in asked.dimensions),
        *((slope_of(name), ColumnType.DOUBLE) for name in asked.dimensions),
        (TOLERANCE, ColumnType.DOUBLE),
        (HEARTBEAT, ColumnType.DOUBLE),
        (REASON, ColumnType.STRING),
    )
    return columns, columns


def prediction_columns(schema: StreamSchema, asked: Prediction) -> tuple[Columns, Columns]:
    """What a PREDICT kernel answers after the reserved columns, all of which `*` means."""
    key = [schema.types[schema.key]] if schema.key else []
    columns: list[tuple[str, ColumnType]] = []
    for alias in asked.aliases:
        columns += [(f"{alias}_key" if asked.pairs else "key", kind) for kind in key]
        columns.append((f"{alias}_time" if asked.pairs else "update_time", ColumnType.TIMESTAMP))
    columns += [
        ("begins", ColumnType.TIMESTAMP),
        ("ends", ColumnType.TIMESTAMP),
        ("probability", ColumnType.DOUBLE),
        ("withdrawn", ColumnType.BOOLEAN),
    ]
    return tuple(columns), tuple(columns)


POLYGON: Columns = (("polygon", ColumnType.STRING),)
"""What a SELECT list over a PREDICT may name besides."""


def columns_read(selected: SelectList, stamps: Columns) -> Columns:
    """The columns of a SELECT list that another query sees: not the stamps of a FOLLOW, nor what is made from them."""
    names = dict(stamps)
    return tuple(
        (name, kind)
        for name, expression, kind in selected
        if not names or not any(column.name in names for column in columns_of(expression))
    )


def answers_as_stream(
    name: str, source: StreamSchema, selected: Columns, keys: Sequence[str | None]
) -> StreamSchema:
    """What a query that reads the query `name` sees.

    Its time is event_time. It has the KEY and the PLACE of what it reads if columns of their names are selected, so
    that `SELECT cold_key AS station` gives a key back. `keys` are the names that a key may have, the first one first.
    """
    types = dict(selected)
    found = [key for key in keys if key and types.get(key) in (ColumnType.STRING, ColumnType.BIGINT)]
    place: PlaceColumns | None = source.place
    if place and not all(axis in types and types[axis].numeric for axis in (place.x, place.y)):
        place = None
    columns = (("event_time", ColumnType.TIMESTAMP), *selected)
    return StreamSchema(name, columns, "event_time", found[0] if found else None, place)
