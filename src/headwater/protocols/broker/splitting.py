"""Which part of an operator concerns a link?

`where` says for each filter on which sides of the node (links, or the node itself) there are sources for it, except the side that the
operator came from. A part for side j has the filters with sources on side j.

Rule 1  A filter stays needed on side j only if all its sources are there: a reading elsewhere could complete the event.
Rule 2  An operator whose sources are all on side j goes there unchanged. Otherwise this node puts the event together, and all
        filters of the part are returned.
Rule 3  No source at all for a needed filter: no complex event can exist, nothing is requested.
Rule 4  Parts that mean the same are written the same, whatever they are parts of: filters in one order, groups counted from 0, and no δt
        or δl if there is nothing to be near to.

Binary joins (multi-join): where the sources first separate, the operator becomes a ring of pairs, filter i returned and tested together with
filter i + 1. Every reading of a complex event passes its pair; readings that only have a partner pass too. Pairs are tested where their
sources separate, and nowhere else: on the way from there to the user every reading that matches a filter passes, as in a network that knows
filters and not joins. So a reading that only has a partner travels all the way.

Source  seed paper, algorithm 3 `project`; it has one source per attribute, where rules 1 and 2 are the same as its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from headwater.model import Filter, NodeId, Operator
from headwater.model.network_operators import UNGROUPED

Where = Sequence[frozenset[NodeId]]

ALONE_US: Final = 1
"""The δt of an operator whose readings need no company, where it means nothing."""


class Splitting(Protocol):
    """How an operator is divided among the sides of a node."""

    def parts(self, operator: Operator, side: NodeId, where: Where) -> list[Operator]:
        """What to ask of a side."""
        ...

    def tests(self, operator: Operator, here: NodeId, where: Where) -> list[Operator]:
        """By which operators readings for it are chosen at the node `here`, on their way to another."""
        ...


@dataclass(frozen=True, slots=True)
class ByNeighbour:
    """One part for each side with sources."""

    def parts(self, operator: Operator, side: NodeId, where: Where) -> list[Operator]:
        """The filters with sources there."""
        part = project(operator, side, where)
        return [] if part is None else [part]

    def tests(self, operator: Operator, here: NodeId, where: Where) -> list[Operator]:
        """The operator itself."""
        return [operator]


@dataclass(frozen=True, slots=True)
class BinaryJoins:
    """Whole up to the first fork; from there on pairs. `everywhere`: nodes on the way to the user test the pairs again."""

    everywhere: bool = False

    def parts(self, operator: Operator, side: NodeId, where: Where) -> list[Operator]:
        """The operator, or the filters of each of its pairs there."""
        if _unsourced(operator, where):
            return []
        if not _is_join(operator) or _whole(operator, side, where):
            return ByNeighbour().parts(operator, side, where)
        places = dict(zip(operator.filters, where, strict=True))
        parts: dict[Operator, None] = {}
        for pair in _ring(operator):
            found = project(pair, side, [places[replace(f, returned=True)] for f in pair.filters])
            if found is not None:
                parts[found] = None
        return list(parts)

    def tests(self, operator: Operator, here: NodeId, where: Where) -> list[Operator]:
        """The pairs where sources part, or all are here; each filter alone on the way from there."""
        beyond = set().union(*where)
        if len(beyond) == 1 and here not in beyond and not self.everywhere:
            return [canonical(replace(operator, filters=(f,))) for f in operator.filters if f.returned]
        return _ring(operator) if _is_join(operator) else [operator]


@dataclass(frozen=True, slots=True)
class Towards:
    """All of it to one side, whatever lies there: towards the node that does everything (None: this is it)."""

    side: NodeId | None

    def parts(self, operator: Operator, side: NodeId, where: Where) -> list[Operator]:
        """The operator, on the way to the centre."""
        return [operator] if side == self.side else []

    def tests(self, operator: Operator, here: NodeId, where: Where) -> list[Operator]:
        """The operator itself."""
        return [operator]


def project(operator: Operator, side: NodeId, where: Where) -> Operator | None:
    """The part of an operator for one side of a node; None: nothing to ask there."""
    if _unsourced(operator, where) or not any(side in places for places in where):
        return None
    if _whole(operator, side, where):
        return canonical(operator)
    filters = [
        replace(f, needed=f.needed and places == {side}, returned=True)
        for f, places in zip(operator.filters, where, strict=True)
        if side in places
    ]
    return canonical(replace(operator, filters=tuple(filters)))


def canonical(operator: Operator) -> Operator:
    """The same operator, written in the one way all nodes write it."""
    filters: list[Filter] = []
    for f in sorted(operator.filters, key=_sort_key):
        if (
            f.needed or f not in filters
        ):  # a second filter that adds nothing to the event and takes the same readings
            filters.append(f)
    if len(filters) == 1:
        filters = [replace(filters[0], needed=True, returned=True)]
    if len(filters) == 1 or not any(f.needed for f in filters):
        apart = tuple(replace(f, group=UNGROUPED) for f in filters)
        return replace(operator, filters=apart, within_us=ALONE_US, within_m=None)
    groups = [f.group for f in filters]
    numbers: dict[int, int] = {}
    for i, f in enumerate(filters):
        alone = f.group == UNGROUPED or groups.count(f.group) == 1
        group = UNGROUPED if alone else numbers.setdefault(f.group, len(numbers))
        filters[i] = replace(f, group=group) if group != f.group else f
    return replace(operator, filters=tuple(filters))


def _sort_key(f: Filter) -> tuple[object, ...]:
    return (f.attribute, f.keys or (), not f.needed, not f.returned, f.group, f.low, f.high, repr(f.region))


def _unsourced(operator: Operator, where: Where) -> bool:
    return any(f.needed and not places for f, places in zip(operator.filters, where, strict=True))


def _whole(operator: Operator, side: NodeId, where: Where) -> bool:
    return all(places == {side} for places in where)


def _is_join(operator: Operator) -> bool:
    return len(operator.filters) > 2 and all(f.needed and f.returned for f in operator.filters)


def _ring(operator: Operator) -> list[Operator]:
    filters = operator.filters
    others = filters[1:] + filters[:1]
    return [
        replace(operator, filters=(main, replace(other, returned=False)))
        for main, other in zip(filters, others, strict=True)
    ]
