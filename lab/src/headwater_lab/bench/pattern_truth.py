"""Which answers are right? Computed from the rows, without a kernel, Spark or Flink.

In both kinds of pattern only one row can be C of a start: the first that is not B. So a start matches or not, whatever the others do, and of
starts that end at the same row the first one wins (skipping past the last row).

`bands` is a few passes over arrays, `rise` a plain loop: 300,000 rows take it about a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from headwater.model import Rows
from headwater_lab.bench.pattern_events import Events, Numbers
from headwater_lab.bench.pattern_questions import WITHIN_S, Bands, PatternQuestion, Rise

_WITHIN_US = WITHIN_S * 1_000_000


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of one pattern: number of the sensor, first and last time (instants) and how many B's, each [m]."""

    sensor: Numbers
    began: Numbers
    ended: Numbers
    steps: Numbers

    def __len__(self) -> int:
        return len(self.began)

    def digest(self) -> str:
        """One digest of all matches, the same in whatever order they are."""
        parts = np.stack([self.sensor, self.began, self.ended, self.steps], axis=1).astype("<i8")
        ordered = parts[np.lexsort(parts.T)]
        return blake2b(np.ascontiguousarray(ordered).tobytes(), digest_size=16).hexdigest()


def expected(events: Events, question: PatternQuestion) -> Matches:
    """The matches that a pattern must have."""
    order = events.by_sensor()
    sensor, at, value = events.sensor[order].astype(np.int64), events.at[order], events.value[order]
    if isinstance(question, Bands):
        start, end = _bands(sensor, at, value, question)
    else:
        start, end = _rise(sensor, at, value, question)
    return Matches(sensor[start], at[start], at[end], end - start - 1)


def emitted(names: Sequence[str], blocks: Iterable[Rows]) -> dict[str, Matches]:
    """The matches in blocks of answers, by query; `names` are those of the sensors, by number."""
    number = {name: place for place, name in enumerate(names)}
    parts: dict[str, list[Matches]] = {}
    for block in blocks:
        query, sensor = block["query"], block["sensor"]
        assert query.names is not None and sensor.names is not None
        sensors = np.array([number[name] for name in sensor.names.tolist()], np.int64)[sensor.values]
        columns = (sensors, *(block[name].values for name in ("began", "ended", "steps")))
        for code, name in enumerate(query.names.tolist()):
            mine = query.values == code
            if mine.any():
                parts.setdefault(name, []).append(Matches(*(column[mine] for column in columns)))
    return {name: together(found) for name, found in parts.items()}


def together(parts: Sequence[Matches]) -> Matches:
    """Several lists of matches as one."""
    fields = ("sensor", "began", "ended", "steps")
    none = np.empty(0, np.int64)
    return Matches(*(np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in fields))


def _bands(
    sensor: Numbers, at: Numbers, value: NDArray[np.float64], question: Bands
) -> tuple[Numbers, Numbers]:
    """The rows of A and of C. A, B and C exclude one another, so matches cannot overlap."""
    between = (value >= question.floor) & (value < question.ceiling)
    rows = np.arange(len(at))
    # For each row, the first row from it on that is no B: a minimum taken from the back.
    other = np.minimum.accumulate(np.where(between, len(at), rows)[::-1])[::-1]
    start = np.flatnonzero(value[:-1] < question.low)
    end = other[start + 1]
    start, end = start[end < len(at)], end[end < len(at)]
    fits = (
        (end >= start + 2)
        & (value[end] >= question.high)
        & (sensor[start] == sensor[end])
        & (at[end] - at[start] <= _WITHIN_US)
    )
    return start[fits], end[fits]


def _rise(
    sensor: Numbers, at: Numbers, value: NDArray[np.float64], question: Rise
) -> tuple[Numbers, Numbers]:
    """The rows of A and of C, row by row as the pattern reads."""
    sensors, times, values = sensor.tolist(), at.tolist(), value.tolist()
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(values):
        end = _fall_behind(sensors, times, values, start, question) if values[start] < question.low else None
        if end is None:
            start += 1
        else:
            found.append((start, end))
            start = end + 1
    both = np.array(found, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _fall_behind(
    sensors: list[int], times: list[int], values: list[float], start: int, question: Rise
) -> int | None:
    """The row of C for a start, if it has a match."""
    total, steps = 0.0, 0
    for row in range(start + 1, len(values)):
        if sensors[row] != sensors[start] or times[row] - times[start] > _WITHIN_US:
            return None
        here, before = values[row], values[row - 1]
        if here > before and here < (total + here) / (steps + 1) + question.leap:
            total, steps = total + here, steps + 1
        else:
            return row if steps and here < before and here < total / steps - question.drop else None
    return None
