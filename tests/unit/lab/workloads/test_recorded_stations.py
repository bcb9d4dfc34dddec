"""Stations made of recorded sites: sites that lack nothing, and serve again on other days."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from headwater_lab.workloads import polkura
from headwater_lab.workloads.polkura import STATION_TYPES, read_stations
from tests.unit.workloads.test_stations import in_order

RECORDED = (
    Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[5] / "shared" / "data"))
    / "polkura-hydromet"
    / "PolkuraAbrilMayo.csv.gz"
)


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


def test_only_the_hours_requested_are_read(two_days) -> None:
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
