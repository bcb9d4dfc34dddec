"""What SUPPRESS would have saved, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from headwater.kernels.suppress.choices import Predictor
from headwater.kernels.suppress.report import Samples, pace_s, samples_of, savings
from headwater.model import SECOND, Column, ColumnType, Rows, strings


def samples(*values: float, every_s: float = 1.0) -> Samples:
    """One sensor, read at a steady pace."""
    count = len(values)
    times = (np.arange(count) * every_s * SECOND).astype(np.int64)
    return Samples(np.zeros(count, np.int64), times, np.array(values).reshape(count, 1))


def test_errors_are_those_of_what_was_not_sent():
    found = savings(
        samples(0.0, 1.0, -1.0, 3.0, 3.0),
        tolerance=1.0,
        heartbeat_us=100 * SECOND,
        predictor=Predictor.CONSTANT,
    )
    assert (found.samples, found.updates, found.saved) == (5, 2, pytest.approx(0.6))
    assert (found.mean_error, found.max_error) == (pytest.approx(0.4), 1.0)
    assert found.rms_error == pytest.approx((2 / 5) ** 0.5)


def test_what_remains_is_never_above_the_tolerance():
    rng = np.random.default_rng(3)
    walk = np.cumsum(rng.normal(0, 1, (4000, 2)), axis=0)
    many = Samples(rng.integers(0, 7, 4000), np.sort(rng.integers(0, 9000, 4000)) * SECOND, walk)
    for predictor, parameters in {
        Predictor.CONSTANT: (),
        Predictor.SLOPE: (),
        Predictor.LEAST_SQUARES: (4.0,),
        Predictor.DOUBLE_EXPONENTIAL: (0.5, 0.2),
        Predictor.KALMAN: (0.1, 1.0),
    }.items():
        found = savings(
            many, tolerance=20.0, heartbeat_us=600 * SECOND, predictor=predictor, parameters=parameters
        )
        assert 0 < found.mean_error <= found.rms_error <= found.max_error <= 20.0
        assert 0 < found.saved < 1


def test_nothing_recorded_saves_nothing():
    none = Samples(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 2)))
    found = savings(none, tolerance=1.0, heartbeat_us=SECOND, predictor=Predictor.SLOPE)
    assert (found.samples, found.updates, found.saved, found.max_error) == (0, 0, 0.0, 0.0)
    assert pace_s(none) == 1.0


def test_rows_without_a_key_or_a_number_are_left_out():
    rows = Rows.of(
        {
            "car": strings(["b", "a", None, "b"]),
            "at": Column.of(ColumnType.TIMESTAMP, [0, 1, 2, 3]),
            "x": Column.of(ColumnType.BIGINT, [5, None, 6, 7]),
        }
    )
    found = samples_of(rows, key="car", time="at", dimensions=("x",))
    assert (found.sensors.tolist(), found.times.tolist(), found.values.tolist()) == (
        [0, 0],
        [0, 3],
        [[5.0], [7.0]],
    )
    assert found.sensor_count == 1
    alone = samples_of(rows, key=None, time="at", dimensions=("x",))
    assert (len(alone), alone.sensor_count) == (3, 1)


def test_the_pace_is_that_of_one_sensor():
    times = np.array([0, 1, 2, 3, 10, 11, 20, 21]) * SECOND
    both = Samples(np.array([0, 1, 0, 1, 0, 1, 0, 1]), times, np.zeros((8, 1)))
    assert pace_s(both) == 8.0
    assert pace_s(samples(1.0)) == 1.0
