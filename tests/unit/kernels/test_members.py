"""Members of operators, worked by hand: seconds along a line, one filter for each letter."""

import math

import numpy as np
import pytest

from headwater.kernels.correlate.members import MemberMatcher
from headwater.model import SECOND, Box, Filter, Operator, Readings, Source

A, B, C = Filter("a"), Filter("b"), Filter("c")


def readings(
    sources: list[Source], rows: list[tuple[str, float]], values: list[float] | None = None
) -> Readings:
    """Readings from ("attribute" or "attribute:key", seconds)."""
    names = {f"{source.attribute}:{source.key}": n for n, source in enumerate(sources)}
    source = [names[name if ":" in name else f"{name}:s"] for name, _ in rows]
    return Readings(
        np.array(source, np.int32),
        np.array([seconds * SECOND for _, seconds in rows], np.int64),
        np.zeros(len(rows)) if values is None else np.array(values),
        np.arange(len(rows), dtype=np.int64),
    )


def members(
    filters: list[Filter],
    rows: list[tuple[str, float]],
    *,
    within_s: int = 30,
    sources: list[Source] | None = None,
    values: list[float] | None = None,
    **options,
) -> list[str]:
    """The members of one operator, as "attribute" or "attribute:key" and seconds."""
    sources = sources or [Source("s", attribute) for attribute in "abc"]
    operator = Operator("q", tuple(filters), within_s * SECOND, **options)
    found = MemberMatcher().prepare([operator], sources).members(readings(sources, rows, values), each=True)
    assert found.shape == (1, len(rows))
    return [f"{name}@{seconds}" for (name, seconds), member in zip(rows, found[0], strict=True) if member]


def at(key: str, attribute: str, x: float, y: float = 0.0) -> Source:
    return Source(key, attribute, x, y)


def test_the_worked_example_of_correlate():
    rows = [("a", 0), ("b", 10), ("c", 29), ("a", 30), ("c", 45)]
    assert members([A, B, C], rows) == ["a@0", "b@10", "c@29", "a@30"]


@pytest.mark.parametrize(("later", "together"), [(29, True), (30, False), (31, False)])
def test_readings_a_whole_window_apart_do_not_belong_together(later: int, together: bool):
    assert members([A, B], [("a", 0), ("b", later)]) == (["a@0", f"b@{later}"] if together else [])


def test_neighbours_in_time_are_not_enough():
    assert members([A, B, C], [("a", 0), ("b", 20), ("c", 40)]) == []


def test_readings_of_one_instant_belong_together_in_any_order():
    for rows in (
        [("a", 5), ("b", 5), ("a", 5)],
        [("b", 5), ("a", 5), ("a", 5)],
        [("a", 5), ("a", 5), ("b", 5)],
    ):
        assert len(members([A, B], rows, within_s=1)) == 3


def test_a_reading_may_come_before_or_after_what_it_belongs_to():
    assert members([A, B], [("a", 0), ("b", 20), ("a", 40), ("a", 50)]) == ["a@0", "b@20", "a@40"]


def test_values_at_the_ends_of_an_interval_are_inside_and_nan_is_nowhere():
    rows = [("a", n) for n in range(5)]
    values = [0.99, 1.0, 2.0, 2.01, math.nan]
    assert members([Filter("a", 1.0, 2.0)], rows, values=values) == ["a@1", "a@2"]
    assert members([A], rows, values=values) == ["a@0", "a@1", "a@2", "a@3"]


def test_readings_before_since_do_not_count():
    rows = [("a", 0), ("b", 10), ("a", 20)]
    assert members([A, B], rows, since=0) == ["a@0", "b@10", "a@20"]
    assert members([A, B], rows, since=1) == ["b@10", "a@20"]
    assert members([A, B], rows, since=10 * SECOND + 1) == []


def test_a_needed_filter_that_is_not_returned_is_only_looked_at():
    only_looked_at = Filter("b", returned=False)
    assert members([A, only_looked_at], [("a", 0), ("b", 10), ("a", 50)]) == ["a@0"]


