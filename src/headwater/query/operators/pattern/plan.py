"""From checked patterns to the queries of their kernel."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kernels.pattern.kernel import PatternKernel
from headwater.query.operators.contract import KernelPlace
from headwater.query.operators.pattern.lowering import make_query
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import RowConditions


def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> PatternKernel:
    """The kernel of some patterns."""
    conditions = RowConditions()
    kernel_queries = [
        make_query(
            query.name,
            query.fingerprint,
            query.shape,
            conditions.place(query.where, query.spread, place.home),
            query.operator,
            place.source,
            by_interest=place.by_interest,
        )
        for query in queries
        if isinstance(query.operator, PatternOperator)
    ]
    return PatternKernel(place.source, kernel_queries, conditions.listed)
