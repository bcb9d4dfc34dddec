"""Which zones need a row? A quick answer that may be yes too often, and is never no by mistake.

A zone runs some of the subscriptions. A zone needs a row if some subscription of it could use one of the row's
readings. That is tested separately by place, sensor, value and WHERE, and the answers are combined: each is a set of
zones as bits, found by one look-up.

Rule 1  Place: the zones of all regions that contain it, exactly, and of clauses that need no region.
Rule 2  Value: for every attribute the zones of all ranges that contain the value, exactly; one attribute is enough.
Rule 3  A zone needs a row if the tests of place or sensor, of value, and of WHERE all pass. A row that matches a clause passes all of
        them, so dropping the others changes no answer.
Memory  The regions' grid, and one set of zones for every stretch of values between two ends of ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.intervals import count_up_to
from headwater.kernels.correlate.match import numbers_of
from headwater.kernels.correlate.ranks import GREATEST, NULL_RANK, Ranks, ranks_of
from headwater.kernels.correlate.regions import Numbers, Regions
from headwater.kernels.correlate.subscription import Subscription
from headwater.kernels.correlate.subscription_table import FIRST_REGION, PLACED, Contents, tabulate
from headwater.model import RowCondition, Rows, StreamSchema

MOST_CONDITIONS = 16  # with more different conditions than this, kernels test WHERE

Bits = NDArray[np.uint64]  # uint64[…, words]: a set of zones, 64 in a word
Mask = NDArray[np.bool_]


class Stretches(NamedTuple):
    """Zones by value: ranks from `start[i]` up to the next start belong to the zones `bits[i]`."""

    start: Ranks
    bits: Bits


class Routing:
    """Which zones need which rows, for the subscriptions of all zones over one stream."""

    def __init__(
        self,
        schema: StreamSchema,
        subscriptions: Sequence[Subscription],
        zones: Sequence[int],
        zone_count: int,
        conditions: Sequence[RowCondition] = (),
    ) -> None:
        self.schema, self.zone_count = schema, zone_count
        self.contents = tabulate(schema, subscriptions)
        words = -(-zone_count // 64)
        zones_of_range = _zones_of_classes(self.contents, zones, words)
        self.values = [
            _stretches(self.contents, number, zones_of_range)
            for number in range(len(self.contents.attributes))
        ]
        self._where(subscriptions, zones, words, conditions)
        self._areas(zones_of_range)

    def zones_using(self, rows: Rows) -> Mask:
        """bool[zone_count, n]: the zones that may use each row."""
        bits = self._by_value(rows) & self._by_place_or_sensor(rows)
        if self.conditions:
            bits &= self._by_condition(rows)
        zone = np.arange(self.zone_count)
        return ((bits[:, zone // 64] >> (zone % 64).astype(np.uint64)) & np.uint64(1)).astype(np.bool_).T

    def _where(
        self,
        subscriptions: Sequence[Subscription],
        zones: Sequence[int],
        words: int,
        conditions: Sequence[RowCondition],
    ) -> None:
        by_condition: dict[int | None, Bits] = {}
        for subscription, zone in zip(subscriptions, zones, strict=True):
            by_condition.setdefault(subscription.where, np.zeros(words, np.uint64))
            by_condition[subscription.where] |= _bit(zone, words)
        self.unconditional = by_condition.pop(None, np.zeros(words, np.uint64))
        few = len(by_condition) <= MOST_CONDITIONS
        self.conditions = [
            (conditions[where], bits) for where, bits in by_condition.items() if where is not None and few
        ]

    def _areas(self, zones_of_range: Bits) -> None:
        """Zones by area and by sensor."""
        contents = self.contents
        by_area = np.zeros((FIRST_REGION + len(contents.regions), zones_of_range.shape[1]), np.uint64)
        sensors = list(dict.fromkeys(sensor for scope in contents.scopes for sensor in scope.sensors or ()))
        self.sensors = {sensor: number for number, sensor in enumerate(sensors)}
        self.by_sensor = np.zeros(
            (len(sensors) + 1, zones_of_range.shape[1]), np.uint64
        )  # the last: any other
        for number, range_ in enumerate(contents.ranges):
            scope = contents.scopes[range_.scope]
            if scope.sensors is None:
                by_area[scope.area] |= zones_of_range[number]
            for sensor in scope.sensors or ():
                self.by_sensor[self.sensors[sensor]] |= zones_of_range[number]
        self.regions = Regions(contents.regions)
        self.anywhere, self.placed = by_area[0], by_area[0] | by_area[PLACED]
        self.by_region = by_area[FIRST_REGION:]

    def _by_value(self, rows: Rows) -> Bits:
        bits = np.zeros((rows.count, len(self.anywhere)), np.uint64)
        for name, texts, stretches in zip(
            self.contents.attributes, self.contents.texts, self.values, strict=True
        ):
            if name in rows:
                _add_zones(ranks_of(rows[name], texts), stretches, bits)
        return bits

    def _by_place_or_sensor(self, rows: Rows) -> Bits:
        key = self.schema.key
        place, first, held = self.regions.of_rows(self.schema, rows)
        bits = _zones_at(place, first, held, self.by_region, self.placed, self.anywhere)
        if self.sensors and key is not None and key in rows:
            bits |= self.by_sensor[numbers_of(rows[key], self.sensors)]
        return bits

    def _by_condition(self, rows: Rows) -> Bits:
        bits = np.repeat(self.unconditional[None, :], rows.count, axis=0)
        for condition, zones in self.conditions:
            bits[condition(rows)] |= zones
        return bits


def _zones_of_classes(contents: Contents, zones: Sequence[int], words: int) -> Bits:
    """uint64[classes, words]: the zones of all subscriptions that have a class."""
    zones_of_range = np.zeros((len(contents.ranges), words), np.uint64)
    table = contents.table
    for number in range(len(contents.ranges)):
        for s in table.subscriber[
            table.first_subscriber[number] : table.first_subscriber[number + 1]
        ].tolist():
            zones_of_range[number] |= _bit(zones[s], words)
    return zones_of_range


def _stretches(contents: Contents, attribute: int, zones_of_range: Bits) -> Stretches:
    """Zones by rank of one attribute; neighbours with the same zones are one stretch."""
    ranges = [
        (r.low, r.high, n)
        for n, r in enumerate(contents.ranges)
        if r.attribute == attribute and r.low <= r.high
    ]
    ends = {
        NULL_RANK,
        *(low for low, _, _ in ranges),
        *(high + 1 for _, high, _ in ranges if high < GREATEST),
    }
    start = np.array(sorted(ends), np.int64)
    bits = np.zeros((len(start), zones_of_range.shape[1]), np.uint64)
    for low, high, number in ranges:
        bits[np.searchsorted(start, low) : np.searchsorted(start, high, side="right")] |= zones_of_range[
            number
        ]
    fresh = np.ones(len(start), np.bool_)
    fresh[1:] = (bits[1:] != bits[:-1]).any(axis=1)
    return Stretches(start[fresh], bits[fresh])


def _bit(zone: int, words: int) -> Bits:
    bits = np.zeros(words, np.uint64)
    bits[zone // 64] = np.uint64(1) << np.uint64(zone % 64)
    return bits


@loop
def _zones_at(
    place: Numbers, first: Numbers, held: Numbers, by_region: Bits, placed: Bits, anywhere: Bits
) -> Bits:
    """uint64[n, words]: the zones of each row's place (-1: none), which is in the regions `held[first[p]:first[p + 1]]`."""
    by_place = np.empty((len(first) - 1, len(placed)), np.uint64)
    for p in range(len(by_place)):
        by_place[p] = placed
        for entry in range(first[p], first[p + 1]):
            by_place[p] |= by_region[held[entry]]
    bits = np.empty((len(place), len(placed)), np.uint64)
    for i in range(len(place)):
        for word in range(len(placed)):
            bits[i, word] = by_place[place[i], word] if place[i] >= 0 else anywhere[word]
    return bits


@loop
def _add_zones(ranks: Ranks, stretches: Stretches, bits: Bits) -> None:
    """Add the zones of every value. NULL lies in the first stretch, which has no zones."""
    start = stretches.start
    for i in range(len(ranks)):
        stretch = count_up_to(start, 0, len(start), ranks[i]) - 1
        for word in range(bits.shape[1]):
            bits[i, word] |= stretches.bits[stretch, word]
