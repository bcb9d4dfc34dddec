"""Which readings does each query ask of the network? CORRELATE queries as operators that nodes can split and forward.

Rule 1  A network carries CORRELATE over the readings of one stream, by range, key and place. Whatever else the language can
        ask (texts, WHERE, other operators, answers of other queries) is refused: a node could not decide it.
Rule 2  What travels are the readings that belong to complex events (EMIT READINGS); LATEST and ALL are made of the same
        readings, at the user, and are planned so, with a note.
Rule 3  Open ends become the next double, so that all intervals are closed: `x < 5` is `x <= 4.999999999999999`.
Rule 4  A clause bound to a sensor looks at it wherever it is; region and SENSORS are for the other clauses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from headwater.kernels.clauses import Clause
from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType, Filter, Operator, QueriesRefused, StreamSchema
from headwater.model.network_operators import UNGROUPED
from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.check import check
from headwater.query.checking.complaints import Complaints
from headwater.query.language.parse import parse
from headwater.query.operators.union import CorrelateOperator, SelectOperator


@dataclass(frozen=True, slots=True)
class NetworkQueries:
    """The operators by the name of their query, the one stream they are over, and queries with other answers."""

    stream: StreamSchema
    operators: Mapping[str, Operator]
    taken_as_readings: tuple[str, ...] = ()

    @property
    def needs_places(self) -> frozenset[str]:
        """The attributes of which some query asks where they were measured."""
        return frozenset(
            clause.attribute
            for operator in self.operators.values()
            for clause in operator.filters
            if operator.within_m is not None or clause.region is not None
        )


def read_operators(text: str, file: str = "query") -> NetworkQueries:
    """The operators of a file of queries; raises QueriesRefused with every error there is."""
    script, syntax = parse(text)
    catalogue = check(script, text, file, syntax=syntax)
    complaints = Complaints()
    for query in catalogue.queries.values():
        _refuse_uncarried(query, catalogue, complaints)
    _refuse_second_stream(catalogue, complaints)
    if complaints.errors:
        raise QueriesRefused(complaints.in_order(), text, file)
    queries = list(catalogue.queries.values())
    stream = catalogue.streams[queries[0].reads].schema
    operators = {
        query.name: operator_of(query.name, query.operator, stream)
        for query in queries
        if isinstance(query.operator, CorrelateOperator)
    }
    other = tuple(
        q.name
        for q in queries
        if isinstance(q.operator, CorrelateOperator) and q.operator.emit is not Emit.READINGS
    )
    return NetworkQueries(stream, operators, other)


def operator_of(name: str, correlate: CorrelateOperator, stream: StreamSchema) -> Operator:
    """A CORRELATE as an operator on behalf of the subscription `name`."""
    together = Counter(clause.group for clause in correlate.clauses)
    filters = []
    for clause in correlate.clauses:
        group = clause.group if together[clause.group] > 1 else UNGROUPED
        if correlate.distinct_sensors and len(correlate.clauses) > 1:
            group = 0
        filters.append(_filter(clause, correlate, group))
    return Operator(
        name,
        tuple(filters),
        correlate.within_us,
        correlate.within_m,
        geographic=stream.place is not None and stream.place.geographic,
    )


def _filter(clause: Clause, correlate: CorrelateOperator, group: int) -> Filter:
    assert clause.interval is not None, "texts are refused before"
    interval = clause.interval
    low, high = float(interval.low), float(interval.high)
    bound = None if clause.sensor is None else (str(clause.sensor),)
    listed = None if correlate.sensors is None else tuple(str(key) for key in correlate.sensors)
    return Filter(
        clause.attribute,
        float(np.nextafter(low, np.inf)) if interval.low_open else low,
        float(np.nextafter(high, -np.inf)) if interval.high_open else high,
        region=correlate.region if bound is None else None,
        keys=bound or listed,
        group=group,
    )


# --- what a network cannot carry ---------------------------------------------------------------------------------------


def _refuse_uncarried(query: CheckedQuery, catalogue: Catalogue, complaints: Complaints) -> None:
    select = query.tree.select
    if not isinstance(query.operator, CorrelateOperator):
        what = (
            "a plain SELECT joins no readings"
            if isinstance(query.operator, SelectOperator)
            else f"{query.operator.keyword} processes rows in sequence"
        )
        complaints.refuse(
            "not-for-a-network",
            f"the network cannot carry '{query.name}': {what}, but nodes exchange the readings of CORRELATE",
            (select.operator.span if select.operator else None) or query.tree.span,
            "request the readings with a CORRELATE here, and run this query where they arrive",
        )
    if query.reads not in catalogue.streams:
        complaints.refuse(
            "not-for-a-network",
            f"the network cannot carry '{query.name}': it reads the answers of '{query.reads}', but sensors send readings",
            select.source_span or query.tree.span,
            "let it read the stream, or run it where the answers arrive",
        )
        return
    if query.where is not None:
        complaints.refuse(
            "not-for-a-network",
            f"the network cannot carry '{query.name}': a sensor measures one attribute, but WHERE tests whole rows",
            query.where.span or query.tree.span,
            "write ranges as clauses of the CORRELATE, sensors as SENSORS (…), regions as INSIDE …",
        )
    _refuse_texts(query, complaints)
    stream = catalogue.streams[query.reads]
    if stream.schema.key is None:
        complaints.refuse(
            "needs-key",
            f"a network distinguishes sensors, but '{query.reads}' has no KEY",
            stream.tree.span,
            "mark the column that names the sensor, as in station STRING KEY",
        )


def _refuse_texts(query: CheckedQuery, complaints: Complaints) -> None:
    for clause in query.operator.clauses if isinstance(query.operator, CorrelateOperator) else ():
        if clause.interval is None:
            complaints.refuse(
                "not-for-a-network",
                f"the network cannot carry '{query.name}': '{clause.attribute}' is {ColumnType.STRING.value}, "
                "but nodes compare ranges of numbers",
                query.tree.select.operator.span if query.tree.select.operator else query.tree.span,
                "remove the clause, or record a number for each text",
            )


def _refuse_second_stream(catalogue: Catalogue, complaints: Complaints) -> None:
    """Sensors are distinguished by key and attribute, which two streams may share."""
    queries = [query for query in catalogue.queries.values() if query.reads in catalogue.streams]
    for query in queries:
        if query.reads != queries[0].reads:
            complaints.refuse(
                "not-for-a-network",
                f"'{query.name}' reads '{query.reads}' and '{queries[0].name}' reads '{queries[0].reads}': "
                "one plan is about the sensors of one stream",
                query.tree.select.source_span or query.tree.span,
                "declare one stream with the columns of both, or plan them one at a time",
            )
