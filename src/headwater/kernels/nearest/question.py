"""A NEAREST operator as its kernel sees it: checked, with every choice made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.model import Column


@dataclass(frozen=True, slots=True)
class Points:
    """The points of one operator, each a standing query of its own.

    `coordinates` is float64[points, attributes]; `ids` are their names, with TO EACH OF; None: there is one point, and it needs
    no name. Under HIGHEST and LOWEST the one point has the coordinate 0, which is not used.
    """

    coordinates: NDArray[np.float64]
    ids: Column | None = None

    def __len__(self) -> int:
        return len(self.coordinates)


@dataclass(frozen=True, slots=True)
class NearestQuery:
    """One NEAREST operator: `k` objects nearest to each of its points.

    `where` is the index of its condition in the kernel's list. `attributes` are the columns that make a row an object:
    numeric, longitude and latitude under GEOGRAPHIC, one under HIGHEST and LOWEST. `weights` are those of EUCLIDEAN.
    One of `window_us` and `window_rows` is set. `columns` are the columns of its row that an answer has: the name in the answer
    and the column of the stream. `sigma` belongs to PA; `every_us` to EVERY. `audit` is the share of the points for which PA
    is compared with the exact answer. `forget_us` belongs to PER with `window_rows`. `counts_rows`: this zone, and no other, counts rows that
    are not objects.
    """

    name: str
    fingerprint: str
    shape: int
    where: int | None
    k: int
    metric: Metric
    attributes: tuple[str, ...]
    weights: tuple[float, ...] | None
    points: Points
    window_us: int | None
    window_rows: int | None
    per: str | None
    ties: bool
    algorithm: Algorithm
    sigma: float | None
    emission: Emission
    every_us: int | None
    columns: tuple[tuple[str, str], ...]
    audit: float = 0.0
    counts_rows: bool = True
    forget_us: int | None = None
