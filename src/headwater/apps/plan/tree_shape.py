"""Is a network a tree? Which links close a circle, and into which pieces does it fall?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from headwater.model import NodeId


class Tree:
    """Grows link by link; a link between nodes that are joined already is not taken and gives the circle it would close."""

    def __init__(self, nodes: Sequence[NodeId]) -> None:
        self.beside: Mapping[NodeId, list[NodeId]] = {node: [] for node in nodes}
        self.piece = {node: node for node in nodes}

    def join(self, one: NodeId, other: NodeId) -> list[NodeId]:
        """Take a link; otherwise the nodes of the circle, from one around to the other."""
        first, second = self._piece(one), self._piece(other)
        if first == second:
            return self._path(one, other)
        self.piece[second] = first
        self.beside[one].append(other)
        self.beside[other].append(one)
        return []

    def pieces(self) -> list[list[NodeId]]:
        """The nodes that hang together, in the order of the nodes."""
        found: dict[NodeId, list[NodeId]] = {}
        for node in self.beside:
            found.setdefault(self._piece(node), []).append(node)
        return list(found.values())

    def _piece(self, node: NodeId) -> NodeId:
        while self.piece[node] != node:
            self.piece[node] = self.piece[self.piece[node]]  # halve the way, so that it stays short
            node = self.piece[node]
        return node

    def _path(self, one: NodeId, other: NodeId) -> list[NodeId]:
        before: dict[NodeId, NodeId] = {other: other}
        ring: Iterable[NodeId] = [other]
        while one not in before:
            step = {beside: node for node in ring for beside in self.beside[node] if beside not in before}
            before |= step
            ring = step
        path = [one]
        while path[-1] != other:
            path.append(before[path[-1]])
        return path
