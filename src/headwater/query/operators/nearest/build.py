"""Points and NEAREST built in Python: the same trees that a text gives.

    profiles = points("profiles", {"id": "STRING", "solar": "DOUBLE", "volts": "DOUBLE"}, key="id")
    alike = nearest("alike", "panels", 10, to=each_of("profiles"), by=("solar", "volts"), over="1 HOUR")
    here = nearest("here", "cars", 3, to=(7.1, 45.8), by="PLACE", over_rows=40_000, emit="CHANGES")
    worst = nearest("worst", "stations", 5, to=highest("pollution"), over="1 DAY", every="1 HOUR")

An attribute that is to have another name in the answers is a pair: `by=("solar", ("volts", "voltage"))`. What is true of the
builders in `headwater.query.build` is true here: pieces that cannot be read raise QueriesRefused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.kernels.nearest.choices import Emission
from headwater.model import ColumnType
from headwater.query.language.build_pieces import (
    Duration,
    Number,
    Source,
    column_type,
    duration,
    plain_number,
    query_of,
    read,
    refused,
    whole,
)
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import ColumnDefinition, CreatePoints, CreateQuery, Quantity
from headwater.query.operators.nearest.parse import parse_using
from headwater.query.operators.nearest.tree import (
    EachTarget,
    NearAttribute,
    Nearest,
    PointTarget,
    Target,
    Using,
    ValueTarget,
)

Attributes = str | Sequence[str | tuple[str, str]]


def points(name: str, columns: Mapping[str, str | ColumnType], *, key: str) -> CreatePoints:
    """`CREATE POINTS`: the columns with their types, and which of them names each point.

    ```python
    profiles = hw.points("profiles", {"name": "STRING", "temperature": "DOUBLE"}, key="name")
    print(hw.explain([weather, profiles, hw.nearest("alike", weather, 1, to=hw.each_of(profiles), by="temperature", over="1 HOUR")]))
    ```

    ```output
    …
    points profiles
      columns  name (key), temperature
      used by  alike
    …
    ```
    """
    if key not in columns:
        raise refused(f"there is no column named '{key}' for key", *suggest(key, columns, "columns"))
    return CreatePoints(
        name,
        tuple(ColumnDefinition(column, column_type(kind), column == key) for column, kind in columns.items()),
    )


def nearest(  # noqa: PLR0913 one keyword for each clause
    name: str,
    source: Source,
    k: int,
    *,
    to: Sequence[Number] | EachTarget | ValueTarget,
    by: Attributes | None = None,
    over: Duration | None = None,
    over_rows: int | None = None,
    weighted: Sequence[Number] | None = None,
    per: str | None = None,
    with_ties: bool = False,
    using: str | None = None,
    emit: str | Emission | None = None,
    every: Duration | None = None,
    forget: Duration | None = None,
    columns: str = "*",
    where: str | None = None,
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where] NEAREST (k TO to [BY by] OVER over …)`.

    `to` is a point, `each_of(points)`, `highest(column)` or `lowest(column)`. `by` are columns, or "PLACE"; a single column
    of that name must be in a tuple. The window is `over` a time or `over_rows`. `using` is "EXACT", "PROBABLE 0.001" or either
    with an ALGORITHM; `emit` is "ENTERS" or "CHANGES", and `every` a time emits the whole set at every tick. With
    `per` and `over_rows`, `forget` says after how long without an object a value is forgotten.

    ```python
    near = hw.nearest("near", weather, 2, to=(140, 110), by="PLACE", over="1 HOUR", columns="station, distance")
    print(hw.run([weather, near], {"weather": readings})["near"])
    ```

    ```output
    answers["near"]: 5 rows
    event_time            station     distance
    ────────────────────  ───────  ───────────
    2026-01-31T06:00:00Z  meadow   41.23105626
    2026-01-31T06:00:05Z  river    14.14213562
    2026-01-31T06:00:20Z  meadow   41.23105626
    2026-01-31T06:00:40Z  meadow   41.23105626
    2026-01-31T07:00:20Z  summit   6225.086345
    ```
    """
    if (over is None) == (over_rows is None):
        raise refused(
            "nearest needs over or over_rows, one of the two", "give over='1 HOUR' or over_rows=1000"
        )
    target = _target(to)
    candidates = Using() if using is None else read(parse_using, f"USING {using}", "using")
    emission, ticks = _emission_and_ticks(emit, every)
    operator = Nearest(
        _counted(k, "k"),
        target,
        _attributes(by, target),
        None if over is None else duration(over),
        whole(over_rows, "over_rows"),
        None if weighted is None else tuple(map(plain_number, weighted)),
        per,
        with_ties,
        candidates.exact,
        candidates.sigma,
        candidates.algorithm,
        emission,
        ticks,
        None if forget is None else duration(forget),
    )
    return query_of(name, source, columns, where, operator)


