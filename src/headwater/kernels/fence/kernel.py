"""Which objects enter which fences? All FENCE queries that read the same streams in one zone.

Rule 1  A pair of an object and a fence is tested only when one of them has an update: the position of the object and the shape of the
        fence, both as of that instant. All rows of one instant count together; of several of one key the last in the order counts.
Rule 2  ENTER and EXIT report that a pair has changed. INSIDE, OUTSIDE and CROSS are about an object with an update: that it is in a
        fence, in none at all, or that it was in a fence neither before nor now but passed it on a straight line.
Rule 3  An object or fence that is silent for longer than FORGET is forgotten: its pairs end a microsecond after that. Then it is new.
Rule 4  Fences that do not move: see `standing_fences`. Fences that move: see `moving_fences`; rows are taken in stretches with a few updates
        of every key, so that versions far apart in time are not compared.
Rule 5  With a share, a zone has all fences and those objects that live in it.
Rule 6  An answer has the instant of its change. `match_id` is computed from the query's name, the instant, the change, the object and the
        fence.

Memory  A record for every object, and for every fence that moves, heard of within FORGET: see `records` for standing fences, and `by_key`
        for moving ones. A step reads and writes those that it needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from headwater.kernels.coordinates import coordinates
from headwater.kernels.fence.answers import change_rows, reported_changes
from headwater.kernels.fence.by_key import (
    ByKey,
    changed,
    everybody,
    levels_of,
    loaded,
    needed,
    no_records_of,
    stores_of,
    takes_all,
    takes_some,
    with_records,
)
from headwater.kernels.fence.choices import Detect
from headwater.kernels.fence.grid import lay_out
from headwater.kernels.fence.moving_fences import Mask
from headwater.kernels.fence.moving_step import Sides, aligned, move
from headwater.kernels.fence.objects import NEVER, Known, no_shapes
from headwater.kernels.fence.question import SOURCE, FenceQuery, Fences, Placed
from headwater.kernels.fence.records import (
    Names,
    Objects,
    changed_objects,
    names_of,
    needed_objects,
    no_objects,
)
from headwater.kernels.fence.shapes import of_rings
from headwater.kernels.fence.standing_fences import FenceIndex, Latest, Stays, first_room, walk
from headwater.kernels.fence.updates import Updates, stretches
from headwater.kernels.polygons import is_polygon
from headwater.model import (
    BEGINNING,
    END,
    Answers,
    Instant,
    KeyedStore,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    join_by_time,
    join_rows,
)
from headwater.model.identity import content_hash

_NO_NAMES: Final[Names] = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True)
class QueryState:
    """A query's state: from when it reads rows; a record for each object if fences stand, records of both sides if they move."""

    since: Instant
    records: KeyedStore
    moving: Sides | ByKey


@dataclass(frozen=True, slots=True)
class FenceState:
    """How far time has come, and the queries."""

    watermark: Instant
    query_states: tuple[QueryState, ...]


