"""The sets of times in which two lines satisfy their conditions, on rational numbers and by trying everything.

A point is (x, y): a time of the left line and one of the right, in microseconds. Straight borders are half-planes, and corners are
the crossings of all pairs of borders that lie in all half-planes. What is asked of a set is when the later of the two times
is inside: for each of its two halves, left and right of the diagonal, that is an extent along one axis.

Curved borders (a distance, a product of probabilities) are found by bisection between the best point and the end of the straight
set. Their place is known as well as the bound is: `Found.begins` and `Found.ends` come with how far they move when the bound
does so by a billionth, and a set that comes or goes by as little is `doubtful`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Point = tuple[Fraction, Fraction]
Form = tuple[Fraction, Fraction, Fraction]  # x·a + y·b + c
NUDGE = Fraction(1, 10**9)
FINE = Fraction(1, 16)  # microseconds: how near an end is found by bisection


@dataclass(frozen=True, slots=True)
class Half:
    """The half-plane a·x + b·y <= c, or < c."""

    a: Fraction
    b: Fraction
    c: Fraction
    strict: bool = False

    def room(self, point: Point) -> Fraction:
        """How far inside a point is; below 0: outside."""
        return self.c - self.a * point[0] - self.b * point[1]

    def turned(self) -> Half:
        """With x and y exchanged."""
        return Half(self.b, self.a, self.c, self.strict)


@dataclass(frozen=True)
class Disc:
    """The forms' Euclidean length is at most the bound, or below it."""

    forms: tuple[Form, ...]
    bound: Fraction
    strict: bool

    def turned(self) -> Disc:
        """With x and y exchanged."""
        return Disc(tuple((b, a, c) for a, b, c in self.forms), self.bound, self.strict)


@dataclass(frozen=True)
class Product:
    """A function, log-concave inside the straight set, is at least `p` (None: whatever it is)."""

    of: Callable[[float, float], float]
    p: float | None

    def turned(self) -> Product:
        """With x and y exchanged."""
        return Product(lambda x, y: self.of(y, x), self.p)


Curve = Disc | Product


@dataclass(frozen=True)
class Found:
    """When the later of the two times is inside; `moves`: how far begin and end move with a nudge."""

    begins: Fraction
    ends: Fraction
    moves: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    doubtful: bool = False


ABOVE = Half(Fraction(1), Fraction(-1), Fraction(0))  # x <= y
BELOW = Half(Fraction(-1), Fraction(1), Fraction(0))  # y <= x


def corners(halves: Sequence[Half]) -> list[Point]:
    """The corners of a bounded set; none: it is empty."""
    found: dict[Point, None] = {}
    for one, other in combinations(dict.fromkeys(halves), 2):
        turn = one.a * other.b - other.a * one.b
        if turn:
            point = ((one.c * other.b - other.c * one.b) / turn, (one.a * other.c - other.a * one.c) / turn)
            if point not in found and all(half.room(point) >= 0 for half in halves):
                found[point] = None
    return list(found)


def is_open_enough(halves: Iterable[Half], points: Sequence[Point]) -> bool:
    """Whether every strict half-plane has one of the corners strictly inside."""
    return all(any(half.room(point) > 0 for point in points) for half in halves if half.strict)


def later_time(halves: Sequence[Half], curve: Curve | None = None) -> Found | None:
    """When the later time is inside, as a closed interval."""
    straight = corners(halves)
    if not straight or not is_open_enough(halves, straight):
        return None
    if curve is None:
        times = [max(point) for point in _split_corners(halves)]
        return Found(min(times), max(times))
    if isinstance(curve, Disc):
        return _inside_disc(halves, curve)
    assert curve.p is not None
    return _reaching(halves, curve)


def best_value(halves: Sequence[Half], product: Product) -> float:
    """The greatest value of a function that is log-concave inside the set."""
    parts = [_Part(part, turned) for part, turned in _parts(halves, product)]
    return max(part.best(part.curve.of)[0] for part in parts if isinstance(part.curve, Product))


