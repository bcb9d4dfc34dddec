"""Stations of five sensors: shapes, ranges, and the same readings for everyone who has the seed."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from headwater.model import SECOND
from headwater.workloads import polkura
from headwater.workloads.polkura import STATION_TYPES, read_stations
from headwater.workloads.stations import ATTRIBUTES, BURST_S, EVERY_S, START, make_stations

RECORDED = (
    Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[4] / "shared" / "data"))
    / "polkura-hydromet"
    / "PolkuraAbrilMayo.csv.gz"
)
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


@pytest.fixture
def two_days(tmp_path, monkeypatch) -> Path:
    """Two sites with all five types, hour by hour, and one that lacks a type."""
    monkeypatch.setattr(polkura, "FEWEST_READINGS", 10)
    lines = ["Variable;Fecha;id;Sitio;Valor"]
    for hour in range(47):
        for site, kinds in (("Lago", 5), ("Rio", 5), ("Alto", 4)):
            for minute, kind in enumerate(list(STATION_TYPES)[:kinds]):
                lines.append(
                    f"{kind};2019-09-{23 + hour // 24} {hour % 24:02d}:{minute:02d}:00;1;{site};{hour}"
                )
    lines[1:] = sorted(lines[1:], key=lambda line: line.split(";")[1])
    path = tmp_path / "readings.csv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_recorded_sites_serve_again_with_their_days_turned(two_days) -> None:
    recorded = read_stations(two_days, 4, hours=48)
    assert [source.key for source in recorded.sources[::5]] == ["Lago", "Rio", "Lago+1", "Rio+1"]
    assert in_order(recorded)
    of = [recorded.readings.value[recorded.readings.source == station * 5].tolist() for station in (0, 2)]
    assert of[0] == list(range(47))
    assert of[1] == [*range(24, 47), *range(24)]


def test_only_the_hours_asked_for_are_read(two_days) -> None:
    recorded = read_stations(two_days, 2, hours=10)
    assert recorded.readings.value.max() == 9
    assert len(recorded.readings.time) == 10 * 2 * 5


def test_more_stations_than_sites_and_days_are_refused(two_days, tmp_path) -> None:
    with pytest.raises(ValueError, match="2 sites and 2 days make 4 stations, not 5"):
        read_stations(two_days, 5, hours=48)
    empty = tmp_path / "empty.csv"
    empty.write_text("Variable;Fecha;id;Sitio;Valor\n")
    with pytest.raises(ValueError, match=r"empty\.csv: no site has 10 readings of each of AirTemperature"):
        read_stations(empty, 1, hours=48)


@pytest.mark.skipif(not RECORDED.exists(), reason=f"the recorded readings are not there: {RECORDED}")
def test_a_week_of_the_andes_makes_twenty_stations() -> None:
    recorded = read_stations(RECORDED, 20, hours=24)
    assert in_order(recorded)
    assert len({source.key.split("+")[0] for source in recorded.sources}) == 6
    assert 12_000 < len(recorded.readings.time) < 15_000
