"""Trades of one share as they were recorded: a zip of CSV for each day, read into rows.

Rule 1  The layout is that of the QuantConnect Lean engine: `ibm_20131007_trade.zip` (symbol, day) holds one CSV without a
        header, a line for each trade: milliseconds since midnight in New York, price × 10,000, size, exchange,
        condition, 1 if suspicious.
Rule 2  No trade is left out, and the order within a millisecond is preserved: `number` counts the trades of a day, and comes first
        after time and key wherever rows of one instant are sorted.
Rule 3  A file with another layout is refused whole, with the file and the line.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from headwater.model import SECOND, Column, ColumnType, Instant, Rows, strings

TRADES_TEXT: Final = """\
CREATE STREAM trades (
  symbol STRING KEY, at TIMESTAMP TIME, number BIGINT,
  price DOUBLE, size BIGINT, exchange STRING, condition STRING, suspicious BOOLEAN
) LATE 1 SECOND;
"""

_NAME: Final = re.compile(r"([a-z.]+)_(\d{8})_trade\.zip")
_NEW_YORK: Final = ZoneInfo("America/New_York")
_FIELDS: Final = 6
_MILLISECOND: Final = SECOND // 1000


def read_trades(path: Path) -> Rows:
    """All trades of one file, as rows of the stream `TRADES_TEXT` says."""
    named = _NAME.fullmatch(path.name)
    if named is None:
        raise ValueError(f"{path.name}: a name like ibm_20131007_trade.zip is required")
    symbol, midnight = named[1].upper(), _midnight(named[2])
    with zipfile.ZipFile(path) as zipped:
        held = zipped.namelist()
        if len(held) != 1:
            raise ValueError(f"{path.name}: one CSV is required in it, not {len(held)} files")
        lines = list(csv.reader(io.StringIO(zipped.read(held[0]).decode("ascii"))))
    for number, line in enumerate(lines, 1):
        if len(line) != _FIELDS or not _is_trade(line):
            raise ValueError(
                f"{path.name}, line {number}: milliseconds, price, size, exchange, condition and 0 or 1 are required"
            )
    since, price, size, suspicious = (np.array([line[at] for line in lines], np.int64) for at in (0, 1, 2, 5))
    return Rows.of(
        {
            "symbol": strings([symbol] * len(lines)),
            "at": Column(ColumnType.TIMESTAMP, midnight + since * _MILLISECOND),
            "number": Column(ColumnType.BIGINT, np.arange(1, len(lines) + 1, dtype=np.int64)),
            "price": Column(ColumnType.DOUBLE, price / 10_000),
            "size": Column(ColumnType.BIGINT, size),
            "exchange": strings([line[3] for line in lines]),
            "condition": strings([line[4] for line in lines]),
            "suspicious": Column(ColumnType.BOOLEAN, suspicious != 0),
        }
    )


def _is_trade(line: list[str]) -> bool:
    return all(line[at].isdecimal() for at in (0, 1, 2)) and line[5] in ("0", "1")


def _midnight(day: str) -> Instant:
    """When a day began in New York. Clocks change on Sundays, when there is no trading."""
    begun = datetime.strptime(day, "%Y%m%d").replace(tzinfo=_NEW_YORK)
    return int(begun.astimezone(UTC).timestamp()) * SECOND
