"""Weather and water of sites in the Chilean Andes as they were recorded: a CSV of single readings, joined into profiles of sites.

Rule 1  The layout is that of the Polkura stream of CORE: a header, then a line for each reading with type, time, number, site
        and value, parted by semicolons. The CSV may be packed with gzip.
Rule 2  A site measures one thing after the other, over a minute or two, every ten minutes or less often. What it measured in the
        same ten minutes of the clock is one profile: the last value of each type, at the time of the last reading.
Rule 3  Types that are no weather are left out, and so are ten minutes that have nothing else. What was not measured is NULL.
Rule 4  The file names no time zone: times are taken as UTC.
Rule 5  A file that is not like this is refused whole, with the file and the line.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from headwater.model import SECOND, Column, ColumnType, Instant, Rows, parse_instant, strings

TYPES: Final = {
    "AirTemperature": "temperature",
    "RelativeAirHumidity": "humidity",
    "WindSpeed": "wind_speed",
    "Rainfall": "rain",
    "SoilTemperatureAt30CmDepth": "soil_temperature",
    "BatteryVoltage": "battery",
}

HYDROMET_TEXT: Final = f"""\
CREATE STREAM weather (
  site STRING KEY, at TIMESTAMP TIME, {", ".join(f"{name} DOUBLE" for name in TYPES.values())}
) LATE 10 MINUTES;
"""

_HEADER: Final = "Variable;Fecha;id;Sitio;Valor"
_PROFILE_US: Final = 600 * SECOND


def read_hydromet(path: Path) -> Rows:
    """All profiles of a file by time, then by site, as rows of the stream `HYDROMET_TEXT` says."""
    profiles: dict[tuple[int, str], _Profile] = {}
    for reading in _readings(path):
        if name := TYPES.get(reading.type):
            key = (reading.at // _PROFILE_US, reading.site)
            last, values = profiles.get(key, _Profile(reading.at, {}))
            profiles[key] = _Profile(max(last, reading.at), {**values, name: reading.value})
    ordered = sorted((profile.at, site, profile.values) for (_, site), profile in profiles.items())
    columns = {
        "site": strings([site for _, site, _ in ordered]),
        "at": Column(ColumnType.TIMESTAMP, np.array([at for at, _, _ in ordered], np.int64)),
    }
    for name in TYPES.values():
        columns[name] = _numbers([values.get(name) for _, _, values in ordered])
    return Rows.of(columns)


class _Profile(NamedTuple):
    """What a site measured in ten minutes."""

    at: Instant
    values: dict[str, float]


class _Reading(NamedTuple):
    """One line."""

    type: str
    at: Instant
    site: str
    value: float


def _readings(path: Path) -> Iterator[_Reading]:
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        lines = csv.reader(file, delimiter=";")
        if ";".join(next(lines, [])) != _HEADER:
            raise ValueError(f"{path.name}, line 1: the header {_HEADER} is wanted")
        before: Instant | None = None
        for number, line in enumerate(lines, 2):
            try:
                reading = _reading(line)
                if before is not None and reading.at < before:
                    raise ValueError("the last value of a profile is the last in the file")
            except ValueError as fault:
                raise ValueError(
                    f"{path.name}, line {number}: a type, a time not before the last, a number, a site and a value are wanted"
                ) from fault
            before = reading.at
            yield reading


def _reading(line: Sequence[str]) -> _Reading:
    kind, at, _, site, cell = line
    value = float(cell)
    if not site or not math.isfinite(value):
        raise ValueError(f"'{site}' or '{cell}' is none")
    return _Reading(kind, parse_instant(at), site, value)


def _numbers(values: Sequence[float | None]) -> Column:
    valid = np.array([value is not None for value in values], np.bool_)
    filled = np.array([value or 0.0 for value in values], np.float64)
    return Column(ColumnType.DOUBLE, filled, None if valid.all() else valid)
