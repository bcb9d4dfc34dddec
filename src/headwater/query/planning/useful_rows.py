"""Which rows can no query use? A condition on single rows that says so before they cost anything.

Rule 1  A row is useful if some query's WHERE may hold for it, it may lie in that query's region (the box around it), and it
        has a reading for one of its clauses, or it is a row that its pattern does not pass over unseen. Wider than needed is right, narrower is not: dropping a row that is not
        useful never changes an answer.
Rule 2  The condition stays short. Equal demands are said once and overlapping ranges are joined; if it is still longer
        than MOST_TERMS, it becomes one range an attribute and one box around all regions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from headwater.kernels.clauses import Clause, Interval
from headwater.model import ColumnType, PlaceColumns, StreamSchema
from headwater.model.place import Bounds
from headwater.query.language.tree import Between, Binary, Expression, In, IsNull, Literal, Name, Timestamp
from headwater.query.operators.contract import Demand

MOST_TERMS: Final = 40
"""Comparisons in the condition before it is made coarser."""

MOST_TEXTS: Final = 20
"""Texts listed for one attribute before any text will do."""

NOTHING: Final = Literal(False)
"""No row is of use: nothing reads the stream."""


def useful_rows(schema: StreamSchema, demands: Iterable[Demand]) -> Expression | None:
    """The condition; None when every row is useful to some query."""
    plain: dict[str, Expression] = {}
    shared: dict[object, _Part] = {}
    for where, _, readings in demands:
        if readings is not None:
            for clause in readings.clauses:
                # A clause bound to a sensor finds it anywhere: the area is for the others.
                bound = clause.sensor is not None
                boxes, sensors = (None, None) if bound else (readings.boxes, readings.sensors)
                key = repr(where), boxes, sensors
                shared.setdefault(key, _Part(schema, where, boxes, sensors)).add(clause)
        elif where is not None:
            plain.setdefault(repr(where), where)
        else:
            return None
    parts = list(shared.values())
    for part in parts:
        part.ranges = {of: join_intervals(intervals) for of, intervals in part.ranges.items()}
    if len(plain) + sum(part.terms for part in parts) > MOST_TERMS:
        if len(plain) > MOST_TERMS // 2:
            return None
        parts = [_hull(schema, parts)] if parts else []
    return _any([*plain.values(), *(part.condition() for part in parts)])


@dataclass(slots=True)
class _Part:
    """What queries with the same WHERE, the same region and the same sensors can use; `boxes` None is everywhere."""

    schema: StreamSchema
    where: Expression | None
    boxes: tuple[Bounds, ...] | None
    sensors: tuple[str | int, ...] | None
    ranges: dict[tuple[str, str | int | None], list[Interval]] = field(default_factory=dict)
    texts: dict[tuple[str, str | int | None], set[str]] = field(default_factory=dict)

    def add(self, clause: Clause) -> None:
        """Rows with a reading for this clause are of use."""
        of = clause.attribute, clause.sensor
        if clause.interval is not None:
            self.ranges.setdefault(of, []).append(clause.interval)
        elif clause.text is not None:
            self.texts.setdefault(of, set()).add(clause.text)

    @property
    def terms(self) -> int:
        """How many comparisons it takes."""
        ranges = sum(len(intervals) for intervals in self.ranges.values())
        sensors = 1 + len(self.sensors) // 10 if self.sensors else 0
        return ranges + len(self.texts) + 4 * len(self.boxes or ()) + bool(self.where) + sensors

    def condition(self) -> Expression:
        """As an expression over the columns of a row."""
        readings = [
            self._of_sensor(sensor, _any([self._between(attribute, interval) for interval in intervals]))
            for (attribute, sensor), intervals in self.ranges.items()
        ]
        readings += [
            self._of_sensor(sensor, _one_of(attribute, texts))
            for (attribute, sensor), texts in self.texts.items()
        ]
        needed = [self.where] if self.where else []
        if self.boxes is not None and self.schema.place:
            place = self.schema.place
            inside = [self._inside(place, box) for box in self.boxes]
            needed += inside[0] if len(inside) == 1 else [_any([_all(sides) for sides in inside])]
        if self.sensors is not None and self.schema.key:
            needed.append(In(Name(self.schema.key), tuple(Literal(sensor) for sensor in self.sensors)))
        return _all([*needed, _any(readings)])

    def _inside(self, place: PlaceColumns, box: Bounds) -> list[Expression]:
        """Rounded outward to a millimetre or a tenth of a metre, which is easier to read and never narrower."""
        scale = 1e6 if place.geographic else 1e3
        west, south, east, north = (
            _rounded(side, scale, math.floor if low else math.ceil)
            for side, low in zip(box, (True, True, False, False), strict=True)
        )
        return [self._between(place.x, Interval(west, east)), self._between(place.y, Interval(south, north))]

    def _between(self, attribute: str, interval: Interval) -> Expression:
        name, kind = Name(attribute), self.schema.types[attribute]
        if kind is ColumnType.BIGINT:
            interval = _whole(interval)
        low, high = interval.low, interval.high
        if low == high:
            return Binary("=", name, _value(low, kind))
        if kind is ColumnType.BOOLEAN:
            return IsNull(name, negated=True)
        if not (interval.low_open or interval.high_open or math.isinf(low) or math.isinf(high)):
            return Between(name, _value(low, kind), _value(high, kind))
        ends: list[Expression] = []
        if low > -math.inf:
            ends.append(Binary(">" if interval.low_open else ">=", name, _value(low, kind)))
        if high < math.inf:
            ends.append(Binary("<" if interval.high_open else "<=", name, _value(high, kind)))
        return _all(ends) if ends else IsNull(name, negated=True)

    def _of_sensor(self, sensor: str | int | None, reading: Expression) -> Expression:
        if sensor is None or self.schema.key is None:
            return reading
        return _all([Binary("=", Name(self.schema.key), Literal(sensor)), reading])


def join_intervals(intervals: Sequence[Interval]) -> list[Interval]:
    """The same values with as few intervals as possible, in ascending order."""
    joined: list[Interval] = []
    for interval in sorted(intervals, key=lambda i: (i.low, i.low_open)):
        if joined and _meet(joined[-1], interval):
            joined[-1] = _around([joined[-1], interval])
        else:
            joined.append(interval)
    return joined


def _meet(left: Interval, right: Interval) -> bool:
    return right.low < left.high or (right.low == left.high and not (left.high_open and right.low_open))


def _around(intervals: Sequence[Interval]) -> Interval:
    low = min(interval.low for interval in intervals)
    high = max(interval.high for interval in intervals)
    return Interval(
        low,
        high,
        all(interval.low_open for interval in intervals if interval.low == low),
        all(interval.high_open for interval in intervals if interval.high == high),
    )


def _whole(interval: Interval) -> Interval:
    """The same whole numbers between whole ends: compared with a fraction, large ones would be rounded."""
    low, high = interval.low, interval.high
    if math.isfinite(low):
        low = math.floor(low) + 1 if interval.low_open else math.ceil(low)
    if math.isfinite(high):
        high = math.ceil(high) - 1 if interval.high_open else math.floor(high)
    return Interval(-math.inf if low < -(2**63) else low, math.inf if high >= 2**63 else high)


def _rounded(side: float, scale: float, rounding: Callable[[float], int]) -> float:
    """A side of a box moved outward to a short number, if there is one."""
    if not math.isfinite(side * scale):
        return side
    moved = rounding(side * scale) / scale
    return min(moved, side) if rounding is math.floor else max(moved, side)


def _hull(schema: StreamSchema, parts: Sequence[_Part]) -> _Part:
    """One part that holds all of them: a range or some texts for each attribute, a box around all boxes."""
    boxes = [box for part in parts for box in part.boxes or ()]
    everywhere = not boxes or any(part.boxes is None for part in parts)
    first = parts[0].where
    same = all(repr(part.where) == repr(first) for part in parts)
    hull = _Part(schema, first if same else None, None if everywhere else (_box_around(boxes),), None)
    ranges: dict[str, list[Interval]] = {}
    for part in parts:
        for (attribute, _), intervals in part.ranges.items():
            ranges.setdefault(attribute, []).extend(intervals)
        for (attribute, _), texts in part.texts.items():
            hull.texts.setdefault((attribute, None), set()).update(texts)
    hull.ranges = {(attribute, None): [_around(intervals)] for attribute, intervals in ranges.items()}
    return hull


def _box_around(boxes: Sequence[Bounds]) -> Bounds:
    west, south, east, north = zip(*boxes, strict=True)
    return min(west), min(south), max(east), max(north)


def _one_of(attribute: str, texts: set[str]) -> Expression:
    if len(texts) > MOST_TEXTS:
        return IsNull(Name(attribute), negated=True)
    if len(texts) == 1:
        return Binary("=", Name(attribute), Literal(next(iter(texts))))
    return In(Name(attribute), tuple(Literal(text) for text in sorted(texts)))


def _value(value: float, kind: ColumnType) -> Literal | Timestamp:
    """A constant of the column's own type, so that nothing is cast for every row."""
    if kind is ColumnType.TIMESTAMP:
        return Timestamp(int(value))
    if kind is ColumnType.BOOLEAN:
        return Literal(bool(value))
    return Literal(float(value) if kind is ColumnType.DOUBLE else value)


def _any(conditions: Sequence[Expression]) -> Expression:
    return reduce(lambda left, right: Binary("OR", left, right), conditions) if conditions else NOTHING


def _all(conditions: Sequence[Expression]) -> Expression:
    return reduce(lambda left, right: Binary("AND", left, right), conditions)
