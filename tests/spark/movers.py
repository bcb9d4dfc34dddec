"""Cars and buses on a small square, from a seed, as files that come a little out of order, and what the host tests ask of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headwater.model import SECOND, format_instant, parse_instant
from headwater_lab.workloads.moving_objects import START, Motion, make_movers
from tests.spark.valley import write_jsonl

LATE_S = 4
SECONDS = 90
MOTION = Motion(side_m=1_500.0, turn_every_us=10 * SECOND)

STREAMS = f"""
CREATE STREAM cars (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y)) LATE {LATE_S} SECONDS;
CREATE STREAM buses (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y)) LATE {LATE_S} SECONDS;
"""
LINES = "SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 30 SECONDS)"
NEAR = "PAIRS a, b WHERE ABS(a.x - b.x) <= 100 AND ABS(a.y - b.y) <= 100 WITHIN 3 SECONDS"

Readings = list[dict[str, Any]]


def drive(objects: int, seed: int, *, every_us: int = 3 * SECOND) -> Readings:
    """Where objects are for a minute and a half, in the order of time."""
    samples = make_movers(objects, SECONDS, seed=seed, motion=MOTION).samples(every_us)
    return [
        {"id": key, "at": format_instant(at), "x": round(x, 2), "y": round(y, 2)}
        for key, at, (x, y) in zip(
            samples.key.tolist(), samples.at.tolist(), samples.place.tolist(), strict=True
        )
    ]


def arriving(rows: Readings, files: int, seed: int) -> list[Readings]:
    """The rows of each of so many files: every row is held up for less than LATE allows, so none is late."""
    delays = np.random.default_rng(seed).uniform(0, LATE_S * SECOND, len(rows))
    order = np.argsort([parse_instant(row["at"]) for row in rows] + delays, kind="stable")
    return [[rows[place] for place in part] for part in np.array_split(order, files)]


def quiet_time(beyond_s: int = 60) -> Readings:
    """Rows that are no samples, for longer than any line holds: behind them everything is told."""
    times = range(SECONDS, SECONDS + beyond_s + 1, 10)
    return [
        {"id": -1, "at": format_instant(START + second * SECOND), "x": None, "y": None} for second in times
    ]


def write_parts(folder: Path, parts: Sequence[Readings], *, first: int = 0) -> Path:
    """A file for each part, numbered from `first`; a second apart, as Spark's own file source takes them by their age."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(parts, first):
        path = write_jsonl(folder / f"part-{number:04d}.jsonl", rows)
        os.utime(path, (START // SECOND + number,) * 2)
    return folder
