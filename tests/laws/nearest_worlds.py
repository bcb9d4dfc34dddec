"""Small worlds for NEAREST in which everything that can tie, touch or be missing does.

Few values, few times, few places: equal distances, times and rows, objects that expire as others come, NULLs; points that are
added, taken away and moved under their old name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from headwater.kernels.nearest.candidate_limits import r_star
from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.kernels.nearest.kernel import NearestKernel
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import SECOND, Column, ColumnType, Instant, PlaceColumns, Rows, StreamSchema, order_of
from tests.laws.correlate_worlds import Above
from tests.laws.oracles import nearest as oracle

Row = dict[str, Any]

STRING, DOUBLE, BIGINT, TIMESTAMP = (
    ColumnType.STRING,
    ColumnType.DOUBLE,
    ColumnType.BIGINT,
    ColumnType.TIMESTAMP,
)
PLANE = StreamSchema(
    "panels",
    (
        ("station", STRING),
        ("at", TIMESTAMP),
        ("zone", STRING),
        ("x", DOUBLE),
        ("y", DOUBLE),
        ("heat", DOUBLE),
        ("count", BIGINT),
    ),
    time="at",
    key="station",
    place=PlaceColumns("x", "y"),
)
GLOBE = replace(PLANE, place=PlaceColumns("x", "y", geographic=True))
NUMBERED = replace(PLANE, columns=(("station", BIGINT), *PLANE.columns[1:]), place=None)
KEYLESS = replace(PLANE, key=None)
SCHEMAS = (PLANE, PLANE, GLOBE, NUMBERED, KEYLESS)

GLOBE_PLACES = [(180.0, 0.0), (-180.0, 0.0), (179.5, 0.0), (-179.5, 0.0), (0.0, 90.0), (90.0, 89.5)]
CONDITIONS = (Above("heat", 0.5), Above("count", 0))
# Zero is always minus zero: rows that differ in its sign alone are equal in the order, and would be told apart by their text.
HEATS = (-1.0, -0.0, -0.0, 1.0, 1.0, 2.0, 3.0, 5.0)
EVERY_US = (SECOND, 2 * SECOND, 3 * SECOND, 700_000)
SECONDS = range(-4, 9)  # rows come in these, so that some come before 1970


@dataclass(frozen=True)
class NearestWorld:
    """Queries over rows, and others that take their place, some with other points."""

    schema: StreamSchema
    rows: Rows
    watermarks: Sequence[Instant]
    before: tuple[NearestQuery, ...]
    after: tuple[NearestQuery, ...]
    seed: int
    recent: int | None = None
    prune: float = 0.2
    holds_back: bool = True  # the order of answers of one instant is nobody's promise
    shares_ids: bool = False

    @property
    def queries(self) -> list[str]:
        return [query.name for query in self.before]

    @property
    def changed(self) -> list[str]:
        """Without those that have other points now: these neither stay nor begin anew, they have a law of their own."""
        return [query.name for query in self.after if query.name not in self.repointed]

    @property
    def replaced(self) -> list[str]:
        old = {query.name: query.fingerprint for query in self.before}
        return [q.name for q in self.after if q.name in old and q.fingerprint != old[q.name]]

    @property
    def repointed(self) -> list[str]:
        old = {query.name: query for query in self.before}
        return [
            q.name
            for q in self.after
            if q.name in old
            and q.fingerprint == old[q.name].fingerprint
            and oracle.points(q) != oracle.points(old[q.name])
        ]

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> NearestKernel:
        return self.kernel_of(self.after if after_change else self.before, fast=fast)

    def kernel_of(self, queries: Sequence[NearestQuery], *, fast: bool = True) -> NearestKernel:
        """The kernel of some queries; not fast: without an index, and with nothing put off."""
        if not fast:
            return NearestKernel(self.schema, [_put_nothing_off(q) for q in queries], CONDITIONS, index=False)
        return NearestKernel(self.schema, queries, CONDITIONS, recent=self.recent, prune=self.prune)

    def oracle(self, since: Instant, *, after_change: bool = False) -> dict[str, list[Row]]:
        expected: dict[str, list[Row]] = {name: [] for name in {*self.queries, *self.changed}}
        for query in self.after if after_change else self.before:
            expected[query.name] = oracle.answers(self.schema, self.listed, query, ROW_CONDITIONS, since)
        return expected

    def oracle_counts(self) -> Mapping[str, int]:
        missing = sum(
            oracle.not_objects(self.schema, self.listed, query, ROW_CONDITIONS) for query in self.before
        )
        return {"not_objects": missing} if missing else {}

    @cached_property
    def listed(self) -> list[Row]:
        """The rows, in order."""
        return self.rows.tolist()

    def stored(self, state: Any) -> int:
        return sum(len(candidates) for candidates in self.kernel().candidates(state).values())

    def bound(self, watermark: Instant) -> int:
        """All objects of all windows, or as many as PA may keep; those that expire at the watermark are still there."""
        return sum(
            min(len(window), most_stored(query)) for query, _, window in self.windows_before(watermark)
        )

    def windows_before(
        self, watermark: Instant
    ) -> list[tuple[NearestQuery, tuple[str, Any, Any], list[oracle.Object]]]:
        """For every query, point and PER value: the window after all instants before the watermark."""
        found = {
            (query.name, point[0], value): (query, oracle.in_window(query, life, watermark - 1))
            for query in self.before
            for point, value, life in oracle.windows(self.schema, self.listed, query, ROW_CONDITIONS)
            if life[0].time < watermark  # of several lives the last counts that has begun
        }
        return [(query, name, window) for name, (query, window) in found.items()]


ROW_CONDITIONS = [condition.of_row for condition in CONDITIONS]


def emitting(world: NearestWorld, emission: Emission) -> NearestWorld:
    """The same world, all its queries with one emission."""
    every_us = EVERY_US[world.seed % len(EVERY_US)] if emission is Emission.EVERY else None
    before = [replace(query, emission=emission, every_us=every_us) for query in world.before]
    return replace(world, before=tuple(replace(query, shape=_shape(world.schema, query)) for query in before))


def most_stored(query: NearestQuery) -> int:
    """How many objects one window of a query may keep whatever comes."""
    return r_star(query.k, query.sigma) if query.sigma is not None else 1 << 62


def _put_nothing_off(query: NearestQuery) -> NearestQuery:
    return replace(query, algorithm=Algorithm.RA) if query.algorithm is Algorithm.RAPF else query


@st.composite
def worlds(draw: st.DrawFn) -> NearestWorld:
    """Worlds over any of the schemas, small enough for the oracle.

    All is made from one seed with weights of our own. Hypothesis draws the seed, and how much of it all there is: a failing
    world is made small by having less of it.
    """
    seed = draw(st.integers(0, 1 << 64))
    queries = draw(st.sampled_from([1, 2, 3, 3, 3]))
    rows = draw(st.sampled_from([1, 3, 6, 9, 12, 14, 16, 18, 20, 22, 24, 24]))
    return make_world(seed, queries=queries, rows=rows, watermarks=draw(st.integers(0, 3)))


@st.composite
def long_worlds(draw: st.DrawFn) -> NearestWorld:
    """The same with more rows: windows fill, lists are pruned, objects leave the recent buffer."""
    seed = draw(st.integers(0, 1 << 64))
    rows = draw(st.sampled_from([60, 100, 150]))
    return make_world(seed, queries=2, rows=rows, watermarks=draw(st.integers(0, 5)), seconds=range(-20, 60))


def make_world(
    seed: int, *, queries: int = 3, rows: int = 20, watermarks: int = 2, seconds: range = SECONDS
) -> NearestWorld:
    """A world from a seed and its sizes."""
    random = Random(seed)
    schema = random.choice(SCHEMAS)
    before = tuple(make_query(schema, f"q{n}", random) for n in range(3))[:queries]
    after = [_maybe_changed(query, schema, random) for query in before if random.random() < 0.85]
    after.append(make_query(schema, "new", random))
    recent = random.choice([None, 1, 2, 2, 3, 4, 6, 10])
    prune = random.choice([0.0, 0.2, 0.2, 1.0])
    shuffled = tuple(random.sample(after, len(after)))
    until = range(seconds.start, seconds.stop + 12)
    cuts = sorted(random.sample(until, watermarks))
    drawn = make_rows(schema, rows, random, seconds)
    return NearestWorld(schema, drawn, [c * SECOND for c in cuts], before, shuffled, seed, recent, prune)


def _maybe_changed(query: NearestQuery, schema: StreamSchema, random: Random) -> NearestQuery:
    """As it was, with other points, or another query of the same name."""
    kind = random.random()
    if kind < 0.35:
        return query
    if kind < 0.75 and not query.metric.ranks_values:
        return replace(query, points=_other_points(query.points, query.metric, random))
    return make_query(schema, query.name, random)


def make_rows(schema: StreamSchema, count: int, random: Random, seconds: range = SECONDS) -> Rows:
    """Rows in the order of the stream; one in eight is as another one."""
    drawn: list[Row] = []
    for _ in range(count):
        again = bool(drawn) and random.random() < 1 / 8
        drawn.append(random.choice(drawn) if again else _make_row(schema, random, seconds))
    rows = Rows.of({name: Column.of(kind, [row[name] for row in drawn]) for name, kind in schema.columns})
    return rows.take(order_of(rows, schema.order))


def _make_row(schema: StreamSchema, random: Random, seconds: range) -> Row:
    keys: list[Any] = [1, 2, 3] if schema.types["station"] is BIGINT else ["s1", "s2", "s3"]
    x, y = _place(schema.place is not None and schema.place.geographic, random)
    return {
        "station": None if random.random() < 0.05 else random.choice(keys),
        "at": random.choice(seconds) * SECOND,
        "zone": random.choice(["north", "north", "south", None]),
        "x": None if random.random() < 0.04 else x,
        "y": y,
        "heat": None if random.random() < 0.06 else random.choice(HEATS),
        "count": None if random.random() < 0.06 else random.choice([0, 1, 1, 2, 3]),
    }


def _place(geographic: bool, random: Random) -> tuple[float, float]:
    if geographic:
        return random.choice(GLOBE_PLACES)
    return float(random.choice([-1, 0, 0, 1, 2])), float(random.choice([-2, 0, 0, 1, 3]))


def make_query(schema: StreamSchema, name: str, random: Random) -> NearestQuery:
    """A query that the checker would let through."""
    metric, attributes = _make_metric(schema, random)
    over_rows = random.random() < 0.4
    algorithm = random.choice(list(Algorithm))
    emission = random.choice(list(Emission))
    per = random.choice([None, None, None, "zone", "zone", "station", "count"])
    weighted = metric is Metric.EUCLIDEAN and random.random() < 0.3
    drawn = NearestQuery(
        name=name,
        fingerprint="",
        shape=0,
        where=random.choice([None, None, None, 0, 1]),
        k=random.choice([1, 1, 2, 2, 3, 4, 7]),
        metric=metric,
        attributes=attributes,
        weights=tuple(random.choice([0.5, 1.0, 2.0, 4.0]) for _ in attributes) if weighted else None,
        points=Points(np.zeros((1, 1))),
        window_us=None if over_rows else random.choice([1, 2, 3, 4, 5, 6, 8, 20]) * SECOND,
        window_rows=random.choice([1, 2, 3, 4, 6, 10, 30]) if over_rows else None,
        per=per,
        ties=random.random() < 0.3,
        algorithm=algorithm,
        sigma=random.choice([0.9, 0.5, 0.3, 0.1]) if algorithm is Algorithm.PA else None,
        emission=emission,
        every_us=random.choice(EVERY_US) if emission is Emission.EVERY else None,
        columns=_make_columns(schema, attributes, per, random),
        forget_us=random.choice([None, SECOND, 2 * SECOND, 4 * SECOND]) if over_rows and per else None,
    )
    drawn = replace(drawn, fingerprint=repr(replace(drawn, name="", points=None)))  # type: ignore[arg-type]
    drawn = replace(drawn, points=_make_points(metric, len(attributes), random))
    return replace(drawn, shape=_shape(schema, drawn))


def _make_metric(schema: StreamSchema, random: Random) -> tuple[Metric, tuple[str, ...]]:
    if schema.place is not None and schema.place.geographic and random.random() < 0.5:
        return Metric.GEOGRAPHIC, ("x", "y")
    if random.random() < 0.25:
        return random.choice([Metric.HIGHEST, Metric.LOWEST]), (random.choice(["heat", "count"]),)
    several = [("heat",), ("count",), ("heat", "count"), ("x", "y"), ("count", "y", "heat")]
    return Metric.EUCLIDEAN, random.choice(several)


def _make_columns(
    schema: StreamSchema, attributes: Sequence[str], per: str | None, random: Random
) -> tuple[tuple[str, str], ...]:
    """The PER column unless it is the key, the attributes, sometimes under another name, and sometimes one more."""
    columns = {per: per} if per is not None and per != schema.key else {}
    for name in attributes:
        columns[f"its_{name}" if name in columns or random.random() < 0.2 else name] = name
    more = random.choice([None, "zone", "heat", "count", "x"])
    if more is not None and more not in columns:
        columns[more] = more
    return tuple((str(name), str(column)) for name, column in columns.items())


def _make_points(metric: Metric, dimensions: int, random: Random) -> Points:
    if metric.ranks_values:
        return Points(np.zeros((1, 1)))
    if random.random() < 0.4:
        return Points(np.array([_coordinates(metric, dimensions, random)]))
    many = random.choice([1, 2, 2, 3, 5])
    of_strings = random.random() < 0.5
    ids: list[Any] = random.sample(["p1", "p2", "p3", "p4", "p5", "p6"] if of_strings else range(6), many)
    kind = STRING if of_strings else BIGINT
    return Points(
        np.array([_coordinates(metric, dimensions, random) for _ in ids]),
        Column.of(kind, ids),
    )


def _coordinates(metric: Metric, dimensions: int, random: Random) -> list[float]:
    if metric is Metric.GEOGRAPHIC:
        return list(_place(True, random))
    return [random.choice([-1.0, 0.0, 0.0, 0.5, 1.0, 2.0]) for _ in range(dimensions)]


def _other_points(points: Points, metric: Metric, random: Random) -> Points:
    """Some stay, some have moved, some are gone, some are new; in another order."""
    dimensions = points.coordinates.shape[1]
    if points.ids is None:
        return Points(np.array([_coordinates(metric, dimensions, random)]))
    old = dict(zip(points.ids.tolist(), points.coordinates.tolist(), strict=True))
    found: dict[Any, list[float]] = {}
    for name, at in old.items():
        kind = random.random()
        if kind < 0.75:
            found[name] = at if kind < 0.5 else _coordinates(metric, dimensions, random)
    everyone: list[Any] = ["p1", "p2", "p3", "p4", "p5", "p6"] if points.ids.type is STRING else [*range(6)]
    fresh = [name for name in everyone if name not in old]
    for name in random.sample(fresh, min(len(fresh), random.choice([0, 1, 2]) if found else 1)):
        found[name] = _coordinates(metric, dimensions, random)
    if not found:
        return points
    listed = random.sample(sorted(found), len(found))
    return Points(np.array([found[name] for name in listed]), Column.of(points.ids.type, listed))


def _shape(schema: StreamSchema, query: NearestQuery) -> int:
    """A number for the answer columns."""
    columns = (
        query.emission is Emission.EVERY,
        query.points.ids.type if query.points.ids is not None else None,
        query.metric.ranks_values,
        schema.types[schema.key] if schema.key is not None else None,
        tuple((name, schema.types[column]) for name, column in query.columns),
    )
    return _SHAPES.setdefault(columns, len(_SHAPES))


_SHAPES: dict[Any, int] = {}
