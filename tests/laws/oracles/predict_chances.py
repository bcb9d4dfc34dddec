"""What MAY, MUST and PROBABILITY ask of a line or of the difference of two, and how likely a condition is.

Values are evenly spread over their tolerance and independent of one another. A condition falls into *pieces*, each a range of the
line's value or of the difference: `>=` on the size of a difference has one above and one below.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.question import Difference, Distance, Value

Piece = list[tuple[int, Fraction, bool]] | None  # sign · value <= bound, or <; None: nothing can satisfy it

LINE, MAY, MUST, PROBABILITY = Certainty
AT_MOST, BELOW, AT_LEAST, ABOVE, EQUAL, DIFFERENT = Comparator
FALLING, RISING = (AT_MOST, BELOW), (AT_LEAST, ABOVE)


def written(number: float) -> Fraction:
    """The decimal that a float is written as: 0.3, where the float is 0.299999999999999988897769753748."""
    return Fraction(repr(float(number)))


# --- pieces ----------------------------------------------------------------------------------------------------------------


def pieces_of(condition: Value | Difference | Distance) -> int:
    """How many pieces a condition has at most."""
    if isinstance(condition, Distance) or condition.comparator in FALLING:
        return 1
    if isinstance(condition, Value):
        return 2 if condition.comparator is DIFFERENT else 1
    return 3 if condition.comparator is DIFFERENT else 2


def value_pieces(value: Value, tolerance: Fraction, certainty: Certainty, p: float) -> list[Piece]:
    """What the line itself has to satisfy, piece by piece."""
    bound, comparator = written(value.bound), value.comparator
    reach = {LINE: Fraction(0), MAY: tolerance, MUST: -tolerance}.get(certainty)
    if reach is None:  # the chance that a value is below c is (c − f + δ) / 2δ
        reach = tolerance - 2 * tolerance * Fraction(p)
    if comparator in FALLING:
        return [[(1, bound + reach, _is_strict(comparator, certainty, tolerance))]]
    if comparator in RISING:
        return [[(-1, -bound + reach, _is_strict(comparator, certainty, tolerance))]]
    if comparator is EQUAL:
        if tolerance > 0 and certainty in (MUST, PROBABILITY):
            return [None]
        room = tolerance if certainty is MAY else Fraction(0)
        return [[(1, bound + room, False), (-1, -bound + room, False)]]
    if tolerance > 0 and certainty in (MAY, PROBABILITY):
        return [[], None]
    room = tolerance if certainty is MUST else Fraction(0)
    return [[(-1, -bound - room, True)], [(1, bound - room, True)]]


def _is_strict(comparator: Comparator, certainty: Certainty, total: Fraction) -> bool:
    """A probability that is reached at a border is reached, unless there is no uncertainty at all."""
    return comparator in (BELOW, ABOVE) and not (certainty is PROBABILITY and total > 0)


def difference_pieces(
    condition: Difference, one: Fraction, other: Fraction, certainty: Certainty, p: float
) -> list[Piece]:
    """What the difference of the lines has to satisfy, piece by piece."""
    bound, comparator, total = written(condition.bound), condition.comparator, one + other
    if comparator in FALLING:
        if certainty is PROBABILITY and total > 0:
            reached = _greatest_difference(condition, one, other, Fraction(p))
            return [None] if reached is None else [_between(reached, strict=False)]
        size = bound + {MAY: total, MUST: -total}.get(certainty, Fraction(0))
        return [_between(size, strict=comparator is BELOW)]
    if comparator in RISING:
        if certainty is PROBABILITY and total > 0:
            return _beyond(_least_difference(condition, one, other, Fraction(p)), strict=False)
        size = bound + {MAY: -total, MUST: total}.get(certainty, Fraction(0))
        return _beyond(size, strict=comparator is ABOVE)
    if comparator is EQUAL:
        if total > 0 and certainty in (MUST, PROBABILITY):
            return [None, None]
        room = total if certainty is MAY else Fraction(0)
        if bound - room <= 0:
            return [_between(bound + room, strict=False), None]
        low, high = bound - room, bound + room
        return [[(1, high, False), (-1, -low, False)], [(-1, high, False), (1, -low, False)]]
    if total > 0 and certainty in (MAY, PROBABILITY):
        return [[], None, None]
    room = total if certainty is MUST else Fraction(0)
    inner = _between(bound - room, strict=True) if bound - room > 0 else None
    return [*_beyond(bound + room, strict=True), inner]


def _between(size: Fraction, *, strict: bool) -> Piece:
    return None if size < 0 else [(1, size, strict), (-1, size, strict)]


def _beyond(size: Fraction, *, strict: bool) -> list[Piece]:
    """Two pieces; where they meet, the first one is all."""
    if size < 0 or (size == 0 and not strict):
        return [[], None]
    return [[(-1, -size, strict)], [(1, -size, strict)]]


def _greatest_difference(
    condition: Difference, one: Fraction, other: Fraction, p: Fraction
) -> Fraction | None:
    """How far apart two lines may be so that the chance, which falls with it, is still p."""

    def reaches(size: Fraction) -> bool:
        return difference_probability(condition, size, one, other) >= p

    if not reaches(Fraction(0)):
        return None
    good, bad = _around(condition, one, other, reaches)
    return good if bad is None else _bisect(reaches, good, bad)[0]


def _least_difference(condition: Difference, one: Fraction, other: Fraction, p: Fraction) -> Fraction:
    """How far apart two lines must be so that the chance, which grows with it, is p."""

    def fails(size: Fraction) -> bool:
        return difference_probability(condition, size, one, other) < p

    if not fails(Fraction(0)):
        return Fraction(0)
    good, bad = _around(condition, one, other, fails)
    assert bad is not None
    return _bisect(fails, good, bad)[1]


def _around(
    condition: Difference, one: Fraction, other: Fraction, holds: Callable[[Fraction], bool]
) -> tuple[Fraction, Fraction | None]:
    """The last of the places where the density bends at which it holds, and the first at which it does not."""
    bound = written(condition.bound)
    bends = {
        abs(s * bound + t * width) for s in (1, -1) for t in (1, -1) for width in (one + other, one - other)
    }
    held = [size for size in sorted(bends | {Fraction(0)}) if holds(size)]
    failed = [size for size in sorted(bends) if size > held[-1]]
    return held[-1], failed[0] if failed else None


def _bisect(holds: Callable[[Fraction], bool], good: Fraction, bad: Fraction) -> tuple[Fraction, Fraction]:
    for _ in range(70):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good, bad


# --- probabilities -----------------------------------------------------------------------------------------------------------


def value_probability(value: Value, at: Fraction, tolerance: Fraction) -> Fraction:
    """The chance that a value evenly spread about `at` satisfies its condition; on the line's own set if there is no tolerance."""
    if tolerance == 0 or value.comparator is DIFFERENT:
        return Fraction(1)
    if value.comparator is EQUAL:
        return Fraction(0)
    below = (written(value.bound) - at + tolerance) / (2 * tolerance)
    below = min(max(below, Fraction(0)), Fraction(1))
    return below if value.comparator in FALLING else 1 - below


