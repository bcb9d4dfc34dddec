"""Who enters what? All FENCE queries that read the same streams in one zone.

Rule 1  A pair of an object and a fence is looked at when one of them has an update, and only then: where the object is, what the fence is
        like, both as of that instant. All rows of one instant count together; of several of one key the last in the order.
Rule 2  ENTER and EXIT tell that a pair has changed. INSIDE, OUTSIDE and CROSS tell of an object that has a position now: that it is in a
        fence, in none at all, or that it was in a fence neither before nor now but passed it on a straight line.
Rule 3  Who is silent for longer than FORGET is forgotten: pairs end a microsecond after that. Then all begins anew.
Rule 4  Fences that stand still: see `standing`. Fences that move: see `moving`; what comes is taken in stretches that hold some updates
        of everybody, so that versions far apart in time do not meet.
Rule 5  With a share, a zone has all fences and those objects that live in it.
Rule 6  An answer is told at its instant. `match_id` is made of the query's name, the instant, the change, the object and the fence.

Memory  One row for every object, and for every fence that moves, heard of within FORGET; for objects the fences they are in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from headwater.kernels.fence.answers import in_order, told_rows, wanted_changes
from headwater.kernels.fence.geometry import Real, Shapes, Whole
from headwater.kernels.fence.grid import Grid, lay_out
from headwater.kernels.fence.moving import (
    Mask,
    Versions,
    find_stays,
    in_pairs,
    tell_crossed,
    tell_outside,
    tell_stays,
    versions_of,
)
from headwater.kernels.fence.objects import NEVER, Known
from headwater.kernels.fence.question import SOURCE, FenceQuery, Fences, Placed
from headwater.kernels.fence.records import Names, Objects, changed, names_of, needed, no_objects
from headwater.kernels.fence.shapes import boxes_around, circles, of_texts
from headwater.kernels.fence.standing import (
    CROSS,
    OUTSIDE,
    Stays,
    room_for,
    walk,
)
from headwater.kernels.fence.updates import Updates, stretches
from headwater.kernels.fence.words import Detect
from headwater.kernels.follow.regions import is_shape
from headwater.kernels.follow.store import coordinates
from headwater.model import (
    BEGINNING,
    END,
    Answers,
    Column,
    ColumnType,
    Instant,
    KeyedStore,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    compacted,
    join_rows,
)
from headwater.model.identity import content_hash
from headwater.model.rows import join_columns

_NO_NAMES: Final[Names] = np.zeros(0, np.uint64)
_NO_SHAPE: Final = Column(ColumnType.STRING, np.zeros(0, np.int32), None, np.array(["", ""], object)[:1])


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's state: since when it sees rows. Where fences stand, a record for each object; where they move, objects and fences."""

    since: Instant
    records: KeyedStore
    objects: Known
    fences: Known


@dataclass(frozen=True, slots=True)
class FenceState:
    """How far time has come, and the queries."""

    watermark: Instant
    asked: tuple[Asked, ...]


