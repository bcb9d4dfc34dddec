"""A NEAREST in words, for people who read plans: what it selects, by which algorithm and why, and how much it stores.

Figures are for objects in random order, which is all that can be said before the first row has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from headwater.kernels.nearest.candidate_limits import RECENT_OF_PARTITION, expected_loss, r_star, recent_rows
from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.model import StreamSchema
from headwater.query.language.words import counted, duration_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.nearest.operator import NearestOperator
from headwater.query.operators.nearest.plan import (
    ASSUMED_ROWS,
    POINTS_A_ZONE,
    PRUNE,
    ROWS_TO_PUT_OFF,
    choose_algorithm,
    expected_bytes,
    expected_candidates,
)
from headwater.query.planning.query_plan import QueryPlan

WINDOWS: Final = (1_000, 10_000, 100_000)
"""Possible numbers of objects in a window of time: the plan shows the candidates for each of these."""

NUMBER_BYTES: Final = 8
"""What an object's number takes beside its columns."""

PARTITION_BYTES: Final = 100
"""What a value of PER takes beside its objects and candidates."""


def words(operator: NearestOperator, explained: Explained) -> Words:
    """One query."""
    plan, query = explained.plan, explained.query
    zones = None
    if query.scatter == query.name and plan.zones > 1:
        zones = zones_of_points_in_words(query, plan.zones, plan.zone_of(query.name))
    elif query.spread:
        zones = (
            f"all {plan.zones} (from 0), by {query.spread[0]}: each value and its window live in one of them"
        )
    return Words(
        [*question_in_words(operator), *found_in_words(operator)],
        state_in_words(operator, explained.source),
        zones=zones,
        why_there="by its name: all its points are answered in this one zone"
        if operator.points or operator.per
        else None,
    )


def shared_words(queries: Sequence[QueryPlan]) -> Sequence[Entry]:
    """Queries that are one loop."""
    near = [way_of_using_objects(query) for query in queries]
    ways = f"{counted(len(near), 'query')} in {len(set(near)):,} way{'s' * (len(set(near)) != 1)} of using objects"
    lines = f"{ways}: queries that use objects in the same way share one loop"
    return [("nearest", [lines])]


def question_in_words(operator: NearestOperator) -> list[Entry]:
    """What the query wants to know."""
    return [
        ("nearest", _nearest(operator)),
        ("window", _window(operator)),
        ("ties", _TIES[operator.ties]),
        ("answers", _answers(operator)),
    ]


def found_in_words(operator: NearestOperator) -> list[Entry]:
    """How it is found."""
    algorithm = choose_algorithm(operator)
    entries: list[Entry] = [
        ("algorithm", _chosen(operator, algorithm)),
        ("candidates", _candidates(operator)),
    ]
    if algorithm is Algorithm.PA:
        assert operator.sigma is not None
        share = expected_loss(r_star(operator.k, operator.sigma), operator.k)
        entries.append(
            ("loss", f"in random order {_small(share)} of all answers; headwater run --audit measures it")
        )
    if algorithm is Algorithm.RAPF:
        entries.append(("recent", _recent(operator)))
    return entries


def points_in_words(schema_name: str, asking: Sequence[QueryPlan]) -> str:
    """When points are read, and who shares them."""
    alone = (
        "one operator, however many they are"
        if len(asking) == 1
        else "one operator a query, however many they are"
    )
    return f"once, before the first row, from --input {schema_name}=PATH; {alone}"


def zones_of_points_in_words(query: QueryPlan, zones: int, here: int) -> str:
    """Where the points of a query live that may be many."""
    spread = f"in one of all {zones} zones, by its place, and every object goes to all of them"
    if query.parts > 1:
        return f"all {zones} (from 0): each point lives {spread}"
    few = f"{here} of {zones} (from 0), by its name"
    if query.opened_set is not None:
        return f"{few}: {counted(len(query.opened_set), 'point')}, to which every object goes"
    return f"{few}, with up to {POINTS_A_ZONE:,} points; if there are more, each lives {spread}"


def state_in_words(operator: NearestOperator, source: StreamSchema) -> list[str]:
    """What is remembered, and how much that is."""
    names = {
        source.time,
        source.key,
        *operator.attributes,
        operator.per,
        *(column for _, column in operator.columns_carried),
    }
    row = NUMBER_BYTES + sum(kind.dtype.itemsize for name, kind in source.columns if name in names)
    once = f"for each value of {operator.per}" if operator.per else "for all queries of the kernel"
    lines = [f"objects that are candidates or recent: {size_in_words(row)} each, once {once}"]
    if operator.per:
        ends = "until its window is empty"
        if operator.window_rows:
            ends = "forever: FORGET ends it"
        if operator.forget_us is not None:
            ends = f"until it has had no object for {duration_in_words(operator.forget_us)}"
        lines.append(f"about {size_in_words(PARTITION_BYTES)} for each value of {operator.per}, {ends}")
    rows = operator.window_rows or ASSUMED_ROWS
    each = size_in_words(expected_bytes(operator, 1))
    lines.append(f"about {each} {_for_each(operator)} with {rows:,} objects in the window")
    if choose_algorithm(operator) is Algorithm.PA:
        assert operator.sigma is not None
        lines.append(
            f"at most {r_star(operator.k, operator.sigma):,} candidates {_for_each(operator)}, in any order of objects"
        )
    else:
        lines.append(
            f"at most all objects of the window {_for_each(operator)}, if each is farther than the one before"
        )
    return lines


