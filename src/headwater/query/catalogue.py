"""Streams and queries whose names, types and meaning have been checked: what the planner starts from.

Every choice of the language is made here: `n OF` is written out, defaults are filled in, regions are shapes, every column
has a type. Bounds with a name stand here too, because the checker refuses what goes beyond them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from headwater.kernels.correlate.subscription import Clause, Emit
from headwater.model import ColumnType, Region, StreamSchema
from headwater.query.tree import CreateQuery, CreateStream, Expression

RESERVED: Final = ("query", "event_time", "match_id")
"""Columns that every answer begins with."""

MOST_READINGS: Final = 64
"""Readings in one complex event, `n OF` written out."""

MOST_READINGS_WITH_DISTANCE: Final = 6
"""The same when every two of them must be near one another: deciding that exactly is dear."""

LIMIT_PER_ROW: Final = 1000
"""Answers of `EMIT ALL` that one row can bring when the query sets no LIMIT."""

LONGEST_US: Final = 36_500 * 86_400_000_000
"""A hundred years: the longest duration, so that adding one to an instant never overflows."""

Columns = tuple[tuple[str, ColumnType], ...]
SelectList = tuple[tuple[str, Expression, ColumnType], ...]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A CORRELATE operator with every choice made; `sensors` are the only keys whose readings count, when given."""

    clauses: tuple[Clause, ...]
    within_us: int
    within_m: float | None
    region: Region | None
    sensors: tuple[str | int, ...] | None
    distinct_sensors: bool
    emit: Emit
    limit: int | None


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query that can be answered.

    `answers` are the columns its kernel gives after the reserved ones, `selected` the SELECT list over them: name,
    expression and type. `schema` is what a query that reads this one sees.
    """

    tree: CreateQuery
    correlation: Correlation | None
    answers: Columns
    selected: SelectList
    schema: StreamSchema

    @property
    def name(self) -> str:
        """The name it was created under."""
        return self.tree.name

    @property
    def reads(self) -> str:
        """The stream or query it reads."""
        return self.tree.select.source

    @property
    def where(self) -> Expression | None:
        """The condition on rows, before the operator."""
        return self.tree.select.where


@dataclass(frozen=True, slots=True)
class CheckedStream:
    """A stream as it was written and as it is used."""

    tree: CreateStream
    schema: StreamSchema


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything a text creates, by name; queries come after what they read."""

    streams: Mapping[str, CheckedStream]
    queries: Mapping[str, CheckedQuery]