def each_of(points: str | CreatePoints) -> EachTarget:
    """`TO EACH OF points`: every point of a declared set, by its name or as `points` made it.

    ```python
    profiles = hw.points("profiles", {"name": "STRING", "temperature": "DOUBLE", "humidity": "DOUBLE"}, key="name")
    alike = hw.nearest("alike", weather, 1, to=hw.each_of(profiles), by=("temperature", "humidity"), over="1 HOUR",
                       columns="point, station, distance")
    known = pd.DataFrame([("damp frost", -2.0, 90.0)], columns=["name", "temperature", "humidity"])
    print(hw.run([weather, profiles, alike], {"weather": readings, "profiles": known})["alike"])
    ```

    ```output
    answers["alike"]: 4 rows
    event_time            point       station     distance
    ────────────────────  ──────────  ───────  ───────────
    2026-01-31T06:00:00Z  damp frost  meadow   30.20347662
    2026-01-31T06:00:05Z  damp frost  river    5.590169944
    2026-01-31T06:00:25Z  damp frost  summit           2.0
    2026-01-31T07:00:25Z  damp frost  meadow          15.0
    ```
    """
    return EachTarget(points.name if isinstance(points, CreatePoints) else points)


def highest(attribute: str, *, name: str | None = None) -> ValueTarget:
    """`TO HIGHEST attribute [AS name]`.

    ```python
    damp = hw.nearest("damp", weather, 1, to=hw.highest("humidity"), over="1 HOUR", columns="station, humidity")
    print(hw.run([weather, damp], {"weather": readings})["damp"])
    ```

    ```output
    answers["damp"]: 4 rows
    event_time            station  humidity
    ────────────────────  ───────  ────────
    2026-01-31T06:00:00Z  meadow       60.0
    2026-01-31T06:00:05Z  river        85.0
    2026-01-31T06:00:25Z  summit       90.0
    2026-01-31T07:00:25Z  meadow       75.0
    ```
    """
    return ValueTarget(attribute, True, name)


def lowest(attribute: str, *, name: str | None = None) -> ValueTarget:
    """`TO LOWEST attribute [AS name]`.

    ```python
    coldest = hw.nearest("coldest", weather, 1, to=hw.lowest("temperature"), over="1 HOUR", columns="station, temperature")
    print(hw.run([weather, coldest], {"weather": readings})["coldest"])
    ```

    ```output
    answers["coldest"]: 5 rows
    event_time            station  temperature
    ────────────────────  ───────  ───────────
    2026-01-31T06:00:00Z  meadow           1.5
    2026-01-31T06:00:05Z  river            0.5
    2026-01-31T06:00:20Z  meadow          -1.5
    2026-01-31T06:00:25Z  summit          -4.0
    2026-01-31T07:00:25Z  meadow          -2.0
    ```
    """
    return ValueTarget(attribute, False, name)


def _target(to: Sequence[Number] | EachTarget | ValueTarget | str) -> Target:
    if isinstance(to, EachTarget | ValueTarget):
        return to
    if isinstance(to, str):
        raise refused(
            f"'{to}' is not a point",
            f"write to=each_of('{to}') for declared points, to=highest('{to}') for the greatest values, or to=(0.31, 0.22)",
        )
    if len(to) == 0:
        raise refused(
            "a point needs at least one number", "give one for each attribute, as in to=(0.31, 0.22)"
        )
    return PointTarget(tuple(map(plain_number, to)))


def _attributes(by: Attributes | None, target: Target) -> tuple[NearAttribute, ...] | None:
    if isinstance(target, ValueTarget):
        if by is not None:
            raise refused(
                "highest and lowest already name their column, so by is not allowed", "leave by out"
            )
        return None
    if by is None:
        raise refused("nearest needs by", "name the columns: by=('solar', 'volts'), or by='PLACE'")
    if isinstance(by, str):
        return None if by.upper() == "PLACE" else (NearAttribute(by),)
    if len(by) == 0:
        raise refused("by is empty", "name the columns: by=('solar', 'volts'), or by='PLACE'")
    return tuple(NearAttribute(said) if isinstance(said, str) else NearAttribute(*said) for said in by)


def _emission_and_ticks(
    emit: str | Emission | None, every: Duration | None
) -> tuple[Emission | None, Quantity | None]:
    emission = _emission(emit) if isinstance(emit, str) else emit
    if every is None:
        if emission is Emission.EVERY:
            raise refused("emit EVERY needs a time", "give every='10 SECONDS'")
        return emission, None
    if emission not in (None, Emission.EVERY):
        raise refused(
            f"every emits the whole set at every tick, not {emission.value}", "remove one of the two"
        )
    return Emission.EVERY, duration(every)


def _emission(word: str) -> Emission:
    names = [emission.value for emission in Emission]
    if word.upper() not in names:
        raise refused(f"'{word}' cannot be emitted", *suggest(word, names, "words"))
    return Emission(word.upper())


def _counted(value: int, what: str) -> int:
    made = whole(value, what)
    if made is None:
        raise refused(f"{what} takes an integer, not None")
    return made
