"""The formulas of PA and RAPF against the table they were derived with, a plain loop, and a stream in random order."""

from __future__ import annotations

import time
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from headwater.kernels.nearest.candidate_limits import (
    expected_loss,
    p_ever,
    r_star,
    recent_rows,
    skyband_size,
)


def exact_chance(r: int, k: int) -> Fraction:
    if r <= k:
        return Fraction(1)
    n = r + k - 1
    return 2 * Fraction(sum(comb(n, i) for i in range(k)), 2**n)


def plain_limit(k: int, sigma: float) -> int:
    r = k + 1
    while exact_chance(r, k) > Fraction(sigma):
        r += 1
    return r


def test_an_object_of_the_first_k_is_an_answer_at_once():
    assert [p_ever(r, 7) for r in (1, 6, 7)] == [1.0, 1.0, 1.0]


def test_chances_are_those_of_fair_throws():
    assert p_ever(2, 1) == 2 / 2**2  # no head in two throws, twice
    assert p_ever(5, 3) == 2 * (1 + 7 + 21) / 2**7
    assert all(p_ever(r, k) == float(exact_chance(r, k)) for k in (1, 2, 9, 40) for r in range(1, 90, 7))


def test_chances_fall_with_the_rank_and_rise_with_k():
    assert all(p_ever(r, 10) > p_ever(r + 1, 10) for r in range(10, 80))
    assert all(p_ever(60, k) < p_ever(60, k + 1) for k in range(1, 59))


@pytest.mark.parametrize(
    ("k", "limits"),
    [
        (1, [5, 8, 11, 15, 21]),
        (5, [12, 17, 21, 26, 34]),
        (10, [19, 25, 31, 36, 45]),
        (50, [68, 80, 89, 97, 112]),
        (100, [125, 140, 152, 163, 182]),
    ],
)
def test_limits_are_those_of_the_table(k: int, limits: list[int]):
    assert [r_star(k, sigma) for sigma in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)] == limits


@pytest.mark.parametrize("sigma", [0.999999, 0.9, 0.5, 0.25, 0.03, 1e-3, 2**-20, 1e-9, 1e-12])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 19, 64, 133])
def test_limits_are_those_of_a_plain_loop(k: int, sigma: float):
    assert r_star(k, sigma) == plain_limit(k, sigma)


@pytest.mark.parametrize("k", [1_000, 10_000])
@pytest.mark.parametrize("sigma", [0.5, 1e-3, 1e-12])
def test_limits_of_large_k_are_exact_and_quick(k: int, sigma: float):
    r_star.cache_clear()
    begun = time.perf_counter()
    limit = r_star(k, sigma)
    assert time.perf_counter() - begun < 2.0
    assert p_ever(limit, k) <= sigma < p_ever(limit - 1, k)


def test_a_limit_is_defined_for_the_smallest_probability():
    assert p_ever(r_star(3, 5e-324), 3) <= 5e-324 < p_ever(r_star(3, 5e-324) - 1, 3)


@pytest.mark.parametrize(
    ("k", "losses"),
    [(1, [3.9e-3, 4.9e-4, 3.1e-5]), (10, [1.3e-3, 8.5e-5, 7.7e-6]), (50, [4.9e-4, 4.5e-5, 4.2e-6])],
)
def test_losses_are_those_of_the_table(k: int, losses: list[float]):
    found = [expected_loss(r_star(k, sigma), k) for sigma in (1e-2, 1e-3, 1e-4)]
    assert [float(f"{loss:.1e}") for loss in found] == losses


@pytest.mark.parametrize(("limit", "k"), [(1, 1), (8, 1), (5, 5), (17, 5), (60, 40), (131, 100)])
def test_the_loss_is_the_sum_of_all_chances_beyond_the_limit(limit: int, k: int):
    lost = sum(exact_chance(r, k) for r in range(limit + 1, limit + 400))
    every = sum(exact_chance(r, k) for r in range(1, limit + 400))
    assert expected_loss(limit, k) == pytest.approx(float(lost / every), rel=1e-12)


def test_the_loss_is_known_for_large_k():
    limit = r_star(10_000, 1e-3)
    assert 0 < expected_loss(limit, 10_000) < 1e-5


@pytest.mark.parametrize(
    ("k", "n", "size"),
    [(1, 1_000, 7), (1, 10_000, 10), (10, 1_000, 56), (10, 10_000, 79), (50, 1_000, 199), (50, 10_000, 314)],
)
def test_skyband_sizes_are_those_of_the_table(k: int, n: int, size: int):
    assert round(skyband_size(k, n)) == size


def test_skyband_sizes_by_hand():
    assert skyband_size(5, 3) == 3  # all of them
    assert skyband_size(5, 5) == 5
    assert skyband_size(2, 4) == pytest.approx(2 * (1 + 1 / 3 + 1 / 4))
    by_hand = 7 * (1 + sum(1 / i for i in range(8, 5_001)))
    assert skyband_size(7, 5_000) == pytest.approx(by_hand, rel=1e-13)
    assert skyband_size(100, 101) == pytest.approx(
        100 * (1 + 1 / 101), rel=1e-13
    )  # where two ways of adding meet


def test_few_objects_survive_the_recent_buffer():
    assert [recent_rows(k) for k in (1, 3, 4, 10, 100)] == [9_999, 9_999, 11_999, 29_999, 199_999]
    assert all(k / (recent_rows(k) + 1) <= 1 / 3000 for k in (1, 2, 3, 4, 10, 66))
    assert recent_rows(10_000) == 199_999  # memory is the bound here


def test_chances_are_met_by_a_stream_in_random_order():
    """A stream of 60,000 uniform distances, count window of 500, k = 10: by rank at arrival, how many ever were answers.

    Tolerance: four standard errors of the share, and 0.02 for the window, in which an expiry and an arrival at once cancel.
    """
    size, k, stream = 500, 10, np.random.default_rng(41).random(60_000)
    outcomes: dict[int, list[bool]] = {}
    for n in range(size, len(stream) - size, 3):
        mine = stream[n]
        older = stream[n - size + 1 : n] < mine
        rank = 1 + int(older.sum())
        if not k < rank <= 25:
            continue
        # The window ending with object n+j has lost the j oldest and gained the next j: mine has so many nearer.
        younger = stream[n + 1 : n + size] < mine
        nearer = rank - 1 + np.cumsum(younger.astype(int) - older.astype(int))
        outcomes.setdefault(rank, []).append(bool((nearer < k).any()))
    for group in ((11,), (12, 13), (14, 15, 16), (17, 18, 19, 20), (21, 22, 23, 24, 25)):
        were = np.array([was for rank in group for was in outcomes[rank]])
        expected = np.mean([p_ever(rank, k) for rank in group for _ in outcomes[rank]])
        spread = 4 * np.sqrt(expected * (1 - expected) / len(were))
        assert abs(were.mean() - expected) < spread + 0.02