def way_of_using_objects(query: QueryPlan) -> tuple[object, ...]:
    """Queries that are equal in this read the same objects in the same way: they are one loop."""
    operator = query.operator
    assert isinstance(operator, NearestOperator)
    window = operator.window_us, operator.window_rows, operator.per
    said = operator.ties, operator.emission, operator.every_us
    return (
        query.reads, repr(query.where), operator.metric, operator.attributes, operator.weights, window, said, choose_algorithm(operator),
    )  # fmt: skip


_TIES: Final = {
    False: "of equally near objects, the newer ones count as nearer",
    True: "all objects as near as the last of them are included too, however many they are",
}


def _nearest(operator: NearestOperator) -> str:
    by, objects = ", ".join(operator.attributes), counted(operator.k, "object")
    if operator.metric.ranks_values:
        which = "highest" if operator.metric is Metric.HIGHEST else "lowest"
        return f"the {objects} with the {which} {by}"
    where = (
        f"each of the points '{operator.points}'" if operator.points else f"({_listed(operator.point or ())})"
    )
    how = "in metres on the globe" if operator.metric is Metric.GEOGRAPHIC else "by Euclidean distance"
    weights = f", weighted {_listed(operator.weights)}" if operator.weights else ""
    return f"the {objects} nearest to {where} in {by}, {how}{weights}"


def _window(operator: NearestOperator) -> str:
    over = (
        f"the last {duration_in_words(operator.window_us)}"
        if operator.window_us is not None
        else f"the last {counted(operator.window_rows or 0, 'object')}"
    )
    return f"{over}, for each value of '{operator.per}' separately" if operator.per else over


def _answers(operator: NearestOperator) -> str:
    if operator.emission is Emission.ENTERS:
        return "each object once, when it is first among them"
    if operator.emission is Emission.CHANGES:
        return "each object that enters or leaves them, at every change"
    return f"all of them in their order, every {duration_in_words(operator.every_us or 0)}"


def _chosen(operator: NearestOperator, algorithm: Algorithm) -> list[str]:
    why = {
        Algorithm.PA: f"a loss is allowed (PROBABLE {operator.sigma:g})" if operator.sigma else "",
        Algorithm.RAPF: "nothing may be lost, and few new objects need to be stored",
        Algorithm.RA: f"a window of fewer than {ROWS_TO_PUT_OFF} rows for each of the k is too short to postpone objects",
    }[algorithm]
    if operator.algorithm is not None:
        why = f"as ALGORITHM {algorithm.value} requires"
    return [f"{algorithm.value}: {why}", _DOES[algorithm]]


_DOES: Final = {
    Algorithm.RA: "an object is a candidate until k newer ones are nearer;"
    f" the list is pruned when it has grown by {PRUNE:.0%}",
    Algorithm.RAPF: "an object is a candidate until k newer ones are nearer; it is postponed while k recent ones are",
    Algorithm.PA: "only the nearest objects are stored; a farther one is very unlikely to become an answer",
}


def _candidates(operator: NearestOperator) -> str:
    if operator.sigma is not None:
        limit = r_star(operator.k, operator.sigma)
        return f"R*({operator.k:,}, {operator.sigma:g}) = {limit:,} {_for_each(operator)}, however many objects the window holds"
    if operator.window_rows is not None:
        return f"about {expected_candidates(operator, operator.window_rows):.0f} {_for_each(operator)}, in random order"
    lines = {rows: f"{expected_candidates(operator, rows):.0f}" for rows in WINDOWS}
    if len(set(lines.values())) == 1:
        return f"about {lines[WINDOWS[0]]} {_for_each(operator)}, with {WINDOWS[0]:,} objects in the window as with {WINDOWS[-1]:,}"
    listed = ", ".join(f"{count} with {rows:,}" for rows, count in lines.items())
    return f"{_for_each(operator)} about {listed} objects in the window, in random order"


def _recent(operator: NearestOperator) -> str:
    most = recent_rows(operator.k)
    if operator.per:
        few = f"at most the last {RECENT_OF_PARTITION * operator.k:,} for each point"
        return f"for each value of {operator.per} objects of half a window, {few}; when one is no longer recent, it is offered to the queries that postponed it"
    if operator.window_us is not None:
        half = f"objects of the last {duration_in_words(operator.window_us // 2)}, at most the last {most:,}"
    else:
        half = f"the last {min(most, (operator.window_rows or 0) // 2):,} objects"
    return f"{half}: stored once for all; when one is no longer recent, it is offered to the queries that postponed it"


def _for_each(operator: NearestOperator) -> str:
    if operator.per:
        return f"for each {'point and ' * bool(operator.points)}value of '{operator.per}'"
    return "for each point" if operator.points else "for the query"


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.15g}" for number in numbers)


def _small(share: float) -> str:
    return f"{share:.2g}" if share >= 1e-3 else f"{share:.1e}".replace("e-0", "e-")
