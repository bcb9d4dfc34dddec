"""Several streams read as one: `FROM cars, buses`.

A merged row has the time and, where all keys are of one type, the key of its own row, `source`, which is the place of its stream in the list, and every other
column under the number of its stream: `0.x`, `1.x`. Columns of the other streams are NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwater.model import Column, ColumnType, Rows, StreamSchema, join_rows

TIME = "time"
SOURCE = "source"
KEY = "key"


@dataclass(frozen=True, slots=True)
class Merge:
    """Streams or queries that a query reads together; `fingerprint` changes with the meaning of any of them."""

    members: tuple[StreamSchema, ...]
    schema: StreamSchema
    fingerprint: str = ""

    @property
    def name(self) -> str:
        """The name under which it is read: no stream has such a name unless it is quoted."""
        return self.schema.name

    def rows(self, place: int, rows: Rows) -> Rows:
        """Rows of one member as merged rows; columns that do not travel are NULL."""
        known = {SOURCE: Column(ColumnType.BIGINT, np.full(rows.count, place, np.int64))}
        names = self.names(place)
        known.update({names[name]: rows[name] for name in rows.columns})
        columns = {
            name: known[name] if name in known else Column.nulls(kind, rows.count)
            for name, kind in self.schema.columns
        }
        return Rows(columns, rows.count)

    def names(self, place: int) -> dict[str, str]:
        """The name of each column of one member among the merged ones."""
        member = self.members[place]
        return {name: _name(member, place, name, self.schema.key) for name in member.types}

    def together(self, parts: Sequence[Rows]) -> Rows:
        """Merged rows of several members as one table, in no order."""
        return join_rows([Rows.empty(self.schema.types), *parts])


def merged_name(members: Sequence[str]) -> str:
    """What streams are called when they are read together."""
    return ", ".join(members)


def merge(members: Sequence[StreamSchema]) -> Merge:
    """Streams as one. Keys of different types stay columns of their own streams."""
    columns: list[tuple[str, ColumnType]] = [(TIME, ColumnType.TIMESTAMP), (SOURCE, ColumnType.BIGINT)]
    keys = dict.fromkeys(member.types[member.key] for member in members if member.key)
    key = KEY if len(keys) == 1 else None
    columns += [(KEY, kind) for kind in keys if key]
    for place, member in enumerate(members):
        named = ((_name(member, place, name, key), kind) for name, kind in member.columns)
        columns += [(name, kind) for name, kind in named if name not in (TIME, key)]
    name = merged_name([member.name for member in members])
    return Merge(tuple(members), StreamSchema(name, tuple(columns), TIME, key))


def _name(member: StreamSchema, place: int, column: str, key: str | None) -> str:
    if column == member.time:
        return TIME
    return key if key and column == member.key else f"{place}.{column}"