class FenceKernel:
    """All FENCE queries that read the same streams in one zone."""

    def __init__(
        self, schema: StreamSchema, queries: Sequence[FenceQuery], conditions: Sequence[RowCondition] = ()
    ) -> None:
        self.schema = schema
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)
        self.grids = [_grid(query.fences) for query in queries]
        self.names = [names_of(query.fences) if query.fences else _NO_NAMES for query in queries]
        self.wanted = [wanted_changes(query) for query in queries]

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> FenceState:
        """Nothing seen; rows before `since` are not for these queries."""
        return FenceState(BEGINNING, tuple(_nothing(query, since) for query in self.queries))

    def step(self, state: FenceState, rows: Rows, watermark: Instant) -> Step[FenceState]:
        """Take positions and fences, let time pass, answer."""
        counts: Counter[str] = Counter()
        asked: list[Asked] = []
        shapes: dict[int, list[Rows]] = {}
        for number, (query, part) in enumerate(zip(self.queries, state.asked, strict=True)):
            following, told = self._answer(number, query, part, rows, state.watermark, watermark, counts)
            asked.append(following)
            if told.count:
                shapes.setdefault(query.shape, []).append(told)
        answers = tuple(Answers(shape, in_order(blocks)) for shape, blocks in sorted(shapes.items()))
        return Step(
            FenceState(watermark, tuple(asked)),
            answers,
            watermark,
            {name: many for name, many in counts.items() if many},
        )

    def save(self, state: FenceState) -> Saved:
        """Objects near fences that stand in a store; objects and fences that move."""
        both = list(zip(self.queries, state.asked, strict=True))
        queries = [
            {
                "name": query.name,
                "fingerprint": query.fingerprint,
                "since": part.since,
                "objects": part.objects.save(),
                "fences": part.fences.save(),
            }
            for query, part in both
        ]
        stores = {query.name: part.records for query, part in both if query.fences is not None}
        return Saved({"watermark": state.watermark, "queries": queries}, stores=stores)

    def load(self, saved: Saved, since: Instant) -> FenceState:
        """What is known of the queries that are still the same; others begin at `since`. Stays in fences that are gone are dropped."""
        values = saved.values
        begins = max(since, values["watermark"])
        known = {(part["name"], part["fingerprint"]): part for part in values["queries"]}
        asked = []
        for query in self.queries:
            part = known.get((query.name, query.fingerprint))
            if part is None:
                asked.append(_nothing(query, begins))
                continue
            objects, fences = Known.load(part["objects"]), Known.load(part["fences"])
            records = no_objects(query.positions.key_type)
            if query.name in saved.stores:
                records = saved.stores[query.name].shaped_like(records.like)
            asked.append(Asked(part["since"], records, objects, fences))
        return FenceState(values["watermark"], tuple(asked))

    # --- a step of one query ------------------------------------------------------------------------------------------

    def _answer(
        self,
        number: int,
        query: FenceQuery,
        asked: Asked,
        rows: Rows,
        before: Instant,
        watermark: Instant,
        counts: Counter[str],
    ) -> tuple[Asked, Rows]:
        positions = self._positions(query, rows, asked.since, counts)
        if query.fences is not None:
            return self._stand(number, query, query.fences, asked, positions, before, watermark)
        assert query.moving is not None
        fences = self._fences(query, query.moving, rows, asked.since, counts)
        known = len(asked.objects.time) + len(asked.fences.time)
        blocks = []
        for some, others, until in stretches(positions, fences, known, watermark):
            asked, told = _move(query, self.wanted[number], asked, some, others, before, until)
            before = until
            blocks.append(told)
        return asked, blocks[0] if len(blocks) == 1 else join_rows(blocks)

    def _stand(
        self,
        number: int,
        query: FenceQuery,
        fences: Fences,
        asked: Asked,
        updates: Updates,
        before: Instant,
        watermark: Instant,
    ) -> tuple[Asked, Rows]:
        """Fences that stand still."""
        names = self.names[number]
        (known, stays), known_before = needed(asked.records, updates.key, before, watermark, names)
        keys, places = known.keys.having(updates.key)
        if keys is not known.keys:
            many = np.zeros(len(keys), np.int64)
            many[places] = np.diff(stays.first)
            stays = Stays(np.concatenate([[0], np.cumsum(many)]), stays.fence)
        known = known.having(keys, places)
        moves, _ = updates.by_slot(keys)
        room = first_room(max(len(moves.time), 2 * len(stays.fence)))
        told, many_told, stays = walk(
            fences.shapes,
            self.grids[number],
            self.wanted[number],
            query.forget_us,
            watermark,
            moves,
            stays,
            known.time,
            known.x,
            known.y,
            room,
        )
        answers = told_rows(query, told, many_told, keys, fences.key)
        alive = np.flatnonzero(known.time != NEVER)
        if len(alive) < len(known.time):  # those who are forgotten are in no fence
            stays = Stays(stays.first[np.append(alive, len(known.time))], stays.fence)
            known = known.only(alive)
        records = changed(asked.records, Objects(known, stays), known_before, names, query.forget_us)
        return replace(asked, records=records), answers

    def _positions(self, query: FenceQuery, rows: Rows, since: Instant, counts: Counter[str]) -> Updates:
        """The positions of objects that live here; of all, where it matters that others are in their fences."""
        updates, is_there, here = self._updates(query.positions, rows, since, query.share)
        counts[f"positions_without_place:{query.name}"] += int(np.count_nonzero(here & ~is_there))
        everybody = query.share is None or (query.roaming and Detect.OUTSIDE in query.detect)
        return updates.only(is_there if everybody else is_there & here)

    def _fences(
        self, query: FenceQuery, moving: Placed, rows: Rows, since: Instant, counts: Counter[str]
    ) -> Updates:
        """The fences among the rows; what is no fence is counted in the first zone."""
        updates, is_there, _ = self._updates(moving, rows, since, None)
        tells = query.share is None or query.share[0] == 0
        counts[f"fences_without_place:{query.name}"] += int(np.count_nonzero(~is_there)) * tells
        if moving.shape is not None:
            drawn = [text is not None and is_shape(text) for text in updates.shape.tolist()]
            good = np.array(drawn, np.bool_)
            counts[f"fences_without_shape:{query.name}"] += int(np.count_nonzero(is_there & ~good)) * tells
            is_there = is_there & good
        return updates.only(is_there)

    def _updates(
        self, placed: Placed, rows: Rows, since: Instant, share: tuple[int, int] | None
    ) -> tuple[Updates, Mask, Mask]:
        """The rows of a source for which its condition holds; which of them have a key and a place; which are those of this zone."""
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
        shape = own[placed.shape] if placed.shape is not None else _no_shapes(own.count)
        return Updates(key, time, x, y, shape), np.isfinite(x) & np.isfinite(y) & key.is_valid, here


