"""Weather and water of sites in the Chilean Andes as they were recorded: a CSV of single readings, as profiles of sites or as stations.

Rule 1  The layout is that of the Polkura stream of CORE: a header, then a line for each reading with type, time, number, site
        and value, separated by semicolons. The CSV may be packed with gzip.
Rule 2  A site measures one thing after the other, over a minute or two, every ten minutes or less often. What it measured in the
        same ten minutes of the clock is one profile: the last value of each type, at the time of the last reading.
Rule 3  Types other than weather are left out, and so are ten minutes that have nothing else. What was not measured is NULL.
Rule 4  The file names no time zone: times are taken as UTC.
Rule 5  A file with another layout is refused whole, with the file and the line.
Rule 6  Stations of five sensors are made of sites that measured all of `STATION_TYPES` at least `FEWEST_READINGS` times. Only two
        sites have wind, so the dielectric permittivity of the soil (how wet it is) replaces wind speed and the voltage of the battery
        (which the sun charges) wind direction; the soil replaces the surface.
Rule 7  If more stations are needed than there are sites, a site is used again with its record turned by a day, two days, …: its
        first days come last. The file names no places either: stations are placed like made-up ones.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.model import SECOND, Column, ColumnType, Instant, Rows, parse_instant, strings
from headwater.workloads.stations import ATTRIBUTES, Recorded, place_stations, record

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

STATION_TYPES: Final = dict(
    zip(
        (
            "AirTemperature",
            "SoilTemperatureAt30CmDepth",
            "RelativeAirHumidity",
            "ApparentDielectricPermittivityAt30CmDepth",
            "BatteryVoltage",
        ),
        ATTRIBUTES,
        strict=True,
    )
)
FEWEST_READINGS: Final = 500

_HEADER: Final = "Variable;Fecha;id;Sitio;Valor"
_PROFILE_US: Final = 600 * SECOND
_DAY_US: Final = 86_400 * SECOND


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


def read_stations(path: Path, count: int, *, hours: float, seed: int = 0) -> Recorded:
    """The first `hours` of `count` stations; `seed` determines their places."""
    sites = _full_sites(path)
    first = min(int(time[0]) for of in sites.values() for time, _ in of)
    days = max(int(time[-1]) - first for of in sites.values() for time, _ in of) // _DAY_US + 1
    if count > len(sites) * days:
        raise ValueError(
            f"{path.name}: {len(sites)} sites and {days} days make {len(sites) * days} stations, not {count}"
        )
    chosen = [(site, turn) for turn in range(days) for site in sorted(sites)][:count]
    columns: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    for station, (site, turn) in enumerate(chosen):
        for attribute, (time, value) in enumerate(sites[site]):
            turned = first + (time - first - turn * _DAY_US) % (days * _DAY_US)
            selected = turned < first + int(hours * 3600) * SECOND
            source = np.full(np.count_nonzero(selected), station * len(ATTRIBUTES) + attribute)
            columns.append((source, turned[selected], value[selected]))
    sources = place_stations([f"{site}+{turn}" if turn else site for site, turn in chosen], seed=seed)
    return record(sources, *(np.concatenate(column) for column in zip(*columns, strict=True)))


def _full_sites(path: Path) -> dict[str, list[tuple[NDArray[np.int64], NDArray[np.float64]]]]:
    """Times and values by attribute of the sites that have enough of all."""
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for reading in _readings(path):
        if reading.type in STATION_TYPES:
            found.setdefault(reading.site, {}).setdefault(reading.type, []).append(
                (reading.at, reading.value)
            )
    full = {
        site: [
            (np.array([at for at, _ in of[kind]], np.int64), np.array([value for _, value in of[kind]]))
            for kind in STATION_TYPES
        ]
        for site, of in found.items()
        if all(len(of.get(kind, ())) >= FEWEST_READINGS for kind in STATION_TYPES)
    }
    if not full:
        raise ValueError(
            f"{path.name}: no site has {FEWEST_READINGS} readings of each of {', '.join(STATION_TYPES)}"
        )
    return full


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
            raise ValueError(f"{path.name}, line 1: the header {_HEADER} is required")
        before: Instant | None = None
        for number, line in enumerate(lines, 2):
            try:
                reading = _reading(line)
                if before is not None and reading.at < before:
                    raise ValueError("the last value of a profile is the last in the file")
            except ValueError as fault:
                raise ValueError(
                    f"{path.name}, line {number}: a type, a time not before the last, a number, a site and a value are required"
                ) from fault
            before = reading.at
            yield reading


def _reading(line: Sequence[str]) -> _Reading:
    kind, at, _, site, cell = line
    value = float(cell)
    if not site or not math.isfinite(value):
        raise ValueError(f"'{site}' or '{cell}' cannot be used")
    return _Reading(kind, parse_instant(at), site, value)


def _numbers(values: Sequence[float | None]) -> Column:
    valid = np.array([value is not None for value in values], np.bool_)
    filled = np.array([value or 0.0 for value in values], np.float64)
    return Column(ColumnType.DOUBLE, filled, None if valid.all() else valid)
