"""Focal objects between two steps: one record each. A step takes only the records that it needs.

Rule 1  A step needs the objects that have a location update in it, those whose silence now exceeds FORGET, those with an event in their
        region (with EMIT INTERESTS also around their latest place), and those whose operators are due. Regions are found by their
        position (see `near`).
Rule 2  The record of an object lists the answers that were delivered to it for as long as they could occur again, even after the object
        has been forgotten.
Rule 3  At the end of the input every life ends, so all objects are needed.

Memory  A record for every object heard of within FORGET: 136 bytes and its key, 32 more with EMIT INTERESTS, with SHAPE also the shape;
        its region (48 bytes a box); 32 bytes for every answer that could occur again. Without FORGET an object is followed for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.box_index import Boxes, BoxIndex, empty_box_index
from headwater.kernels.follow.delivery import Delivered
from headwater.kernels.follow.interests import TALLIES, Alive, Updates, texts
from headwater.kernels.follow.question import FollowQuery, Whole
from headwater.kernels.follow.regions import bounds_of
from headwater.kernels.follow.store import View
from headwater.kernels.keys import column_of, different, is_among
from headwater.model import (
    END,
    Column,
    ColumnType,
    Ids,
    Instant,
    KeyedStore,
    Ragged,
    Records,
    empty_store,
    join_records,
    key_ids,
)
from headwater.model.keyed_store import order_of_ids, search

_WHOLE: Final = ("serial", "number", "start", "heard")
_REAL: Final = ("x", "y", "last_x", "last_y")
_DELIVERED: Final = "delivered"


@dataclass(frozen=True, slots=True)
class ByKey:
    """A query's state: from when it reads rows, its focal objects, their regions, and the next serial."""

    since: Instant
    store: KeyedStore
    near: BoxIndex
    serial: int

    def loaded(
        self, store: KeyedStore, entries: KeyedStore, levels: Sequence[Sequence[int]], serial: int
    ) -> ByKey:
        """The same query with its saved state."""
        counts = tuple((level, many) for level, many in levels)
        near = replace(self.near, entries=entries.shaped_like(self.near.entries.like), levels=counts)
        return ByKey(self.since, store.shaped_like(self.store.like), near, serial)


class Few(NamedTuple):
    """The state of the objects that a step needs: `ids` are their identities, whether or not they have a record; `known` are the records of
    those that have one."""

    ids: Ids
    known: Records
    alive: Alive
    delivered: Delivered


def no_objects(query: FollowQuery, since: Instant) -> ByKey:
    """The state of a query that follows no object yet."""
    store = empty_store(_records(query, Alive.none(query.focals.key_type), Delivered.nothing(), _NONE, 0))
    return ByKey(since, store, empty_box_index(geographic=query.geographic), 0)


def needed(
    query: FollowQuery,
    state: ByKey,
    updates: Updates,
    view: View,
    before: Instant,
    watermark: Instant,
    due: Ids,
) -> Few:
    """The objects that a step needs; `due` are those whose operators are due."""
    came = different(updates.focal)
    own = key_ids([came], len(came))
    if watermark == END:
        records = state.store.everything()
    else:
        happens = state.near.holding(*view.between(before, watermark))
        touched = np.concatenate([own, state.store.due(before, watermark), happens, due])
        records, _ = state.store.find(touched)
    alive, delivered = _opened(query, records)
    ids = np.concatenate([records.ids, own[~is_among(own, records.ids)]])
    return Few(ids, records, alive, delivered)


def changed(
    query: FollowQuery,
    state: ByKey,
    few: Few,
    alive: Alive,
    delivered: Delivered,
    serial: int,
    watermark: Instant,
) -> ByKey:
    """The state after some objects have changed."""
    records = _records(query, alive, delivered, few.ids, watermark)
    gone = few.known.ids[~is_among(few.known.ids, records.ids)]
    changes = np.flatnonzero(~_is_as_before(few.known, records))
    store = state.store.put(records if len(changes) == len(records) else records.take(changes), gone)
    near = state.near.moved(_boxes(query, few.alive), _boxes(query, alive))
    return ByKey(state.since, store, near, serial)


def everybody(query: FollowQuery, state: ByKey) -> tuple[Alive, Delivered]:
    """All objects: for tests."""
    return _opened(query, state.store.everything())