def first_room(many: int) -> int:
    """How many changes or stays there is room for at first, if so many are likely; there is more when they are more."""
    return max(16, many)


# --- fences that move -----------------------------------------------------------------------------------------------------


def _move(
    query: FenceQuery,
    wanted: Mask,
    asked: Asked,
    positions: Updates,
    fences: Updates,
    before: Instant,
    until: Instant,
) -> tuple[Asked, Rows]:
    known, around = asked.objects, asked.fences
    if query.same:  # one order of keys for both sides, in which they are compared
        keys, places = known.keys.having(join_columns([positions.key, fences.key]))
        known, around = known.having(keys, places), around.having(keys, places)
    else:
        known = known.having(*known.keys.having(positions.key))
        around = around.having(*around.keys.having(fences.key))
    moves, _ = positions.by_slot(known.keys)
    drawn, drawn_order = fences.by_slot(around.keys)
    objects = versions_of(known.time, moves.first, moves.time, query.forget_us, until)
    versions = versions_of(around.time, drawn.first, drawn.time, query.forget_us, until)
    x, y = _of_versions(objects, known.x, moves.x), _of_versions(objects, known.y, moves.y)
    texts = _shapes_of_versions(versions, around.shape, fences.shape.take(drawn_order))
    around_x, around_y = _of_versions(versions, around.x, drawn.x), _of_versions(versions, around.y, drawn.y)
    shapes, which = _shapes(query, around_x, around_y, texts)
    grid = _grid_of_versions(shapes, which)
    room = first_room(2 * len(x))
    found = find_stays(shapes, grid, which, objects, x, y, versions, query.same, query.roaming, room)
    stays, room = in_pairs(found, objects, versions), first_room(len(found.one))
    told, many = tell_stays(stays, objects, x, y, versions, wanted, before, room_for(room), 0)
    if wanted[OUTSIDE]:
        told, many = tell_outside(stays, objects, x, y, versions, query.roaming, told, many)
    if wanted[CROSS]:
        told, many = tell_crossed(
            shapes, grid, which, objects, x, y, versions, query.same, query.roaming, told, many
        )
    answers = told_rows(query, told, many, known.keys, around.keys.column)
    known = _latest(known, objects, x, y, _no_shapes(len(x)))
    around = _latest(around, versions, around_x, around_y, texts)
    return _without_forgotten(query, replace(asked, objects=known, fences=around)), answers


