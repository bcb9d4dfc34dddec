"""Pieces that all builders take: text read as the language reads it, types, numbers, durations, and the query around an operator."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

import numpy as np

from headwater.model import SECOND, ColumnType, QueriesRefused, QueryError
from headwater.query.language.parse import parse_expression, parse_items, parse_quantity
from headwater.query.language.statement_rules import TYPES
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import CreateQuery, CreateStream, Operator, Quantity, Select, Unit

Number = float | int
Duration = str | timedelta | Quantity
Source = str | CreateQuery | CreateStream

_Read = TypeVar("_Read")


def query_of(
    name: str, source: Source, columns: str, where: str | None, operator: Operator | None
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where] [operator]`."""
    items = read(parse_items, columns, "columns", "columns='*', or columns='key, begins'")
    condition = None if where is None else read(parse_expression, where, "where", "where='x > 1'")
    return CreateQuery(text_of(name, "name"), Select(items, source_name(source), condition, operator))


def source_name(value: Source) -> str:
    """The name of a source, from a name or a statement."""
    named = value.name if isinstance(value, CreateQuery | CreateStream) else value
    return text_of(named, "source", "'cars', or give the stream or query itself")


def read(parse: Callable[[str], _Read], text: str, what: str, example: str = "") -> _Read:
    """A piece of text as a tree; raises QueriesRefused, which shows the piece and the place in it."""
    text_of(text, what, example)
    try:
        return parse(text)
    except QueryError as error:
        raise QueriesRefused([error], text, what) from None


def text_of(value: str, what: str, example: str = "") -> str:
    """A piece of text, such as a name; `example` is how to give it."""
    if not isinstance(value, str):
        raise refused(f"{what} takes a text, not {value!r}", *([f"as in {example}"] if example else []))
    return value


def duration(value: Duration) -> Quantity:
    """A time, from text or from Python's own."""
    if isinstance(value, timedelta):
        micros = value // timedelta(microseconds=1)
        return Quantity(micros // SECOND if micros % SECOND == 0 else micros / SECOND, Unit.SECONDS)
    if isinstance(value, str):
        return read(parse_quantity, value, "duration")
    if not isinstance(value, Quantity):
        raise refused(f"{value!r} is not a duration", "write it like '6 SECONDS', or give a timedelta")
    return value


def length(value: str | Number | Quantity) -> Quantity:
    """A length, from text; a number is metres."""
    if isinstance(value, Quantity):
        return value
    if isinstance(value, str):
        return read(parse_quantity, value, "length")
    return Quantity(plain_number(value), Unit.METERS)


def column_type(kind: str | ColumnType) -> ColumnType:
    """A type, by its name."""
    if isinstance(kind, ColumnType):
        return kind
    if kind.upper() not in TYPES:
        raise refused(f"there is no type named '{kind}'", *suggest(kind, TYPES, "types"))
    return TYPES[kind.upper()]


def plain_number(value: Number, *advice: str) -> Number:
    """A number that the language can say; numpy's own are made plain."""
    plain: object = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise refused(f"{plain!r} is not a number", *advice)
    if not math.isfinite(plain) or (isinstance(plain, int) and not -(2**63) <= plain < 2**63):
        raise refused(f"{plain} is not a number of the language")
    return plain


def whole(value: int | None, what: str) -> int | None:
    """A whole number, if there is one; numpy's own become plain."""
    plain: object = value.item() if isinstance(value, np.generic) else value
    if plain is not None and (not isinstance(plain, int) or isinstance(plain, bool)):
        raise refused(f"{what} takes an integer, not {value!r}")
    return plain


def refused(message: str, *advice: str) -> QueriesRefused:
    """The error for what Python says and the language does not."""
    return QueriesRefused([QueryError("syntax", message, span=None, advice=advice)], "", "a builder")
