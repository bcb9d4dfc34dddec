"""What are the sum and the difference of two numbers written in decimals?

24.98 − 24.68 is 0.3 in decimals, and 0.3000000000000007 in floating point: each number was rounded when it was read, and the
difference shows it. So sums and differences are corrected here: of the decimals with as many digits after the point as numbers of
twelve digits have, the nearest one is taken, if it is as near as rounding can have moved it.

Rule 1  Whole numbers do not change, and neither does a number that is not near such a decimal.
Rule 2  The result is the float nearest to the decimal: so it can be compared with others exactly.
Rule 3  A step of the decimals is more than a thousand times the largest rounding error: numbers that are not decimals, such as a computed
        position, are hardly ever taken for one, and if so, then within their own last digit.
Rule 4  A step is a power of ten that a float holds exactly, and fewer than 2^53 steps are as large as the number: nothing is rounded but
        the result.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP

HALF_DIGIT: Final = 2.0**-53
"""The largest rounding error of a number, relative to its size."""

_SPARE: Final = 10
"""A step is more than 2^10 times the largest rounding error."""

_MOST: Final = 22
_POWERS: Final = np.array([float(10**digits) for digits in range(_MOST + 1)])


@loop(**LOOP, forceinline=True)
def apart(one: float, other: float) -> float:
    """One number less another."""
    gap = one - other
    if one == 0.0 or other == 0.0 or gap == 0.0:
        return gap
    return _put_right(gap, HALF_DIGIT * (abs(one) + abs(other) + abs(gap)))


@loop(**LOOP, forceinline=True)
def together(bound: float, tolerances: float) -> float:
    """A bound and tolerances, which may be negative and a sum themselves."""
    if tolerances == 0.0:
        return bound
    return _put_right(bound + tolerances, 4.0 * HALF_DIGIT * (abs(bound) + abs(tolerances)))


@loop(**LOOP, forceinline=True)
def _put_right(number: float, off: float) -> float:
    """The decimal meant by a number that may have this error."""
    if number == math.floor(number):
        return number
    _, power = math.frexp(off)  # off < 2^power
    digits = min(max(-(power + _SPARE), 0) * 1233 >> 12, _MOST)  # 1233 / 4096: a little less than log10(2)
    if digits == 0:
        return number
    step = _POWERS[digits]
    meant = math.floor(number * step + 0.5) / step
    return meant if abs(meant - number) <= off else number
