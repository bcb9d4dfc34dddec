"""Recorded air quality is read as it stands, in Beijing's time, and refused whole when it is something else."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from headwater.model import format_instant
from headwater.query.planning.plan import compile_text
from headwater_lab.workloads.beijing import AIR_QUALITY_TEXT, read_air_quality

RECORDED = (
    Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[5] / "shared" / "data"))
    / "beijing-air-quality"
)
HEADER = (
    '"No","year","month","day","hour","PM2.5","PM10","SO2","NO2","CO","O3",'
    '"TEMP","PRES","DEWP","RAIN","wd","WSPM","station"\r\n'
)
LINES = (
    '1,2013,3,1,0,8,8.5,6,28,400,52,-0.7,1023,-18.8,0,"NNW",4.4,"Wanliu"\r\n'
    '2,2013,3,1,1,NA,9,6,28,NA,50,-1.1,1023.2,-18.2,0,NA,4.7,"Wanliu"\r\n'
)


def written(folder: Path, text: str, name: str = "PRSA_Data_Wanliu_20130301-20170228.csv") -> Path:
    (folder / name).write_text(text, newline="")
    return folder / name


def test_hours_of_one_station(tmp_path) -> None:
    rows = read_air_quality(written(tmp_path, HEADER + LINES))
    assert rows["station"].tolist() == ["Wanliu", "Wanliu"]
    assert [format_instant(at) for at in rows["at"].tolist()] == [
        "2013-02-28T16:00:00Z",
        "2013-02-28T17:00:00Z",
    ]
    assert rows["pm25"].tolist() == [8.0, None]
    assert rows["pm10"].tolist() == [8.5, 9.0]
    assert rows["co"].tolist() == [400.0, None]
    assert rows["dew_point"].tolist() == [-18.8, -18.2]
    assert rows["wind_speed"].tolist() == [4.4, 4.7]
    assert rows["wind_from"].tolist() == ["NNW", None]


def test_a_folder_is_read_station_after_station_packed_or_not(tmp_path) -> None:
    written(tmp_path, HEADER + LINES)
    other = (HEADER + LINES.replace("Wanliu", "Dongsi")).encode()
    (tmp_path / "PRSA_Data_Dongsi_20130301-20170228.csv.gz").write_bytes(gzip.compress(other))
    (tmp_path / "stations.csv").write_text("station,lon,lat\n")
    assert read_air_quality(tmp_path)["station"].tolist() == ["Dongsi", "Dongsi", "Wanliu", "Wanliu"]


def test_rows_are_those_of_the_stream_the_text_says(tmp_path) -> None:
    plan = compile_text(AIR_QUALITY_TEXT + "CREATE QUERY q AS SELECT station FROM air;")
    assert dict(plan.streams[0].columns) == read_air_quality(written(tmp_path, HEADER + LINES)).types


def test_a_file_without_hours_has_no_rows(tmp_path) -> None:
    assert read_air_quality(written(tmp_path, HEADER)).count == 0


@pytest.mark.parametrize(
    "line",
    [
        '3,2013,2,30,1,NA,9,6,28,NA,50,-1.1,1023.2,-18.2,0,"N",4.7,"Wanliu"',
        '3,2013,3,1,1,x,9,6,28,NA,50,-1.1,1023.2,-18.2,0,"N",4.7,"Wanliu"',
        '3,2013,3,1,1,nan,9,6,28,NA,50,-1.1,1023.2,-18.2,0,"N",4.7,"Wanliu"',
        '3,2013,3,1,1,7,9,6,28,NA,50,-1.1,1023.2,-18.2,0,"N",4.7,""',
        "3,2013,3,1,1",
    ],
)
def test_a_line_that_is_not_an_hour_is_named(tmp_path, line) -> None:
    with pytest.raises(ValueError, match=r"PRSA_Data_Wanliu_.*, line 4: .* are required"):
        read_air_quality(written(tmp_path, HEADER + LINES + line + "\r\n"))


def test_another_header_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="line 1: the header No,year"):
        read_air_quality(written(tmp_path, "station,lon,lat\n"))


def test_a_folder_without_such_files_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="no file named PRSA_Data_"):
        read_air_quality(tmp_path)


@pytest.mark.skipif(not RECORDED.is_dir(), reason=f"there is no {RECORDED.name} beside the project")
def test_one_recorded_station_has_every_hour_of_four_years() -> None:
    rows = read_air_quality(RECORDED / "PRSA_Data_Wanliu_20130301-20170228.csv.gz")
    at = rows["at"].values
    assert rows.count == 35_064
    assert (at[1:] - at[:-1] == 3_600_000_000).all()
    assert int((~rows["pm25"].is_valid).sum()) == 382
