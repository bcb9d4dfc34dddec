"""Three ways to say whether a box is covered, on boxes small enough to see the answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headwater.protocols.cover import Boxes, Cover, Exact, Pairwise, Probable, Verdict
from headwater.protocols.cover.boxes import ask
from headwater.protocols.cover.probable import finds_gap, gap_share, minimised, trials_for

BELOW_5 = float(np.nextafter(5.0, 0.0))
SOUND, PAPER = Probable(1e-6), Probable(1e-6, estimate="paper")
WAYS = [Pairwise(), SOUND, PAPER, Exact()]
SEEDS = 2_000


def boxes(*rows: list[tuple[float, float]]) -> Boxes:
    array = np.array(rows, np.float64)
    return Boxes(array[:, :, 0], array[:, :, 1])


def verdict(
    way: Cover, box: list[tuple[float, float]], *rows: list[tuple[float, float]], seed: int = 0
) -> Verdict:
    tested = boxes(box)
    none = np.empty((0, len(box)))
    return way.covers(tested.low[0], tested.high[0], boxes(*rows) if rows else Boxes(none, none), seed=seed)


@pytest.mark.parametrize("way", WAYS)
def test_one_row_that_holds_the_box_covers_it_alone(way):
    assert verdict(way, [(0, 10), (2, 3)], [(5, 6), (0, 9)], [(0, 10), (2, 3)]) == (True, "alone")


@pytest.mark.parametrize("way", WAYS)
def test_nothing_covers_nothing(way):
    assert not verdict(way, [(0, 10)]).covered
    assert not verdict(way, [(0, 10)], [(11, 12)]).covered


@pytest.mark.parametrize("way", WAYS)
def test_a_box_that_takes_nothing_is_covered_and_covers_nothing(way):
    assert verdict(way, [(0, 10), (3, 2)]) == (True, "empty")
    assert verdict(way, [(math.nan, 10)]) == (True, "empty")
    assert not verdict(way, [(0, 10)], [(10, 0)], [(math.nan, math.nan)]).covered


def test_intervals_that_meet_between_two_doubles_leave_nothing_out():
    assert verdict(Exact(), [(0, 10)], [(0, BELOW_5)], [(5, 10)]) == (True, "union")
    assert verdict(SOUND, [(0, 10)], [(0, BELOW_5)], [(5, 10)]) == (True, "trials")
    assert verdict(Pairwise(), [(0, 10)], [(0, BELOW_5)], [(5, 10)]) == (False, "no row alone")


def test_a_gap_of_one_double_is_a_gap():
    below = float(np.nextafter(BELOW_5, 0.0))
    assert verdict(Exact(), [(0, 10)], [(0, below)], [(5, 10)]) == (False, "gap")
    assert not verdict(SOUND, [(0, 10)], [(0, below)], [(5, 10)]).covered
    assert not verdict(Exact(), [(5, 5)], [(0, BELOW_5)], [(6, 10)]).covered


@pytest.mark.parametrize("way", [Exact(), SOUND])
def test_sides_without_a_bound(way):
    everything = [(-math.inf, math.inf)]
    assert verdict(way, everything, [(-math.inf, BELOW_5)], [(5, math.inf)]).covered
    assert not verdict(way, everything, [(-math.inf, 4)], [(5, math.inf)]).covered
    assert verdict(way, [(5, math.inf), (0, 1)], [(4, 7), (0, 9)], [(6, math.inf), (0, 1)]).covered


def test_four_rows_around_a_hole_are_told_from_four_rows_without_one():
    ring = ([(0, 6), (0, 3)], [(7, 9), (0, 6)], [(3, 9), (7, 9)], [(0, 2), (4, 9)])
    hole = [(2.5, 6.5), (3.5, 6.5)]
    whole = [(0, 9), (0, 9)]
    assert verdict(Exact(), whole, *ring) == (False, "gap")
    filled = [(0, 7), (0, 4)], [(6, 9), (0, 7)], [(2, 9), (6, 9)], [(0, 3), (3, 9)]
    assert verdict(Exact(), whole, *filled) == (False, "gap")
    assert verdict(Exact(), whole, *filled, hole) == (True, "union")


def test_over_budget_means_not_covered():
    cells = [[(i, np.nextafter(i + 1, 0)), (j, np.nextafter(j + 1, 0))] for i in range(8) for j in range(8)]
    box = [(0, np.nextafter(8, 0)), (0, np.nextafter(8, 0))]
    assert verdict(Exact(), box, *cells) == (True, "union")
    assert verdict(Exact(budget=10), box, *cells) == (False, "budget")
    assert verdict(Exact(budget=0), box, *cells) == (False, "budget")
    assert verdict(Probable(1e-6, most_trials=0, budget=10), box, *cells) == (False, "budget")


def test_the_estimate_of_the_paper_is_no_lower_bound():
    """s = [0, 10], s1 = [0, 4.9], s2 = [5, 10]: a gap of 1 %, taken for one of 50 %."""
    tested, rows = boxes([(0, 10)]), boxes([(0, 4.9)], [(5, 10)])
    question = ask(tested.low[0], tested.high[0], rows)
    assert gap_share(question, "paper") == pytest.approx(0.5)
    assert trials_for(gap_share(question, "paper"), 1e-6) == 20
    assert gap_share(question, "sound") == pytest.approx(0.01)
    assert trials_for(gap_share(question, "sound"), 1e-6) == 1375
    missed = sum(not finds_gap(question, 20, seed) for seed in range(SEEDS))
    assert missed / SEEDS == pytest.approx(0.99**20, abs=0.03)
    assert all(finds_gap(question, 1375, seed) for seed in range(SEEDS))
    # The minimised cover set sees this gap without drawing a point.
    for way in (SOUND, PAPER):
        assert verdict(way, [(0, 10)], [(0, 4.9)], [(5, 10)]) == (False, "conflict-free")
    assert verdict(Exact(), [(0, 10)], [(0, 4.9)], [(5, 10)]) == (False, "gap")


INTERLOCKED = (
    [(0, 4.9), (0, 10)],
    [(5, 10), (0, 10)],
    [(4, 6), (3, 10)],
    [(4, 6), (0, 2)],
    [(4, 4.95), (1, 4)],
)


def test_where_rows_interlock_the_paper_errs_and_the_others_do_not():
    """The same gap, of 0.05 %, between rows that all conflict: the minimised cover set is of no help."""
    box = [(0.0, 10.0), (0.0, 10.0)]
    tested = boxes(box)
    question = ask(tested.low[0], tested.high[0], boxes(*INTERLOCKED))
    assert len(minimised(question).lows) == len(INTERLOCKED)
    trials = trials_for(gap_share(question, "paper"), 1e-6)
    wrong = sum(verdict(PAPER, box, *INTERLOCKED, seed=seed).covered for seed in range(SEEDS))
    assert wrong / SEEDS == pytest.approx(0.9995**trials, abs=0.03)
    assert wrong / SEEDS > 0.8
    wide = Probable(1e-6, most_trials=10**6)
    assert not any(verdict(wide, box, *INTERLOCKED, seed=seed).covered for seed in range(50))
    assert not any(verdict(SOUND, box, *INTERLOCKED, seed=seed).covered for seed in range(SEEDS))
    assert verdict(Exact(), box, *INTERLOCKED) == (False, "gap")


def test_the_seed_decides_and_nothing_else():
    box = [(0.0, 10.0), (0.0, 10.0)]
    first = [verdict(PAPER, box, *INTERLOCKED, seed=seed) for seed in range(200)]
    assert first == [verdict(PAPER, box, *INTERLOCKED, seed=seed) for seed in range(200)]
    assert len(set(first)) == 2
    assert verdict(PAPER, box, *INTERLOCKED, seed=-1).why in ("gap", "trials")
    assert verdict(PAPER, box, *INTERLOCKED, seed=2**70 + 3) == verdict(
        PAPER, box, *INTERLOCKED, seed=3 + 2**71
    )
