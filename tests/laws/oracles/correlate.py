"""CORRELATE, straight from its definition: all combinations of readings, all conditions, nothing clever.

A *reading* is (row number, attribute). A *complex event* is one reading per clause. Rows are dictionaries in the order of
the stream, so that a greater row number is later in the order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from headwater.kernels.clauses import Clause
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.model import EARTH_RADIUS_M, Box, Circle, Polygon, Region, StreamSchema

Row = dict[str, Any]
Event = tuple[int, ...]  # the row number of each clause's reading
Condition = Callable[[Row], bool]


def answers(
    schema: StreamSchema,
    rows: Sequence[Row],
    subscription: Subscription,
    conditions: Sequence[Condition] = (),
) -> list[Row]:
    """Everything a subscription answers, in order, without `match_id`."""
    events = complex_events(schema, rows, subscription, conditions)
    if subscription.emit is Emit.READINGS:
        return _emitted_readings(schema, rows, subscription, events)
    found = []
    for newest in range(len(rows)):
        here = sorted((event for event in events if max(event) == newest), reverse=True)
        most = 1 if subscription.emit is Emit.LATEST else subscription.limit
        found += [_answer(schema, rows, subscription, event) for event in here[:most]]
    return found


def cuts(
    schema: StreamSchema,
    rows: Sequence[Row],
    subscription: Subscription,
    conditions: Sequence[Condition] = (),
) -> int:
    """At how many rows LIMIT cut."""
    if subscription.emit is not Emit.ALL or subscription.limit is None:
        return 0
    events = complex_events(schema, rows, subscription, conditions)
    return sum(
        sum(max(event) == newest for event in events) > subscription.limit for newest in range(len(rows))
    )


def complex_events(
    schema: StreamSchema,
    rows: Sequence[Row],
    subscription: Subscription,
    conditions: Sequence[Condition] = (),
) -> list[Event]:
    """Every complex event."""
    seen = [subscription.where is None or conditions[subscription.where](row) for row in rows]
    candidates = [
        [n for n, row in enumerate(rows) if seen[n] and matches(schema, row, subscription, clause)]
        for clause in subscription.clauses
    ]
    return [event for event in itertools.product(*candidates) if _belong(schema, rows, subscription, event)]


def matches(schema: StreamSchema, row: Row, subscription: Subscription, clause: Clause) -> bool:
    """Whether the row's reading of the clause's attribute matches the clause."""
    value = row[clause.attribute]
    if value is None:
        return False
    if clause.interval is None:
        in_range = value == clause.text
    else:
        low, high = clause.interval.low, clause.interval.high
        above = value > low or (value == low and not clause.interval.low_open)
        below = value < high or (value == high and not clause.interval.high_open)
        in_range = above and below
    key = row[schema.key] if schema.key else None
    if clause.sensor is not None:
        in_area = key == clause.sensor
    else:
        in_area = subscription.sensors is None or key in subscription.sensors
        if subscription.region is not None:
            place = _place(schema, row)
            in_area = in_area and place is not None and contains(subscription.region, *place)
    return in_range and in_area


def contains(region: Region, x: float, y: float) -> bool:
    """Whether a place lies in a region or on its border."""
    if isinstance(region, Circle):
        return distance(region.geographic, (region.x, region.y), (x, y)) <= region.radius_m
    if isinstance(region, Box):
        if region.geographic and region.west > region.east:
            across = x >= region.west or x <= region.east
        else:
            across = region.west <= x <= region.east
        return across and region.south <= y <= region.north
    return _in_polygon(region, x, y)


def distance(geographic: bool, one: tuple[float, float], other: tuple[float, float]) -> float:
    """Metres between two places."""
    if not geographic:
        return math.sqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2)
    lon1, lat1, lon2, lat2 = map(math.radians, (*one, *other))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(h)))


def _belong(schema: StreamSchema, rows: Sequence[Row], subscription: Subscription, event: Event) -> bool:
    times = [rows[n][schema.time] for n in event]
    if not all(time > max(times) - subscription.within_us for time in times):
        return False
    pairs = itertools.combinations(zip(event, subscription.clauses, strict=True), 2)
    return all(_compatible(schema, rows, subscription, *one, *other) for one, other in pairs)


def _compatible(
    schema: StreamSchema,
    rows: Sequence[Row],
    subscription: Subscription,
    n: int,
    clause: Clause,
    m: int,
    other: Clause,
) -> bool:
    """Whether row n's reading for one clause and row m's for a clause written after it can be in one event."""
    if n == m and clause.attribute == other.attribute:
        return False  # no reading serves two clauses
    if subscription.distinct_sensors or clause.group == other.group:
        key, another = (rows[i][schema.key] if schema.key else None for i in (n, m))
        if key is None or another is None or key == another:
            return False
    if clause.group == other.group and n < m:
        return False  # each set of readings once, the latest first
    if subscription.within_m is None:
        return True
    place, elsewhere = _place(schema, rows[n]), _place(schema, rows[m])
    if place is None or elsewhere is None:
        return False
    assert schema.place is not None
    return distance(schema.place.geographic, place, elsewhere) < subscription.within_m


def _place(schema: StreamSchema, row: Row) -> tuple[float, float] | None:
    if schema.place is None or row[schema.place.x] is None or row[schema.place.y] is None:
        return None
    return row[schema.place.x], row[schema.place.y]


def _in_polygon(region: Polygon, x: float, y: float) -> bool:
    """Crossing number, after a look at the border itself."""
    inside = False
    for (x1, y1), (x2, y2) in zip(region.corners, region.corners[1:] + region.corners[:1], strict=True):
        turn = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
        if turn == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
            return True
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
    return inside


def _answer(schema: StreamSchema, rows: Sequence[Row], subscription: Subscription, event: Event) -> Row:
    answer: Row = {"query": subscription.name, "event_time": max(rows[n][schema.time] for n in event)}
    for n, clause in zip(event, subscription.clauses, strict=True):
        answer[clause.name] = rows[n][clause.attribute]
        answer[f"{clause.name}_key"] = rows[n][schema.key] if schema.key else None
        answer[f"{clause.name}_time"] = rows[n][schema.time]
        if schema.place is not None:
            answer[f"{clause.name}_{schema.place.x}"] = rows[n][schema.place.x]
            answer[f"{clause.name}_{schema.place.y}"] = rows[n][schema.place.y]
    return answer


def _emitted_readings(
    schema: StreamSchema, rows: Sequence[Row], subscription: Subscription, events: Sequence[Event]
) -> list[Row]:
    """Each reading of some event once, at the earliest time at which it is in one."""
    earliest: dict[tuple[int, str], int] = {}
    for event in events:
        time = max(rows[n][schema.time] for n in event)
        for n, clause in zip(event, subscription.clauses, strict=True):
            reading = n, clause.attribute
            earliest[reading] = min(time, earliest.get(reading, time))
    emitted = []
    for (n, attribute), time in sorted(earliest.items(), key=lambda item: (item[1], item[0])):
        value = rows[n][attribute]
        reading: Row = {
            "query": subscription.name,
            "event_time": time,
            "attribute": attribute,
            "key": rows[n][schema.key] if schema.key else None,
            "reading_time": rows[n][schema.time],
            "value": None if isinstance(value, str) else float(value),
        }
        if schema.place is not None:
            reading |= {name: rows[n][name] for name in (schema.place.x, schema.place.y)}
        emitted.append(reading)
    return emitted
