"""Nanoseconds a pair of the geometry of PREDICT, on one core: `python benchmarks/kernels_predict.py [pairs]`.

Lines as in the paper's setting: 3.16 km square, 26.8 m/s, life 30 s, tolerance 25 m; K = 400 m, w = 3 s. Pairs are drawn at random, so
most are far apart; then only those that match. Processor time of this process, the best of three runs.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry import (
    Join,
    Lines,
    join_interval,
    join_may,
    join_probability,
    workspace,
)

SECOND = 1_000_000
SIDE_M, SPEED, LIFE_S, TOLERANCE_M, NEAR_M, WITHIN_S = 3162.0, 26.8, 30, 25.0, 400.0, 3
LINES = 20_000
SEED = 7

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


@loop
def _may(lines: Lines, k: Whole, j: Whole, join: Join, work: Real, found: Real) -> None:
    for i in range(len(k)):
        found[i] = join_may(lines, k[i], lines, j[i], join)


@loop
def _interval(lines: Lines, k: Whole, j: Whole, join: Join, work: Real, found: Real) -> None:
    for i in range(len(k)):
        found[i] = join_interval(lines, k[i], lines, j[i], join, 0, work)[0]


@loop
def _both(lines: Lines, k: Whole, j: Whole, join: Join, work: Real, found: Real) -> None:
    for i in range(len(k)):
        found[i] = False
        if join_may(lines, k[i], lines, j[i], join):
            found[i] = join_interval(lines, k[i], lines, j[i], join, 0, work)[0]


@loop
def _probability(lines: Lines, k: Whole, j: Whole, join: Join, work: Real, found: Real) -> None:
    for i in range(len(k)):
        found[i] = join_probability(lines, k[i], lines, j[i], join, 0, work)


def paper_lines(rng: np.random.Generator) -> Lines:
    """Lines of objects anywhere in the square, in any direction, updated within one life of one another."""
    angle = rng.uniform(0, 2 * math.pi, LINES)
    t0 = 1_790_000_000 * SECOND + rng.integers(0, LIFE_S * SECOND, LINES)
    slopes = SPEED * np.column_stack([np.cos(angle), np.sin(angle)])
    return Lines(
        t0, t0, t0 + LIFE_S * SECOND, rng.uniform(0, SIDE_M, (LINES, 2)), slopes, np.full(LINES, TOLERANCE_M)
    )


def paper_join(
    comparators: list[Comparator], certainty: Certainty, p: float = 0.0, distance: float = math.nan
) -> Join:
    """Near in the first dimensions, one for each comparator."""
    of, none, no_bound = np.arange(len(comparators)), np.zeros(0, np.int64), np.zeros(0)
    return Join(
        of,
        of,
        np.array(comparators, np.int64),
        np.full(len(of), NEAR_M),
        distance,
        False,
        none,
        none,
        no_bound,
        none,
        none,
        no_bound,
        WITHIN_S * SECOND,
        int(certainty),
        p,
    )


def nanoseconds(loop, *arguments, pairs: int) -> float:
    """Of one pair, the best of three runs."""
    best = math.inf
    for _ in range(3):
        start = time.process_time_ns()
        loop(*arguments)
        best = min(best, (time.process_time_ns() - start) / pairs)
    return best


def main() -> None:
    """All of it."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(SEED)
    lines = paper_lines(rng)
    k, j = rng.integers(0, LINES, (2, pairs))
    near = [Comparator.LESS_EQUAL] * 2
    joins = {
        "lines, <= in x and y": paper_join(near, Certainty.LINE),
        "lines, < in x and y": paper_join([Comparator.LESS] * 2, Certainty.LINE),
        "MAY, <= in x and y": paper_join(near, Certainty.MAY),
        "PROBABILITY >= 0.8, x": paper_join(near[:1], Certainty.PROBABILITY, 0.8),
        "PROBABILITY >= 0.8, x and y": paper_join(near, Certainty.PROBABILITY, 0.8),
        "DISTANCE <= 400": paper_join([], Certainty.LINE, distance=NEAR_M),
    }
    print(
        f"{pairs:,} random pairs, ns a pair          may  interval  both | matching pairs: interval  probability"
    )
    for name, join in joins.items():
        work, found = workspace(join), np.empty(pairs)
        loops = (_may, _interval, _both)
        for each in (*loops, _probability):
            each(lines, k[:10], j[:10], join, work, found)
        every = [nanoseconds(each, lines, k, j, join, work, found, pairs=pairs) for each in loops]
        chosen = found > 0
        match = [
            nanoseconds(
                loop, lines, k[chosen], j[chosen], join, work, np.empty(chosen.sum()), pairs=int(chosen.sum())
            )
            for loop in (_interval, _probability)
        ]
        may, interval, both = every
        print(
            f"{name:<34} {may:9.0f} {interval:9.0f} {both:5.0f} | {chosen.sum():>7,} {match[0]:15.0f} {match[1]:12.0f}"
        )


if __name__ == "__main__":
    main()
