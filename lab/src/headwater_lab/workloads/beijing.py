"""Hourly air quality and weather of stations in Beijing as they were recorded: a CSV for each station, read into rows.

Rule 1  The layout is that of the UCI set "Beijing Multi-Site Air Quality": a header, then a line for each hour with number,
        year, month, day, hour, six pollutants, five readings of the weather with the direction of the wind among them, and
        the station. The CSV may be packed with gzip.
Rule 2  Hours are those of Beijing, eight hours ahead of UTC, without summer time.
Rule 3  `NA` is NULL. Nothing is filled in and no hour is left out.
Rule 4  A file that is not like this is refused whole, with the file and the line.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from headwater.model import SECOND, Column, ColumnType, Instant, Rows, join_rows, strings

POLLUTANTS: Final = ("pm25", "pm10", "so2", "no2", "co", "o3")
WEATHER: Final = ("temperature", "pressure", "dew_point", "rain", "wind_speed")

AIR_QUALITY_TEXT: Final = f"""\
CREATE STREAM air (
  station STRING KEY, at TIMESTAMP TIME,
  {", ".join(f"{name} DOUBLE" for name in (*POLLUTANTS, *WEATHER))}, wind_from STRING
) LATE 1 SECOND;
"""

_HEADER: Final = "No,year,month,day,hour,PM2.5,PM10,SO2,NO2,CO,O3,TEMP,PRES,DEWP,RAIN,wd,WSPM,station"
_FIELDS: Final = 18
_TIME: Final = slice(1, 5)
_NUMBERS: Final = (*range(5, 15), 16)
_WIND_FROM, _STATION = 15, 17
_BEIJING: Final = timezone(timedelta(hours=8))
_MISSING: Final = "NA"


def read_air_quality(path: Path) -> Rows:
    """All hours of one file, or of all files of a folder, station after station, as rows of the stream `AIR_QUALITY_TEXT` says."""
    if path.is_dir():
        files = sorted(path.glob("PRSA_Data_*.csv*"))
        if not files:
            raise ValueError(f"{path.name}: no file named PRSA_Data_….csv is in it")
        return join_rows([read_air_quality(file) for file in files])
    hours = list(_hours(path))
    numbers = np.array([hour.numbers for hour in hours], np.float64).reshape(-1, len(_NUMBERS))
    columns = {
        "station": strings([hour.station for hour in hours]),
        "at": Column(ColumnType.TIMESTAMP, np.array([hour.at for hour in hours], np.int64)),
    }
    for name, values in zip((*POLLUTANTS, *WEATHER), numbers.T, strict=True):
        valid = ~np.isnan(values)
        columns[name] = Column(
            ColumnType.DOUBLE, np.where(valid, values, 0.0), None if valid.all() else valid
        )
    columns["wind_from"] = strings([hour.wind_from for hour in hours])
    return Rows.of(columns)


class _Hour(NamedTuple):
    """One line; what is missing is NaN or None."""

    at: Instant
    numbers: list[float]
    wind_from: str | None
    station: str


def _hours(path: Path) -> Iterator[_Hour]:
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        lines = csv.reader(file)
        if ",".join(next(lines, [])) != _HEADER:
            raise ValueError(f"{path.name}, line 1: the header {_HEADER} is required")
        for number, line in enumerate(lines, 2):
            try:
                yield _hour(line)
            except ValueError as fault:
                raise ValueError(
                    f"{path.name}, line {number}: a date, an hour, {len(_NUMBERS)} numbers or NA and a station are required"
                ) from fault


def _hour(line: Sequence[str]) -> _Hour:
    if len(line) != _FIELDS or not line[_STATION]:
        raise ValueError("not all fields are there")
    wind_from = line[_WIND_FROM]
    return _Hour(
        _instant(*line[_TIME]),
        [_number(line[place]) for place in _NUMBERS],
        None if wind_from == _MISSING else wind_from,
        line[_STATION],
    )


@lru_cache(maxsize=1 << 16)
def _instant(year: str, month: str, day: str, hour: str) -> Instant:
    """Cached: all stations have the same hours."""
    return int(datetime(int(year), int(month), int(day), int(hour), tzinfo=_BEIJING).timestamp()) * SECOND


def _number(cell: str) -> float:
    if cell == _MISSING:
        return math.nan
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError(f"'{cell}' is not a number")
    return number
