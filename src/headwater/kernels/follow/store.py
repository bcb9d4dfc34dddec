"""The events of the recent past, for future interests: buckets of time with a grid each.

Rule 1  The events of a source are stored once for all queries that read them, if the condition of at least one query holds. Events
        arrive up to the watermark of their source; each query reads them up to its own time.
Rule 2  A query reads rows of all its sources as one stream, restricted to those for which its condition holds. Its view of a bucket, and
        the grid over it, is built on first use, once for all queries with the same view, and never saved.
Rule 3  A bucket is a chunk of the log in which the events are saved, so a step writes only its new events. A bucket is dropped when
        its newest event is older than what any interest of any query can need.

Memory  The events of the longest history of any query, operators' windows included, and those since the slowest query's time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.coordinates import coordinates
from headwater.kernels.follow.places import Look, Places, find, lay_out
from headwater.kernels.follow.question import Events, Real, Whole
from headwater.model import (
    BEGINNING,
    HIGHEST,
    Chunk,
    Column,
    Instant,
    Log,
    Rows,
    Saved,
    Step,
    StreamSchema,
    join_rows,
    order_of,
)

_LOG: Final = "events"


@dataclass(frozen=True)
class Seen:
    """A bucket as a query reads it."""

    source: StreamSchema
    chunk: Chunk
    events: Events

    @cached_property
    def rows(self) -> Rows:
        """The rows of all its events, those that the query does not need among them."""
        return self.events.rows(self.source, self.chunk.rows)

    @cached_property
    def places(self) -> Places:
        """Times and places, with their grid."""
        place = self.events.schema.place
        assert place is not None
        x, y = coordinates(self.rows, place.x), coordinates(self.rows, place.y)
        if self.events.where is not None:
            x = np.where(self.events.where(self.rows), x, np.nan)  # nowhere
        return lay_out(self.rows[self.events.schema.time].values, x, y)


@dataclass(frozen=True, slots=True)
class Bucket:
    """The events of a stretch of time, and the views of them that have been built."""

    chunk: Chunk
    seen: dict[str, Seen] = field(default_factory=dict, compare=False)

    def seen_by(self, source: StreamSchema, events: Events) -> Seen:
        """The view of a query; queries with the same view share it."""
        if events.identity not in self.seen:
            self.seen[events.identity] = Seen(source, self.chunk, events)
        return self.seen[events.identity]


@dataclass(frozen=True, slots=True)
class Store:
    """The events of one source, in their order."""

    schema: StreamSchema
    log: Log
    buckets: tuple[Bucket, ...]

    @classmethod
    def of(cls, schema: StreamSchema, log: Log, known: tuple[Bucket, ...] = ()) -> Store:
        """The store of a log; reuses buckets that are `known`."""
        found = {bucket.chunk.number: bucket for bucket in known}
        return cls(schema, log, tuple(found.get(chunk.number) or Bucket(chunk) for chunk in log.chunks))

    def append(self, rows: Rows) -> Store:
        """The store with events at the end."""
        if not rows.count:
            return self
        return Store.of(self.schema, self.log.append(rows, self.schema.time), self.buckets)

    def since(self, instant: Instant) -> Store:
        """The store without buckets that are entirely older."""
        log = self.log.since(instant)
        return self if log is self.log else Store.of(self.schema, log, self.buckets)

    @property
    def count(self) -> int:
        """The number of events."""
        return sum(bucket.chunk.rows.count for bucket in self.buckets)

    @property
    def span_us(self) -> int:
        """The time from the first event to the last."""
        if not self.buckets:
            return 0
        return self.buckets[-1].chunk.newest - int(self.buckets[0].chunk.rows[self.schema.time].values[0])


class EventReader(NamedTuple):
    """A query that reads a store. `counts`: this store counts the query's events without a place."""

    query: str
    events: Events
    counts: bool


