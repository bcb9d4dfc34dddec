"""CORRELATE, its clauses and areas built in Python: the same trees that a text gives.

    frost = correlate("frost", "weather", "temperature BETWEEN -5 AND 0", at_least("humidity", 80),
                      within="30 SECONDS", distance="500 METERS", inside=circle(7.17, 45.87, "5 KM"))

What is true of the builders in `headwater.query.build` is true here: pieces that cannot be read raise QueriesRefused.
"""

from __future__ import annotations

from headwater.kernels.correlate.subscription import Emit
from headwater.query.language.build_pieces import (
    Duration,
    Number,
    Source,
    duration,
    length,
    plain_number,
    query_of,
    read,
    refused,
)
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import Between, Binary, CreateQuery, Literal, Name, Quantity
from headwater.query.operators.correlate.parse import parse_area, parse_clause
from headwater.query.operators.correlate.tree import (
    Area,
    BoxArea,
    CircleArea,
    Clause,
    Correlate,
    PolygonArea,
    SensorsArea,
)

Length = str | Number | Quantity
Key = str | int


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
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where] CORRELATE (…)`.

    ```python
    frost = hw.correlate("frost", weather, "temperature <= 0", "humidity >= 80", within="30 SECONDS", distance="500 METERS",
                         columns="temperature, humidity, humidity_key")
    print(hw.run([weather, frost], {"weather": readings})["frost"])
    ```

    ```output
    answers["frost"]: 2 rows
    event_time            temperature  humidity  humidity_key
    ────────────────────  ───────────  ────────  ────────────
    2026-01-31T06:00:20Z         -1.5      85.0  river
    2026-01-31T06:00:25Z         -4.0      90.0  summit
    ```
    """
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
