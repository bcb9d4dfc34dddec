"""Networks that are made up are trees with their sensors in vicinities."""

from __future__ import annotations

import pytest

from headwater.workloads.stations import make_stations
from headwater.workloads.tree_networks import MOST_BRANCHES, make_network

SIZES = [(60, 10), (100, 10), (200, 10), (200, 20), (2_000, 100)]


@pytest.mark.parametrize(("nodes", "stations"), SIZES)
def test_it_is_a_tree_of_so_many_nodes_and_sensors(nodes, stations) -> None:
    network = make_network(make_stations(stations, rounds=1).sources, nodes=nodes, users=30, seed=4)
    assert len(network.nodes) == len(set(network.nodes)) == nodes
    assert len(network.links) == nodes - 1
    # So many links reach all nodes: no cycle.
    assert len(network.towards(network.nodes[0])) == nodes - 1
    assert len(network.sources) == 5 * stations
    assert len(network.users) == 30 and set(network.users.values()) <= set(network.nodes)


@pytest.mark.parametrize(("nodes", "stations"), SIZES)
def test_sensors_of_a_station_are_neighbours_below_one_relay(nodes, stations) -> None:
    network = make_network(make_stations(stations, rounds=1).sources, nodes=nodes, users=1, seed=4)
    beside = network.neighbours()
    key_of = {node: sources[0].key for node, sources in network.sources.items()}
    outward = [
        (key_of[link.other], link.one)
        for link in network.links
        if link.one not in key_of and link.other in key_of
    ]
    assert sorted(key for key, _ in outward) == sorted(set(key_of.values()))
    for node, key in key_of.items():
        assert {key_of.get(other, key) for other in beside[node]} == {key}
    relays = [node for node in network.nodes if node not in key_of]
    assert all(sum(other not in key_of for other in beside[node]) <= MOST_BRANCHES for node in relays)
    if len(relays) >= stations:
        assert len({relay for _, relay in outward}) == stations


def test_the_same_seed_gives_the_same_network() -> None:
    sources = make_stations(2, rounds=1).sources
    assert make_network(sources, nodes=20, users=3, seed=1) == make_network(
        sources, nodes=20, users=3, seed=1
    )
    assert make_network(sources, nodes=20, users=3, seed=1) != make_network(
        sources, nodes=20, users=3, seed=2
    )


def test_sensors_without_a_relay_are_refused() -> None:
    with pytest.raises(ValueError, match="10 nodes are too few: 10 sources"):
        make_network(make_stations(2, rounds=1).sources, nodes=10, users=1)
