"""Which rows of a stream are bad to its queries, though each of their columns has a value of its type?

Rule 1  Each operator says what makes a row bad to it. It is asked only about rows for which the WHERE of its query holds.
Rule 2  A row that is bad to one query is bad to all that read the stream, as it is with values that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from headwater.query.language.tree import Binary, Expression
from headwater.query.operators.contract import BadRows
from headwater.query.planning.query_plan import QueryPlan


def bad_rows_of(queries: Iterable[QueryPlan]) -> tuple[BadRows, ...]:
    """What makes a row of a stream bad to some queries that read it, each reason once."""
    # By their written form: as values, 1 and TRUE would be equal.
    reasons: dict[str, BadRows] = {}
    wheres: dict[str, dict[str, Expression | None]] = {}
    for query in queries:
        for bad in query.operator.bad_rows:
            reasons[repr(bad)] = bad
            wheres.setdefault(repr(bad), {})[repr(query.where)] = query.where
    return tuple(_where_one_holds(bad, list(wheres[written].values())) for written, bad in reasons.items())


def _where_one_holds(bad: BadRows, wheres: list[Expression | None]) -> BadRows:
    """The same for rows for which one of some WHEREs holds; None: one without, so for all rows."""
    conditions = [where for where in wheres if where is not None]
    if len(conditions) < len(wheres):
        return bad
    some = reduce(lambda left, right: Binary("OR", left, right), conditions)
    return replace(bad, holds=Binary("AND", bad.holds, some))
