"""Operators as boxes: which may cover which, with their regions once per filter."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from headwater.model import Box, Circle, Filter, Operator, Polygon, Region
from headwater.protocols.cover import Exact, Pairwise, Probable, Verdict, box_of, candidates, comparable

S = 1_000_000
WAYS = [Pairwise(), Probable(1e-6), Probable(1e-6, estimate="paper"), Exact()]


def operator(*filters: Filter, **fields) -> Operator:
    return Operator("s", filters, within_us=30 * S, **fields)


def cover(way, tested: Operator, *others: Operator) -> Verdict:
    low, high, rows = candidates(tested, others)
    return way.covers(low, high, rows, seed=1)


def over(region: Region | None, attributes: str = "ab") -> Operator:
    return operator(*(Filter(attribute, 0, 10, region) for attribute in attributes))


def test_the_order_of_filters_and_keys_and_the_names_of_groups_do_not_matter():
    a, b = Filter("a", 0, 1, keys=("k", "l"), group=7), Filter("b", 2, 3, group=7)
    other = operator(replace(b, group=2), replace(a, keys=("l", "k", "l"), group=2))
    assert comparable(operator(a, b)) == comparable(other)
    assert hash(comparable(operator(a, b))) == hash(comparable(other))
    assert [list(ends) for ends in box_of(other)] == [list(ends) for ends in box_of(operator(a, b))]


@pytest.mark.parametrize(
    "other",
    [
        operator(Filter("a"), Filter("c")),
        operator(Filter("a"), Filter("b"), Filter("b")),
        operator(Filter("a"), Filter("b", keys=("k",))),
        operator(Filter("a"), Filter("b", needed=False)),
        operator(Filter("a"), Filter("b", returned=False)),
        operator(Filter("a", group=1), Filter("b", group=1)),
        operator(Filter("a"), Filter("b"), within_m=10.0),
        replace(operator(Filter("a"), Filter("b")), within_us=31 * S),
        operator(Filter("a"), Filter("b"), since=1),
    ],
)
def test_operators_of_another_make_or_a_later_start_take_no_part(other):
    tested = operator(Filter("a", 0, 1), Filter("b", 0, 1))
    assert len(candidates(tested, [other])[2].low) == 0
    assert not cover(Exact(), tested, other).covered


def test_an_earlier_start_takes_part():
    tested = operator(Filter("a", 0, 1), since=5)
    assert cover(Pairwise(), tested, operator(Filter("a", 0, 1), since=5)).covered
    assert cover(Pairwise(), tested, operator(Filter("a", 0, 1), since=4)).covered


@pytest.mark.parametrize("way", WAYS)
def test_regions_that_cover_together_do_not_cover_each_filter_on_its_own(way):
    """a at 2 and b at 8 match s and neither s1 nor s2: one copy of the region would not see it."""
    strip = [over(Box(west, 0, east, 1)) for west, east in ((0, 10), (0, 6), (4, 10))]
    assert not cover(way, *strip).covered


def test_with_one_filter_the_same_regions_do_cover():
    strip = [over(Box(west, 0, east, 1), "a") for west, east in ((0, 10), (0, 6), (4, 10))]
    assert cover(Exact(), *strip) == (True, "union")


def test_columns_of_places_are_left_out_where_no_row_has_a_bound():
    low, _, rows = candidates(over(Box(0, 0, 1, 1)), [over(None), over(Box(-1, -1, 2, 2))])
    assert len(low) == 2 and rows.low.shape == (2, 2)
    low, _, rows = candidates(over(Box(0, 0, 1, 1)), [over(None), over(Box(0.5, -1, 2, 2))])
    assert len(low) == 4 and rows.low.shape == (2, 4)


def test_a_filter_that_takes_nothing_and_is_not_needed_does_not_hide_the_others():
    nothing = Filter("b", 3, 2, needed=False)
    tested = operator(Filter("a", 0, 10), nothing)
    assert not cover(Exact(), tested).covered
    assert not cover(Exact(), tested, operator(Filter("a", 0, 5), Filter("b", 0, 1, needed=False))).covered
    assert cover(Exact(), tested, operator(Filter("a", 0, 10), Filter("b", needed=False))).covered
    nowhere = Filter("b", 0, 1, Box(1, 0, 0, 1), needed=False)
    assert not cover(Exact(), operator(Filter("a", 0, 10), nowhere)).covered
    assert cover(Exact(), operator(Filter("a", 3, 2), Filter("b"))) == (True, "empty")


NAN = math.nan
BIG = Circle(0, 0, 100)
FIELD = Polygon(((0, 0), (10, 0), (10, 10), (0, 10)))
BAY = Polygon(((0, 0), (10, 0), (10, 10), (5, 1), (0, 10)))
ALPS = Circle(8.0, 46.5, 100_000, geographic=True)
PACIFIC = Box(170, -20, -170, 20, geographic=True)


@pytest.mark.parametrize(
    ("inner", "outer", "covered"),
    [
        (None, None, True),
        (Box(0, 0, 1, 1), None, True),
        (None, Box(0, 0, 1, 1), False),
        (Box(0, 0, 1, 1), Box(0, 0, 1, 1), True),
        (Box(0, 0, 1, 1), Box(NAN, NAN, NAN, NAN), False),
        (BIG, BIG, True),
        (Circle(3, 4, 95), BIG, False),
        (Circle(3, 4, 94.9), BIG, True),
        (None, BIG, False),
        (BIG, Box(-101, -101, 101, 101), True),
        (BIG, Box(-99, -101, 101, 101), False),
        (Box(-60, -60, 60, 60), BIG, True),
        (Box(-80, -60, 60, 60), BIG, False),
        (Box(-math.inf, 0, 0, 1), BIG, False),
        (FIELD, BIG, True),
        (FIELD, Circle(0, 0, 14), False),
        (FIELD, FIELD, True),
        (BAY, FIELD, True),
        (FIELD, BAY, False),
        (Box(1, 1, 9, 9), FIELD, True),
        (Box(0, 0, 10, 10), FIELD, True),
        (Box(1, 1, 9, 9), BAY, False),
        (Circle(5, 5, 4.9), FIELD, True),
        (Circle(5, 5, 5.1), FIELD, False),
        (Circle(5, 5, 4), BAY, False),
        (FIELD, Box(0, 0, 10, 10), True),
        (Circle(8.1, 46.5, 90_000, geographic=True), ALPS, True),
        (Circle(8.1, 46.5, 93_000, geographic=True), ALPS, False),
        (Box(7.5, 46.0, 8.5, 47.0, geographic=True), ALPS, True),
        (Box(7.5, 45.0, 8.5, 47.0, geographic=True), ALPS, False),
        (Circle(8.0, 46.5, 100, geographic=False), ALPS, False),
        (PACIFIC, PACIFIC, True),
        (Box(175, -10, -175, 10, geographic=True), PACIFIC, True),
        (Box(165, -10, -175, 10, geographic=True), PACIFIC, False),
        (Box(175, -10, 180, 10, geographic=True), PACIFIC, True),
        (Box(-180, -10, -171, 10, geographic=True), PACIFIC, True),
        (Box(-171, -10, 171, 10, geographic=True), PACIFIC, False),
        (Box(160, -10, 175, 10, geographic=True), PACIFIC, False),
        (PACIFIC, Box(-180, -90, 180, 90, geographic=True), True),
        (PACIFIC, Box(170, -20, 180, 20, geographic=True), False),
        (Circle(180, 0, 500_000, geographic=True), PACIFIC, True),
        (PACIFIC, Circle(180, 0, 4_000_000, geographic=True), True),
        (PACIFIC, Circle(180, 0, 2_000_000, geographic=True), False),
        (Box(-180, -90, 180, 90, geographic=True), Circle(0, 0, 20_000_000, geographic=True), False),
    ],
)  # fmt: skip
def test_which_region_contains_which(inner, outer, covered):
    assert cover(Pairwise(), over(inner), over(outer)).covered is covered
    assert cover(Exact(), over(inner), over(outer)).covered is covered


def test_a_half_of_a_box_across_the_date_line_joins_a_union():
    tested = over(Box(150, -10, 178, 10, geographic=True), "a")
    assert cover(Exact(), tested, over(PACIFIC, "a"), over(Box(140, -10, 171, 10), "a")) == (True, "union")


def test_two_circles_are_never_seen_as_a_union():
    tested = over(Circle(0, 0, 1))
    assert not cover(Exact(), tested, over(Circle(-1, 0, 1.9)), over(Circle(1, 0, 1.9))).covered


def test_bounds_that_are_no_numbers_take_nothing():
    assert not cover(Exact(), over(None), operator(Filter("a", np.nan, 20), Filter("b"))).covered
