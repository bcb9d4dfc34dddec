"""Which operators can be matched together, and what are they as columns?

Rule 1  Operators of one *shape* take the same sources with the same filters (needed, returned, groups) within the same δt and δl;
        only their intervals and `since` differ. So the readings that can matter to them are picked once.
Rule 2  A *slot* is a filter and one source that it takes. Readings of a slot differ only in time and value, so conditions on
        places and keys are tested for slots, when the shape is made, and never for readings.
Rule 3  A shape is *searched* only if its filters can conflict: two filters take the same reading, filters of a
        group share a key, or places are too far apart. Otherwise only times matter.
Memory  A slot for each source of each filter of a shape; for a searched shape also some bytes for each two slots.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.search import near
from headwater.model import Filter, Operator, Region, Source
from headwater.model.network_operators import UNGROUPED

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Doubles = NDArray[np.float64]


class Shape(NamedTuple):
    """What operators of one shape share. One entry for each filter; `takes` are numbers of sets of sources.

    `clashes` are the pairs of filters that may take the same reading.
    """

    takes: tuple[int, ...]
    needed: tuple[bool, ...]
    returned: tuple[bool, ...]
    group: tuple[int, ...]
    clashes: tuple[tuple[int, int], ...]
    within_us: int
    within_m: float
    geographic: bool


class Member(NamedTuple):
    """An operator among those of its shape."""

    number: int
    since: int
    filters: tuple[Filter, ...]


class ShapeTable(NamedTuple):
    """All shapes as columns. `first_…[s]:first_…[s + 1]` are the entries of shape s.

    The bounds of filter f of the operator at place k of shape s are at `first_bound[s] + (k - first_member[s]) * filters + f`.
    """

    within_us: Numbers
    searched: Flags
    simple: Flags  # only keys and readings matter: no distance does
    first_filter: Numbers
    needed: Flags
    returned: Flags
    first_slot: Numbers
    slot_source: Numbers
    slot_filter: Numbers
    slot_keep: Numbers  # how many readings of it can matter at once: 1 if no other filter takes them
    slot_key: Numbers  # key and group as one number, UNGROUPED where keys do not matter
    first_pair: Numbers
    fits: Flags  # for searched shapes, slots x slots: whether readings of the two can be in one event
    first_mate: Numbers
    mate: Numbers  # the same as lists: which slots each slot fits
    first_member: Numbers
    member: Numbers
    since: Numbers
    first_bound: Numbers
    low: Doubles
    high: Doubles
    twin: Numbers  # the filter before that is the same one, or -1


class Slots(NamedTuple):
    """The slots of one shape, as in the table; `fits` is empty if the shape need not be searched."""

    source: Numbers
    filter: Numbers
    keep: Numbers
    key: Numbers
    fits: Flags
    simple: bool


class SourceSets:
    """The sources as columns, and the sets of them that filters take, each once."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.x = np.array([source.x for source in sources], np.float64)
        self.y = np.array([source.y for source in sources], np.float64)
        codes: dict[str, int] = {}
        self.key = np.array([codes.setdefault(source.key, len(codes)) for source in sources], np.int64)
        self._all: dict[str, list[int]] = {}
        self._keyed: dict[tuple[str, str], list[int]] = {}
        for position, source in enumerate(sources):
            self._all.setdefault(source.attribute, []).append(position)
            self._keyed.setdefault((source.attribute, source.key), []).append(position)
        self._by_source: dict[tuple[str, Region | None, tuple[str, ...] | None], int] = {}
        self._numbers: dict[bytes, int] = {}
        self._met: dict[tuple[int, int], bool] = {}
        self.sets: list[Numbers] = []

    def number_of(self, of: Filter) -> int:
        """The number of the set of sources that a filter takes."""
        source_set = of.attribute, of.region, of.keys
        number = self._by_source.get(source_set)
        if number is None:
            positions = self._positions(of)
            number = self._numbers.setdefault(positions.tobytes(), len(self.sets))
            if number == len(self.sets):
                self.sets.append(positions)
            self._by_source[source_set] = number
        return number

    def meet(self, one: int, other: int) -> bool:
        """Whether two sets have a source in common."""
        met = self._met.get((one, other))
        if met is None:
            met = self._met[one, other] = bool(np.isin(self.sets[one], self.sets[other]).any())
        return met

    def _positions(self, of: Filter) -> Numbers:
        """`Filter.takes` for all sources at once, ascending."""
        if of.keys is None:
            positions = np.array(self._all.get(of.attribute, ()), np.int64)
        else:
            of_key = (self._keyed.get((of.attribute, key), ()) for key in set(of.keys))
            positions = np.array(sorted(p for found in of_key for p in found), np.int64)
        if of.region is None or not len(positions):
            return positions
        return positions[of.region.contains(self.x[positions], self.y[positions])]


