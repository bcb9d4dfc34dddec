"""What do the queries downstream of a FOLLOW need of its events?

Rule 1  Queries that read one another, directly or not, form a sub-graph. Its events reach it through its *entries*: queries that
        read the FOLLOW itself, alone or together with others.
Rule 2  An entry looks back as far as the longest sum of windows on a path from it, not on any path there is.
Rule 3  A sub-graph is free if none of its queries depends on where its rows begin. A SELECT judges each event alone, a single
        pattern the events of a partition, everything else all events together.
Rule 4  An answer of a pattern may depend on events up to its window later, and on the end of its input: a loop continues, or closes. So
        answers of a sub-graph are certain once the longest sum of windows of patterns on a path of it is over. Only a single pattern
        without readers need not wait for that: all that an answer depends on comes after its first event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.follow.question import BY_ITSELF, Need
from headwater.model import RowCondition, Rows, StreamSchema
from headwater.query.expressions import condition
from headwater.query.language.tree import Name
from headwater.query.language.walk import columns_of
from headwater.query.planning.projections import Projection

if TYPE_CHECKING:
    from headwater.query.planning.groups import Group
    from headwater.query.planning.query_plan import QueryPlan

Sources = Callable[[str], tuple[str, ...]]


def inside_groups(queries: Sequence[QueryPlan]) -> list[tuple[str, Sequence[QueryPlan]]]:
    """Which of the queries of one kind downstream of a FOLLOW that read the same share a kernel; and what their group has more in its name for it.

    Those whose kernels gain nothing from company have one each, and may need other events than their neighbours.
    """
    if queries[0].operator.answers_from_first_row:
        return [(f":{query.name}", [query]) for query in queries]
    return [("", queries)]


def downstream_needs(
    follow: QueryPlan,
    projection: Projection,
    groups: Sequence[Group],
    queries: Mapping[str, QueryPlan],
    schemas: Mapping[str, StreamSchema],
    sources: Sources,
) -> dict[str, Need]:
    """What every entry needs, by the name of its group, or of what it reads where that is not the FOLLOW alone."""
    handed = {name for name, expression, _ in projection.columns if expression == Name(name)} - {"event_time"}
    parts, paths = parts_of(groups, sources), _paths(groups, queries, sources)
    later = _paths(groups, queries, sources, only_waiting=True)
    members: dict[int, list[Group]] = {}
    for group in groups:
        members.setdefault(parts[group.name], []).append(group)
    needs: dict[str, Need] = {}
    for group in groups:
        if follow.name not in sources(group.reads):
            continue
        together = members[parts[group.name]]
        is_alone = group.reads == follow.name
        name = group.name if is_alone else group.reads
        need = Need(
            parts[group.name],
            paths[group.name],
            _takes([queries[query] for query in group.queries], handed) if is_alone else None,
            _separates_by([queries[query] for other in together for query in other.queries], handed),
            not any(weak_in(other, queries, schemas[other.reads]) for other in together),
            _settles(together, queries),
            max(later[other.name] for other in together),
        )
        longest = max(need.windows_us, needs[name].windows_us if name in needs else 0)
        needs[name] = replace(need, windows_us=longest)
    return needs


def parts_of(groups: Sequence[Group], sources: Sources) -> dict[str, int]:
    """The number of the sub-graph of each group; groups come after what they read."""
    made_by = {query: group.name for group in groups for query in group.queries}
    part: dict[str, int] = {}
    for number, group in enumerate(groups):
        read = {part[made_by[source]] for source in sources(group.reads) if source in made_by}
        part[group.name] = min(read, default=number)
        if len(read) > 1:  # it ties together what had nothing to do with one another
            part = {name: part[group.name] if old in read else old for name, old in part.items()}
    numbers = {number: place for place, number in enumerate(dict.fromkeys(part.values()))}
    return {name: numbers[number] for name, number in part.items()}


def _paths(
    groups: Sequence[Group],
    queries: Mapping[str, QueryPlan],
    sources: Sources,
    *,
    only_waiting: bool = False,
) -> dict[str, int]:
    """The longest sum of windows, or of those of queries that wait for later rows, on a path from each group on, its own included; groups
    come after what they read."""

    def window_us(query: QueryPlan) -> int:
        return query.window_us if query.operator.waits_for_later_rows or not only_waiting else 0

    paths: dict[str, int] = {}
    downstream: dict[str, int] = {}  # by what is read: the longest path of those that read it
    for group in reversed(groups):
        paths[group.name] = max(
            window_us(queries[query]) + downstream.get(query, 0) for query in group.queries
        )
        for source in sources(group.reads):
            downstream[source] = max(downstream.get(source, 0), paths[group.name])
    return paths


def weak_in(group: Group, queries: Mapping[str, QueryPlan], source: StreamSchema) -> list[str]:
    """Those queries of a group, which read `source`, to which it matters where rows begin."""
    return [query for query in group.queries if not queries[query].operator.finds_the_same_later(source)]


def _separates_by(queries: Sequence[QueryPlan], handed: set[str]) -> tuple[str, ...] | None:
    """The columns by which a sub-graph separates events."""
    columns = [query.operator.separates_by for query in queries]
    if all(separated is None for separated in columns):
        return BY_ITSELF
    if len(columns) > 1 or columns[0] is None:
        return ()
    return columns[0] if handed.issuperset(columns[0]) else ()


def _settles(groups: Sequence[Group], queries: Mapping[str, QueryPlan]) -> bool:
    """Whether what a sub-graph answers before windows are filled may be wrong."""
    operators = [queries[name].operator for group in groups for name in group.queries]
    if all(operator.separates_by is None for operator in operators):
        return False
    return len(groups) > 1 or not all(operator.answers_from_first_row for operator in operators)


def _takes(queries: Sequence[QueryPlan], handed: set[str]) -> RowCondition | None:
    """A condition that holds for every event that some queries can use; None: for any."""
    needed = [query.operator.useful_rows(query.where) for query in queries]
    conditions = [
        condition(one)
        for one in needed
        if one is not None and handed.issuperset(name.name for name in columns_of(one))
    ]
    if len(conditions) < len(needed):
        return None

    def takes(rows: Rows) -> NDArray[np.bool_]:
        return reduce(np.logical_or, [holds(rows) for holds in conditions])

    return takes