def test_a_filter_that_is_not_needed_joins_an_event_but_makes_none():
    optional = Filter("c", needed=False)
    assert members([A, B, optional], [("a", 0), ("c", 5), ("b", 10)]) == ["a@0", "c@5", "b@10"]
    assert members([A, B, optional], [("a", 0), ("b", 10)]) == ["a@0", "b@10"]
    assert members([A, B, optional], [("a", 0), ("c", 5)]) == []
    # c at 35 is near enough to b, but then a is too old.
    assert members([A, B, optional], [("a", 0), ("b", 10), ("c", 35)]) == ["a@0", "b@10"]


def test_filters_that_are_not_needed_do_not_help_one_another():
    optional = [Filter("b", needed=False), Filter("c", needed=False)]
    # Each is with a; that b and c are too far apart from one another is nothing to them.
    assert members([A, *optional], [("b", 0), ("a", 20), ("c", 40)]) == ["b@0", "a@20", "c@40"]


def test_without_needed_filters_every_returned_reading_is_a_member():
    filters = [Filter("a", needed=False), Filter("b", needed=False, returned=False)]
    assert members(filters, [("a", 0), ("b", 100), ("c", 200), ("a", 300)]) == ["a@0", "a@300"]


def test_a_needed_filter_that_nobody_serves_leaves_nothing():
    assert members([A, Filter("nothing")], [("a", 0)]) == []
    assert members([A, Filter("b", keys=("t",))], [("a", 0), ("b", 0)]) == []
    assert members([A, Filter("b", needed=False, keys=("t",))], [("a", 0), ("b", 0)]) == ["a@0"]


def test_no_filters_no_members():
    assert members([], [("a", 0)]) == []


def test_no_reading_serves_two_filters():
    low, high = Filter("a", 0.0, 2.0), Filter("a", 1.0, 3.0)
    assert members([low, high], [("a", 0)], values=[1.5]) == []
    assert members([low, high], [("a", 0), ("a", 1)], values=[1.5, 1.5]) == ["a@0", "a@1"]
    assert members([low, high], [("a", 0), ("a", 1)], values=[1.5, 0.5]) == ["a@0", "a@1"]
    assert members([low, high], [("a", 0), ("a", 1)], values=[0.5, 0.5]) == []


def test_a_filter_gives_way_to_one_that_has_no_other_choice():
    wide, narrow = Filter("a", 0.0, 9.0), Filter("a", 5.0, 5.0)
    assert members([wide, narrow], [("a", 0), ("a", 1), ("a", 2)], values=[5.0, 1.0, 2.0]) == [
        "a@0",
        "a@1",
        "a@2",
    ]


def test_a_reading_is_a_member_through_any_of_its_filters():
    looked_at = Filter("a", 0.0, 2.0, returned=False)
    asked_for = Filter("a", 1.0, 3.0, needed=False)
    rows = [("a", 0), ("a", 1)]
    assert members([looked_at, asked_for], rows, values=[1.5, 0.5]) == ["a@0"]
    assert members([looked_at, asked_for], rows[:1], values=[1.5]) == []


STATIONS = [Source(key, "a", x) for x, key in enumerate("rst")]


def test_filters_of_a_group_take_different_keys():
    two = [Filter("a", group=0)] * 2
    assert members(two, [("a:r", 0), ("a:r", 1)], sources=STATIONS) == []
    assert members(two, [("a:r", 0), ("a:r", 1), ("a:s", 2)], sources=STATIONS) == ["a:r@0", "a:r@1", "a:s@2"]
    assert members([Filter("a")] * 2, [("a:r", 0), ("a:r", 1)], sources=STATIONS) == ["a:r@0", "a:r@1"]


def test_a_group_across_attributes_takes_different_keys_too():
    sources = [Source("r", "a"), Source("r", "b"), Source("s", "b")]
    filters = [Filter("a", group=3), Filter("b", group=3)]
    assert members(filters, [("a:r", 0), ("b:r", 1)], sources=sources) == []
    assert members(filters, [("a:r", 0), ("b:r", 1), ("b:s", 2)], sources=sources) == ["a:r@0", "b:s@2"]


def test_places_exactly_as_far_apart_as_the_bound_are_too_far():
    sources = [at("r", "a", 0), at("s", "b", 3, 4)]
    rows = [("a:r", 0), ("b:s", 1)]
    assert members([A, B], rows, sources=sources, within_m=5.0) == []
    assert members([A, B], rows, sources=sources, within_m=5.1) == ["a:r@0", "b:s@1"]
    assert members([A, B], rows, sources=sources) == ["a:r@0", "b:s@1"]


