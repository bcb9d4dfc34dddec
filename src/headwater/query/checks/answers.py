"""Which columns does a query answer with, before and after its SELECT list?"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.kernels.correlate.subscription import Clause, Emit
from headwater.kernels.pattern.words import RowsPerMatch
from headwater.model import ColumnType, PlaceColumns, StreamSchema
from headwater.query.catalogue import Columns, Recognition


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


def answers_as_stream(name: str, source: StreamSchema, selected: Columns, *, readings: bool) -> StreamSchema:
    """What a query that reads the query `name` sees.

    Its time is event_time. It has the KEY and the PLACE of what it reads if columns of their names are selected, so
    that `SELECT cold_key AS station` gives a key back; the `key` of READINGS is a key as well.
    """
    types = dict(selected)
    wanted = [source.key, "key"] if readings else [source.key]
    keys = [key for key in wanted if key and types.get(key) in (ColumnType.STRING, ColumnType.BIGINT)]
    place: PlaceColumns | None = source.place
    if place and not all(axis in types and types[axis].numeric for axis in (place.x, place.y)):
        place = None
    columns = (("event_time", ColumnType.TIMESTAMP), *selected)
    return StreamSchema(name, columns, "event_time", keys[0] if keys else None, place)
