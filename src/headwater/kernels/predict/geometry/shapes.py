"""Lines and the conditions on them, in the form of the compiled loops.

A line is the promise of one update: values that move evenly, within a tolerance, over a life. A join is all conditions on
two lines together, a single all conditions on one. Loops take them as named tuples of arrays; nothing here computes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.predict.question import Difference, Distance, PredictQuery, Value

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

LOOP: Final[dict[str, Any]] = {"nogil": True, "_nrt": False}
"""How the loops of the geometry are compiled: none of them allocates an array, so none counts references to one."""


class Lines(NamedTuple):
    """One row a line: f(t) = value + slope·(t − t0)/1e6 in each dimension, valid on [start, end).

    `start` is below `t0` only for lives that were extended backwards. Times in microseconds, slopes per second.
    """

    t0: Whole  # int64[n]
    start: Whole  # int64[n]
    end: Whole  # int64[n]
    values: Real  # float64[n, d]
    slopes: Real  # float64[n, d]
    tolerance: Real  # float64[n]


class Pair(NamedTuple):
    """Two lines that may have an answer together: line `k` of the left ones and line `j` of the right ones."""

    left: Lines
    k: int
    right: Lines
    j: int


class Join(NamedTuple):
    """The conditions on a left and a right line: differences of dimensions, a distance, and conditions on each alone.

    `distance` is NaN if there is none. `p` belongs to PROBABILITY. Arrays of one kind of condition have one length, which
    may be 0.
    """

    left_dimension: Whole
    right_dimension: Whole
    comparator: Whole
    bound: Real
    distance: float
    distance_strict: bool
    left_value_dimension: Whole
    left_value_comparator: Whole
    left_value_bound: Real
    right_value_dimension: Whole
    right_value_comparator: Whole
    right_value_bound: Real
    within_us: int
    certainty: int
    p: float


class Single(NamedTuple):
    """The conditions on one line alone."""

    dimension: Whole
    comparator: Whole
    bound: Real
    certainty: int
    p: float


def join_of(query: PredictQuery, left: int, right: int) -> Join:
    """What `query` requires of its aliases number `left` and `right`; a difference written the other way round is turned."""
    pairs: list[tuple[int, int, int, float]] = []
    distance, strict = float("nan"), False
    for condition in query.conditions:
        match condition:
            case Difference(a, of_a, b, of_b, comparator, bound) if (a, b) == (left, right):
                pairs.append((of_a, of_b, comparator, bound))
            case Difference(b, of_b, a, of_a, comparator, bound) if (a, b) == (left, right):
                pairs.append((of_a, of_b, comparator, bound))
            case Distance(a, b, below, bound) if {a, b} == {left, right} and not (
                bound > distance or (bound == distance and strict)
            ):
                distance, strict = bound, below
    return Join(
        _whole(of_a for of_a, _, _, _ in pairs),
        _whole(of_b for _, of_b, _, _ in pairs),
        _whole(comparator for _, _, comparator, _ in pairs),
        np.array([bound for _, _, _, bound in pairs], np.float64),
        distance,
        strict,
        *_values(query, left),
        *_values(query, right),
        int(query.within_us),
        int(query.certainty),
        float(query.p),
    )


def single_of(query: PredictQuery, alias: int) -> Single:
    """What `query` requires of its alias number `alias` alone."""
    return Single(*_values(query, alias), int(query.certainty), float(query.p))


def _values(query: PredictQuery, alias: int) -> tuple[Whole, Whole, Real]:
    """Dimensions, comparators and bounds of the conditions on one alias, in the order written."""
    mine = [one for one in query.conditions if isinstance(one, Value) and one.alias == alias]
    return (
        _whole(one.dimension for one in mine),
        _whole(one.comparator for one in mine),
        np.array([one.bound for one in mine], np.float64),
    )


def _whole(numbers: Any) -> Whole:
    return np.array([int(number) for number in numbers], np.int64)
