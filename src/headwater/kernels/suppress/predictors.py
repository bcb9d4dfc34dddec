"""How fast does a sensor's value change? Five ways to say it, each over every sample of the sensor, sent or not.

What a predictor remembers of a sensor is a part of the sensor's two rows (see `sensors`): whole numbers from STAGE on, real
numbers after the line that was sent. Slopes are per second.

Rule 1  CONSTANT     0.
Rule 2  SLOPE        (v − v') / (t − t') of the last two samples; 0 for the first one, or if both are of one time.
Rule 3  LEAST SQUARES n   Σ(t − t̄)(v − v̄) / Σ(t − t̄)² over the last n samples, or as many as there are; 0 if they are of one time.
Rule 4  DOUBLE EXPONENTIAL α, β   level l and trend b, h seconds after the last sample: l' = αv + (1 − α)(l + bh),
                     b' = β(l' − l)/h + (1 − β)b; b stays if h = 0. The first sample is the first level; the first one of
                     another time gives the first trend, (v − l)/h, and is the level then.
Rule 5  KALMAN q, r  state (position, velocity), x' = [1 h; 0 1]x, noise q[h³/3 h²/2; h²/2 h], read with variance r. Nothing is
                     known of the velocity before the second time: the limit of an infinite variance there, written out.
Rule 6  What would not be a finite number is 0, and a filter that has come to such a number begins anew.

Memory  None here; of a sensor: nothing, the last sample, the last n, two numbers a dimension, two a dimension and three.
Source  Holt (1957) for steps of any length; Kalman (1960) with the noise of a continuous white acceleration. The covariance does
        not depend on what is read, so all dimensions have the same one.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.suppress.choices import Predictor

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

LOOP: Final[dict[str, Any]] = {"nogil": True, "_nrt": False}

CONSTANT, SLOPE, LEAST_SQUARES, DOUBLE_EXPONENTIAL, KALMAN = range(5)
CODES: Final = {
    Predictor.CONSTANT: CONSTANT,
    Predictor.SLOPE: SLOPE,
    Predictor.LEAST_SQUARES: LEAST_SQUARES,
    Predictor.DOUBLE_EXPONENTIAL: DOUBLE_EXPONENTIAL,
    Predictor.KALMAN: KALMAN,
}

# Columns of a sensor's whole numbers. STAGE is how many samples the predictor has seen; of the two filters, how many
# different times, up to two: with one there is no trend yet. A predictor whose STAGE is 0 begins anew.
SENT_AT, SEEN_AT, STAGE, RING = range(4)


class Rules(NamedTuple):
    """When to send and to forget, and which slope: the code of the predictor and its parameters (0 where it has none)."""

    tolerance: float
    heartbeat_us: int
    forget_us: int
    predictor: int
    first: float
    second: float


class Sensors(NamedTuple):
    """What is known of sensors, one row each: int64[n, 3 + ring] and float64[n, 2d + memory]."""

    whole: Whole
    real: Real


@loop(**LOOP)
def learn(
    rules: Rules, sensors: Sensors, slot: int, time: int, values: Real, row: int, slopes: Real, place: int
) -> None:
    """Pass a sample to a sensor's predictor, `values[row]` at `time`; write the resulting slope into `slopes[place]`.

    The slopes of LEAST SQUARES are not written here: see `fit`.
    """
    predictor, first, second = rules.predictor, rules.first, rules.second
    whole, real = sensors.whole, sensors.real
    dimensions = values.shape[1]
    memory = 2 * dimensions
    if predictor == CONSTANT:
        for d in range(dimensions):
            slopes[place, d] = 0.0
    elif predictor == SLOPE:
        h = (time - whole[slot, SEEN_AT]) / 1e6 if whole[slot, STAGE] else 0.0
        for d in range(dimensions):
            slopes[place, d] = _finite((values[row, d] - real[slot, memory + d]) / h) if h > 0.0 else 0.0
            real[slot, memory + d] = values[row, d]
        whole[slot, STAGE] = 1
    elif predictor == LEAST_SQUARES:
        last = whole.shape[1] - RING
        at = whole[slot, STAGE] % last
        whole[slot, RING + at] = time
        for d in range(dimensions):
            real[slot, memory + at * dimensions + d] = values[row, d]
        whole[slot, STAGE] += 1
    elif predictor == DOUBLE_EXPONENTIAL:
        _smooth(first, second, whole, real, slot, time, values, row)
        for d in range(dimensions):
            slopes[place, d] = real[slot, memory + dimensions + d]
    else:
        _filter(first, second, whole, real, slot, time, values, row)
        for d in range(dimensions):
            slopes[place, d] = real[slot, memory + dimensions + d]
    whole[slot, SEEN_AT] = time


@loop(**LOOP)
def fit(whole: Whole, real: Real, slot: int, slopes: Real, place: int) -> None:
    """Write the least squares slopes of a sensor's ring into `slopes[place]`: only lines that are sent need them."""
    dimensions = slopes.shape[1]
    memory = 2 * dimensions
    last = min(whole[slot, STAGE], whole.shape[1] - RING)
    now = whole[slot, SEEN_AT]
    middle = 0.0
    for at in range(last):
        middle += (whole[slot, RING + at] - now) / 1e6
    middle /= last
    spread = 0.0
    for at in range(last):
        away = (whole[slot, RING + at] - now) / 1e6 - middle
        spread += away * away
    for d in range(dimensions):
        if spread == 0.0:
            slopes[place, d] = 0.0
            continue
        mean = 0.0
        for at in range(last):
            mean += real[slot, memory + at * dimensions + d] / last
        together = 0.0
        for at in range(last):
            away = (whole[slot, RING + at] - now) / 1e6 - middle
            together += away * (real[slot, memory + at * dimensions + d] - mean)
        slopes[place, d] = _finite(together / spread)


