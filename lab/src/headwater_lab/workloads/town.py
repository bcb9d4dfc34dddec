"""Vehicles in a town of straight streets, made up from a seed: how they follow one another, stop at lights, change lanes and crash.

Rule 1  Streets cross every `block_m` metres, with two lanes in each direction. A road is a block in one direction. Lights at the
        crossings are green for one direction, then for the other, `GREEN_S` each; a vehicle that cannot stop any more continues.
Rule 2  A vehicle has a desired speed. It goes no faster than allows it to stop behind the one before it, or at a red light. It brakes with up
        to `BRAKING`, in an emergency with `HARD`, and accelerates with `GAINING` m/s².
Rule 3  Behind a slower vehicle it changes its lane if there is room beside it. At a crossing it goes straight on, or turns, at random.
Rule 4  One of `CRASH_SHARE` vehicles crashes every `CRASH_EVERY_S` seconds: in the middle of a block it stops at once, for `CRASH_S` seconds.
        They crash one after the other.
Rule 5  The same town, number and seed give the same vehicles everywhere, for any length of time.

Memory  The trace, and some numbers for each vehicle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater_lab.workloads.traces import Floats, Trace, Whole, trace_of

GREEN_S: Final = 30
CRASH_S: Final = 60
CRASH_SHARE: Final = 50
CRASH_EVERY_S: Final = 200
BRAKING: Final = 4.5
HARD: Final = 9.0
GAINING: Final = 2.5
LENGTH_M: Final = 5.0
GAP_M: Final = 2.5
LANES: Final = 2
LANE_M: Final = 3.2
STRAIGHT: Final = 0.6

_AHEAD: Final = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])  # east, north, west, south

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Town:
    """How many blocks there are in both directions, how long one is, and how fast one drives."""

    blocks: tuple[int, int] = (22, 10)
    block_m: float = 350.0
    speed_mps: float = 13.9


@dataclass(slots=True)
class _Traffic:
    """Where all vehicles are: the crossing behind each, int64[n, 2], its direction and the one it takes next, metres from there, lane,
    speed, its desired speed; and until when it is stopped."""

    last_crossing: Whole
    heading: Whole
    next_heading: Whole
    along: Floats
    lane: Whole
    speed: Floats
    wish: Floats
    stands_until: Whole


def drive(count: int, seconds: int, *, seed: int, town: Town | None = None) -> Trace:
    """So many vehicles for so many seconds."""
    town = town or Town()
    random = np.random.default_rng([seed, 5])
    traffic = _placed(town, count, random)
    car, reports = np.arange(count), []
    crashes = np.arange(seconds + 1) * count // (CRASH_SHARE * CRASH_EVERY_S)
    for second in range(seconds):
        for _ in range(int(crashes[second + 1] - crashes[second])):
            _crash(traffic, town, second, random)
        _change_lanes(traffic, town)
        _move(traffic, town, second)
        _cross(traffic, town, random)
        reports.append(
            (_places(traffic, town), traffic.speed.copy(), _roads(traffic, town), traffic.lane.copy())
        )
    place, speed, road, lane = (np.concatenate(parts) for parts in zip(*reports, strict=True))
    at = np.repeat(np.arange(seconds), count)
    corner = np.full(2, -LANES * LANE_M)
    return trace_of(np.tile(car, seconds), at, place, speed, road, lane, corner=corner)


# --- a second -----------------------------------------------------------------------------------------------------


def _move(traffic: _Traffic, town: Town, second: int) -> None:
    """Rule 2."""
    gap, ahead_speed = _ahead(traffic, town, second)
    # As fast as lets one stop behind the other if both brake; a second passes before one does.
    safe = -BRAKING + np.sqrt(BRAKING**2 + 2 * BRAKING * np.maximum(gap, 0.0) + ahead_speed**2)
    desired = np.minimum(np.minimum(traffic.speed + GAINING, traffic.wish), safe)
    desired = np.where(traffic.stands_until > second, 0.0, desired)
    # Two that came together at a crossing (a gap below 0) sort it out gently.
    needs = (traffic.stands_until > second) | ((gap >= 0.0) & (gap < traffic.speed**2 / (2 * BRAKING)))
    slowest = np.maximum(traffic.speed - np.where(needs, HARD, BRAKING), 0.0)
    traffic.speed = np.maximum(desired, slowest)
    traffic.speed = np.where(gap >= 0.0, np.minimum(traffic.speed, gap), traffic.speed)
    traffic.along += traffic.speed


def _ahead(traffic: _Traffic, town: Town, second: int) -> tuple[Floats, Floats]:
    """How far it is to what is before each vehicle in its lane, and how fast that is: another one, or a red light."""
    gap, speed = _gaps(traffic, town, traffic.lane)
    beyond, beyond_speed = _beyond(traffic, town)
    gap, speed = np.where(np.isfinite(gap), gap, beyond), np.where(np.isfinite(gap), speed, beyond_speed)
    to_crossing = town.block_m - traffic.along - LENGTH_M
    is_red = (traffic.heading % 2 == 0) != _is_east_west(second)
    can_stop = to_crossing >= traffic.speed**2 / (BRAKING + HARD)
    stops = is_red & can_stop & (to_crossing < gap)
    return np.where(stops, to_crossing, gap), np.where(stops | ~np.isfinite(gap), 0.0, speed)


def _beyond(traffic: _Traffic, town: Town) -> tuple[Floats, Floats]:
    """From each vehicle to the last one in its lane of the road that it takes next, and its speed."""
    at, _, stands, order = _in_lanes(traffic, town, traffic.lane)
    crossing = traffic.last_crossing + _AHEAD[traffic.heading]
    road = _numbered(town, crossing, traffic.next_heading) * LANES + traffic.lane
    found = np.searchsorted(stands, road * 2.0 * town.block_m)
    there = order[np.minimum(found, len(order) - 1)]
    is_there = (found < len(order)) & (at[there] == road)
    gap = town.block_m - traffic.along + traffic.along[there] - LENGTH_M - GAP_M
    return np.where(is_there, gap, np.inf), np.where(is_there, traffic.speed[there], np.inf)


def _is_east_west(second: int) -> bool:
    return second // GREEN_S % 2 == 0


def _change_lanes(traffic: _Traffic, town: Town) -> None:
    """Rule 3. One vehicle a road and second: no two change into the same gap."""
    gap, ahead = _gaps(traffic, town, traffic.lane)
    other_gap, _ = _gaps(traffic, town, 1 - traffic.lane)
    back = _room_at_back(traffic, town)
    slowed = (ahead < traffic.wish - 2.0) & (gap < 3.0 * np.maximum(traffic.speed, 5.0))
    room = (other_gap > gap + 10.0) & (back > 12.0)
    moving = traffic.speed > 1.0
    changes = np.flatnonzero(slowed & room & moving)
    road = _roads(traffic, town)[changes]
    order = np.lexsort((-traffic.along[changes], road))
    first = np.concatenate([[True], road[order][1:] != road[order][:-1]]) if len(order) else order > 0
    chosen = changes[order[first]]
    traffic.lane[chosen] = 1 - traffic.lane[chosen]


def _gaps(traffic: _Traffic, town: Town, lane: Whole) -> tuple[Floats, Floats]:
    """From each vehicle to the next one ahead in a lane of its road, and its speed."""
    at, key, sorted_key, order = _in_lanes(traffic, town, lane)
    found = np.searchsorted(sorted_key, key, "right")
    there = np.minimum(found, len(order) - 1)
    same = (found < len(order)) & (at[order[there]] == _roads(traffic, town) * LANES + lane)
    gap = np.where(same, traffic.along[order[there]] - traffic.along - LENGTH_M - GAP_M, np.inf)
    return gap, np.where(same, traffic.speed[order[there]], np.inf)


def _room_at_back(traffic: _Traffic, town: Town) -> Floats:
    """From each vehicle to the last one behind it in the other lane of its road."""
    lane = 1 - traffic.lane
    at, key, sorted_key, order = _in_lanes(traffic, town, lane)
    found = np.searchsorted(sorted_key, key, "left") - 1
    there = np.maximum(found, 0)
    same = (found >= 0) & (at[order[there]] == _roads(traffic, town) * LANES + lane)
    return np.where(same, traffic.along - traffic.along[order[there]] - LENGTH_M, np.inf)


def _in_lanes(traffic: _Traffic, town: Town, lane: Whole) -> tuple[Whole, Floats, Floats, Whole]:
    """The lane of each vehicle, the lane it would have after a change, its rank in the order of all vehicles, and that order."""
    roads = _roads(traffic, town) * LANES
    width = 2.0 * town.block_m
    at = roads + traffic.lane
    stands = at * width + traffic.along
    order = np.argsort(stands, kind="stable")
    return at, (roads + lane) * width + traffic.along, stands[order], order


def _cross(traffic: _Traffic, town: Town, random: np.random.Generator) -> None:
    """Vehicles that have reached a crossing pass it, and choose a direction for the next."""
    crossing = np.flatnonzero(traffic.along >= town.block_m)
    traffic.last_crossing[crossing] += _AHEAD[traffic.heading[crossing]]
    traffic.along[crossing] -= town.block_m
    traffic.heading[crossing] = traffic.next_heading[crossing]
    traffic.next_heading[crossing] = _chosen(
        town, traffic.last_crossing[crossing], traffic.heading[crossing], random
    )


def _chosen(town: Town, last_crossing: Whole, heading: Whole, random: np.random.Generator) -> Whole:
    """Where vehicles go at the next crossing: straight on or not; a street ends at the border of the town."""
    crossing = last_crossing + _AHEAD[heading]
    turn = np.where(random.random(len(heading)) < STRAIGHT, 0, random.choice([1, 3], len(heading)))
    chosen = (heading + turn) % 4
    for other in (1, 3, 2):
        chosen = np.where(_has_road(town, crossing, chosen), chosen, (heading + other) % 4)
    return chosen


def _crash(traffic: _Traffic, town: Town, second: int, random: np.random.Generator) -> None:
    """Rule 4."""
    fast = traffic.speed > 0.7 * town.speed_mps
    middle = (traffic.along > 0.4 * town.block_m) & (traffic.along < 0.7 * town.block_m)
    able = np.flatnonzero(fast & middle & (traffic.stands_until <= second))
    if len(able):
        traffic.stands_until[random.choice(able)] = second + CRASH_S


# --- the town -----------------------------------------------------------------------------------------------------


def _placed(town: Town, count: int, random: np.random.Generator) -> _Traffic:
    """Vehicles anywhere on the roads, on their way."""
    last_crossing = np.column_stack([random.integers(0, blocks + 1, count) for blocks in town.blocks])
    heading = random.integers(0, 4, count)
    for _ in range(4):
        heading = np.where(_has_road(town, last_crossing, heading), heading, (heading + 1) % 4)
    wish = np.clip(random.normal(town.speed_mps, 1.5, count), 8.0, 20.0)
    along = random.uniform(0.0, 0.8 * town.block_m, count)
    return _Traffic(
        last_crossing,
        heading,
        _chosen(town, last_crossing, heading, random),
        along,
        random.integers(0, LANES, count),
        0.5 * wish,
        wish,
        np.zeros(count, np.int64),
    )


def _has_road(town: Town, last_crossing: Whole, heading: Whole) -> Mask:
    """Whether a road leads on from a crossing."""
    ahead = last_crossing + _AHEAD[heading]
    return np.asarray(((ahead >= 0) & (ahead <= np.array(town.blocks))).all(axis=1))


def _roads(traffic: _Traffic, town: Town) -> Whole:
    """The number of the road of each vehicle."""
    return _numbered(town, traffic.last_crossing, traffic.heading)


def _numbered(town: Town, last_crossing: Whole, heading: Whole) -> Whole:
    return (last_crossing[:, 1] * (town.blocks[0] + 1) + last_crossing[:, 0]) * 4 + heading


def _places(traffic: _Traffic, town: Town) -> Floats:
    """In metres, float64[n, 2]; one drives on the right."""
    ahead = _AHEAD[traffic.heading]
    right = np.column_stack([ahead[:, 1], -ahead[:, 0]])
    beside = LANE_M * (0.5 + (LANES - 1 - traffic.lane))[:, None]
    return traffic.last_crossing * town.block_m + ahead * traffic.along[:, None] + right * beside
