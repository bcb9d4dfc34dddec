"""Rows of answers that are told tick after tick, or in slices of time, are those that a sort of all rows gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from headwater.kernels.predict.answer_identity import ID
from headwater.kernels.predict.answers import NEVER
from headwater.kernels.predict.ordering import columns_of, in_slices
from headwater.kernels.predict.ticks import AT_HAND, Ticks, write_ticks

EVERY = 1_000


def ticks_of(answers: int, span: int, most: int, seed: int) -> Ticks:
    """Answers with ticks somewhere in a span, some with none, some with an end between two ticks; each has a row at least."""
    rng = np.random.default_rng(seed)
    first, many = rng.integers(-span, span, answers), rng.integers(0, most, answers)
    last = (first + many) * EVERY + rng.integers(1, EVERY, answers)
    last[(many > 0) & (rng.random(answers) < 0.3)] = NEVER
    rows = many + (last != NEVER)
    return Ticks(first, many, last, np.cumsum(rows) - rows, EVERY)


@pytest.mark.parametrize(
    ("answers", "span", "most"),
    [
        (1, 5, 2),
        (50, 3, 4),
        (3 * AT_HAND, 40, 9),
        (60, 10**9, 5),
        (7, 4 * AT_HAND, 3 * AT_HAND),
        (5_000, 20, 1),
    ],
)
@pytest.mark.parametrize("is_requested", [True, False])
def test_rows_at_ticks_and_ends_are_in_order_of_time_and_then_of_answers(answers, span, most, is_requested):
    ticks = ticks_of(answers, span, most, seed=answers)
    rng = np.random.default_rng(1)
    cards = rng.integers(0, 2**62, (answers, ID + 5))
    emitted = ticks.many + (ticks.last != NEVER)
    chance = rng.random(emitted.sum() if is_requested else 0)
    answer = np.repeat(np.arange(answers), emitted)
    number = np.arange(len(answer)) - ticks.chances[answer]
    is_tick = number < ticks.many[answer]
    time = np.where(is_tick, (ticks.first[answer] + number) * EVERY, ticks.last[answer])
    order = np.lexsort([answer, time])
    rows = write_ticks(ticks, cards, chance)
    assert np.array_equal(rows.time, time[order])
    assert np.array_equal(rows.ids, cards[answer[order], :ID])
    for place, column in enumerate(rows.words):
        assert np.array_equal(column, cards[answer[order], ID + place])
    assert np.array_equal(rows.chance, chance[order] if is_requested else chance)


def test_rows_in_slices_are_all_there_and_no_slice_goes_back_in_time():
    rng = np.random.default_rng(2)
    for time in (rng.integers(-900, 900, 5_000), np.full(5_000, 7), rng.integers(0, 2**62, 3), np.arange(64)):
        order, bounds = in_slices(time, 32)
        assert np.array_equal(np.sort(order), np.arange(len(time)))
        assert bounds[0] == 0 and bounds[-1] == len(time) and (np.diff(bounds) >= 0).all()
        slices = [time[order[a:b]] for a, b in pairwise(bounds) if a < b]
        assert all(one.max() < other.min() for one, other in pairwise(slices))
        rows = np.stack([time, np.arange(len(time))], axis=1)
        assert np.array_equal(columns_of(rows, order), rows[order].T)
