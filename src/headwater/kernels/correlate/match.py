"""Which clauses does each reading match?

Rule 1  A row finds its scopes by its place (a grid of regions) and by its key; within a scope, each of its values finds its
        ranges in a tree. Clauses that do not match are not tested.
Rule 2  A NULL value, or no place where one is needed, or no key where one is needed, matches nothing.
Rule 3  A WHERE condition is evaluated once a step however many subscriptions have it.

Cost    O(log n) per value and scope that contains the row, plus the matches; n ranges in that scope and attribute.
Memory  The index: O(n log n). Conditions: at most MASK_CELLS marks at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.intervals import Forest, leaf_of, plant
from headwater.kernels.correlate.ranks import NULL_RANK, Ranks, numbers_by_name, ranks_of
from headwater.kernels.correlate.regions import Regions
from headwater.kernels.correlate.subscription_table import FIRST_REGION, PLACED, Contents, Scope
from headwater.model import Column, ColumnType, RowCondition, Rows, StreamSchema

MASK_CELLS = 1 << 24

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Matches(NamedTuple):
    """Pairs of a row (ascending) and a class that one of its readings matches."""

    row: Numbers
    of_class: Numbers


class Facts(NamedTuple):
    """Columns of rows: ranks of their values by attribute, their place and the regions that contain it, sensor, key, and conditions."""

    ranks: Numbers  # int64[attributes, n]
    place: Numbers
    first_held: Numbers  # place -> regions `held[first_held[place]:first_held[place + 1]]`
    held: Numbers
    sensor: Numbers
    has_key: Mask
    marks: Mask  # bool[conditions, n]


class Lookup(NamedTuple):
    """How a row finds its scopes, and a scope its trees."""

    first_by_area: Numbers  # area -> scopes without sensors
    by_area: Numbers
    first_by_sensor: Numbers  # sensor named in some scope -> scopes
    by_sensor: Numbers
    area: Numbers
    where: Numbers
    keyed: Mask
    first_tree: Numbers  # scope -> its trees are consecutive; the attribute of each:
    tree_attribute: Numbers


class Matcher:
    """The index over all clauses of a kernel."""

    def __init__(
        self, schema: StreamSchema, contents: Contents, conditions: Sequence[RowCondition] = ()
    ) -> None:
        self.schema, self.contents = schema, contents
        self.regions = Regions(contents.regions)
        used = sorted({scope.where for scope in contents.scopes if scope.where is not None})
        self.conditions = tuple(conditions[number] for number in used)
        self.sensors = _sensors(contents.scopes)
        self.lookup, self.forest = _index(
            contents, self.sensors, {number: i for i, number in enumerate(used)}
        )

    def match(self, rows: Rows, tested: Mask | None = None) -> Matches:
        """Every match of every row; `tested[conditions]` says which conditions need to be tested (None: all)."""
        piece = max(1024, MASK_CELLS // max(1, len(self.conditions)))
        if rows.count <= piece:
            return self._match(rows, tested)
        parts = [
            (start, self._match(rows.take(slice(start, start + piece)), tested))
            for start in range(0, rows.count, piece)
        ]
        return Matches(
            np.concatenate([part.row + start for start, part in parts]),
            np.concatenate([part.of_class for _, part in parts]),
        )

    def _match(self, rows: Rows, tested: Mask | None) -> Matches:
        ranks = np.empty((len(self.contents.attributes), rows.count), np.int64)
        for number, name in enumerate(self.contents.attributes):
            ranks[number] = self._ranks(rows, number, name)
        held_place, first_held, held = self.regions.of_rows(self.schema, rows)
        facts = Facts(
            ranks,
            held_place,
            first_held,
            held,
            self._sensor_numbers(rows),
            _has_key(rows, self.schema.key),
            self._marks(rows, tested),
        )
        return Matches(*_find(facts, self.lookup, self.forest, _first_room(rows.count)))

    def _ranks(self, rows: Rows, number: int, name: str) -> Ranks | int:
        return ranks_of(rows[name], self.contents.texts[number]) if name in rows else NULL_RANK

    def _sensor_numbers(self, rows: Rows) -> Numbers:
        """For each row the number of its key among the sensors that scopes name; -1: none of them."""
        if not self.sensors or self.schema.key is None:
            return np.empty(0, np.int64)
        return numbers_of(rows[self.schema.key], self.sensors)

    def _marks(self, rows: Rows, tested: Mask | None) -> Mask:
        marks = np.zeros((len(self.conditions), rows.count), np.bool_)
        for number, condition in enumerate(self.conditions):
            if tested is None or tested[number]:
                marks[number] = condition(rows)
        return marks


def numbers_of(key: Column, sensors: dict[str | int, int]) -> Numbers:
    """int64[n]: the number of each key among `sensors`, -1 for any other and for NULL."""
    if key.type is ColumnType.STRING:
        assert key.names is not None
        if not len(key.names):
            return np.full(len(key), -1, np.int64)
        texts = {sensor: number for sensor, number in sensors.items() if isinstance(sensor, str)}
        found = numbers_by_name(key.names, texts)[key.values]
    else:
        known = np.array(sorted(s for s in sensors if not isinstance(s, str)), np.int64)
        names = np.array([sensors[s] for s in known.tolist()] or [-1], np.int64)
        at = np.minimum(np.searchsorted(known, key.values), max(0, len(known) - 1))
        found = np.where(known[at] == key.values, names[at], -1) if len(known) else np.full(len(key), -1)
    return found if key.valid is None else np.where(key.valid, found, -1)


def _has_key(rows: Rows, key: str | None) -> Mask:
    """bool[n], or empty if every row has one."""
    if key is None or key not in rows:
        return np.zeros(rows.count, np.bool_)
    valid = rows[key].valid
    return np.empty(0, np.bool_) if valid is None else np.require(valid, None, ["C", "W"])


def _sensors(scopes: Sequence[Scope]) -> dict[str | int, int]:
    named = dict.fromkeys(sensor for scope in scopes for sensor in scope.sensors or ())
    return {sensor: number for number, sensor in enumerate(named)}


def _index(
    contents: Contents, sensors: dict[str | int, int], conditions: dict[int, int]
) -> tuple[Lookup, Forest]:
    scopes, ranges = contents.scopes, contents.ranges
    trees: dict[tuple[int, int], int] = {
        pair: number for number, pair in enumerate(sorted({(r.scope, r.attribute) for r in ranges}))
    }
    forest = plant(
        np.array([trees[r.scope, r.attribute] for r in ranges], np.int64),
        np.array([r.low for r in ranges], np.int64),
        np.array([r.high for r in ranges], np.int64),
        np.arange(len(ranges), dtype=np.int64),
        len(trees),
    )
    anywhere = [(scope.area, n) for n, scope in enumerate(scopes) if scope.sensors is None]
    bound = [(sensors[sensor], n) for n, scope in enumerate(scopes) for sensor in scope.sensors or ()]
    first_by_area, by_area = _grouped(anywhere, FIRST_REGION + len(contents.regions))
    first_by_sensor, by_sensor = _grouped(bound, len(sensors))
    lookup = Lookup(
        first_by_area,
        by_area,
        first_by_sensor,
        by_sensor,
        np.array([scope.area for scope in scopes], np.int64),
        np.array([-1 if s.where is None else conditions[s.where] for s in scopes], np.int64),
        np.array([scope.keyed for scope in scopes], np.bool_),
        np.searchsorted(np.array([scope for scope, _ in trees], np.int64), np.arange(len(scopes) + 1)).astype(
            np.int64
        ),
        np.array([attribute for _, attribute in trees], np.int64),
    )
    return lookup, forest


def _first_room(rows: int) -> int:
    """How many matches there is room for at first."""
    return 1024 + rows


def _grouped(pairs: Sequence[tuple[int, int]], groups: int) -> tuple[Numbers, Numbers]:
    """Members by group: `first, members`, group g has `members[first[g]:first[g + 1]]`."""
    table = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return np.searchsorted(table[:, 0], np.arange(groups + 1)).astype(np.int64), table[:, 1].copy()


@loop
def _find(facts: Facts, lookup: Lookup, forest: Forest, capacity: int) -> tuple[Numbers, Numbers]:
    """The loop over rows: collect a row's scopes, then climb a tree for every value. There is room for `capacity` matches at first."""
    ranks, has_key, marks = facts.ranks, facts.has_key, facts.marks
    rows, classes = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    scopes = np.empty(max(1, len(lookup.area)), np.int64)
    count = 0
    for i in range(len(facts.place)):
        for n in range(_scopes_of(facts, i, lookup, scopes)):
            scope = scopes[n]
            if lookup.where[scope] >= 0 and not marks[lookup.where[scope], i]:
                continue
            if lookup.keyed[scope] and len(has_key) > 0 and not has_key[i]:
                continue
            for tree in range(lookup.first_tree[scope], lookup.first_tree[scope + 1]):
                rank = ranks[lookup.tree_attribute[tree], i]
                if rank == NULL_RANK:
                    continue
                node = leaf_of(forest, tree, rank)
                while node >= 0:
                    found = forest.first_range[node + 1] - forest.first_range[node]
                    if count + found > capacity:
                        more = capacity + found
                        rows = np.concatenate((rows, np.empty(more, np.int64)))
                        classes = np.concatenate((classes, np.empty(more, np.int64)))
                        capacity += more
                    for entry in range(forest.first_range[node], forest.first_range[node + 1]):
                        rows[count], classes[count] = i, forest.ranges[entry]
                        count += 1
                    node = forest.above[node]
    return rows[:count].copy(), classes[:count].copy()


