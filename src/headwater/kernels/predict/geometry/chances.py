"""How probable is a condition on values that are known only within tolerances?

A real value lies anywhere within its tolerance of the line, with uniform probability, independent of all other
values. One value: a uniform density. A difference of two values: the error E is the sum of two uniform ones, `wide` and
`narrow` (half widths, wide >= narrow), and its density a trapezoid: flat on |e| <= wide − narrow, zero beyond wide + narrow.

Rule 1  P(|d + E| <= K) is even in d and never grows with |d|; so P >= p is |d| <= a bound, and P(|d + E| >= K) >= p is
        |d| >= a bound. Between the corners of the density the derivative is linear, so bounds are roots of
        quadratic equations, in closed form.
Rule 2  A tolerance of zero is a uniform density of width zero: with one of them the trapezoid is a rectangle, with both P is
        0 or 1. A narrow one below a millionth of a millionth of the wide one counts as zero, else its square would underflow.
Rule 3  Probabilities are equal if they differ by less than `NEAR`.
"""

from __future__ import annotations

import math
from typing import Final

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP

NEAR: Final = 4e-15
THIN: Final = 1e-12


@loop(**LOOP)
def above(z: float, wide: float, narrow: float) -> float:
    """P(E > z) of the trapezoid; `wide` is above 0."""
    if z < 0.0:
        return 1.0 - above_zero(-z, wide, narrow)
    return above_zero(z, wide, narrow)


@loop(**LOOP, forceinline=True)
def above_zero(z: float, wide: float, narrow: float) -> float:
    """P(E > z) for z >= 0."""
    if z >= wide + narrow:
        return 0.0
    if z <= wide - narrow:
        return 0.5 - z / (2.0 * wide)
    rest = wide + narrow - z
    return rest * rest / (8.0 * wide * narrow)


@loop(**LOOP)
def density(z: float, wide: float, narrow: float) -> float:
    """The density of E at `z`; `wide` is above 0."""
    z = abs(z)
    if z <= wide - narrow:
        return 0.5 / wide
    if z >= wide + narrow:
        return 0.0
    return (wide + narrow - z) / (4.0 * wide * narrow)


@loop(**LOOP)
def ordered(one: float, other: float) -> tuple[float, float]:
    """Two tolerances as (wide, narrow)."""
    wide, narrow = max(one, other), min(one, other)
    if narrow < THIN * wide:
        narrow = 0.0
    return wide, narrow


@loop(**LOOP)
def chance_within(d: float, bound: float, wide: float, narrow: float) -> float:
    """P(|d + E| <= bound)."""
    d = abs(d)
    if wide == 0.0:
        return 1.0 if d <= bound else 0.0
    return max(0.0, 1.0 - above(bound - d, wide, narrow) - above(bound + d, wide, narrow))


@loop(**LOOP)
def chance_beyond(d: float, bound: float, wide: float, narrow: float) -> float:
    """P(|d + E| >= bound)."""
    d = abs(d)
    if wide == 0.0:
        return 1.0 if d >= bound else 0.0
    return min(1.0, above(bound - d, wide, narrow) + above(bound + d, wide, narrow))


@loop(**LOOP)
def chance_slope(d: float, bound: float, wide: float, narrow: float) -> float:
    """The derivative of P(|d + E| <= bound) in d; `wide` is above 0."""
    return density(bound + d, wide, narrow) - density(bound - d, wide, narrow)


@loop(**LOOP)
def within_bound(p: float, bound: float, wide: float, narrow: float) -> float:
    """The largest |d| with P(|d + E| <= bound) >= p; −1 if there is none."""
    if wide == 0.0:
        return bound
    if p >= 1.0:
        rest = bound - wide - narrow
        return max(rest, 0.0) if rest >= -NEAR * (bound + wide) else -1.0
    if chance_within(0.0, bound, wide, narrow) < p - NEAR:
        return -1.0
    return _crossing(p, -NEAR, bound, wide, narrow)


@loop(**LOOP)
def beyond_bound(p: float, bound: float, wide: float, narrow: float) -> float:
    """The smallest |d| with P(|d + E| >= bound) >= p."""
    if wide == 0.0:
        return bound
    if chance_within(0.0, bound, wide, narrow) <= 1.0 - p + NEAR:
        return 0.0
    if p >= 1.0:
        return bound + wide + narrow
    return _crossing(1.0 - p, NEAR, bound, wide, narrow)


@loop(**LOOP)
def _crossing(level: float, near: float, bound: float, wide: float, narrow: float) -> float:
    """Where P(|d + E| <= bound) falls to `level`; `near` decides for a part where it stays at the level."""
    outer, inner = wide + narrow, wide - narrow
    one, other, third = abs(bound - outer), abs(bound - inner), bound + inner
    corners = (min(one, other), max(other, min(one, third)), max(one, third), bound + outer)
    begin = 0.0
    for part in range(4):
        end = corners[part]
        if end <= begin:
            continue
        if part == 3 or chance_within(end, bound, wide, narrow) < level + near:
            return begin + _root(level, begin, end - begin, bound, wide, narrow)
        begin = end
    return begin


@loop(**LOOP)
def _root(level: float, begin: float, length: float, bound: float, wide: float, narrow: float) -> float:
    """How far after `begin` the level is reached, on a part on which the derivative is linear."""
    # The density may jump at the ends of the part; a quarter from them it does not.
    early = chance_slope(begin + 0.25 * length, bound, wide, narrow)
    late = chance_slope(begin + 0.75 * length, bound, wide, narrow)
    bend = (late - early) / length  # half of the second derivative
    slope = early - 0.5 * (late - early)
    excess = max(0.0, chance_within(begin, bound, wide, narrow) - level)
    below = -slope + math.sqrt(max(0.0, slope * slope - 4.0 * bend * excess))
    if below <= 0.0:
        return length if excess > 0.0 else 0.0
    return min(length, 2.0 * excess / below)


@loop(**LOOP)
def chance_below(f: float, bound: float, tolerance: float) -> float:
    """P(f + U <= bound) of one value."""
    if tolerance == 0.0:
        return 1.0 if f <= bound else 0.0
    return min(1.0, max(0.0, 0.5 + (bound - f) / (2.0 * tolerance)))
