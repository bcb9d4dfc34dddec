"""The parts of the index: ranks of values, trees of ranges, grids of regions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.intervals import leaf_of, plant
from headwater.kernels.correlate.ranks import GREATEST, LEAST, NULL_RANK, range_of, ranks_of
from headwater.kernels.correlate.regions import Regions, different_places
from headwater.model import Box, Circle, Column, ColumnType, Polygon, strings

often = settings(max_examples=200, deadline=None, derandomize=True)
DOUBLE, BIGINT, BOOLEAN, TIMESTAMP = (
    ColumnType.DOUBLE,
    ColumnType.BIGINT,
    ColumnType.BOOLEAN,
    ColumnType.TIMESTAMP,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 1.5, -1.0])
ENDS = NUMBERS | st.sampled_from([-math.inf, math.inf])


def holds(interval: Interval, value: float) -> bool:
    above = value > interval.low or (value == interval.low and not interval.low_open)
    return above and (value < interval.high or (value == interval.high and not interval.high_open))


@often
@given(value=NUMBERS, low=ENDS, high=ENDS, low_open=st.booleans(), high_open=st.booleans())
def test_a_double_is_in_a_range_of_ranks_as_it_is_in_the_interval(value, low, high, low_open, high_open):
    interval = Interval(low, high, low_open, high_open)
    least, greatest = range_of(Clause("c", "c", interval), DOUBLE, ())
    (rank,) = ranks_of(Column.of(DOUBLE, [value])).tolist()
    assert (least <= rank <= greatest) == holds(interval, value)


@often
@given(
    value=st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-3, 3),
    low=ENDS,
    high=ENDS,
    low_open=st.booleans(),
    high_open=st.booleans(),
)
def test_a_whole_number_is_compared_without_rounding(value, low, high, low_open, high_open):
    interval = Interval(low, high, low_open, high_open)
    least, greatest = range_of(Clause("c", "c", interval), BIGINT, ())
    (rank,) = ranks_of(Column.of(BIGINT, [value])).tolist()
    assert (least <= rank <= greatest) == holds(interval, value)


def test_whole_numbers_beyond_what_a_double_can_tell_apart():
    least, greatest = range_of(Clause("c", "c", Interval(low=2.0**53, low_open=True)), BIGINT, ())
    assert (least, greatest) == (2**53 + 1, GREATEST)


def test_ranks_of_other_types():
    assert ranks_of(Column.of(BOOLEAN, [False, True, None])).tolist() == [0, 1, NULL_RANK]
    assert ranks_of(Column.of(TIMESTAMP, [5, None])).tolist() == [5, NULL_RANK]
    assert ranks_of(strings(["rain", None, "snow", "sun"]), ("rain", "sun")).tolist() == [0, NULL_RANK, -1, 1]
    assert ranks_of(strings(["rain"]), ("hail", "rain", "snow", "sun")).tolist() == [1]
    assert ranks_of(strings([]), ("rain",)).tolist() == []


def found(forest, tree: int, rank: int) -> list[int]:
    names, node = [], leaf_of.py_func(forest, tree, rank)
    while node >= 0:
        names += forest.ranges[forest.first_range[node] : forest.first_range[node + 1]].tolist()
        node = forest.above[node]
    return sorted(names)


RANKS = st.integers(-6, 6) | st.sampled_from([LEAST, GREATEST])


@often
@given(
    ranges=st.lists(st.tuples(st.integers(0, 3), RANKS, RANKS), max_size=30),
    searched=st.lists(RANKS, min_size=1, max_size=5),
)
def test_a_tree_finds_the_ranges_that_hold_a_value_and_no_others(ranges, searched):
    table = np.array(ranges, np.int64).reshape(-1, 3)
    forest = plant(table[:, 0], table[:, 1], table[:, 2], np.arange(len(ranges)), 4)
    for tree in range(4):
        for rank in [*searched, NULL_RANK]:
            expected = [n for n, (of, low, high) in enumerate(ranges) if of == tree and low <= rank <= high]
            assert found(forest, tree, rank) == expected


def test_a_forest_stays_small():
    count = 4096
    low = np.arange(count)
    forest = plant(np.zeros(count, np.int64), low, low + count, low, 1)
    assert len(forest.ranges) <= 2 * count * 14
    assert found(forest, 0, 4095) == list(range(4096))


REGIONS = [
    Circle(0.0, 0.0, 5.0),
    Circle(10.0, 0.0, 5.0),
    Box(-3.0, -3.0, 4.0, 4.0),
    Polygon(((0.0, 0.0), (20.0, 0.0), (0.0, 20.0))),
    Box(5.0, 5.0, 5.0, 5.0),
]
GLOBE = [
    Circle(180.0, 10.0, 300_000.0, geographic=True),
    Circle(30.0, 89.0, 500_000.0, geographic=True),
    Box(170.0, -20.0, -170.0, 20.0, geographic=True),
    Box(-180.0, -90.0, 180.0, -60.0, geographic=True),
    Polygon(((0.0, 0.0), (40.0, 0.0), (40.0, 40.0)), geographic=True),
]


@pytest.mark.parametrize("regions", [REGIONS, GLOBE, REGIONS[:1], []])
def test_a_grid_of_regions_knows_what_each_region_contains(regions):
    random = np.random.default_rng(3)
    reach = (180.0, 90.0) if regions is GLOBE else (25.0, 25.0)
    x, y = (random.uniform(-r, r, 2000) for r in reach)
    x[:1000], y[:1000] = np.round(x[:1000] / 5) * 5, np.round(y[:1000] / 5) * 5  # corners and borders
    places = different_places(x, y, np.ones(2000, np.bool_))
    first, held = Regions(regions).holding(places)
    for number, region in enumerate(regions):
        inside = [number in held[first[p] : first[p + 1]].tolist() for p in places.number.tolist()]
        assert inside == region.contains(x, y).tolist()
    assert np.array_equal(places.x[places.number], x) and np.array_equal(places.y[places.number], y)


def test_equal_places_have_one_number_and_no_place_has_none():
    x, y = np.array([1.0, 2.0, 1.0, 0.0, -0.0]), np.array([5.0, 5.0, 5.0, 0.0, 0.0])
    places = different_places(x, y, np.array([True, True, True, False, True]))
    assert places.number.tolist() == [0, 1, 0, -1, 2]
    assert list(zip(places.x.tolist(), places.y.tolist(), strict=True)) == [
        (1.0, 5.0),
        (2.0, 5.0),
        (0.0, 0.0),
    ]
