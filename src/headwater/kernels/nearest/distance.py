"""How far is it? Numbers by Euclidean distance, places on the globe along it, values by their rank.

Rule 1  Objects and points become coordinates once, in columns; then one number is compared, the score: the
        weighted Euclidean distance, the chord between two places of a unit sphere, or the value itself.
Rule 2  The square of every difference is weighted and added up in the order of the attributes, in doubles. Equal scores tie,
        so every host must add in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.nearest.choices import Metric
from headwater.model import EARTH_RADIUS_M, Rows

Numbers = NDArray[np.float64]


def coordinates(rows: Rows, attributes: Sequence[str], metric: Metric) -> Numbers:
    """float64[n, dimensions] of rows none of whose attributes is NULL."""
    columns = np.empty((rows.count, len(attributes)))
    for place, name in enumerate(attributes):
        columns[:, place] = rows[name].values
    return as_coordinates(columns, metric)


def as_coordinates(columns: Numbers, metric: Metric) -> Numbers:
    """Attribute values as coordinates of scores."""
    if metric is Metric.GEOGRAPHIC:
        return unit_vectors(columns[:, 0], columns[:, 1])
    if metric is Metric.HIGHEST:
        return 0.0 - columns  # not -columns: minus zero and zero are one value
    return np.ascontiguousarray(columns)


def unit_vectors(lon: Numbers, lat: Numbers) -> Numbers:
    """float64[n, 3]: places in degrees as points of a sphere of radius 1."""
    east, north = np.radians(lon), np.radians(lat)
    across = np.cos(north)
    return np.column_stack([across * np.cos(east), across * np.sin(east), np.sin(north)])


def chord_metres(chord: Numbers) -> Numbers:
    """Metres along the globe between places whose unit vectors have this chord."""
    return 2.0 * EARTH_RADIUS_M * np.arcsin(np.minimum(1.0, chord / 2.0))


def answer_distance(score: Numbers, metric: Metric) -> Numbers:
    """The distance in answers."""
    return chord_metres(score) if metric is Metric.GEOGRAPHIC else score
