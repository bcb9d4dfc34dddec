"""From a checked FENCE to what its kernel is asked; and fences that were given, as the kernel sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headwater.kernels.fence.question import FenceQuery, Fences, Placed, Taking
from headwater.kernels.fence.shapes import of_rings
from headwater.model import GEOMETRY, FencesSchema, Rows, StreamSchema, order_of
from headwater.query.expressions import condition
from headwater.query.merges import Merge
from headwater.query.operators.fence.operator import FenceOperator
from headwater.query.polygons import rings_of

if TYPE_CHECKING:
    from headwater.query.groups import QueryPlan


@dataclass(frozen=True, slots=True)
class Reading:
    """What a FENCE reads: the schemas behind the names, as declared; and how they were merged, if they were."""

    schemas: Mapping[str, StreamSchema]
    merge: Merge | None

    def taking(self, name: str) -> Taking:
        """How the rows of one source are found."""
        if self.merge is None:
            return Taking(None, {column: column for column in self.schemas[name].types})
        place = [member.name for member in self.merge.members].index(name)
        return Taking(place, self.merge.names(place))


def fences_of(asked: FenceOperator, schema: FencesSchema, rows: Rows, *, geographic: bool) -> Fences:
    """The fences of a set for which the condition holds, in the order of their names."""
    if asked.where is not None and rows.count:
        rows = rows.take(np.flatnonzero(condition(asked.where)(rows)))
    rows = rows.take(order_of(rows, [schema.key]))
    drawn = [rings_of(text) for text in rows[GEOMETRY].tolist()]
    return Fences(rows[schema.key], of_rings(drawn, geographic=geographic))


def make_fence_query(
    query: QueryPlan,
    reading: Reading,
    *,
    where: int | None,
    fence_where: int | None,
    share: tuple[int, int] | None,
) -> FenceQuery:
    """What the kernel of FENCE is asked."""
    asked = query.fencing
    assert asked is not None
    assert asked.moving or query.fences is not None, "the fences have not been given"
    source = query.reads if reading.merge is None else reading.merge.members[0].name
    positions = reading.schemas[source]
    assert positions.place is not None
    return FenceQuery(
        name=query.name,
        fingerprint=query.fingerprint,
        shape=query.shape,
        positions=_placed(reading, positions, where),
        fences=None if asked.moving else query.fences,
        moving=_placed(reading, reading.schemas[asked.fences], fence_where, asked.shape)
        if asked.moving
        else None,
        geographic=positions.place.geographic,
        radius_m=asked.radius_m,
        box_m=asked.box_m,
        detect=frozenset(asked.detect),
        forget_us=asked.forget_us,
        same=asked.fences == source,
        roaming=asked.roaming,
        share=share,
    )


def _placed(reading: Reading, schema: StreamSchema, where: int | None, shape: str | None = None) -> Placed:
    assert schema.key is not None and schema.place is not None
    x, y = schema.place.x, schema.place.y
    types = schema.types
    return Placed(
        reading.taking(schema.name), where, schema.key, x, y, types[x], types[y], types[schema.key], shape
    )
