"""From a checked FOLLOW to the query of its kernel; and the kernel that stores events for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.kernels.follow.choices import Saving
from headwater.kernels.follow.kernel import FollowKernel
from headwater.kernels.follow.question import BY_ITSELF, Events, Focals, FollowQuery, Need
from headwater.kernels.follow.store import EventReader, StoreKernel
from headwater.model import StreamSchema
from headwater.query.expressions import condition
from headwater.query.operators.contract import KernelPlace
from headwater.query.operators.follow.check import events_schema
from headwater.query.operators.follow.operator import FollowOperator
from headwater.query.planning.interest_plan import InterestPlan
from headwater.query.planning.query_plan import QueryPlan


def make_kernel(
    queries: Sequence[QueryPlan],
    place: KernelPlace,
    events: Sequence[StreamSchema],
    downstream: Mapping[str, InterestPlan],
) -> FollowKernel:
    """The kernel of some FOLLOW queries of the same focal objects and events."""
    follow_queries = [
        make_follow_query(
            query,
            query.operator,
            place.source,
            events_of(query, events),
            share=place.share(query),
            downstream=downstream.get(query.name),
        )
        for query in queries
        if isinstance(query.operator, FollowOperator)
    ]
    return FollowKernel(place.source, follow_queries)


def make_store_kernel(
    queries: Sequence[tuple[QueryPlan, Sequence[StreamSchema]]], place: KernelPlace
) -> StoreKernel:
    """The kernel that stores the events of a source for FOLLOW queries, each with all its sources."""
    readers = [
        EventReader(
            query.name, events_of(query, events), counts=place.share(query) in (None, (0, place.zones))
        )
        for query, events in queries
    ]
    return StoreKernel(place.source, readers)


def events_of(query: QueryPlan, sources: Sequence[StreamSchema]) -> Events:
    """The events of a FOLLOW, from its sources of events."""
    schema = events_schema(sources)
    # A condition by its written form: as values, 1, 1.0 and TRUE would be equal.
    identity = repr(([source.name for source in sources], schema.columns, query.where))
    return Events(tuple(sources), schema, condition(query.where) if query.where else None, identity)


def make_follow_query(
    query: QueryPlan,
    follow: FollowOperator,
    focals: StreamSchema,
    events: Events,
    *,
    share: tuple[int, int] | None,
    downstream: InterestPlan | None,
) -> FollowQuery:
    """The query of the kernel of FOLLOW; the host that runs it adds the operators."""
    assert focals.key is not None and focals.place is not None
    needs = list(downstream.needs.values()) if downstream else []
    if not query.hidden or not needs:
        needs.append(
            Need(1 + max((need.part for need in needs), default=-1), 0, None, BY_ITSELF, is_free=True)
        )
    is_whole = follow.interests or follow.best_effort is not None
    return FollowQuery(
        name=query.name,
        fingerprint=query.fingerprint,
        shape=query.shape,
        events=events,
        focals=Focals(
            condition(follow.where) if follow.where else None,
            focals.key,
            focals.types[focals.key],
            focals.place.x,
            focals.place.y,
            focals.types[focals.place.x],
            focals.types[focals.place.y],
            follow.shape,
        ),
        geographic=focals.place.geographic,
        radius_m=follow.radius_m,
        box_m=follow.box_m,
        last_us=follow.last_us,
        before_us=query.before_us,
        update=follow.update,
        every_us=follow.every_us,
        moved_m=follow.moved_m,
        precision=follow.precision,
        recall=follow.recall,
        over_us=follow.over_us,
        forget_us=follow.forget_us,
        each=follow.each,
        best_effort=follow.best_effort,
        share=share,
        interests=follow.interests,
        needs=tuple(needs),
        savings=frozenset() if is_whole else frozenset(Saving) - query.left_off,
        emits_events=not query.hidden,
        operators=None,
    )
