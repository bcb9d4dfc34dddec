"""Whether boxes cover a box, point by point; and whether an operator takes a point, filter by filter.

Boxes are drawn on a grid of whole numbers. Cell i stands for all doubles from i up to the one before i + 1, so that the grid says
exactly what is true of the doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from headwater.model import Operator
from headwater.protocols.cover import Boxes

Cells = tuple[tuple[int, int], ...]
"""For each column the first and the last cell."""

Events = dict[str, np.ndarray]
"""For each attribute the value, x and y of its reading, float64[events, 3]."""


def covered(box: Cells, others: Sequence[Cells]) -> bool:
    """Every cell of the box lies in one of the others."""
    return all(
        any(
            all(first <= cell <= last for cell, (first, last) in zip(point, other, strict=True))
            for other in others
        )
        for point in product(*(range(first, last + 1) for first, last in box))
    )


def doubles(box: Cells) -> tuple[np.ndarray, np.ndarray]:
    """The box of doubles that the cells stand for."""
    low = np.array([first for first, _ in box], np.float64)
    return low, np.nextafter(np.array([last + 1 for _, last in box], np.float64), -np.inf)


def rows(others: Sequence[Cells], columns: int) -> Boxes:
    """The boxes of doubles that rows of cells stand for."""
    pairs = [doubles(other) for other in others]
    low = np.array([pair[0] for pair in pairs]).reshape(-1, columns)
    return Boxes(low, np.array([pair[1] for pair in pairs]).reshape(-1, columns))


def takes(operator: Operator, events: Events) -> np.ndarray:
    """Which events are events of the operator; attributes of its filters differ."""
    taken = np.ones(len(next(iter(events.values()))), np.bool_)
    for one in operator.filters:
        value, x, y = events[one.attribute].T
        taken &= (one.low <= value) & (value <= one.high)
        if one.region is not None:
            taken &= one.region.contains(x.copy(), y.copy())
    return taken
