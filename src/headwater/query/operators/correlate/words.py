"""CORRELATE in words, for people who read plans: which readings, how near, what is emitted, what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from headwater.kernels.clauses import Clause
from headwater.kernels.correlate.subscription import Emit
from headwater.kernels.correlate.subscription_table import is_plain
from headwater.model import StreamSchema
from headwater.query.language.words import (
    aligned,
    duration_in_words,
    interval_in_words,
    length_in_words,
    listed,
    region_in_words,
    size_in_words,
)
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.correlate.operator import CorrelateOperator
from headwater.query.operators.correlate.plan import make_subscription
from headwater.query.planning.query_plan import QueryPlan

# What the kernel holds besides rows: for each query, for each of its clauses, and, unless the latest match of each clause
# is all that can matter, for each match.
BYTES_PER_QUERY: Final = 16
BYTES_PER_CLAUSE: Final = 32
BYTES_PER_MATCH: Final = 65


def words(operator: CorrelateOperator, explained: Explained) -> Words:
    """One query."""
    return Words(
        [
            ("clauses", aligned(clauses_in_words(operator, explained.source))),
            ("together", condition_in_words(operator)),
            ("answers", [emission_in_words(operator)]),
        ],
        _state(operator, explained),
        why_there=_why_there(operator),
    )


def state_of_many(queries: Sequence[QueryPlan], source: StreamSchema) -> list[str]:
    """What many queries remember."""
    operators = _operators(queries)
    longest = duration_in_words(max(correlate.within_us for correlate in operators))
    row = bytes_per_row(source, operators)
    clauses = sum(len(correlate.clauses) for correlate in operators)
    own = BYTES_PER_QUERY * len(operators) + BYTES_PER_CLAUSE * clauses
    return [
        f"rows that match a clause, of the last {longest}: {size_in_words(row)} a row and zone",
        f"{size_in_words(own)} for the queries themselves",
    ]


def shared_words(queries: Sequence[QueryPlan]) -> Sequence[Entry]:
    """Clauses that are equal."""
    clauses = [clause for query in queries for clause in _matched(query)]
    lines = f"{len(clauses):,}, {len(set(clauses)):,} of them different: equal clauses are matched once"
    return [("clauses", [lines])]


def bytes_per_row(source: StreamSchema, subscriptions: Iterable[CorrelateOperator]) -> int:
    """What a kernel holds for one remembered row: its time, key, place, and the attributes of all clauses."""
    place = (source.place.x, source.place.y) if source.place else ()
    names = {source.time, source.key, *place}
    names.update(clause.attribute for subscription in subscriptions for clause in subscription.clauses)
    return sum(kind.dtype.itemsize for name, kind in source.columns if name in names)


def clauses_in_words(correlate: CorrelateOperator, schema: StreamSchema) -> list[tuple[str, str]]:
    """A name and its condition, one a clause; `n OF` is one again."""
    together: dict[int, list[Clause]] = {}
    for clause in correlate.clauses:
        together.setdefault(clause.group, []).append(clause)
    return [_clause_in_words(clauses, schema) for clauses in together.values()]


def condition_in_words(correlate: CorrelateOperator) -> str:
    """How near in time and place the readings must be, and where."""
    parts = [f"less than {duration_in_words(correlate.within_us)} apart"]
    if correlate.within_m is not None:
        parts.append(f"every two closer than {length_in_words(correlate.within_m)}")
    if correlate.distinct_sensors:
        parts.append("all of different sensors")
    if correlate.region is not None:
        parts.append(f"inside {region_in_words(correlate.region)}")
    if correlate.sensors is not None:
        parts.append(f"of the sensors {listed([str(sensor) for sensor in correlate.sensors])}")
    return ", ".join(parts)


def emission_in_words(correlate: CorrelateOperator) -> str:
    """What one answer is."""
    if correlate.emit is Emit.READINGS:
        return "each reading that belongs to a match, once"
    if correlate.emit is Emit.LATEST:
        return "for each row that completes a match, the latest one"
    return f"every match, at most {correlate.limit:,} for each row"


def _operators(queries: Iterable[QueryPlan]) -> list[CorrelateOperator]:
    return [query.operator for query in queries if isinstance(query.operator, CorrelateOperator)]


def _state(operator: CorrelateOperator, explained: Explained) -> list[str]:
    plan, query = explained.plan, explained.query
    here = plan.zone_of(query.name)
    mates = _operators(
        other for other in plan.queries if other.reads == query.reads and plan.zone_of(other.name) == here
    )
    row = bytes_per_row(explained.source, mates)
    longest = duration_in_words(max(mate.within_us for mate in mates))
    own = BYTES_PER_QUERY + BYTES_PER_CLAUSE * len(operator.clauses)
    lines = [
        f"rows that match a clause, of the last {longest}: {size_in_words(row)} a row, once for all queries of the kernel",
        f"{size_in_words(own)} for the query itself",
    ]
    subscription = make_subscription(operator, name=query.name, fingerprint="", shape=query.shape, where=None)
    if operator.emit is not Emit.LATEST or not is_plain(subscription):
        lines[1] += f", and {size_in_words(BYTES_PER_MATCH)} for each match of its clauses in that time"
    return lines


def _why_there(operator: CorrelateOperator) -> str | None:
    if operator.region:
        return "by its region: queries on the same region share it, and rows elsewhere are not sent here"
    if operator.sensors:
        return "by its sensors: queries on the same sensors share it, and rows of other sensors are not sent here"
    return None


def _matched(query: QueryPlan) -> Iterable[tuple[object, ...]]:
    """What is matched for a query: clauses that are equal in this are one to the kernel."""
    operator = query.operator
    assert isinstance(operator, CorrelateOperator)
    for clause in operator.clauses:
        scope = clause.sensor if clause.sensor is not None else (operator.region, operator.sensors)
        where = repr(query.where)
        yield query.reads, query.zone_key, where, scope, clause.attribute, clause.interval, clause.text


def _clause_in_words(clauses: Sequence[Clause], schema: StreamSchema) -> tuple[str, str]:
    first = clauses[0]
    kind = schema.types[first.attribute]
    condition = f"is '{first.text}'" if first.interval is None else interval_in_words(first.interval, kind)
    name = first.name
    if len(clauses) > 1:
        name = f"{first.name} … {clauses[-1].name}"
        condition += f", {len(clauses)} of different sensors"
    if first.attribute != first.name:
        condition = f"{first.attribute} {condition}"
    if first.sensor is not None:
        condition += f", of sensor {first.sensor!r}"
    return name, condition
