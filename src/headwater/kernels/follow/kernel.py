"""What happens near those who move? All FOLLOW queries that read the same streams in one zone.

Rule 1  Events are stored as they come; a location update may begin an interest (see `interests`), which first gets the stored events of
        its region from `last` and the operators' windows before its start on, then what happens there until its life ends.
Rule 2  What stands behind FOLLOW runs for each interest by itself, from nothing, on these events alone; at the end of a life it sees
        the end of its input.
Rule 3  Answers are delivered as `delivery` says, stamped with the focal object, the interest, and whether they are of the past.
Rule 4  With a share, a zone follows the focal objects that live in it; every zone has all events.
Rule 5  What an interest has in common with the one before is not streamed again where that changes no answer (see `reuse`).
Rule 6  BEST EFFORT n: of the events before its start an interest gets the n latest.
Memory  See `store`, `interests` and `delivery`, and for each interest that is alive what its operators keep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from headwater.kernels.follow.delivery import Delivered, deliver
from headwater.kernels.follow.interests import (
    TALLIES,
    Alive,
    Interests,
    Recent,
    Updates,
    last_of_ties,
    switch,
    texts,
)
from headwater.kernels.follow.places import Look, lay_out
from headwater.kernels.follow.quality import counted, regions
from headwater.kernels.follow.quality import told as told_of_interests
from headwater.kernels.follow.question import SOURCE, Events, FollowQuery, Lives, Told, Whole, stamped
from headwater.kernels.follow.regions import bounds_of, inside_shape, is_shape
from headwater.kernels.follow.reuse import needed
from headwater.kernels.follow.store import Store, coordinates
from headwater.kernels.follow.words import Update
from headwater.model import (
    BEGINNING,
    Answers,
    Column,
    ColumnType,
    Instant,
    Log,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    coded,
    content_ids,
    join_rows,
    order_of,
)
from headwater.model.identity import content_hash

_TIME: Final = "event_time"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's state: since when it sees rows, the interests that are alive, what was delivered, its operators, and the next serial."""

    since: Instant
    alive: Alive
    delivered: Delivered
    operators: Any
    serial: int


@dataclass(frozen=True, slots=True)
class FollowState:
    """How far time has come, the events of every spring, and the queries."""

    watermark: Instant
    stores: dict[str, Store]
    asked: tuple[Asked, ...]


