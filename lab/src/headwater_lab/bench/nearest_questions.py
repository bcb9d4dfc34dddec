"""The questions about the objects: the k nearest of a window to each of many points, by each algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from headwater.kernels.nearest.candidate_limits import r_star
from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import Column, ColumnType
from headwater_lab.bench.nearest_objects import (
    ATTRIBUTES,
    GAP_US,
    LATE_S,
    WINDOW_OBJECTS,
    Floats,
)

SIGMA: Final = 0.001

_COLUMNS = ", ".join(f"{name} DOUBLE" for name in ATTRIBUTES)
_TEXT = f"""CREATE STREAM objects (id BIGINT KEY, at TIMESTAMP TIME, {_COLUMNS}) LATE {LATE_S} SECONDS;
CREATE POINTS points (id BIGINT KEY, {_COLUMNS});
CREATE QUERY near AS SELECT * FROM objects NEAREST (
  {{k}} TO EACH OF points BY ({", ".join(ATTRIBUTES)}) OVER {{window_s}} SECONDS USING {{using}}
);
"""


@dataclass(frozen=True, slots=True)
class NearestQuestion:
    """The `k` nearest objects of a window that holds `window_objects` on average."""

    k: int
    algorithm: Algorithm
    window_objects: int = WINDOW_OBJECTS

    @property
    def window_us(self) -> int:
        """How long the window is."""
        return self.window_objects * GAP_US

    @property
    def limit(self) -> int | None:
        """How many objects are stored at most, where that is part of the meaning."""
        return None if self.algorithm.exact else r_star(self.k, SIGMA)

    def text(self) -> str:
        """The stream, the points and the query in the language."""
        using = "EXACT" if self.algorithm.exact else f"PROBABLE {SIGMA!r}"
        window_s = self.window_us // 1_000_000
        return _TEXT.format(k=self.k, window_s=window_s, using=f"{using} ALGORITHM {self.algorithm.value}")

    def query(self, points: Floats) -> NearestQuery:
        """The query as the kernel takes it."""
        ids = Column(ColumnType.BIGINT, np.arange(len(points)))
        return NearestQuery(
            name="near",
            fingerprint="near",
            shape=0,
            where=None,
            k=self.k,
            metric=Metric.EUCLIDEAN,
            attributes=ATTRIBUTES,
            weights=None,
            points=Points(points, ids),
            window_us=self.window_us,
            window_rows=None,
            per=None,
            ties=False,
            algorithm=self.algorithm,
            sigma=None if self.algorithm.exact else SIGMA,
            emission=Emission.ENTERS,
            every_us=None,
            columns=tuple((name, name) for name in ATTRIBUTES),
        )
