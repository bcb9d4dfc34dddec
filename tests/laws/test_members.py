"""The members of operators against their definition, and the laws that nodes of a network rely on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.members import MemberMatcher
from headwater.kernels.correlate.shapes import SourceSets
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.model import (
    BEGINNING,
    ColumnType,
    Filter,
    Operator,
    PlaceColumns,
    Readings,
    Source,
    StreamSchema,
)
from headwater.model.network_operators import UNGROUPED
from tests.laws.correlate_worlds import GLOBE_PLACES, GLOBE_REGIONS, PLANE_PLACES, PLANE_REGIONS
from tests.laws.draws import bounded
from tests.laws.oracles import correlate, members

ATTRIBUTES = ("heat", "wind", "rain")
SEEDS = st.integers(0, 2**32)
INTERVALS = (
    (0.0, 2.0),
    (0.0, 2.0),
    (0.0, 1.0),
    (1.0, 2.0),
    (0.5, 1.5),
    (-math.inf, math.inf),
    (2.0, 2.0),
    (1.0, 0.0),
)
KEYS = ("k0", "k1", "k2", "k3")
VALUES = (0.0, 1.0, 2.0)
PLANE_METERS = (None, None, 3.0, 4.0, 5.5)  # places in the plane are exactly 3 and 4 apart
GLOBE_METERS = (None, 700.0, 1300.0)


@dataclass(frozen=True)
class World:
    """Operators over readings of sources."""

    geographic: bool
    sources: tuple[Source, ...]
    readings: Readings
    operators: tuple[Operator, ...]

    def members(self, *, each: bool = True) -> np.ndarray:
        return MemberMatcher().prepare(self.operators, self.sources).members(self.readings, each=each)


def readings_of(rows: list[tuple[int, int, float]]) -> Readings:
    """Readings from (time, source, value), by time."""
    rows = sorted(rows, key=lambda row: row[0])
    return Readings(
        np.array([source for _, source, _ in rows], np.int32),
        np.array([time for time, _, _ in rows], np.int64),
        np.array([value for _, _, value in rows], np.float64),
        np.arange(len(rows), dtype=np.int64),
    )


def small_world(seed: int) -> World:
    """Few of everything, and all kinds of operators. Few attributes in one, so that filters often want the same readings."""
    random = Random(seed)
    geographic = random.random() < 0.4
    places = GLOBE_PLACES if geographic else PLANE_PLACES
    pairs = [(key, attribute) for key in KEYS for attribute in ATTRIBUTES]
    named = random.sample(pairs, random.randint(2, 7))
    sources = tuple(Source(key, attribute, *random.choice(places)) for key, attribute in named)
    rows = [
        (random.randint(0, 4), random.randrange(len(sources)), random.choice([*VALUES, *VALUES, np.nan]))
        for _ in range(random.choice([0, 5, 7, 8, 9]))
    ]
    there = sorted({source.attribute for source in sources})
    attributes = random.choice([there, there[:2], there[:1]])

    def some_operator() -> Operator:
        count = random.randint(1, 4)
        filters = [_some_filter(random, attributes, geographic=geographic) for _ in range(count)]
        metres = random.choice(GLOBE_METERS if geographic else PLANE_METERS)
        since = random.choice([BEGINNING, BEGINNING, 1, 3])
        return Operator("s", tuple(filters), random.randint(1, 5), metres, geographic, since)

    operators = tuple(some_operator() for _ in range(random.randint(1, 3)))
    return World(geographic, sources, readings_of(rows), operators)


def _some_filter(random: Random, attributes: Sequence[str], *, geographic: bool) -> Filter:
    return Filter(
        random.choice(attributes),
        *random.choice(INTERVALS),
        region=random.choice([None] * 15 + (GLOBE_REGIONS if geographic else PLANE_REGIONS)),
        keys=random.choice([*[None] * 12, KEYS[:1], KEYS[1:3], KEYS[:3], ("nobody",)]),
        needed=random.random() < 0.75,
        returned=random.random() < 0.75,
        group=random.choice([UNGROUPED, UNGROUPED, 0, 7]),
    )


def long_world(seed: int) -> World:
    """More readings, fewer filters: windows that come and go, many readings of one source."""
    random = Random(seed)
    sources = tuple(
        Source(key, attribute, *random.choice(PLANE_PLACES)) for key in KEYS for attribute in ATTRIBUTES
    )
    some = random.sample(range(len(sources)), random.choice([2, 5, 12]))
    span = random.choice([15, 40])
    rows = [(random.randrange(span), random.choice(some), random.choice(VALUES)) for _ in range(24)]
    attributes = random.choice([ATTRIBUTES, ATTRIBUTES[:1]])

    def some_filter() -> Filter:
        low, high = random.choice([(0.0, 2.0), (0.0, 1.0), (1.0, 2.0), (1.0, 1.0)])
        flags = {"needed": random.random() < 0.8, "returned": random.random() < 0.8}
        return Filter(random.choice(attributes), low, high, group=random.choice([UNGROUPED, 0]), **flags)

    def some_operator() -> Operator:
        chosen = [some_filter() for _ in range(random.choice([2, 3]))]
        if random.random() < 0.4:
            chosen[1:] = [chosen[0]] * (len(chosen) - 1)
        return Operator("s", tuple(chosen), random.choice([2, 5, 9]), random.choice(PLANE_METERS))

    return World(False, sources, readings_of(rows), (some_operator(), some_operator()))


def small_worlds() -> st.SearchStrategy[World]:
    return SEEDS.map(small_world)


def any_worlds() -> st.SearchStrategy[World]:
    return SEEDS.map(lambda seed: long_world(seed) if seed % 2 else small_world(seed))


def check_against_the_definition(world: World) -> None:
    found = world.members()
    assert found.shape == (len(world.operators), len(world.readings.time))
    for operator, of_operator in zip(world.operators, found, strict=True):
        assert set(np.flatnonzero(of_operator)) == members.members(operator, world.sources, world.readings)


@bounded(2000)
@given(world=small_worlds())
def test_members_are_those_of_the_definition(world: World):
    check_against_the_definition(world)


@bounded(500)
@given(world=SEEDS.map(long_world))
def test_members_are_those_of_the_definition_over_many_readings(world: World):
    check_against_the_definition(world)


@bounded(300)
@given(world=any_worlds())
def test_any_of_them_is_the_union_of_each(world: World):
    assert np.array_equal(world.members(each=False), world.members().any(axis=0, keepdims=True))


@bounded(300)
@given(world=any_worlds(), seed=SEEDS)
def test_more_readings_never_take_a_member_away(world: World, seed: int):
    random = Random(seed)
    subset = np.array([random.random() < 0.6 for _ in world.readings.time], np.bool_)
    fewer = replace(world, readings=Readings(*(column[subset] for column in world.readings)))
    assert not np.any(fewer.members() & ~world.members()[:, subset])


@bounded(300)
@given(world=any_worlds(), seed=SEEDS)
def test_the_order_of_operators_and_filters_and_of_readings_at_one_time_does_not_matter(
    world: World, seed: int
):
    random = Random(seed)
    order = random.sample(range(len(world.operators)), len(world.operators))
    operators = [world.operators[n] for n in order]
    operators = [replace(o, filters=tuple(random.sample(o.filters, len(o.filters)))) for o in operators]
    ties = np.lexsort((np.array([random.random() for _ in world.readings.time]), world.readings.time))
    other = replace(
        world, operators=tuple(operators), readings=Readings(*(column[ties] for column in world.readings))
    )
    assert np.array_equal(other.members(), world.members()[order][:, ties])


@bounded(200)
@given(world=small_worlds())
def test_nothing_given_is_modified_and_matching_again_gives_the_same(world: World):
    before = [column.copy() for column in world.readings]
    for column in world.readings:
        column.flags.writeable = False
    matching = MemberMatcher().prepare(world.operators, world.sources)
    once = matching.members(world.readings, each=True)
    for column, copy in zip(world.readings, before, strict=True):
        assert np.array_equal(column, copy, equal_nan=True)
    matching.members(world.readings, each=False)
    assert np.array_equal(matching.members(world.readings, each=True), once)


@bounded(300)
@given(world=small_worlds())
def test_a_filter_takes_the_sources_that_it_says(world: World):
    sets = SourceSets(world.sources)
    for f in (f for operator in world.operators for f in operator.filters):
        takes = [n for n, source in enumerate(world.sources) if f.takes(source)]
        assert sets.sets[sets.number_of(f)].tolist() == takes


def whole_query(seed: int) -> tuple[World, Subscription]:
    """A query of the language, and the same as one operator."""
    random, world = Random(seed), small_world(seed)
    region = random.choice([*[None] * 9, *(GLOBE_REGIONS if world.geographic else PLANE_REGIONS)])
    distinct = random.random() < 0.3
    there = sorted({source.attribute for source in world.sources})
    clauses: list[Clause] = []
    filters: list[Filter] = []
    for group in range(random.randint(1, 3)):
        low, high = random.choice(INTERVALS)
        attribute, key = random.choice(there), random.choice([*[None] * 9, *KEYS])
        times = random.choice([1, 1, 2]) if key is None else 1
        clauses += [Clause(f"c{group}", attribute, Interval(low, high), sensor=key, group=group)] * times
        bound = {"keys": (key,)} if key else {"region": region}
        filters += [Filter(attribute, low, high, group=0 if distinct else group, **bound)] * times
    operator = replace(world.operators[0], filters=tuple(filters), since=BEGINNING)
    within = operator.within_us, operator.within_m
    query = Subscription(
        "s", "", 0, tuple(clauses), *within, region, distinct_sensors=distinct, emit=Emit.READINGS
    )
    return replace(world, operators=(operator,)), query


@bounded(1000)
@given(pair=SEEDS.map(whole_query))
def test_a_whole_query_has_the_readings_of_correlate(pair: tuple[World, Subscription]):
    world, query = pair
    double = ColumnType.DOUBLE
    columns = (("key", ColumnType.STRING), ("at", ColumnType.TIMESTAMP), ("x", double), ("y", double))
    attributes = tuple((name, double) for name in ATTRIBUTES)
    place = PlaceColumns("x", "y", geographic=world.geographic)
    schema = StreamSchema("weather", columns + attributes, time="at", key="key", place=place)
    rows = []
    for n, source in enumerate(world.sources[p] for p in world.readings.source):
        value = float(world.readings.value[n])
        row = {"key": source.key, "at": int(world.readings.time[n]), "x": source.x, "y": source.y}
        rows.append(row | dict.fromkeys(ATTRIBUTES) | {source.attribute: None if np.isnan(value) else value})
    definition = correlate.answers(schema, rows, query)
    expected = sorted((row["reading_time"], row["key"], row["attribute"], row["value"]) for row in definition)
    found = np.flatnonzero(world.members()[0]).tolist()
    sources = [world.sources[world.readings.source[n]] for n in found]
    assert expected == sorted(
        (int(world.readings.time[n]), source.key, source.attribute, float(world.readings.value[n]))
        for n, source in zip(found, sources, strict=True)
    )