class FollowKernel:
    """All FOLLOW queries that read the same streams in one zone."""

    def __init__(
        self, schema: StreamSchema, queries: Sequence[FollowQuery], conditions: Sequence[RowCondition] = ()
    ) -> None:
        self.schema = schema
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)
        self.springs: dict[str, Events] = {query.events.identity: query.events for query in queries}
        self.history_us = {
            spring: max(_history_us(query) for query in queries if query.events.identity == spring)
            for spring in self.springs
        }

    def without_reuse(self) -> FollowKernel:
        """The same kernel with everything streamed to every interest: slower, and no answer is another."""
        queries = [replace(query, reuse=None) for query in self.queries]
        return FollowKernel(self.schema, queries, self.conditions)

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> FollowState:
        """Nothing seen; rows before `since` are not for these queries."""
        stores = {name: Store.of(Log(), events.schema) for name, events in self.springs.items()}
        return FollowState(BEGINNING, stores, tuple(self._asked(query, since) for query in self.queries))

    def step(self, state: FollowState, rows: Rows, watermark: Instant) -> Step[FollowState]:
        """Take events and location updates, let time pass, answer."""
        counts: Counter[str] = Counter()
        came = {name: self._came(events, rows) for name, events in self.springs.items()}
        stores = {
            name: state.stores[name].append(came[name], events.schema)
            for name, events in self.springs.items()
        }
        asked: list[Asked] = []
        shapes: dict[int, list[Rows]] = {}
        for query, part in zip(self.queries, state.asked, strict=True):
            store = stores[query.events.identity]
            if query.share is None or query.share[0] == 0:  # every zone has all events
                nowhere = _without_place(came[query.events.identity], query.events.schema)
                counts[f"events_without_place:{query.name}"] += nowhere
            following, answers = self._follow(query, part, store, rows, state.watermark, watermark, counts)
            asked.append(following)
            for block in answers:
                shapes.setdefault(block.shape, []).append(block.rows)
        kept = {
            name: store.since(watermark - self.history_us[name], self.springs[name].schema)
            for name, store in stores.items()
        }
        told = tuple(Answers(shape, join_rows(blocks)) for shape, blocks in sorted(shapes.items()))
        complete = watermark - max((query.last_us for query in self.queries), default=0)
        return Step(
            FollowState(watermark, kept, tuple(asked)),
            told,
            max(complete, BEGINNING),
            {name: many for name, many in counts.items() if many},
        )

    def save(self, state: FollowState) -> Saved:
        """Events as logs; interests, what was delivered, and the operators of each interest as values."""
        names = list(self.springs)
        values = {
            "watermark": state.watermark,
            "springs": names,
            "queries": [
                {
                    "name": query.name,
                    "fingerprint": query.fingerprint,
                    "since": part.since,
                    "serial": part.serial,
                    "alive": part.alive.save(),
                    "delivered": part.delivered.save(),
                    "operators": query.operators.save(part.operators) if query.operators else None,
                }
                for query, part in zip(self.queries, state.asked, strict=True)
            ],
        }
        return Saved(
            values, {f"events-{content}": state.stores[name].log for name, content in self._logs().items()}
        )

    def load(self, saved: Saved, since: Instant) -> FollowState:
        """What is known of the queries that are still the same; others begin at `since`."""
        values = saved.values
        begins = max(since, values["watermark"])
        known = {(part["name"], part["fingerprint"]): part for part in values["queries"]}
        logs = self._logs()
        stores = {
            name: Store.of(saved.logs.get(f"events-{logs[name]}", Log()), events.schema)
            for name, events in self.springs.items()
        }
        asked = []
        for query in self.queries:
            part = known.get((query.name, query.fingerprint))
            if part is None:
                asked.append(self._asked(query, begins))
                continue
            operators = query.operators.load(part["operators"], begins) if query.operators else None
            asked.append(
                Asked(
                    part["since"],
                    Alive.load(part["alive"]),
                    Delivered.load(part["delivered"]),
                    operators,
                    part["serial"],
                )
            )
        return FollowState(values["watermark"], stores, tuple(asked))

    def _logs(self) -> dict[str, str]:
        """What the log of each spring is saved under: the same as long as it means the same."""
        return {
            name: f"{int(content_hash([Column.of(ColumnType.STRING, [name])])[0, 0]):016x}"
            for name in self.springs
        }

    def _asked(self, query: FollowQuery, since: Instant) -> Asked:
        kind = self.schema.types[query.focals.taking.columns[query.focals.key]]
        operators = query.operators.start() if query.operators else None
        return Asked(since, Alive.none(kind), Delivered.nothing(), operators, 0)

    # --- a step of one query ------------------------------------------------------------------------------------------

    def _follow(
        self,
        query: FollowQuery,
        asked: Asked,
        store: Store,
        rows: Rows,
        before: Instant,
        watermark: Instant,
        counts: Counter[str],
    ) -> tuple[Asked, list[Answers]]:
        """What a query tells, with events stored and updates among the rows."""
        updates = self._updates(query, rows, asked.since, counts)
        recent = _recent(query, asked.alive, updates, store)
        interests = switch(query, asked.alive, updates, recent, watermark, asked.serial)
        lives = Lives(
            interests.serial,
            interests.focal,
            interests.number,
            interests.start,
            interests.end,
            interests.is_over,
        )
        events, of = self._events(query, interests, asked.since, store, before, watermark, counts)
        tally = np.zeros((len(lives.serial), TALLIES), np.int64)
        if query.interests:
            past = np.bincount(of[events[_TIME].values < lives.start[of]], minlength=len(lives.serial))
            tally = counted(query, asked.alive, updates, interests, store, past, before, watermark)
            over = told_of_interests(query, interests, tally)
            after = self._after(query, asked, interests, tally, asked.delivered, None, watermark, counts)
            return after, [over] if over else []
        told: list[Told] = [_of_itself(query, events, lives, of)] if query.tells and events.count else []
        operators = asked.operators
        if query.operators:
            operators, more, things = query.operators.step(operators, lives, events, of, watermark)
            told += more
            counts.update(things)
        delivered, answers = asked.delivered, []
        for block in told:
            found, delivered, repeated = deliver(query, lives, block, delivered)
            counts[f"answers_repeated:{query.name}"] += repeated
            if found is not None:
                answers.append(found)
        return self._after(query, asked, interests, tally, delivered, operators, watermark, counts), answers

    def _after(
        self,
        query: FollowQuery,
        asked: Asked,
        interests: Interests,
        tally: Whole,
        delivered: Delivered,
        operators: Any,
        watermark: Instant,
        counts: Counter[str],
    ) -> Asked:
        """The state of a query after a step."""
        begun = int(np.count_nonzero(interests.is_new))
        counts[f"interests:{query.name}"] += begun
        alive = interests.alive(tally)
        recent = delivered.recent(watermark, query.reach_us, alive)
        return Asked(asked.since, alive, recent, operators, asked.serial + begun)

    def _came(self, events: Events, rows: Rows) -> Rows:
        """The events among the rows of a step, in their order."""
        parts = []
        for taking, name in zip(events.sources, events.names, strict=True):
            own = taking.rows(rows)
            columns = {column: Column.nulls(kind, own.count) for column, kind in events.schema.columns}
            columns[SOURCE] = coded(np.zeros(own.count, np.int32), np.array([name], object))
            parts.append(Rows({**columns, **own.columns}, own.count).select(events.schema.types))
        together = join_rows(parts)
        if events.where is not None and together.count:
            together = together.take(self.conditions[events.where](together))
        if len(parts) > 1:
            together = together.take(order_of(together, events.schema.order))
        return together

    def _updates(self, query: FollowQuery, rows: Rows, since: Instant, counts: Counter[str]) -> Updates:
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

    def _events(
        self,
        query: FollowQuery,
        interests: Interests,
        since: Instant,
        store: Store,
        before: Instant,
        watermark: Instant,
        counts: Counter[str],
    ) -> tuple[Rows, Whole]:
        """The events of every interest that have come with this step, or that it begins with; and whose they are."""
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
        rows, row, box = store.gather(look, Rows.empty(query.events.schema.types))
        of = owner[box]
        if len(owner) > len(interests.serial):
            order = np.lexsort([row, of])
            row, of = row[order], of[order]
        if query.focals.shape is not None:
            row, of = _in_shapes(interests, rows, row, of, query)
        if query.reuse is not None:
            streamed = needed(query, interests, look, owner, rows, row, of, store, since)
            counts[f"events_reused:{query.name}"] += int(len(row) - np.count_nonzero(streamed))
            row, of = row[streamed], of[streamed]
        time = rows[query.events.schema.time].values[row]
        is_past = time < interests.start[of]
        if query.best_effort is not None:
            kept = _latest(is_past, of, query.best_effort)
            counts[f"events_cut:{query.name}"] += int(len(kept) - np.count_nonzero(kept))
            row, of, time, is_past = row[kept], of[kept], time[kept], is_past[kept]
        past = int(np.count_nonzero(is_past))
        counts[f"events_historical:{query.name}"] += past
        counts[f"events_live:{query.name}"] += len(row) - past
        return rows.take(row).having(**{_TIME: Column(ColumnType.TIMESTAMP, time)}), of


