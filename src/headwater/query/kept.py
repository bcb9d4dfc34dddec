"""Which columns of a stream must travel?

Rows of equal time are put in order by their other columns as declared. So what travels is every column up to the last one
that a query needs: rows that differ only behind it are the same to every query, in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.kernels.correlate.subscription import Subscription
from headwater.model import StreamSchema
from headwater.query.catalogue import Recognition
from headwater.query.patterns.lowering import needed_columns
from headwater.query.tree import Expression
from headwater.query.walk import columns_of

Demand = tuple[Expression | None, Subscription | None, Recognition | None]
"""What one query asks of its rows: its WHERE and, unless it is a plain SELECT, its subscription or its pattern."""


def kept_columns(schema: StreamSchema, demands: Iterable[Demand]) -> tuple[str, ...]:
    """The columns that travel, as declared."""
    needed = set[str]()
    for where, subscription, recognition in demands:
        if (subscription is None and recognition is None) or schema.deduplicate:
            # The identity of a plain SELECT's answer is the content of its row, so it must be the whole row.
            return tuple(schema.types)
        if where:
            needed.update(column.name for column in columns_of(where))
        if recognition:
            needed.update(needed_columns(recognition, schema))
        if subscription:
            needed.update(clause.attribute for clause in subscription.clauses)
        if subscription and schema.place:
            needed.update((schema.place.x, schema.place.y))
    first = {schema.time, schema.key}
    others = [name for name in schema.types if name not in first]
    last = max((place for place, name in enumerate(others) if name in needed), default=-1)
    travelling = first.union(others[: last + 1])
    return tuple(name for name in schema.types if name in travelling)
