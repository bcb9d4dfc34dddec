"""The geometry of PREDICT: the paper's examples, and the cases in which a polygon is a point, a segment or nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.geometry import (
    Join,
    Lines,
    Single,
    chances,
    join_interval,
    join_may,
    join_of,
    join_polygon,
    join_probability,
    pieces_of,
    reach,
    single_of,
    value_interval,
    value_pieces_of,
    value_probability,
    workspace,
)
from headwater.kernels.predict.question import Alias, Difference, Distance, PredictQuery, Value

SECOND = 1_000_000
BASE = 1_790_000_000 * SECOND
NO_WHOLE, NO_REAL = np.zeros(0, np.int64), np.zeros(0)

LE, LT, GE, GT, EQ, NE = Comparator


def line(value, slope, life=(0, 100), tolerance: float = 0.0) -> Lines:
    """One line; one dimension may be given without brackets. Seconds."""
    start, end = (np.array([BASE + round(time * SECOND)]) for time in life)
    return Lines(
        start,
        start,
        end,
        np.atleast_1d(np.asarray(value, np.float64))[None, :],
        np.atleast_1d(np.asarray(slope, np.float64))[None, :],
        np.array([tolerance]),
    )


def pair(
    *clauses: tuple[Comparator, float],
    within: float,
    certainty: Certainty = Certainty.LINE,
    p: float = 0.0,
    distance: float = math.nan,
    strict: bool = False,
) -> Join:
    """A join: one (comparator, bound) for each dimension in turn."""
    of = np.arange(len(clauses))
    return Join(
        of,
        of,
        np.array([int(comparator) for comparator, _ in clauses], np.int64),
        np.array([bound for _, bound in clauses], np.float64),
        distance,
        strict,
        NO_WHOLE,
        NO_WHOLE,
        NO_REAL,
        NO_WHOLE,
        NO_WHOLE,
        NO_REAL,
        round(within * SECOND),
        int(certainty),
        p,
    )


def answer(left: Lines, right: Lines, join: Join, piece: int = 0) -> tuple[float, float] | None:
    """Begin and end in seconds, or None."""
    found, begins, ends = join_interval(left, 0, right, 0, join, piece, workspace(join))
    assert not found or join_may(left, 0, right, 0, join)
    return ((begins - BASE) / SECOND, (ends - BASE) / SECOND) if found else None


def answers(left: Lines, right: Lines, join: Join) -> list[tuple[float, float] | None]:
    return [answer(left, right, join, piece) for piece in range(pieces_of(join))]


def chance(left: Lines, right: Lines, join: Join, piece: int = 0) -> float:
    return join_probability(left, 0, right, 0, join, piece, workspace(join))


def polygon(left: Lines, right: Lines, join: Join, piece: int = 0) -> list[list[float]]:
    return join_polygon(left, 0, right, 0, join, piece, workspace(join)).tolist()


# The paper's examples.


def test_the_papers_pair_becomes_true_at_one():
    #  f1(t1) = t1, f2(t2) = 2·t2 − 3, K = 1, w = 4: t1 = 0 matches t2 from 1 to 2, so the later time is 1 at first.
    left, right, join = line(0, 1), line(-3, 2), pair((LE, 1), within=4)
    assert answer(left, right, join) == (1.0, 12.0)
    assert polygon(left, right, join) == [[0, 1], [10, 6], [12, 8], [0, 2]]
    assert answer(right, left, join) == (1.0, 12.0)
    assert [corner[::-1] for corner in polygon(right, left, join)] == [[0, 1], [0, 2], [12, 8], [10, 6]]


def test_the_papers_value_constraint():
    #  3t + 2 during [5, 15]: 17 <= value <= 47.
    clauses = Single(
        np.zeros(2, np.int64), np.array([GE, LE], np.int64), np.array([17.0, 47.0]), int(Certainty.LINE), 0.0
    )
    found, begins, ends = value_interval(line(2, 3), 0, clauses, 0)
    assert (found, begins - BASE, ends - BASE) == (True, 5 * SECOND, 15 * SECOND)
    assert value_pieces_of(clauses) == 1


@pytest.mark.parametrize(
    ("bound", "probability"),
    [
        (7.0, 1.0),
        (6.0, 1 - (10 - 3 - 6) ** 2 / (2 * 8 * 2)),  # 1 − D·(u1 − l2 − K)²/2
        (4.0, (2 * 4 + 5 + 3 - 2 * 2) / (2 * 8)),  # (2K + u2 + l2 − 2·l1) / (2·(u1 − l1))
    ],
)
def test_the_papers_closed_forms(bound: float, probability: float):
    #  v1 in [2, 10], v2 in [3, 5]
    left, right = line(6, 0, tolerance=4.0), line(4, 0, tolerance=1.0)
    join = pair((LE, bound), within=0)
    assert chance(left, right, join) == pytest.approx(probability, abs=1e-15)
    assert chance(right, left, join) == pytest.approx(probability, abs=1e-15)


def test_may_and_must_are_lemma_one_and_two():
    left, right = line(0, 1, tolerance=1.0), line(10, 0, tolerance=0.5)
    for certainty, first, last in (
        (Certainty.LINE, 8, 12),
        (Certainty.MAY, 6.5, 13.5),
        (Certainty.MUST, 9.5, 10.5),
    ):
        assert answer(left, right, pair((LE, 2), within=0, certainty=certainty)) == (first, last)
    may = pair((LE, 2), within=0, certainty=Certainty.MAY)
    assert chance(left, right, may) == 1.0


# Points, segments and nothing.


def test_equal_lines_match_all_their_life():
    both = line(5, 2, (0, 10))
    assert answer(both, both, pair((LE, 0), within=0)) == (0.0, 10.0)
    assert answer(both, both, pair((EQ, 0), within=0)) == (0.0, 10.0)
    assert answer(both, both, pair((LT, 0), within=3)) is None
    assert polygon(both, both, pair((LE, 0), within=0)) == [[0, 0], [10, 10]]


def test_parallel_lines_match_with_the_lag_that_makes_up_for_their_difference():
    ahead, behind = line(4, 1, (0, 10)), line(0, 1, (0, 10))
    assert answer(ahead, behind, pair((LE, 0), within=4)) == (4.0, 10.0)
    assert answer(ahead, behind, pair((LE, 0), within=3)) is None
    assert answer(ahead, behind, pair((LE, 1), within=3)) == (3.0, 10.0)
    assert polygon(ahead, behind, pair((LE, 1), within=3)) == [[0, 3], [7, 10]]


def test_lines_that_cross_match_at_one_instant():
    up, down = line(0, 1, (0, 10)), line(7, -2, (0, 10))
    assert answer(up, down, pair((LE, 0), within=0)) == (2.333333, 2.333333)
    assert polygon(up, down, pair((LE, 0), within=0)) == pytest.approx(np.array([[7 / 3, 7 / 3]]))
    assert answer(up, down, pair((LT, 0), within=0)) is None


def test_whole_numbers_far_from_zero_are_as_different_as_small_ones():
    for far in (0.0, 4e10, 2.0**50):
        up, stands = line(far, 1, (0, 10)), line(far + 10.25, 0, (0, 20))
        assert answer(up, stands, pair((LE, 0.5), within=0)) == (9.75, 10.0)
        assert answer(up, stands, pair((LE, 0.25), within=0)) is None
        assert answer(up, stands, pair(within=0, distance=0.5)) == (9.75, 10.0)
        assert answers(up, stands, pair((GT, 10), within=0)) == [None, (0.0, 0.25)]


def test_slopes_that_hardly_differ_are_not_the_same():
    #  One in a million faster: a micron a second, and half of it when the life is half over.
    slow, fast = line(5e6, 1.0, (0, 10)), line(5e6, 1.0 + 2.0**-20, (0, 10))
    assert answer(slow, fast, pair((LE, 2.0**-19), within=0)) == (0.0, 2.0)
    assert answers(slow, fast, pair((GE, 2.0**-18), within=0)) == [None, (4.0, 10.0)]
    assert answers(slow, fast, pair((GT, 9.5 * 2.0**-20), within=0)) == [None, (9.5, 10.0)]


def test_hundredths_of_a_thousand_million_count():
    one, other = line(1e9, 0), line(1e9 + 0.02, 0)
    assert answer(one, other, pair((LE, 0), within=1)) is None
    assert answers(one, other, pair((NE, 0), within=1)) == [None, (0.0, 100.0)]
    assert answer(one, other, pair((LE, 0.01), within=1)) is None
    assert answer(one, other, pair(within=1, distance=0.01)) is None
    assert (
        answer(one, other, pair((LT, 0.02), within=1)) is None
    )  # although it is 0.01999998, as floats have it
    assert answer(one, other, pair((LE, 0.02), within=1)) == (0.0, 100.0)
    assert answer(one, other, pair((LE, 0.0199), within=1)) is None


def test_a_life_of_no_length_answers_nothing():
    assert answer(line(0, 0, (5, 5)), line(0, 0, (0, 10)), pair((LE, 1), within=9)) is None
    clauses = Single(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1), 0, 0.0)
    assert not value_interval(line(0, 0, (5, 5)), 0, clauses, 0)[0]


def test_a_life_ends_before_another_begins_at_its_end():
    early, late = line(0, 0, (0, 10)), line(0, 0, (10, 20))
    assert answer(early, late, pair((LE, 1), within=0)) is None
    assert answer(early, late, pair((LE, 1), within=1)) == (10.0, 11.0)


def test_what_is_reached_only_at_the_end_of_a_life_is_not_reached():
    assert answer(line(0, 1, (0, 10)), line(10, 0, (0, 20)), pair((LE, 0), within=0)) is None
    assert answer(line(0, 1, (0, 10.000001)), line(10, 0, (0, 20)), pair((LE, 0), within=0)) == (10.0, 10.0)


def test_a_tolerance_above_the_bound_must_nothing():
    left, right = line(0, 0, tolerance=2.0), line(0, 0, tolerance=1.5)
    assert answer(left, right, pair((LE, 3), within=1, certainty=Certainty.MUST)) is None
    assert answer(left, right, pair((LE, 3.5), within=1, certainty=Certainty.MUST)) == (0.0, 100.0)
    tenths = line(0.3, 0, tolerance=0.1), line(0.3, 0, tolerance=0.2)
    assert answer(*tenths, pair((LE, 0.3), within=0, certainty=Certainty.MUST)) == (0.0, 100.0)


@pytest.mark.parametrize(
    ("comparator", "bound", "expected"),
    [
        (LE, 2, [(3.0, 7.0)]),
        (LT, 2, [(3.0, 7.0)]),
        (GE, 2, [(7.0, 10.0), (0.0, 3.0)]),
        (GT, 2, [(7.0, 10.0), (0.0, 3.0)]),
        (EQ, 2, [(7.0, 7.0), (3.0, 3.0)]),
        (NE, 2, [(7.0, 10.0), (0.0, 3.0), (3.0, 7.0)]),
        (GE, 0, [(0.0, 10.0), None]),
        (GT, 0, [(5.0, 10.0), (0.0, 5.0)]),
        (EQ, 0, [(5.0, 5.0)]),
        (NE, 0, [(5.0, 10.0), (0.0, 5.0)]),
        (GE, 5, [None, (0.0, 0.0)]),
        (GT, 5, [None, None]),
    ],
)
def test_pieces_of_a_crossing(comparator: Comparator, bound: float, expected: list):
    #  the difference goes from −5 at 0 to 5 at 10; 10 itself is no longer in the life
    assert answers(line(-5, 1, (0, 10)), line(0, 0, (0, 10)), pair((comparator, bound), within=0)) == expected


@pytest.mark.parametrize(
    ("comparator", "certainty", "expected"),
    [
        (GE, Certainty.MAY, [(6.5, 10.0), (0.0, 3.5)]),
        (GE, Certainty.MUST, [(7.5, 10.0), (0.0, 2.5)]),
        (EQ, Certainty.MAY, [(6.5, 7.5), (2.5, 3.5)]),
        (EQ, Certainty.MUST, [None, None]),
        (NE, Certainty.MAY, [(0.0, 10.0), None, None]),
        (NE, Certainty.MUST, [(7.5, 10.0), (0.0, 2.5), (3.5, 6.5)]),
    ],
)
def test_pieces_with_a_tolerance(comparator: Comparator, certainty: Certainty, expected: list):
    left, right = line(-5, 1, (0, 10), 0.5), line(0, 0, (0, 10))
    assert answers(left, right, pair((comparator, 2), within=0, certainty=certainty)) == expected


def test_pieces_that_overlap_are_the_first():
    left, right = line(-5, 1, (0, 10), 3.0), line(0, 0, (0, 10))
    for comparator in (GE, EQ):
        found = answers(left, right, pair((comparator, 2), within=0, certainty=Certainty.MAY))
        assert found == [(0.0, 10.0), None]


def test_two_dimensions_are_pieces_in_mixed_radix():
    left, right = line([-5, -4], [1, 1], (0, 10)), line([0, 0], [0, 0], (0, 10))
    join = pair((GE, 2), (NE, 3), within=0)
    assert answers(left, right, join) == [(7.0, 10.0), None, None, (0.0, 1.0), None, (1.0, 3.0)]


# Distances.


def test_a_fly_past_is_near_between_two_instants():
    #  y = 3 apart, x from −10 to 10: nearer than 5 while |x| <= 4
    passing, standing = line([-10, 3], [2, 0], (0, 10)), line([0, 0], [0, 0], (0, 10))
    assert answer(passing, standing, pair(within=0, distance=5.0)) == (3.0, 7.0)
    assert answer(passing, standing, pair(within=0, distance=3.0)) == (5.0, 5.0)
    assert answer(passing, standing, pair(within=0, distance=3.0, strict=True)) is None
    assert answer(passing, standing, pair(within=0, distance=2.999)) is None
    assert answer(passing, standing, pair(within=2, distance=5.0)) == (3.0, 9.0)


@pytest.mark.parametrize("slope", [1e-60, 1e-100, 1e-150, 1e-160, 1e-300])
def test_a_slope_that_is_next_to_nothing_is_nothing(slope: float):
    one, other = line((0, 0), (slope, 0), (0, 10)), line((3, 0), (0, 2 * slope), (0, 8))
    assert answer(one, other, pair(within=0, distance=5.0)) == (0.0, 8.0)
    assert answer(one, other, pair(within=0, distance=2.5)) is None


def test_the_probability_of_a_distance_is_emitted_only_where_it_is_sure():
    passing, standing = line([-10, 3], [2, 0], (0, 10), 1.0), line([0, 0], [0, 0], (0, 10))
    assert chance(passing, standing, pair(within=0, distance=4.0)) == 1.0
    assert math.isnan(chance(passing, standing, pair(within=0, distance=3.5)))
    assert answer(passing, standing, pair(within=0, distance=3.5, certainty=Certainty.MUST)) is None
    assert answer(passing, standing, pair(within=0, distance=4.0, certainty=Certainty.MAY)) == (3.0, 7.0)


def test_points_that_move_alike_stay_as_far_apart_as_they_are():
    left, right = line([3, 4], [5, 7], (0, 10)), line([0, 0], [5, 7], (0, 10))
    assert answer(left, right, pair(within=0, distance=5.0)) == (0.0, 10.0)
    assert answer(left, right, pair(within=0, distance=5.0, strict=True)) is None


# Probabilities.


def test_a_sure_instant_has_probability_one():
    left, right = line([-10, -10], [1, 1], (0, 30), 1.0), line([0, 0], [0, 0], (0, 30), 0.5)
    assert chance(left, right, pair((LE, 2), (LE, 2), within=0)) == 1.0
    assert chance(left, right, pair((GE, 2), (LE, 2), within=0), piece=0) < 1.0


def test_of_two_peaks_the_higher_one_is_emitted():
    #  x is surely apart from the first second on. y crosses zero, where its factor is level at 5/6: from there nothing leads to the end, the best.
    left = line(
        [-2.415274141614737, -1.698078352601176], [-0.7280622795986622, 0.9309602777964059], (0, 10), 2.0
    )
    right = line(
        [1.6738355141869903, -0.47310892460154097], [0.7104511603865951, 0.6669542399922945], (0, 10), 3.0
    )
    join = pair((GE, 0.5), (GE, 0.5), within=0, certainty=Certainty.MAY)
    assert chance(left, right, join) == pytest.approx(0.8507789884759962, abs=1e-9)


def test_probability_one_is_must():
    left, right = line([0, 1], [1, 0.5], (0, 30), 1.0), line([10, 4], [0, 0], (0, 30), 0.5)
    clauses = ((LE, 3.0), (LE, 4.0))
    must = answer(left, right, pair(*clauses, within=1, certainty=Certainty.MUST))
    assert must is not None
    assert answer(left, right, pair(*clauses, within=1, certainty=Certainty.PROBABILITY, p=1.0)) == must


def test_with_no_tolerance_any_probability_is_the_line():
    left, right = line([0, 1], [1, 0.5], (0, 30)), line([10, 4], [0, 0], (0, 30))
    clauses = ((LE, 3.0), (LT, 4.0))
    for p in (0.1, 1.0):
        join = pair(*clauses, within=1, certainty=Certainty.PROBABILITY, p=p)
        assert answer(left, right, join) == answer(left, right, pair(*clauses, within=1))
        assert chance(left, right, join) == 1.0


def test_half_the_values_are_within_where_the_line_crosses_the_bound():
    left, right = line(0, 1, (0, 30), 1.0), line(20, 0, (0, 30), 0.25)
    join = pair((LE, 5), within=0, certainty=Certainty.PROBABILITY, p=0.5)
    assert answer(left, right, join) == (15.0, 25.0)
    beyond = pair((GE, 5), within=0, certainty=Certainty.PROBABILITY, p=0.5)
    assert answers(left, right, beyond) == [(25.0, 30.0), (0.0, 15.0)]


def two_factors(rng: np.random.Generator, d, tolerances, bounds, samples: int) -> np.ndarray:
    """Whether both differences are within their bounds, with values drawn."""
    errors = [rng.uniform(-tolerance, tolerance, (samples, 2)) for tolerance in tolerances]
    return (np.abs(d + errors[0] - errors[1]) <= bounds).all(axis=1)


@pytest.mark.parametrize("seed", range(12))
def test_two_dimensions_with_unequal_tolerances_agree_with_drawn_values(seed: int):
    rng = np.random.default_rng(seed)
    d, tolerances = rng.uniform(-3, 3, 2), rng.uniform(0.1, 3, 2) * (1, 0 if seed == 3 else 1)
    bounds = rng.uniform(1, 4, 2)
    left, right = line(d, [0, 0], (0, 1), tolerances[0]), line([0, 0], [0, 0], (0, 1), tolerances[1])
    join = pair((LE, bounds[0]), (LE, bounds[1]), within=0, certainty=Certainty.MAY)
    chance_found = chance(left, right, join) if answer(left, right, join) else 0.0
    samples = 200_000
    share = two_factors(rng, d, tolerances, bounds, samples).mean()
    assert abs(share - chance_found) <= 4 * math.sqrt(max(chance_found * (1 - chance_found), 1e-9) / samples)


@pytest.mark.parametrize("seed", range(8))
def test_drawn_values_reach_p_at_begin_and_end(seed: int):
    rng = np.random.default_rng(100 + seed)
    slope, tolerances, p = rng.uniform(0.5, 2, 2), rng.uniform(0.5, 2, 2), rng.uniform(0.2, 0.8)
    value = -30 * slope + rng.uniform(-1, 1, 2)
    bounds = np.array([3.0, 4.0])
    left, right = line(value, slope, (0, 60), tolerances[0]), line([0, 0], [0, 0], (0, 60), tolerances[1])
    join = pair((LE, 3.0), (LE, 4.0), within=0, certainty=Certainty.PROBABILITY, p=p)
    found = answer(left, right, join)
    assert found is not None
    samples = 200_000
    for time in found:
        share = two_factors(rng, value + slope * time, tolerances, bounds, samples).mean()
        assert abs(share - p) <= 4 * math.sqrt(p * (1 - p) / samples)
    assert chance(left, right, join) >= p


def test_values_of_one_line_by_probability():
    #  even on [t − 2, t + 2]: at most 10 with probability 3/4 until t = 9; at least 4 with 3/4 from t = 5 on
    clauses = Single(
        np.zeros(1, np.int64), np.array([LE], np.int64), np.array([10.0]), int(Certainty.PROBABILITY), 0.75
    )
    lines = line(0, 1, (0, 30), 2.0)
    assert value_interval(lines, 0, clauses, 0) == (True, BASE, BASE + 9 * SECOND)
    both = Single(
        np.zeros(2, np.int64),
        np.array([GE, LE], np.int64),
        np.array([4.0, 10.0]),
        int(Certainty.PROBABILITY),
        0.75,
    )
    assert value_interval(lines, 0, both, 0) == (True, BASE + 5 * SECOND, BASE + 9 * SECOND)
    assert value_probability(lines, 0, both, 0) == 1.0
    narrow = both._replace(bound=np.array([6.0, 8.0]), p=0.5)
    #  one value: [6, 8] is half of [t − 2, t + 2] as long as it lies within, from t = 6 to 8, and less of it before and after
    assert value_interval(lines, 0, narrow, 0) == (True, BASE + 6 * SECOND, BASE + 8 * SECOND)
    assert value_probability(lines, 0, narrow, 0) == pytest.approx(1 / 2, abs=1e-12)


def test_a_bound_is_where_the_probability_is_reached():
    for p in np.linspace(0.01, 0.99, 40):
        for wide, narrow in ((2.0, 2.0), (2.0, 0.5), (2.0, 0.0), (2.0, 1e-9)):
            for bound in (0.3, 1.5, 1.9, 5.0):
                most = chances.within_bound(p, bound, wide, narrow)
                if most >= 0.0:
                    assert (
                        chances.chance_within(most, bound, wide, narrow) == pytest.approx(p, abs=1e-9)
                        or most == 0.0
                    )
                least = chances.beyond_bound(p, bound, wide, narrow)
                if least > 0.0:
                    assert chances.chance_beyond(least, bound, wide, narrow) == pytest.approx(p, abs=1e-9)


# Around the geometry.


def test_reach_of_a_line_is_its_range_and_half_the_bound():
    join = pair((LE, 4), (GE, 1), within=9, certainty=Certainty.MAY)._replace(distance=6.0)
    lines = line([0, 50], [2, -1], (0, 10), 0.5)
    assert reach(lines, 0, join, 0, 0) == pytest.approx((-2.5, 22.5))
    assert reach(lines, 0, join, 1, 1) == pytest.approx((-3.5, 23.5))
    assert reach(lines, 0, join, 0, 2) == pytest.approx((36.5, 53.5))
    assert reach(lines, 0, join, 0, 3) == (-math.inf, math.inf)


def test_a_query_gives_its_joins_and_singles():
    alias = Alias("a", None, ("x", "y"), ("x_slope", "y_slope"), "tolerance", "heartbeat")
    conditions = (
        Value(1, 0, LT, 7.0),
        Difference(1, 1, 0, 0, GE, 2.0),
        Distance(1, 0, True, 9.0),
        Distance(0, 1, False, 9.0),
        Difference(0, 1, 2, 1, LE, 3.0),
        Value(0, 1, NE, 1.0),
    )
    query = PredictQuery(
        "q",
        "f",
        0,
        None,
        (alias,) * 3,
        conditions,
        5,
        Certainty.MAY,
        0.0,
        False,
        None,
        None,
        None,
        GiveUp.LEAST,
        0,
        False,
        None,
    )
    join = join_of(query, 0, 1)
    assert join.left_dimension.tolist() == [0]
    assert join.right_dimension.tolist() == [1]
    assert (join.distance, join.distance_strict) == (9.0, True)
    assert join.left_value_bound.tolist() == [1.0]
    assert join.right_value_comparator.tolist() == [LT]
    assert pieces_of(join) == 4
    assert math.isnan(join_of(query, 0, 2).distance)
    assert single_of(query, 1).bound.tolist() == [7.0]


def test_paths_of_the_papers_setting_are_cut_to_the_microsecond():
    #  two cars meeting head on at 26.8 m/s each: |x| <= 400 while the gap of 53.6 m/s shrinks from 1,000 m
    left, right = line([0, 0], [26.8, 0], (0, 30), 25.0), line([1000, 0], [-26.8, 0], (0, 30), 25.0)
    found = answer(left, right, pair((LE, 400), (LE, 400), within=0))
    assert found == (round(600 / 53.6, 6), round(1400 / 53.6, 6))
    #  three seconds of lag: the later car may be matched with where the other was
    lagged = answer(left, right, pair((LE, 400), (LE, 400), within=3))
    assert lagged == (round((600 + 26.8 * 0) / 53.6, 6), pytest.approx((1400 + 3 * 26.8) / 53.6, abs=1e-6))
