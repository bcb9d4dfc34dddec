"""A change as an answer row: its columns, its order, its identity."""

from __future__ import annotations

from typing import Final

import numpy as np

from headwater.kernels.fence.choices import Detect
from headwater.kernels.fence.geometry import Whole
from headwater.kernels.fence.moving_fences import Mask
from headwater.kernels.fence.objects import Keys
from headwater.kernels.fence.question import FenceQuery
from headwater.kernels.fence.standing_fences import CROSS, ENTER, EXIT, INSIDE, OUTSIDE, Changes
from headwater.model import Column, ColumnType, Rows, coded, compacted, content_ids
from headwater.model.identity import content_hash

_CODES: Final = {
    Detect.EXIT: EXIT,
    Detect.ENTER: ENTER,
    Detect.INSIDE: INSIDE,
    Detect.CROSS: CROSS,
    Detect.OUTSIDE: OUTSIDE,
}
_CHANGES: Final = np.array([detect.value for detect in sorted(_CODES, key=_CODES.__getitem__)], object)


def reported_changes(query: FenceQuery) -> Mask:
    """bool[5]: which changes the query reports."""
    reported = np.zeros(len(_CODES), np.bool_)
    reported[[_CODES[detect] for detect in query.detect]] = True
    return reported


def change_rows(query: FenceQuery, changes: Changes, many: int, objects: Keys, fences: Column) -> Rows:
    """Changes as answers, in order of time, object, change and fence."""
    part = _some(changes, slice(0, many))
    if query.share is not None and query.roaming and Detect.OUTSIDE in query.detect and many:
        zone, zones = query.share
        here = content_hash([objects.column])[0] % np.uint64(zones) == np.uint64(zone)
        part = _some(part, here[part.slot])
    part = _some(part, np.lexsort((part.fence, part.change, part.slot, part.time)))
    count = len(part.time)
    name = coded(np.zeros(count, np.int32), np.array([query.name], object))
    time = Column(ColumnType.TIMESTAMP, part.time)
    change = coded(part.change, _CHANGES)
    one = compacted(objects.column.take(part.slot))
    fence = _fence_column(fences, part.fence)
    identity = content_ids([name, time, change, one, fence])
    positions = query.positions
    return Rows(
        {
            "query": name,
            "event_time": time,
            "match_id": identity,
            "change": change,
            "object": one,
            "fence": fence,
            positions.x: Column(positions.x_type, part.x.astype(positions.x_type.dtype)),
            positions.y: Column(positions.y_type, part.y.astype(positions.y_type.dtype)),
        },
        count,
    )


def _some(changes: Changes, chosen: Whole | Mask | slice) -> Changes:
    return Changes(
        changes.change[chosen],
        changes.time[chosen],
        changes.slot[chosen],
        changes.fence[chosen],
        changes.x[chosen],
        changes.y[chosen],
    )


def _fence_column(fences: Column, place: Whole) -> Column:
    """The names of fences; NULL for none."""
    if not len(fences):
        return Column.nulls(fences.type, len(place))
    taken = fences.take(np.maximum(place, 0))
    valid = place >= 0
    if valid.all():
        return compacted(taken)
    values = np.where(valid, taken.values, 0).astype(taken.values.dtype)
    return compacted(Column(taken.type, values, valid, taken.names))
