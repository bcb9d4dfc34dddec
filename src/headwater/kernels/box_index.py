"""Which boxes may contain a place, or meet another box? An index of keys by the position of their boxes, so that few of many are tested.

Rule 1  Coordinates are counted in units of a few centimetres, from one end of the world to the other; anything outside is moved to the
        nearest end. The size of a box determines its level. On its level it is filed under the number of its centre on a Morton curve,
        which visits every quarter of a square before it continues: so any square is one stretch of the curve.
Rule 2  To find the boxes of a level that meet another box, at most four squares cover all centres that such boxes can have. A search
        costs a few binary searches in every run of the store for every level in use, plus the boxes in those squares.
Rule 3  Every box is an entry of its own: moving some keys writes only their entries, however many share a place. A search may find too
        many boxes, never too few.

Memory  48 bytes for every box. A key that is removed leaves nothing.
Cost    The boxes that move, the boxes that are found, and the boxes that share a square with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.model import END, Ids, KeyedStore, Records, empty_store, no_records
from headwater.model.keyed_store import first_places
from headwater.model.splitmix import GOLDEN, SECOND_FACTOR, splitmix64

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Bits = NDArray[np.uint64]

METRE_UNIT: Final = 2.0**-4
DEGREE_UNIT: Final = 2.0**-20
"""Some six and eleven centimetres: the world is 33,000 km wide and 512 degrees."""

_ID: Final = "id"
_AXIS_BITS: Final = 29
_FARTHEST: Final = (1 << _AXIS_BITS) - 1
_LEVEL_SHIFT: Final = 2 * _AXIS_BITS
_LOOP: Final[dict[str, Any]] = {"nogil": True}


class Boxes(NamedTuple):
    """Boxes float64[n, 4] (west, south, east, north), and the key of each: uint64[n, 2]."""

    ids: Ids
    boxes: Real


@dataclass(frozen=True, slots=True)
class BoxIndex:
    """Where the boxes of all keys are, in units of `unit`, and how many entries every level in use has."""

    entries: KeyedStore
    unit: float
    levels: tuple[tuple[int, int], ...] = ()

    @property
    def common_size(self) -> float:
        """Roughly the size that most boxes have."""
        return self.unit * 2.0 ** max(self.levels, key=lambda level: level[1])[0] if self.levels else 0.0

    def holding(self, x: Real, y: Real) -> Ids:
        """All keys whose boxes contain one of these places, and some others; a key may occur several times."""
        return self.meeting(np.column_stack([x, y, x, y]))

    def meeting(self, boxes: Real) -> Ids:
        """All keys whose boxes meet one of these, and some others; a key may occur several times."""
        if not self.levels or not len(boxes):
            return no_records().ids
        levels = np.array([level for level, _ in self.levels], np.int64)
        first, last, within = _squares(levels, _in_units(boxes, self.unit))

        def choose(ids: Ids) -> Whole:
            return _scan(ids, first_places(ids, first), last, within)

        found: Any = self.entries.chosen(choose).table[_ID]
        return found

    def moved(self, before: Boxes, after: Boxes) -> BoxIndex:
        """The index after some keys have moved."""
        old, new = _entries(before, self.unit), _entries(after, self.unit)
        stays_of_old, stays_of_new = _in_both(old, new)
        left, entered = old.take(np.flatnonzero(~stays_of_old)), new.take(np.flatnonzero(~stays_of_new))
        if not len(left) and not len(entered):
            return self
        entries = self.entries.put(entered, left.ids)
        return replace(self, entries=entries, levels=_counted(self.levels, left.ids, entered.ids))


def empty_box_index(*, geographic: bool) -> BoxIndex:
    """An index without keys."""
    none = no_records()
    store = empty_store(Records(none.ids, none.due, none.hold, {_ID: none.ids}))
    return BoxIndex(store, DEGREE_UNIT if geographic else METRE_UNIT)


def _in_units(boxes: Real, unit: float) -> Whole:
    """int64[n, 4]: never falling in a coordinate, so boxes that meet still do."""
    middle = (_FARTHEST + 1) // 2
    return (np.clip(np.floor(boxes / unit), -middle, middle - 1) + middle).astype(np.int64)


def _entries(of: Boxes, unit: float) -> Records:
    """One entry for each box of a key; equal boxes of a key share one."""
    ids = np.column_stack(
        [_numbers(_in_units(of.boxes, unit)), splitmix64(of.ids[:, 0] ^ (of.ids[:, 1] * GOLDEN))]
    )
    _, first = np.unique(_names(ids), return_index=True)
    ever = np.full(len(first), END)
    return Records(ids[first], ever, ever, {_ID: of.ids[first]})


def _in_both(old: Records, new: Records) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which entries of each occur in the other."""
    names, others = _names(old.ids), _names(new.ids)
    return np.isin(names, others), np.isin(others, names)


def _counted(levels: Sequence[tuple[int, int]], left: Ids, entered: Ids) -> tuple[tuple[int, int], ...]:
    """The number of entries on each level afterwards."""
    counts = dict(levels)
    for sign, some in ((-1, left), (1, entered)):
        used, times = np.unique(some[:, 0] >> np.uint64(_LEVEL_SHIFT), return_counts=True)
        for level, many in zip(used.tolist(), times.tolist(), strict=True):
            counts[level] = counts.get(level, 0) + sign * many
    return tuple(sorted((level, many) for level, many in counts.items() if many))


