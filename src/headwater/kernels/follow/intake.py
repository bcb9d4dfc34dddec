"""Which focal objects have moved? The location updates among the rows of a step."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from headwater.kernels.coordinates import coordinates
from headwater.kernels.follow.interests import Updates, last_of_ties, texts
from headwater.kernels.follow.question import FollowQuery
from headwater.kernels.polygons import is_polygon
from headwater.model import Instant, Rows
from headwater.model.identity import content_hash


def updates_in(rows: Rows, time: str, query: FollowQuery, since: Instant, counts: Counter[str]) -> Updates:
    """The location updates of focal objects that are followed here; `time` names the column of their times."""
    focals = query.focals
    times = rows[time].values
    chosen = times >= since
    if focals.where is not None and rows.count:
        chosen &= focals.where(rows)
    if query.share is not None and rows.count:
        zone, zones = query.share
        chosen &= content_hash([rows[focals.key]])[0] % np.uint64(zones) == np.uint64(zone)
    x, y = coordinates(rows, focals.x), coordinates(rows, focals.y)
    is_there = np.isfinite(x) & np.isfinite(y) & rows[focals.key].is_valid
    counts[f"focals_without_place:{query.name}"] += int(np.count_nonzero(chosen & ~is_there))
    taken = np.flatnonzero(chosen & is_there)
    shape = texts(len(taken))
    if focals.shape is not None:
        drawn = rows[focals.shape].take(taken)
        good = [text is not None and is_polygon(text) for text in drawn.tolist()]
        counts[f"focals_without_shape:{query.name}"] += len(good) - sum(good)
        taken, shape = taken[good], drawn.take(np.flatnonzero(good))
    key = replace(rows[focals.key].take(taken), valid=None)
    return last_of_ties(Updates(key, times[taken], x[taken], y[taken], replace(shape, valid=None)))
