"""Whose region may a place lie in? Keys by the cells that boxes around their regions meet, so that few of many are looked at.

Rule 1  A box stands in one cell, that of its middle, on a level whose cells are wider than it. A box that holds a place has its middle at most
        half a cell away: the place is looked up in at most four cells of every level that is in use.
Rule 2  A cell is a record of a store: to move some keys is to write the cells that they leave and enter. What is found may be too much,
        never too little.

Memory  16 bytes for every box, and 40 for every cell that one stands in. A cell that is left by all leaves nothing.
Cost    What moves, who is found, and who shares a cell with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.model import END, Ids, KeyedStore, Ragged, Records, empty_store, no_records

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bits = NDArray[np.uint64]

_LIST: Final = "near"
_ID: Final = "id"
_LOWEST, _HIGHEST = -60, 960
_FARTHEST: Final = 2.0**62
_SPARE: Final = 1.0 + 2.0**-10
"""Cells are so much wider than boxes, and …"""
_FINEST: Final = 2.0**-36
"""… such a part of how far away they are, at least: so what is lost in rounding …"""
_ROUNDING: Final = 2.0**-50
"""… is small beside a cell. Middles of boxes that hold a place are in two cells along each axis, not in three."""
_ODD: Final = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64
)


class Boxes(NamedTuple):
    """Boxes float64[n, 4] (west, south, east, north), and whose each is: uint64[n, 2]."""

    ids: Ids
    boxes: Real


@dataclass(frozen=True, slots=True)
class Near:
    """Who is in which cell, and how many entries there are on every level that is in use."""

    cells: KeyedStore
    levels: tuple[tuple[int, int], ...] = ()

    def around(self, x: Real, y: Real) -> Ids:
        """All whose boxes hold one of these places, and some others; a key may come several times."""
        if not self.levels or not len(x):
            return no_records().ids
        wanted = []
        for level, _ in self.levels:
            half = np.ldexp(0.5, level) / _SPARE
            for east in _reaching(x, half):
                wanted += [_cell_ids(np.full(len(x), level), east, north) for north in _reaching(y, half)]
        records, _ = self.cells.find(np.concatenate(wanted))
        return _ids_in(records)

    def moved(self, before: Boxes, after: Boxes) -> Near:
        """With some keys in other places."""
        old, new = _entries(before), _entries(after)
        old_names, new_names = _names(old.cell, old.key), _names(new.cell, new.key)
        left = old.take(np.flatnonzero(~np.isin(old_names, new_names)))
        entered = new.take(np.flatnonzero(~np.isin(new_names, old_names)))
        if not len(left.level) and not len(entered.level):
            return self
        return Near(_changed(self.cells, left, entered), _counted(self.levels, left.level, entered.level))


def nobody_near() -> Near:
    """Nobody is anywhere."""
    none = no_records()
    members = Ragged(np.zeros(1, np.int64), {_ID: none.ids})
    return Near(empty_store(Records(none.ids, none.due, none.hold, {}, {_LIST: members})))


class _Entries(NamedTuple):
    """Boxes of keys in cells."""

    level: Whole
    cell: Ids
    key: Ids

    def take(self, chosen: Whole) -> _Entries:
        return _Entries(self.level[chosen], self.cell[chosen], self.key[chosen])


def _entries(of: Boxes) -> _Entries:
    """The cells in which boxes stand, each once for a key."""
    west, south, east, north = of.boxes.T
    size = np.maximum(east - west, north - south) * _SPARE
    size = np.maximum(size, np.abs(of.boxes).max(axis=1, initial=0.0) * _FINEST)
    level = np.clip(np.frexp(size)[1], _LOWEST, _HIGHEST).astype(np.int64)
    cell = _cell_ids(level, west + (east - west) / 2, south + (north - south) / 2)
    _, first = np.unique(_names(cell, of.ids), return_index=True)
    return _Entries(level, cell, of.ids).take(np.sort(first))


def _reaching(along: Real, half: float) -> tuple[Real, Real]:
    """The ends of where the middle of a box can be that holds a place."""
    reach = half + np.abs(along) * _ROUNDING
    return along - reach, along + reach


def _cell_ids(level: Whole, x: Real, y: Real) -> Ids:
    """uint64[n, 2]: the names of the cells in which places lie."""
    size = np.ldexp(1.0, level)
    salt = _mixed(level.astype(np.uint64) + _ODD[0])
    across, along = (np.clip(np.floor(of / size), -_FARTHEST, _FARTHEST).astype(np.int64) for of in (x, y))
    lanes = [_mixed(_mixed(of.view(np.uint64)) ^ salt) for of in (across, along)]
    return np.column_stack(lanes)


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
    """How many entries there are on each level then."""
    counts = dict(levels)
    for sign, some in ((-1, left), (1, entered)):
        for level, many in zip(*(of.tolist() for of in np.unique(some, return_counts=True)), strict=True):
            counts[level] = counts.get(level, 0) + sign * many
    return tuple(sorted((level, many) for level, many in counts.items() if many))


def _ids_in(records: Records) -> Ids:
    found: Any = records.lists[_LIST].lines[_ID]
    return found


def _names(*parts: Ids) -> Bits:
    """uint64[n]: a hash of each row. Two rows of one hash are not looked for."""
    name = np.zeros(len(parts[0]), np.uint64)
    for lane, odd in zip((lane for part in parts for lane in part.T), _ODD, strict=False):
        name = _mixed(name ^ (lane * odd))
    return name


def _mixed(bits: Bits) -> Bits:
    """The finisher of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