def difference_probability(condition: Difference, at: Fraction, one: Fraction, other: Fraction) -> Fraction:
    """The chance that the size of a difference of two evenly spread values is as the condition wants it."""
    if one + other == 0 or condition.comparator is DIFFERENT:
        return Fraction(1)
    if condition.comparator is EQUAL:
        return Fraction(0)
    bound = written(condition.bound)
    inside: Fraction = below(bound - at, one, other) - below(-bound - at, one, other)
    return inside if condition.comparator in FALLING else 1 - inside


def below(z: Any, one: Any, other: Any) -> Any:
    """The chance that the sum of two values, evenly spread over [−one, one] and [−other, other], is below z."""
    if one == 0 or other == 0:
        width = one + other
        return min(max((z + width) / (2 * width), 0 * z), 1 + 0 * z)

    def ramp(u: Any) -> Any:
        return u * u / 2 if u > 0 else 0 * u

    wide, narrow = one + other, abs(one - other)
    bends = ramp(z + wide) - ramp(z + narrow) - ramp(z - narrow) + ramp(z - wide)
    return min(max(bends / (4 * one * other), 0 * z), 1 + 0 * z)


def difference_function(condition: Difference, one: float, other: float) -> Callable[[float], float]:
    """The chance on floats, by the difference of the lines."""
    bound = condition.bound
    if condition.comparator in (EQUAL, DIFFERENT):
        return lambda at: float(condition.comparator is DIFFERENT)
    if condition.comparator in FALLING:
        return lambda at: float(below(bound - at, one, other) - below(-bound - at, one, other))
    return lambda at: 1.0 - float(below(bound - at, one, other) - below(-bound - at, one, other))


def value_function(value: Value, tolerance: float) -> Callable[[float], float]:
    """The chance on floats, by the line."""
    if tolerance == 0 or value.comparator in (EQUAL, DIFFERENT):
        return lambda at: float(tolerance == 0 or value.comparator is DIFFERENT)
    sign = 1.0 if value.comparator in FALLING else -1.0
    return lambda at: min(max(sign * (value.bound - at) / (2 * tolerance) + 0.5, 0.0), 1.0)
