"""How many readings would SUPPRESS have saved on recorded samples, and how large would the error have been?

Rule 1  The decision is made by the kernel's own loop; nothing is emitted, everything is counted.
Rule 2  The remaining error is the distance of a sample from the line that is valid just after it: 0 if it was sent, so it is
        never above the tolerance. Mean, greatest and root mean square are over all samples, sent or not.

Memory  One number for each sample, while counting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwater.kernels.suppress.choices import Predictor
from headwater.kernels.suppress.keys import keys_of
from headwater.kernels.suppress.predictors import Real, Whole
from headwater.kernels.suppress.sensors import no_sensors, rules_for, send, sensors_at
from headwater.model import Rows
from headwater.model.partitions import by_partition


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples in the order of the stream: the sensor (from 0 on), the time (µs), and the values, float64[n, d]."""

    sensors: Whole
    times: Whole
    values: Real

    def __len__(self) -> int:
        return len(self.times)

    @property
    def sensor_count(self) -> int:
        """How many sensors there are."""
        return int(self.sensors.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class Savings:
    """The result of one predictor with one tolerance."""

    predictor: Predictor
    parameters: tuple[float, ...]
    tolerance: float
    samples: int
    updates: int
    mean_error: float
    max_error: float
    rms_error: float

    @property
    def saved(self) -> float:
        """The share of samples that need not be sent."""
        return 1.0 - self.updates / self.samples if self.samples else 0.0


def samples_of(rows: Rows, *, key: str | None, time: str, dimensions: Sequence[str]) -> Samples:
    """The samples among rows in the order of the stream: those with a key and a number in every dimension."""
    valid = np.ones(rows.count, np.bool_)
    for name in (*([key] if key else []), *dimensions):
        valid &= rows[name].is_valid
    places = np.flatnonzero(valid)
    values = np.empty((len(places), len(dimensions)))
    for d, name in enumerate(dimensions):
        values[:, d] = rows[name].values[places]
    sensors = np.zeros(len(places), np.int64)
    if key is not None and len(places):
        sensors = keys_of(rows[key].take(places)).number
    return Samples(sensors, rows[time].values[places], values)


def savings(
    samples: Samples,
    *,
    tolerance: float,
    heartbeat_us: int,
    predictor: Predictor,
    parameters: tuple[float, ...] = (),
    forget_us: int | None = None,
) -> Savings:
    """Let every sensor suppress its samples and measure the result."""
    none = no_sensors(predictor, samples.values.shape[1], parameters)
    rules = rules_for(tolerance, heartbeat_us, predictor, parameters, forget_us)
    gaps = np.empty(len(samples))
    sensors = sensors_at(none, np.full(samples.sensor_count, -1, np.int64))
    sent = send(rules, sensors, samples.sensors, samples.times, samples.values, gaps)
    some = len(samples) > 0
    return Savings(
        predictor,
        parameters,
        tolerance,
        len(samples),
        len(sent.place),
        float(gaps.mean()) if some else 0.0,
        float(gaps.max()) if some else 0.0,
        float(np.sqrt(np.mean(gaps * gaps))) if some else 0.0,
    )


def pace_s(samples: Samples) -> float:
    """The usual number of seconds between two samples of a sensor; 1 if no sensor has samples at two times."""
    order = by_partition(samples.sensors, samples.sensor_count)
    between = np.diff(samples.times[order])
    between = between[(np.diff(samples.sensors[order]) == 0) & (between > 0)]
    return float(np.median(between)) / 1e6 if len(between) else 1.0
