"""Stations of five sensors: shapes, ranges, and the same readings for everyone who has the seed."""

from __future__ import annotations

import numpy as np

from headwater.model import SECOND
from headwater.workloads.stations import ATTRIBUTES, BURST_S, EVERY_S, START, make_stations

RANGES = {
    "ambient_temperature": (-40, 60),
    "surface_temperature": (-33, 80),
    "humidity": (0, 100),
    "wind_speed": (0, 60),
    "wind_direction": (0, 360),
}


def in_order(recorded) -> bool:
    """By time, then by source, and numbered source by source."""
    readings = recorded.readings
    keys = list(zip(readings.time.tolist(), readings.source.tolist(), strict=True))
    numbers = [readings.number[readings.source == at].tolist() for at in range(len(recorded.sources))]
    return keys == sorted(set(keys)) and all(of == list(range(len(of))) for of in numbers)


def test_a_station_has_five_sensors_at_one_place() -> None:
    sources = make_stations(10, rounds=2).sources
    assert [source.attribute for source in sources] == list(ATTRIBUTES) * 10
    assert len({source.key for source in sources}) == 10
    assert len({(source.x, source.y) for source in sources}) == 10
    assert all(len({(s.x, s.y, s.key) for s in sources[at : at + 5]}) == 1 for at in range(0, 50, 5))


def test_readings_are_in_order_in_range_and_nearly_complete() -> None:
    recorded = make_stations(6, rounds=144, seed=3)
    assert in_order(recorded)
    readings = recorded.readings
    assert 0.96 * 6 * 5 * 144 < len(readings.time) < 6 * 5 * 144
    for at, attribute in enumerate(ATTRIBUTES):
        values = readings.value[readings.source % 5 == at]
        low, high = RANGES[attribute]
        assert low <= values.min() < np.median(values) < values.max() <= high


def test_a_station_measures_within_minutes_once_in_every_round() -> None:
    readings = make_stations(3, rounds=50, seed=1).readings
    of_one = readings.time[readings.source < 5] - START
    rounds = of_one // (EVERY_S * SECOND)
    assert np.bincount(rounds).max() <= 5
    spans = [np.ptp(of_one[rounds == number]) for number in range(50)]
    assert max(spans) <= (BURST_S + 20) * SECOND


def test_the_same_seed_gives_the_same_and_more_rounds_begin_alike() -> None:
    once, again, longer = (make_stations(4, rounds=rounds, seed=5) for rounds in (20, 20, 60))
    assert once.sources == again.sources == longer.sources
    for one, other, more in zip(once.readings, again.readings, longer.readings, strict=True):
        assert one.tolist() == other.tolist() == more[: len(one)].tolist()
    assert make_stations(4, rounds=20, seed=6).readings.value.tolist() != once.readings.value.tolist()
