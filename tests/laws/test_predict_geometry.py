"""The geometry of PREDICT against fractions: every comparator, every certainty, one to three dimensions, much that only touches."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy as np
from hypothesis import event, example, given
from hypothesis import strategies as st

from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry import (
    join_interval,
    join_may,
    join_polygon,
    join_probability,
    pieces_of,
    reach,
    value_interval,
    value_pieces_of,
    value_probability,
    workspace,
)
from tests.laws.draws import bounded
from tests.laws.line_worlds import (
    BASE,
    CHANCES,
    LESS,
    SECOND,
    differences,
    kernel_join,
    kernel_lines,
    kernel_single,
    lines,
    places,
    seconds,
    values,
    windows,
)
from tests.laws.oracles import lines as oracle
from tests.laws.oracles.lines import LineCondition

US = Fraction(1, SECOND)
PLAIN = (Certainty.LINE, Certainty.MAY, Certainty.MUST)


def assert_boxes_meet(left, right, join, axes: int) -> None:
    for axis in range(axes):
        low, high = reach(left, 0, join, 0, axis)
        other_low, other_high = reach(right, 0, join, 1, axis)
        assert low <= other_high
        assert other_low <= high


@bounded(400)
@given(st.data())
def test_intervals_of_straight_borders_are_those_of_fractions(data: st.DataObject):
    dimensions, place = data.draw(st.integers(1, 3)), data.draw(places)
    left, right = (data.draw(lines(dimensions, place=place)) for _ in range(2))
    conditions = [
        *data.draw(st.lists(values(dimensions, left=True, place=place), max_size=1)),
        *data.draw(st.lists(values(dimensions, left=False, place=place), max_size=1)),
        *data.draw(st.lists(differences(dimensions, place=place), min_size=1, max_size=3)),
    ]
    within, certainty = data.draw(windows), data.draw(st.sampled_from(PLAIN))
    a, b, join = kernel_lines(left), kernel_lines(right), kernel_join(conditions, within, certainty)
    work = workspace(join)
    assert pieces_of(join) == math.prod(oracle.pieces_of(conditions))
    for piece in range(pieces_of(join)):
        borders = oracle.borders(left, right, conditions, within, certainty, piece)
        exact = oracle.answer(borders)
        found, begins, ends = join_interval(a, 0, b, 0, join, piece, work)
        event(f"{certainty.name} {'found' if exact else 'not found'}")
        assert found == (exact is not None), (piece, exact)
        if exact is None:
            continue
        assert abs(seconds(begins) - exact[0]) <= US
        assert abs(seconds(ends) - exact[1]) <= US
        assert join_may(a, 0, b, 0, join)
        assert_boxes_meet(a, b, join, len(conditions) + 1)
        if begins == ends:
            event("one instant")
        for quarter in range(-12, 160, 9):
            t = Fraction(quarter, 4)
            if abs(t - exact[0]) > US and abs(t - exact[1]) > US:
                assert oracle.holds_at(borders, t) == (begins <= BASE + t * SECOND <= ends)
        corners = {(seconds_after(left, x), seconds_after(right, y)) for x, y in oracle.corners(borders)}
        assert_same_corners(join_polygon(a, 0, b, 0, join, piece, work), corners)


def seconds_after(line, time: Fraction) -> float:
    return float(time - line.t0)


def assert_same_corners(found_corners: np.ndarray, corners: set[tuple[float, float]]) -> None:
    """Each told corner is one of the exact ones; exact ones that were not told lie on an edge, so they change no extreme."""
    exact = np.array(sorted(corners))
    gaps = np.abs(found_corners[:, None, :] - exact[None, :, :]).max(axis=2)
    assert gaps.min(axis=1).max() < 1e-8
    for direction in ((1, 0), (0, 1), (1, 1), (1, -1), (3, 2), (-2, 5)):
        for extreme in (np.min, np.max):
            assert abs(extreme(found_corners @ direction) - extreme(exact @ direction)) < 1e-7
    assert found_corners[0, 0] <= found_corners[:, 0].min() + 1e-9


@bounded(100)
@given(st.integers(0, 2**32 - 1))
def test_intervals_of_any_floats_are_those_of_the_same_fractions(seed: int):
    rng = np.random.default_rng(seed)
    drawn, far = [], rng.choice([0.0, 5e6, 4e10])
    for _ in range(2):
        t0 = Fraction(int(rng.integers(0, 20 * SECOND)), SECOND)
        angle = rng.uniform(0, 2 * math.pi)
        drawn.append(
            oracle.Line(
                t0,
                t0,
                t0 + Fraction(int(rng.integers(1, 30 * SECOND)), SECOND),
                tuple(map(Fraction, far + rng.uniform(0, 1200, 2))),
                (Fraction(26.8 * math.cos(angle)), Fraction(26.8 * math.sin(angle))),
                Fraction(float(rng.uniform(0, 25))),
            )
        )
    left, right = drawn
    certainty = PLAIN[rng.integers(3)]
    conditions = [
        LineCondition(of, of, Comparator(rng.integers(4)), Fraction(float(rng.uniform(50, 500))))
        for of in range(2)
    ]
    within = Fraction(int(rng.integers(0, 5 * SECOND)), SECOND)
    a, b, join = kernel_lines(left), kernel_lines(right), kernel_join(conditions, within, certainty)
    for piece in range(pieces_of(join)):
        exact = oracle.answer(oracle.borders(left, right, conditions, within, certainty, piece))
        found, begins, ends = join_interval(a, 0, b, 0, join, piece, workspace(join))
        event("found" if exact else "not found")
        assert found == (exact is not None)
        if exact is not None:
            assert abs(seconds(begins) - exact[0]) <= US
            assert abs(seconds(ends) - exact[1]) <= US
            assert join_may(a, 0, b, 0, join)
            assert_boxes_meet(a, b, join, 2)


@bounded(200)
@given(st.integers(0, 2**32 - 1))
def test_large_whole_numbers_touch_exactly_where_fractions_do(seed: int):
    #  The second dimension is the first three times over, and further borders go through a corner of what is left.
    rng = np.random.default_rng(seed)
    drawn, far = [], int(rng.choice([0, 0, 10**6, 10**12]))
    for _ in range(2):
        t0 = Fraction(int(rng.integers(0, 1000)))
        value, slope = Fraction(int(rng.integers(-99_999, 99_999))), Fraction(int(rng.integers(-99, 99)))
        third, steep = Fraction(int(rng.integers(-99_999, 99_999))), Fraction(int(rng.integers(-99, 99)))
        end = t0 + int(rng.integers(1, 3600))
        drawn.append(
            oracle.Line(
                t0, t0, end, (far + value, 3 * value - far, third), (slope, 3 * slope, steep), Fraction(0)
            )
        )
    left, right = drawn
    within = Fraction(int(rng.integers(0, 600)))
    frame = oracle.frame(left, right, within)
    corners = oracle.corners(frame)
    if not corners:
        return
    middle = sum((left.at(0, x) - right.at(0, y) for x, y in corners), Fraction(0)) / len(corners)
    first = LineCondition(0, 0, Comparator(rng.integers(6)), Fraction(abs(round(middle))))
    again = LineCondition(1, 1, Comparator(rng.integers(6)), 3 * first.bound)
    x, y = corners[rng.integers(len(corners))]
    third = LineCondition(2, 2, Comparator(rng.integers(6)), abs(left.at(2, x) - right.at(2, y)))
    conditions = [[first, again], [first, third], [third], [first, again, third]][rng.integers(4)]
    a, b, join = kernel_lines(left), kernel_lines(right), kernel_join(conditions, within, Certainty.LINE)
    for piece in range(pieces_of(join)):
        exact = oracle.answer(oracle.borders(left, right, conditions, within, Certainty.LINE, piece))
        found, begins, ends = join_interval(a, 0, b, 0, join, piece, workspace(join))
        event("found" if exact else "not found")
        assert found == (exact is not None), (piece, exact)
        if exact is not None:
            assert abs(seconds(begins) - exact[0]) <= US
            assert abs(seconds(ends) - exact[1]) <= US
            assert join_may(a, 0, b, 0, join)


COMPARED = {
    Comparator.LESS_EQUAL: operator.le,
    Comparator.LESS: operator.lt,
    Comparator.GREATER_EQUAL: operator.ge,
    Comparator.GREATER: operator.gt,
    Comparator.EQUAL: operator.eq,
    Comparator.DIFFERENT: operator.ne,
}


LIFE = (Fraction(0), Fraction(0), Fraction(9))


@bounded(400)
@given(st.floats(-1e15, 1e15), st.integers(-3, 3), st.sampled_from(Comparator))
def test_a_level_value_is_compared_with_its_bound_as_the_float_it_is(value, off, comparator):
    #  A bound that is some last digits off.
    bound = _after(value, off)
    line = oracle.Line(*LIFE, (Fraction(value),), (Fraction(0),), Fraction(0))
    condition = LineCondition(0, None, comparator, Fraction(bound))
    assert answers_as_a_pair(line, line, condition, Certainty.LINE) == COMPARED[comparator](value, bound)
    assert answers_alone(line, condition, Certainty.LINE) == COMPARED[comparator](value, bound)


@st.composite
def decimals(draw: st.DrawFn) -> tuple[int, ...]:
    """Two numbers, their tolerances and a bound that is near what matters, in units of a last digit; and how many are behind the point."""
    value = draw(st.integers(-(10**10), 10**10) | st.integers(0, 5000))
    other = value + draw(st.integers(-60, 60) | st.integers(-(10**6), 10**6))
    one, two = draw(st.tuples(*[st.integers(0, 30)] * 2))
    near = abs(value - other) + draw(st.sampled_from([-1, 0, 1])) * (one + two)
    return value, other, one, two, max(0, near + draw(st.integers(-1, 1))), draw(st.integers(0, 4))


@bounded(800)
@given(decimals(), st.sampled_from(Comparator), st.sampled_from(PLAIN))
@example((2498, 2468, 0, 0, 30, 2), Comparator.LESS_EQUAL, Certainty.LINE)
@example((80, 60, 0, 0, 20, 2), Comparator.GREATER, Certainty.LINE)
@example((40_000_000_001, 40_000_000_000, 0, 0, 0, 0), Comparator.LESS_EQUAL, Certainty.LINE)
def test_level_lines_are_compared_as_the_decimals_that_are_written(drawn, comparator, certainty):
    value, other, one, two, bound, digits = drawn
    unit = Fraction(1, 10**digits)
    left = oracle.Line(*LIFE, (value * unit,), (Fraction(0),), one * unit)
    right = oracle.Line(*LIFE, (other * unit,), (Fraction(0),), two * unit)
    condition = LineCondition(0, 0, comparator, bound * unit)
    assert answers_as_a_pair(left, right, condition, certainty) == answers_by_fractions(
        left, right, condition, certainty
    )
    condition = LineCondition(0, None, comparator, (other + (bound if value > other else -bound)) * unit)
    assert answers_alone(left, condition, certainty) == answers_by_fractions(left, left, condition, certainty)


def answers_by_fractions(left, right, condition: LineCondition, certainty: Certainty) -> bool:
    pieces = range(math.prod(oracle.pieces_of([condition])))
    found = (oracle.borders(left, right, [condition], Fraction(1), certainty, piece) for piece in pieces)
    return any(oracle.answer(one) is not None for one in found)


def answers_as_a_pair(one, two, condition: LineCondition, certainty: Certainty) -> bool:
    join = kernel_join([condition], Fraction(1), certainty)
    a, b, work = kernel_lines(one), kernel_lines(two), workspace(join)
    return any(join_interval(a, 0, b, 0, join, piece, work)[0] for piece in range(pieces_of(join)))


def answers_alone(line, condition: LineCondition, certainty: Certainty) -> bool:
    single, a = kernel_single([condition], certainty), kernel_lines(line)
    return any(value_interval(a, 0, single, piece)[0] for piece in range(value_pieces_of(single)))


def _after(value: float, steps: int) -> float:
    for _ in range(abs(steps)):
        value = math.nextafter(value, math.copysign(math.inf, steps))
    return value


@bounded(400)
@given(st.data())
def test_intervals_of_distances_are_those_of_fractions(data: st.DataObject):
    dimensions, place = data.draw(st.integers(1, 3)), data.draw(places)
    left, right = (data.draw(lines(dimensions, place=place)) for _ in range(2))
    conditions = [
        *data.draw(st.lists(values(dimensions, left=True, place=place), max_size=1)),
        *data.draw(st.lists(differences(dimensions, place=place), max_size=1)),
    ]
    within, certainty = data.draw(windows), data.draw(st.sampled_from(PLAIN))
    limit = data.draw(st.sampled_from([Fraction(0), Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5)]))
    strict = data.draw(st.booleans())
    slack = left.tolerance + right.tolerance
    bound = {Certainty.LINE: limit, Certainty.MAY: limit + slack, Certainty.MUST: limit - slack}[certainty]
    a, b = kernel_lines(left), kernel_lines(right)
    join = kernel_join(conditions, within, certainty, distance=float(limit), strict=strict)
    work = workspace(join)
    for piece in range(pieces_of(join)):
        borders = oracle.borders(left, right, conditions, within, certainty, piece)
        found, begins, ends = join_interval(a, 0, b, 0, join, piece, work)
        exact = oracle.near_answer(borders, left, right, bound, strict)
        event(f"{certainty.name} {'found' if exact else 'not found'}")
        assert found == exact
        if not found:
            continue
        assert borders is not None
        assert join_may(a, 0, b, 0, join)
        assert_boxes_meet(a, b, join, len(conditions) + dimensions)
        assert not oracle.near_at(borders, left, right, bound, seconds(begins) - US)
        assert not oracle.near_at(borders, left, right, bound, seconds(ends) + US)
        if ends - begins >= 2:
            assert oracle.near_at(borders, left, right, bound, seconds(begins) + US)
            assert oracle.near_at(borders, left, right, bound, seconds(ends) - US)
        assert join_polygon(a, 0, b, 0, join, piece, work).shape == (0, 2)
        sure = slack == 0 or certainty is Certainty.MUST
        if not conditions and not sure:
            sure = oracle.near_answer([_closed(one) for one in borders], left, right, limit - slack, False)
            assert join_probability(a, 0, b, 0, join, piece, work) == 1.0 or not sure
        if not conditions:
            assert math.isnan(join_probability(a, 0, b, 0, join, piece, work)) != sure


def _closed(border: oracle.Border) -> oracle.Border:
    return oracle.Border(border.a, border.b, border.c)


@bounded(400)
@given(st.data())
def test_intervals_of_values_are_those_of_fractions(data: st.DataObject):
    dimensions, place = data.draw(st.integers(1, 2)), data.draw(places)
    line = data.draw(lines(dimensions, place=place))
    conditions = data.draw(st.lists(values(dimensions, left=True, place=place), min_size=1, max_size=3))
    certainty = data.draw(st.sampled_from(PLAIN))
    a, single = kernel_lines(line), kernel_single(conditions, certainty)
    for piece in range(value_pieces_of(single)):
        exact = oracle.answer(oracle.borders(line, line, conditions, Fraction(0), certainty, piece))
        found, begins, ends = value_interval(a, 0, single, piece)
        event(f"{certainty.name} {'found' if exact else 'not found'}")
        assert found == (exact is not None)
        if exact is not None:
            assert abs(seconds(begins) - exact[0]) <= US
            assert abs(seconds(ends) - exact[1]) <= US
            assert 0.0 <= value_probability(a, 0, single, piece) <= 1.0


@bounded(300)
@given(st.data())
def test_left_and_right_may_be_exchanged(data: st.DataObject):
    dimensions, place = data.draw(st.integers(1, 2)), data.draw(places)
    left, right = (data.draw(lines(dimensions, place=place)) for _ in range(2))
    conditions = data.draw(st.lists(differences(dimensions, LESS, place), min_size=1, max_size=2))
    turned = [LineCondition(one.of_right, one.of_left, one.comparator, one.bound) for one in conditions]
    within, certainty = data.draw(windows), data.draw(st.sampled_from(list(Certainty)))
    p = data.draw(st.sampled_from(CHANCES))
    distance = (
        data.draw(st.sampled_from([math.nan, 2.0])) if certainty is not Certainty.PROBABILITY else math.nan
    )
    a, b = kernel_lines(left), kernel_lines(right)
    join = kernel_join(conditions, within, certainty, p, distance)
    other = kernel_join(turned, within, certainty, p, distance)
    one_way = join_interval(a, 0, b, 0, join, 0, workspace(join))
    other_way = join_interval(b, 0, a, 0, other, 0, workspace(other))
    assert one_way[0] == other_way[0]
    assert abs(one_way[1] - other_way[1]) <= 1
    assert abs(one_way[2] - other_way[2]) <= 1
