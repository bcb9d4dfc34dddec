"""Which columns does a query answer with, before and after its SELECT list?"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.model import ColumnType, PlaceColumns, StreamSchema
from headwater.query.checking.answer_columns import Columns, SelectList
from headwater.query.language.walk import columns_of


def used_of(further: Columns, selected: SelectList) -> Columns:
    """Those of them that a SELECT list names, in the order of use."""
    types = dict(further)
    used = (column.name for _, expression, _ in selected for column in columns_of(expression))
    return tuple((name, types[name]) for name in dict.fromkeys(used) if name in types)


def visible_columns(selected: SelectList, stamps: Columns) -> Columns:
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
