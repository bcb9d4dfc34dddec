"""Objects with four attributes, and query points: the setting of the paper.

Rule 1  A seed and a number give the same objects and points everywhere.
Rule 2  Attributes lie in [0, 1]: each value as likely as another (uniform); around two centres with variance 0.1 in every
        attribute, drawn again when it falls outside (clusters); or rows drawn at random from a recorded set (real). Points
        are drawn like the objects.
Rule 3  Objects are a millisecond apart on average and no two have the same time, so that a window of WINDOW_S seconds holds
        WINDOW_OBJECTS of them, some dozens more or less.
Rule 4  An object takes up to MOST_DELAY_US to arrive, so neighbours in a file are out of order; none comes late.

Memory  All objects at once: some 60 bytes each.
Source  section 6 of the paper and its Table 1: d = 4, m = 400, λ = 40,000 objects a window, N = 10^6.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, Rows, StreamSchema

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

ATTRIBUTES: Final = ("a", "b", "c", "d")
GAP_US: Final = 1_000
WINDOW_OBJECTS: Final = 40_000
MOST_DELAY_US: Final = 1_000_000
LATE_S: Final = 2
VARIANCE: Final = 0.1
FIRST_TIME: Final = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z

SCHEMA: Final = StreamSchema(
    "objects",
    (
        ("id", ColumnType.BIGINT),
        ("at", ColumnType.TIMESTAMP),
        *((name, ColumnType.DOUBLE) for name in ATTRIBUTES),
    ),
    time="at",
    key="id",
    late_us=LATE_S * 1_000_000,
)

_FIRST_CHANGE_S = FIRST_TIME // 1_000_000 - 86_400


@dataclass(frozen=True, slots=True)
class World:
    """How the attributes of objects and points are drawn."""

    name: str
    draw: Draw


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects in order of time: `at[n]` (instants) and `values[n, attributes]`. The key of an object is its number."""

    at: Numbers
    values: Floats

    def __len__(self) -> int:
        return len(self.at)

    def first(self, count: int) -> Objects:
        """The earliest ones."""
        return Objects(self.at[:count], self.values[:count])


def uniform() -> World:
    """Every place as likely as another."""
    return World("uniform", lambda random, count: random.random((count, len(ATTRIBUTES))))


def clusters(*, seed: int) -> World:
    """Half of the objects around each of two centres."""
    centres = np.random.default_rng(seed).random((2, len(ATTRIBUTES)))

    def draw(random: np.random.Generator, count: int) -> Floats:
        middles = centres[random.integers(0, 2, count)]
        values = random.normal(middles, np.sqrt(VARIANCE))
        while (outside := (values < 0) | (values > 1)).any():
            values[outside] = random.normal(middles[outside], np.sqrt(VARIANCE))
        return values

    return World("clusters", draw)


def recorded(rows: Floats, name: str = "real") -> World:
    """Rows of a recorded set float64[n, attributes], each attribute stretched to [0, 1], drawn at random."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    normal = (rows - low) / np.where(high > low, high - low, 1.0)
    return World(name, lambda random, count: normal[random.integers(0, len(normal), count)])


def make_objects(world: World, count: int, *, seed: int) -> Objects:
    """So many objects."""
    random = np.random.default_rng(seed)
    gaps = random.integers(1, 2 * GAP_US, count)
    return Objects(FIRST_TIME + np.cumsum(gaps), world.draw(random, count))


def make_points(world: World, count: int, *, seed: int) -> Floats:
    """So many points float64[count, attributes]; others than the objects of the same seed."""
    return world.draw(np.random.default_rng([seed, count]), count)


def batches(objects: Objects, chosen: range) -> Iterator[Rows]:
    """Some of the objects as a kernel gets them: in order, `chosen.step` at a time."""
    for start in chosen:
        part = slice(start, min(start + chosen.step, chosen.stop))
        columns = {
            "id": Column(ColumnType.BIGINT, np.arange(part.start, part.stop)),
            "at": Column(ColumnType.TIMESTAMP, objects.at[part]),
        }
        for number, name in enumerate(ATTRIBUTES):
            values = np.ascontiguousarray(objects.values[part, number])
            columns[name] = Column(ColumnType.DOUBLE, values)
        yield Rows.of(columns)


def point_rows(points: Floats) -> Rows:
    """The points as rows of a set of points; the id of a point is its number."""
    columns = {"id": Column(ColumnType.BIGINT, np.arange(len(points)))}
    for number, name in enumerate(ATTRIBUTES):
        columns[name] = Column(ColumnType.DOUBLE, np.ascontiguousarray(points[:, number]))
    return Rows.of(columns)


def arrivals(objects: Objects, *, seed: int) -> Numbers:
    """The numbers of the objects in the order in which they arrive."""
    delays = np.random.default_rng(seed).integers(0, MOST_DELAY_US, len(objects))
    return np.argsort(objects.at + delays, kind="stable")


def write_objects(objects: Objects, order: Numbers, folder: Path, files: int) -> list[Path]:
    """The objects as so many Parquet files of equal size, the earliest first by name and by time of change."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (start, stop) in enumerate(pairwise(np.linspace(0, len(order), files + 1).astype(int))):
        path = folder / f"objects-{number:04d}.parquet"
        pq.write_table(_table(objects, order[start:stop]), path)
        os.utime(path, (_FIRST_CHANGE_S + number, _FIRST_CHANGE_S + number))
        paths.append(path)
    return paths


def write_points(points: Floats, path: Path) -> Path:
    """The points as a Parquet file; the id of a point is its number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": pa.array(np.arange(len(points))), **_columns(points)}), path)
    return path


def _table(objects: Objects, chosen: Numbers) -> pa.Table:
    at = pa.array(objects.at[chosen], pa.timestamp("us", "UTC"))
    return pa.table({"id": pa.array(chosen), "at": at, **_columns(objects.values[chosen])})


def _columns(values: Floats) -> dict[str, pa.Array]:
    return {name: pa.array(np.ascontiguousarray(values[:, place])) for place, name in enumerate(ATTRIBUTES)}
