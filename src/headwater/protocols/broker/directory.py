"""Which sources are there, and on which side of the node?

Rule 1  A source is on one side only: the network is a tree. A second one of the same key and attribute is a peer's mistake, and waits: a
        sensor may have moved to another node, and the news of its leaving be still on the way.
Rule 2  A source keeps its number for good, so that readings of it that are still held stay readable after it has left, and are known
        again when it comes back. One that has moved gets a new number.

Memory  MOST_SOURCES numbers, over the whole life of the node, and as many that wait; more do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from headwater.model import Filter, NodeId, PeerError, Region, Source
from headwater.protocols.broker.side import Pair, Side

MOST_SOURCES: Final = 1_000_000
MOST_REMEMBERED: Final = 10_000
"""Filters whose sources are cached; when there are more, the cache is emptied."""


class Directory:
    """The sources of all sides."""

    def __init__(self, sides: Mapping[NodeId, Side]) -> None:
        self._sides = sides
        self.sources: list[Source] = []
        self.number: dict[Pair, int] = {}
        self.away: set[int] = set()
        """The numbers of sources that have left or are elsewhere now."""
        self._waiting: dict[tuple[Pair, NodeId], Source] = {}
        self._where: dict[tuple[Any, ...], frozenset[NodeId]] = {}

    def add(self, source: Source, side: NodeId) -> bool:
        """A source is on a side; False: that is known."""
        pair = (source.key, source.attribute)
        if self._sides[side].sources.get(pair) == source:
            return False
        if any(pair in other.sources for name, other in self._sides.items() if name != side):
            if len(self._waiting) < MOST_SOURCES:
                self._waiting[pair, side] = source
            raise PeerError("known-source", f"'{source.key}' already measures '{source.attribute}' elsewhere")
        number = self.number.get(pair)
        if number is None or self.sources[number] != source:
            if len(self.sources) >= MOST_SOURCES:
                raise PeerError("limit-reached", f"there are more than {MOST_SOURCES} sources")
            self.away |= set() if number is None else {number}
            number = self.number[pair] = len(self.sources)
            self.sources.append(source)
        self.away.discard(number)
        self._sides[side].sources[pair] = source
        self._where.clear()
        return True

    def remove(self, pair: Pair, side: NodeId) -> Source | None:
        """A source is gone from a side; None: it was not there."""
        self._waiting.pop((pair, side), None)
        gone = self._sides[side].sources.pop(pair, None)
        if gone is not None:
            self.away.add(self.number[pair])
            self._where.clear()
        return gone

    def heir(self, pair: Pair) -> tuple[NodeId, Source] | None:
        """Who waited to be the source that has left, and waits no more."""
        found = next((waiting for waiting in self._waiting if waiting[0] == pair), None)
        return None if found is None else (found[1], self._waiting.pop(found))

    def where(self, filters: Iterable[Filter], *, but: NodeId | None) -> list[frozenset[NodeId]]:
        """For each filter: on which sides, one left out, there are sources for it."""
        return [self._sides_of(f.attribute, f.region, f.keys, but) for f in filters]

    def save(self) -> dict[str, Any]:
        """The numbers; the sources of each side are stored with the sides."""
        return {
            "sources": [[s.key, s.attribute, s.x, s.y] for s in self.sources],
            "numbers": [[*pair, number] for pair, number in self.number.items()],
            "away": sorted(self.away),
            "waiting": [[side, s.key, s.attribute, s.x, s.y] for (_, side), s in self._waiting.items()],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """What `save` gave."""
        self.sources = [Source(*row) for row in saved["sources"]]
        self.number = {(key, attribute): number for key, attribute, number in saved["numbers"]}
        self.away = set(saved["away"])
        for side, *row in saved["waiting"]:
            self._waiting[(row[0], row[1]), side] = Source(*row)
        self._where.clear()

    def _sides_of(
        self, attribute: str, region: Region | None, keys: tuple[str, ...] | None, but: NodeId | None
    ) -> frozenset[NodeId]:
        question = (attribute, region, keys, but)
        found = self._where.get(question)
        if found is None:
            if len(self._where) >= MOST_REMEMBERED:
                self._where.clear()
            found = self._where[question] = frozenset(
                name
                for name, side in self._sides.items()
                if name != but and _takes_any(list(side.sources.values()), attribute, region, keys)
            )
        return found


def _takes_any(
    sources: Sequence[Source], attribute: str, region: Region | None, keys: tuple[str, ...] | None
) -> bool:
    fitting = [s for s in sources if s.attribute == attribute and (keys is None or s.key in keys)]
    if not fitting or region is None:
        return bool(fitting)
    x, y = np.array([s.x for s in fitting]), np.array([s.y for s in fitting])
    return bool(region.contains(x, y).any())
