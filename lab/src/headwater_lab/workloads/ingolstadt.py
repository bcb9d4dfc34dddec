"""Traffic in Ingolstadt, second by second, as the simulator SUMO wrote it: positions of vehicles as rows.

Rule 1  The layout is SUMO's floating car data as CSV: a header, then a line for each vehicle and second with the time in seconds
        since midnight, the vehicle, its place in metres, angle, type, speed and where on the road it is, parted by
        semicolons. The CSV may be packed with gzip. Time, vehicle, place and speed are taken.
Rule 2  The file names no day: midnight is that of `DAY`.
Rule 3  Vehicles appear and vanish. Nothing says that one has gone but that it has no more lines.
Rule 4  A file that is not like this is refused whole, with the file and the line.
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

TRAFFIC_TEXT: Final = """\
CREATE STREAM traffic (vehicle STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, speed DOUBLE) LATE 1 SECOND;
"""
DAY: Final = "2026-01-01"
TRAFFIC_FILE: Final = Path("sumo-ingolstadt") / "DERIVED_fcd_57600-58500_seed42.csv.gz"

_HEADER: Final = (
    "timestep_time;vehicle_id;vehicle_x;vehicle_y;vehicle_angle;vehicle_type;vehicle_speed;vehicle_pos;vehicle_lane;"
    "vehicle_edge;vehicle_slope"
)
_FIELDS: Final = 11


def read_traffic(path: Path) -> Rows:
    """All positions of a file by time, then by vehicle, as rows of the stream `TRAFFIC_TEXT` says."""
    found = sorted(_positions(path))
    columns = {
        "vehicle": strings([position.vehicle for position in found]),
        "at": Column(ColumnType.TIMESTAMP, np.array([position.at for position in found], np.int64)),
    }
    numbers = np.array([position[2:] for position in found], np.float64).reshape(-1, 3)
    for name, values in zip(("x", "y", "speed"), numbers.T, strict=True):
        columns[name] = Column(ColumnType.DOUBLE, np.ascontiguousarray(values))
    return Rows.of(columns)


class _Position(NamedTuple):
    """One line."""

    at: Instant
    vehicle: str
    x: float
    y: float
    speed: float


def _positions(path: Path) -> Iterator[_Position]:
    midnight = parse_instant(DAY)
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        lines = csv.reader(file, delimiter=";")
        if ";".join(next(lines, [])) != _HEADER:
            raise ValueError(f"{path.name}, line 1: the header {_HEADER} is required")
        for number, line in enumerate(lines, 2):
            try:
                yield _position(line, midnight)
            except ValueError as fault:
                raise ValueError(
                    f"{path.name}, line {number}: a time in seconds, a vehicle, a place, its angle, a type and a speed are required"
                ) from fault


def _position(line: Sequence[str], midnight: Instant) -> _Position:
    if len(line) != _FIELDS or not line[1]:
        raise ValueError("not all fields are there")
    since_s, x, y, speed = (float(line[place]) for place in (0, 2, 3, 6))
    if not all(math.isfinite(number) for number in (since_s, x, y, speed)):
        raise ValueError("not all numbers are finite")
    return _Position(midnight + round(since_s * SECOND), line[1], x, y, speed)
