"""Focal objects between two steps: a record each, of which a step takes those that it needs.

Rule 1  A step needs the objects that have a location update in it, those whose silence becomes longer than FORGET, those in whose
        region, or with EMIT INTERESTS also around whose latest place, something happens, and those whose operators are due. Regions
        are found by where they are (see `near`).
Rule 2  What was delivered to an object stands in its record, also when it is forgotten, for as long as it may come again.
Rule 3  At the end of the input every life ends, so all are needed.

Memory  A record for every object heard of within FORGET: 136 bytes and its key, of EMIT INTERESTS 32 more, of SHAPE the shape; where it
        looks (48 bytes a box); 32 bytes for every answer that may come again. Without FORGET an object is followed for ever.
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
    """A query's state: since when it sees rows, its focal objects, where they look, and the next serial."""

    since: Instant
    store: KeyedStore
    near: BoxIndex
    serial: int

    def loaded(
        self, store: KeyedStore, entries: KeyedStore, levels: Sequence[Sequence[int]], serial: int
    ) -> ByKey:
        """The same query with what was saved of it."""
        counts = tuple((level, many) for level, many in levels)
        near = replace(self.near, entries=entries.shaped_like(self.near.entries.like), levels=counts)
        return ByKey(self.since, store.shaped_like(self.store.like), near, serial)


class Few(NamedTuple):
    """What is known of the objects that a step needs: `ids` are theirs, whether anything was known of them or not; `known` are the records of
    those of whom something was."""

    ids: Ids
    known: Records
    alive: Alive
    delivered: Delivered


def no_objects(query: FollowQuery, since: Instant) -> ByKey:
    """Nobody is followed yet."""
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
    """The objects that a step needs; `due` are those whose operators are."""
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
    """The state with what is known of some objects now."""
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
    """What is known of some objects, in the order in which their interests began."""
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
    """The records of objects of whom something is known; whatever was delivered, was so to one of `ids`."""
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
    """Which records say the same of an object as before. The name of an object, and its shape, are those of its interest."""
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
    """A number for what was delivered to each object: other answers have another one."""
    names: Any = delivered.lines["name"]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(names[:, 0], dtype=np.uint64)])
    found: NDArray[np.uint64] = np.diff(sums[delivered.offsets])
    return found


def _remembers(query: FollowQuery) -> bool:
    """Whether it matters what was delivered."""
    return not query.each and not query.interests


def _boxes(query: FollowQuery, alive: Alive) -> Boxes:
    """Around where objects look, and with EMIT INTERESTS around where they are."""
    ids = key_ids([alive.focal], len(alive.serial))
    boxes, owner = bounds_of(query, alive.x, alive.y, alive.shape.tolist())
    if not query.interests or query.focals.shape is not None:
        return Boxes(ids[owner], boxes)
    latest, of = bounds_of(query, alive.last_x, alive.last_y, ())
    return Boxes(np.concatenate([ids[owner], ids[of]]), np.concatenate([boxes, latest]))


_NONE: Final[Ids] = np.zeros((0, 2), np.uint64)
_NO_PLACES: Final[Whole] = np.zeros(0, np.int64)
