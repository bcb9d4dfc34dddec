"""NEAREST, straight from its definition: at every instant at which something comes or goes, sort the whole window.

Rows are dictionaries in the order of the stream, so that a greater row number is newer. The paper's definitions: V_q is what
`objects` gives, W_q(t) is `in_window`, u(q, o) is `Object.score`, T_q(t) is `nearest`, R_q is what ENTERS tells. What is stamped T
holds just after T.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwater.kernels.nearest.candidate_limits import r_star
from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.kernels.nearest.distance import chord_metres, unit_vectors
from headwater.kernels.nearest.question import NearestQuery
from headwater.model import BEGINNING, Instant, StreamSchema

Row = dict[str, Any]
Condition = Callable[[Row], bool]
Point = tuple[Any, tuple[float, ...]]  # id (None: it needs none) and coordinates


@dataclass(frozen=True, eq=False)
class Object:
    """A row as one point of a query sees it. `number` is its place in the stream, `count` its place among the objects."""

    number: int
    count: int
    time: Instant
    score: float  # the smaller, the nearer
    distance: float | None
    row: Row


@dataclass(frozen=True)
class Moment:
    """What holds just after an instant."""

    time: Instant
    window: list[Object]
    candidates: list[Object]  # PA forgets the others
    nearest: list[Object]  # nearest first


def answers(
    schema: StreamSchema,
    rows: Sequence[Row],
    query: NearestQuery,
    conditions: Sequence[Condition] = (),
    since: Instant = BEGINNING,
) -> list[Row]:
    """Everything a query answers, by event time, without `match_id`."""
    tell = {Emission.ENTERS: _enters, Emission.CHANGES: _changes, Emission.EVERY: _ticks}[query.emission]
    emitted = []
    for point, _, found in windows(schema, rows, query, conditions, since):
        for time, what, one in tell(query, history(query, found)):
            emitted.append(answer(schema, query, point, time, what, one))
    return sorted(emitted, key=lambda one: one["event_time"])


def not_objects(
    schema: StreamSchema,
    rows: Sequence[Row],
    query: NearestQuery,
    conditions: Sequence[Condition] = (),
    since: Instant = BEGINNING,
) -> int:
    """How many rows that satisfy WHERE lack an attribute."""
    return sum(
        row[schema.time] >= since
        and _satisfies(row, query, conditions)
        and any(row[name] is None for name in query.attributes)
        for row in rows
    )


def windows(
    schema: StreamSchema,
    rows: Sequence[Row],
    query: NearestQuery,
    conditions: Sequence[Condition] = (),
    since: Instant = BEGINNING,
) -> Iterator[tuple[Point, Any, list[Object]]]:
    """For every point and every value of the PER column: all objects of the stream."""
    for point in points(query):
        by_value: dict[Any, list[Object]] = {}
        for number, row in enumerate(rows):
            if row[schema.time] >= since and is_object(row, query, conditions):
                value = None if query.per is None else row[query.per]
                mine = by_value.setdefault(value, [])
                score, distance = _score(query, point[1], row)
                mine.append(Object(number, len(mine), row[schema.time], score, distance, row))
        for value, found in by_value.items():
            for life in lives(query, found):
                yield point, value, life


def lives(query: NearestQuery, found: Sequence[Object]) -> list[list[Object]]:
    """The objects of a value between two silences longer than FORGET; each life knows nothing of the one before."""
    cut: list[list[Object]] = []
    for one in found:
        silent = bool(cut) and query.forget_us is not None and one.time - cut[-1][-1].time > query.forget_us
        if not cut or silent:
            cut.append([])
        cut[-1].append(replace(one, count=len(cut[-1])))
    return cut


def points(query: NearestQuery) -> list[Point]:
    """The query's points."""
    ids = query.points.ids.tolist() if query.points.ids is not None else [None] * len(query.points)
    return [(i, tuple(at)) for i, at in zip(ids, query.points.coordinates.tolist(), strict=True)]


def is_object(row: Row, query: NearestQuery, conditions: Sequence[Condition]) -> bool:
    """Whether the row has all attributes and satisfies WHERE."""
    return _satisfies(row, query, conditions) and all(row[name] is not None for name in query.attributes)


def history(query: NearestQuery, found: Sequence[Object]) -> list[Moment]:
    """What holds after each instant at which an object comes or goes."""
    instants = {one.time for one in found}
    if query.window_us is not None:
        instants |= {one.time + query.window_us for one in found}
    if query.forget_us is not None:
        instants.add(found[-1].time + query.forget_us + 1)
    moments: list[Moment] = []
    for time in sorted(instants):
        window = in_window(query, found, time)
        candidates = window
        if query.algorithm is Algorithm.PA:
            assert query.sigma is not None
            before = moments[-1].candidates if moments else []
            known = [one for one in window if one in before or one.time == time]
            candidates = ranked(known)[: r_star(query.k, query.sigma)]
        moments.append(Moment(time, window, candidates, nearest(query, candidates)))
    return moments


