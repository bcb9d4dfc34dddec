"""What came for FOLLOW with a step? Among its rows, the events and the location updates, each as those who read them know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.follow.interests import Updates, last_of_ties, texts
from headwater.kernels.follow.question import SOURCE, Events, FollowQuery
from headwater.kernels.follow.regions import is_shape
from headwater.kernels.follow.store import coordinates
from headwater.model import Column, Instant, RowCondition, Rows, StreamSchema, coded, join_rows, order_of
from headwater.model.identity import content_hash

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Intake:
    """How rows of a schema are taken in, under conditions that are named by their places."""

    schema: StreamSchema
    conditions: Sequence[RowCondition]

    def events(self, events: Events, wheres: Collection[int | None], rows: Rows) -> Rows:
        """The events among the rows of a step for which any of some conditions holds, in their order."""
        parts = []
        for taking, name in zip(events.sources, events.names, strict=True):
            own = taking.rows(rows)
            columns = {column: Column.nulls(kind, own.count) for column, kind in events.schema.columns}
            columns[SOURCE] = coded(np.zeros(own.count, np.int32), np.array([name], object))
            parts.append(Rows({**columns, **own.columns}, own.count).select(events.schema.types))
        together = join_rows(parts)
        together = together.take(self._wanted(wheres, together))
        if not self._are_in_order(events):
            together = together.take(order_of(together, events.schema.order))
        return together

    def _are_in_order(self, events: Events) -> bool:
        """Whether events come in the order of their own stream: rows that have come without a common key may be in another one."""
        if len(events.sources) > 1:
            return False
        (taking,) = events.sources
        own = {there: name for name, there in taking.columns.items()}
        came = [own[name] for name in self.schema.order if name in own]
        return came == [name for name in events.schema.order if name in taking.columns]

    def without_place(self, events: Events, came: Rows) -> int:
        """How many events of a query are nowhere."""
        place = events.schema.place
        assert place is not None
        there = np.isfinite(coordinates(came, place.x)) & np.isfinite(coordinates(came, place.y))
        return int(np.count_nonzero(~there & self._wanted((events.where,), came))) if not there.all() else 0

    def updates(self, query: FollowQuery, rows: Rows, since: Instant, counts: Counter[str]) -> Updates:
        """The location updates of focal objects that are followed here."""
        focals = query.focals
        own = focals.taking.rows(rows)
        time = rows[self.schema.time].values
        if focals.taking.source is not None:
            time = time[rows[SOURCE].values == focals.taking.source]
        chosen = time >= since
        if focals.where is not None and own.count:
            chosen &= self.conditions[focals.where](own)
        if query.share is not None and own.count:
            zone, zones = query.share
            chosen &= content_hash([own[focals.key]])[0] % np.uint64(zones) == np.uint64(zone)
        x, y = coordinates(own, focals.x), coordinates(own, focals.y)
        is_there = np.isfinite(x) & np.isfinite(y) & own[focals.key].is_valid
        counts[f"focals_without_place:{query.name}"] += int(np.count_nonzero(chosen & ~is_there))
        taken = np.flatnonzero(chosen & is_there)
        shape = texts(len(taken))
        if focals.shape is not None:
            drawn = own[focals.shape].take(taken)
            good = [text is not None and is_shape(text) for text in drawn.tolist()]
            counts[f"focals_without_shape:{query.name}"] += len(good) - sum(good)
            taken, shape = taken[good], drawn.take(np.flatnonzero(good))
        key = replace(own[focals.key].take(taken), valid=None)
        return last_of_ties(Updates(key, time[taken], x[taken], y[taken], replace(shape, valid=None)))

    def _wanted(self, wheres: Collection[int | None], events: Rows) -> Mask:
        """For which events any of some conditions holds, the one that is None for all."""
        wanted = np.full(events.count, None in wheres)
        for where in wheres:
            if where is not None and events.count and None not in wheres:
                wanted |= self.conditions[where](events)
        return wanted
