"""Small worlds for CORRELATE in which everything that can tie, touch or be missing does.

Few values, few times, few places: equal times and rows, values at the ends of ranges, δt and δl hit exactly, NULLs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.kernel import CorrelateKernel, CorrelateState
from headwater.kernels.correlate.match import Matches
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.kernels.correlate.subscription_table import UNLIMITED
from headwater.model import (
    SECOND,
    Box,
    Circle,
    Column,
    ColumnType,
    Instant,
    PlaceColumns,
    Polygon,
    Region,
    Rows,
    StreamSchema,
    order_of,
)
from tests.laws.oracles import correlate as oracle

STRING, DOUBLE, BIGINT, TIMESTAMP = (
    ColumnType.STRING,
    ColumnType.DOUBLE,
    ColumnType.BIGINT,
    ColumnType.TIMESTAMP,
)

PLANE = StreamSchema(
    "weather",
    (
        ("station", STRING),
        ("at", TIMESTAMP),
        ("x", DOUBLE),
        ("y", DOUBLE),
        ("heat", DOUBLE),
        ("count", BIGINT),
        ("sky", STRING),
    ),
    time="at",
    key="station",
    place=PlaceColumns("x", "y"),
)
GLOBE = replace(PLANE, place=PlaceColumns("x", "y", geographic=True))
NUMBERED = replace(PLANE, columns=(("station", BIGINT), *PLANE.columns[1:]))
NOWHERE = replace(PLANE, place=None)
KEYLESS = replace(PLANE, key=None)

# Places in the plane are 3, 4 and 5 metres apart, on both sides of zero; on the globe about a kilometre, across the date line
# and at a pole.
PLANE_PLACES = [(-1.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-1.0, 2.0), (29.0, -2.0)]
GLOBE_PLACES = [(180.0, 0.0), (-180.0, 0.0), (179.995, 0.0), (-179.995, 0.0), (0.0, 90.0), (90.0, 89.995)]
PLANE_REGIONS: list[Region] = [
    Circle(-1.0, -2.0, 3.0),
    Circle(2.0, 2.0, 4.5),
    Box(-1.0, -2.0, 2.0, 0.0),
    Polygon(((-1.0, -2.0), (5.0, -2.0), (-1.0, 6.0))),
    Polygon(((-2.0, -3.0), (3.0, -3.0), (3.0, 3.0), (0.0, -1.0))),
]
GLOBE_REGIONS: list[Region] = [
    Circle(180.0, 0.0, 600.0, geographic=True),
    Circle(0.0, 90.0, 1000.0, geographic=True),
    Box(179.99, -1.0, -179.999, 1.0, geographic=True),
    Polygon(((179.0, -1.0), (180.0, -1.0), (180.0, 1.0), (179.0, 1.0)), geographic=True),
]


@dataclass(frozen=True)
class Above:
    """A row condition: a column is above a number."""

    column: str
    number: float

    def __call__(self, rows: Rows) -> Any:
        return rows[self.column].is_valid & (rows[self.column].values > self.number)

    def of_row(self, row: dict[str, Any]) -> bool:
        return row[self.column] is not None and row[self.column] > self.number


CONDITIONS = (Above("heat", 0.5), Above("count", 0))


@dataclass(frozen=True)
class CorrelateWorld:
    """Subscriptions over rows, and others that take their place."""

    schema: StreamSchema
    rows: Rows
    watermarks: Sequence[Instant]
    before: tuple[Subscription, ...]
    after: tuple[Subscription, ...]
    seed: int
    holds_back: bool = False
    shares_ids: bool = False

    @property
    def queries(self) -> list[str]:
        return [s.name for s in self.before]

    @property
    def changed(self) -> list[str]:
        return [s.name for s in self.after]

    @property
    def replaced(self) -> list[str]:
        old = {s.name: s for s in self.before}
        return [s.name for s in self.after if s.name in old and s != old[s.name]]

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> CorrelateKernel:
        kernel = CorrelateKernel(self.schema, self.after if after_change else self.before, CONDITIONS)
        if not fast:
            kernel.matcher = _Scan(kernel)  # type: ignore[assignment]
            kernel.table = kernel.table._replace(  # all matches of all sensors in one list, none left out
                class_keep=np.full_like(kernel.table.class_keep, self.rows.count),
                class_reach=np.zeros_like(kernel.table.class_reach),
                most=np.full_like(kernel.table.most, UNLIMITED),
            )
            if self.rows.count < 20:  # without this the search may take as long as it is feared to
                kernel.table = kernel.table._replace(exchangeable=np.zeros_like(kernel.table.exchangeable))
        return kernel

    def oracle(self, since: Instant, *, after_change: bool = False) -> dict[str, list[dict[str, Any]]]:
        rows = [row for row in self.rows.tolist() if row[self.schema.time] >= since]
        expected: dict[str, list[dict[str, Any]]] = {name: [] for name in {*self.queries, *self.changed}}
        for s in self.after if after_change else self.before:
            expected[s.name] = oracle.answers(self.schema, rows, s, [c.of_row for c in CONDITIONS])
        return expected

    def oracle_counts(self) -> Mapping[str, int]:
        rows, conditions = self.rows.tolist(), [c.of_row for c in CONDITIONS]
        cuts = sum(oracle.cuts(self.schema, rows, s, conditions) for s in self.before)
        return {"limit_cuts": cuts} if cuts else {}

    def stored(self, state: CorrelateState) -> int:
        return max(state.window.end - state.window.first, sum(c.rows.count for c in state.log.chunks))

    def bound(self, watermark: Instant) -> int:
        """Rows of the longest δt that match some clause; tests make chunks so small that they are dropped at once."""
        longest = max(s.within_us for s in self.before)
        return sum(
            watermark - longest < row["at"] < watermark
            and any(
                (s.where is None or CONDITIONS[s.where].of_row(row))
                and oracle.matches(self.schema, row, s, c)
                for s in self.before
                for c in s.clauses
            )
            for row in self.rows.tolist()
        )


class _Scan:
    """A matcher that tries every class on every row."""

    def __init__(self, kernel: CorrelateKernel) -> None:
        self.kernel, self.conditions = kernel, kernel.matcher.conditions

    def match(self, rows: Rows) -> Matches:
        contents, schema = self.kernel.contents, self.kernel.schema
        found = []
        for n, row in enumerate(rows.tolist()):
            for number, wanted in enumerate(contents.ranges):
                # Any subscription and clause of the class says the same about a row.
                s, clause = _asker(self.kernel, number)
                scope = contents.scopes[wanted.scope]
                placed = not scope.area or None not in (row["x"], row["y"])
                keyed = not scope.keyed or (schema.key is not None and row[schema.key] is not None)
                allowed = s.where is None or CONDITIONS[s.where].of_row(row)
                if placed and keyed and allowed and oracle.matches(schema, row, s, clause):
                    found.append((n, number))
        table = np.array(found, np.int64).reshape(-1, 2)
        return Matches(table[:, 0].copy(), table[:, 1].copy())


def _asker(kernel: CorrelateKernel, number: int) -> tuple[Subscription, Clause]:
    book = kernel.table
    clause = int(np.flatnonzero(book.clause_class == number)[0])
    s = int(np.searchsorted(book.first_clause, clause, side="right")) - 1
    return kernel.subscriptions[s], kernel.subscriptions[s].clauses[clause - int(book.first_clause[s])]


SCHEMAS = (PLANE, PLANE, GLOBE, NUMBERED, NOWHERE, KEYLESS)


@st.composite
def worlds(draw: st.DrawFn) -> CorrelateWorld:
    """Worlds over any of the schemas, small enough for the oracle.

    All is made from one seed with weights of our own, so that many subscriptions have answers. Hypothesis draws the seed,
    and how much of it all there is: a failing world is made small by having less of it.
    """
    seed = draw(st.integers(0, 1 << 64))
    random = Random(seed)
    schema = random.choice(SCHEMAS)
    before = tuple(make_subscription(schema, f"q{n}", random.getrandbits(32)) for n in range(3))
    before = before[: draw(st.sampled_from([1, 2, 3, 3, 3]))]
    remaining = [s for s in before if random.random() < 0.5]
    names = {s.name for s in remaining}
    others = [
        make_subscription(schema, f"q{n}", random.getrandbits(32)) for n in range(3) if f"q{n}" not in names
    ]
    after = random.sample([*remaining, *others], len(remaining) + len(others))
    seeds = [random.getrandbits(32) for _ in range(12)]
    seeds += random.choices(seeds, k=2)
    rows = make_rows(
        schema, seeds[: draw(st.sampled_from([1, 3, 6, 9, 10, 11, 12, 12, 13, 13, 14, 14, 14, 14]))]
    )
    watermarks = sorted(random.sample(range(1, 9), draw(st.integers(0, 3))))
    return CorrelateWorld(schema, rows, [w * SECOND for w in watermarks], before, tuple(after), seed)


@st.composite
def long_worlds(draw: st.DrawFn) -> CorrelateWorld:
    """Worlds with too many rows for the oracle: windows fill, tables grow, old matches come to their end."""
    seed = draw(st.integers(0, 1 << 32))
    random = Random(seed)
    schema = random.choice(SCHEMAS)
    before = tuple(_bounded(make_subscription(schema, f"q{n}", random.getrandbits(32))) for n in range(4))
    after = tuple(_bounded(make_subscription(schema, f"q{n}", random.getrandbits(32))) for n in range(2))
    rows = make_rows(schema, [random.getrandbits(32) for _ in range(draw(st.integers(1, 150)))], seconds=100)
    watermarks = sorted(random.sample(range(1, 100), draw(st.integers(0, 6))))
    return CorrelateWorld(schema, rows, [w * SECOND for w in watermarks], before, after + before[2:], seed)


def _bounded(subscription: Subscription) -> Subscription:
    """With a LIMIT, if it is ALL: over many rows there is no end to it otherwise."""
    return (
        subscription
        if subscription.emit is not Emit.ALL
        else replace(subscription, limit=subscription.limit or 3)
    )


def make_rows(schema: StreamSchema, seeds: Sequence[int], seconds: int = 8) -> Rows:
    """One row a seed, in the order of the stream; equal seeds give equal rows."""
    drawn = [_make_row(schema, Random(seed), seconds) for seed in seeds]
    rows = Rows.of({name: Column.of(kind, [row[name] for row in drawn]) for name, kind in schema.columns})
    return rows.take(order_of(rows, schema.order))


def _make_row(schema: StreamSchema, random: Random, seconds: int) -> dict[str, Any]:
    keys: list[Any] = [1, 2, 3] if schema.types["station"] is BIGINT else ["s1", "s2", "s3"]
    places = GLOBE_PLACES if schema.place and schema.place.geographic else PLANE_PLACES
    x, y = (None, None) if random.random() < 0.05 else random.choice(places)
    return {
        "station": None if random.random() < 0.05 else random.choice(keys),
        "at": random.randrange(seconds) * SECOND,
        "x": x,
        "y": y,
        "heat": None if random.random() < 0.07 else random.choice([-0.0, 0.0, 1.0, 2.0]),
        "count": None if random.random() < 0.1 else random.choice([0, 1, 2]),
        "sky": None if random.random() < 0.1 else random.choice(["clear", "rain"]),
    }


def make_subscription(schema: StreamSchema, name: str, seed: int) -> Subscription:
    """A subscription that the checker would let through."""
    random = Random(seed)
    clauses = _make_clauses(schema, random)
    geographic = schema.place is not None and schema.place.geographic
    regions = GLOBE_REGIONS if geographic else PLANE_REGIONS
    distances = [600.0, 1200.0, 5000.0] if geographic else [3.0, 4.0, 4.5, 5.0, 6.0]
    area = random.choice(["none", "none", "region", "region", "sensors"])
    emit = random.choice(list(Emit))
    drawn = Subscription(
        name=name,
        fingerprint="",
        shape=0,
        clauses=clauses,
        within_us=random.choice([1, 2, 3, 4, 5, 6, 6, 6, 20]) * SECOND,
        within_m=random.choice(distances) if schema.place and random.random() < 0.35 else None,
        region=random.choice(regions) if schema.place and area == "region" else None,
        sensors=random.choice(_key_lists(schema)) if schema.key and area == "sensors" else None,
        distinct_sensors=schema.key is not None and random.random() < 0.25,
        emit=emit,
        limit=random.choice([None, 1, 2, 5]) if emit is Emit.ALL else None,
        where=random.choice([None, None, None, None, 0, 1]),
    )
    return replace(drawn, fingerprint=repr(drawn), shape=_shape(schema, drawn))


def _make_clauses(schema: StreamSchema, random: Random) -> tuple[Clause, ...]:
    """One to four clauses, some of them made from `n OF`."""
    clauses: list[Clause] = []
    for group in range(random.choice([1, 2, 2, 3, 3])):
        attribute = random.choice(["heat", "heat", "count", "sky"])
        interval, text = None, None
        if attribute == "sky":
            text = random.choice(["clear", "rain", "rain", "hail"])
        elif random.random() < 0.6:
            interval = Interval(low=random.choice([0.0, 0.5]), low_open=random.random() < 0.3)
        else:
            low, high = sorted(random.choice([-1.0, 0.0, 0.5, 1.0, 2.0]) for _ in range(2))
            interval = Interval(low, high, random.random() < 0.2, random.random() < 0.2)
        keys = _key_lists(schema)[0] if schema.key else ()
        sensor = random.choice(keys) if keys and random.random() < 0.2 else None
        count = random.choice([1, 1, 1, 2, 3]) if schema.key and sensor is None else 1
        for n in range(min(count, 4 - len(clauses))):
            clauses.append(Clause(f"c{group}_{n}", attribute, interval, text, sensor, group))
    return tuple(clauses)


def _key_lists(schema: StreamSchema) -> list[tuple[Any, ...]]:
    if schema.types["station"] is BIGINT:
        return [(1, 2), (2,), (1, 3, 4)]
    return [("s1", "s2"), ("s2",), ("s1", "s3", "s4")]


def _shape(schema: StreamSchema, subscription: Subscription) -> int:
    """A number for the answer columns."""
    if subscription.emit is Emit.READINGS:
        return 0
    columns = tuple((clause.name, schema.types[clause.attribute]) for clause in subscription.clauses)
    return _SHAPES.setdefault(columns, len(_SHAPES) + 1)


_SHAPES: dict[Any, int] = {}