def in_window(query: NearestQuery, found: Sequence[Object], time: Instant) -> list[Object]:
    """The objects in the window just after an instant."""
    came = [one for one in found if one.time <= time]
    if query.window_us is None:
        assert query.window_rows is not None
        if query.forget_us is not None and time > found[-1].time + query.forget_us:
            return []
        return came[-query.window_rows :]
    return [one for one in came if time < one.time + query.window_us]


def ranked(some: Sequence[Object]) -> list[Object]:
    """Nearest first; of equally near ones the newer first."""
    return sorted(some, key=lambda one: (one.score, -one.number))


def nearest(query: NearestQuery, some: Sequence[Object]) -> list[Object]:
    """The k nearest; WITH TIES also those that are as near as the k-th."""
    ordered = ranked(some)
    if query.ties and len(ordered) > query.k:
        return [one for one in ordered if one.score <= ordered[query.k - 1].score]
    return ordered[: query.k]


def skyband(query: NearestQuery, window: Sequence[Object]) -> list[Object]:
    """The strict k-skyband: objects with fewer than k that are newer and at least as near (WITH TIES: nearer)."""

    def dominates(other: Object, one: Object) -> bool:
        nearer = other.score < one.score if query.ties else other.score <= one.score
        return other.number > one.number and nearer

    return [one for one in window if sum(dominates(other, one) for other in window) < query.k]


def _enters(query: NearestQuery, moments: Sequence[Moment]) -> Iterator[tuple[Instant, str, Object]]:
    emitted: set[int] = set()
    for moment in moments:
        for one in moment.nearest:
            if one.number not in emitted:
                emitted.add(one.number)
                yield moment.time, "enter", one


def _changes(query: NearestQuery, moments: Sequence[Moment]) -> Iterator[tuple[Instant, str, Object]]:
    before: list[Object] = []
    for moment in moments:
        for one in before:
            if one not in moment.nearest:
                yield moment.time, "leave", one
        for one in moment.nearest:
            if one not in before:
                yield moment.time, "enter", one
        before = moment.nearest


def _ticks(query: NearestQuery, moments: Sequence[Moment]) -> Iterator[tuple[Instant, int, Object]]:
    """At a tick: what holds after all instants before it."""
    assert query.every_us is not None
    every = query.every_us
    for n, moment in enumerate(moments):
        tick = (moment.time // every + 1) * every  # the first one strictly later
        until = moments[n + 1].time if n + 1 < len(moments) else math.inf
        while tick <= until and moment.nearest:
            for rank, one in enumerate(moment.nearest, 1):
                yield tick, rank, one
            if query.window_us is None:
                break  # the set stays as it is, and is told again when another object has come
            tick += every


def answer(
    schema: StreamSchema, query: NearestQuery, point: Point, time: Instant, what: str | int, one: Object
) -> Row:
    """One answer; `what` is `enter`, `leave` or a rank."""
    found: Row = {"query": query.name, "event_time": time}
    if query.points.ids is not None:
        found["point"] = point[0]
    found["rank" if query.emission is Emission.EVERY else "change"] = what
    if schema.key is not None:
        found["key"] = one.row[schema.key]
    found["object_time"] = one.time
    if not query.metric.ranks_values:
        found["distance"] = one.distance
    return found | {name: one.row[column] for name, column in query.columns}


def _satisfies(row: Row, query: NearestQuery, conditions: Sequence[Condition]) -> bool:
    return query.where is None or conditions[query.where](row)


def _score(query: NearestQuery, point: tuple[float, ...], row: Row) -> tuple[float, float | None]:
    """What objects are ranked by, and the distance that is told."""
    values = [float(row[name]) for name in query.attributes]
    if query.metric is Metric.HIGHEST:
        return -values[0], None
    if query.metric is Metric.LOWEST:
        return values[0], None
    if query.metric is Metric.GEOGRAPHIC:
        chord = _euclidean(_on_the_globe(*values), _on_the_globe(*point))
        return chord, float(chord_metres(np.array([chord]))[0])
    distance = _euclidean(values, point, query.weights)
    return distance, distance


def _euclidean(one: Sequence[float], other: Sequence[float], weights: Sequence[float] | None = None) -> float:
    total = 0.0
    for value, coordinate, weight in zip(one, other, weights or [1.0] * len(one), strict=True):
        difference = value - coordinate
        total += weight * (difference * difference)
    return math.sqrt(total)


@functools.cache
def _on_the_globe(lon: float, lat: float) -> tuple[float, ...]:
    return tuple(unit_vectors(np.array([lon]), np.array([lat]))[0].tolist())
