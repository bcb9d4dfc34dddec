"""The standing queries of a query set, one for each point: their order, and their identity after a restart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.nearest.question import NearestQuery
from headwater.model import Column, ColumnType, strings
from headwater.model.identity import content_hash

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


def by_place(points: Real) -> Whole:
    """An order in which neighbouring queries are adjacent: one object meets them all, in adjacent memory."""
    bits = 6
    place = np.zeros(len(points), np.int64)
    ranks = np.argsort(np.argsort(points[:, :4], axis=0, kind="stable"), axis=0, kind="stable")
    cells = (ranks << bits) // max(1, len(points))
    for bit in range(bits - 1, -1, -1):
        for axis in range(cells.shape[1]):
            place = (place << 1) | ((cells[:, axis] >> bit) & 1)
    return np.argsort(place, kind="stable")


def identities(query: NearestQuery) -> NDArray[np.uint64]:
    """uint64[2, points]: the identity of a standing query, the same after a restart."""
    count = len(query.points)
    texts = [strings([text] * count) for text in (query.name, query.fingerprint)]
    ids = [query.points.ids] if query.points.ids is not None else []
    places = [Column(ColumnType.DOUBLE, column) for column in query.points.coordinates.T]
    return content_hash([*texts, *ids, *places])


def matches(new: NDArray[np.uint64], known: NDArray[np.uint64]) -> Whole:
    """The place of each identity among the known ones; -1: it is not there."""
    if not known.shape[1]:
        return np.full(new.shape[1], -1, np.int64)
    order = np.argsort(known[0], kind="stable")
    place = order[np.minimum(np.searchsorted(known[0][order], new[0]), known.shape[1] - 1)]
    return np.where((known[0][place] == new[0]) & (known[1][place] == new[1]), place, -1)
