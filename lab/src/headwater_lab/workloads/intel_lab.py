"""Temperatures of a laboratory's motes, every half minute, as they were recorded: a table of numbers, read into rows.

Rule 1  The layout is that of the Intel Berkeley lab data as it was prepared for research on suppression: a line for every 30 seconds,
        in it a temperature in degrees Celsius for each mote, parted by spaces. The motes are 1 to 54 without 5 and 15. The file may
        be packed with gzip.
Rule 2  The file names no time: its first line is at midnight (UTC) of `DAY`.
Rule 3  A file that is not like this is refused whole, with the file and the line.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import SECOND, Column, ColumnType, Rows, parse_instant

LAB_TEXT: Final = """\
CREATE STREAM lab (mote BIGINT KEY, at TIMESTAMP TIME, temperature DOUBLE) LATE 1 SECOND;
"""
DAY: Final = "2004-03-01"
EPOCH_US: Final = 30 * SECOND
MOTES: Final = tuple(mote for mote in range(1, 55) if mote not in (5, 15))
LAB_FILE: Final = Path("intel-lab") / "subsfin.txt.gz"


def read_lab(path: Path, *, epochs: int | None = None) -> Rows:
    """The temperatures of a file by time, then by mote, as rows of the stream `LAB_TEXT` says; `epochs`: only so many lines."""
    measured = _table(path, epochs)
    start, lines = parse_instant(DAY), len(measured)
    return Rows.of(
        {
            "mote": Column(ColumnType.BIGINT, np.tile(np.array(MOTES, np.int64), lines)),
            "at": Column(
                ColumnType.TIMESTAMP,
                start + np.repeat(np.arange(lines, dtype=np.int64), len(MOTES)) * EPOCH_US,
            ),
            "temperature": Column(ColumnType.DOUBLE, measured.ravel()),
        }
    )


def _table(path: Path, epochs: int | None) -> NDArray[np.float64]:
    """float64[epochs, motes]."""
    lines: list[list[float]] = []
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for number, line in enumerate(file, 1):
            if epochs is not None and number > epochs:
                break
            try:
                values = [float(cell) for cell in line.split()]
                if len(values) != len(MOTES) or not np.isfinite(values).all():
                    raise ValueError("not all temperatures are there")
            except ValueError as fault:
                raise ValueError(
                    f"{path.name}, line {number}: {len(MOTES)} temperatures are required"
                ) from fault
            lines.append(values)
    if not lines:
        raise ValueError(f"{path.name}: there are no temperatures in it")
    return np.array(lines, np.float64)
