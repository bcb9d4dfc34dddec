"""A world of a network: each node a core with reliable delivery around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headwater.drivers.simulator.faults import NO_FAULTS, Faults
from headwater.drivers.simulator.trace import Trace
from headwater.drivers.simulator.world import World
from headwater.model import Network, NodeId
from headwater.protocols.delivery import USUAL, Core, DeliverySettings, Reliable


def reliable_world(
    network: Network,
    cores: Mapping[NodeId, Core],
    *,
    seed: int,
    faults: Faults = NO_FAULTS,
    load_core: Callable[[dict[str, Any]], Core] | None = None,
    settings: DeliverySettings = USUAL,
    trace: Trace | None = None,
) -> World:
    """`load_core` makes a core from its saved tree: needed where nodes crash."""
    beside = network.neighbours()
    nodes = {node: Reliable(node, beside[node], cores[node], settings) for node in network.nodes}

    def revive(saved: bytes) -> Reliable:
        assert load_core is not None, "a world with crashes needs `load_core`"
        return Reliable.load(saved, load_core)

    return World(nodes, network.links, seed=seed, faults=faults, revive=revive, trace=trace)
