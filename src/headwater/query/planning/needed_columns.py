"""Which columns of a stream must be sent?

Rows of equal time are put in order by their other columns as declared. So every column is sent up to the last one
that a query needs: rows that differ only after it are the same to every query, in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.model import StreamSchema
from headwater.query.language.walk import columns_of
from headwater.query.operators.contract import Demand


def columns_read(schema: StreamSchema, demands: Iterable[Demand]) -> tuple[str, ...]:
    """The columns that travel, as declared."""
    needed = set[str]()
    for condition, columns, _ in demands:
        if schema.deduplicate or columns is None:
            return tuple(schema.types)
        needed.update(columns)
        if condition is not None:
            needed.update(column.name for column in columns_of(condition))
    first = {schema.time, schema.key}
    others = [name for name in schema.types if name not in first]
    last = max((place for place, name in enumerate(others) if name in needed), default=-1)
    travelling = first.union(others[: last + 1])
    return tuple(name for name in schema.types if name in travelling)
