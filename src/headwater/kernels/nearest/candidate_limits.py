"""How many candidates does a query have to store?

All of it is about streams in random order: every order of the objects in time is equally likely, whatever the distribution of their
distances. Rank 1 is the nearest object of the window; a query needs k objects.

Rule 1  An object of rank r > k becomes an answer only if nearer and older objects expire faster than nearer objects arrive. In random
        order this is a walk of fair steps, and reflection gives its chance: 2 P[Bin(r+k-1, 1/2) <= k-1]. It does not depend on
        the size of the window, and so neither on the rate of the stream.
Rule 2  Sums are of whole numbers, and only the last division rounds: a limit must not depend on the machine.

Memory  None, but for the last few limits that were computed.
Source  REFERENCES B1, the derivation of the criterion of PA (sections 4.2 and 4.3 of the paper). P_ever -> p_ever,
        R*(k, σ) -> r_star, T(R)/A(k) -> expected_loss, b -> rows of the recent buffer, φ -> RECENT_SHARE.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

# φ: of all objects, those that may still be candidates when they leave the recent buffer.
RECENT_SHARE: Final = 1 / 3000
# For small k: so many rows cost little, and let even fewer objects through.
LEAST_RECENT: Final = 10_000
# For large k: the rows are shared by all queries, but not free. Still 20 for each of the greatest possible k.
MOST_RECENT: Final = 200_000
# With PER every partition has recent rows of its own: so many for each of the k of each point.
RECENT_OF_PARTITION: Final = 8

_EULER: Final = 0.5772156649015329
_LEAST_CHANCE: Final = 5e-324  # the normal estimate has no start for a chance of zero


def p_ever(r: int, k: int) -> float:
    """The chance that an object of rank r among those of its window is ever one of the k nearest, in random order."""
    if r <= k:
        return 1.0
    n = r + k - 1
    return 2 * _at_most(n, k - 1) / (1 << n)


@lru_cache(maxsize=256)
def r_star(k: int, sigma: float) -> int:
    """R*: the least rank at which `p_ever` is at most `sigma`; PA stores so many objects. Needs 0 < sigma < 1.

    The normal estimate says where to begin. From there on it is exact, one rank at a time: with S(n) the number of ways to
    have at most k - 1 heads in n throws, S(n+1) = 2 S(n) - C(n, k-1).
    """
    r = max(k + 1, round(_normal_estimate(k, sigma)))
    n = r + k - 1
    ways, top = _at_most(n, k - 1), math.comb(n, k - 1)
    while 2 * ways / (1 << n) > sigma:
        ways = 2 * ways - top
        n += 1
        top = top * n // (n - k + 1)
    while n > 2 * k:
        top = top * (n - k + 1) // n
        fewer = (ways + top) // 2
        if 2 * fewer / (1 << n - 1) > sigma:
            break
        ways, n = fewer, n - 1
    return n - k + 1


def expected_loss(limit: int, k: int) -> float:
    """T(R)/A(k): the share of all answers that are lost by keeping `limit` >= k objects, in random order.

    T(R), the sum of p_ever over all ranks above R, has a closed form (with m = R + k):
    T(R) = 2 (k C(m, k) - (R - k) #{at most k-1 heads in m throws}) / 2^m, and A(k) = k + T(k).
    """
    m = limit + k
    lost = 2 * (k * math.comb(m, k) - (limit - k) * _at_most(m, k - 1))
    every = k * ((1 << 2 * k) + 2 * math.comb(2 * k, k))
    return (lost << 2 * k) / (every << m)


def skyband_size(k: int, n: int) -> float:
    """How many of n objects have fewer than k younger and nearer ones, in random order: k (1 + H_n - H_k)."""
    return float(n) if n < k else k * (1 + _harmonic(n) - _harmonic(k))


def recent_rows(k: int) -> int:
    """How many objects the recent buffer of RAPF holds.

    Condition (a) of REFERENCES B1, b >= k/φ - 1 with φ = 1/3000: so few objects are candidates when they leave the buffer. For
    large k memory is the bound, condition (c).

    The kernel also limits the buffer to half a window, which makes the filter exact without another search of the buffer:
    an object is deferred only if k objects of the buffer are nearer, each younger than half a window. It leaves the buffer
    before it is half a window old itself, and until then those k are all in the window. So it is no answer before it leaves,
    and when it leaves it is dropped only if k younger objects are nearer, or else becomes a candidate.
    """
    return min(max(LEAST_RECENT, round(k / RECENT_SHARE)), MOST_RECENT) - 1


def _at_most(n: int, most: int) -> int:
    """In how many ways n throws give at most so many heads: the sum of C(n, i) for i up to `most`."""
    ways, total = 1, 0
    for i in range(most + 1):
        total += ways
        ways = ways * (n - i) // (i + 1)
    return total


def _normal_estimate(k: int, sigma: float) -> float:
    z = -NormalDist().inv_cdf(max(sigma / 2, _LEAST_CHANCE))
    return k - 0.5 + z * z / 2 + z * math.sqrt(2 * k + z * z / 4)


def _harmonic(n: int) -> float:
    """H_n = 1 + 1/2 + … + 1/n; above a hundred by Euler and Maclaurin, whose next term is below the last bit."""
    if n <= 100:
        return math.fsum(1 / i for i in range(1, n + 1))
    square = float(n) * n
    return (
        math.log(n) + _EULER + 1 / (2 * n) - 1 / (12 * square) + 1 / (120 * square**2) - 1 / (252 * square**3)
    )
