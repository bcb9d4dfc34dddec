"""Small seeded readings of a few stations, as files, and the queries the host tests ask about them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from headwater.model import format_instant, parse_instant

STREAM = """
CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE,
  temperature DOUBLE, humidity DOUBLE, wind DOUBLE,
  PLACE (x, y)
) LATE 20 SECONDS;
"""

FROST = """
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (
  temperature BETWEEN -5 AND 0, humidity >= 80, wind <= 2
  WITHIN 30 SECONDS, 3 KM
);
"""

MUGGY = """
CREATE QUERY muggy AS SELECT temperature, temperature_key AS station, humidity FROM weather CORRELATE (
  temperature > 20, humidity > 90
  WITHIN 20 SECONDS INSIDE CIRCLE (0, 0, 4 KM)
);
"""

COLD_AGAIN = """
CREATE QUERY cold AS SELECT station, at, temperature FROM weather WHERE temperature < -8;
CREATE QUERY still AS SELECT * FROM frost CORRELATE (temperature <= -1, wind <= 1 WITHIN 10 SECONDS);
CREATE QUERY each AS SELECT * FROM weather CORRELATE (
  2 OF temperature < -6 AS cold, humidity > 50 WITHIN 15 SECONDS EMIT READINGS
);
"""

START = parse_instant("2026-01-15T00:00:00")


def readings(count: int, seed: int, *, first: int = 0) -> list[dict[str, object]]:
    """Rows of twelve stations, two seconds apart on average, a little out of order."""
    random = np.random.default_rng(seed)
    places = np.random.default_rng(1).uniform(-5000, 5000, (12, 2))
    rows = []
    for i in range(count):
        station = int(random.integers(12))
        at = START + (first + i) * 2_000_000 + int(random.integers(-9, 10)) * 1_000_000
        rows.append(
            {
                "station": f"s{station:02d}",
                "at": format_instant(at),
                "x": round(float(places[station, 0]), 1),
                "y": round(float(places[station, 1]), 1),
                "temperature": round(float(random.normal(2, 12)), 1) if random.random() > 0.05 else None,
                "humidity": round(float(random.uniform(20, 100)), 1),
                "wind": round(float(random.exponential(3)), 1),
            }
        )
    return rows


def write_jsonl(path: Path, rows: Iterable[dict[str, object]]) -> Path:
    """One file, renamed into place when it is whole."""
    hidden = path.with_name("." + path.name)
    hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hidden.rename(path)
    return path


def write_files(folder: Path, files: int, each: int, seed: int, *, first: int = 0) -> Path:
    """`files` files of `each` rows, numbered from `first`."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + files):
        write_jsonl(folder / f"part-{number:04d}.jsonl", readings(each, seed + number, first=number * each))
    return folder


def read_answers(folder: Path) -> list[dict[str, object]]:
    """Every answer of a folder of JSON lines, as any program would read it."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return sorted(
        (json.loads(line) for line in lines), key=lambda a: (a["event_time"], a["query"], a["match_id"])
    )
