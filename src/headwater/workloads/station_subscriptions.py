"""Subscriptions to stations: ranges around what a station usually measures, wide or narrow by chance.

Rule 1  Subscription i is about station i modulo their number, so all stations have equally many. It depends on nothing but
        the record, the network, the load, the seed and i: fewer subscriptions are the first of more.
Rule 2  The range of an attribute reaches from the median of the station's readings down and up by offsets drawn from a Pareto distribution
        of skew 1, each for itself, in units of `unit` times half the distance between the quartiles.
Rule 3  Medium selectivity: of the station's readings of the attributes of the query, between `least` and `most` are in a complex event of the
        station alone. What is not so is drawn again; every `DRAWS_OF_A_CHOICE` times with other attributes and a unit that is
        `NARROWER`, because some hardly ever change; after `MOST_DRAWS` times the load is refused.
Rule 4  The region is the place of the station, or, where regions are to overlap, a box around it of which each side is drawn: other
        stations inside add to the readings that match.

Symbols  F -> filters, δt -> within_us, δl -> within_m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import SECOND, Box, Filter, Network, NodeId, Operator, Source
from headwater.workloads.stations import ATTRIBUTES, SPACING_M, Recorded

MOST_DRAWS: Final = 2_000
DRAWS_OF_A_CHOICE: Final = 100
NARROWER: Final = 0.8
NEAR_M: Final = 50.0

Floats = NDArray[np.float64]
Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Standing:
    """A user's subscription, and the node it is made at."""

    name: str
    user_node: NodeId
    operator: Operator


@dataclass(frozen=True, slots=True)
class Load:
    """What subscriptions are like: how many attributes, how selective, which regions."""

    fewest: int = 5
    most_attributes: int = 5
    least: float = 0.1
    most: float = 0.4
    unit: float = 0.7
    within_us: int = 300 * SECOND
    within_m: float | None = None
    overlapping: bool = False


@dataclass(frozen=True, slots=True)
class _Station:
    """The readings of one station: times and values by attribute, and its place."""

    source: Source
    times: tuple[Times, ...]
    values: tuple[Floats, ...]
    medians: Floats
    spreads: Floats


def make_standing(
    count: int, network: Network, recorded: Recorded, load: Load, *, seed: int = 0
) -> tuple[Standing, ...]:
    """The first `count` subscriptions of a load, in the order they are made."""
    stations = _stations(recorded)
    homes = tuple(network.users.values())
    if not homes:
        raise ValueError("a network without users has no subscriptions")
    standing = []
    for number in range(count):
        random = np.random.default_rng([seed, 21, number])
        home = homes[int(random.integers(len(homes)))]
        operator = _operator(f"q-{number:05d}", stations[number % len(stations)], load, random)
        standing.append(Standing(f"q-{number:05d}", home, operator))
    return tuple(standing)


def share_in_events(
    times: Sequence[Times], values: Sequence[Floats], ranges: Floats, within_us: int
) -> float:
    """Which share of readings is in a complex event: one reading for each attribute, in its range, within δt.

    `times` and `values` by attribute and in order of time; `ranges` float64[attributes, 2].
    """
    matching = [
        time[(value >= low) & (value <= high)]
        for time, value, (low, high) in zip(times, values, ranges, strict=True)
    ]
    if any(not len(time) for time in matching):
        return 0.0
    latest = np.unique(np.concatenate(matching))
    for time in matching:
        at = np.searchsorted(time, latest, "right") - 1
        latest = latest[(at >= 0) & (time[at] > latest - within_us)]
    counted = sum(
        int(np.count_nonzero(np.searchsorted(latest, time + within_us) > np.searchsorted(latest, time)))
        for time in matching
    )
    return counted / sum(len(time) for time in times)


def _operator(name: str, station: _Station, load: Load, random: np.random.Generator) -> Operator:
    amount = int(random.integers(load.fewest, load.most_attributes + 1))
    for draw in range(MOST_DRAWS):
        if draw % DRAWS_OF_A_CHOICE == 0:
            chosen = np.sort(random.permutation(len(ATTRIBUTES))[:amount])
            times, values = [station.times[at] for at in chosen], [station.values[at] for at in chosen]
            unit = load.unit * NARROWER ** (draw // DRAWS_OF_A_CHOICE)
        # 1 - [0, 1) is never 0: an offset of skew 1 is the reciprocal of a uniform number.
        offsets = unit * station.spreads[chosen, None] / (1.0 - random.random((amount, 2)))
        ranges = np.round(station.medians[chosen, None] + offsets * [-1.0, 1.0], 3)
        if load.least <= share_in_events(times, values, ranges, load.within_us) <= load.most:
            region = _region(station.source, load, random)
            filters = tuple(
                Filter(ATTRIBUTES[at], float(low), float(high), region)
                for at, (low, high) in zip(chosen, ranges, strict=True)
            )
            return Operator(name, filters, load.within_us, load.within_m)
    raise ValueError(
        f"no subscription of {MOST_DRAWS} matches {load.least:.0%} to {load.most:.0%} of what '{station.source.key}' measured"
    )


def _region(source: Source, load: Load, random: np.random.Generator) -> Box:
    west, south, east, north = (
        np.round(random.uniform(0.2, 1.3, 4) * SPACING_M) if load.overlapping else np.full(4, NEAR_M)
    )
    x, y = source.x, source.y
    return Box(float(x - west), float(y - south), float(x + east), float(y + north))


def _stations(recorded: Recorded) -> list[_Station]:
    """The stations by their position; each has its sources one after the other, in the order of the attributes."""
    readings, amount = recorded.readings, len(ATTRIBUTES)
    by_source = np.argsort(readings.source, kind="stable")
    ends = np.cumsum(np.bincount(readings.source, minlength=len(recorded.sources)))[:-1]
    times = np.split(readings.time[by_source], ends)
    values = np.split(readings.value[by_source], ends)
    stations = []
    for first in range(0, len(recorded.sources), amount):
        of = slice(first, first + amount)
        if tuple(source.attribute for source in recorded.sources[of]) != ATTRIBUTES or any(
            not len(value) for value in values[of]
        ):
            raise ValueError(
                f"'{recorded.sources[first].key}' has no readings of all of {', '.join(ATTRIBUTES)}"
            )
        low, middle, high = np.array([np.quantile(value, (0.25, 0.5, 0.75)) for value in values[of]]).T
        stations.append(
            _Station(recorded.sources[first], tuple(times[of]), tuple(values[of]), middle, (high - low) / 2)
        )
    return stations
