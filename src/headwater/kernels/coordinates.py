"""Coordinates of rows as numbers: NULL becomes NaN, which no region contains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.model import Rows


def coordinates(rows: Rows, name: str) -> NDArray[np.float64]:
    """A coordinate of every row; NaN where there is none."""
    column = rows[name]
    values: NDArray[np.float64] = column.values.astype(np.float64, copy=False)
    return values if column.valid is None else np.where(column.valid, values, np.nan)