def shapes_of(operators: Sequence[Operator], sets: SourceSets) -> dict[Shape, list[Member]]:
    """Operators by shape; those that can have no member are left out."""
    found: dict[Shape, list[Member]] = {}
    for number, operator in enumerate(operators):
        taken = [(f, sets.number_of(f)) for f in operator.filters if f.needed or f.returned]
        if any(f.needed and not len(sets.sets[n]) for f, n in taken):
            continue
        taken = [(f, n) for f, n in taken if len(sets.sets[n])]
        if not any(f.returned for f, _ in taken):
            continue
        filters = tuple(f for f, _ in taken)
        shape = Shape(
            tuple(n for _, n in taken),
            tuple(f.needed for f in filters),
            tuple(f.returned for f in filters),
            _groups(filters),
            _clashes(taken, sets),
            operator.within_us,
            math.inf if operator.within_m is None else operator.within_m,
            operator.geographic,
        )
        found.setdefault(shape, []).append(Member(number, operator.since, filters))
    return found


def table_of(shapes: Mapping[Shape, Sequence[Member]], sets: SourceSets) -> ShapeTable:
    """The shapes as columns."""
    slots = [_slots(shape, sets) for shape in shapes]
    members = [member for of_shape in shapes.values() for member in of_shape]
    bounds = [f for member in members for f in member.filters]
    return ShapeTable(
        within_us=_numbers(shape.within_us for shape in shapes),
        searched=_flags(len(of_shape.fits) > 0 for of_shape in slots),
        simple=_flags(of_shape.simple for of_shape in slots),
        first_filter=_firsts(len(shape.takes) for shape in shapes),
        needed=_flags(flag for shape in shapes for flag in shape.needed),
        returned=_flags(flag for shape in shapes for flag in shape.returned),
        first_slot=_firsts(len(of_shape.source) for of_shape in slots),
        slot_source=_joined(of_shape.source for of_shape in slots),
        slot_filter=_joined(of_shape.filter for of_shape in slots),
        slot_keep=_joined(of_shape.keep for of_shape in slots),
        slot_key=_joined(of_shape.key for of_shape in slots),
        first_pair=_firsts(of_shape.fits.size for of_shape in slots),
        fits=np.concatenate([*(of_shape.fits.ravel() for of_shape in slots), np.empty(0, np.bool_)]),
        first_mate=_firsts(int(count) for of_shape in slots for count in _mates(of_shape)),
        mate=_joined(np.nonzero(of_shape.fits)[1] for of_shape in slots),
        first_member=_firsts(len(of_shape) for of_shape in shapes.values()),
        member=_numbers(member.number for member in members),
        since=_numbers(member.since for member in members),
        first_bound=_firsts(len(shape.takes) * len(of_shape) for shape, of_shape in shapes.items()),
        low=np.array([f.low for f in bounds], np.float64),
        high=np.array([f.high for f in bounds], np.float64),
        twin=_numbers(twin for member in members for twin in _twins(member.filters)),
    )


