"""The kernels of a zone, and which zones need a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwater.model import Kernel, Rows, StreamSchema
from headwater.query.expressions import condition
from headwater.query.operators.contract import Demand, KernelPlace, ZoneMask
from headwater.query.planning.interest_plan import InterestPlan
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import zone_of_rows
from headwater.query.planning.zones import zone_of


@dataclass(frozen=True, slots=True)
class Group:
    """The queries of one kind that read one source in one zone, and the kernel that answers them.

    State is saved under `name`, which therefore never changes. `reads_stores` are sources whose events are stored for it: by groups
    without queries, named by `store_of`, whose states a step of its kernel may read. `downstream` is what runs on the events of its FOLLOW queries,
    by their names: the host that runs the group makes the operators for the kernel.
    """

    name: str
    reads: str
    queries: tuple[str, ...]
    kernel: Kernel[Any]
    reads_stores: tuple[str, ...] = ()
    downstream: Mapping[str, InterestPlan] = field(default_factory=dict)


def store_of(source: str) -> str:
    """The name of the group that keeps the events of a source."""
    return f"events:{source}"


def make_group(queries: Sequence[QueryPlan], place: KernelPlace, *, suffix: str = "") -> Group:
    """The group of some queries of one kind that read the same; `suffix` distinguishes groups that would have one name."""
    kernel = queries[0].operator.make_kernel(queries, place)
    name = queries[0].operator.group_name(place.source.name) + suffix
    return Group(name, place.source.name, tuple(query.name for query in queries), kernel)


def make_group_on_stores(
    queries: Sequence[QueryPlan],
    place: KernelPlace,
    events: Sequence[StreamSchema],
    downstream: Mapping[str, InterestPlan],
    names: Sequence[str],
) -> Group:
    """The group of some queries of one kind that read the same stored events, with what runs downstream of each; `names` are those of them all."""
    operator = queries[0].operator
    return Group(
        operator.group_name(place.source.name),
        place.source.name,
        tuple(names),
        operator.make_kernel_on_stores(queries, place, events, downstream),
        tuple(source.name for source in events),
        downstream,
    )


def make_store(queries: Sequence[tuple[QueryPlan, Sequence[StreamSchema]]], place: KernelPlace) -> Group:
    """The group that stores the events of a source for some queries, each with all its sources."""
    kernel = queries[0][0].operator.make_store_kernel(queries, place)
    return Group(store_of(place.source.name), place.source.name, (), kernel)


def make_routing(
    source: StreamSchema, asking: Sequence[tuple[QueryPlan, Sequence[Demand]]], zones: int
) -> Callable[[Rows], ZoneMask]:
    """A function from rows of `source` to bool[zones, n]: which zones can use each row, given all queries and what they need of it."""
    by_readings: dict[str, list[QueryPlan]] = {}
    for query, demands in asking:
        if any(demand.readings for demand in demands):
            by_readings.setdefault(query.kind, []).append(query)
    routings = [
        queries[0].operator.make_routing(
            queries, source, [zone_of(query.zone_key, zones) for query in queries], zones
        )
        for queries in by_readings.values()
    ]
    others = [
        (query, demand.condition) for query, demands in asking for demand in demands if not demand.readings
    ]
    plain = {
        (zone, repr(condition_of_use)): condition(condition_of_use) if condition_of_use else None
        for query, condition_of_use in others
        for zone in range(zones)
        if not query.spread and query.lives_in(zone, zones)
    }
    spread = {
        (query.spread, repr(condition_of_use)): condition(condition_of_use) if condition_of_use else None
        for query, condition_of_use in others
        if query.spread
    }

    def zones_using(rows: Rows) -> ZoneMask:
        found = np.zeros((zones, rows.count), np.bool_)
        for zones_of_readings in routings:
            found |= zones_of_readings(rows)
        for (zone, _), holds in plain.items():
            found[zone] |= holds(rows) if holds else True
        homes = {columns: zone_of_rows(rows, columns, zones) for columns, _ in spread}
        for (columns, _), holds in spread.items():
            chosen = np.flatnonzero(holds(rows)) if holds else np.arange(rows.count)
            found[homes[columns][chosen], chosen] = True
        return found

    return zones_using