def extent(halves: Sequence[Half], form: Form) -> tuple[Fraction, Fraction]:
    """The least and the greatest value of a form in a set that is not empty."""
    values = [form[0] * x + form[1] * y + form[2] for x, y in corners(halves)]
    return min(values), max(values)


def meets_disc(halves: Sequence[Half], disc: Disc) -> bool:
    """Whether some point of the closed set is inside the closed disc."""
    return disc.bound >= 0 and min(_squared(disc, at) for at in _low_points(halves, disc)) <= disc.bound**2


def _split_corners(halves: Sequence[Half]) -> list[Point]:
    return corners([*halves, ABOVE]) + corners([*halves, BELOW])


def _parts(halves: Sequence[Half], curve: Curve) -> list[tuple[list[Half], Curve]]:
    """The two halves of a set that are not empty, turned so that x is the later time."""
    below = [*halves, BELOW]
    above = [*(half.turned() for half in halves), BELOW]
    return [(part, turn) for part, turn in ((below, curve), (above, curve.turned())) if corners(part)]


@dataclass
class _Part:
    """A straight set in which x is the later time."""

    halves: list[Half]
    curve: Curve

    def __post_init__(self) -> None:
        xs = [x for x, _ in corners(self.halves)]
        self.low, self.high = min(xs), max(xs)
        self.plain = [(float(half.a), float(half.b), float(half.c)) for half in self.halves if half.b]

    def side(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """The least and greatest y at some x."""
        low = [(half.c - half.a * x) / half.b for half in self.halves if half.b < 0]
        high = [(half.c - half.a * x) / half.b for half in self.halves if half.b > 0]
        return max(low), min(high)

    def plain_side(self, x: float) -> tuple[float, float]:
        """The same on floats."""
        low = max((c - a * x) / b for a, b, c in self.plain if b < 0)
        high = min((c - a * x) / b for a, b, c in self.plain if b > 0)
        return low, max(low, high)

    def best_at(self, x: float, of: Callable[[float, float], float]) -> float:
        """The greatest value at some x."""
        return _climb(lambda y: of(x, y), *self.plain_side(x))[0]

    def best(self, of: Callable[[float, float], float]) -> tuple[float, float]:
        """The greatest value, and an x of it."""
        return _climb(lambda x: self.best_at(x, of), float(self.low), float(self.high))

    def ends(self, inside: Callable[[Fraction], bool], start: Fraction) -> tuple[Fraction, Fraction]:
        """How far from `start`, which is inside, the set goes to both sides."""
        return _last(inside, start, self.low), _last(inside, start, self.high)


def _last(inside: Callable[[Fraction], bool], good: Fraction, bad: Fraction) -> Fraction:
    if inside(bad):
        return bad
    while abs(bad - good) > FINE:
        middle = (good + bad) / 2
        if inside(middle):
            good = middle
        else:
            bad = middle
    return good


def _climb(of: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """The greatest value of a function with one top between two places, and where it is."""
    golden = 0.6180339887498949
    tries = [(of(low), low), (of(high), high)]
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = of(left), of(right)
    for _ in range(60):
        if not right - left > 1e-12 * (abs(low) + abs(high)):
            break
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = of(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = of(right)
    return max([*tries, (at_left, left), (at_right, right)])


# --- a product of probabilities -----------------------------------------------------------------------------------------------


def _reaching(halves: Sequence[Half], product: Product) -> Found | None:
    assert product.p is not None
    parts = [_Part(part, turned) for part, turned in _parts(halves, product)]
    tops = [part.best(part.curve.of) for part in parts]  # type: ignore[union-attr]
    nudge = float(NUDGE)
    if max(top for top, _ in tops) < product.p - nudge:
        return None
    found = []
    for p in (product.p, product.p - nudge, product.p + nudge):
        spans = []
        for part, (top, at) in zip(parts, tops, strict=True):
            if top >= p:
                of = part.curve.of  # type: ignore[union-attr]
                spans.append(
                    part.ends(lambda x, part=part, of=of, p=p: part.best_at(float(x), of) >= p, Fraction(at))  # type: ignore[misc]
                )
        found.append((min(a for a, _ in spans), max(b for _, b in spans)) if spans else None)
    return _nudged(found)


def _nudged(found: list[tuple[Fraction, Fraction] | None]) -> Found | None:
    """What is found, with how far it moves between the looser and the tighter bound."""
    exact, loose, tight = found
    if loose is None:
        return None
    if exact is None or tight is None:
        return Found(*(exact or loose), doubtful=True)
    return Found(*exact, (tight[0] - loose[0], loose[1] - tight[1]))


# --- a distance ------------------------------------------------------------------------------------------------------------


def _squared(disc: Disc, at: Point) -> Fraction:
    return sum(((a * at[0] + b * at[1] + c) ** 2 for a, b, c in disc.forms), Fraction(0))


def _low_points(halves: Sequence[Half], disc: Disc) -> list[Point]:
    """Points among which are the nearest ones: corners, the lowest of every edge, and the lowest of all if it is inside."""
    points = corners(halves)
    found = list(points)
    for half in dict.fromkeys(halves):
        on_it = [point for point in points if half.room(point) == 0]
        for one, other in combinations(on_it, 2):
            found.append(_lowest_between(disc, one, other))
    aa = sum((a * a for a, _, _ in disc.forms), Fraction(0))
    ab = sum((a * b for a, b, _ in disc.forms), Fraction(0))
    bb = sum((b * b for _, b, _ in disc.forms), Fraction(0))
    ac = sum((a * c for a, _, c in disc.forms), Fraction(0))
    bc = sum((b * c for _, b, c in disc.forms), Fraction(0))
    if turn := aa * bb - ab * ab:
        lowest = ((ab * bc - bb * ac) / turn, (ab * ac - aa * bc) / turn)
        if all(half.room(lowest) >= 0 for half in halves):
            found.append(lowest)
    return found


def _lowest_between(disc: Disc, one: Point, other: Point) -> Point:
    along = (other[0] - one[0], other[1] - one[1])
    steep = [(a * along[0] + b * along[1], a * one[0] + b * one[1] + c) for a, b, c in disc.forms]
    curve = sum((d * d for d, _ in steep), Fraction(0))
    share = -sum((d * at for d, at in steep), Fraction(0)) / curve if curve else Fraction(0)
    share = min(max(share, Fraction(0)), Fraction(1))
    return one[0] + share * along[0], one[1] + share * along[1]


def _inside_disc(halves: Sequence[Half], disc: Disc) -> Found | None:
    if disc.bound < 0:
        return None
    nearest = min(_squared(disc, at) for at in _low_points(halves, disc))
    bounds = [disc.bound, disc.bound * (1 + NUDGE), disc.bound * (1 - NUDGE)]
    if nearest > bounds[1] ** 2:
        return None
    if nearest == disc.bound**2:
        return Found(*_touching(halves, disc, nearest), doubtful=True)
    found = [_disc_span(halves, disc, bound**2) if nearest <= bound**2 else None for bound in bounds]
    return _nudged(found)


def _touching(halves: Sequence[Half], disc: Disc, nearest: Fraction) -> tuple[Fraction, Fraction]:
    """The set when it is no more than the nearest points: a point or a part of a line."""
    points = []
    for side in (ABOVE, BELOW):
        part = [*halves, side]
        if corners(part):
            points += [at for at in _low_points(part, disc) if _squared(disc, at) == nearest]
    times = [max(point) for point in points]
    return min(times), max(times)


def _disc_span(halves: Sequence[Half], disc: Disc, most: Fraction) -> tuple[Fraction, Fraction] | None:
    spans = []
    for half_set, turned in _parts(halves, disc):
        assert isinstance(turned, Disc)
        part = _Part(half_set, turned)
        start = min(_low_points(half_set, turned), key=lambda at, turned=turned: _squared(turned, at))  # type: ignore[misc]
        if _squared(turned, start) <= most:

            def inside(x: Fraction, part: _Part = part, turned: Disc = turned) -> bool:
                low, high = part.side(x)
                return _squared(turned, _lowest_between(turned, (x, low), (x, high))) <= most

            spans.append(part.ends(inside, start[0]))
    return (min(a for a, _ in spans), max(b for _, b in spans)) if spans else None
