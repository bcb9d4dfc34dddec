"""Which columns of a stream must travel?

Rows of equal time are put in order by their other columns as declared. So what travels is every column up to the last one
that a query needs: rows that differ only behind it are the same to every query, in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from headwater.model import StreamSchema
from headwater.query.operators import CorrelateOperator
from headwater.query.operators.nearest.operator import NearestOperator
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.patterns.lowering import needed_columns
from headwater.query.tree import Expression
from headwater.query.walk import columns_of


class Demand(NamedTuple):
    """What one query asks of its rows: its WHERE and, unless it is a plain SELECT, what its operator looks at.

    `columns` are those that a SUPPRESS or a PREDICT looks at.
    """

    where: Expression | None
    correlate: CorrelateOperator | None = None
    recognition: PatternOperator | None = None
    neighbourhood: NearestOperator | None = None
    columns: frozenset[str] | None = None


def kept_columns(schema: StreamSchema, demands: Iterable[Demand]) -> tuple[str, ...]:
    """The columns that travel, as declared."""
    needed = set[str]()
    for where, correlate, recognition, neighbourhood, columns in demands:
        if schema.deduplicate or not (correlate or recognition or neighbourhood or columns):
            # The identity of a plain SELECT's answer is the content of its row, so it must be the whole row.
            return tuple(schema.types)
        if where:
            needed.update(column.name for column in columns_of(where))
        if recognition:
            needed.update(needed_columns(recognition, schema))
        if columns:
            needed.update(columns)
        if neighbourhood:
            needed.update(neighbourhood.attributes, _carried(neighbourhood))
        if correlate:
            needed.update(clause.attribute for clause in correlate.clauses)
        if correlate and schema.place:
            needed.update((schema.place.x, schema.place.y))
    first = {schema.time, schema.key}
    others = [name for name in schema.types if name not in first]
    last = max((place for place, name in enumerate(others) if name in needed), default=-1)
    travelling = first.union(others[: last + 1])
    return tuple(name for name in schema.types if name in travelling)


def _carried(neighbourhood: NearestOperator) -> set[str]:
    """The columns of the stream that the answers of a NEAREST carry, and that of PER."""
    carried = {column for _, column in neighbourhood.columns_carried}
    return carried | {neighbourhood.per} if neighbourhood.per else carried