def _groups(filters: tuple[Filter, ...]) -> tuple[int, ...]:
    """Groups in the order of appearance; a group of one is not a group."""
    groups = [f.group for f in filters]
    if all(group == UNGROUPED for group in groups):
        return (UNGROUPED,) * len(filters)
    several = [g for g in dict.fromkeys(groups) if g != UNGROUPED and groups.count(g) > 1]
    return tuple(several.index(g) if g in several else UNGROUPED for g in groups)


def _clashes(taken: list[tuple[Filter, int]], sets: SourceSets) -> tuple[tuple[int, int], ...]:
    if len({f.attribute for f, _ in taken}) == len(taken):
        return ()
    return tuple(
        (i, j)
        for (i, (f, m)), (j, (g, n)) in combinations(enumerate(taken), 2)
        if (f.needed or g.needed) and f.low <= g.high and g.low <= f.high and sets.meet(m, n)
    )


def _slots(shape: Shape, sets: SourceSets) -> Slots:
    of_filter = [sets.sets[n] for n in shape.takes]
    source = np.concatenate(of_filter)
    filter_ = np.repeat(np.arange(len(of_filter)), [len(found) for found in of_filter])
    keep = np.ones(len(source), np.int64)
    for one, other in (pair for i, j in shape.clashes for pair in ((i, j), (j, i))):
        keep[(filter_ == one) & np.isin(source, of_filter[other])] += 1
    group = np.array(shape.group, np.int64)[filter_]
    key = np.where(group == UNGROUPED, UNGROUPED, group * len(sets.key) + sets.key[source])
    fits, simple = np.empty((0, 0), np.bool_), True
    if shape.clashes or shape.within_m < math.inf or np.any(group != UNGROUPED):
        needed = np.array(shape.needed)
        x, y = sets.x[source], sets.y[source]
        fits, far, rivals = _fitting(filter_, needed, key, x, y, shape.within_m, shape.geographic)
        simple = not far and not any(shape.group[i] != shape.group[j] for i, j in shape.clashes)
        if not (far or rivals or shape.clashes):
            fits = np.empty((0, 0), np.bool_)
    return Slots(source, filter_, keep, key, fits, simple)


@loop
def _fitting(
    of_filter: Numbers, needed: Flags, key: Numbers, x: Doubles, y: Doubles, within_m: float, geographic: bool
) -> tuple[Flags, bool, bool]:
    """Which slots can be in one event; whether some are too far apart; whether some are of one group and key."""
    slots = len(of_filter)
    fits = np.zeros((slots, slots), np.bool_)
    far = rivals = False
    for i in range(slots):
        for j in range(i):
            if of_filter[i] == of_filter[j] or not (needed[of_filter[i]] or needed[of_filter[j]]):
                continue
            apart = not near(x[i], y[i], x[j], y[j], within_m, geographic)
            rival = key[i] != UNGROUPED and key[i] == key[j]
            far, rivals = far or apart, rivals or rival
            fits[i, j] = fits[j, i] = not (apart or rival)
    return fits, far, rivals


def _mates(slots: Slots) -> Numbers:
    """How many slots each slot fits; none are listed for a shape that need not be searched."""
    return slots.fits.sum(axis=1) if len(slots.fits) else np.zeros(len(slots.source), np.int64)


def _twins(filters: tuple[Filter, ...]) -> Iterator[int]:
    before: dict[Filter, int] = {}
    for number, f in enumerate(filters):
        yield before.get(f, -1)
        before[f] = number


def _numbers(values: Iterator[int]) -> Numbers:
    return np.fromiter(values, np.int64)


def _flags(values: Iterator[bool]) -> Flags:
    return np.fromiter(values, np.bool_)


def _firsts(lengths: Iterator[int]) -> Numbers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(_numbers(lengths))])


def _joined(columns: Iterator[Numbers]) -> Numbers:
    return np.concatenate([*columns, np.empty(0, np.int64)])
