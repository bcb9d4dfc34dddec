"""A network as people draw it: nodes joined by links into a tree, with sources and users at some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headwater.model.contracts import NodeId
from headwater.model.network_operators import Source

LATENCY_US = 10_000
BYTES_PER_S = 1_250_000.0  # ten megabits


@dataclass(frozen=True, slots=True)
class Link:
    """A wire between two nodes, the same in both directions."""

    one: NodeId
    other: NodeId
    latency_us: int = LATENCY_US
    bytes_per_s: float = BYTES_PER_S


@dataclass(frozen=True, slots=True)
class Network:
    """A tree of nodes. `sources` by the node they are attached to, `users` by name."""

    nodes: tuple[NodeId, ...]
    links: tuple[Link, ...]
    sources: Mapping[NodeId, tuple[Source, ...]] = field(default_factory=dict)
    users: Mapping[str, NodeId] = field(default_factory=dict)

    def neighbours(self) -> dict[NodeId, tuple[NodeId, ...]]:
        """The nodes beside each node, in the order of the links."""
        beside: dict[NodeId, list[NodeId]] = {node: [] for node in self.nodes}
        for link in self.links:
            beside[link.one].append(link.other)
            beside[link.other].append(link.one)
        return {node: tuple(others) for node, others in beside.items()}

    def centre(self) -> NodeId:
        """The node whose paths to all others are shortest in sum; the first of several."""
        beside = self.neighbours()
        return min(self.nodes, key=lambda node: sum(_hops(beside, node).values()))

    def towards(self, goal: NodeId) -> dict[NodeId, NodeId]:
        """For each node but the goal, its neighbour on the path there."""
        beside = self.neighbours()
        hops = _hops(beside, goal)
        return {
            node: next(other for other in beside[node] if hops[other] < hops[node])
            for node in self.nodes
            if node != goal
        }


def _hops(beside: Mapping[NodeId, Iterable[NodeId]], start: NodeId) -> dict[NodeId, int]:
    hops, ring = {start: 0}, [start]
    while ring:
        step = [(node, other) for node in ring for other in beside[node] if other not in hops]
        hops |= {other: hops[node] + 1 for node, other in step}
        ring = [other for _, other in step]
    return hops
