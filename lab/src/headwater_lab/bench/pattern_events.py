"""Events of sensors that report once a second, as a stream would bring them: in files, nearly in the order of time.

Rule 1  A seed and a number of rows give the same rows everywhere.
Rule 2  Times are whole milliseconds, a sensor's own phase and up to MOST_JITTER_MS after the full second: no two events of a
        sensor share a time, and a span is at most 6 s if and only if it is less than 6.001 s. The first is our WITHIN 6
        SECONDS, the second the `<` of Flink. Spans of exactly 6 s occur.
Rule 3  Values are quarters from 0 to below 100, uniformly distributed: sums of a few are exact in any order, so that no
        two systems differ in an average.
Rule 4  An event takes up to MOST_DELAY_MS to arrive, so neighbours in a file are out of order; none comes late.

Memory  All rows at once: some 60 bytes a row while they are made.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

SENSORS: Final = 1_000
MOST_JITTER_MS: Final = 300
MOST_DELAY_MS: Final = 1_000
LATE_S: Final = 2
KINDS: Final = ("flow", "level", "pressure")
FIRST_TIME: Final = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z

STREAM: Final = f"""CREATE STREAM events (
  sensor STRING KEY, at TIMESTAMP TIME, value DOUBLE, kind STRING
) LATE {LATE_S} SECONDS;
"""

_FIRST_CHANGE_S = FIRST_TIME // 1_000_000 - 86_400


@dataclass(frozen=True, slots=True)
class Events:
    """Rows in the order they arrive: `sensor[n]` (a number), `at[n]` (instants), `value[n]`; a sensor is of one kind."""

    names: tuple[str, ...]
    kind: NDArray[np.int32]  # int32[sensors]
    sensor: NDArray[np.int32]
    at: Numbers
    value: Floats

    def __len__(self) -> int:
        return len(self.at)

    def by_sensor(self) -> Numbers:
        """The rows sensor by sensor, each in the order of time."""
        return np.lexsort((self.at, self.sensor))

    def first(self, rows: int) -> Events:
        """The first rows to arrive."""
        return Events(self.names, self.kind, self.sensor[:rows], self.at[:rows], self.value[:rows])


def make_events(rows: int, *, seed: int) -> Events:
    """So many rows of `SENSORS` sensors."""
    random = np.random.default_rng(seed)
    rounds = -(-rows // SENSORS)
    phase_ms = random.integers(0, 1000, SENSORS)
    at_ms = np.arange(rounds)[:, None] * 1000 + phase_ms
    at_ms = (at_ms + random.integers(0, MOST_JITTER_MS + 1, at_ms.shape)).reshape(-1)
    arrival_ms = at_ms + random.integers(0, MOST_DELAY_MS, len(at_ms))
    chosen = np.argsort(arrival_ms, kind="stable")[:rows]
    names = tuple(f"s{number:04d}" for number in range(SENSORS))
    kind = random.integers(0, len(KINDS), SENSORS).astype(np.int32)
    value = random.integers(0, 400, rows) / 4.0
    return Events(names, kind, (chosen % SENSORS).astype(np.int32), FIRST_TIME + at_ms[chosen] * 1000, value)


def write_events(events: Events, folder: Path, files: int) -> list[Path]:
    """The rows as so many Parquet files of equal size, the earliest first by name and by time of change."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (start, stop) in enumerate(pairwise(np.linspace(0, len(events), files + 1).astype(int))):
        path = folder / f"events-{number:04d}.parquet"
        pq.write_table(events_table(events, slice(start, stop)), path)
        os.utime(path, (_FIRST_CHANGE_S + number, _FIRST_CHANGE_S + number))
        paths.append(path)
    return paths


def write_csv(events: Events, folder: Path, parts: int) -> list[Path]:
    """The rows as CSV without a header, `at` in ms, dealt out in turn: all files are at the same time of the stream."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part in range(parts):
        table = events_table(events, slice(part, None, parts))
        plain = {
            "sensor": table["sensor"].cast(pa.string()),
            "at_ms": pa.array(events.at[part::parts] // 1000),
            "value": table["value"],
            "kind": table["kind"].cast(pa.string()),
        }
        paths.append(folder / f"events-{part:04d}.csv")
        pa_csv.write_csv(pa.table(plain), paths[-1], pa_csv.WriteOptions(include_header=False))
    return paths


def events_table(events: Events, part: slice) -> pa.Table:
    """Some of the events as a table."""
    sensor = events.sensor[part]
    columns = {
        "sensor": pa.DictionaryArray.from_arrays(pa.array(sensor), pa.array(events.names)),
        "at": pa.array(events.at[part], pa.timestamp("us", "UTC")),
        "value": pa.array(events.value[part]),
        "kind": pa.DictionaryArray.from_arrays(pa.array(events.kind[sensor]), pa.array(KINDS)),
    }
    return pa.table(columns)
