"""Lines and conditions drawn so that borders meet, touch and coincide often; and the same for the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry import Join, Lines, Single
from tests.laws.oracles.lines import Line, LineCondition

SECOND = 1_000_000
BASE = 1_790_000_000 * SECOND
"""Kernels count from 1970; the drawn worlds begin here."""

LESS = (Comparator.LESS_EQUAL, Comparator.LESS)
CHANCES = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(15, 16), Fraction(1))


Place = Callable[[Fraction], Fraction]
"""Where a drawn value really is: a decimal, of which the kernel has the nearest float."""


def _from(offset: int, unit: str = "1") -> Place:
    return lambda value: offset + Fraction(unit) * value


NEAR_ZERO = _from(0)
places = st.sampled_from(
    [
        NEAR_ZERO,
        NEAR_ZERO,
        _from(40_000_000_000),
        _from(-5_000_000),
        _from(1_000_000_000, "0.02"),
        _from(2**50),
        _from(24, "0.1"),
        _from(24, "0.01"),
        _from(0, "0.1"),
    ]
)
"""Near zero; far from it, where halves are still exact; and tenths and hundredths, which no float holds exactly."""


def halves(low: int, high: int) -> st.SearchStrategy[Fraction]:
    return st.integers(2 * low, 2 * high).map(lambda number: Fraction(number, 2))


@st.composite
def lines(
    draw: st.DrawFn,
    dimensions: int,
    tolerances: Sequence[Fraction] | None = None,
    place: Place = NEAR_ZERO,
) -> Line:
    t0 = Fraction(draw(st.integers(0, 5)))
    back = draw(st.sampled_from([0, 0, 0, 2]))
    choice = tolerances or [Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)]
    return Line(
        t0,
        t0 - back,
        t0 + draw(st.sampled_from([0, 1, 2, 3, 5, 8, 30]) if back == 0 else st.integers(1, 8)),
        tuple(place(draw(halves(-5, 5))) for _ in range(dimensions)),
        tuple(draw(st.one_of(st.integers(-3, 3).map(Fraction), halves(-3, 3))) for _ in range(dimensions)),
        draw(st.sampled_from(choice)),
    )


@st.composite
def differences(
    draw: st.DrawFn,
    dimensions: int,
    comparators: Sequence[Comparator] = tuple(Comparator),
    place: Place = NEAR_ZERO,
) -> LineCondition:
    of_left = draw(st.integers(0, dimensions - 1))
    of_right = draw(st.sampled_from([of_left, of_left, draw(st.integers(0, dimensions - 1))]))
    bound = draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)]))
    bound = place(bound) - place(Fraction(0))  # as far apart as values are
    return LineCondition(of_left, of_right, draw(st.sampled_from(comparators)), bound)


@st.composite
def values(draw: st.DrawFn, dimensions: int, *, left: bool, place: Place = NEAR_ZERO) -> LineCondition:
    of = draw(st.integers(0, dimensions - 1))
    comparator = draw(st.sampled_from(list(Comparator)))
    return LineCondition(of if left else None, None if left else of, comparator, place(draw(halves(-4, 4))))


windows = st.sampled_from([Fraction(0), Fraction(1), Fraction(2), Fraction(5), Fraction(1, 2)])


def kernel_lines(*drawn: Line) -> Lines:
    """Lines as the kernel takes them."""
    return Lines(
        *(np.array([_us(getattr(line, name)) for line in drawn]) for name in ("t0", "start", "end")),
        np.array([[float(v) for v in line.values] for line in drawn]),
        np.array([[float(v) for v in line.slopes] for line in drawn]),
        np.array([float(line.tolerance) for line in drawn]),
    )


def kernel_join(
    conditions: Sequence[LineCondition],
    within: Fraction,
    certainty: Certainty,
    p: Fraction = Fraction(0),
    distance: float = math.nan,
    *,
    strict: bool = False,
) -> Join:
    """A join as the kernel takes it; conditions on the left line come first, then those on the right, then differences."""
    pairs = [one for one in conditions if one.of_left is not None and one.of_right is not None]
    lefts = [one for one in conditions if one.of_right is None]
    rights = [one for one in conditions if one.of_left is None]
    assert [*lefts, *rights, *pairs] == list(conditions)
    return Join(
        _whole([one.of_left for one in pairs]),
        _whole([one.of_right for one in pairs]),
        _whole([one.comparator for one in pairs]),
        _real(pairs),
        distance,
        strict,
        _whole([one.of_left for one in lefts]),
        _whole([one.comparator for one in lefts]),
        _real(lefts),
        _whole([one.of_right for one in rights]),
        _whole([one.comparator for one in rights]),
        _real(rights),
        int(within * SECOND),
        int(certainty),
        float(p),
    )


def kernel_single(
    conditions: Sequence[LineCondition], certainty: Certainty, p: Fraction = Fraction(0)
) -> Single:
    """Conditions on one line as the kernel takes them."""
    return Single(
        _whole([one.of_left for one in conditions]),
        _whole([one.comparator for one in conditions]),
        _real(conditions),
        int(certainty),
        float(p),
    )


def seconds(time_us: int) -> Fraction:
    """A time of the kernel in the drawn world."""
    return Fraction(int(time_us) - BASE, SECOND)


def _us(time: Fraction) -> int:
    return BASE + int(time * SECOND)


def _whole(numbers: Sequence[int | None]) -> np.ndarray:
    return np.array(numbers, np.int64)


def _real(conditions: Sequence[LineCondition]) -> np.ndarray:
    return np.array([float(one.bound) for one in conditions], np.float64)
