"""The choices of SUPPRESS that language and kernel share."""

from __future__ import annotations

import enum


class Predictor(enum.Enum):
    """Where the slope of a line comes from.

    CONSTANT: the slope is 0. SLOPE: the last two samples. LEAST SQUARES n: the last n. DOUBLE EXPONENTIAL α, β: a smoothed
    level and a smoothed trend (Holt). KALMAN q, r: the velocity of a filter that models the sensor as moving at a constant
    velocity with noise of density q, measured with noise of variance r.
    """

    CONSTANT = "CONSTANT"
    SLOPE = "SLOPE"
    LEAST_SQUARES = "LEAST SQUARES"
    DOUBLE_EXPONENTIAL = "DOUBLE EXPONENTIAL"
    KALMAN = "KALMAN"

    @property
    def parameters(self) -> int:
        """How many parameters it has."""
        return _PARAMETERS.get(self, 0)


_PARAMETERS = {Predictor.LEAST_SQUARES: 1, Predictor.DOUBLE_EXPONENTIAL: 2, Predictor.KALMAN: 2}


def memory_of(predictor: Predictor, dimensions: int, parameters: tuple[float, ...]) -> tuple[int, int]:
    """How many whole numbers (times of a ring) and real numbers a predictor stores for a sensor."""
    if predictor is Predictor.SLOPE:
        return 0, dimensions
    if predictor is Predictor.LEAST_SQUARES:
        last = int(parameters[0])
        return last, last * dimensions
    if predictor is Predictor.DOUBLE_EXPONENTIAL:
        return 0, 2 * dimensions
    if predictor is Predictor.KALMAN:
        return 0, 2 * dimensions + 3
    return 0, 0
