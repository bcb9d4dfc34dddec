"""Whose query is what to which sensors? A network file and a file of queries, held against one another.

Errors of both files are reported together. A query that asks for something no sensor measures is no error: it is dropped by its
node, its user gets an error, and the others are planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from headwater.apps.plan.json_places import Value
from headwater.apps.plan.network_file import NetworkFile, read_network
from headwater.apps.plan.operators import NetworkQueries, read_operators
from headwater.apps.plan.refusals import PlanRefused, Refusals
from headwater.model import (
    ColumnType,
    Filter,
    HeadwaterError,
    Network,
    NodeId,
    Operator,
    Source,
    StreamSchema,
)
from headwater.query.language.suggestions import nearest, suggest

LONGEST_TOGETHER: Final = 255
"""Bytes of `user/query`, by which nodes know a subscription."""

_WORLD = (180.0, 90.0)


@dataclass(frozen=True, slots=True)
class UserSubscription:
    """A query of one user, at the user's node. Its operator is known to the network as `user/query`."""

    user: str
    query: str
    node: NodeId
    operator: Operator

    @property
    def name(self) -> str:
        """What the network calls it."""
        return self.operator.subscription


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be planned."""

    network: Network
    stream: StreamSchema
    subscriptions: tuple[UserSubscription, ...]
    taken_as_readings: tuple[str, ...]

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sensors, node by node."""
        return tuple(source for node in self.network.nodes for source in self.network.sources.get(node, ()))

    def unanswerable(self) -> Iterator[tuple[UserSubscription, str]]:
        """The subscriptions that no sensors can ever answer, with the reason in words for their user."""
        for subscription in self.subscriptions:
            for clause in subscription.operator.filters:
                if not any(clause.takes(source) for source in self.sources):
                    yield subscription, _nobody(clause, self.sources)
                    break


def read_question(text: str, queries: str, network: str) -> Question:
    """The files `queries` (a text) and `network`; raises an error with everything that is wrong."""
    errors: list[HeadwaterError] = []
    carried: NetworkQueries | None = None
    file: NetworkFile | None = None
    try:
        carried = read_operators(text, queries)
    except HeadwaterError as refused:
        errors.append(refused)
    try:
        file = read_network(network)
    except HeadwaterError as refused:
        errors.append(refused)
    if file and carried:
        _queries_are_known(file, carried)
        _sensors_fit(file, carried)
    errors += file.refusals.errors if file else ()
    if errors:
        raise errors[0] if len(errors) == 1 else PlanRefused(errors)
    assert file is not None and carried is not None
    subscriptions = tuple(
        UserSubscription(
            user.name, query, user.node, _named(carried.operators[query], f"{user.name}/{query}")
        )
        for user in file.users
        for query in user.queries
    )
    return Question(file.network(), carried.stream, subscriptions, carried.taken_as_readings)


def _named(operator: Operator, name: str) -> Operator:
    return replace(operator, subscription=name)


def _queries_are_known(file: NetworkFile, carried: NetworkQueries) -> None:
    refuse = file.refusals.refuse
    named = set()
    for user in file.users:
        for query, at in user.queries.items():
            named.add(query)
            together = f"{user.name}/{query}"
            file.refusals.short(
                together, at, "the name of the user and of the query together", LONGEST_TOGETHER
            )
            if query not in carried.operators:
                advice = suggest(query, carried.operators, "queries")
                refuse("unknown-query", f"there is no query named '{query}'", at, *advice)
    if file.refusals.errors:
        return  # whose it was to be may stand in what could not be read
    assert isinstance(file.root.content, dict)
    for query in carried.operators:
        if query not in named:
            refuse(
                "query-of-nobody",
                f"no user has the query '{query}'",
                file.root.content["users"],
                f'add "{query}" to the queries of a user',
            )


def _sensors_fit(file: NetworkFile, carried: NetworkQueries) -> None:
    """Sensors measure numeric columns of the stream, and have a place where one is needed."""
    refusals, stream = file.refusals, carried.stream
    refused: set[str] = set()
    placed = carried.needs_places
    geographic = stream.place is not None and stream.place.geographic
    for sensor in file.sensors:
        for attribute, at in sensor.attributes.items():
            if attribute not in refused and (why := _not_measured(attribute, stream)):
                refused.add(attribute)
                _refuse_attribute(attribute, why, at, stream, refusals)
        if sensor.place is None and placed & sensor.attributes.keys():
            refusals.refuse(
                "sensor-without-place",
                f"a query uses places, but the sensor '{sensor.key}' has no place",
                sensor.at,
                'add "place": [x, y]; longitude and latitude where the stream is GEOGRAPHIC',
            )
        if geographic and any(abs(v) > most for v, most in zip(sensor.place or (), _WORLD, strict=False)):
            refusals.refuse(
                "wrong-field",
                f"the sensor '{sensor.key}' is at {sensor.place}, but '{stream.name}' has places on the globe",
                sensor.at,
                "write [longitude, latitude], up to 180 and 90 degrees",
            )


def _not_measured(attribute: str, stream: StreamSchema) -> str | None:
    kind = stream.types.get(attribute)
    if kind is None:
        return f"the stream '{stream.name}' has no column '{attribute}'"
    if attribute in (stream.key, stream.time):
        return f"'{attribute}' identifies the row, and is not measured"
    return f"'{attribute}' is {kind.value}, but nodes compare numbers" if kind is ColumnType.STRING else None


def _refuse_attribute(attribute: str, why: str, at: Value, stream: StreamSchema, refusals: Refusals) -> None:
    if attribute in stream.types:
        refusals.refuse("wrong-field", f"no sensor measures it: {why}", at, "remove it from the attributes")
        return
    columns = [name for name, _ in stream.columns if _not_measured(name, stream) is None]
    advice = suggest(attribute, columns, "columns")
    refusals.refuse("unknown-column", f"a sensor measures '{attribute}', but {why}", at, *advice)


def _nobody(clause: Filter, sources: tuple[Source, ...]) -> str:
    """Why no sensor answers a clause."""
    alike = [source for source in sources if source.attribute == clause.attribute]
    if not alike:
        meant = nearest(clause.attribute, sorted({source.attribute for source in sources}))
        return f"no sensor measures '{clause.attribute}'" + (f"; one measures '{meant}'" if meant else "")
    if clause.keys is not None and not any(source.key in clause.keys for source in alike):
        keys = " or ".join(f"'{key}'" for key in clause.keys[:4])
        return f"no sensor {keys} measures '{clause.attribute}'"
    return f"no sensor inside its region measures '{clause.attribute}'"
