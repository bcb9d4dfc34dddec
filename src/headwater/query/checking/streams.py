"""Is a CREATE STREAM one that rows can be read into?

A stream needs exactly one TIME column, at most one KEY (STRING or BIGINT) and, if it has a PLACE, two number columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.model import ColumnType, PlaceColumns, Span, StreamSchema
from headwater.query.checking.answer_columns import RESERVED
from headwater.query.checking.catalogue import CheckedStream
from headwater.query.checking.complaints import Complaints
from headwater.query.language.limits import LONGEST_US
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import ColumnDefinition, CreateStream, Quantity

KEY_TYPES = (ColumnType.STRING, ColumnType.BIGINT)


def check_stream(tree: CreateStream, complaints: Complaints) -> CheckedStream | None:
    """The stream as far as it can be used; None when it has no time to go by."""
    columns = _columns(tree, complaints)
    time = _time(tree, complaints)
    key = _key(tree, complaints)
    place = _place(tree, columns, complaints)
    late_us = duration_us(tree.late, "LATE", complaints) if tree.late else 0
    idle_us = duration_us(tree.idle, "IDLE", complaints) if tree.idle else None
    if tree.late and late_us is not None and late_us < 0:
        complaints.refuse(
            "negative-duration", "LATE is negative", tree.late.span, "use LATE 0 SECONDS to wait for no row"
        )
    if tree.idle and idle_us is not None and idle_us <= 0:
        complaints.refuse(
            "negative-duration",
            "IDLE is not longer than zero",
            tree.idle.span,
            "give the time after which a silent input stops holding the others back, as in IDLE 1 MINUTES",
        )
    if time is None:
        return None
    schema = StreamSchema(
        tree.name,
        tuple(columns.items()),
        time,
        key,
        place,
        late_us or 0,
        tree.drop_late,
        idle_us,
        tree.deduplicate,
    )
    return CheckedStream(tree, schema)


def duration_us(quantity: Quantity, what: str, complaints: Complaints) -> int | None:
    """A quantity as microseconds; None, and a complaint, if it is not a duration."""
    if not quantity.unit.is_time:
        complaints.refuse(
            "not-a-duration",
            f"{what} needs a duration, not a length in {quantity.unit.name}",
            quantity.span,
            "write it in SECONDS, MINUTES, HOURS or DAYS",
        )
        return None
    if abs(quantity.micros) > LONGEST_US:
        complaints.refuse(
            "too-long", f"{what} is longer than a hundred years", quantity.span, "the longest is 36500 DAYS"
        )
        return None
    return quantity.micros


def forget_us(
    duration: Quantity | None,
    span: Span | None,
    complaints: Complaints,
    *,
    advice: str = "write it like FORGET 10 MINUTES",
) -> int | None:
    """After how long a silent key is forgotten; None: never, or a complaint. A duration that is not above zero is refused."""
    if duration is None or (found := duration_us(duration, "FORGET", complaints)) is None:
        return None
    if found < 1:
        complaints.refuse("negative-duration", "FORGET is not longer than zero", span, advice)
    return found


def length_m(quantity: Quantity, what: str, complaints: Complaints) -> float | None:
    """A quantity as metres; None, and a complaint, if it is not a length."""
    if quantity.unit.is_time:
        complaints.refuse(
            "not-a-length",
            f"{what} needs a length, not a duration in {quantity.unit.name}",
            quantity.span,
            "write it in METERS or KM",
        )
        return None
    return quantity.meters


def _columns(tree: CreateStream, complaints: Complaints) -> dict[str, ColumnType]:
    columns: dict[str, ColumnType] = {}
    for column in tree.columns:
        if column.name in columns:
            complaints.refuse(
                "duplicate-name",
                f"stream '{tree.name}' has two columns named '{column.name}'",
                column.span,
                "rename one of them",
            )
        elif column.name in RESERVED and not (column.name == "event_time" and column.time):
            complaints.refuse(
                "reserved-column",
                f"a column cannot be named '{column.name}'",
                column.span,
                f"every answer has its own {', '.join(RESERVED)}; only the TIME column may be named event_time",
            )
        columns.setdefault(column.name, column.type)
    return columns


def _time(tree: CreateStream, complaints: Complaints) -> str | None:
    marked = [column for column in tree.columns if column.time]
    if not marked:
        candidates = [column.name for column in tree.columns if column.type is ColumnType.TIMESTAMP]
        example = (
            f"write {candidates[0]} TIMESTAMP TIME"
            if candidates
            else "add a column such as at TIMESTAMP TIME"
        )
        complaints.refuse("no-time-column", f"stream '{tree.name}' has no TIME column", tree.span, example)
        return None
    if len(marked) > 1:
        complaints.refuse(
            "two-time-columns",
            f"stream '{tree.name}' has {len(marked)} TIME columns",
            marked[1].span,
            f"keep the mark on '{marked[0].name}' or on one other, not on both",
        )
    if marked[0].type is not ColumnType.TIMESTAMP:
        complaints.refuse(
            "type-mismatch",
            f"the TIME column '{marked[0].name}' is {marked[0].type.value}",
            marked[0].span,
            f"write {marked[0].name} TIMESTAMP TIME",
        )
        return None
    return marked[0].name


def _key(tree: CreateStream, complaints: Complaints) -> str | None:
    marked = [column for column in tree.columns if column.key]
    return check_key(marked, f"stream '{tree.name}' has", "a sensor", complaints) if marked else None


def check_key(marked: Sequence[ColumnDefinition], whose: str, named: str, complaints: Complaints) -> str:
    """The KEY among the columns marked so, of which there is at least one; of what, and what it names, is for people."""
    if len(marked) > 1:
        complaints.refuse(
            "two-key-columns",
            f"{whose} {len(marked)} KEY columns",
            marked[1].span,
            f"keep the mark on '{marked[0].name}' or on one other, not on both",
        )
    if marked[0].type not in KEY_TYPES:
        complaints.refuse(
            "key-type",
            f"the KEY column '{marked[0].name}' is {marked[0].type.value}",
            marked[0].span,
            f"a key names {named}: make it STRING or BIGINT",
        )
    return marked[0].name


def _place(tree: CreateStream, columns: dict[str, ColumnType], complaints: Complaints) -> PlaceColumns | None:
    place = tree.place
    if place is None:
        return None
    whole = True
    for name in (place.x, place.y):
        whole &= _place_column(name, columns, place.span, complaints)
    if place.x == place.y:
        complaints.refuse(
            "duplicate-name",
            f"PLACE names '{place.x}' twice",
            place.span,
            "name one column for each of x and y",
        )
        whole = False
    return PlaceColumns(place.x, place.y, place.geographic) if whole else None


def _place_column(
    name: str, columns: dict[str, ColumnType], span: Span | None, complaints: Complaints
) -> bool:
    kind = columns.get(name)
    if kind is None:
        complaints.refuse(
            "unknown-column",
            f"PLACE names '{name}', which is not a column",
            span,
            *suggest(name, columns, "columns"),
        )
        return False
    if not kind.numeric:
        complaints.refuse(
            "place-not-numeric",
            f"PLACE needs numbers, but '{name}' is {kind.value}",
            span,
            "declare it DOUBLE",
        )
        return False
    return True
