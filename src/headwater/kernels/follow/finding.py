"""Which events belong to interests? Those of their regions, from before an interest begins or as they come."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from headwater.kernels.coordinates import coordinates
from headwater.kernels.follow.interests import Interests
from headwater.kernels.follow.places import Look
from headwater.kernels.follow.question import FollowQuery, Whole
from headwater.kernels.follow.regions import bounds_of, inside_shape
from headwater.kernels.follow.store import View
from headwater.model import Instant, Rows


class Found(NamedTuple):
    """The events of interests: `rows[row[n]]` belongs to interest `of[n]`. `look` has boxes around the regions, `owner` the interest of each."""

    interests: Interests
    look: Look
    owner: Whole
    rows: Rows
    row: Whole
    of: Whole


def find_events(
    query: FollowQuery,
    interests: Interests,
    since: Instant,
    view: View,
    before: Instant,
    watermark: Instant,
    counts: Counter[str],
) -> Found:
    """The events of every interest that arrived in this step, or that were stored before the interest began."""
    boxes, owner = bounds_of(query, interests.x, interests.y, interests.shape.tolist())
    begins = np.where(interests.is_new, interests.start - query.reach_us, before)
    begins = np.maximum(begins, since)
    ends = np.minimum(interests.end, watermark)
    radius = -1.0 if query.radius_m is None else query.radius_m
    look = Look(
        boxes,
        begins[owner],
        ends[owner],
        interests.x[owner],
        interests.y[owner],
        radius,
        query.geographic,
    )
    rows, row, box = view.gather(look)
    of = owner[box]
    if len(owner) > len(interests.serial):
        order = np.lexsort([row, of])
        row, of = row[order], of[order]
    if query.focals.shape is not None:
        row, of = _in_shapes(interests, rows, row, of, query)
    if query.best_effort is not None:
        time = rows[query.events.schema.time].values[row]
        is_latest = _latest(time < interests.start[of], of, query.best_effort)
        counts[f"events_cut:{query.name}"] += int(len(is_latest) - np.count_nonzero(is_latest))
        row, of = row[is_latest], of[is_latest]
    return Found(interests, look, owner, rows, row, of)


def _in_shapes(
    interests: Interests, rows: Rows, row: Whole, of: Whole, query: FollowQuery
) -> tuple[Whole, Whole]:
    """The events that lie within the shapes themselves."""
    place = query.events.schema.place
    assert place is not None
    x, y = coordinates(rows, place.x)[row], coordinates(rows, place.y)[row]
    is_inside = np.zeros(len(row), np.bool_)
    shapes = interests.shape.tolist()
    bounds = np.searchsorted(of, np.arange(len(shapes) + 1))
    for number, (low, high) in enumerate(pairwise(bounds.tolist())):
        if low < high:
            is_inside[low:high] = inside_shape(shapes[number], x[low:high], y[low:high])
    return row[is_inside], of[is_inside]


def _latest(is_past: Any, of: Whole, most: int) -> Any:
    """All current events, and of each interest the latest of its past."""
    remaining = np.cumsum(is_past[::-1])[::-1]  # past events from here on, this one included
    last = np.searchsorted(of, of, "right")
    after = np.append(remaining, 0)[last]
    return ~is_past | (remaining - after <= most)
