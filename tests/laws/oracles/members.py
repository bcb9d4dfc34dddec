"""The members of an operator, straight from its definition: all combinations of readings, all conditions, nothing clever."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from headwater.model import Filter, Operator, Readings, Source
from headwater.model.network_operators import UNGROUPED
from tests.laws.oracles.correlate import contains, distance


def members(operator: Operator, sources: Sequence[Source], readings: Readings) -> set[int]:
    """The positions of the readings that are in an operator."""
    needed = [f for f in operator.filters if f.needed]
    besides = [f for f in operator.filters if f.returned and not f.needed]
    found: set[int] = set()
    for filters in [needed, *([*needed, f] for f in besides)]:
        takers = [
            [n for n in range(len(readings.time)) if _takes(operator, f, sources, readings, n)]
            for f in filters
        ]
        for event in itertools.product(*takers):
            if _belong(operator, filters, sources, readings, event):
                found |= {n for n, f in zip(event, filters, strict=True) if f.returned}
    return found


def _takes(operator: Operator, f: Filter, sources: Sequence[Source], readings: Readings, n: int) -> bool:
    source = sources[readings.source[n]]
    return (
        readings.time[n] >= operator.since
        and source.attribute == f.attribute
        and (f.keys is None or source.key in f.keys)
        and (f.region is None or contains(f.region, source.x, source.y))
        and f.low <= readings.value[n] <= f.high
    )


def _belong(
    operator: Operator,
    filters: Sequence[Filter],
    sources: Sequence[Source],
    readings: Readings,
    event: Sequence[int],
) -> bool:
    times = [int(readings.time[n]) for n in event]
    if not all(time > max(times) - operator.within_us for time in times):
        return False
    for (n, f), (m, g) in itertools.combinations(zip(event, filters, strict=True), 2):
        one, other = sources[readings.source[n]], sources[readings.source[m]]
        if n == m:
            return False  # no reading serves two filters
        if f.group == g.group != UNGROUPED and one.key == other.key:
            return False
        if operator.within_m is not None:
            places = (one.x, one.y), (other.x, other.y)
            if not distance(operator.geographic, *places) < operator.within_m:
                return False
    return True
