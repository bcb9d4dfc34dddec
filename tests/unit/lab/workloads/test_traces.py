"""Reports of vehicles in one form, and what cameras see of them."""

from __future__ import annotations

import numpy as np

from headwater.model import SECOND
from headwater_lab.workloads.moving_objects import START
from headwater_lab.workloads.traces import see, trace_of


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


#  vehicle 7   second 10  11
#  vehicle 5              11  12  13   drives longest: it gets number 0
TRACE = trace_of(
    whole(7, 5, 5, 7, 5),
    whole(11, 12, 11, 10, 13),
    np.array([[130.0, 40.0], [160.0, 55.0], [150.0, 45.0], [100.0, 35.0], [350.0, 40.0]]),
    np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
    whole(1, 2, 2, 1, 2),
    whole(0, 1, 0, 0, 1),
)


def test_a_trace_is_in_order_from_second_0_and_from_a_corner() -> None:
    assert TRACE.second.tolist() == [0, 1, 1, 2, 3]
    assert TRACE.car.tolist() == [1, 0, 1, 0, 0]
    assert TRACE.x.tolist() == [0, 50, 30, 60, 250] and TRACE.y.tolist() == [0, 10, 5, 20, 5]
    assert TRACE.speed.tolist() == [4, 3, 1, 2, 5]
    assert (TRACE.cars, TRACE.seconds, TRACE.sides_m) == (2, 4, (250, 20))
    assert TRACE.columns()["at"].tolist() == [START + second * SECOND for second in (0, 1, 1, 2, 3)]


def test_cameras_tell_who_is_in_their_square_from_their_own_place() -> None:
    #  cameras at 50 and 250, each 20 m around; y 50 is 25 m or more from all but the one at y 20 … 50
    seen = see(TRACE, apart_m=200.0, side_m=100.0, first_m=50.0)
    assert seen.second.tolist() == [0, 1, 1, 2, 3]
    assert seen.car.tolist() == [1, 0, 1, 0, 0]
    assert seen.x.tolist() == [50, 50, 50, 50, 250] and set(seen.y.tolist()) == {50}
    assert seen.camera.tolist() == [0, 0, 0, 0, 1]
    near = see(TRACE, apart_m=200.0, side_m=80.0, first_m=50.0)
    assert near.second.tolist() == [1, 2]


def test_nobody_drives() -> None:
    none = whole()
    trace = trace_of(none, none, np.zeros((0, 2)), np.zeros(0), none, none)
    assert (len(trace), trace.cars, trace.seconds) == (0, 0, 0)
    assert len(see(trace, apart_m=200.0, side_m=100.0, first_m=50.0)) == 0
