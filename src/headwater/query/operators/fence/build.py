"""Fences and FENCE built in Python: the same trees that a text gives.

    zones = fences("zones", {"name": "STRING", "speed": "BIGINT"}, key="name")
    visits = fence("visits", "cars", zones, fences_where="speed <= 30", detect=("ENTER", "EXIT", "CROSS"), forget="10 MINUTES")
    close = fence("close", "cars", "cars", radius="50 METERS")

What is true of the builders in `headwater.query.build` is true here: pieces that cannot be read raise QueriesRefused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headwater.kernels.fence.choices import Detect
from headwater.model import ColumnType
from headwater.query.language.build_pieces import (
    Duration,
    Number,
    Source,
    column_type,
    duration,
    length,
    query_of,
    read,
    refused,
    source_name,
)
from headwater.query.language.parse import parse_expression
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import ColumnDefinition, CreateFences, CreateQuery, Quantity
from headwater.query.operators.fence.tree import Fence

Length = str | Number | Quantity


def fences(name: str, columns: Mapping[str, str | ColumnType], *, key: str) -> CreateFences:
    """`CREATE FENCES`: the columns with their types, and which of them names each fence.

    ```python
    zones = hw.fences("zones", {"name": "STRING", "limit": "BIGINT"}, key="name")
    slow = hw.fence("slow", cars, zones, fences_where="limit <= 30", columns="object, fence, change, x")
    areas = pd.DataFrame({"name": ["school"], "limit": [30], "geometry": ["POLYGON ((150 0, 350 0, 350 200, 150 200, 150 0))"]})
    print(hw.run([cars, zones, slow], {"cars": positions, "zones": areas})["slow"])
    ```

    ```output
    answers["slow"]: 4 rows
    event_time                   object  fence   change      x
    ───────────────────────────  ──────  ──────  ──────  ─────
    2026-01-31T06:00:20Z         red     school  enter   200.0
    2026-01-31T06:00:30Z         blue    school  enter   350.0
    2026-01-31T06:00:40Z         red     school  exit    400.0
    2026-01-31T07:00:50.000001Z  blue    school  exit    250.0
    ```
    """
    if key not in columns:
        raise refused(f"there is no column named '{key}' for key", *suggest(key, columns, "columns"))
    return CreateFences(
        name,
        tuple(ColumnDefinition(column, column_type(kind), column == key) for column, kind in columns.items()),
    )


def fence(  # noqa: PLR0913 one keyword for each clause
    name: str,
    source: Source,
    fences: Source | CreateFences,
    *,
    fences_where: str | None = None,
    radius: Length | None = None,
    box: tuple[Length, Length] | None = None,
    shape: str | None = None,
    detect: str | Detect | Sequence[str | Detect] | None = None,
    forget: Duration | None = None,
    columns: str = "*",
    where: str | None = None,
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where] FENCE (fences [WHERE fences_where] …)`.

    The source is the name of a stream or query, or itself; the fences are too, or a declared set. At most one of `radius`, `box` (width and
    height) and `shape` (a column of the fences) says how large fences are that move; lengths are metres or such as "5 KM". `detect` is one
    or several of ENTER, EXIT, INSIDE, OUTSIDE and CROSS.

    ```python
    meetings = hw.fence("meetings", cars, cars, radius="200 METERS", detect="ENTER")
    print(hw.run([cars, meetings], {"cars": positions})["meetings"])
    ```

    ```output
    answers["meetings"]: 1 row
    event_time            change  object  fence      x      y
    ────────────────────  ──────  ──────  ─────  ─────  ─────
    2026-01-31T06:00:20Z  enter   blue    red    400.0  100.0
    ```
    """
    said = [word for word, value in (("radius", radius), ("box", box), ("shape", shape)) if value is not None]
    if len(said) > 1:
        raise refused(f"{said[0]} and {said[1]} contradict each other", "remove one of the two")
    if box is not None and (isinstance(box, str) or len(box) != 2):
        raise refused("box takes a width and a height", "give both, as in box=(400, 300)")
    operator = Fence(
        fences.name if isinstance(fences, CreateFences) else source_name(fences),
        None if fences_where is None else read(parse_expression, fences_where, "fences_where"),
        None if radius is None else length(radius),
        None if box is None else (length(box[0]), length(box[1])),
        shape,
        None if detect is None else _detected(detect),
        None if forget is None else duration(forget),
    )
    return query_of(name, source, columns, where, operator)


def _detected(value: str | Detect | Sequence[str | Detect]) -> tuple[Detect, ...]:
    """The changes to report, each once."""
    listed = [value] if isinstance(value, str | Detect) else list(value)
    if not listed:
        raise refused("detect is empty", "leave it out for ENTER and EXIT")
    found: list[Detect] = []
    for word in listed:
        name = word.name if isinstance(word, Detect) else word.upper()
        if name not in Detect.__members__:
            raise refused(f"'{word}' cannot be detected", *suggest(name, Detect.__members__, "words"))
        if Detect[name] in found:
            raise refused(f"detect lists {name} twice", "list it once")
        found.append(Detect[name])
    return tuple(found)
