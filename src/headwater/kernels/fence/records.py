"""Objects near fences that stand still, between two steps: one record each. A step takes only the records that it needs.

Rule 1  A step needs the objects that have a position in it, and those whose silence now exceeds FORGET.
Rule 2  Records name fences by a hash of their names, so they do not change when other fences are added or removed. If a fence is removed,
        objects are no longer in it.

Memory  A record for every object heard of within FORGET: 64 bytes and its key, and 8 for every fence that it is in. Without FORGET
        records stay for ever.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.fence.geometry import Whole
from headwater.kernels.fence.objects import Keys, Known, no_shapes
from headwater.kernels.fence.question import Fences
from headwater.kernels.fence.standing_fences import Stays
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
    key_ids,
)
from headwater.model.identity import content_hash
from headwater.model.keyed_records import Values

_STAYS: Final = "stays"
_FENCE: Final = "fence"

Names = NDArray[np.uint64]


class Objects(NamedTuple):
    """The state of some objects, by slot, and the fences that they are in."""

    known: Known
    stays: Stays


def no_objects(kind: ColumnType) -> KeyedStore:
    """An empty store; keys are of this type."""
    none = Objects(Known.none(kind), Stays(np.zeros(1, np.int64), np.zeros(0, np.int64)))
    return empty_store(_records(none, np.zeros(0, np.uint64), 0))


def names_of(fences: Fences) -> Names:
    """uint64[fences]: the hash of each fence's name."""
    return content_hash([fences.key])[0]


def needed_objects(
    store: KeyedStore, came: Column, before: Instant, watermark: Instant, names: Names
) -> tuple[Objects, Ids]:
    """The objects with positions in a step, or due in it; and which of them were known."""
    keys = different(came)
    records, _ = store.find(np.concatenate([key_ids([keys], len(keys)), store.due(before, watermark)]))
    known, order = known_in(records)
    return Objects(known, _numbered(records.lists[_STAYS].take(order), names)), records.ids


def changed_objects(
    store: KeyedStore, objects: Objects, known_before: Ids, names: Names, forget_us: int
) -> KeyedStore:
    """The store with the new state of some objects; those that were known and are not among them are forgotten."""
    records = _records(objects, names, forget_us)
    return store.put(records, known_before[~is_among(known_before, records.ids)])


def known_in(records: Records) -> tuple[Known, Whole]:
    """The contents of records, in the order of keys; and the record of each slot."""
    own = column_of(records.table["key"])
    order = np.argsort(own.values, kind="stable")
    time, x, y = (_array(records.table[name])[order] for name in ("time", "x", "y"))
    shape = no_shapes(len(order))
    if "shape" in records.table:
        drawn = column_of(records.table["shape"]).take(order)
        shape = Column(ColumnType.STRING, drawn.values, None, drawn.names)
    return Known(Keys.of(own.take(order)), time, x, y, shape), order


def records_of(known: Known, ids: Ids, forget_us: int) -> Records:
    """The records of some known objects; `ids` are their identities."""
    return Records(
        ids,
        np.minimum(known.time + (forget_us + 1), END),
        np.full(len(known.time), END),
        {"key": known.keys.column, "time": known.time, "x": known.x, "y": known.y},
    )


def _records(objects: Objects, names: Names, forget_us: int) -> Records:
    known, stays = objects
    lists = {_STAYS: Ragged(stays.first, {_FENCE: names[stays.fence]})}
    ids = key_ids([known.keys.column], len(known.time))
    return replace(records_of(known, ids, forget_us), lists=lists)


def _numbered(stays: Ragged, names: Names) -> Stays:
    """Fences of records by their present numbers, which are in the order of names; without fences that no longer exist."""
    stored_names = _array(stays.lines[_FENCE])
    if not len(stored_names) or not len(names):
        return Stays(np.zeros(len(stays.offsets), np.int64), np.zeros(0, np.int64))
    order = np.argsort(names)
    place = order[np.minimum(np.searchsorted(names[order], stored_names), len(names) - 1)]
    is_there = names[place] == stored_names
    first = np.append(0, np.cumsum(is_there))[stays.offsets]
    return Stays(first, place[is_there])


def _array(values: Values) -> NDArray[Any]:
    assert isinstance(values, np.ndarray)
    return values