def _of_versions(versions: Versions, known: Real, updates: Real) -> Real:
    """What was known of those who were known, and what the updates say."""
    if not len(updates):
        return known[versions.slot]
    return np.where(versions.is_new, updates[versions.update], known[versions.slot])


def _shapes_of_versions(versions: Versions, known: Column, updates: Column) -> Column:
    both = join_columns([known, updates])
    return both.take(np.where(versions.is_new, len(known) + versions.update, versions.slot))


def _shapes(query: FenceQuery, x: Real, y: Real, texts: Column) -> tuple[Shapes, Whole]:
    """The shapes of versions, and which of them is that of each."""
    if query.radius_m is not None:
        return circles(x, y, query.radius_m, geographic=query.geographic), np.arange(len(x))
    if query.box_m is not None:
        return boxes_around(x, y, query.box_m, geographic=query.geographic), np.arange(len(x))
    used = compacted(texts)
    assert used.names is not None
    drawn = of_texts(used.names.tolist() if len(x) else [], geographic=query.geographic)
    return drawn, used.values.astype(np.int64)


def _grid_of_versions(shapes: Shapes, which: Whole) -> Grid:
    if len(which) == len(shapes.radius_m) and (which[1:] > which[:-1]).all():
        return lay_out(shapes.boxes, shapes.owner)
    return lay_out(shapes.boxes[which], np.arange(len(which)))  # shapes with texts have one box each


def _latest(known: Known, versions: Versions, x: Real, y: Real, shape: Column) -> Known:
    """What is known after a stretch; of those who are forgotten, nothing."""
    time, at_x, at_y = known.time.copy(), known.x.copy(), known.y.copy()
    slots = np.flatnonzero(versions.first[1:] > versions.first[:-1])
    last = versions.first[1:][slots] - 1
    time[slots], at_x[slots], at_y[slots] = versions.since[last], x[last], y[last]
    time[slots[versions.until[last] < END]] = NEVER
    texts = join_columns([known.shape, shape])
    place = np.arange(len(known.time))
    place[slots] = len(known.time) + last
    return Known(known.keys, time, at_x, at_y, compacted(texts.take(place)))


def _without_forgotten(query: FenceQuery, asked: Asked) -> Asked:
    """Nobody of whom nothing is known."""
    objects, fences = asked.objects, asked.fences
    if query.same:
        there = np.flatnonzero((objects.time != NEVER) | (fences.time != NEVER))
        return replace(asked, objects=objects.only(there), fences=fences.only(there))
    return replace(
        asked,
        objects=objects.only(np.flatnonzero(objects.time != NEVER)),
        fences=fences.only(np.flatnonzero(fences.time != NEVER)),
    )


# --- pieces ---------------------------------------------------------------------------------------------------------------


def _nothing(query: FenceQuery, since: Instant) -> Asked:
    fences = query.moving.key_type if query.moving else query.positions.key_type
    kind = query.positions.key_type
    return Asked(since, no_objects(kind), Known.nobody(kind), Known.nobody(fences))


def _grid(fences: Fences | None) -> Grid:
    if fences is None:
        return lay_out(np.zeros((0, 4)), np.zeros(0, np.int64))
    return lay_out(fences.shapes.boxes, fences.shapes.owner)


def _no_shapes(count: int) -> Column:
    return Column(ColumnType.STRING, np.zeros(count, np.int32), None, _NO_SHAPE.names)
