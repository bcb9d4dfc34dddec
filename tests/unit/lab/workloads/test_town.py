"""Vehicles in a town of our own: on its streets, one report a second, with lights, changed lanes and crashes."""

from __future__ import annotations

import numpy as np

from headwater_lab.workloads.town import (
    BRAKING,
    CRASH_S,
    CRASH_SHARE,
    GREEN_S,
    HARD,
    LANE_M,
    LANES,
    Town,
    drive,
)

TOWN = Town(blocks=(4, 3), block_m=200.0)
CARS, SECONDS = 150, 120
TRACE = drive(CARS, SECONDS, seed=3, town=TOWN)


def by_car(values: np.ndarray) -> np.ndarray:
    return values[np.lexsort((TRACE.second, TRACE.car))].reshape(CARS, SECONDS)


def test_the_same_seed_gives_the_same_vehicles_for_as_long_as_is_requested() -> None:
    again, other = drive(CARS, 20, seed=3, town=TOWN), drive(CARS, 20, seed=4, town=TOWN)
    first = TRACE.second < 20
    for name in ("car", "x", "y", "speed", "road", "lane"):
        assert np.array_equal(getattr(again, name), getattr(TRACE, name)[first])
    assert not np.array_equal(other.x, again.x)


def test_every_vehicle_reports_every_second() -> None:
    assert len(TRACE) == CARS * SECONDS and TRACE.cars == CARS and TRACE.seconds == SECONDS
    assert np.array_equal(TRACE.second, np.repeat(np.arange(SECONDS), CARS))


def test_vehicles_are_on_streets() -> None:
    beside = LANES * LANE_M
    off = [
        np.abs((places - beside + 100.0) % TOWN.block_m - 100.0) <= beside for places in (TRACE.x, TRACE.y)
    ]
    assert (off[0] | off[1]).all()
    assert (
        TRACE.sides_m[0] <= 4 * TOWN.block_m + 2 * beside
        and TRACE.sides_m[1] <= 3 * TOWN.block_m + 2 * beside
    )


def test_nobody_brakes_harder_than_in_need_unless_somebody_is_right_before_it() -> None:
    slower = -np.diff(by_car(TRACE.speed), axis=1)
    assert (TRACE.speed >= 0).all()
    assert (slower > BRAKING + 1e-9).mean() < 0.02
    assert (slower > HARD + 1e-9).mean() < 0.005


def test_vehicles_go_as_far_as_their_speed_says() -> None:
    x, y, speed, lane, road = map(by_car, (TRACE.x, TRACE.y, TRACE.speed, TRACE.lane, TRACE.road))
    straight = (np.diff(road, axis=1) == 0) & (np.diff(lane, axis=1) == 0)
    went = np.hypot(np.diff(x, axis=1), np.diff(y, axis=1))
    assert straight.mean() > 0.5
    assert np.allclose(went[straight], speed[:, 1:][straight])


def test_some_stop_at_lights_change_lanes_and_crash() -> None:
    speed, lane, road = map(by_car, (TRACE.speed, TRACE.lane, TRACE.road))
    assert 0.02 < (TRACE.speed < 0.1).mean() < 0.6
    assert ((np.diff(lane, axis=1) != 0) & (np.diff(road, axis=1) == 0)).sum() > 5
    stands = speed < 0.1
    longest = max(_longest(row) for row in stands)
    assert longest >= CRASH_S - HARD > GREEN_S
    assert CARS // CRASH_SHARE == 3


def _longest(stands: np.ndarray) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stands.astype(int), [0]])))
    return int((edges[1::2] - edges[::2]).max(initial=0))
