"""Which operators may cover one, and as which boxes?

Every complex event of an operator is a point: the value and the place of the reading for each filter. If its box lies in the union
of the boxes of other operators of the same make, each of its events is an event of one of them.

Rule 1  Same make: filters over the same attributes and keys, needed and returned alike, grouped alike; the same δt and δl. The
        order of filters and the numbers of groups do not matter. No later `since`: the readings must reach back as far.
Rule 2  Columns: the interval of each filter, then x and y of each filter's region (`regions.py`); places are left out where
        no row has a bound. Filters that are alike but for their bounds are paired by their bounds: any pairing is right.
Rule 3  A filter that is not needed and takes nothing does not make the operator empty, since its events go without: it
        is treated as if it took everything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from headwater.model import Filter, Instant, Operator, Region
from headwater.model.network_operators import UNGROUPED
from headwater.protocols.cover.boxes import Boxes, Real
from headwater.protocols.cover.regions import around, seen_from

Signature = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """What cover needs to know of an operator, to be made once: its make, and its filters in an order that all of that make share."""

    make: Signature
    since: Instant
    filters: tuple[Filter, ...]
    low: Real
    high: Real
    plain: bool

    @property
    def regions(self) -> list[Region | None]:
        """The region of each filter."""
        return [one.region for one in self.filters]


def comparable(one: Operator) -> Signature:
    """What two operators must share for one to help cover the other."""
    return outline(one).make


def box_of(operator: Operator) -> tuple[Real, Real]:
    """Low and high float64[3n] of n filters: their intervals, then x and y of each; the box around a region that is none."""
    made = outline(operator)
    return made.low, made.high


def candidates(operator: Operator, others: Sequence[Operator]) -> tuple[Real, Real, Boxes]:
    """The operator's box, and those of the others that may take part in covering it."""
    return candidates_of(outline(operator), [outline(other) for other in others])


def outline(operator: Operator) -> Outline:
    """The outline of an operator."""
    members = Counter(one.group for one in operator.filters)
    kinds = sorted(
        ((_kind(one, members), one) for one in operator.filters),
        key=lambda pair: (pair[0], _bounds_first(pair[1])),
    )
    filters = tuple(one for _, one in kinds)
    named: dict[int, int] = {UNGROUPED: UNGROUPED}
    groups = tuple(named.setdefault(one.group, len(named)) for one in filters)
    distance = None if operator.within_m is None else (operator.within_m, operator.geographic)
    boxes = [around(one.region) for one in filters]
    low = [one.low for one in filters] + [end for box in boxes for end in box[:2]]
    high = [one.high for one in filters] + [end for box in boxes for end in box[2:]]
    return Outline(
        make=(tuple(kind for kind, _ in kinds), groups, operator.within_us, distance),
        since=operator.since,
        filters=filters,
        low=np.array(low, np.float64),
        high=np.array(high, np.float64),
        plain=all(seen_from(None, one.region) is not None for one in filters),
    )


def candidates_of(outlined: Outline, others: Sequence[Outline]) -> tuple[Real, Real, Boxes]:
    """As `candidates`, for outlines that were made before."""
    low, high = _box(outlined)
    same = [other for other in others if other.make == outlined.make and other.since <= outlined.since]
    seen = [(other.low, other.high) if other.plain else _box_seen_from(outlined, other) for other in same]
    rows = [pair for pair in seen if pair is not None]
    columns = len(low)
    lows = np.array([pair[0] for pair in rows], np.float64).reshape(-1, columns)
    highs = np.array([pair[1] for pair in rows], np.float64).reshape(-1, columns)
    columns_needed = np.ones(columns, np.bool_)
    values = len(outlined.filters)
    holds = (lows <= low) & (highs >= high) & (low <= high)
    columns_needed[values:] = ~holds[:, values:].all(axis=0)
    return low[columns_needed], high[columns_needed], Boxes(lows[:, columns_needed], highs[:, columns_needed])


def _kind(one: Filter, members: Counter[int]) -> tuple[str, tuple[str, ...], bool, bool, bool, int]:
    keys = ("all",) if one.keys is None else ("some", *sorted(set(one.keys)))
    size = 0 if one.group == UNGROUPED else members[one.group]
    return one.attribute, keys, one.needed, one.returned, one.group != UNGROUPED, size


def _bounds_first(one: Filter) -> tuple[int, float, float, tuple[float, ...], str]:
    return one.group, one.low, one.high, around(one.region), repr(one.region)


def _box(outlined: Outline) -> tuple[Real, Real]:
    low, high = outlined.low.copy(), outlined.high.copy()
    values = len(outlined.filters)
    for n, one in enumerate(outlined.filters):
        for column in (n, values + 2 * n, values + 2 * n + 1):
            if not one.needed and not low[column] <= high[column]:
                low[column], high[column] = -math.inf, math.inf
    return low, high


def _box_seen_from(outlined: Outline, other: Outline) -> tuple[Real, Real] | None:
    """The box of an operator with regions that are no boxes, as seen from the one in question; None: it cannot take part."""
    values = len(outlined.filters)
    low, high = other.low.copy(), other.high.copy()
    for n, (inner, outer) in enumerate(zip(outlined.regions, other.regions, strict=True)):
        box = seen_from(inner, outer)
        if box is None:
            return None
        low[values + 2 * n : values + 2 * n + 2] = box[:2]
        high[values + 2 * n : values + 2 * n + 2] = box[2:]
    return low, high
