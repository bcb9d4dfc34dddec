"""Recorded readings of the Andes become profiles of sites, and a file that is something else is refused whole."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from headwater.model import format_instant
from headwater.query.planning.plan import compile_text
from headwater_lab.workloads.polkura import HYDROMET_TEXT, read_hydromet

RECORDED = (
    Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[5] / "shared" / "data"))
    / "polkura-hydromet"
    / "PolkuraAbrilMayo.csv.gz"
)
HEADER = "Variable;Fecha;id;Sitio;Valor\n"
LINES = (
    "WindSpeed;2019-09-23 18:12:45;56114232;Lago;2.82\n"
    "AirTemperature;2019-09-23 18:13:05;56113700;Rio;18.5\n"
    "WaterLevel;2019-09-23 18:14:00;56113702;Rio;1.751\n"
    "WindSpeed;2019-09-23 18:15:00;56114233;Lago;3\n"
    "AirTemperature;2019-09-23 18:19:59;56113701;Lago;0\n"
    "AirTemperature;2019-09-23 18:20:00;56113703;Lago;14\n"
    "WaterLevel;2019-09-23 18:31:00;56113704;Rio;1.75\n"
)


def written(folder: Path, text: str) -> Path:
    path = folder / "readings.csv"
    path.write_text(text)
    return path


def test_readings_of_the_same_ten_minutes_are_one_profile(tmp_path) -> None:
    rows = read_hydromet(written(tmp_path, HEADER + LINES))
    assert rows["site"].tolist() == ["Rio", "Lago", "Lago"]
    assert [format_instant(at) for at in rows["at"].tolist()] == [
        "2019-09-23T18:13:05Z",
        "2019-09-23T18:19:59Z",
        "2019-09-23T18:20:00Z",
    ]
    assert rows["temperature"].tolist() == [18.5, 0.0, 14.0]
    assert rows["wind_speed"].tolist() == [None, 3.0, None]
    assert rows["humidity"].tolist() == [None, None, None]


def test_a_file_may_be_packed(tmp_path) -> None:
    packed = tmp_path / "readings.csv.gz"
    packed.write_bytes(gzip.compress((HEADER + LINES).encode()))
    assert read_hydromet(packed)["site"].tolist() == ["Rio", "Lago", "Lago"]


def test_no_readings_are_no_profiles(tmp_path) -> None:
    rows = read_hydromet(written(tmp_path, HEADER))
    assert rows.count == 0
    assert rows.types == read_hydromet(written(tmp_path, HEADER + LINES)).types


def test_rows_are_those_of_the_stream_the_text_says(tmp_path) -> None:
    plan = compile_text(HYDROMET_TEXT + "CREATE QUERY q AS SELECT site FROM weather;")
    assert dict(plan.streams[0].columns) == read_hydromet(written(tmp_path, HEADER + LINES)).types


@pytest.mark.parametrize(
    "line",
    [
        "WindSpeed;2019-09-23 18:40:00;1;Lago",
        "WindSpeed;2019-09-23 18:40:00;1;;2",
        "WindSpeed;2019-09-23 18:40:00;1;Lago;",
        "WindSpeed;2019-09-23 18:40:00;1;Lago;nan",
        "WindSpeed;yesterday;1;Lago;2",
        "WindSpeed;2019-09-23 18:30:59;1;Lago;2",
    ],
)
def test_a_line_that_is_not_a_reading_is_named(tmp_path, line) -> None:
    with pytest.raises(ValueError, match=r"readings\.csv, line 9: .* are required"):
        read_hydromet(written(tmp_path, HEADER + LINES + line + "\n"))


def test_another_header_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"readings\.csv, line 1: the header .* is required"):
        read_hydromet(written(tmp_path, "Variable,Fecha,id,Sitio,Valor\n"))


@pytest.mark.skipif(not RECORDED.exists(), reason=f"the recorded readings are not there: {RECORDED}")
def test_a_week_of_the_andes() -> None:
    rows = read_hydromet(RECORDED)
    assert len(set(rows["site"].tolist())) == 24
    first = {name: rows[name].tolist()[0] for name in rows.types}
    assert (first["site"], first["wind_speed"], first["temperature"]) == ("Repetidor Apoquindo", 2.82, None)
    assert format_instant(first["at"]) == "2019-09-23T18:12:45Z"