def _without_place(rows: Rows, schema: StreamSchema) -> int:
    """How many events are nowhere."""
    assert schema.place is not None
    there = np.isfinite(coordinates(rows, schema.place.x)) & np.isfinite(coordinates(rows, schema.place.y))
    return int(rows.count - np.count_nonzero(there))


def _history_us(query: FollowQuery) -> int:
    """How far back a query may look from the watermark."""
    return max(query.reach_us, query.over_us if query.update is Update.QUALITY else 0)


def _recent(query: FollowQuery, alive: Alive, updates: Updates, store: Store) -> Recent:
    """What QUALITY looks at; nothing where it is not asked for."""
    nowhere = np.zeros(0, np.int64)
    if query.update is not Update.QUALITY or not len(updates.time):
        empty = Look(np.zeros((0, 4)), nowhere, nowhere, np.zeros(0), np.zeros(0), -1.0, query.geographic)
        return Recent(lay_out(nowhere, np.zeros(0), np.zeros(0)), empty, np.zeros(1, np.int64))
    x, y = np.concatenate([alive.x, updates.x]), np.concatenate([alive.y, updates.y])
    return regions(query, x, y, store, int(updates.time.min()) - query.over_us)


def _of_itself(query: FollowQuery, events: Rows, lives: Lives, of: Whole) -> Told:
    """The events as answers. An event has one identity, however many interests it belongs to."""
    columns = query.events.schema.types
    called = coded(np.zeros(events.count, np.int32), np.array([query.name], object))
    identity = content_ids([called, events[_TIME], *(events[column] for column in columns)], of)
    head = {"query": called, _TIME: events[_TIME], "match_id": identity}
    rows = Rows({**head, **events.select(columns).columns}, events.count)
    return Told(Answers(query.shape, stamped(rows, lives, of)), of)


def _in_shapes(
    interests: Interests, rows: Rows, row: Whole, of: Whole, query: FollowQuery
) -> tuple[Whole, Whole]:
    """What lies within the shapes themselves."""
    place = query.events.schema.place
    assert place is not None
    x, y = coordinates(rows, place.x)[row], coordinates(rows, place.y)[row]
    kept = np.zeros(len(row), np.bool_)
    shapes = interests.shape.tolist()
    bounds = np.searchsorted(of, np.arange(len(shapes) + 1))
    for number, (low, high) in enumerate(pairwise(bounds.tolist())):
        if low < high:
            kept[low:high] = inside_shape(shapes[number], x[low:high], y[low:high])
    return row[kept], of[kept]


def _latest(is_past: Any, of: Whole, most: int) -> Any:
    """All events of the present, and of the past of each interest the latest."""
    behind = np.cumsum(is_past[::-1])[::-1]  # with itself, those of the past from here on
    last = np.searchsorted(of, of, "right")
    after = np.append(behind, 0)[last]
    return ~is_past | (behind - after <= most)
