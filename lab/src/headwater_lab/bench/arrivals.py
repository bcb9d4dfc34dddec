"""Rows as files in the order in which they arrive: a little late, each by another delay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from headwater.model import SECOND
from headwater_lab.workloads.moving_objects import START

MOST_DELAY_US: Final = SECOND


def write_arrivals(columns: Mapping[str, NDArray[Any]], folder: Path, files: int, *, seed: int) -> list[Path]:
    """As so many Parquet files of equal size in the order of arrival, the earliest first by name and by time of change.

    The column `at` has the event times.
    """
    folder.mkdir(parents=True, exist_ok=True)
    at = columns["at"]
    delays = np.random.default_rng(seed).integers(0, MOST_DELAY_US, len(at))
    order = np.argsort(at + delays, kind="stable")
    paths = []
    changed = START // SECOND - 86_400
    for number, (start, stop) in enumerate(pairwise(np.linspace(0, len(order), files + 1).astype(int))):
        chosen = order[start:stop]
        table = {
            name: pa.array(values[chosen], pa.timestamp("us", "UTC") if name == "at" else None)
            for name, values in columns.items()
        }
        path = folder / f"rows-{number:04d}.parquet"
        pq.write_table(pa.table(table), path)
        os.utime(path, (changed + number, changed + number))
        paths.append(path)
    return paths
