"""Small worlds for PREDICT in which everything that can touch, coincide or be missing does.

Few values, few slopes, few times: lines that are parallel or the same, that reach a bound just when a life ends, updates of one
time, tolerances that are as large as the bound, NULLs. All numbers are such that crossings fall on numbers that floats hold
exactly, so that touching is touching for the kernel too. So they are in worlds that are far from zero. In worlds of tenths and hundredths
floats hold none of them exactly, and what touches by the decimals that are written touches for the kernel all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.kernel import PredictKernel
from headwater.kernels.predict.question import Alias, Difference, Distance, PredictQuery, Value
from headwater.model import BEGINNING, SECOND, Column, ColumnType, Instant, Rows, StreamSchema, order_of
from tests.laws.correlate_worlds import Above
from tests.laws.oracles import predict as oracle

Row = dict[str, Any]

STRING, DOUBLE, BIGINT, TIMESTAMP = (
    ColumnType.STRING,
    ColumnType.DOUBLE,
    ColumnType.BIGINT,
    ColumnType.TIMESTAMP,
)


def _line(*dimensions: str) -> tuple[tuple[str, ColumnType], ...]:
    return tuple((name, DOUBLE) for one in dimensions for name in (one, f"{one}_slope"))


ONE = StreamSchema(
    "updates",
    (
        ("sensor", STRING),
        ("at", TIMESTAMP),
        *_line("x", "y"),
        ("tolerance", DOUBLE),
        ("heartbeat", DOUBLE),
        ("kind", BIGINT),
    ),
    time="at",
    key="sensor",
)
NUMBERED = replace(ONE, columns=(("sensor", BIGINT), *ONE.columns[1:]))
TWO = StreamSchema(
    "cars, posts",
    (
        ("time", TIMESTAMP),
        ("source", BIGINT),
        ("key", STRING),
        *_line("0.x", "0.y"),
        ("0.tolerance", DOUBLE),
        ("0.heartbeat", DOUBLE),
        *_line("1.x", "1.y"),
        ("1.tolerance", DOUBLE),
        ("1.heartbeat", DOUBLE),
    ),
    time="time",
    key="key",
)
CONDITIONS = (Above("kind", 0), Above("kind", 1))
ROW_CONDITIONS = [condition.of_row for condition in CONDITIONS]
VALUES = (-2.0, -1.0, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 4.0)
SLOPES = (-1.0, 0.0, 0.0, 0.0, 1.0, 1.0)
TOLERANCES = (0.0, 0.0, 0.0, 0.5, 0.5, 1.0)
HEARTBEATS = (0.5, 1.0, 2.0, 3.0, 5.0)
BOUNDS = (0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0)
WITHINS = (0, 0, 1, 2, 2, 4, 8)  # half seconds
HALF = SECOND // 2
TIMES = range(-6, 12)  # half seconds, so that some come before 1970
FAR = (
    (0.0, 1.0, 1.0), (0.0, 1.0, 1.0), (0.0, 1.0, 1.0), (4e10, 1.0, 1.0), (-5e6, 1.0, 1.0), (1e9, 0.02, 1.0),
    (24.0, 0.1, 0.1), (24.0, 0.01, 0.01),
)  # fmt: skip
"""From where values of a world are counted, and in what; and in what slopes, tolerances and differences are."""
FALLING = (Comparator.LESS_EQUAL, Comparator.LESS_EQUAL, Comparator.LESS)


@dataclass(frozen=True, repr=False)
class PredictWorld:
    """Queries over updates, and others that take their place."""

    schema: StreamSchema
    rows: Rows
    watermarks: Sequence[Instant]
    before: tuple[PredictQuery, ...]
    after: tuple[PredictQuery, ...]
    seed: int
    recipe: str = ""
    bounds: dict[Instant, int] = field(default_factory=dict, compare=False)  # what was worked out
    holds_back: bool = True  # the order of answers of one instant is nobody's promise
    shares_ids: bool = True

    def __repr__(self) -> str:
        return self.recipe

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

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> PredictKernel:
        return self.kernel_of(self.after if after_change else self.before, fast=fast)

    def kernel_of(self, queries: Sequence[PredictQuery], *, fast: bool = True) -> PredictKernel:
        """The kernel of some queries; not fast: without an index."""
        return PredictKernel(self.schema, queries, CONDITIONS, index=fast)

    def emitted(self, query: PredictQuery, since: Instant = BEGINNING) -> list[oracle.EmittedRow]:
        """What a query has to tell."""
        return oracle.emitted(self.schema, self.listed, query, ROW_CONDITIONS, since)

    def oracle(self, since: Instant, *, after_change: bool = False) -> dict[str, list[Row]]:
        raise NotImplementedError("ends are known to the microsecond only: see agree")

    def oracle_counts(self) -> Mapping[str, int]:
        missing = {
            f"not_updates:{query.name}": oracle.not_updates(self.schema, self.listed, query, ROW_CONDITIONS)
            for query in self.before
        }
        return {name: count for name, count in missing.items() if count}

    @cached_property
    def listed(self) -> list[Row]:
        """The rows, in order."""
        return self.rows.tolist()

    def stored(self, state: Any) -> int:
        """Lines of all sources, and answers of all queries."""
        opened = [part for part in (state.whole, state.by_place.everything) if part is not None]
        lines = sum(int(source.lines.stored.sum()) for part in opened for source in part.sources)
        pending = sum(query_state.pending.count for part in opened for query_state in part.queries)
        stores = (state.by_key.store, state.by_place.store)
        records = sum(int(some.offsets[-1]) for of in stores for some in of.everything().lists.values())
        return lines + pending + records

    def bound(self, watermark: Instant) -> int:
        """Lines that ended less than w ago, once a query (though queries may share them), and answers that are not over."""
        if watermark not in self.bounds:
            self.bounds[watermark] = self._bound(watermark)
        return self.bounds[watermark]

    def _bound(self, watermark: Instant) -> int:
        total = 0
        for query in self.before:
            updates = oracle.updates_of(self.schema, self.listed, query, ROW_CONDITIONS)
            came = [update for update in updates if update.time < watermark]
            lines = oracle.living(came)
            for source in {alias.source for alias in query.aliases}:
                mine = [line for line in lines if line.source == source]
                total += sum(line.end + query.within_us >= watermark for line in mine)
            found = oracle.Finder(query).answers(lines)
            total += sum(answer.ends + 1 >= watermark for answer in found)
        return total


def agree(rows_given: Sequence[Row], expected: Sequence[oracle.EmittedRow], query: PredictQuery) -> None:
    """Every row is one that is wanted, and the other way round; times to the microsecond, or as well as they are known."""
    left = list(expected)
    for row in rows_given:
        fitting = [one for one in left if _fits(row, one, query)]
        assert fitting, f"{query}\n told {row}\n not among {_mine(row, left, query)}"
        left.remove(next((one for one in fitting if one.sure), fitting[0]))
    missing = [one for one in left if one.sure]
    assert not missing, f"{query}\n not told {missing}"


def _fits(row: Row, one: oracle.EmittedRow, query: PredictQuery) -> bool:
    if _who(row, query) != one.who:
        return False
    begins_move, ends_move = one.answer.when.moves
    if one.answer.when.doubtful:
        return True
    near = (
        abs(row["begins"] - one.begins) <= 1 + begins_move
        and abs(row["ends"] - one.ends) <= 1 + ends_move
        and abs(row["event_time"] - one.event_time) <= 1 + max(begins_move, ends_move)
    )
    return near and _is_probable(row["probability"], one.answer.probability)


CHANCE_A_US = 1e-5
"""How much a probability may change in a microsecond: so well are ends known between which it is the best."""


def _is_probable(p: float | None, expected: tuple[float, float] | None) -> bool:
    if expected == oracle.UNSAID:
        return p is None or p == 1.0
    if expected is None or p is None:
        return expected is None and p is None
    return expected[0] - CHANCE_A_US <= p <= expected[1] + CHANCE_A_US


def _who(row: Row, query: PredictQuery) -> tuple[Any, ...]:
    if len(query.aliases) == 1:
        return (row["key"], row["update_time"]), row["withdrawn"]
    names = [alias.name for alias in query.aliases]
    return (*((row[f"{name}_key"], row[f"{name}_time"]) for name in names), row["withdrawn"])


def _mine(row: Row, emitted: Sequence[oracle.EmittedRow], query: PredictQuery) -> list[oracle.EmittedRow]:
    return [one for one in emitted if one.who[:-1] == _who(row, query)[:-1]]


# --- drawing ---------------------------------------------------------------------------------------------------------------


@st.composite
def worlds(draw: st.DrawFn, kind: str | None = None, emission: str | None = None) -> PredictWorld:
    """Worlds small enough for the oracle, made from a seed; Hypothesis draws it, and how much of it all there is."""
    seed = draw(st.integers(0, 1 << 64))
    queries = draw(st.sampled_from([1, 2, 3]))
    rows = draw(st.sampled_from([1, 2, 3, 4, 6, 8, 10, 12, 14]))
    return make_world(
        seed, queries=queries, rows=rows, watermarks=draw(st.integers(0, 3)), kind=kind, emission=emission
    )


def make_world(
    seed: int,
    *,
    queries: int = 2,
    rows: int = 10,
    watermarks: int = 2,
    kind: str | None = None,
    emission: str | None = None,
) -> PredictWorld:
    """A world from a seed and its sizes."""
    random = Random(seed)
    schema = random.choice([ONE, ONE, ONE, NUMBERED, TWO, TWO])
    before = tuple(make_query(schema, f"q{n}", random, kind, emission) for n in range(3))[:queries]
    after = [query if random.random() < 0.5 else make_query(schema, query.name, random) for query in before]
    after = [query for query in after if random.random() < 0.85]
    after.append(make_query(schema, "new", random))
    cuts = sorted(random.sample(range(TIMES.start, TIMES.stop + 12), watermarks))
    most = {"three": 7}.get(str(kind), rows)
    drawn = make_rows(schema, min(rows, most), random)
    shuffled = tuple(random.sample(after, len(after)))
    offset, unit, step = random.choice(FAR)
    if offset:
        drawn = _rows_from(offset, unit, step, drawn)
        before = tuple(_query_from(offset, unit, step, query) for query in before)
        shuffled = tuple(_query_from(offset, unit, step, query) for query in shuffled)
    recipe = f"make_world({seed}, {queries=}, {rows=}, {watermarks=}, {kind=}, {emission=})"
    return PredictWorld(schema, drawn, [cut * HALF for cut in cuts], before, shuffled, seed, recipe)


def _rows_from(offset: float, unit: float, step: float, rows: Rows) -> Rows:
    """The same updates elsewhere."""
    moved = {}
    for name, column in rows.columns.items():
        if name[-1] in "xy" and column.type is DOUBLE:
            column = Column(DOUBLE, _from(offset, unit, column.values), column.valid)
        elif name.endswith(("_slope", "tolerance")):
            column = Column(DOUBLE, _from(0.0, step, column.values), column.valid)
        moved[name] = column
    return Rows.of(moved)


def _from(offset: float, unit: float, numbers: Any) -> Any:
    """Numbers elsewhere, as somebody would write them: not 0.30000000000000004."""
    return offset + numbers if unit == 1.0 else np.round(offset + unit * numbers, 4)


def _query_from(offset: float, unit: float, step: float, query: PredictQuery) -> PredictQuery:
    """The same question elsewhere."""
    values, differences = partial(_from, offset, unit), partial(_from, 0.0, step)
    conditions = tuple(
        replace(one, bound=float((values if isinstance(one, Value) else differences)(one.bound)))
        for one in query.conditions
    )
    moved = replace(query, conditions=conditions, fingerprint="")
    return replace(moved, fingerprint=repr(replace(moved, name="", shape=0)))


def make_rows(schema: StreamSchema, count: int, random: Random) -> Rows:
    """Updates in the order of the stream; one in eight is as another one."""
    drawn: list[Row] = []
    for _ in range(count):
        again = bool(drawn) and random.random() < 1 / 8
        drawn.append(random.choice(drawn) if again else _make_row(schema, random))
    rows = Rows.of({name: Column.of(kind, [row[name] for row in drawn]) for name, kind in schema.columns})
    return rows.take(order_of(rows, schema.order))


def _make_row(schema: StreamSchema, random: Random) -> Row:
    keys: list[Any] = ["s1", "s2", "s3", "s10"] if schema.types[str(schema.key)] is STRING else [1, 2, 10]
    row: Row = dict.fromkeys(schema.types)
    row[str(schema.key)] = None if random.random() < 0.03 else random.choice(keys)
    row[schema.time] = random.choice(TIMES) * HALF
    mark = ""
    if schema is TWO:
        row["source"] = random.choice([0, 1])
        mark = f"{row['source']}."
    else:
        row["kind"] = random.choice([None, 0, 1, 1, 2, 2, 2])
    for name, choices in (
        ("x", VALUES),
        ("x_slope", SLOPES),
        ("y", VALUES),
        ("y_slope", SLOPES),
        ("tolerance", TOLERANCES),
        ("heartbeat", HEARTBEATS),
    ):
        row[mark + name] = None if random.random() < 0.02 else random.choice(choices)
    return row


KINDS = ("value", "value", "pair", "pair", "pair", "planes", "distance", "three", "odds")


def make_query(
    schema: StreamSchema, name: str, random: Random, kind: str | None = None, emission: str | None = None
) -> PredictQuery:
    """A query that the checker would let through."""
    kind = kind or random.choice(KINDS)
    certainty = random.choice([*Certainty, Certainty.LINE])
    if kind == "distance" and certainty is Certainty.PROBABILITY:
        certainty = Certainty.LINE
    if kind == "odds":
        certainty = Certainty.PROBABILITY
    dimensions = ("x", "y") if kind in ("planes", "distance", "odds") else random.choice([("x",), ("x", "y")])
    aliases = _make_aliases(schema, kind, dimensions, random)
    conditions = _make_conditions(kind, len(dimensions), len(aliases), certainty, random)
    emission = emission or random.choice(
        ["validated", "validated", "every", "tentative", "tentative", "ahead"]
    )
    drawn = PredictQuery(
        name=name,
        fingerprint="",
        shape=0,
        where=None if schema is TWO else random.choice([None, None, 0, 1]),
        aliases=aliases,
        conditions=conditions,
        within_us=random.choice(WITHINS) * HALF if len(aliases) > 1 else 0,
        certainty=certainty,
        p=random.choice([0.1, 0.3, 0.6, 0.9, 1.0]) if certainty is Certainty.PROBABILITY else 0.0,
        tentative=emission in ("tentative", "ahead"),
        ahead_us=random.choice([0, 1, 2, 4]) * HALF if emission == "ahead" else None,
        every_us=random.choice([1, 2, 3]) * HALF if emission == "every" else None,
        buffer=None,
        give_up=GiveUp.LEAST,
        seed=0,
        polygon=False,
        share=None,
    )
    drawn = replace(drawn, fingerprint=repr(replace(drawn, name="")))
    shape = (tuple(alias.name for alias in aliases), schema.types[str(schema.key)])
    return replace(drawn, shape=_SHAPES.setdefault(shape, len(_SHAPES)))


def _make_aliases(
    schema: StreamSchema, kind: str, dimensions: Sequence[str], random: Random
) -> tuple[Alias, ...]:
    many = {"value": 1, "three": 3}.get(kind, 2)
    names = [["a"], ["a", "b"], ["a", "b", "c"]][many - 1]
    if schema is not TWO:
        return tuple(_alias(name, None, "", dimensions) for name in names)
    places = [random.choice([0, 1])] if many == 1 else [0, 1, random.choice([0, 1])][:many]
    return tuple(
        _alias(name, place, f"{place}.", dimensions) for name, place in zip(names, places, strict=True)
    )


def _alias(name: str, source: int | None, mark: str, dimensions: Sequence[str]) -> Alias:
    values = tuple(mark + one for one in dimensions)
    slopes = tuple(f"{mark}{one}_slope" for one in dimensions)
    return Alias(name, source, values, slopes, f"{mark}tolerance", f"{mark}heartbeat")


def _make_conditions(
    kind: str, dimensions: int, aliases: int, certainty: Certainty, random: Random
) -> tuple[Value | Difference | Distance, ...]:
    made: list[Value | Difference | Distance] = []
    several = certainty is Certainty.PROBABILITY
    if kind == "value":
        for _ in range(random.choice([1, 1, 2])):
            made.append(_value(0, dimensions, random))
    elif kind == "distance":
        made.append(Distance(0, 1, random.random() < 0.3, random.choice(BOUNDS)))
    elif kind in ("planes", "odds"):
        for dimension in (0, 1):
            comparator = random.choice(FALLING) if several else random.choice(list(Comparator))
            made.append(Difference(0, dimension, 1, dimension, comparator, random.choice(BOUNDS)))
    else:
        pairs = [(0, 1)] if aliases == 2 else random.choice([[(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]])
        for left, right in pairs:
            pair = (right, left) if random.random() < 0.2 else (left, right)
            dimension = random.randrange(dimensions)
            comparator = random.choice([*Comparator, *FALLING])
            made.append(Difference(pair[0], dimension, pair[1], dimension, comparator, random.choice(BOUNDS)))
    if kind != "value":
        for _ in range(random.choice([0, 0, 0, 1, 2])):
            made.append(_value(random.randrange(aliases), dimensions, random))
    random.shuffle(made)
    return tuple(made)


def _value(alias: int, dimensions: int, random: Random) -> Value:
    comparator = random.choice(list(Comparator))
    return Value(alias, random.randrange(dimensions), comparator, random.choice([-1.0, 0.0, 0.5, 1.0, 2.0]))


_SHAPES: dict[Any, int] = {}
