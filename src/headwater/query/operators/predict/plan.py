"""From a checked PREDICT to the queries of its kernel.

Rule 1  An update of dimension x is the columns `x` and `x_slope` (per second), `tolerance` and `heartbeat` (seconds).
Rule 2  Of sources that are read together, the columns of the i-th, from 0 on, are named `i.column`.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.kernels.predict.kernel import PredictKernel
from headwater.kernels.predict.question import Alias, PredictQuery
from headwater.query.checking.updates import HEARTBEAT, TOLERANCE, slope_of
from headwater.query.operators.contract import KernelPlace
from headwater.query.operators.predict.operator import PredictOperator
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import RowConditions


def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> PredictKernel:
    """The kernel of some PREDICT queries."""
    conditions = RowConditions()
    kernel_queries = [
        make_predict_query(
            query.operator,
            name=query.name,
            fingerprint=query.fingerprint,
            shape=query.shape,
            where=conditions.place(query.where, query.spread, place.home),
            share=place.share(query),
        )
        for query in queries
        if isinstance(query.operator, PredictOperator)
    ]
    return PredictKernel(place.source, kernel_queries, conditions.listed)


def make_predict_query(
    operator: PredictOperator,
    *,
    name: str,
    fingerprint: str,
    shape: int,
    where: int | None,
    share: tuple[int, int] | None = None,
) -> PredictQuery:
    """The query of the kernel of PREDICT; `share` is the zone and the number of zones, if each answers some of the pairs."""
    return PredictQuery(
        name,
        fingerprint,
        shape,
        where,
        alias_columns(operator),
        operator.conditions,
        operator.within_us,
        operator.certainty,
        operator.p,
        operator.tentative,
        operator.ahead_us,
        operator.every_us,
        operator.buffer,
        operator.give_up,
        operator.seed,
        operator.polygon,
        share,
        operator.reads,
    )


def alias_columns(operator: PredictOperator) -> tuple[Alias, ...]:
    """Where each alias finds its updates."""
    return tuple(_alias(operator, place) for place in range(len(operator.aliases)))


def _alias(operator: PredictOperator, place: int) -> Alias:
    source = operator.sources[place]
    before = "" if source is None else f"{source}."
    dimensions = operator.dimensions_of(place)
    return Alias(
        operator.aliases[place],
        source,
        tuple(before + name for name in dimensions),
        tuple(before + slope_of(name) for name in dimensions),
        before + TOLERANCE,
        before + HEARTBEAT,
    )
