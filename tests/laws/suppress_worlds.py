"""Small worlds for SUPPRESS: few sensors, several samples of one time, NULLs, heartbeats and FORGET hit exactly, tolerances met or not.

Values are whole steps and a little noise, so that rounding alone never decides whether a sample is sent; where it could, the world
is thrown away (ties are in the unit tests, with numbers that are exact).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from random import Random
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from headwater.kernels.suppress.choices import Predictor
from headwater.kernels.suppress.kernel import SuppressKernel, SuppressState
from headwater.kernels.suppress.question import SuppressQuery
from headwater.model import BEGINNING, SECOND, Column, ColumnType, Instant, Rows, StreamSchema, order_of
from tests.laws.correlate_worlds import Above
from tests.laws.oracles import suppress as oracle

Row = dict[str, Any]

STRING, DOUBLE, BIGINT, TIMESTAMP = (
    ColumnType.STRING,
    ColumnType.DOUBLE,
    ColumnType.BIGINT,
    ColumnType.TIMESTAMP,
)
NAMED = StreamSchema(
    "cars",
    (("car", STRING), ("at", TIMESTAMP), ("x", DOUBLE), ("y", DOUBLE), ("z", DOUBLE), ("count", BIGINT)),
    time="at",
    key="car",
)
NUMBERED = replace(NAMED, columns=(("car", BIGINT), *NAMED.columns[1:]))
KEYLESS = replace(NAMED, key=None)
CONDITIONS = (Above("z", 0.0), Above("count", 0))
ROW_CONDITIONS = [condition.of_row for condition in CONDITIONS]
LEAST_MARGIN = Decimal("1e-7")


@dataclass(frozen=True)
class SuppressWorld:
    schema: StreamSchema
    rows: Rows
    watermarks: Sequence[Instant]
    before: tuple[SuppressQuery, ...]
    after: tuple[SuppressQuery, ...]
    seed: int
    holds_back: bool = False
    shares_ids: bool = False

    @property
    def queries(self) -> list[str]:
        return [query.name for query in self.before]

    @property
    def changed(self) -> list[str]:
        return [query.name for query in self.after]

    @property
    def replaced(self) -> list[str]:
        old = {query.name: query.fingerprint for query in self.before}
        return [q.name for q in self.after if q.name in old and q.fingerprint != old[q.name]]

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> SuppressKernel:
        return SuppressKernel(self.schema, self.after if after_change else self.before, CONDITIONS)

    @cached_property
    def listed(self) -> list[Row]:
        """The rows, in order."""
        return self.rows.tolist()

    def watched(
        self, since: Instant | None = None, *, after_change: bool = False
    ) -> dict[str, oracle.Watched]:
        """What the oracle says of every query. A world in which rounding may decide is none."""
        found = {
            query.name: oracle.watch(self.schema, self.listed, query, ROW_CONDITIONS, since)
            for query in (self.after if after_change else self.before)
        }
        assume(all(watched.least_margin > LEAST_MARGIN for watched in found.values()))
        return found

    def oracle(self, since: Instant, *, after_change: bool = False) -> dict[str, list[Row]]:
        expected: dict[str, list[Row]] = {name: [] for name in {*self.queries, *self.changed}}
        watched = self.watched(since, after_change=after_change)
        return expected | {name: found.sent for name, found in watched.items()}

    def oracle_counts(self) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for name, found in self.watched().items():
            counts[f"not_samples:{name}"] = found.not_samples
            counts[f"samples:{name}"] = found.samples
            counts[f"updates:{name}"] = len(found.sent)
        return {name: count for name, count in counts.items() if count}

    def stored(self, state: SuppressState) -> int:
        """Records of sensors, of all queries."""
        return sum(map(len, state.sensors))

    def bound(self, watermark: Instant) -> int:
        """For each query one record for every key with a sample that is not forgotten."""
        return sum(len(self._remembered(query, watermark)) for query in self.before)

    def _remembered(self, query: SuppressQuery, watermark: Instant) -> set[Any]:
        needed = (self.schema.key, *query.dimensions) if self.schema.key else query.dimensions
        since = watermark - query.forget_us if query.forget_us is not None else BEGINNING
        return {
            row[self.schema.key] if self.schema.key else None
            for row in self.listed
            if (query.where is None or ROW_CONDITIONS[query.where](row))
            and all(row[name] is not None for name in needed)
            and since <= row["at"] < watermark
        }


@st.composite
def worlds(draw: st.DrawFn) -> SuppressWorld:
    """Worlds over any of the schemas; Hypothesis draws a seed and how much of it all there is."""
    seed = draw(st.integers(0, 1 << 64))
    rows = draw(st.sampled_from([1, 3, 6, 10, 15, 20, 25, 30]))
    return make_world(seed, queries=draw(st.integers(1, 3)), rows=rows, watermarks=draw(st.integers(0, 3)))


@st.composite
def long_worlds(draw: st.DrawFn) -> SuppressWorld:
    """The same with more rows: rings are full, filters have settled."""
    return make_world(
        draw(st.integers(0, 1 << 64)), queries=2, rows=120, watermarks=draw(st.integers(0, 5)), until=80
    )


def make_world(seed: int, *, queries: int, rows: int, watermarks: int, until: int = 24) -> SuppressWorld:
    """A world from a seed and its sizes."""
    random = Random(seed)
    schema = random.choice([NAMED, NAMED, NUMBERED, KEYLESS])
    before = tuple(make_query(f"q{n}", random) for n in range(3))[:queries]
    after = [
        query if random.random() < 0.5 else make_query(query.name, random)
        for query in before
        if random.random() < 0.85
    ]
    after.append(make_query("new", random))
    cuts = sorted(random.sample(range(-4, until), watermarks))
    return SuppressWorld(
        schema,
        make_rows(schema, rows, random, until),
        [cut * SECOND for cut in cuts],
        before,
        tuple(random.sample(after, len(after))),
        seed,
    )


def make_query(name: str, random: Random) -> SuppressQuery:
    """A query that the checker would let through."""
    predictor = random.choice(list(Predictor))
    parameters: tuple[float, ...] = ()
    if predictor is Predictor.LEAST_SQUARES:
        parameters = (float(random.choice([2, 3, 4, 7])),)
    elif predictor is Predictor.DOUBLE_EXPONENTIAL:
        parameters = (random.choice([0.2, 0.5, 1.0]), random.choice([0.1, 0.4, 1.0]))
    elif predictor is Predictor.KALMAN:
        parameters = (random.choice([0.0, 0.1, 4.0]), random.choice([0.01, 1.0, 9.0]))
    dimensions = random.choice([("x",), ("x", "y"), ("x", "y"), ("y", "count", "x")])
    shape = sum(1 << "xyz".find(one) if one in "xyz" else 8 for one in dimensions)
    query = SuppressQuery(
        name,
        "",
        shape,
        random.choice([None, None, 0, 1]),
        dimensions,
        random.choice([0.0625, 1.0, 1.0, 2.0, 2.0, 5.0]),
        random.choice([1, 2, 5, 5, 9, 30]) * SECOND,
        predictor,
        parameters,
        random.choice([None, None, None, SECOND, 2 * SECOND + 250_000, 4 * SECOND, 9 * SECOND]),
    )
    return replace(query, fingerprint=repr(replace(query, name="")))


def make_rows(schema: StreamSchema, count: int, random: Random, until: int) -> Rows:
    """Rows in the order of the stream: sensors that rest, move and jump; one row in ten is as another one."""
    drawn: list[Row] = []
    speed = {car: (random.choice([0, 0, 1, -2]), random.choice([0, 1, 3])) for car in (1, 2, 3)}
    for _ in range(count):
        if drawn and random.random() < 0.1:
            drawn.append(random.choice(drawn))
            continue
        at, car = random.randrange(-4, until), random.choice([1, 2, 3])
        jump = random.choice([0, 0, 0, 1, 4])
        x, y = (s * at + jump + random.uniform(-0.5, 0.5) for s in speed[car])
        named = f"car-{car}" if schema.types["car"] is STRING else car
        drawn.append(
            {
                "car": None if random.random() < 0.05 else named,
                "at": at * SECOND + random.choice([0, 0, 0, 250_000]),
                "x": None if random.random() < 0.05 else x,
                "y": None if random.random() < 0.05 else y,
                "z": random.choice([-1.0, 1.0, 1.0, None]),
                "count": random.choice([0, 1, 1, 2, 5]),
            }
        )
    rows = Rows.of({name: Column.of(kind, [row[name] for row in drawn]) for name, kind in schema.columns})
    return rows.take(order_of(rows, schema.order))
