"""Streams, queries without an operator, and scripts built in Python: the same trees that a text gives. Those of an operator are in its folder.

    weather = stream("weather", {"station": "STRING", "at": "TIMESTAMP", "temperature": "DOUBLE"}, time="at", key="station")
    warm = select("warm", "weather", "station, temperature * 1.8 + 32 AS fahrenheit", where="temperature > 20")
    warm = view(warm)  # for other queries to read: its answers are not emitted

Every part of the language may be written as text, piece by piece: clauses, conditions, columns, durations, areas. Names and
values that are Python strings and numbers are used unchanged and never read as text of the language. A source is the name of a
stream or query, or the stream or query itself. A piece that cannot be read raises QueriesRefused, which shows the piece and the place
in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headwater.model import ColumnType
from headwater.query.language.build_pieces import (
    Duration,
    Source,
    column_type,
    duration,
    query_of,
    refused,
)
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import (
    ColumnDefinition,
    CreateQuery,
    CreateStream,
    PlaceDefinition,
    Quantity,
    Script,
    Statement,
    Unit,
)


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
    """`CREATE STREAM`: the columns with their types, and which of them are the time, the key and the place.

    ```python
    thermometers = hw.stream("thermometers", {"name": "STRING", "at": "TIMESTAMP", "degrees": "DOUBLE"},
                             time="at", key="name", late="10 SECONDS")
    print(hw.explain([thermometers, hw.select("hot", thermometers, where="degrees > 30")]))
    ```

    ```output
    …
    stream thermometers
      columns       name (key), at (time), degrees
      lateness      rows more than 10 seconds before the latest time seen are late…
    …
    ```
    """
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
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where]`.

    ```python
    cold = hw.select("cold", weather, "station, ROUND(temperature * 1.8 + 32, 1) AS fahrenheit", where="temperature < 0")
    print(hw.run([weather, cold], {"weather": readings})["cold"])
    ```

    ```output
    answers["cold"]: 3 rows
    event_time            station  fahrenheit
    ────────────────────  ───────  ──────────
    2026-01-31T06:00:20Z  meadow         29.3
    2026-01-31T06:00:25Z  summit         24.8
    2026-01-31T06:00:40Z  meadow         28.4
    ```
    """
    return query_of(name, source, columns, where, None)


def view(query: CreateQuery) -> CreateQuery:
    """`CREATE VIEW`: the same query, whose answers only other queries read.

    ```python
    cold = hw.view(hw.select("cold", weather, "station, temperature", where="temperature < 0"))
    coldest = hw.nearest("coldest", cold, 1, to=hw.lowest("temperature"), over="1 HOUR")
    print(list(hw.run([weather, cold, coldest], {"weather": readings})))
    ```

    ```output
    ['coldest']
    ```
    """
    if not isinstance(query, CreateQuery):
        raise refused(f"view takes a query, not {query!r}", "as in view(select('warm', 'weather'))")
    return replace(query, view=True)


def script(*statements: Statement) -> Script:
    """Streams and queries that belong together."""
    return Script(statements)
