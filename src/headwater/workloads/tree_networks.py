"""Networks to try protocols in: trees of nodes, sensors in groups, users somewhere.

Rule 1  Relays form a random tree in which no relay has more than `MOST_BRANCHES` relays beside it.
Rule 2  The sensors of one key are a vicinity: each has a node of its own, these nodes are joined into a small random tree, and one of
        them hangs from a relay. While there are relays enough, each carries one vicinity at most.
Rule 3  Users are at random nodes. The same arguments give the same network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from headwater.model import Link, Network, NodeId, Source

MOST_BRANCHES: Final = 4


def make_network(sources: Sequence[Source], *, nodes: int, users: int, seed: int = 0) -> Network:
    """A tree of `nodes` nodes: one for each source, the others relays."""
    relays = nodes - len(sources)
    if relays < 1:
        raise ValueError(f"{nodes} nodes are too few: {len(sources)} sources need a node each, and one relay")
    random = np.random.default_rng([seed, 11])
    names = [f"relay-{number}" for number in range(relays)]
    links = list(_relay_links(names, random))
    groups: dict[str, list[int]] = {}
    for at, source in enumerate(sources):
        groups.setdefault(source.key, []).append(at)
    carriers = _carriers(relays, len(groups), random)
    sensors = [f"sensor-{number}" for number in range(len(sources))]
    for group, carrier in zip(groups.values(), carriers, strict=True):
        links += _vicinity([sensors[at] for at in group], names[carrier], random)
    every = (*names, *sensors)
    return Network(
        every,
        tuple(links),
        {node: (source,) for node, source in zip(sensors, sources, strict=True)},
        {f"user-{number}": every[int(random.integers(nodes))] for number in range(users)},
    )


def _relay_links(names: Sequence[NodeId], random: np.random.Generator) -> Iterator[Link]:
    beside = [0] * len(names)
    for at in range(1, len(names)):
        free = [other for other in range(at) if beside[other] < MOST_BRANCHES]
        other = free[int(random.integers(len(free)))]
        beside[at] += 1
        beside[other] += 1
        yield Link(names[other], names[at])


def _carriers(relays: int, groups: int, random: np.random.Generator) -> list[int]:
    """Each relay once before any comes twice."""
    drawn: list[int] = []
    while len(drawn) < groups:
        drawn += random.permutation(relays)[: groups - len(drawn)].tolist()
    return drawn


def _vicinity(sensors: Sequence[NodeId], relay: NodeId, random: np.random.Generator) -> list[Link]:
    links = [Link(relay, sensors[0])]
    return links + [Link(sensors[int(random.integers(at))], sensors[at]) for at in range(1, len(sensors))]
