"""When two lines satisfy conditions, by fractions: every corner of every pair of borders, and every instant asked one by one.

Times are seconds and all numbers fractions, so nothing is rounded. `corners` tries all points where two borders cross and keeps
those that satisfy everything; `holds_at` takes one instant t and asks whether a pair of times with t the later one satisfies
everything. The first knows straight borders, the second also distances and probabilities. Probabilities are areas of polygons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from headwater.kernels.predict.choices import Certainty, Comparator

Point = tuple[Fraction, Fraction]
Range = tuple[Fraction | None, Fraction | None, bool]
"""From, to, and whether the ends are left out; None: without end."""


@dataclass(frozen=True)
class Line:
    """A line over its life; times in seconds."""

    t0: Fraction
    start: Fraction
    end: Fraction
    values: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]
    tolerance: Fraction

    def at(self, dimension: int, time: Fraction) -> Fraction:
        return self.values[dimension] + self.slopes[dimension] * (time - self.t0)


@dataclass(frozen=True)
class LineCondition:
    """One condition: on the left line (of_right is None), on the right (of_left is None), or on their difference."""

    of_left: int | None
    of_right: int | None
    comparator: Comparator
    bound: Fraction


@dataclass(frozen=True)
class Border:
    """a·x + b·y + c <= 0, or < 0."""

    a: Fraction
    b: Fraction
    c: Fraction
    strict: bool = False

    def at(self, point: Point) -> Fraction:
        return self.a * point[0] + self.b * point[1] + self.c


def ranges(condition: LineCondition, certainty: Certainty, slack: Fraction) -> list[Range | None]:
    """The pieces of a condition, for all certainties but PROBABILITY; None: a piece that is empty."""
    k, comparator = condition.bound, condition.comparator
    if certainty is Certainty.LINE:
        slack = Fraction(0)
    may, must = certainty is Certainty.MAY, certainty is Certainty.MUST
    if condition.of_left is None or condition.of_right is None:
        return _value_ranges(comparator, k, may, must, slack)
    more = k + slack if may else k - slack
    less = k - slack if may else k + slack
    match comparator:
        case Comparator.LESS_EQUAL | Comparator.LESS:
            return [(-more, more, comparator is Comparator.LESS) if more >= 0 else None]
        case Comparator.GREATER_EQUAL | Comparator.GREATER:
            strict = comparator is Comparator.GREATER
            if less < 0 or (less == 0 and not strict):
                return [(None, None, False), None]
            return [(less, None, strict), (None, -less, strict)]
        case Comparator.EQUAL:
            pieces: list[Range | None]
            if must and slack > 0:
                pieces = [None, None]
            elif k - slack <= 0:
                pieces = [(-k - slack, k + slack, False), None]
            else:
                pieces = [(k - slack, k + slack, False), (-k - slack, -k + slack, False)]
            return pieces if k > 0 else pieces[:1]
        case Comparator.DIFFERENT:
            if may and slack > 0:
                pieces = [(None, None, False), None, None]
            else:
                inner = k - slack
                pieces = [
                    (k + slack, None, True),
                    (None, -k - slack, True),
                    (-inner, inner, True) if inner > 0 else None,
                ]
            return pieces if k > 0 else pieces[:2]


def _value_ranges(
    comparator: Comparator, k: Fraction, may: bool, must: bool, slack: Fraction
) -> list[Range | None]:
    more = k + slack if may else k - slack
    less = k - slack if may else k + slack
    match comparator:
        case Comparator.LESS_EQUAL | Comparator.LESS:
            return [(None, more, comparator is Comparator.LESS)]
        case Comparator.GREATER_EQUAL | Comparator.GREATER:
            return [(less, None, comparator is Comparator.GREATER)]
        case Comparator.EQUAL:
            return [None if must and slack > 0 else (k - slack, k + slack, False)]
        case Comparator.DIFFERENT:
            if may and slack > 0:
                return [(None, None, False), None]
            return [(k + slack, None, True), (None, k - slack, True)]


def slack_of(condition: LineCondition, left: Line, right: Line) -> Fraction:
    """The tolerances that a condition meets."""
    mine = left.tolerance if condition.of_left is not None else Fraction(0)
    return mine + (right.tolerance if condition.of_right is not None else Fraction(0))


def pieces_of(conditions: Sequence[LineCondition]) -> list[int]:
    """How many pieces each condition has."""
    return [len(ranges(condition, Certainty.LINE, Fraction(0))) for condition in conditions]


def digits(conditions: Sequence[LineCondition], piece: int) -> list[int]:
    """The piece of each condition."""
    found = []
    for many in pieces_of(conditions):
        found.append(piece % many)
        piece //= many
    return found


def coefficients(condition: LineCondition, left: Line, right: Line) -> tuple[Fraction, Fraction, Fraction]:
    """The line, or the difference, that a condition looks at, as a·x + b·y + c."""
    a = b = c = Fraction(0)
    if condition.of_left is not None:
        a = left.slopes[condition.of_left]
        c += left.at(condition.of_left, Fraction(0))
    if condition.of_right is not None:
        sign = 1 if condition.of_left is None else -1
        b = sign * right.slopes[condition.of_right]
        c += sign * right.at(condition.of_right, Fraction(0))
    return a, b, c


def frame(left: Line, right: Line, within: Fraction) -> list[Border]:
    """The two lives and the window."""
    one, zero = Fraction(1), Fraction(0)
    return [
        Border(-one, zero, left.start),
        Border(one, zero, -left.end, True),
        Border(zero, -one, right.start),
        Border(zero, one, -right.end, True),
        Border(one, -one, -within),
        Border(-one, one, -within),
    ]


def borders(
    left: Line,
    right: Line,
    conditions: Sequence[LineCondition],
    within: Fraction,
    certainty: Certainty,
    piece: int,
) -> list[Border] | None:
    """All borders of a piece; None: it is empty anyway."""
    found = frame(left, right, within)
    for condition, digit in zip(conditions, digits(conditions, piece), strict=True):
        chosen = ranges(condition, certainty, slack_of(condition, left, right))[digit]
        if chosen is None:
            return None
        a, b, c = coefficients(condition, left, right)
        low, high, strict = chosen
        if high is not None:
            found.append(Border(a, b, c - high, strict))
        if low is not None:
            found.append(Border(-a, -b, low - c, strict))
    return found


def corners(found: Sequence[Border]) -> list[Point]:
    """Every point where two borders cross and that satisfies all of them, closed."""
    return [
        point
        for one, other in combinations(found, 2)
        if (point := _cross(one, other)) and _inside(found, point)
    ]


def answer(found: Sequence[Border] | None) -> tuple[Fraction, Fraction] | None:
    """From when to when the later of two times in the closed polygon is; None: no answer."""
    if found is None:
        return None
    points = corners(found)
    if not points or not strictly(found, points):
        return None
    diagonal = Border(Fraction(1), Fraction(-1), Fraction(0))
    on_diagonal = [point for one in found if (point := _cross(one, diagonal)) and _inside(found, point)]
    return min(max(point) for point in points + on_diagonal), max(max(point) for point in points)


def strictly(found: Sequence[Border], points: Sequence[Point]) -> bool:
    """Whether each strict border is satisfied strictly by one of the points."""
    return all(not border.strict or any(border.at(point) < 0 for point in points) for border in found)


def slices(found: Sequence[Border], t: Fraction) -> list[tuple[Point, Point]]:
    """The times of the closed polygon with t as the later one: up to two segments."""
    segments = []
    for swap in (False, True):
        low, high, there = None, t, True
        for border in found:
            a, b = (border.b, border.a) if swap else (border.a, border.b)
            rest = a * t + border.c  # b·s + rest <= 0 for the other time s
            if b == 0:
                there = there and rest <= 0
            elif b > 0:
                high = min(high, -rest / b)
            else:
                low = -rest / b if low is None else max(low, -rest / b)
        if there and low is not None and low <= high:
            ends = [(s, t) if swap else (t, s) for s in (low, high)]
            segments.append((ends[0], ends[1]))
    return segments


def holds_at(found: Sequence[Border] | None, t: Fraction) -> bool:
    """Whether t is the later of two times in the closed polygon."""
    return found is not None and bool(slices(found, t))


def squared(left: Line, right: Line, point: Point) -> Fraction:
    """The squared distance at two times."""
    x, y = point
    dimensions = range(len(left.values))
    return sum(((left.at(of, x) - right.at(of, y)) ** 2 for of in dimensions), Fraction(0))


def least_squared(left: Line, right: Line, one: Point, other: Point) -> tuple[Fraction, Point]:
    """The least squared distance on a segment, and where."""
    way = (other[0] - one[0], other[1] - one[1])
    steps = [left.slopes[of] * way[0] - right.slopes[of] * way[1] for of in range(len(left.values))]
    square = sum((step * step for step in steps), Fraction(0))
    share = Fraction(0)
    if square > 0:
        here = [left.at(of, one[0]) - right.at(of, one[1]) for of in range(len(left.values))]
        along = sum((a * b for a, b in zip(here, steps, strict=True)), Fraction(0))
        share = min(Fraction(1), max(Fraction(0), -along / square))
    point = (one[0] + share * way[0], one[1] + share * way[1])
    return squared(left, right, point), point


def near_at(found: Sequence[Border], left: Line, right: Line, bound: Fraction, t: Fraction) -> bool:
    """Whether t is the later of two times in the closed polygon at which the distance is at most the bound."""
    return any(least_squared(left, right, *ends)[0] <= bound * bound for ends in slices(found, t))


def near_answer(
    found: Sequence[Border] | None, left: Line, right: Line, bound: Fraction, strict: bool
) -> bool:
    """Whether the distance is at most, or below, the bound anywhere, all strict borders satisfied."""
    if found is None or bound < 0:
        return False
    points = corners(found)
    if not points:
        return False
    nearest = [least_squared(left, right, one, other) for one in points for other in points]
    if (middle := _middle(left, right)) and _inside(found, middle):
        nearest.append((squared(left, right, middle), middle))
    least = min(square for square, _ in nearest)
    if least > bound * bound or (strict and least == bound * bound):
        return False
    if least < bound * bound:  # from the nearest point a little way toward any corner
        return strictly(found, points)
    return strictly(found, [point for square, point in nearest if square == least])


def area_chance(d: Fraction, bound: Fraction, one: Fraction, other: Fraction) -> Fraction:
    """P(|d + U − V| <= bound) for U and V even on [−one, one] and [−other, other]: an area of the plane of U and V."""
    if one == 0 and other == 0:
        return Fraction(int(abs(d) <= bound))
    if one == 0 or other == 0:
        wide = max(one, other)
        return max(Fraction(0), min(d + wide, bound) - max(d - wide, -bound)) / (2 * wide)
    square = [(-one, -other), (one, -other), (one, other), (-one, other)]
    square = _cut(square, Border(Fraction(1), Fraction(-1), d - bound))
    square = _cut(square, Border(Fraction(-1), Fraction(1), -d - bound))
    return _area(square) / (4 * one * other)


def sampled_chance(d: np.ndarray, bound: float, one: float, other: float) -> np.ndarray:
    """The same for many d: the mean, over U, of the share of V that is near enough; exact where it is a straight line in U."""
    if one == 0.0 or other == 0.0:
        one, other = 0.0, max(one, other)
    # Straight between the places where d + U is ±bound ± other: integrate from one to the next by its middle.
    cuts = np.stack(
        [np.clip(sign * bound + side * other - d, -one, one) for sign in (-1, 1) for side in (-1, 1)]
    )
    cuts = np.sort(np.concatenate([cuts, np.full((1, len(d)), -one), np.full((1, len(d)), one)]), axis=0)
    middles, widths = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts, axis=0)
    if one == 0.0:
        middles, widths = np.zeros((1, len(d))), np.ones((1, len(d)))
    shares = np.minimum(bound, d + middles + other) - np.maximum(-bound, d + middles - other)
    return (np.maximum(0.0, shares) / (2 * other) * widths).sum(axis=0) / widths.sum(axis=0)


def value_chance(f: Fraction, comparator: Comparator, bound: Fraction, tolerance: Fraction) -> Fraction:
    """P(f + U comparator bound) for U even on [−tolerance, tolerance], which is not zero."""
    below = min(Fraction(1), max(Fraction(0), (bound - f + tolerance) / (2 * tolerance)))
    match comparator:
        case Comparator.LESS_EQUAL | Comparator.LESS:
            return below
        case Comparator.GREATER_EQUAL | Comparator.GREATER:
            return 1 - below
        case Comparator.EQUAL:
            return Fraction(0)
        case Comparator.DIFFERENT:
            return Fraction(1)


def _inside(found: Sequence[Border], point: Point) -> bool:
    return all(border.at(point) <= 0 for border in found)


def _cross(one: Border, other: Border) -> Point | None:
    det = one.a * other.b - one.b * other.a
    if det == 0:
        return None
    return (one.b * other.c - other.b * one.c) / det, (other.a * one.c - one.a * other.c) / det


def _middle(left: Line, right: Line) -> Point | None:
    """The times of the least distance of two lines without end, if there is one such pair of times."""
    a, b = left.slopes, [-slope for slope in right.slopes]
    c = [left.at(of, Fraction(0)) - right.at(of, Fraction(0)) for of in range(len(a))]
    aa, ab, bb = _dot(a, a), _dot(a, b), _dot(b, b)
    return _cross(Border(aa, ab, _dot(a, c)), Border(ab, bb, _dot(b, c)))


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def _cut(polygon: list[Point], border: Border) -> list[Point]:
    inside_points: list[Point] = []
    for here, after in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        one, other = border.at(here), border.at(after)
        if one <= 0:
            inside_points.append(here)
        if one * other < 0:
            share = one / (one - other)
            inside_points.append(
                (here[0] + share * (after[0] - here[0]), here[1] + share * (after[1] - here[1]))
            )
    return inside_points


def _area(polygon: list[Point]) -> Fraction:
    pairs = zip(polygon, polygon[1:] + polygon[:1], strict=True)
    return abs(sum((a[0] * b[1] - a[1] * b[0] for a, b in pairs), Fraction(0))) / 2
