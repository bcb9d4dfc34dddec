"""From a checked CORRELATE to the queries of its kernel, and to the zones that can use a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headwater.kernels.correlate.kernel import CorrelateKernel
from headwater.kernels.correlate.routing import Routing
from headwater.kernels.correlate.subscription import Subscription
from headwater.model import Rows, StreamSchema
from headwater.query.operators.contract import KernelPlace, ZoneMask
from headwater.query.operators.correlate.operator import CorrelateOperator
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import RowConditions


def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> CorrelateKernel:
    """The kernel of some CORRELATE queries."""
    conditions = RowConditions()
    return CorrelateKernel(place.source, make_subscriptions(queries, conditions), conditions.listed)


def make_routing(
    queries: Sequence[QueryPlan], source: StreamSchema, homes: Sequence[int], zones: int
) -> Callable[[Rows], ZoneMask]:
    """Which zones can use a row: those of queries that can use one of its readings."""
    conditions = RowConditions()
    subscriptions = make_subscriptions(queries, conditions)
    return Routing(source, subscriptions, homes, zones, conditions.listed).zones_using


def make_subscriptions(queries: Sequence[QueryPlan], conditions: RowConditions) -> list[Subscription]:
    """The subscriptions of the kernel, with the conditions that they refer to."""
    return [
        make_subscription(
            query.operator,
            name=query.name,
            fingerprint=query.fingerprint,
            shape=query.shape,
            where=conditions.place(query.where),
        )
        for query in queries
        if isinstance(query.operator, CorrelateOperator)
    ]


def make_subscription(
    operator: CorrelateOperator, *, name: str, fingerprint: str, shape: int, where: int | None
) -> Subscription:
    """The subscription of the kernel."""
    return Subscription(
        name,
        fingerprint,
        shape,
        operator.clauses,
        operator.within_us,
        operator.within_m,
        operator.region,
        operator.sensors,
        operator.distinct_sensors,
        operator.emit,
        operator.limit,
        where,
    )
