"""What runs on the events of each interest of a FOLLOW, as a value: hosts run it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.kernels.follow.question import Need
from headwater.model import Answers, Rows, StreamSchema
from headwater.query.checking.merges import Merge
from headwater.query.planning.needs import downstream_needs, parts_of, weak_in
from headwater.query.planning.projections import Projection

if TYPE_CHECKING:
    from headwater.query.planning.groups import Group
    from headwater.query.planning.query_plan import QueryPlan


def answers_by_interest(queries: Sequence[QueryPlan]) -> bool:
    """Whether queries downstream of a FOLLOW can be answered for many interests at once: their kernels keep the rows of each apart."""
    return all(query.operator.answers_by_interest and ", " not in query.reads for query in queries)


@dataclass(frozen=True)
class InterestPlan:
    """What runs on the events of each interest of a FOLLOW: `groups`, each after what it reads; `read` are the queries and sources that
    some of them read.

    `parts` is the sub-graph of every group, by its place; `needs` are those of its entries, by name. `undelivered` are groups whose answers are
    only for the operators downstream of them: not delivered, so not remembered either. `weak` are those queries whose answers depend on where
    an interest begins. `meaning` changes with what the queries mean. `by_interest`: one state is for all interests.
    """

    follow: QueryPlan
    projection: Projection
    groups: tuple[Group, ...]
    read: frozenset[str]
    needs: Mapping[str, Need]
    parts: tuple[int, ...]
    undelivered: frozenset[str]
    weak: tuple[str, ...]
    meaning: tuple[str, ...]
    schemas: Mapping[str, StreamSchema] = field(repr=False)
    merges: Mapping[str, Merge] = field(repr=False)
    project: Callable[[Answers], Rows] = field(repr=False)
    by_interest: bool


def plan_interests(
    follow: QueryPlan,
    projection: Projection,
    groups: Sequence[Group],
    queries: Mapping[str, QueryPlan],
    schemas: Mapping[str, StreamSchema],
    merges: Mapping[str, Merge],
    project: Callable[[Answers], Rows],
    *,
    by_interest: bool,
) -> InterestPlan:
    """What runs downstream of a FOLLOW. `groups` come after what they read."""

    def sources(name: str) -> tuple[str, ...]:
        together = merges.get(name)
        return tuple(member.name for member in together.members) if together else (name,)

    parts = parts_of(groups, sources)
    return InterestPlan(
        follow,
        projection,
        tuple(groups),
        frozenset(name for group in groups for name in sources(group.reads)),
        downstream_needs(follow, projection, groups, queries, schemas, sources),
        tuple(parts[group.name] for group in groups),
        frozenset(group.name for group in groups if all(queries[name].hidden for name in group.queries)),
        tuple(name for group in groups for name in weak_in(group, queries, schemas[group.reads])),
        tuple(f"{name} {queries[name].fingerprint}" for group in groups for name in group.queries),
        schemas,
        merges,
        project,
        by_interest,
    )
