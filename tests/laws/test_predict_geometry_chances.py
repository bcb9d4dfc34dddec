"""Probabilities in the geometry of PREDICT against areas and products of fractions: where p is reached, and what is told."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry import (
    chances,
    join_interval,
    join_may,
    join_probability,
    pieces_of,
    value_interval,
    value_pieces_of,
    value_probability,
    workspace,
)
from tests.laws.draws import bounded
from tests.laws.line_worlds import (
    CHANCES,
    LESS,
    SECOND,
    differences,
    kernel_join,
    kernel_lines,
    kernel_single,
    lines,
    seconds,
    values,
    windows,
)
from tests.laws.oracles import lines as oracle

US = Fraction(1, SECOND)
PLAIN = (Certainty.LINE, Certainty.MAY, Certainty.MUST)
UNSURE = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(0))


@bounded(400)
@given(st.data())
def test_the_probability_of_one_difference_is_that_of_fractions(data: st.DataObject):
    left, right = data.draw(lines(1, UNSURE)), data.draw(lines(1, UNSURE))
    comparator = data.draw(st.sampled_from([*LESS, Comparator.GREATER_EQUAL, Comparator.GREATER]))
    condition = data.draw(differences(1, [comparator]))
    within, p = data.draw(windows), data.draw(st.sampled_from(CHANCES))
    if left.tolerance + right.tolerance == 0:
        return
    a, b, join = (
        kernel_lines(left),
        kernel_lines(right),
        kernel_join([condition], within, Certainty.PROBABILITY, p),
    )
    work = workspace(join)
    frame = oracle.frame(left, right, within)

    def chance(d: Fraction) -> Fraction:
        near = oracle.area_chance(d, condition.bound, left.tolerance, right.tolerance)
        return near if comparator in LESS else 1 - near

    everywhere = comparator not in LESS and chance(Fraction(0)) >= p
    for piece in range(pieces_of(join)):
        side = 0 if comparator in LESS else 1 - 2 * piece
        found, begins, ends = join_interval(a, 0, b, 0, join, piece, work)
        points = [] if everywhere and piece == 1 else oracle.corners(frame)
        best = _best(chance, points, left, right, 0 if everywhere else side, comparator in LESS)
        holds = best is not None and best >= p and left.start < left.end and right.start < right.end
        if holds and not oracle.strictly(frame, points):
            holds = False
        elif holds and best == p:
            event("touches")
            continue  # whether a touching point is on a life's end as well is asked of straight borders
        assert found == holds, (piece, best)
        if not found:
            continue
        probability = join_probability(a, 0, b, 0, join, piece, work)
        assert abs(probability - float(best)) < 1e-9
        assert join_may(a, 0, b, 0, join)
        for t, inside in ((begins - 1, False), (ends + 1, False), (begins + 1, True), (ends - 1, True)):
            if inside and ends - begins < 2:
                continue
            at = max(
                (
                    chosen
                    for ends_of in oracle.slices(frame, seconds(t))
                    if (
                        chosen := _best(
                            chance, ends_of, left, right, 0 if everywhere else side, comparator in LESS
                        )
                    )
                    is not None
                ),
                default=Fraction(-1),
            )
            assert (at >= p) == inside, (t, float(at))


def _best(chance, points, left, right, side: int, near: bool) -> Fraction | None:
    """The greatest probability on the convex hull of some points; `side`: only where the difference has this sign."""
    found = [left.at(0, x) - right.at(0, y) for x, y in points]
    if not found:
        return None
    low, high = min(found), max(found)
    if near:
        return chance(max(Fraction(0), low, -high))
    far = [d for d in (low, high) if side == 0 or d * side >= 0]
    return max(map(chance, far), default=None)


def same_difference(condition: oracle.LineCondition) -> tuple[int, int]:
    """Two conditions on one difference depend on one another: nothing is told of them."""
    return condition.of_left, condition.of_right


@bounded(150)
@given(st.data())
def test_the_product_of_several_differences_reaches_p_exactly_in_the_interval(data: st.DataObject):
    dimensions = data.draw(st.integers(2, 3))
    left, right = data.draw(lines(dimensions, UNSURE[:3])), data.draw(lines(dimensions, UNSURE))
    conditions = data.draw(
        st.lists(differences(dimensions, LESS), min_size=2, max_size=3, unique_by=same_difference)
    )
    within, p = data.draw(windows), data.draw(st.sampled_from(CHANCES))
    a, b = kernel_lines(left), kernel_lines(right)
    join = kernel_join(conditions, within, Certainty.PROBABILITY, p)
    work = workspace(join)
    frame = oracle.frame(left, right, within)
    found, begins, ends = join_interval(a, 0, b, 0, join, 0, work)
    event("found" if found else "not found")
    if not found:
        if left.start < left.end and right.start < right.end:
            for eighth in range(-24, 320, 3):
                assert product_at(frame, left, right, conditions, Fraction(eighth, 8)) < float(p) + 1e-9
        return
    assert product_at(frame, left, right, conditions, seconds(begins) - 2 * US) < float(p)
    assert product_at(frame, left, right, conditions, seconds(ends) + 2 * US) < float(p)
    if ends - begins >= 4:
        assert product_at(frame, left, right, conditions, seconds(begins) + 2 * US) > float(p) - 1e-9
        assert product_at(frame, left, right, conditions, seconds(ends) - 2 * US) > float(p) - 1e-9
    probability = join_probability(a, 0, b, 0, join, 0, work)
    for eighth in range(-24, 320, 3):
        assert product_at(frame, left, right, conditions, Fraction(eighth, 8)) < probability + 1e-8
    assert float(p) <= probability <= 1.0


@bounded(200)
@given(st.data())
def test_no_instant_of_an_answer_is_more_probable_than_the_emitted_probability(data: st.DataObject):
    dimensions = data.draw(st.integers(1, 3))
    left, right = data.draw(lines(dimensions, UNSURE[:2])), data.draw(lines(dimensions, UNSURE[:1]))
    conditions = data.draw(
        st.lists(differences(dimensions), min_size=1, max_size=3, unique_by=same_difference)
    )
    within, certainty = data.draw(windows), data.draw(st.sampled_from(PLAIN[:2]))
    a, b, join = kernel_lines(left), kernel_lines(right), kernel_join(conditions, within, certainty)
    rng = np.random.default_rng(5)
    for piece in range(pieces_of(join)):
        borders = oracle.borders(left, right, conditions, within, certainty, piece)
        if oracle.answer(borders) is None:
            continue
        corners = np.array([[float(x), float(y)] for x, y in oracle.corners(borders)])
        weights = rng.dirichlet(np.full(len(corners), 0.3), 4_000)
        x, y = (np.concatenate([corners, weights @ corners])).T
        product = np.ones(len(x))
        for condition in conditions:
            a_x, b_y, c = map(float, oracle.coefficients(condition, left, right))
            d, bound = a_x * x + b_y * y + c, float(condition.bound)
            near = oracle.sampled_chance(d, bound, float(left.tolerance), float(right.tolerance))
            if condition.comparator in (Comparator.EQUAL, Comparator.DIFFERENT):
                near = np.full(len(x), float(condition.comparator is Comparator.DIFFERENT))
            product *= (
                near if condition.comparator in (*LESS, Comparator.EQUAL, Comparator.DIFFERENT) else 1 - near
            )
        probability = join_probability(a, 0, b, 0, join, piece, workspace(join))
        event(f"{len(conditions)} {'sure' if probability == 1.0 else 'unsure'}")
        assert product.max() - 1e-8 <= probability <= product.max() + 0.1


LARGE = (Fraction(1, 4), Fraction(1), Fraction(2), Fraction(3), Fraction(0))
RISING = (Comparator.GREATER_EQUAL, Comparator.GREATER)


@bounded(150)
@given(st.data())
def test_the_best_of_several_peaks_is_emitted(data: st.DataObject):
    """Tolerances larger than bounds, several differences that are to be large: against a dense search, made finer around its best places."""
    dimensions = data.draw(st.integers(2, 3))
    left, right = data.draw(lines(dimensions, LARGE[:4])), data.draw(lines(dimensions, LARGE))
    conditions = [
        oracle.LineCondition(of, of, data.draw(st.sampled_from([*RISING, *RISING, *LESS])), data.draw(bounds))
        for of in range(dimensions)
    ]
    within, certainty = data.draw(windows), data.draw(st.sampled_from(PLAIN[:2]))
    a, b, join = kernel_lines(left), kernel_lines(right), kernel_join(conditions, within, certainty)
    for piece in range(pieces_of(join)):
        borders = oracle.borders(left, right, conditions, within, certainty, piece)
        if oracle.answer(borders) is None:
            continue
        corners = np.array([[float(x), float(y)] for x, y in oracle.corners(borders)])
        probability = join_probability(a, 0, b, 0, join, piece, workspace(join))
        best = _dense(corners, left, right, conditions)
        event("sure" if probability == 1.0 else f"{min(probability, 0.99):.1f}")
        assert best - 1e-8 <= probability <= best + 1e-4


bounds = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)])


def _dense(corners: np.ndarray, left, right, conditions) -> float:
    """The greatest product among some thousand points of the hull of some corners, and among more around the best of them."""
    rng = np.random.default_rng(11)
    share = rng.dirichlet(np.full(len(corners), 0.4), 3_000)
    # Edges are where such products are best: they are searched as densely by themselves.
    edges = [
        np.outer(s, one) + np.outer(1 - s, other) for one in corners for other in corners for s in [GRID]
    ]
    points = np.concatenate([corners, share @ corners, *edges])
    best = 0.0
    for turn in range(14):
        product = np.ones(len(points))
        for condition in conditions:
            a, b, c = map(float, oracle.coefficients(condition, left, right))
            d, bound = points @ (a, b) + c, float(condition.bound)
            near = oracle.sampled_chance(d, bound, float(left.tolerance), float(right.tolerance))
            product *= near if condition.comparator in LESS else 1 - near
        order = np.argsort(product)[-12:]
        best = max(best, float(product[order[-1]]))
        # From each of the best toward corners, and back again, by ever less.
        steps = 2.0**-turn * rng.uniform(0, 1, (len(order), 60, 1)) ** 2
        toward = corners[rng.integers(0, len(corners), (len(order), 60))]
        points = np.concatenate(
            [points[order], (points[order, None] * (1 - steps) + toward * steps).reshape(-1, 2)]
        )
    return best


GRID = np.linspace(0.0, 1.0, 201)


def product_at(frame, left, right, conditions, t: Fraction) -> float:
    """The greatest product at the instant t: a grid on the times that make it the later one, made finer around its best."""
    best = -1.0
    for one, other in oracle.slices(frame, t):
        ways = []
        for condition in conditions:
            first = left.at(condition.of_left, one[0]) - right.at(condition.of_right, one[1])
            last = left.at(condition.of_left, other[0]) - right.at(condition.of_right, other[1])
            ways.append((float(first), float(last - first), float(condition.bound)))
        low, high = 0.0, 1.0
        for _ in range(8):
            shares = np.linspace(low, high, 65)
            factors = [
                oracle.sampled_chance(
                    first + shares * way, bound, float(left.tolerance), float(right.tolerance)
                )
                for first, way, bound in ways
            ]
            product = np.prod(factors, axis=0)
            at = int(np.argmax(product))
            best = max(best, product[at])
            low, high = shares[max(0, at - 1)], shares[min(64, at + 1)]
    return best


@bounded(600)
@given(st.data())
def test_the_product_of_values_reaches_p_exactly_in_the_interval(data: st.DataObject):
    dimensions = data.draw(st.integers(1, 2))
    line = data.draw(lines(dimensions, UNSURE[:3]))
    conditions = data.draw(st.lists(values(dimensions, left=True), min_size=1, max_size=3))
    p = data.draw(st.sampled_from(CHANCES))
    a, single = kernel_lines(line), kernel_single(conditions, Certainty.PROBABILITY, p)

    def product(t: Fraction) -> Fraction:
        if not line.start <= t <= line.end:
            return Fraction(-1)
        factors = []
        for of in {condition.of_left for condition in conditions}:
            same_side = [condition for condition in conditions if condition.of_left == of]
            rising = [
                condition.comparator in (Comparator.GREATER_EQUAL, Comparator.GREATER)
                for condition in same_side
            ]
            chances_of = [
                oracle.value_chance(line.at(of, t), condition.comparator, condition.bound, line.tolerance)
                for condition in same_side
            ]
            below = [chance for chance, up in zip(chances_of, rising, strict=True) if not up]
            above = [chance for chance, up in zip(chances_of, rising, strict=True) if up]
            both = min(below, default=Fraction(1)) + min(above, default=Fraction(1)) - 1
            factors.append(max(Fraction(0), both))
        return math.prod(factors, start=Fraction(1))

    assert not any(value_interval(a, 0, single, piece)[0] for piece in range(1, value_pieces_of(single)))
    found, begins, ends = value_interval(a, 0, single, 0)
    event("found" if found else "not found")
    if not found:
        if line.start < line.end:
            tried = [product(line.start + (line.end - line.start) * Fraction(i, 64)) for i in range(64)]
            assert max(tried) < p
        return
    assert product(seconds(begins) - US) < p
    assert product(seconds(ends) + US) < p
    if ends - begins >= 2:
        assert product(seconds(begins) + US) >= p
        assert product(seconds(ends) - US) >= p
    probability = value_probability(a, 0, single, 0)
    grid = [product(seconds(begins) + (seconds(ends) - seconds(begins)) * Fraction(i, 64)) for i in range(65)]
    assert probability >= float(max(grid)) - 1e-6
    assert probability <= 1.0


@bounded(600)
@given(
    st.integers(-40, 40).map(lambda n: Fraction(n, 4)),
    st.integers(0, 24).map(lambda n: Fraction(n, 4)),
    st.integers(0, 16).map(lambda n: Fraction(n, 4)),
    st.integers(0, 16).map(lambda n: Fraction(n, 4)),
    st.sampled_from(CHANCES),
)
def test_the_trapezoid_is_an_area(d: Fraction, bound: Fraction, one: Fraction, other: Fraction, p: Fraction):
    wide, narrow = chances.ordered(float(one), float(other))
    exact = oracle.area_chance(d, bound, one, other)
    assert abs(chances.chance_within(float(d), float(bound), wide, narrow) - float(exact)) < 1e-14
    if wide == 0.0:
        return
    assert abs(chances.chance_beyond(float(d), float(bound), wide, narrow) - float(1 - exact)) < 1e-14
    most = chances.within_bound(float(p), float(bound), wide, narrow)
    least = chances.beyond_bound(float(p), float(bound), wide, narrow)
    step = Fraction(1, 10**6)
    if most < 0.0:
        assert oracle.area_chance(Fraction(0), bound, one, other) < p
    else:
        assert oracle.area_chance(Fraction(most) + step, bound, one, other) < p
        assert oracle.area_chance(max(Fraction(0), Fraction(most) - step), bound, one, other) >= p
    assert 1 - oracle.area_chance(Fraction(least) + step, bound, one, other) >= p
    if least > 0.0:
        assert 1 - oracle.area_chance(max(Fraction(0), Fraction(least) - step), bound, one, other) < p