@loop(inline="always")
def _scopes_of(facts: Facts, i: int, lookup: Lookup, scopes: Numbers) -> int:
    """Write the scopes that row i lies in into `scopes`; how many."""
    place, first_held, held, sensor = facts.place[i], facts.first_held, facts.held, facts.sensor
    count = 0
    for entry in range(lookup.first_by_area[0], lookup.first_by_area[1]):
        scopes[count] = lookup.by_area[entry]
        count += 1
    if place >= 0:
        for entry in range(lookup.first_by_area[PLACED], lookup.first_by_area[PLACED + 1]):
            scopes[count] = lookup.by_area[entry]
            count += 1
        for region in range(first_held[place], first_held[place + 1]):
            area = FIRST_REGION + held[region]
            for entry in range(lookup.first_by_area[area], lookup.first_by_area[area + 1]):
                scopes[count] = lookup.by_area[entry]
                count += 1
    if len(sensor) > 0 and sensor[i] >= 0:
        for entry in range(lookup.first_by_sensor[sensor[i]], lookup.first_by_sensor[sensor[i] + 1]):
            scope = lookup.by_sensor[entry]
            area = lookup.area[scope]
            inside = area < PLACED or (area == PLACED and place >= 0)
            if area >= FIRST_REGION and place >= 0:
                for region in range(first_held[place], first_held[place + 1]):
                    inside = inside or held[region] == area - FIRST_REGION
            if inside:
                scopes[count] = scope
                count += 1
    return count
