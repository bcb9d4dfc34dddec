"""Which values may a line, or the difference of two lines, have for a condition to hold?

A comparator with a bound K allows the difference d = left − right a few ranges, its pieces; each choice of pieces is one answer.

    <=, <   −B .. B
    >=, >   B .. ∞          −∞ .. −B
    =       K−Δ .. K+Δ      −K−Δ .. −K+Δ           (one piece if K = 0)
    <>      out .. ∞        −∞ .. −out     −in .. in      (two pieces if K = 0)

Rule 1  Δ is the sum of the tolerances under MAY and MUST, 0 under LINE; B, in and out are K with Δ added or subtracted as
        the certainty requires. Under PROBABILITY B is the bound at which p is reached.
Rule 2  Where two pieces would touch or overlap, the first takes all and the others are empty.
Rule 3  With a tolerance, `=` is never sure, and never probable; `<>` is always possible and almost sure.
Rule 4  A condition on one value has the ranges of a comparison: `<>` two pieces (above, below), all others one.
Rule 5  < and > and <> exclude the ends of their ranges (`strict`), but not where a probability decides: it is continuous.
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry.chances import beyond_bound, ordered, within_bound
from headwater.kernels.predict.geometry.decimals import together
from headwater.kernels.predict.geometry.shapes import LOOP

LESS_EQUAL: Final = int(Comparator.LESS_EQUAL)
LESS: Final = int(Comparator.LESS)
GREATER_EQUAL: Final = int(Comparator.GREATER_EQUAL)
GREATER: Final = int(Comparator.GREATER)
EQUAL: Final = int(Comparator.EQUAL)
DIFFERENT: Final = int(Comparator.DIFFERENT)
LINE: Final = int(Certainty.LINE)
MAY: Final = int(Certainty.MAY)
MUST: Final = int(Certainty.MUST)
PROBABILITY: Final = int(Certainty.PROBABILITY)

NOISE: Final = 2.0**-50
"""A bound less its tolerances is zero if it is below this share of them: 0.3 − 0.1 − 0.2 is not negative."""

Range = tuple[bool, float, float, bool]
"""Whether there is such a piece; its ends, which may be infinite; whether the ends are excluded."""


@loop(**LOOP)
def difference_pieces(comparator: int, bound: float) -> int:
    """How many pieces a condition on a difference has."""
    if comparator <= LESS:
        return 1
    if comparator == EQUAL:
        return 2 if bound > 0.0 else 1
    if comparator == DIFFERENT:
        return 3 if bound > 0.0 else 2
    return 2


@loop(**LOOP)
def value_pieces(comparator: int) -> int:
    """How many pieces a condition on one value has."""
    return 2 if comparator == DIFFERENT else 1


@loop(**LOOP, forceinline=True)
def is_strict(comparator: int) -> bool:
    """Whether a comparator excludes the ends of its ranges."""
    return comparator in (LESS, GREATER, DIFFERENT)


@loop(**LOOP, forceinline=True)
def difference_range(
    comparator: int, bound: float, certainty: int, p: float, one: float, other: float, piece: int
) -> Range:
    """The range of left − right for a piece of |left − right| compared with `bound`, tolerances `one` and `other`."""
    if comparator <= LESS and certainty <= MUST:  # nearly all of them
        limit = bound
        if certainty == MAY:
            limit = together(bound, one + other)
        elif certainty == MUST:
            limit = less(bound, one + other)
        return limit >= 0.0, -limit, limit, comparator == LESS
    return _other_range(comparator, bound, certainty, p, one, other, piece)


@loop(**LOOP)
def _other_range(
    comparator: int, bound: float, certainty: int, p: float, one: float, other: float, piece: int
) -> Range:
    both = one + other
    slack = both if certainty in (MAY, MUST) else 0.0
    smooth = certainty == PROBABILITY and both > 0.0
    if comparator <= LESS:
        wide, narrow = ordered(one, other)
        limit = within_bound(p, bound, wide, narrow)
        return limit >= 0.0, -limit, limit, comparator == LESS and not smooth
    if comparator <= GREATER:
        strict = comparator == GREATER and not smooth
        limit = together(bound, slack) if certainty == MUST else less(bound, slack)
        if smooth:
            wide, narrow = ordered(one, other)
            limit = beyond_bound(p, bound, wide, narrow)
        if limit < 0.0 or (limit == 0.0 and not strict):
            return piece == 0, -math.inf, math.inf, False
        if piece == 0:
            return True, limit, math.inf, strict
        return True, -math.inf, -limit, strict
    if comparator == EQUAL:
        if both > 0.0 and certainty >= MUST:
            return False, 0.0, 0.0, False
        limit, most = less(bound, slack), together(bound, slack)
        if limit <= 0.0:
            return piece == 0, -most, most, False
        if piece == 0:
            return True, limit, most, False
        return True, -most, -limit, False
    if both > 0.0 and certainty in (MAY, PROBABILITY):
        return piece == 0, -math.inf, math.inf, False
    if piece == 0:
        return True, together(bound, slack), math.inf, True
    if piece == 1:
        return True, -math.inf, -together(bound, slack), True
    limit = less(bound, slack)
    return limit > 0.0, -limit, limit, True


@loop(**LOOP)
def value_range(
    comparator: int, bound: float, certainty: int, p: float, tolerance: float, piece: int
) -> Range:
    """The range of a line for a piece of its value compared with `bound`."""
    slack = 0.0
    if certainty == MAY:
        slack = tolerance
    elif certainty == MUST:
        slack = -tolerance
    smooth = certainty == PROBABILITY and tolerance > 0.0
    if smooth:
        slack = tolerance * (1.0 - 2.0 * p)
    low, high = together(bound, -slack), together(bound, slack)
    if comparator <= LESS:
        return True, -math.inf, high, comparator == LESS and not smooth
    if comparator <= GREATER:
        return True, low, math.inf, comparator == GREATER and not smooth
    if comparator == EQUAL:
        if tolerance > 0.0 and certainty >= MUST:
            return False, 0.0, 0.0, False
        return True, low, high, False
    if tolerance > 0.0 and certainty in (MAY, PROBABILITY):
        return piece == 0, -math.inf, math.inf, False
    if piece == 0:
        return True, low, math.inf, True
    return True, -math.inf, high, True


@loop(**LOOP, forceinline=True)
def less(bound: float, slack: float) -> float:
    """A bound less its tolerances."""
    rest = together(bound, -slack)
    if rest < 0.0 and rest >= -NOISE * slack:
        return 0.0
    return rest
