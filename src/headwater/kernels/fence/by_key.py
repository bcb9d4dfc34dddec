"""Objects and fences that move, between two steps: all of them at once if a step touches most, otherwise one record each.

Rule 1  A pair changes only when one of its two members has an update or is forgotten: that one is *touched*. A step needs the touched
        objects and fences, the fences around the places of the objects, the objects in the fences, and for CROSS the fences between one
        place and the next. The others do not affect it. `near` finds them by place.
Rule 2  Only what is touched is written.
Rule 3  Where both sides are one stream, a key that is touched on one side is needed on both: OUTSIDE of roaming objects is about both.
Rule 4  A step whose rows are a large part of all known keys reads and writes everything as columns, because searching for each would cost
        more. So does a step with few known keys. Changing from one form to the other costs no more than the steps before, or that one.

Memory  A record for every object and every fence heard of within FORGET: 72 bytes and its key, with SHAPE the shape, and 48 for each box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from headwater.kernels.box_index import Boxes, BoxIndex, Real, empty_box_index
from headwater.kernels.fence.choices import Detect
from headwater.kernels.fence.moving_step import Drawn, Sides, aligned, boxes_at, draw, with_updates
from headwater.kernels.fence.objects import NEVER, Known
from headwater.kernels.fence.question import FenceQuery
from headwater.kernels.fence.records import known_in, records_of
from headwater.kernels.fence.updates import Updates
from headwater.kernels.keys import different, is_among
from headwater.model import (
    ColumnType,
    Ids,
    Instant,
    KeyedStore,
    Records,
    empty_store,
    join_records,
    key_ids,
    no_records,
)

FEW: Final = 256
"""Up to so many known keys are always taken together."""
TAKES_ALL: Final = 2
"""With one row for so many known keys, or more rows, a step takes all of them."""
TAKES_SOME: Final = 3
"""With one row for so many known keys, or fewer rows, the next step takes those that it needs."""
_PIECES: Final = 16
_TOO_FAR: Final = 2.0**28


@dataclass(frozen=True, slots=True)
class Side:
    """Objects or fences: one record each, and where they are."""

    store: KeyedStore
    near: BoxIndex


@dataclass(frozen=True, slots=True)
class ByKey:
    """Both sides of a query."""

    objects: Side
    fences: Side

    def __len__(self) -> int:
        return len(self.objects.store) + len(self.fences.store)


class Few(NamedTuple):
    """The objects and fences that a step needs, and the keys that change on each side, known before or not."""

    known: Sides
    objects: Ids
    fences: Ids


def takes_all(known: int, rows: int) -> bool:
    """Whether a step on records takes all of them."""
    return known <= FEW or rows * TAKES_ALL >= known


def takes_some(known: int, rows: int) -> bool:
    """Whether a step that took everything makes records for the next steps."""
    return known > FEW and rows * TAKES_SOME < known


def needed(
    query: FenceQuery, state: ByKey, positions: Updates, fences: Updates, before: Instant, watermark: Instant
) -> Few:
    """The objects and fences that a step needs."""
    changing = [
        np.concatenate([_ids_of(updates), side.store.due(before, watermark)])
        for side, updates in ((state.objects, positions), (state.fences, fences))
    ]
    touched = [_each_once(*changing)] * 2 if query.same else changing
    one_side, other = (
        side.store.find(ids)[0] for side, ids in zip((state.objects, state.fences), touched, strict=True)
    )
    known = with_updates(query, aligned(query, known_in(one_side)[0], known_in(other)[0]), positions, fences)
    moves = draw(query, known.objects, positions, watermark)
    moving = draw(query, known.fences, fences, watermark)
    wide, _ = boxes_at(query, moving.x, moving.y, moving.shape)
    one_side = _with(state.objects, one_side, state.objects.near.meeting(wide))
    near = state.fences.near
    met = [near.holding(moves.x, moves.y)]
    if Detect.CROSS in query.detect:
        met.append(near.meeting(_boxes_on_the_way(query, moves, near.common_size)))
    other = _with(state.fences, other, np.concatenate(met))
    return Few(aligned(query, known_in(one_side)[0], known_in(other)[0]), *changing)


def changed(query: FenceQuery, state: ByKey, few: Few, after: Sides) -> ByKey:
    """The state after some keys have changed."""
    ids: dict[int, Ids] = {}
    for known in (*few.known, *after):  # keys that both sides share, or that do not change, are hashed once
        if id(known.keys) not in ids:
            ids[id(known.keys)] = key_ids([known.keys.column], len(known.keys))

    def side_of(side: Side, before: Known, now: Known, changing: Ids, *, are_fences: bool) -> Side:
        old = _chosen(before, ids[id(before.keys)], changing)
        return _changed(query, side, old, _chosen(now, ids[id(now.keys)], changing), are_fences=are_fences)

    return ByKey(
        side_of(state.objects, few.known.objects, after.objects, few.objects, are_fences=False),
        side_of(state.fences, few.known.fences, after.fences, few.fences, are_fences=True),
    )


def no_records_of(query: FenceQuery) -> ByKey:
    """The state without any record."""
    kinds = query.positions.key_type, (query.moving or query.positions).key_type
    return ByKey(
        *(
            _no_side(query, kind, with_shape=query.has_shapes and place == 1)
            for place, kind in enumerate(kinds)
        )
    )


def with_records(query: FenceQuery, known: Sides) -> ByKey:
    """One record for each known key."""
    start = no_records_of(query)
    ids = [key_ids([side.keys.column], len(side.keys)) for side in known]
    return changed(query, start, Few(everybody(query, start), *ids), known)


def everybody(query: FenceQuery, state: ByKey) -> Sides:
    """All known keys."""
    one_side, other = (known_in(side.store.everything())[0] for side in (state.objects, state.fences))
    return aligned(query, one_side, other)


# --- saving ---------------------------------------------------------------------------------------------------------------


def stores_of(query: FenceQuery, state: ByKey) -> dict[str, KeyedStore]:
    """The stores of a query, by name."""
    sides = {"objects": state.objects, "fences": state.fences}
    return {
        f"{query.name}/{name}{suffix}": store
        for name, side in sides.items()
        for suffix, store in (("", side.store), ("/near", side.near.entries))
    }


def levels_of(state: ByKey) -> list[list[list[int]]]:
    """What is saved in addition to the stores: how many boxes there are of each size."""
    return [[list(level) for level in side.near.levels] for side in (state.objects, state.fences)]


def loaded(
    query: FenceQuery, levels: Sequence[Sequence[Sequence[int]]], stores: Mapping[str, KeyedStore]
) -> ByKey:
    """The saved state of a query."""
    start, sides = no_records_of(query), []
    for name, side, counts in zip(("objects", "fences"), (start.objects, start.fences), levels, strict=True):
        store, entries = stores[f"{query.name}/{name}"], stores[f"{query.name}/{name}/near"]
        near = replace(
            side.near,
            entries=entries.shaped_like(side.near.entries.like),
            levels=tuple((level, many) for level, many in counts),
        )
        sides.append(Side(store.shaped_like(side.store.like), near))
    return ByKey(*sides)


# --- pieces ---------------------------------------------------------------------------------------------------------------


def _ids_of(updates: Updates) -> Ids:
    came = different(updates.key)
    return key_ids([came], len(came))


def _each_once(ids: Ids, others: Ids) -> Ids:
    return np.concatenate([ids, others[~is_among(others, ids)]])


def _with(side: Side, records: Records, ids: Ids) -> Records:
    """Records, and those of some other keys."""
    others = ids[~is_among(ids, records.ids)]
    return join_records([records, side.store.find(others)[0]]) if len(others) else records


def _boxes_on_the_way(query: FenceQuery, moves: Drawn, size: float) -> Real:
    """Boxes float64[n, 4] that contain the lines between places of objects. A line that is long compared with fences is cut."""
    versions, x, y, _ = moves
    to = np.flatnonzero(versions.is_new & ~versions.is_fresh)
    lines = np.column_stack([x[to - 1], y[to - 1], x[to], y[to]])
    if query.geographic:  # the shorter way around the Earth, as seen from either end
        across = lines[:, 2] - lines[:, 0]
        over = np.flatnonzero(np.abs(across) > 180.0)
        turn = np.where(across[over] < 0.0, 360.0, -360.0)
        again = lines[over].copy()
        again[:, 0] -= turn
        lines[over, 2] += turn
        lines = np.concatenate([lines, again])
    along = lines[:, 2:] - lines[:, :2]
    length = np.abs(along).max(axis=1, initial=0.0)
    pieces = np.ones(len(lines), np.int64)
    if size > 0.0:
        can_be_cut = (
            np.abs(lines).max(axis=1, initial=0.0) < _TOO_FAR
        )  # rounding there is small compared with a unit of `near`
        pieces[can_be_cut] = np.clip(length[can_be_cut] / (2.0 * size), 1, _PIECES).astype(np.int64)
    of = np.repeat(np.arange(len(lines)), pieces)
    first = np.arange(len(of)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    start = lines[of, :2] + along[of] * (first / pieces[of])[:, None]
    end = lines[of, :2] + along[of] * ((first + 1) / pieces[of])[:, None]
    last = first + 1 == pieces[of]
    end[last] = lines[of[last], 2:]
    return np.concatenate([np.minimum(start, end), np.maximum(start, end)], axis=1)


class _Named(NamedTuple):
    """Some known keys, and their identities."""

    known: Known
    ids: Ids


def _chosen(known: Known, ids: Ids, changing: Ids) -> _Named:
    """The known ones among these keys."""
    chosen = np.flatnonzero(is_among(ids, changing) & (known.time != NEVER))
    return _Named(known.only(chosen), ids[chosen])


def _changed(query: FenceQuery, side: Side, old: _Named, new: _Named, *, are_fences: bool) -> Side:
    records = _records(query, new, with_shape=query.has_shapes and are_fences)
    store = side.store.put(records, old.ids[~is_among(old.ids, new.ids)])
    near = side.near.moved(
        _boxes(query, old, are_fences=are_fences), _boxes(query, new, are_fences=are_fences)
    )
    return Side(store, near)


def _records(query: FenceQuery, some: _Named, *, with_shape: bool) -> Records:
    records = records_of(some.known, some.ids, query.forget_us)
    if not with_shape:
        return records
    table: dict[str, Any] = {**records.table, "shape": some.known.shape}
    return replace(records, table=table)


def _boxes(query: FenceQuery, some: _Named, *, are_fences: bool) -> Boxes:
    known, ids = some
    if not are_fences:
        return Boxes(ids, np.column_stack([known.x, known.y, known.x, known.y]))
    boxes, owner = boxes_at(query, known.x, known.y, known.shape)
    return Boxes(ids[owner], boxes)


def _no_side(query: FenceQuery, kind: ColumnType, *, with_shape: bool) -> Side:
    none = _Named(Known.none(kind), no_records().ids)
    store = empty_store(_records(query, none, with_shape=with_shape))
    return Side(store, empty_box_index(geographic=query.geographic))
