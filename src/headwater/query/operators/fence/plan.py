"""From a checked FENCE to what its kernel is asked; and fences that were given, as the kernel sees them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headwater.kernels.fence import FenceKernel
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
    asked = [
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
    return FenceKernel(place.source, asked, conditions.listed)


def fences_of(
    asked: FenceOperator, schema: PointsSchema | FencesSchema, rows: Rows, *, geographic: bool
) -> Fences:
    """The fences of a set for which the condition holds, in the order of their names."""
    if asked.where is not None and rows.count:
        rows = rows.take(np.flatnonzero(condition(asked.where)(rows)))
    rows = rows.take(order_of(rows, [schema.key]))
    drawn = [rings_of(text) for text in rows[GEOMETRY].tolist()]
    return Fences(rows[schema.key], of_rings(drawn, geographic=geographic))


def make_fence_query(
    query: QueryPlan,
    asked: FenceOperator,
    place: KernelPlace,
    *,
    where: int | None,
    fence_where: int | None,
) -> FenceQuery:
    """What the kernel of FENCE is asked."""
    assert asked.moving or isinstance(query.given, Fences), "the fences have not been given"
    source = place.source.name if place.merge is None else place.merge.members[0].name
    positions = place.schemas[source]
    assert positions.place is not None
    return FenceQuery(
        name=query.name,
        fingerprint=query.fingerprint,
        shape=query.shape,
        positions=_placed(place, positions, where),
        fences=query.given if isinstance(query.given, Fences) else None,
        moving=_placed(place, place.schemas[asked.fences], fence_where, asked.shape)
        if asked.moving
        else None,
        geographic=positions.place.geographic,
        radius_m=asked.radius_m,
        box_m=asked.box_m,
        detect=frozenset(asked.detect),
        forget_us=asked.forget_us,
        same=asked.fences == source,
        roaming=asked.roaming,
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
