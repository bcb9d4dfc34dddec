"""From a checked FENCE to the queries of its kernel; and loaded fences in the form of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headwater.kernels.fence.kernel import FenceKernel
from headwater.kernels.fence.question import FenceQuery, Fences, Placed, Taking
from headwater.kernels.fence.shapes import of_rings
from headwater.model import GEOMETRY, FencesSchema, PointsSchema, Rows, StreamSchema, order_of
from headwater.query.expressions import condition
from headwater.query.operators.contract import KernelPlace
from headwater.query.operators.fence.operator import FenceOperator
from headwater.query.operators.fence.polygons import rings_of
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import RowConditions


def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> FenceKernel:
    """The kernel of some FENCE queries."""
    conditions = RowConditions()
    kernel_queries = [
        make_fence_query(
            query,
            query.operator,
            place,
            where=conditions.place(query.where, query.spread, place.home),
            fence_where=conditions.place(query.operator.where) if query.operator.moving else None,
        )
        for query in queries
        if isinstance(query.operator, FenceOperator)
    ]
    return FenceKernel(place.source, kernel_queries, conditions.listed)


def fences_of(
    operator: FenceOperator, schema: PointsSchema | FencesSchema, rows: Rows, *, geographic: bool
) -> Fences:
    """The fences of a set for which the condition holds, in the order of their names."""
    if operator.where is not None and rows.count:
        rows = rows.take(np.flatnonzero(condition(operator.where)(rows)))
    rows = rows.take(order_of(rows, [schema.key]))
    drawn = [rings_of(text) for text in rows[GEOMETRY].tolist()]
    return Fences(rows[schema.key], of_rings(drawn, geographic=geographic))


def make_fence_query(
    query: QueryPlan,
    operator: FenceOperator,
    place: KernelPlace,
    *,
    where: int | None,
    fence_where: int | None,
) -> FenceQuery:
    """The query of the kernel."""
    assert operator.moving or isinstance(query.opened_set, Fences), "the fences have not been given"
    source = place.source.name if place.merge is None else place.merge.members[0].name
    positions = place.schemas[source]
    assert positions.place is not None
    return FenceQuery(
        name=query.name,
        fingerprint=query.fingerprint,
        shape=query.shape,
        positions=_placed(place, positions, where),
        fences=query.opened_set if isinstance(query.opened_set, Fences) else None,
        moving=_placed(place, place.schemas[operator.fences], fence_where, operator.shape)
        if operator.moving
        else None,
        geographic=positions.place.geographic,
        radius_m=operator.radius_m,
        box_m=operator.box_m,
        detect=frozenset(operator.detect),
        forget_us=operator.forget_us,
        same=operator.fences == source,
        roaming=operator.roaming,
        share=place.share(query),
    )


def _placed(place: KernelPlace, schema: StreamSchema, where: int | None, shape: str | None = None) -> Placed:
    assert schema.key is not None and schema.place is not None
    x, y = schema.place.x, schema.place.y
    types = schema.types
    return Placed(
        _taking(place, schema), where, schema.key, x, y, types[x], types[y], types[schema.key], shape
    )


def _taking(place: KernelPlace, schema: StreamSchema) -> Taking:
    """How the rows of one source are found."""
    if place.merge is None:
        return Taking(None, {column: column for column in schema.types})
    number = [member.name for member in place.merge.members].index(schema.name)
    return Taking(number, place.merge.names(number))
