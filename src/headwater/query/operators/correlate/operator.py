"""CORRELATE with every choice made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from headwater.kernels.clauses import Clause
from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType, Kernel, Region, Rows, StreamSchema
from headwater.query.language.tree import Expression
from headwater.query.operators.closing_lines import ClosingLines, RunCounts
from headwater.query.operators.contract import (
    AnswerColumns,
    Beside,
    Demand,
    Entry,
    Explained,
    KernelPlace,
    Operator,
    Readings,
    Words,
    ZoneMask,
)
from headwater.query.operators.correlate.tree import Correlate

if TYPE_CHECKING:
    from headwater.query.planning.query_plan import QueryPlan


MOST_READINGS: Final = 64
"""Readings in one complex event, `n OF` written out."""

MOST_READINGS_WITH_DISTANCE: Final = 6
"""The same when every two of them must be near one another: deciding that exactly is dear."""

LIMIT_PER_ROW: Final = 1000
"""Answers of `EMIT ALL` that one row can bring when the query sets no LIMIT."""


@dataclass(frozen=True, slots=True)
class CorrelateOperator(Operator):
    """A CORRELATE operator with every choice made; `sensors`, if set, are the only keys whose readings count."""

    kind: ClassVar[str] = "correlate"
    keyword: ClassVar[str] = Correlate.keyword

    clauses: tuple[Clause, ...]
    within_us: int
    within_m: float | None
    region: Region | None
    sensors: tuple[str | int, ...] | None
    distinct_sensors: bool
    emit: Emit
    limit: int | None

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """Attributes and places of readings that fit a clause."""
        attributes = frozenset(clause.attribute for clause in self.clauses)
        place = (source.place.x, source.place.y) if source.place else ()
        boxes = tuple(self.region.bounds()) if self.region else None
        yield Demand(where, attributes.union(place), Readings(self.clauses, boxes, self.sensors))

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """Of READINGS the reading; otherwise three or five columns for each clause, places not meant by `*`."""
        types = source.types
        key_type = types[source.key] if source.key else ColumnType.STRING
        place = [(name, types[name]) for name in (source.place.x, source.place.y)] if source.place else []
        if self.emit is Emit.READINGS:
            readings = (
                ("attribute", ColumnType.STRING),
                ("key", key_type),
                ("reading_time", ColumnType.TIMESTAMP),
                ("value", ColumnType.DOUBLE),
                *place,
            )
            return AnswerColumns(readings, readings)
        answers: list[tuple[str, ColumnType]] = []
        starred: list[tuple[str, ColumnType]] = []
        for clause in self.clauses:
            name = clause.name
            reading = [
                (name, types[clause.attribute]),
                (f"{name}_key", key_type),
                (f"{name}_time", ColumnType.TIMESTAMP),
            ]
            starred += reading
            answers += reading
            answers += [(f"{name}_{axis}", kind) for axis, kind in place]
        return AnswerColumns(tuple(answers), tuple(starred))

    @property
    def columns_depend_on(self) -> object | None:
        """The clauses."""
        return self.emit, tuple((clause.name, clause.attribute) for clause in self.clauses)

    def key_names(self, source: StreamSchema, beside: Beside) -> tuple[str | None, ...]:
        """That of a reading."""
        return (source.key, "key") if self.emit is Emit.READINGS else (source.key,)

    @property
    def zone_key(self) -> str | None:
        """Queries of one region, or of the same sensors, need the same rows."""
        if self.region:
            return f"region {self.region!r}"
        return f"sensors {sorted(self.sensors, key=str)!r}" if self.sensors else None

    def looks_back_us(self, heartbeat_us: int | None) -> int:
        """WITHIN."""
        return self.within_us

    def finds_the_same_later(self, source: StreamSchema) -> bool:
        """READINGS are emitted once, when they first belong to an event."""
        return self.emit is not Emit.READINGS

    def words(self, explained: Explained) -> Words:
        """See `words`."""
        from headwater.query.operators.correlate.words import words

        return words(self, explained)

    @staticmethod
    def shared_words(queries: Sequence[QueryPlan]) -> Sequence[Entry]:
        """See `words`."""
        from headwater.query.operators.correlate.words import shared_words

        return shared_words(queries)

    @staticmethod
    def state_of_many(queries: Sequence[QueryPlan], source: StreamSchema) -> list[str]:
        """See `words`."""
        from headwater.query.operators.correlate.words import state_of_many

        return state_of_many(queries, source)

    @property
    def area(self) -> Region | None:
        """That of INSIDE."""
        return self.region

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """See `closing_lines`."""
        from headwater.query.operators.correlate.closing_lines import closing_lines

        return closing_lines(run)

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.correlate.plan import make_kernel

        return make_kernel(queries, place)

    @staticmethod
    def make_routing(
        queries: Sequence[QueryPlan], source: StreamSchema, homes: Sequence[int], zones: int
    ) -> Callable[[Rows], ZoneMask]:
        """See `plan`."""
        from headwater.query.operators.correlate.plan import make_routing

        return make_routing(queries, source, homes, zones)
