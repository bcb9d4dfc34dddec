"""Objects that move in a rectangle and report where they are, made up from a seed: where is each of them at any instant?

Rule 1  Every object has the same speed all the time. At each of its turns, `turn_every_us` apart, it takes a new direction with
        probability `turn_probability`, uniformly distributed, and goes straight ahead in between.
Rule 2  At a border it is reflected, as light is. A place is computed as if the rectangle had no borders and is then
        folded back, so it is exact at every instant and no instant depends on which others are read.
Rule 3  Objects neither turn nor measure at the same moments: the first turn and the first sample of each are drawn from one
        whole period. Samples are without error. Every object has taken a sample before time 0 or at it.
Rule 4  A seed, a number and a motion give the same objects everywhere.

Memory  A corner and a velocity for each leg of each object, 32 bytes; samples take 40 bytes each.
Source  the moving objects in section 6 of "A Query Processor for Prediction-Based Monitoring of Data Streams": 60 mph (26.8 m/s),
        an area of 10 km², a new direction with probability 0.5 every 10 s, a sample every 3 s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import SECOND, Column, ColumnType, Instant, Rows, StreamSchema

Floats = NDArray[np.float64]
Instants = NDArray[np.int64]

START: Final[Instant] = 1_767_225_600 * SECOND  # 2026-01-01T00:00:00Z: time 0
PAPER_SIDE_M: Final = math.sqrt(10.0) * 1_000.0

MOVERS_TEXT: Final = """\
CREATE STREAM movers (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE) LATE 1 SECOND;
"""
MOVERS_SCHEMA: Final = StreamSchema(
    "movers",
    (
        ("id", ColumnType.BIGINT),
        ("at", ColumnType.TIMESTAMP),
        ("x", ColumnType.DOUBLE),
        ("y", ColumnType.DOUBLE),
    ),
    time="at",
    key="id",
    late_us=SECOND,
)


@dataclass(frozen=True, slots=True)
class Motion:
    """How objects move; by default as those of the paper do. `along_m` is the other side of a rectangle; None: it is a square."""

    side_m: float = PAPER_SIDE_M
    speed_mps: float = 26.8
    turn_every_us: int = 10 * SECOND
    turn_probability: float = 0.5
    along_m: float | None = None

    @property
    def sides_m(self) -> Floats:
        """Both sides, float64[2]."""
        return np.array([self.side_m, self.side_m if self.along_m is None else self.along_m])


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples in the order of a stream, by time, then by object: `key[m]`, `at[m]` (instants), `place[m, 2]` (metres)."""

    key: NDArray[np.int64]
    at: Instants
    place: Floats

    def __len__(self) -> int:
        return len(self.at)

    def between(self, start: int, stop: int) -> Rows:
        """Some of them, by their numbers, as rows of the stream that `MOVERS_TEXT` says."""
        part = slice(start, stop)
        return Rows.of(
            {
                "id": Column(ColumnType.BIGINT, self.key[part]),
                "at": Column(ColumnType.TIMESTAMP, self.at[part]),
                "x": Column(ColumnType.DOUBLE, np.ascontiguousarray(self.place[part, 0])),
                "y": Column(ColumnType.DOUBLE, np.ascontiguousarray(self.place[part, 1])),
            }
        )

    def rows(self) -> Rows:
        """All of them as rows."""
        return self.between(0, len(self))


@dataclass(frozen=True, slots=True)
class Movers:
    """Objects 0, 1, …: leg l of an object begins at `turns[n] + (l - 1) * turn_every_us` in `corners[n, l, 2]` (not folded)."""

    motion: Motion
    seed: int
    until: Instant
    turns: Instants
    corners: Floats
    velocities: Floats

    def __len__(self) -> int:
        return len(self.turns)

    def places(self, at: Instant | Instants) -> Floats:
        """Where the objects are, float64[n, 2]; `at` is one instant or one for each object."""
        instants = np.broadcast_to(np.asarray(at, np.int64), self.turns.shape)
        return self._folded(np.arange(len(self)), instants)

    def samples(self, every_us: int) -> Samples:
        """What each object measures from its first sample on, up to the end, which is out."""
        first = START - np.random.default_rng([self.seed, 1]).integers(0, every_us, len(self))
        amounts = -((first - self.until) // every_us)
        key = np.repeat(np.arange(len(self)), amounts)
        before = np.cumsum(amounts) - amounts
        at = first[key] + (np.arange(len(key)) - before[key]) * every_us
        order = np.lexsort((key, at))
        return Samples(key[order], at[order], self._folded(key[order], at[order]))

    def _folded(self, key: NDArray[np.int64], at: Instants) -> Floats:
        every = self.motion.turn_every_us
        leg = np.maximum((at - self.turns[key]) // every + 1, 0)
        since_s = (at - self.turns[key] - (leg - 1) * every) / SECOND
        beyond = self.corners[key, leg] + self.velocities[key, leg] * since_s[:, None]
        sides = self.motion.sides_m
        there = np.mod(beyond, 2 * sides)
        return np.where(there > sides, 2 * sides - there, there)


def make_movers(count: int, seconds: int, *, seed: int, motion: Motion | None = None) -> Movers:
    """So many objects that move from a little before time 0 until so many seconds after it."""
    motion = motion or Motion()
    random = np.random.default_rng([seed, 0])
    every_s = motion.turn_every_us / SECOND
    legs = math.ceil(seconds / every_s) + 1
    turns = START + random.integers(0, motion.turn_every_us, count)
    heading = _held(
        random.uniform(0.0, 2.0 * math.pi, (count, legs)),
        random.random((count, legs)) < motion.turn_probability,
    )
    velocities = motion.speed_mps * np.stack([np.cos(heading), np.sin(heading)], axis=2)
    corners = np.empty((count, legs, 2))
    corners[:, 0] = random.uniform(0.0, motion.sides_m, (count, 2))
    corners[:, 1:] = corners[:, :1] + np.cumsum(velocities[:, :-1] * every_s, axis=1)
    return Movers(motion, seed, START + seconds * SECOND, turns, corners, velocities)


def side_for(count: int, per_km2: float) -> float:
    """The side in metres of a square in which so many objects are so dense."""
    return math.sqrt(count / per_km2) * 1_000.0


def _held(drawn: Floats, turns: NDArray[np.bool_]) -> Floats:
    """Of the directions drawn for every leg, the last one that was taken; the first always is."""
    leg = np.where(turns, np.arange(drawn.shape[1]), 0)
    return np.take_along_axis(drawn, np.maximum.accumulate(leg, axis=1), axis=1)
