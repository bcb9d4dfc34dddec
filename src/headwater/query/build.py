"""Streams and queries built in Python: the same trees that a text gives.

    weather = stream("weather", {"station": "STRING", "at": "TIMESTAMP", "temperature": "DOUBLE"}, time="at", key="station")
    frost = correlate("frost", "weather", "temperature BETWEEN -5 AND 0", at_least("humidity", 80),
                      within="30 SECONDS", distance="500 METERS", inside=circle(7.17, 45.87, "5 KM"))
    warm = select("warm", "weather", "station, temperature * 1.8 + 32 AS fahrenheit", where="temperature > 20")

Whatever the language can say may be given as text, piece by piece: clauses, conditions, columns, durations, areas. Names and
values given as Python strings and numbers are taken as they are and never read as text of the language. A source is the name of a
stream or query, or the stream or query itself. A piece that cannot be read raises QueriesRefused, which shows the piece and the place
in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType
from headwater.query.language.build_pieces import (
    Duration,
    Number,
    Source,
    column_type,
    duration,
    length,
    plain_number,
    query_of,
    read,
    refused,
)
from headwater.query.language.parse import parse_area, parse_clause
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import (
    Area,
    Between,
    Binary,
    BoxArea,
    CircleArea,
    Clause,
    ColumnDefinition,
    Correlate,
    CreateQuery,
    CreateStream,
    Literal,
    Name,
    PlaceDefinition,
    PolygonArea,
    Quantity,
    Script,
    SensorsArea,
    Statement,
    Unit,
)

Length = str | Number | Quantity
Key = str | int


# --- statements -------------------------------------------------------------------------------------------------------


def stream(  # noqa: PLR0913 one keyword for each clause
    name: str,
    columns: Mapping[str, str | ColumnType],
    *,
    time: str,
    key: str | None = None,
    place: tuple[str, str] | None = None,
    geographic: bool = False,
    late: Duration | None = None,
    drop_late: bool = False,
    idle: Duration | None = None,
    deduplicate: bool = False,
) -> CreateStream:
    """`CREATE STREAM`: the columns with their types, and which of them are the time, the key and the place."""
    for role, column in (("time", time), ("key", key)):
        if column is not None and column not in columns:
            raise refused(
                f"there is no column named '{column}' for {role}", *suggest(column, columns, "columns")
            )
    if drop_late and late is None:
        late = Quantity(0, Unit.SECONDS)
    return CreateStream(
        name,
        tuple(
            ColumnDefinition(column, column_type(kind), column == key, column == time)
            for column, kind in columns.items()
        ),
        PlaceDefinition(place[0], place[1], geographic) if place else None,
        None if late is None else duration(late),
        drop_late,
        None if idle is None else duration(idle),
        deduplicate,
    )


def select(name: str, source: Source, columns: str = "*", *, where: str | None = None) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where]`."""
    return query_of(name, source, columns, where, None)


def correlate(  # noqa: PLR0913 one keyword for each clause
    name: str,
    source: Source,
    *clauses: str | Clause,
    within: Duration,
    distance: Length | None = None,
    inside: str | Area | None = None,
    distinct_sensors: bool = False,
    emit: str | Emit | None = None,
    limit: int | None = None,
    columns: str = "*",
    where: str | None = None,
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where] CORRELATE (…)`."""
    if not clauses:
        raise refused("correlate needs a clause, as in 'temperature <= 0'")
    operator = Correlate(
        tuple(
            read(parse_clause, clause, "clause") if isinstance(clause, str) else clause for clause in clauses
        ),
        duration(within),
        None if distance is None else length(distance),
        read(parse_area, inside, "inside") if isinstance(inside, str) else inside,
        distinct_sensors,
        _emit(emit) if isinstance(emit, str) else emit,
        limit,
    )
    return query_of(name, source, columns, where, operator)


def script(*statements: Statement) -> Script:
    """Streams and queries that belong together."""
    return Script(statements)


# --- clauses: one range on one attribute; `sensor` binds it, `count` is n OF, `name` is AS -----------------------------


def between(
    attribute: str,
    low: Number,
    high: Number,
    *,
    sensor: Key | None = None,
    count: int | None = None,
    name: str | None = None,
) -> Clause:
    """`attribute BETWEEN low AND high`, both ends included."""
    return Clause(Between(Name(attribute), _literal(low), _literal(high)), sensor, count, name)


def at_least(
    attribute: str,
    value: Number,
    *,
    sensor: Key | None = None,
    count: int | None = None,
    name: str | None = None,
) -> Clause:
    """`attribute >= value`."""
    return Clause(Binary(">=", Name(attribute), _literal(value)), sensor, count, name)


def at_most(
    attribute: str,
    value: Number,
    *,
    sensor: Key | None = None,
    count: int | None = None,
    name: str | None = None,
) -> Clause:
    """`attribute <= value`."""
    return Clause(Binary("<=", Name(attribute), _literal(value)), sensor, count, name)


def above(
    attribute: str,
    value: Number,
    *,
    sensor: Key | None = None,
    count: int | None = None,
    name: str | None = None,
) -> Clause:
    """`attribute > value`."""
    return Clause(Binary(">", Name(attribute), _literal(value)), sensor, count, name)


def below(
    attribute: str,
    value: Number,
    *,
    sensor: Key | None = None,
    count: int | None = None,
    name: str | None = None,
) -> Clause:
    """`attribute < value`."""
    return Clause(Binary("<", Name(attribute), _literal(value)), sensor, count, name)


def equal(
    attribute: str,
    value: Number | str,
    *,
    sensor: Key | None = None,
    count: int | None = None,
    name: str | None = None,
) -> Clause:
    """`attribute = value`."""
    return Clause(Binary("=", Name(attribute), _literal(value)), sensor, count, name)


# --- areas ------------------------------------------------------------------------------------------------------------


def circle(x: Number, y: Number, radius: Length) -> CircleArea:
    """`CIRCLE (x, y, radius)`; a number is metres."""
    return CircleArea(plain_number(x), plain_number(y), length(radius))


def box(west: Number, south: Number, east: Number, north: Number) -> BoxArea:
    """`BOX (west, south, east, north)`."""
    return BoxArea(plain_number(west), plain_number(south), plain_number(east), plain_number(north))


def polygon(*corners: tuple[Number, Number]) -> PolygonArea:
    """`POLYGON ((x, y), …)`."""
    return PolygonArea(tuple((plain_number(x), plain_number(y)) for x, y in corners))


def sensors(*keys: Key) -> SensorsArea:
    """`SENSORS (keys)`."""
    return SensorsArea(keys)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _literal(value: Number | str) -> Literal:
    return Literal(value if isinstance(value, str) else plain_number(value))


def _emit(word: str) -> Emit:
    names = [emit.value for emit in Emit]
    if word.upper() not in names:
        raise refused(f"'{word}' cannot be emitted", *suggest(word, names, "words"))
    return Emit(word.upper())
