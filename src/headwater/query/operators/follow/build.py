"""FOLLOW built in Python: the same tree that a text gives.

    near = follow("near", ["slow", "lane changes"], "cars", radius="500 METERS", last="30 MINUTES", moved="100 METERS")
    jam = match("jam", "near", …)

What is downstream of a FOLLOW is a query that reads it. What is true of the builders in `headwater.query.build` is true here: pieces
that cannot be read raise QueriesRefused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater.kernels.follow.choices import Update
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
    source_name,
    whole,
)
from headwater.query.language.parse import parse_expression
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import CreateQuery, Quantity
from headwater.query.operators.follow.tree import Follow

Length = str | Number | Quantity


def follow(  # noqa: PLR0913 one keyword for each clause
    name: str,
    source: Source | Sequence[Source],
    focals: Source,
    *,
    radius: Length | None = None,
    box: tuple[Length, Length] | None = None,
    shape: str | None = None,
    focals_where: str | None = None,
    last: Duration | None = None,
    always: bool = False,
    every: Duration | None = None,
    moved: Length | None = None,
    quality: tuple[Number, Number] | None = None,
    over: Duration | None = None,
    forget: Duration | None = None,
    deliver: str | None = None,
    best_effort: int | None = None,
    interests: bool = False,
    columns: str = "*",
    where: str | None = None,
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source, … [WHERE where] FOLLOW (focals [WHERE focals_where] …)`.

    A source, and the focals, are the name of a stream or query, or the stream or query itself. One of `radius`, `box` (width and
    height) and `shape` (a column of the focals) says what is near; lengths are metres or such as "5 KM". At most one of `always`,
    `every`, `moved` and `quality` says when an interest moves; `over` belongs to `quality`. `deliver` is "ONCE" or "EACH".
    `interests` True emits interests in place of events.

    ```python
    around = hw.follow("around", weather, cars, radius="60 METERS", last="1 MINUTE", columns="focal, station, temperature, historical")
    print(hw.run([weather, cars, around], {"weather": readings, "cars": positions})["around"])
    ```

    ```output
    answers["around"]: 2 rows
    event_time            focal  station  temperature  historical
    ────────────────────  ─────  ───────  ───────────  ──────────
    2026-01-31T06:00:00Z  red    meadow           1.5  true
    2026-01-31T06:00:05Z  red    river            0.5  true
    ```
    """
    if sum(value is not None for value in (radius, box, shape)) != 1:
        raise refused(
            "follow takes exactly one of radius, box and shape", "give the region, as in radius='500 METERS'"
        )
    if box is not None and (isinstance(box, str) or len(box) != 2):
        raise refused("box takes a width and a height", "give both, as in box=(400, 300)")
    operator = Follow(
        source_name(focals),
        None if focals_where is None else read(parse_expression, focals_where, "focals_where"),
        None if radius is None else length(radius),
        None if box is None else (length(box[0]), length(box[1])),
        shape,
        None if last is None else duration(last),
        _update(always=always, every=every, moved=moved, quality=quality),
        None if every is None else duration(every),
        None if moved is None else length(moved),
        None if quality is None else _quality(quality),
        _over(quality, over),
        None if forget is None else duration(forget),
        _delivered(deliver),
        whole(best_effort, "best_effort"),
        interests,
    )
    named = [source] if isinstance(source, Source) or not isinstance(source, Sequence) else list(source)
    if not named:
        raise refused("follow needs a source", "give the name of a stream of events")
    first, *further = map(source_name, named)
    query = query_of(name, first, columns, where, operator)
    return replace(query, select=replace(query.select, further_sources=tuple(further)))


def _update(
    *, always: bool, every: Duration | None, moved: Length | None, quality: object | None
) -> Update | None:
    value = {
        Update.ALWAYS: always,
        Update.EVERY: every is not None,
        Update.MOVED: moved is not None,
        Update.QUALITY: quality is not None,
    }
    said = [update for update, chosen in value.items() if chosen]
    if len(said) > 1:
        first, second = (update.name.lower() for update in said[:2])
        raise refused(f"{first} and {second} contradict each other", "remove one of the two")
    return said[0] if said else None


def _quality(shares: tuple[Number, Number]) -> tuple[Number, Number]:
    if isinstance(shares, int | float | str) or len(shares) != 2:
        raise refused("quality takes a precision and a recall", "give both, as in quality=(0.8, 0.8)")
    return plain_number(shares[0]), plain_number(shares[1])


def _over(quality: object | None, over: Duration | None) -> Quantity | None:
    if over is not None and quality is None:
        raise refused("over can only be used with quality", "leave it out")
    return None if over is None else duration(over)


def _delivered(word: str | None) -> bool | None:
    if word is None:
        return None
    names = ["ONCE", "EACH"]
    if word.upper() not in names:
        raise refused(f"'{word}' is not a way to deliver", *suggest(word, names, "words"))
    return word.upper() == "EACH"
