"""How much worse would a sensor be known without one of its updates?

The contribution of an update is the smaller of ∫|f − f_previous| and ∫|f − f_next| over its life, summed over the dimensions, in
value · seconds: the error of its better neighbour in its place. A sensor's last update is worth more than any number.

Rule 1  The size is taken inside the integral: lines that cross in the middle of the life have an error, though their areas cancel
        (the paper takes |∫ …|, which is 0 for them).
Rule 2  Closed form: with the differences a and b at the two ends of a life of L seconds the integral is L·|a + b|/2, or
        L·(a² + b²)/(2(|a| + |b|)) if they differ in sign.
Rule 3  An integral that overflows is the greatest number: only a sensor's last update is worth infinitely much.
Source  Prediction-based monitoring, section 4.2.2; symbols: e_k^{k−1}, e_k^{k+1} -> `erring`, C_tp -> `contribution`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Lines

GREATEST: Final = np.finfo(np.float64).max


@loop(**LOOP)
def erring(lines: Lines, k: int, other: int) -> float:
    """∫|f_k − f_other| over the life of line k, summed over the dimensions."""
    start, end = lines.start[k], lines.end[k]
    total = 0.0
    for dimension in range(lines.values.shape[1]):
        a = _at(lines, k, dimension, start) - _at(lines, other, dimension, start)
        b = _at(lines, k, dimension, end) - _at(lines, other, dimension, end)
        total += _area(a, b, (end - start) / 1e6)
    return total if total <= GREATEST else GREATEST


@loop(**LOOP)
def contribution(lines: Lines, k: int, before: int, after: int) -> float:
    """What line k is worth beside its neighbours of the same sensor (-1: none)."""
    if after < 0:
        return np.inf
    worth = erring(lines, k, after)
    return worth if before < 0 else min(worth, erring(lines, k, before))


@loop(**LOOP)
def _area(a: float, b: float, seconds: float) -> float:
    """∫ of the size of a straight line from a to b."""
    if seconds == 0.0:
        return 0.0
    if (a >= 0.0) == (b >= 0.0) or a == 0.0 or b == 0.0:
        return abs(a + b) * seconds / 2.0
    return seconds * (a * a + b * b) / (2.0 * (abs(a) + abs(b)))


@loop(**LOOP)
def _at(lines: Lines, k: int, dimension: int, time: int) -> float:
    return lines.values[k, dimension] + lines.slopes[k, dimension] * ((time - lines.t0[k]) / 1e6)
