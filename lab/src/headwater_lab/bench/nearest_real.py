"""Recorded numbers to draw objects from: a CSV of the user's, or the air quality of Beijing if it is available.

The CSV may have a header. Its first columns are the attributes; a line without a finite number in one of them is left out.
From Beijing, the weather is taken: temperature, pressure, dew point and wind speed of every hour that has all four.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from headwater.model import DataError
from headwater_lab.bench.nearest_objects import ATTRIBUTES, Floats, World, recorded
from headwater_lab.workloads.beijing import read_air_quality

LEAST_ROWS: Final = 1_000
PROFILE: Final = ("temperature", "pressure", "dew_point", "wind_speed")


def real_world(path: Path | None) -> World | None:
    """Rows of the file that the user names; else those of Beijing, if the data sets are where HEADWATER_DATA says."""
    folder = Path(os.environ.get("HEADWATER_DATA", "../shared/data")) / "beijing-air-quality"
    if path is None and not folder.is_dir():
        return None
    try:
        return recorded(read_profiles(folder), "Beijing") if path is None else recorded(read_numbers(path))
    except (OSError, ValueError, csv.Error) as fault:
        raise DataError(
            "unreadable-input",
            f"no objects can be drawn from '{path or folder}': {fault}",
            advice=[
                f"a CSV is required whose lines begin with {len(ATTRIBUTES)} numbers, with or without a header"
            ],
        ) from fault


def read_profiles(path: Path) -> Floats:
    """The weather of every hour in a file or folder of the Beijing set."""
    rows = read_air_quality(path)
    complete = np.logical_and.reduce([rows[name].is_valid for name in PROFILE])
    return np.stack([rows[name].values[complete] for name in PROFILE], axis=1)


def read_numbers(path: Path) -> Floats:
    """The first columns of a CSV, float64[n, attributes]."""
    with path.open(newline="") as file:
        rows = list(_numbers(csv.reader(file)))
    if len(rows) < LEAST_ROWS:
        raise ValueError(f"{len(rows):,} lines have numbers, and {LEAST_ROWS:,} are required")
    return np.array(rows, np.float64)


def _numbers(lines: Iterator[Sequence[str]]) -> Iterator[list[float]]:
    for line in lines:
        with suppress(ValueError):
            values = [float(cell) for cell in line[: len(ATTRIBUTES)]]
            if len(values) == len(ATTRIBUTES) and np.isfinite(values).all():
                yield values
