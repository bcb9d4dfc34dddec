"""Rows of stations that report once a minute, as a stream would bring them: in files, nearly in the order of time.

Rule 1  A seed and a number of rows give the same rows everywhere.
Rule 2  A station has a place of its own in a square of plane metres and a level of its own for every attribute; around it the
        day goes up and down, and the rest is noise. Readings are rounded, as those of real stations are.
Rule 3  A report takes up to MOST_DELAY_S to arrive, so neighbours in a file are out of order; none comes late.

Memory  All rows at once: some 140 bytes a row while they are made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

STATIONS: Final = 1_000
SIDE_M: Final = 100_000.0
REPORT_EVERY_S: Final = 60.0
MOST_DELAY_S: Final = 5.0
FIRST_TIME: Final = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z

STREAM: Final = """CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE,
  temperature DOUBLE, humidity DOUBLE, wind DOUBLE, pressure DOUBLE, radiation DOUBLE,
  PLACE (x, y)
) LATE 10 SECONDS;
"""

_DAY_S = 86_400.0
_FIRST_CHANGE_S = FIRST_TIME // 1_000_000 - 86_400


@dataclass(frozen=True, slots=True)
class Attribute:
    """How an attribute goes: its mean, how much stations differ, the daily swing, the noise, and digits reported."""

    mean: float
    between_stations: float
    daily: float
    noise: float
    digits: int


ATTRIBUTES: Final[Mapping[str, Attribute]] = {
    "temperature": Attribute(4.0, 2.0, 3.0, 4.0, 1),
    "humidity": Attribute(70.0, 3.0, 4.0, 9.0, 1),
    "wind": Attribute(6.0, 0.5, 0.5, 2.0, 2),
    "pressure": Attribute(850.0, 5.0, 2.0, 12.0, 1),
    "radiation": Attribute(400.0, 20.0, 60.0, 120.0, 0),
}


@dataclass(frozen=True, slots=True)
class Reports:
    """Rows in the order they arrive: `station[n]` (a number), `at[n]` (instants), and `values[name][n]`."""

    names: tuple[str, ...]
    place: Floats  # float64[stations, 2]
    station: NDArray[np.int32]
    at: Numbers
    values: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.at)

    def order(self) -> Numbers:
        """The permutation into the stream's order: time, then key."""
        return np.lexsort((self.station, self.at))


def make_reports(rows: int, *, seed: int) -> Reports:
    """So many rows of `STATIONS` stations."""
    random = np.random.default_rng(seed)
    rounds = -(-rows // STATIONS)
    phase_s = random.uniform(0.0, REPORT_EVERY_S, STATIONS)
    at_s = (
        np.arange(rounds)[:, None] * REPORT_EVERY_S + phase_s + random.uniform(0.0, 2.0, (rounds, STATIONS))
    )
    arrival_s = at_s + random.uniform(0.0, MOST_DELAY_S, at_s.shape)
    chosen = np.argsort(arrival_s.reshape(-1), kind="stable")[:rows]
    station = (chosen % STATIONS).astype(np.int32)
    time_s = at_s.reshape(-1)[chosen]
    values = {name: _readings(kind, station, time_s, random) for name, kind in ATTRIBUTES.items()}
    names = tuple(f"s{number:04d}" for number in range(STATIONS))
    place = np.round(random.uniform(0.0, SIDE_M, (STATIONS, 2)), 1)
    return Reports(names, place, station, FIRST_TIME + (time_s * 1e3).astype(np.int64) * 1000, values)


def write_reports(reports: Reports, folder: Path, files: int) -> list[Path]:
    """The rows as so many Parquet files of equal size, the earliest first by name and by time of change."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, part in enumerate(_parts(len(reports), files)):
        path = folder / f"weather-{number:04d}.parquet"
        pq.write_table(_table(reports, part), path)
        os.utime(path, (_FIRST_CHANGE_S + number, _FIRST_CHANGE_S + number))
        paths.append(path)
    return paths


def _readings(
    kind: Attribute, station: NDArray[np.int32], time_s: Floats, random: np.random.Generator
) -> Floats:
    level = random.normal(kind.mean, kind.between_stations, STATIONS)
    daily = kind.daily * np.sin(2.0 * np.pi * time_s / _DAY_S + random.uniform(0.0, 2.0 * np.pi))
    return np.round(level[station] + daily + random.normal(0.0, kind.noise, len(station)), kind.digits)


def _parts(rows: int, files: int) -> Iterator[slice]:
    borders = np.linspace(0, rows, files + 1).astype(int).tolist()
    return (slice(start, stop) for start, stop in pairwise(borders))


def _table(reports: Reports, part: slice) -> pa.Table:
    station = reports.station[part]
    columns = {
        "station": pa.DictionaryArray.from_arrays(pa.array(station), pa.array(reports.names)),
        "at": pa.array(reports.at[part], pa.timestamp("us", "UTC")),
        "x": pa.array(reports.place[station, 0]),
        "y": pa.array(reports.place[station, 1]),
        **{name: pa.array(values[part]) for name, values in reports.values.items()},
    }
    return pa.table(columns)
