"""Subscriptions that are made up: about all stations alike, of medium selectivity, the first of more when fewer are wanted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from headwater.model import SECOND, Network
from headwater.workloads.station_subscriptions import Load, make_standing, share_in_events
from headwater.workloads.stations import ATTRIBUTES, make_stations
from headwater.workloads.tree_networks import make_network

RECORDED = make_stations(4, rounds=144, seed=2)
NETWORK = make_network(RECORDED.sources, nodes=40, users=10, seed=2)


def events_of(operator, key: str) -> set[tuple[int, int]]:
    """Readings of one station that are in a complex event, from the definition: try every latest time."""
    readings, found = RECORDED.readings, set()
    filters = {f.attribute: f for f in operator.filters}
    passing = [
        (int(time), int(source), RECORDED.sources[source].attribute)
        for source, time, value in zip(readings.source, readings.time, readings.value, strict=True)
        if RECORDED.sources[source].key == key
        and (f := filters.get(RECORDED.sources[source].attribute))
        and f.low <= value <= f.high
    ]
    for latest, _, _ in passing:
        window = [one for one in passing if latest - operator.within_us < one[0] <= latest]
        if {attribute for _, _, attribute in window} == set(filters):
            found |= {(time, source) for time, source, _ in window}
    return found


def test_each_subscription_matches_a_medium_share_of_its_station() -> None:
    load = Load(fewest=3)
    for number, standing in enumerate(make_standing(24, NETWORK, RECORDED, load, seed=1)):
        key = f"st-{number % 4:03d}"
        attributes = {f.attribute for f in standing.operator.filters}
        of_station = [
            RECORDED.sources[at].attribute in attributes and RECORDED.sources[at].key == key
            for at in RECORDED.readings.source
        ]
        share = len(events_of(standing.operator, key)) / sum(of_station)
        assert load.least <= share <= load.most


def test_the_share_counts_readings_in_a_complex_event() -> None:
    times = [np.array([0, 30, 100]), np.array([10]), np.array([29, 45])]
    values = [np.ones(3), np.ones(1), np.ones(2)]
    ranges = np.array([[0.0, 2.0]] * 3)
    # The example of the definition, δt = 30: a0 b10 c29 and a30; c45 and a100 never.
    assert share_in_events(times, values, ranges, 30) == 4 / 6
    assert share_in_events(times, values, ranges, 19) == 0.0
    assert share_in_events(times, values, np.array([[0.0, 2.0], [3.0, 4.0], [0.0, 2.0]]), 30) == 0.0


def test_ranges_hold_the_median_and_attributes_are_chosen_at_random() -> None:
    made = make_standing(60, NETWORK, RECORDED, Load(fewest=3), seed=3)
    assert {len(standing.operator.filters) for standing in made} == {3, 4, 5}
    assert Counter(f.attribute for s in made for f in s.operator.filters).keys() == set(ATTRIBUTES)
    for number, standing in enumerate(made):
        for f in standing.operator.filters:
            at = number % 4 * 5 + ATTRIBUTES.index(f.attribute)
            median = np.median(RECORDED.readings.value[RECORDED.readings.source == at])
            assert f.low < median < f.high
    assert {len(standing.operator.filters) for standing in make_standing(9, NETWORK, RECORDED, Load())} == {5}


def test_stations_have_equally_many_and_fewer_are_the_first_of_more() -> None:
    made = make_standing(40, NETWORK, RECORDED, Load(), seed=3)
    assert made[:10] == make_standing(10, NETWORK, RECORDED, Load(), seed=3)
    assert made[:10] != make_standing(10, NETWORK, RECORDED, Load(), seed=4)
    assert len({standing.name for standing in made}) == 40
    assert {standing.user_node for standing in made} <= set(NETWORK.users.values())
    takers = Counter(
        s.key for standing in made for s in RECORDED.sources if standing.operator.filters[0].takes(s)
    )
    assert takers == {f"st-{number:03d}": 10 for number in range(4)}


def test_regions_may_differ_and_overlap() -> None:
    load = Load(overlapping=True, within_us=200 * SECOND, within_m=900.0)
    made = make_standing(40, NETWORK, RECORDED, load, seed=3)
    reached = [
        {s.key for s in RECORDED.sources if standing.operator.filters[0].takes(s)} for standing in made
    ]
    assert all(f"st-{number % 4:03d}" in keys for number, keys in enumerate(reached))
    assert len({standing.operator.filters[0].region for standing in made}) == 40
    assert max(map(len, reached)) > 1
    assert {(s.operator.within_us, s.operator.within_m) for s in made} == {(200 * SECOND, 900.0)}


def test_what_cannot_be_matched_is_refused() -> None:
    with pytest.raises(ValueError, match="matches 10% to 40% of what 'st-000' measured"):
        make_standing(1, NETWORK, RECORDED, Load(within_us=1), seed=1)
    with pytest.raises(ValueError, match="without users"):
        make_standing(1, Network(NETWORK.nodes, NETWORK.links), RECORDED, Load())
