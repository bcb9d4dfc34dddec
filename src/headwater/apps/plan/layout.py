"""Where do the nodes of a tree stand on paper? The root on top, each node in the middle above those below it."""

from __future__ import annotations

from headwater.model import Network, NodeId

Layout = dict[NodeId, tuple[float, float]]


def lay_out(network: Network, root: NodeId) -> Layout:
    """x and y of every node: those without anything below stand side by side, one apart; y is minus the way from the root."""
    beside = network.neighbours()
    order, above = [root], {root: root}
    depth = {root: 0}
    for node in order:  # grows while it is walked
        for other in beside[node]:
            if other not in depth:
                depth[other], above[other] = depth[node] + 1, node
                order.append(other)
    below: dict[NodeId, list[NodeId]] = {node: [] for node in order}
    for node in order[1:]:
        below[above[node]].append(node)
    across: dict[NodeId, float] = {}
    for number, leaf in enumerate(_leaves(root, below)):
        across[leaf] = float(number)
    for node in reversed(order):
        if below[node]:
            across[node] = (across[below[node][0]] + across[below[node][-1]]) / 2.0
    return {node: (across[node], -float(depth[node])) for node in network.nodes}


def _leaves(root: NodeId, below: dict[NodeId, list[NodeId]]) -> list[NodeId]:
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if not below[node]:
            found.append(node)
        waiting += reversed(below[node])
    return found
