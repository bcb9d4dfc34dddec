"""How well does an interest fit? Events near its centre, and events near the actual place of its object.

An interest stays where it began while its object moves. During its life, A are the events in its region and B those in the region
around the latest place of the object, event by event. Precision is |A and B| / |A|, recall |A and B| / |B|; a quotient with
denominator 0 is 1.

Rule 1  A step counts the events between two watermarks, stretch by stretch: from one location update to the next.
Rule 2  Counters belong to the interest, and are emitted when its life is over.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headwater.compiled import loop
from headwater.kernels.follow.interests import TALLIES, Alive, Interests, Recent, Updates, count
from headwater.kernels.follow.places import Look
from headwater.kernels.follow.question import FollowQuery, Real, Whole
from headwater.kernels.follow.regions import bounds_of
from headwater.kernels.follow.store import View
from headwater.model import Answers, Column, ColumnType, Instant, Rows, coded, content_ids

_LOOP: Final[dict[str, Any]] = {"nogil": True}

# Columns of a tally.
PAST: Final = 0  # events from before it began
CHOSEN: Final = 1  # A
RELEVANT: Final = 2  # B
BOTH: Final = 3


def regions(query: FollowQuery, x: Real, y: Real, view: View, since: Instant) -> Recent:
    """Events since some time, and the regions around some places."""
    boxes, owner = bounds_of(query, x, y, ())
    radius = -1.0 if query.radius_m is None else query.radius_m
    times = np.zeros(len(owner), np.int64)
    look = Look(boxes, times, times, x[owner], y[owner], radius, query.geographic)
    return Recent(view.recent(since), look, np.searchsorted(owner, np.arange(len(x) + 1)))


def counted(
    query: FollowQuery,
    alive: Alive,
    updates: Updates,
    interests: Interests,
    view: View,
    past: Whole,
    before: Instant,
    watermark: Instant,
) -> Whole:
    """The counters of every interest; `past` are the events from before its start that this step brought."""
    many, known = len(interests.serial), len(alive.serial)
    tally = np.zeros((many, TALLIES), np.int64)
    tally[:known] = alive.tally
    tally[:, PAST] += past
    life = np.concatenate([np.arange(known), interests.update])
    since = np.concatenate([np.full(known, before), updates.time])
    order = np.lexsort([since, life])
    life, since = life[order], since[order]
    until = np.minimum(interests.end, watermark)[life]
    if len(life) > 1:
        until[:-1] = np.where(life[1:] == life[:-1], since[1:], until[:-1])
    x = np.concatenate([interests.x, np.concatenate([alive.last_x, updates.x])[order]])
    y = np.concatenate([interests.y, np.concatenate([alive.last_y, updates.y])[order]])
    _count_all(life, since, until, regions(query, x, y, view, int(since.min(initial=watermark))), tally)
    return tally


@loop(**_LOOP)
def _count_all(life: Whole, since: Whole, until: Whole, recent: Recent, tally: Whole) -> None:
    """Count stretch by stretch: region `len(tally) + stretch` is the one around the object."""
    for stretch in range(len(life)):
        if since[stretch] < until[stretch]:
            of = life[stretch]
            chosen, relevant, both = count(since[stretch], until[stretch], of, len(tally) + stretch, recent)
            tally[of, CHOSEN] += chosen
            tally[of, RELEVANT] += relevant
            tally[of, BOTH] += both


def finished_interests(query: FollowQuery, interests: Interests, tally: Whole) -> Answers | None:
    """The interests whose life is over."""
    over = np.flatnonzero(interests.is_over)
    if not len(over):
        return None
    ends = Column(ColumnType.TIMESTAMP, interests.end[over])
    name = coded(np.zeros(len(over), np.int32), np.array([query.name], object))
    focal = interests.focal.take(over)
    begins = Column(ColumnType.TIMESTAMP, interests.start[over])
    of = tally[over]
    columns = {
        "query": name,
        "event_time": ends,
        "match_id": content_ids([name, ends, focal, begins]),
        "focal": focal,
        "interest": Column(ColumnType.BIGINT, interests.number[over]),
        "begins": begins,
        "ends": ends,
        query.focals.x: _typed(interests.x[over], query.focals.x_type),
        query.focals.y: _typed(interests.y[over], query.focals.y_type),
        "events": Column(ColumnType.BIGINT, of[:, PAST] + of[:, CHOSEN]),
        "historical_events": Column(ColumnType.BIGINT, of[:, PAST]),
        "precision": Column(ColumnType.DOUBLE, _share(of[:, BOTH], of[:, CHOSEN])),
        "recall": Column(ColumnType.DOUBLE, _share(of[:, BOTH], of[:, RELEVANT])),
    }
    return Answers(query.shape, Rows(columns, len(over)))


def _typed(values: Real, kind: ColumnType) -> Column:
    return Column(kind, values.astype(kind.dtype))


def _share(part: Whole, whole: Whole) -> Real:
    return np.where(whole > 0, part / np.maximum(whole, 1), 1.0)
