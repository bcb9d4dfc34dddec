"""From a checked SUPPRESS to the queries of its kernel."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kernels.suppress.kernel import SuppressKernel
from headwater.kernels.suppress.question import SuppressQuery
from headwater.query.operators.contract import KernelPlace
from headwater.query.operators.suppress.operator import SuppressOperator
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import RowConditions


def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> SuppressKernel:
    """The kernel of some SUPPRESS queries."""
    conditions = RowConditions()
    kernel_queries = [
        make_suppress_query(
            query.operator,
            name=query.name,
            fingerprint=query.fingerprint,
            shape=query.shape,
            where=conditions.place(query.where, query.spread, place.home),
        )
        for query in queries
        if isinstance(query.operator, SuppressOperator)
    ]
    return SuppressKernel(place.source, kernel_queries, conditions.listed)


def make_suppress_query(
    operator: SuppressOperator, *, name: str, fingerprint: str, shape: int, where: int | None
) -> SuppressQuery:
    """The query of the kernel of SUPPRESS."""
    return SuppressQuery(
        name,
        fingerprint,
        shape,
        where,
        operator.dimensions,
        operator.tolerance,
        operator.heartbeat_us,
        operator.predictor,
        operator.parameters,
        operator.forget_us,
    )
