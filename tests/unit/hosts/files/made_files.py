"""A small stream, and what reading a file of it gives."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headwater.hosts.files import read_file_rows
from headwater.hosts.files.file_rows import FILE_REASONS
from headwater.model import ColumnType, PlaceColumns, StreamSchema

WEATHER = StreamSchema(
    "weather",
    (
        ("station", ColumnType.STRING),
        ("at", ColumnType.TIMESTAMP),
        ("lon", ColumnType.DOUBLE),
        ("lat", ColumnType.DOUBLE),
        ("temperature", ColumnType.DOUBLE),
        ("count", ColumnType.BIGINT),
        ("dry", ColumnType.BOOLEAN),
    ),
    time="at",
    key="station",
    place=PlaceColumns("lon", "lat", geographic=True),
)
ALL = tuple(WEATHER.types)
HEADER = "station,at,lon,lat,temperature,count,dry\n"
SIX = 1_769_839_200_000_000  # 2026-01-31T06:00:00Z
SECOND = 1_000_000


def written(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def read(
    path: str, columns: Sequence[str] = ALL, **options: Any
) -> tuple[list[dict[str, Any]], list[tuple[int, str, str]]]:
    """Good rows, and bad ones as (line, reason, text); every row is one or the other."""
    good: list[dict[str, Any]] = []
    bad: list[tuple[int, str, str]] = []
    for piece in read_file_rows(path, WEATHER, columns, **options):
        assert piece.seen == piece.rows.count + sum(
            reason.partition(":")[0] not in FILE_REASONS for reason in piece.bad["reason"].tolist()
        )
        assert piece.rows.types == {name: WEATHER.types[name] for name in columns}
        good += piece.rows.tolist()
        for entry in piece.bad.tolist():
            assert (entry["stream"], entry["file"]) == ("weather", path)
            bad.append((entry["line"], entry["reason"], entry["text"]))
    return good, bad


def reasons(bad: Sequence[tuple[int, str, str]]) -> list[tuple[int, str]]:
    return [(line, reason) for line, reason, _ in bad]