class FenceKernel:
    """All FENCE queries that read the same streams in one zone."""

    def __init__(
        self, schema: StreamSchema, queries: Sequence[FenceQuery], conditions: Sequence[RowCondition] = ()
    ) -> None:
        self.schema = schema
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)
        self.indexes = [_index(query.fences) for query in queries]
        self.names = [names_of(query.fences) if query.fences else _NO_NAMES for query in queries]
        self.reported = [reported_changes(query) for query in queries]

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> FenceState:
        """Nothing read; rows before `since` are not for these queries."""
        return FenceState(BEGINNING, tuple(_nothing(query, since) for query in self.queries))

    def step(self, state: FenceState, rows: Rows, watermark: Instant) -> Step[FenceState]:
        """Take positions and fences, let time pass, answer."""
        counts: Counter[str] = Counter()
        next_states: list[QueryState] = []
        shapes: dict[int, list[Rows]] = {}
        for number, (query, part) in enumerate(zip(self.queries, state.query_states, strict=True)):
            next_state, emitted = self._answer(number, query, part, rows, state.watermark, watermark, counts)
            next_states.append(next_state)
            if emitted.count:
                shapes.setdefault(query.shape, []).append(emitted)
        answers = tuple(Answers(shape, join_by_time(blocks)) for shape, blocks in sorted(shapes.items()))
        return Step(
            FenceState(watermark, tuple(next_states)),
            answers,
            watermark,
            {name: many for name, many in counts.items() if many},
        )

    def save(self, state: FenceState) -> Saved:
        """Records by key in stores; as values where a step takes all keys together."""
        queries, stores = [], {}
        for query, part in zip(self.queries, state.query_states, strict=True):
            saved: dict[str, Any] = {
                "name": query.name,
                "fingerprint": query.fingerprint,
                "since": part.since,
            }
            if query.fences is not None:
                stores[query.name] = part.records
            elif isinstance(part.moving, ByKey):
                saved["levels"] = levels_of(part.moving)
                stores |= stores_of(query, part.moving)
            else:
                saved["objects"], saved["fences"] = (side.save() for side in part.moving)
            queries.append(saved)
        return Saved({"watermark": state.watermark, "queries": queries}, stores=stores)

    def empty_stores(self) -> dict[str, KeyedStore]:
        """The stores of states with many keys."""
        stores = {}
        for query in self.queries:
            if query.fences is not None:
                stores[query.name] = _nothing(query, BEGINNING).records
            else:
                stores |= stores_of(query, no_records_of(query))
        return stores

    def load(self, saved: Saved, since: Instant) -> FenceState:
        """The state of the queries that are unchanged; others begin at `since`. Stays in fences that no longer exist are dropped."""
        values = saved.values
        begins = max(since, values["watermark"])
        known = {(part["name"], part["fingerprint"]): part for part in values["queries"]}
        query_states = []
        for query in self.queries:
            part = known.get((query.name, query.fingerprint))
            query_states.append(_nothing(query, begins) if part is None else _loaded(query, part, saved))
        return FenceState(values["watermark"], tuple(query_states))

    def next_due(self, state: FenceState) -> Instant:
        """When the next object or fence is forgotten."""
        return min(
            (_next_due(query, part) for query, part in zip(self.queries, state.query_states, strict=True)),
            default=END,
        )

    def is_blank(self, state: FenceState) -> bool:
        """Whether no object or fence is known."""
        return all(part.since == BEGINNING and _is_empty(part) for part in state.query_states)

    # --- a step of one query ------------------------------------------------------------------------------------------

    def _answer(
        self,
        number: int,
        query: FenceQuery,
        query_state: QueryState,
        rows: Rows,
        before: Instant,
        watermark: Instant,
        counts: Counter[str],
    ) -> tuple[QueryState, Rows]:
        positions = self._positions(query, rows, query_state.since, counts)
        if query.fences is not None:
            return self._stand(number, query, query.fences, query_state, positions, before, watermark)
        assert query.moving is not None
        fences = self._fences(query, query.moving, rows, query_state.since, counts)
        moving, emitted = self._move(number, query, query_state.moving, positions, fences, before, watermark)
        return replace(query_state, moving=moving), emitted

    def _move(
        self,
        number: int,
        query: FenceQuery,
        state: Sides | ByKey,
        positions: Updates,
        fences: Updates,
        before: Instant,
        watermark: Instant,
    ) -> tuple[Sides | ByKey, Rows]:
        """Fences that move."""
        rows = len(positions.time) + len(fences.time)
        if isinstance(state, ByKey) and not takes_all(len(state), rows):
            few = needed(query, state, positions, fences, before, watermark)
            some, emitted = self._stretches(number, query, few.known, positions, fences, before, watermark)
            after = changed(query, state, few, some)
            return everybody(query, after) if takes_all(len(after), 0) else after, emitted
        known = everybody(query, state) if isinstance(state, ByKey) else state
        known, emitted = self._stretches(number, query, known, positions, fences, before, watermark)
        return with_records(query, known) if takes_some(known.known, rows) else known, emitted

    def _stretches(
        self,
        number: int,
        query: FenceQuery,
        known: Sides,
        positions: Updates,
        fences: Updates,
        before: Instant,
        watermark: Instant,
    ) -> tuple[Sides, Rows]:
        """The answers about some known keys and their updates, and the state of these keys afterwards."""
        blocks = []
        for some, others, until in stretches(positions, fences, known.known, watermark):
            known, emitted = move(query, self.reported[number], known, some, others, before, until)
            before = until
            blocks.append(emitted)
        return known, blocks[0] if len(blocks) == 1 else join_rows(blocks)

    def _stand(
        self,
        number: int,
        query: FenceQuery,
        fences: Fences,
        query_state: QueryState,
        updates: Updates,
        before: Instant,
        watermark: Instant,
    ) -> tuple[QueryState, Rows]:
        """Fences that stand still."""
        names = self.names[number]
        (known, stays), known_before = needed_objects(
            query_state.records, updates.key, before, watermark, names
        )
        keys, places = known.keys.having(updates.key)
        if keys is not known.keys:
            many = np.zeros(len(keys), np.int64)
            many[places] = np.diff(stays.first)
            stays = Stays(np.concatenate([[0], np.cumsum(many)]), stays.fence)
        known = known.having(keys, places)
        moves, _ = updates.by_slot(keys)
        room = first_room(max(len(moves.time), 2 * len(stays.fence)))
        changes, change_count, stays = walk(
            self.indexes[number],
            self.reported[number],
            query.forget_us,
            watermark,
            moves,
            stays,
            Latest(known.time, known.x, known.y),
            room,
        )
        answers = change_rows(query, changes, change_count, keys, fences.key)
        alive = np.flatnonzero(known.time != NEVER)
        if len(alive) < len(known.time):  # forgotten objects are in no fence
            stays = Stays(stays.first[np.append(alive, len(known.time))], stays.fence)
            known = known.only(alive)
        records = changed_objects(
            query_state.records, Objects(known, stays), known_before, names, query.forget_us
        )
        return replace(query_state, records=records), answers

    def _positions(self, query: FenceQuery, rows: Rows, since: Instant, counts: Counter[str]) -> Updates:
        """The positions of objects that live here; of all objects where their fences matter to others."""
        updates, is_there, here = self._updates(query.positions, rows, since, query.share)
        counts[f"positions_without_place:{query.name}"] += int(np.count_nonzero(here & ~is_there))
        everybody = query.share is None or (query.roaming and Detect.OUTSIDE in query.detect)
        return updates.only(is_there if everybody else is_there & here)

    def _fences(
        self, query: FenceQuery, moving: Placed, rows: Rows, since: Instant, counts: Counter[str]
    ) -> Updates:
        """The fences among the rows; rows without a valid fence are counted in the first zone."""
        updates, is_there, _ = self._updates(moving, rows, since, None)
        counts_here = query.share is None or query.share[0] == 0
        counts[f"fences_without_place:{query.name}"] += int(np.count_nonzero(~is_there)) * counts_here
        if moving.shape is not None:
            drawn = [text is not None and is_polygon(text) for text in updates.shape.tolist()]
            good = np.array(drawn, np.bool_)
            counts[f"fences_without_shape:{query.name}"] += (
                int(np.count_nonzero(is_there & ~good)) * counts_here
            )
            is_there = is_there & good
        return updates.only(is_there)

    def _updates(
        self, placed: Placed, rows: Rows, since: Instant, share: tuple[int, int] | None
    ) -> tuple[Updates, Mask, Mask]:
        """The rows of a source for which its condition holds; which of them have a key and a place; which belong to this zone."""
        own = placed.taking.rows(rows)
        time = rows[self.schema.time].values
        if placed.taking.source is not None:
            time = time[rows[SOURCE].values == placed.taking.source]
        chosen = time >= since
        if placed.where is not None and own.count:
            chosen = chosen & self.conditions[placed.where](own)
        if not chosen.all():
            own, time = own.take(chosen), time[chosen]
        x, y, key = coordinates(own, placed.x), coordinates(own, placed.y), own[placed.key]
        here = np.ones(own.count, np.bool_)
        if share is not None and own.count:
            zone, zones = share
            here = content_hash([key])[0] % np.uint64(zones) == np.uint64(zone)
        shape = own[placed.shape] if placed.shape is not None else no_shapes(own.count)
        return Updates(key, time, x, y, shape), np.isfinite(x) & np.isfinite(y) & key.is_valid, here


