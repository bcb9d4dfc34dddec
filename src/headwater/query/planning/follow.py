"""From a checked FOLLOW to what its kernel is asked, and to what runs on its events. What runs there is run by hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.kernels.follow.question import (
    BY_ITSELF,
    Events,
    Focals,
    FollowQuery,
    Need,
)
from headwater.kernels.follow.words import Saving
from headwater.model import (
    Answers,
    Rows,
    StreamSchema,
)
from headwater.query.checking.merges import Merge
from headwater.query.expressions import condition
from headwater.query.operators.follow.check import events_schema
from headwater.query.operators.union import FollowOperator
from headwater.query.planning.needs import needs_behind, parts_of, weak_in
from headwater.query.planning.projections import Projection

if TYPE_CHECKING:
    from headwater.query.planning.groups import Group
    from headwater.query.planning.query_plan import QueryPlan


def events_of(query: QueryPlan, sources: Sequence[StreamSchema]) -> Events:
    """What a FOLLOW looks at, given its sources of events."""
    schema = events_schema(sources)
    # A condition by its written form: as values, 1, 1.0 and TRUE would be equal.
    identity = repr(([source.name for source in sources], schema.columns, query.where))
    return Events(tuple(sources), schema, condition(query.where) if query.where else None, identity)


def make_follow_query(
    query: QueryPlan,
    focals: StreamSchema,
    events: Events,
    *,
    share: tuple[int, int] | None,
    behind: InterestPlan | None,
) -> FollowQuery:
    """What the kernel of FOLLOW is asked; whoever runs it gives it the operators."""
    follow = query.operator
    assert isinstance(follow, FollowOperator)
    assert focals.key is not None and focals.place is not None
    needs = list(behind.needs.values()) if behind else []
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
        tells=not query.hidden,
        operators=None,
    )


def can_stay_apart(queries: Sequence[QueryPlan]) -> bool:
    """Whether queries behind a FOLLOW can be answered for many interests at once: their kernels keep the rows of each apart."""
    return all(query.operator.can_stay_apart and ", " not in query.reads for query in queries)


@dataclass(frozen=True)
class InterestPlan:
    """What runs on the events of each interest of a FOLLOW: `groups`, each after what it reads; `read` are the queries and sources that
    some of them read.

    `parts` is the sub-graph of every group, by its place; `needs` are those of its entries, by name. `unheard` are groups whose answers are
    nobody's but the operators' behind them: not delivered, so not remembered either. `weak` are those queries whose answers depend on where
    an interest begins. `meaning` changes with what the queries mean. `apart`: one state is for all interests.
    """

    follow: QueryPlan
    projection: Projection
    groups: tuple[Group, ...]
    read: frozenset[str]
    needs: Mapping[str, Need]
    parts: tuple[int, ...]
    unheard: frozenset[str]
    weak: tuple[str, ...]
    meaning: tuple[str, ...]
    schemas: Mapping[str, StreamSchema] = field(repr=False)
    merges: Mapping[str, Merge] = field(repr=False)
    project: Callable[[Answers], Rows] = field(repr=False)
    apart: bool


def plan_interests(
    follow: QueryPlan,
    projection: Projection,
    groups: Sequence[Group],
    queries: Mapping[str, QueryPlan],
    schemas: Mapping[str, StreamSchema],
    merges: Mapping[str, Merge],
    project: Callable[[Answers], Rows],
    *,
    apart: bool,
) -> InterestPlan:
    """What runs behind a FOLLOW. `groups` come after what they read."""

    def sources(name: str) -> tuple[str, ...]:
        together = merges.get(name)
        return tuple(member.name for member in together.members) if together else (name,)

    parts = parts_of(groups, sources)
    return InterestPlan(
        follow,
        projection,
        tuple(groups),
        frozenset(name for group in groups for name in sources(group.reads)),
        needs_behind(follow, projection, groups, queries, schemas, sources),
        tuple(parts[group.name] for group in groups),
        frozenset(group.name for group in groups if all(queries[name].hidden for name in group.queries)),
        tuple(name for group in groups for name in weak_in(group, queries, schemas[group.reads])),
        tuple(f"{name} {queries[name].fingerprint}" for group in groups for name in group.queries),
        schemas,
        merges,
        project,
        apart,
    )
