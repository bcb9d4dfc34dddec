"""The benchmark of idle keys measures what it says."""

from itertools import pairwise

import numpy as np
import pytest

from headwater_lab.bench.processes import processor_time
from headwater_lab.bench.state import (
    OPERATORS,
    TOUCHED,
    Cost,
    StepCosts,
    Zone,
    bytes_left,
    loaded,
    rows_of,
    step_costs,
)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_takes_its_rows_and_emits_nothing(operator):
    zone = Zone(operator, "10 SECONDS")
    emitted = []
    for _ in range(3):
        zone.take(range(20))
        emitted += zone.answers
    assert not emitted or operator in ("NEAREST", "NEAREST PER", "SUPPRESS", "FOLLOW", "FOLLOW, then NEAREST")
    assert zone.size > 0


def test_a_step_is_timed_and_what_it_writes_is_counted():
    for cost in step_costs("SUPPRESS", (300, 600), seed=1):
        assert 0 < cost.milliseconds <= cost.worst_ms
        assert cost.mean_ms <= cost.worst_ms
        assert cost.written > TOUCHED * 8


def test_a_step_that_takes_long_shows_beside_the_median():
    costs = StepCosts.of([Cost(2.0, 10), Cost(1.0, 30), Cost(93.0, 20)])
    assert costs == StepCosts(2.0, 32.0, 93.0, 20)
    assert costs.in_words == "2.00 ms a step (mean 32.00, worst 93.00)"


def test_suppress_lets_every_row_through():
    """Otherwise SUPPRESS and PREDICT would be measured where they have next to nothing to do."""
    zone = loaded("SUPPRESS", 300)
    counts = []
    for step in range(70):
        zone.take(range(step, step + 100))
        counts.append(sum(rows.count for rows in zone.answers))
    assert counts == [300, *[100] * 69]  # a step answers for the one before it


def test_objects_that_pairs_are_sought_of_move_by_more_than_the_tolerance():
    places = [rows_of(np.arange(3), second)["x"].values for second in range(100)]
    assert all(np.abs(a - b).min() > 1 for a, b in pairwise(places))


def test_what_is_left_is_all_that_is_saved():
    assert 0 < bytes_left("SELECT", 50) < 5_000


def test_processor_time_goes_on():
    before = processor_time()
    sum(range(3_000_000))
    assert (processor_time() - before).everything > 0