def test_every_two_places_must_be_near():
    sources = [at("r", "a", 0), at("s", "b", 4), at("t", "c", 8), at("u", "c", 2)]
    chain = [("a:r", 0), ("b:s", 1), ("c:t", 2)]
    assert members([A, B, C], chain, sources=sources, within_m=5.0) == []
    assert members([A, B, C], [*chain, ("c:u", 3)], sources=sources, within_m=5.0) == [
        "a:r@0",
        "b:s@1",
        "c:u@3",
    ]


def test_one_that_joins_must_be_near_all_of_one_event():
    sources = [at("r", "a", 0), at("s", "b", 4), at("t", "c", 8), at("u", "a", 5)]
    filters = [A, B, Filter("c", needed=False)]
    rows = [("a:r", 0), ("b:s", 1), ("c:t", 2)]
    assert members(filters, rows, sources=sources, within_m=5.0) == ["a:r@0", "b:s@1"]
    assert len(members(filters, [*rows, ("a:u", 3)], sources=sources, within_m=5.0)) == 4


def test_the_way_across_the_date_line_is_short():
    sources = [at("r", "a", 179.999), at("s", "b", -179.999)]
    rows = [("a:r", 0), ("b:s", 1)]
    assert len(members([A, B], rows, sources=sources, within_m=300.0, geographic=True)) == 2
    assert members([A, B], rows, sources=sources, within_m=200.0, geographic=True) == []


def test_regions_and_keys_are_those_of_the_filter():
    sources = [at("r", "a", 0), at("s", "a", 5), at("t", "a", 9)]
    rows = [("a:r", 0), ("a:s", 1), ("a:t", 2)]
    assert members([Filter("a", region=Box(5, 0, 9, 0))], rows, sources=sources) == ["a:s@1", "a:t@2"]
    assert members([Filter("a", keys=("r", "t"))], rows, sources=sources) == ["a:r@0", "a:t@2"]
    both = Filter("a", region=Box(5, 0, 9, 0), keys=("r", "t"))
    assert members([both], rows, sources=sources) == ["a:t@2"]


def test_many_operators_at_once_and_any_of_them():
    sources = [Source("s", attribute) for attribute in "abc"]
    column = readings(sources, [("a", 0), ("b", 10), ("c", 20), ("a", 60)])
    operator_filters = [[A, B], [A], [Filter("c", needed=False)], [B, C], [A, Filter("b", low=1.0)]]
    operators = [Operator(str(n), tuple(filters), 30 * SECOND) for n, filters in enumerate(operator_filters)]
    matching = MemberMatcher().prepare(operators, sources)
    assert matching.members(column, each=True).astype(int).tolist() == [
        [1, 1, 0, 0],
        [1, 0, 0, 1],
        [0, 0, 1, 0],
        [0, 1, 1, 0],
        [0, 0, 0, 0],
    ]
    assert matching.members(column, each=False).tolist() == [[True] * 4]
    assert MemberMatcher().prepare(operators[3:], sources).members(column, each=False).astype(
        int
    ).tolist() == [[0, 1, 1, 0]]


def test_nothing_in_nothing_out():
    sources = [Source("s", "a")]
    none = readings(sources, [])
    operator = Operator("q", (A,), SECOND)
    assert MemberMatcher().prepare([operator], sources).members(none, each=True).shape == (1, 0)
    assert MemberMatcher().prepare([operator], []).members(none, each=False).shape == (1, 0)
    one = readings(sources, [("a", 0)])
    assert MemberMatcher().prepare([], sources).members(one, each=True).shape == (0, 1)
    assert MemberMatcher().prepare([], sources).members(one, each=False).tolist() == [[False]]


def test_more_filters_of_a_group_than_keys_is_seen_at_once():
    # Tried one by one these would be 11! ways to give 12 filters readings of 11 keys, for every reading.
    sources = [Source(f"k{n}", "a", n / 10) for n in range(12)]
    twelve = [Filter("a", low=float(-n), group=0) for n in range(12)]
    rows = [(f"a:k{n % 11}", n / 100) for n in range(110)]
    assert members(twelve, rows, sources=sources) == []
    assert members(twelve, rows, sources=sources, within_m=1.0) == []
    assert len(members(twelve, [*rows, ("a:k11", 2)], sources=sources)) == 111