@loop(**LOOP)
def _smooth(
    alpha: float, beta: float, whole: Whole, real: Real, slot: int, time: int, values: Real, row: int
) -> None:
    """Holt: level and trend after one more sample."""
    dimensions = values.shape[1]
    level, trend = 2 * dimensions, 3 * dimensions
    stage = whole[slot, STAGE]
    h = (time - whole[slot, SEEN_AT]) / 1e6 if stage else 0.0
    finite = True
    for d in range(dimensions):
        value, before = values[row, d], real[slot, level + d]
        if stage == 0:
            real[slot, level + d], real[slot, trend + d] = value, 0.0
        elif stage == 1 and h > 0.0:
            real[slot, level + d], real[slot, trend + d] = value, (value - before) / h
        else:
            real[slot, level + d] = alpha * value + (1.0 - alpha) * (before + real[slot, trend + d] * h)
            if h > 0.0:
                rise = (real[slot, level + d] - before) / h
                real[slot, trend + d] = beta * rise + (1.0 - beta) * real[slot, trend + d]
        finite &= math.isfinite(real[slot, level + d]) and math.isfinite(real[slot, trend + d])
    if stage == 0 or h > 0.0:
        whole[slot, STAGE] = min(stage + 1, 2)
    if not finite:
        _begin_anew(whole, real, slot, values, row)


@loop(**LOOP)
def _filter(
    q: float, r: float, whole: Whole, real: Real, slot: int, time: int, values: Real, row: int
) -> None:
    """Kalman: position, velocity and their covariance (a b; b c) after one more sample."""
    dimensions = values.shape[1]
    position, velocity, covariance = 2 * dimensions, 3 * dimensions, 4 * dimensions
    stage = whole[slot, STAGE]
    h = (time - whole[slot, SEEN_AT]) / 1e6 if stage else 0.0
    a, b, c = real[slot, covariance], real[slot, covariance + 1], real[slot, covariance + 2]
    by_position, by_velocity = 1.0, 0.0
    if stage == 0:
        a, b, c = r, 0.0, 0.0
    elif stage == 1 and h > 0.0:
        by_velocity = 1.0 / h
        a, b, c = r, r / h, (a + r) / (h * h) + q * h / 3.0
    else:
        a += h * (2.0 * b + h * c) + q * h * h * h / 3.0
        b += h * c + q * h * h / 2.0
        c += q * h
        seen = a + r
        if seen > 0.0:
            by_position, by_velocity = a / seen, b / seen
            c -= b * by_velocity
            a, b = by_position * r, by_velocity * r
    real[slot, covariance], real[slot, covariance + 1], real[slot, covariance + 2] = a, b, c
    finite = math.isfinite(a) and math.isfinite(b) and math.isfinite(c)
    for d in range(dimensions):
        if stage == 0:
            real[slot, position + d], real[slot, velocity + d] = values[row, d], 0.0
        else:
            expected = real[slot, position + d] + real[slot, velocity + d] * h
            surprise = values[row, d] - expected
            real[slot, position + d] = expected + by_position * surprise
            real[slot, velocity + d] += by_velocity * surprise
        finite &= math.isfinite(real[slot, position + d]) and math.isfinite(real[slot, velocity + d])
    if stage == 0 or h > 0.0:
        whole[slot, STAGE] = min(stage + 1, 2)
    if not finite:
        _begin_anew(whole, real, slot, values, row)
        real[slot, covariance], real[slot, covariance + 1], real[slot, covariance + 2] = r, 0.0, 0.0


@loop(**LOOP)
def _begin_anew(whole: Whole, real: Real, slot: int, values: Real, row: int) -> None:
    """As if this were the first sample of the sensor."""
    dimensions = values.shape[1]
    for d in range(dimensions):
        real[slot, 2 * dimensions + d], real[slot, 3 * dimensions + d] = values[row, d], 0.0
    whole[slot, STAGE] = 1


@loop(**LOOP)
def _finite(slope: float) -> float:
    return slope if math.isfinite(slope) else 0.0