def _names(ids: Ids) -> Bits:
    """uint64[n]: a hash of each row. Collisions are ignored."""
    found: Bits = splitmix64(splitmix64(ids[:, 0] * GOLDEN) ^ (ids[:, 1] * SECOND_FACTOR))
    return found


# --- the curve --------------------------------------------------------------------------------------------------------
#
#  A box whose longer side is `size` units is on the first level with 2^level > size. Its centre is rounded down to a multiple of
#  2^(level - 2), so that small moves write nothing. The box then extends at most 2^(level - 1) below that number, and 2^(level - 1)
#  and a step above it. One more unit on each side absorbs rounding where boxes are computed twice.


@loop(**_LOOP)
def _numbers(boxes: Whole) -> Bits:
    """The level of each box and the number of its middle on the curve: what entries are sorted by."""
    numbers = np.empty(len(boxes), np.uint64)
    for box in range(len(boxes)):
        west, south, east, north = boxes[box, 0], boxes[box, 1], boxes[box, 2], boxes[box, 3]
        level = _digits(max(east - west, north - south))
        coarse = max(level - 2, 0)
        x, y = (
            (west + ((east - west) >> 1)) >> coarse << coarse,
            (south + ((north - south) >> 1)) >> coarse << coarse,
        )
        numbers[box] = np.uint64((level << _LEVEL_SHIFT) | _number(x, y))
    return numbers


@loop(**_LOOP)
def _squares(levels: Whole, boxes: Whole) -> tuple[Bits, Bits, Whole]:
    """Stretches of the curve, from one number to another, and the box that must contain the centres of each: int64[n, 4]."""
    room = 4 * len(levels) * len(boxes)
    first, last, within = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty((room, 4), np.int64)
    many = 0
    for level in levels:
        half = (1 << level) >> 1
        above, below = half + (1 << max(level - 2, 0)), half + 1
        for box in range(len(boxes)):
            west, south = max(boxes[box, 0] - above, 0), max(boxes[box, 1] - above, 0)
            east, north = min(boxes[box, 2] + below, _FARTHEST), min(boxes[box, 3] + below, _FARTHEST)
            digits = _digits(max(east - west, north - south))
            begun = many
            for along in range(south >> digits, (north >> digits) + 1):
                for across in range(west >> digits, (east >> digits) + 1):
                    number = (level << _LEVEL_SHIFT) | _number(across << digits, along << digits)
                    ends = number + (1 << (2 * digits)) - 1
                    if many > begun and last[many - 1] + np.uint64(1) == np.uint64(number):
                        last[many - 1] = ends
                        continue
                    first[many], last[many] = number, ends
                    within[many, 0], within[many, 1], within[many, 2], within[many, 3] = (
                        west,
                        south,
                        east,
                        north,
                    )
                    many += 1
    return first[:many], last[:many], within[:many]


@loop(**_LOOP)
def _scan(ids: Ids, places: Whole, last: Bits, within: Whole) -> Whole:
    """The entries of a run that are in a stretch that begins at a place and whose centre is in the box of the stretch; each once."""
    found, many = np.empty(64, np.int64), 0
    for n in range(len(places)):
        place = places[n]
        while place < len(ids) and ids[place, 0] <= last[n]:
            number = np.int64(ids[place, 0])
            if (
                within[n, 0] <= _every_other(number) <= within[n, 2]
                and within[n, 1] <= _every_other(number >> 1) <= within[n, 3]
            ):
                if many == len(found):
                    different = np.unique(found)
                    many = len(different)
                    found = np.concatenate((different, np.empty(many + 64, np.int64)))
                found[many] = place
                many += 1
            place += 1
    return np.unique(found[:many])


@loop(**_LOOP)
def _digits(number: int) -> int:
    """How many binary digits a number has."""
    digits = 0
    while number >> digits:
        digits += 1
    return digits


@loop(**_LOOP)
def _number(x: int, y: int) -> int:
    """The number of a place on the curve: the digits of x and y alternate."""
    return _spread(x) | (_spread(y) << 1)


@loop(**_LOOP)
def _spread(bits: int) -> int:
    """A zero after every digit."""
    bits = (bits | (bits << 16)) & 0x0000FFFF0000FFFF
    bits = (bits | (bits << 8)) & 0x00FF00FF00FF00FF
    bits = (bits | (bits << 4)) & 0x0F0F0F0F0F0F0F0F
    bits = (bits | (bits << 2)) & 0x3333333333333333
    return (bits | (bits << 1)) & 0x5555555555555555


@loop(**_LOOP)
def _every_other(bits: int) -> int:
    """The digits that `_spread` has spread; a level's are left out."""
    bits &= 0x0155555555555555
    bits = (bits | (bits >> 1)) & 0x3333333333333333
    bits = (bits | (bits >> 2)) & 0x0F0F0F0F0F0F0F0F
    bits = (bits | (bits >> 4)) & 0x00FF00FF00FF00FF
    bits = (bits | (bits >> 8)) & 0x0000FFFF0000FFFF
    return (bits | (bits >> 16)) & 0x00000000FFFFFFFF
