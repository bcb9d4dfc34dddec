"""Cover against a grid where every point can be asked, and operators against events drawn from them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from headwater.model import Filter, Operator
from headwater.protocols.cover import Exact, Pairwise, Probable, candidates
from headwater.protocols.cover.boxes import OPEN, ask
from headwater.protocols.cover.probable import gap_share, minimised
from headwater.protocols.cover.regions import around
from tests.laws.cover_worlds import families, questions
from tests.laws.draws import bounded
from tests.laws.oracles import cover as oracle
from tests.laws.oracles.cover import Cells

Question = tuple[Cells, list[Cells]]
PLENTY = 10**6
EVENTS = 1_000


def verdict_of(way, question: Question, seed: int = 0):
    box, others = question
    return way.covers(*oracle.doubles(box), oracle.rows(others, len(box)), seed=seed)


@bounded(600)
@given(questions())
def test_exact_with_a_large_budget_says_what_the_grid_says(question: Question):
    verdict = verdict_of(Exact(PLENTY), question)
    event(verdict.why)
    assert verdict.covered == oracle.covered(*question)


@bounded(200)
@given(questions(), st.integers(0, 12))
def test_with_any_budget_what_is_covered_is_covered(question: Question, budget: int):
    verdict = verdict_of(Exact(budget), question)
    event(verdict.why)
    assert not verdict.covered or oracle.covered(*question)


@bounded(200)
@given(questions())
def test_pairwise_covers_nothing_that_is_not_covered(question: Question):
    box, others = question
    alone = any(oracle.covered(box, [other]) for other in others)
    assert verdict_of(Pairwise(), question).covered == alone


@bounded(200)
@given(questions(), st.sampled_from(["paper", "sound"]), st.integers(0, 2**64))
def test_probable_is_always_right_when_it_says_no(question: Question, estimate: str, seed: int):
    verdict = verdict_of(Probable(0.3, estimate, most_trials=PLENTY), question, seed)
    event(verdict.why)
    assert verdict.covered or not oracle.covered(*question)


@bounded(300)
@given(questions())
def test_the_sound_estimate_is_a_lower_bound_of_every_gap(question: Question):
    box, others = question
    made = ask(*oracle.doubles(box), oracle.rows(others, len(box)))
    assume(made.state == OPEN and not oracle.covered(box, others))
    made = minimised(made)
    assume(len(made.lows))
    cells = np.stack(np.meshgrid(*(np.arange(last + 1) for _, last in box), indexing="ij"), -1).reshape(
        -1, len(box)
    )
    held = ((cells[:, None] >= made.lows) & (cells[:, None] < made.ups)).all(axis=2).any(axis=1)
    assert gap_share(made, "sound") <= (~held).mean() + 1e-12
    event("rows that conflict around a gap")


INTERLOCKED: Question = (
    ((0, 9), (0, 9)),
    [((0, 3), (0, 9)), ((5, 9), (0, 9)), ((3, 5), (3, 9)), ((3, 5), (0, 1)), ((3, 3), (1, 4))],
)
"""A hole of one cell among rows that all conflict: as small a gap as the estimate says, so that the error is δ itself."""


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])
def test_the_sound_one_is_wrong_no_more_often_than_delta(delta: float):
    way, draws = Probable(delta), 4_000
    assert verdict_of(Exact(), INTERLOCKED) == (False, "gap")
    wrong = sum(verdict_of(way, INTERLOCKED, seed).covered for seed in range(draws))
    assert 0 < wrong < draws * delta + 5 * math.sqrt(draws * delta * (1 - delta))


@bounded(300)
@given(questions())
def test_the_minimised_cover_set_keeps_the_answer(question: Question):
    box, others = question
    made = ask(*oracle.doubles(box), oracle.rows(others, len(box)))
    assume(made.state == OPEN)
    minimal = minimised(made)
    event(f"{len(minimal.lows)} of {len(made.lows)}")
    left = [
        tuple((int(a), int(b) - 1) for a, b in zip(low, up, strict=True))
        for low, up in zip(minimal.lows, minimal.ups, strict=True)
    ]
    assert oracle.covered(box, left) == oracle.covered(box, others)


@bounded(200)
@given(families(), st.integers(0, 2**32 - 1))
def test_no_event_of_a_covered_operator_is_missed(family: tuple[Operator, list[Operator]], seed: int):
    requested, others = family
    low, high, rows = candidates(requested, others)
    verdict = Exact(PLENTY).covers(low, high, rows, seed=0)
    event(verdict.why)
    assume(verdict.covered)
    rng = np.random.default_rng(seed)
    points = {one.attribute: _readings(rng, one) for one in requested.filters}
    missed = oracle.takes(requested, points) & ~np.any(
        [oracle.takes(other, points) for other in others], axis=0
    )
    assert not missed.any()


def _readings(rng: np.random.Generator, one: Filter) -> np.ndarray:
    """Values and places in or about a filter, often on its borders."""
    west, south, east, north = np.clip(around(one.region), -180.0, 180.0)
    sides = [(one.low, one.high), (west, east), (south, north)]
    return np.stack([_between(rng, *ends) for ends in sides], axis=1)


def _between(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    drawn = rng.uniform(low, high, EVENTS)
    which = rng.integers(0, 6, EVENTS)
    return np.select([which == 0, which == 1, which == 2], [low, high, (low + high) / 2], drawn)