def _opened(query: FollowQuery, records: Records) -> tuple[Alive, Delivered]:
    """The interests of some objects, in the order in which they began."""
    table: Any = records.table
    living = np.flatnonzero(table["alive"])
    living = living[np.argsort(table["serial"][living], kind="stable")]
    some: Any = records.take(living).table
    focal = Column(
        query.focals.key_type, column_of(some["focal"]).values, None, column_of(some["focal"]).names
    )
    shape = texts(len(living))
    if query.focals.shape is not None:
        drawn = column_of(some["shape"])
        shape = Column(ColumnType.STRING, drawn.values, None, drawn.names)
    tally = some["tally"] if query.interests else np.zeros((len(living), TALLIES), np.int64)
    serial, number, start, heard = (some[name] for name in _WHOLE)
    x, y, last_x, last_y = (some[name] for name in _REAL)
    alive = Alive(focal, serial, number, start, heard, x, y, last_x, last_y, shape, tally)
    if not _remembers(query):
        return alive, Delivered.nothing()
    memory: Any = records.lists[_DELIVERED]
    focals = np.repeat(records.ids[:, 0], np.diff(memory.offsets))
    name = np.ascontiguousarray(memory.lines["name"].T)
    return alive, Delivered(name, focals, memory.lines["time"], memory.lines["start"])


def _records(query: FollowQuery, alive: Alive, delivered: Delivered, ids: Ids, watermark: Instant) -> Records:
    """The records of objects with an interest or with delivered answers; all of these answers belong to one of `ids`."""
    own = key_ids([alive.focal], len(alive.serial))
    others = ids[np.isin(ids[:, 0], delivered.focal) & ~is_among(ids, own)]
    everybody = np.concatenate([own, others])
    order = np.argsort(everybody[:, 0], kind="stable")
    owner = order[np.searchsorted(everybody[order, 0], delivered.focal)] if len(order) else _NO_PLACES
    by_owner = np.argsort(owner, kind="stable")
    offsets = np.searchsorted(owner[by_owner], np.arange(len(everybody) + 1))
    due = np.full(len(everybody), END)
    due[: len(own)] = np.minimum(alive.heard + query.forget_us, END)
    ends = delivered.time + query.reach_us
    np.minimum.at(due, owner, np.where(ends >= watermark, ends, END))
    table: dict[str, Any] = {name: getattr(alive, name) for name in (*_WHOLE, *_REAL)}
    table |= {"focal": alive.focal, "alive": np.ones(len(own), np.bool_)}
    if query.focals.shape is not None:
        table["shape"] = alive.shape
    if query.interests:
        table["tally"] = alive.tally
    ever = np.full(len(everybody), END)
    living = Records(own, due[: len(own)], ever[: len(own)], table)
    rest = Records(others, due[len(own) :], ever[len(own) :])
    records = join_records([living, rest]) if len(rest) else living
    if not _remembers(query):
        return records
    lines = {
        "name": np.ascontiguousarray(delivered.name.T[by_owner]),
        "time": delivered.time[by_owner],
        "start": delivered.start[by_owner],
    }
    return Records(
        records.ids, records.due, records.hold, records.table, {_DELIVERED: Ragged(offsets, lines)}
    )


def _is_as_before(before: Records, after: Records) -> NDArray[np.bool_]:
    """Which records are the same as before. The name and the shape of an object are those of its interest."""
    order = order_of_ids(before.ids)
    at = search(before.ids[order], after.ids)
    known = np.flatnonzero(at >= 0)
    old = order[at[known]]
    same = before.due[old] == after.due[known]
    for name, values in after.table.items():
        former = before.table[name]
        if isinstance(values, np.ndarray) and isinstance(former, np.ndarray):
            is_equal = former[old] == values[known]
            same &= is_equal if is_equal.ndim == 1 else is_equal.all(axis=1)
    for name, ragged in after.lists.items():
        former_lists = before.lists[name]
        same &= np.diff(former_lists.offsets)[old] == np.diff(ragged.offsets)[known]
        same &= _sums(former_lists)[old] == _sums(ragged)[known]
    is_same = np.zeros(len(after), np.bool_)
    is_same[known] = same
    return is_same


def _sums(delivered: Ragged) -> NDArray[np.uint64]:
    """A number for the answers delivered to each object, which changes when they do."""
    names: Any = delivered.lines["name"]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(names[:, 0], dtype=np.uint64)])
    found: NDArray[np.uint64] = np.diff(sums[delivered.offsets])
    return found


def _remembers(query: FollowQuery) -> bool:
    """Whether delivered answers must be remembered."""
    return not query.each and not query.interests


def _boxes(query: FollowQuery, alive: Alive) -> Boxes:
    """The regions of objects, and with EMIT INTERESTS also the regions around their latest places."""
    ids = key_ids([alive.focal], len(alive.serial))
    boxes, owner = bounds_of(query, alive.x, alive.y, alive.shape.tolist())
    if not query.interests or query.focals.shape is not None:
        return Boxes(ids[owner], boxes)
    latest, of = bounds_of(query, alive.last_x, alive.last_y, ())
    return Boxes(np.concatenate([ids[owner], ids[of]]), np.concatenate([boxes, latest]))


_NONE: Final[Ids] = np.zeros((0, 2), np.uint64)
_NO_PLACES: Final[Whole] = np.zeros(0, np.int64)
