"""The benchmark of idle keys measures what it says."""

import pytest

from headwater_lab.bench.processes import processor_time
from headwater_lab.bench.state import OPERATORS, TOUCHED, Zone, bytes_left, step_cost


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_takes_its_rows_and_tells_nothing(operator):
    zone = Zone(operator, "10 SECONDS")
    told = []
    for _ in range(3):
        zone.take(range(20))
        told += zone.answers
    assert not told or operator in ("NEAREST", "NEAREST PER", "SUPPRESS", "FOLLOW")
    assert zone.size > 0


def test_a_step_is_timed_and_what_it_writes_is_counted():
    cost = step_cost("SUPPRESS", 300, seed=1)
    assert cost.milliseconds > 0
    assert cost.written > TOUCHED * 8


def test_what_is_left_is_all_that_is_saved():
    assert 0 < bytes_left("SELECT", 50) < 5_000


def test_processor_time_goes_on():
    before = processor_time()
    sum(range(3_000_000))
    assert (processor_time() - before).everything > 0
