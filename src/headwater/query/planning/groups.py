"""The kernels of a zone, and which zones a row is wanted in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.correlate.routing import Routing
from headwater.model import Kernel, Rows, StreamSchema
from headwater.query.expressions import condition
from headwater.query.operators.contract import Demand, KernelPlace
from headwater.query.operators.correlate.plan import make_subscriptions
from headwater.query.planning.follow import InterestPlan, events_of, make_follow_query
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.row_conditions import RowConditions, zone_of_rows
from headwater.query.planning.zones import zone_of

ZoneMask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Group:
    """The queries of one kind that read one source in one zone, and the kernel that answers them.

    State is saved under `name`, which therefore never changes. `looks_at` are sources of events that are kept for it in stores: groups
    without queries, named by `store_of`, whose states its own is given to look at. `behind` is what runs on the events of its FOLLOW queries,
    by their names: whoever runs the group gives the kernel operators for it.
    """

    name: str
    reads: str
    queries: tuple[str, ...]
    kernel: Kernel[Any]
    looks_at: tuple[str, ...] = ()
    behind: Mapping[str, InterestPlan] = field(default_factory=dict)


def store_of(source: str) -> str:
    """The name of the group that keeps the events of a source."""
    return f"events:{source}"


def make_group(queries: Sequence[QueryPlan], place: KernelPlace, *, suffix: str = "") -> Group:
    """The group of some queries of one kind that read the same; `suffix` tells groups apart that would have one name."""
    kernel = queries[0].operator.make_kernel(queries, place)
    name = queries[0].operator.group_name(place.source.name) + suffix
    return Group(name, place.source.name, tuple(query.name for query in queries), kernel)


def make_follow_group(
    queries: Sequence[QueryPlan],
    focals: StreamSchema,
    events: Sequence[StreamSchema],
    behind: Sequence[tuple[InterestPlan | None, Sequence[str]]],
    zone: int,
    zones: int,
) -> Group:
    """The group of some FOLLOW queries of the same focal objects and events, each with what stands behind it, and the names of that."""
    from headwater.kernels.follow.kernel import FollowKernel

    follow_queries = [
        make_follow_query(
            query,
            focals,
            events_of(query, events),
            share=_share(query, zone, zones),
            behind=inside,
        )
        for query, (inside, _) in zip(queries, behind, strict=True)
    ]
    names = [
        name for query, (_, inside) in zip(queries, behind, strict=True) for name in (query.name, *inside)
    ]
    sources = tuple(source.name for source in events)
    return Group(
        queries[0].operator.group_name(focals.name),
        focals.name,
        tuple(names),
        FollowKernel(focals, follow_queries),
        sources,
        {query.name: plan for query, (plan, _) in zip(queries, behind, strict=True) if plan is not None},
    )


def make_store(
    source: StreamSchema,
    queries: Sequence[tuple[QueryPlan, Sequence[StreamSchema]]],
    zone: int,
    zones: int,
) -> Group:
    """The group that keeps the events of a source for FOLLOW queries, each given with all its sources."""
    from headwater.kernels.follow.store import Looker, StoreKernel

    lookers = [
        Looker(query.name, events_of(query, events), counts=_share(query, zone, zones) in (None, (0, zones)))
        for query, events in queries
    ]
    return Group(store_of(source.name), source.name, (), StoreKernel(source, lookers))


def _share(query: QueryPlan, zone: int, zones: int) -> tuple[int, int] | None:
    """Which of the objects that a query follows live in a zone, if not all do."""
    return (zone, zones) if query.shared and zones > 1 else None


def make_routing(
    source: StreamSchema, asking: Sequence[tuple[QueryPlan, Sequence[Demand]]], zones: int
) -> Callable[[Rows], ZoneMask]:
    """A function from rows of `source` to bool[zones, n]: which zones can use each row, given all queries and what they ask of it."""
    correlating = [query for query, demands in asking if any(demand.readings for demand in demands)]
    conditions = RowConditions()
    subscriptions = make_subscriptions(correlating, conditions)
    homes = [zone_of(query.zone_key, zones) for query in correlating]
    routing = Routing(source, subscriptions, homes, zones, conditions.listed) if correlating else None
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
        found = routing.zones_using(rows) if routing else np.zeros((zones, rows.count), np.bool_)
        for (zone, _), holds in plain.items():
            found[zone] |= holds(rows) if holds else True
        homes = {columns: zone_of_rows(rows, columns, zones) for columns, _ in spread}
        for (columns, _), holds in spread.items():
            chosen = np.flatnonzero(holds(rows)) if holds else np.arange(rows.count)
            found[homes[columns][chosen], chosen] = True
        return found

    return zones_using
