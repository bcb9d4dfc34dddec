"""Which boxes meet a box? An index of keys by the cells of their boxes, so that few of many are tested.

Like `kernels.box_index`, for values of any unit and size: cells are as large as boxes, but at least a small part of their distance from zero.

Rule 1  A box is in one cell, that of its middle, on a level whose cells are wider than it. A search visits all cells that can contain the
        middle of a box that meets the given one, on every level in use.
Rule 2  A cell is a record of a store: moving some keys writes the cells that they leave and enter. A search may find too much,
        never too little.
Rule 3  Boxes on different layers are independent.

Memory  16 bytes for every box, and 40 for every cell in use. An empty cell leaves nothing.
Cost    The boxes that move, those that are found, and those that share a cell with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.model import END, Ids, KeyedStore, Ragged, Records, empty_store, no_records
from headwater.model.splitmix import FACTORS, splitmix64

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bits = NDArray[np.uint64]

_LIST: Final = "near"
_ID: Final = "id"
_LOWEST, _HIGHEST = -60, 1000
_LAYER: Final = 2048
"""Levels of a layer are numbered separately from those of others: level + 2048 · layer."""
_FARTHEST: Final = 2.0**62
_SPARE: Final = 1.0 + 2.0**-10
"""Cells are wider than boxes by this factor, and …"""
_FINEST: Final = 2.0**-36
"""… at least this part of their distance from zero: so rounding errors …"""
_ROUNDING: Final = 2.0**-50
"""… are small compared with a cell. Middles of boxes that contain a place are in two cells along each axis, not in three."""
_LOOKED_AT: Final = 64
"""Cells around a box that are always visited, however few there are."""


class Boxes(NamedTuple):
    """Boxes float64[n, 4] (west, south, east, north), the key of each: uint64[n, 2], and its layer: int64[n] (None: all on layer 0)."""

    ids: Ids
    boxes: Real
    layer: Whole | None = None


@dataclass(frozen=True, slots=True)
class CellIndex:
    """The keys in each cell, and how many entries every level in use has."""

    cells: KeyedStore
    levels: tuple[tuple[int, int], ...] = ()

    def meeting(self, boxes: Real, layer: int) -> Ids | None:
        """All keys whose boxes on a layer meet one of these, and some others; None: a search would visit more cells than there are."""
        cells_found = [no_records().ids]
        left = len(self.cells) + _LOOKED_AT * len(boxes)
        for level, _ in self.levels:
            if _layer_of(level) == layer:
                cells = _cells_around(boxes, level, left)
                if cells is None:
                    return None
                left -= len(cells)
                cells_found.append(cells)
        records, _ = self.cells.find(np.concatenate(cells_found))
        return _ids_in(records)

    def moved(self, before: Boxes, after: Boxes) -> CellIndex:
        """The index after some keys have moved."""
        old, new = _entries(before), _entries(after)
        old_names, new_names = _names(old.cell, old.key), _names(new.cell, new.key)
        left = old.take(np.flatnonzero(~np.isin(old_names, new_names)))
        entered = new.take(np.flatnonzero(~np.isin(new_names, old_names)))
        if not len(left.level) and not len(entered.level):
            return self
        return CellIndex(
            _changed(self.cells, left, entered), _counted(self.levels, left.level, entered.level)
        )


def no_boxes() -> CellIndex:
    """An index without keys."""
    none = no_records()
    members = Ragged(np.zeros(1, np.int64), {_ID: none.ids})
    return CellIndex(empty_store(Records(none.ids, none.due, none.hold, {}, {_LIST: members})))


class _Entries(NamedTuple):
    """Boxes of keys in cells."""

    level: Whole
    cell: Ids
    key: Ids

    def take(self, chosen: Whole) -> _Entries:
        return _Entries(self.level[chosen], self.cell[chosen], self.key[chosen])


def _entries(of: Boxes) -> _Entries:
    """The cells of boxes, each once for a key."""
    west, south, east, north = of.boxes.T
    size = np.maximum(east - west, north - south) * _SPARE
    size = np.maximum(size, np.abs(of.boxes).max(axis=1, initial=0.0) * _FINEST)
    level = np.clip(np.frexp(size)[1], _LOWEST, _HIGHEST).astype(np.int64)
    if of.layer is not None:
        level += _LAYER * of.layer
    cell = _cell_ids(level, _cell(level, west + (east - west) / 2), _cell(level, south + (north - south) / 2))
    _, first = np.unique(_names(cell, of.ids), return_index=True)
    return _Entries(level, cell, of.ids).take(np.sort(first))


def _cells_around(boxes: Real, level: int, most: int) -> Ids | None:
    """The names of the cells that can contain the middle of a box that meets one of these; None: there are more than `most`."""
    half = np.ldexp(0.5, _level_of(level)) / _SPARE
    # Boxes farther from zero are on higher levels, whatever their size.
    far = np.ldexp(1.0, _level_of(level)) / _FINEST
    boxes = boxes[(boxes[:, :2] <= far).all(axis=1) & (boxes[:, 2:] >= -far).all(axis=1)]
    boxes = np.clip(boxes, -far, far)
    west, south = (_reaching(boxes[:, axis], half)[0] for axis in (0, 1))
    east, north = (_reaching(boxes[:, axis], half)[1] for axis in (2, 3))
    of_all = np.full(len(boxes), level)
    first_x, first_y, last_x, last_y = (_cell(of_all, place) for place in (west, south, east, north))
    if (last_x - first_x.astype(np.float64) + 1.0) @ (last_y - first_y.astype(np.float64) + 1.0) > most:
        return None
    high = last_y - first_y + 1
    many = (last_x - first_x + 1) * high
    box = np.repeat(np.arange(len(boxes)), many)
    place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return _cell_ids(of_all[box], first_x[box] + place // high[box], first_y[box] + place % high[box])


def _reaching(along: Real, half: float) -> tuple[Real, Real]:
    """The range of the middle of a box that contains a place."""
    reach = half + np.abs(along) * _ROUNDING
    return along - reach, along + reach


def _cell(level: Whole, along: Real) -> Whole:
    """The cells of places on their levels, along one axis."""
    cell = np.floor(along / np.ldexp(1.0, _level_of(level)))
    return np.clip(cell, -_FARTHEST, _FARTHEST).astype(np.int64)


def _cell_ids(level: Whole, across: Whole, along: Whole) -> Ids:
    """uint64[n, 2]: the names of cells."""
    salt = splitmix64(level.astype(np.uint64) + FACTORS[0])
    lanes = [splitmix64(splitmix64(of.view(np.uint64)) ^ salt) for of in (across, along)]
    return np.column_stack(lanes)


def _layer_of(level: Any) -> Any:
    return (level + _LAYER // 2) // _LAYER


def _level_of(level: Any) -> Any:
    """A level without its layer."""
    return level - _LAYER * _layer_of(level)


def _changed(cells: KeyedStore, left: _Entries, entered: _Entries) -> KeyedStore:
    """The cells after some keys have left and others entered."""
    touched = np.concatenate([left.cell, entered.cell])
    known, _ = cells.find(touched)
    members = known.lists[_LIST]
    cell = np.concatenate([np.repeat(known.ids, np.diff(members.offsets), axis=0), entered.cell])
    key = np.concatenate([_ids_in(known), entered.key])
    stays = ~np.isin(_names(cell, key), _names(left.cell, left.key))
    cell, key = cell[stays], key[stays]
    _, first, number = np.unique(_names(cell), return_index=True, return_inverse=True)
    order = np.argsort(number, kind="stable")
    offsets = np.searchsorted(number[order], np.arange(len(first) + 1))
    ever = np.full(len(first), END)
    records = Records(cell[first], ever, ever, {}, {_LIST: Ragged(offsets, {_ID: key[order]})})
    return cells.put(records, known.ids[~np.isin(_names(known.ids), _names(records.ids))])


def _counted(levels: Sequence[tuple[int, int]], left: Whole, entered: Whole) -> tuple[tuple[int, int], ...]:
    """The number of entries on each level afterwards."""
    counts = dict(levels)
    for sign, some in ((-1, left), (1, entered)):
        for level, many in zip(*(of.tolist() for of in np.unique(some, return_counts=True)), strict=True):
            counts[level] = counts.get(level, 0) + sign * many
    return tuple(sorted((level, many) for level, many in counts.items() if many))


def _ids_in(records: Records) -> Ids:
    found: Any = records.lists[_LIST].lines[_ID]
    return found


def _names(*parts: Ids) -> Bits:
    """uint64[n]: a hash of each row. Collisions are ignored."""
    name = np.zeros(len(parts[0]), np.uint64)
    for lane, odd in zip((lane for part in parts for lane in part.T), FACTORS, strict=False):
        name = splitmix64(name ^ (lane * odd))
    return name
