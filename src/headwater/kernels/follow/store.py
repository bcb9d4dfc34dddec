"""The events of the recent past, for interests that are still to come: buckets of time with a grid each.

Rule 1  Events are stored once for all queries that look at the same streams, as far as the condition of any of them holds. Those with a
        condition have a grid of their own, over the events for which it holds.
Rule 2  A bucket is a chunk of the log in which the events are saved, so a step writes its new events and nothing else. Its grids are made
        when they are asked for, and never saved.
Rule 3  A bucket is dropped when its newest event is older than any interest can ask for.

Memory  The events of the longest history of any query, operators' windows included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from headwater.kernels.follow.places import Look, Places, find, lay_out
from headwater.kernels.follow.question import Real, Whole
from headwater.model import Chunk, Instant, Log, RowCondition, Rows, StreamSchema, join_rows


@dataclass(frozen=True)
class Bucket:
    """Events of some stretch of time; only those for which a condition `holds` are found."""

    chunk: Chunk
    schema: StreamSchema
    holds: RowCondition | None = None
    others: dict[int, Bucket] = field(default_factory=dict, compare=False)  # the same events under conditions

    @cached_property
    def places(self) -> Places:
        """Times and places, with their grid."""
        rows, place = self.chunk.rows, self.schema.place
        assert place is not None
        x, y = coordinates(rows, place.x), coordinates(rows, place.y)
        if self.holds is not None:
            x = np.where(self.holds(rows), x, np.nan)  # nowhere
        return lay_out(rows[self.schema.time].values, x, y)

    def where(self, place: int, holds: RowCondition) -> Bucket:
        """The same events, under the condition that is numbered so."""
        if place not in self.others:
            self.others[place] = Bucket(self.chunk, self.schema, holds)
        return self.others[place]


@dataclass(frozen=True, slots=True)
class Store:
    """Events in order of time."""

    log: Log
    buckets: tuple[Bucket, ...]

    @classmethod
    def of(cls, log: Log, schema: StreamSchema, known: tuple[Bucket, ...] = ()) -> Store:
        """The store of a log; buckets that are `known` are used again."""
        found = {bucket.chunk.number: bucket for bucket in known}
        return cls(log, tuple(found.get(chunk.number) or Bucket(chunk, schema) for chunk in log.chunks))

    def append(self, rows: Rows, schema: StreamSchema) -> Store:
        """With events at the end."""
        return Store.of(self.log.append(rows, schema.time), schema, self.buckets) if rows.count else self

    def since(self, instant: Instant, schema: StreamSchema) -> Store:
        """Without buckets that are older as a whole."""
        log = self.log.since(instant)
        return self if log is self.log else Store.of(log, schema, self.buckets)

    def where(self, place: int | None, conditions: Sequence[RowCondition]) -> Store:
        """The same events, as one sees them who wants those for which a condition holds, if there is one."""
        if place is None:
            return self
        return Store(self.log, tuple(bucket.where(place, conditions[place]) for bucket in self.buckets))

    @property
    def count(self) -> int:
        """How many events there are."""
        return sum(bucket.chunk.rows.count for bucket in self.buckets)

    @property
    def span_us(self) -> int:
        """How long it is from the first of them to the last."""
        if not self.buckets:
            return 0
        first = self.buckets[0]
        return self.buckets[-1].chunk.newest - int(first.chunk.rows[first.schema.time].values[0])

    def gather(self, look: Look, types: Rows) -> tuple[Rows, Whole, Whole]:
        """The events in any of some boxes; then, box by box and in order, which of them, and of which box."""
        parts, rows, boxes, base = [types], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for bucket in self.buckets:
            time = bucket.places.time
            asks = np.flatnonzero((look.since <= time[-1]) & (look.until > time[0]))
            if not len(asks):
                continue
            row, box = find(bucket.places, _some(look, asks))
            parts.append(bucket.chunk.rows)
            rows.append(base + row)
            boxes.append(asks[box])
            base += bucket.chunk.rows.count
        row, box = np.concatenate(rows), np.concatenate(boxes)
        order = np.argsort(box, kind="stable")
        return join_rows(parts), row[order], box[order]

    def recent(self, since: Instant) -> Places:
        """Times and places from some time on, with one grid over all."""
        buckets = [bucket.places for bucket in self.buckets if bucket.chunk.newest >= since]
        if len(buckets) == 1:
            return buckets[0]
        time = np.concatenate([places.time for places in buckets] or [np.zeros(0, np.int64)])
        x, y = (
            np.concatenate([getattr(places, axis) for places in buckets] or [np.zeros(0)]) for axis in "xy"
        )
        return lay_out(time, x, y)


def coordinates(rows: Rows, name: str) -> Real:
    """A coordinate of every row; NaN where there is none."""
    column = rows[name]
    values: Real = column.values.astype(np.float64, copy=False)
    return values if column.valid is None else np.where(column.valid, values, np.nan)


def _some(look: Look, asks: Whole) -> Look:
    return look._replace(
        boxes=look.boxes[asks], since=look.since[asks], until=look.until[asks], x=look.x[asks], y=look.y[asks]
    )
