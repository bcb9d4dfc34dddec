"""Sums and differences of decimals, worked out by hand: what a person would call right, and what must not be touched."""

from __future__ import annotations

import math

import pytest

from headwater.kernels.predict.geometry.decimals import apart, together


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (24.98, 24.68, 0.3),
        (24.68, 24.98, -0.3),
        (0.8, 0.6, 0.2),
        (0.3, 0.1, 0.2),
        (1_000_000_000.02, 1_000_000_000.0, 0.02),
        (40_000_000_000.25, 40_000_000_000.0, 0.25),
        (-0.1, 0.2, -0.3),
    ],
)
def test_a_difference_is_that_of_the_decimals(one: float, other: float, expected: float):
    assert apart(one, other) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (40_000_000_001.0, 40_000_000_000.0),  # whole numbers, however large
        (2.0**53, 2.0**53 - 1.0),
        (2.0**50 + 10.25, 2.0**50),  # longer than twelve digits
        (0.1 + 0.2, 0.0),  # nothing is subtracted
        (math.pi, math.e),  # no decimals
        (5e-324, 1e-320),
        (1e300, 1e290),
        (24.98, 24.98),
    ],
)
def test_what_is_not_a_difference_of_decimals_stays_as_it_is(one: float, other: float):
    assert apart(one, other) == one - other


@pytest.mark.parametrize(
    ("bound", "tolerances", "expected"),
    [
        (0.1, 0.2, 0.3),
        (0.7, 0.1, 0.8),
        (0.3, -(0.1 + 0.2), 0.0),
        (0.7, -0.2, 0.5),
        (0.1 + 0.2, 0.0, 0.1 + 0.2),
        (400.0, 25.0, 425.0),
    ],
)
def test_tolerances_are_added_as_decimals(bound: float, tolerances: float, expected: float):
    assert together(bound, tolerances) == expected