# --- pieces ---------------------------------------------------------------------------------------------------------------


def _nothing(query: FenceQuery, since: Instant) -> QueryState:
    fences = query.moving.key_type if query.moving else query.positions.key_type
    kind = query.positions.key_type
    none = Known.none(kind)
    return QueryState(since, no_objects(kind), Sides(none, none if query.same else Known.none(fences)))


def _is_empty(state: QueryState) -> bool:
    moving = state.moving
    known = len(moving) if isinstance(moving, ByKey) else moving.known
    return not known and not len(state.records)


def _next_due(query: FenceQuery, state: QueryState) -> Instant:
    """When the next object or fence is forgotten, or an earlier time."""
    due = state.records.next_due
    if isinstance(state.moving, ByKey):
        return min(due, state.moving.objects.store.next_due, state.moving.fences.store.next_due)
    heard = np.concatenate([side.time[side.time != NEVER] for side in state.moving])
    return min(due, int(heard.min()) + query.forget_us) if len(heard) else due


def _loaded(query: FenceQuery, part: dict[str, Any], saved: Saved) -> QueryState:
    """The saved state of a query."""
    query_state = _nothing(query, part["since"])
    if query.fences is not None:
        return replace(query_state, records=saved.stores[query.name].shaped_like(query_state.records.like))
    if "levels" in part:
        return replace(query_state, moving=loaded(query, part["levels"], saved.stores))
    sides = aligned(query, Known.load(part["objects"]), Known.load(part["fences"]))
    return replace(query_state, moving=sides)


def _index(fences: Fences | None) -> FenceIndex:
    shapes = of_rings([], geographic=False) if fences is None else fences.shapes
    return FenceIndex(shapes, lay_out(shapes.boxes, shapes.owner), np.arange(len(shapes.radius_m)))
