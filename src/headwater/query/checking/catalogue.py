"""Streams, points and queries whose names, types and meaning have been checked: the input of the planner.

Every choice of the language is made here: `n OF` is written out, defaults are filled in, regions are shapes, every column
has a type. The bounds of an operator are in its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.model import FencesSchema, PointsSchema, StreamSchema
from headwater.query.checking.answer_columns import Columns, SelectList
from headwater.query.language.tree import CreateFences, CreatePoints, CreateQuery, CreateStream, Expression
from headwater.query.operators.union import AnyOperator


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query that can be answered.

    `answers` are the columns its kernel gives after the reserved ones, `selected` the SELECT list over them: name,
    expression and type. `schema` is what a query that reads this one sees. `downstream_of` is the FOLLOW query that it is downstream of,
    once for each interest; for a FOLLOW that is itself. Its answers then end with the stamps.
    """

    tree: CreateQuery
    operator: AnyOperator
    answers: Columns
    selected: SelectList
    schema: StreamSchema
    downstream_of: str | None = None

    @property
    def name(self) -> str:
        """The name it was created under."""
        return self.tree.name

    @property
    def reads(self) -> str:
        """The stream or query it reads; of several, the first."""
        return self.tree.select.source

    @property
    def further_reads(self) -> tuple[str, ...]:
        """The streams and queries it reads besides; last what its operator names, unless it is read already."""
        further = self.tree.select.further_sources
        beside = self.operator.reads_beside
        return further if beside is None or beside in (self.reads, *further) else (*further, beside)

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
class CheckedPoints:
    """Points as they were written and as they are used."""

    tree: CreatePoints
    schema: PointsSchema


@dataclass(frozen=True, slots=True)
class CheckedFences:
    """Fences as they were written and as they are used."""

    tree: CreateFences
    schema: FencesSchema


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything a text creates, by name; queries come after what they read."""

    streams: Mapping[str, CheckedStream]
    queries: Mapping[str, CheckedQuery]
    points: Mapping[str, CheckedPoints]
    fences: Mapping[str, CheckedFences]