class StoreKernel:
    """Stores the events of one source in one zone, and answers nothing. The kernels that read them say from when on they need them."""

    def __init__(self, schema: StreamSchema, readers: Sequence[EventReader]) -> None:
        self.schema = schema
        self.readers = tuple(readers)

    def start(self, since: Instant) -> Store:
        """An empty store."""
        return Store.of(self.schema, Log())

    def step(self, state: Store, rows: Rows, watermark: Instant) -> Step[Store]:
        """Store events, and report how many there are."""
        own = Rows(
            {
                name: rows[name] if name in rows else Column.nulls(kind, rows.count)
                for name, kind in self.schema.columns
            },
            rows.count,
        )
        counts: Counter[str] = Counter()
        is_used = np.zeros(own.count, np.bool_)
        for reader in self.readers if own.count else ():
            seen = reader.events.rows(self.schema, own)
            chosen = (
                np.ones(own.count, np.bool_) if reader.events.where is None else reader.events.where(seen)
            )
            if reader.counts:  # every zone has all events
                counts[f"events_without_place:{reader.query}"] += _nowhere(reader.events, seen, chosen)
            is_used |= chosen
        store = state.append(own if is_used.all() else own.take(np.flatnonzero(is_used)))
        counts[f"{HIGHEST}stored:{self.schema.name}"] = store.count
        counts[f"{HIGHEST}stored_us:{self.schema.name}"] = store.span_us
        return Step(store, (), watermark, {name: many for name, many in counts.items() if many})

    def save(self, state: Store) -> Saved:
        """The events as a log."""
        return Saved({}, {_LOG: state.log})

    def load(self, saved: Saved, since: Instant) -> Store:
        """The store of a saved log."""
        return Store.of(self.schema, saved.logs.get(_LOG, Log()))

    def since(self, state: Store, instant: Instant) -> Store:
        """The store without buckets that are entirely older."""
        return state.since(instant)

    def next_due(self, state: Store) -> Instant:
        """Not used: events are dropped when the kernels that read them no longer need them."""
        return BEGINNING

    def is_blank(self, state: Store) -> bool:
        """Whether nothing is stored."""
        return not state.buckets


def _nowhere(events: Events, rows: Rows, chosen: NDArray[np.bool_]) -> int:
    place = events.schema.place
    assert place is not None
    is_there = np.isfinite(coordinates(rows, place.x)) & np.isfinite(coordinates(rows, place.y))
    return int(np.count_nonzero(chosen & ~is_there))


class View:
    """The events of all sources of a query, as it reads them."""

    def __init__(self, events: Events, stores: Sequence[Store]) -> None:
        self.events = events
        self.seen = [bucket.seen_by(store.schema, events) for store in stores for bucket in store.buckets]

    def gather(self, look: Look) -> tuple[Rows, Whole, Whole]:
        """The events in any of some boxes; then, box by box and in order, the place of each event, and its box."""
        parts, rows, boxes = (
            [Rows.empty(self.events.schema.types)],
            [np.zeros(0, np.int64)],
            [np.zeros(0, np.int64)],
        )
        base = 0
        for seen in self.seen:
            time = seen.places.time
            chosen = np.flatnonzero((look.since <= time[-1]) & (look.until > time[0]))
            if not len(chosen):
                continue
            row, box = find(seen.places, _some(look, chosen))
            parts.append(seen.rows)
            rows.append(base + row)
            boxes.append(chosen[box])
            base += seen.rows.count
        together, row, box = join_rows(parts), np.concatenate(rows), np.concatenate(boxes)
        if len(self.events.sources) > 1:  # each source is in order, but not all of them together
            together, row = _in_order(together, row, self.events.schema)
            order = np.lexsort([row, box])
        else:
            order = np.argsort(box, kind="stable")
        return together, row[order], box[order]

    def between(self, since: Instant, until: Instant) -> tuple[Real, Real]:
        """The places of the events from `since` on and before `until`."""
        parts = [(np.zeros(0), np.zeros(0))]
        for seen in self.seen:
            if seen.chunk.newest >= since:
                places = seen.places
                low, high = np.searchsorted(places.time, [since, until]).tolist()
                x, y = places.x[low:high], places.y[low:high]
                is_there = np.isfinite(x) & np.isfinite(y)
                parts.append((x[is_there], y[is_there]))
        return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])

    def recent(self, since: Instant) -> Places:
        """Times and places from some time on, with one grid over all."""
        found = [seen.places for seen in self.seen if seen.chunk.newest >= since]
        if len(found) == 1:
            return found[0]
        time = np.concatenate([np.zeros(0, np.int64), *(places.time for places in found)])
        x, y = (np.concatenate([np.zeros(0), *(getattr(places, axis) for places in found)]) for axis in "xy")
        if len(self.events.sources) > 1:
            order = np.argsort(time, kind="stable")
            time, x, y = time[order], x[order], y[order]
        return lay_out(time, x, y)


def _in_order(rows: Rows, row: Whole, schema: StreamSchema) -> tuple[Rows, Whole]:
    """The rows that were found, in the order of a stream; and the new place of each."""
    used, place = np.unique(row, return_inverse=True)
    found = rows.take(used)
    order = order_of(found, schema.order)
    now = np.empty(len(order), np.int64)
    now[order] = np.arange(len(order))
    return found.take(order), now[place]


def _some(look: Look, chosen: Whole) -> Look:
    return look._replace(
        boxes=look.boxes[chosen],
        since=look.since[chosen],
        until=look.until[chosen],
        x=look.x[chosen],
        y=look.y[chosen],
    )
