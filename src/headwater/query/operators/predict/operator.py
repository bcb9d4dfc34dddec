"""PREDICT with every choice made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

from headwater.kernels.predict.choices import Certainty, GiveUp
from headwater.kernels.predict.question import Difference, Distance, Value
from headwater.model import ColumnType, Kernel, StreamSchema
from headwater.query.checking.answer_columns import Columns, SelectList
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.updates import HEARTBEAT, TOLERANCE, update_columns
from headwater.query.language.tree import Binary, Expression, Item, Name
from headwater.query.language.tree import Literal as Constant
from headwater.query.language.walk import columns_of
from headwater.query.operators.closing_lines import ClosingLines, RunCounts
from headwater.query.operators.contract import (
    AnswerColumns,
    BadRows,
    Beside,
    Demand,
    Explained,
    KernelPlace,
    Operator,
    Unbounded,
    Words,
)
from headwater.query.operators.predict.tree import Predict

if TYPE_CHECKING:
    from headwater.query.planning.query_plan import QueryPlan


MOST_ALIASES: Final = 8
"""Aliases of one PREDICT."""

MOST_PIECES: Final = 64
"""Choices of pieces in one PREDICT: a difference of at least 5 is one above 5, or one below −5."""

MOST_STORED: Final = 1_000_000_000
"""Updates in the buffer of one PREDICT."""

_POLYGON: Final = ("polygon", ColumnType.STRING)
"""What a SELECT list may name besides."""

_NO_UPDATES: Final = (
    BadRows(Binary("<", Name(TOLERANCE), Constant(0)), TOLERANCE, "bad-tolerance", "is below 0"),
    BadRows(Binary("<=", Name(HEARTBEAT), Constant(0)), HEARTBEAT, "bad-heartbeat", "is not above 0"),
)
"""Rows that are not updates."""


@dataclass(frozen=True, slots=True)
class PredictOperator(Operator):
    """A PREDICT operator with every choice made.

    A condition on single updates has one alias, whose name is empty. `sources` says for every alias which of several sources
    it takes its updates from, from 0 on; None: there is only one. `dimensions` are the columns of every source that are looked
    at, in the order in which `conditions` count them; there is one entry for each source. `within_us` is 0 without pairs.
    `polygon`: the SELECT list names it. `reads` are all columns of answers that it names; None: not known yet.
    """

    kind: ClassVar[str] = "predict"
    keyword: ClassVar[str] = Predict.keyword

    aliases: tuple[str, ...]
    sources: tuple[int | None, ...]
    dimensions: tuple[tuple[str, ...], ...]
    conditions: tuple[Value | Difference | Distance, ...]
    within_us: int
    certainty: Certainty
    p: float
    tentative: bool
    ahead_us: int | None
    every_us: int | None
    buffer: int | None
    give_up: GiveUp
    seed: int
    polygon: bool
    reads: frozenset[str] | None = None

    @property
    def pairs(self) -> bool:
        """Whether updates are joined."""
        return len(self.aliases) > 1

    def dimensions_of(self, alias: int) -> tuple[str, ...]:
        """The dimensions of an alias's source."""
        return self.dimensions[self.sources[alias] or 0]

    @property
    def bad_rows(self) -> Sequence[BadRows]:
        """Nothing is less than 0 away from its line, and no line holds for 0 seconds or less. A NULL says nothing, and is only counted."""
        return _NO_UPDATES

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """The columns of an update, for every place at which the source is read."""
        read = [self.dimensions[place] for place, name in enumerate(sources) if name == source.name]
        yield Demand(where, frozenset(column for dimensions in read for column in update_columns(dimensions)))

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """Key and time of every alias, then when it holds, and how surely. A SELECT list may name the polygon besides."""
        key = [source.types[source.key]] if source.key else []
        answers: list[tuple[str, ColumnType]] = []
        for alias in self.aliases:
            answers += [(f"{alias}_key" if self.pairs else "key", kind) for kind in key]
            answers.append((f"{alias}_time" if self.pairs else "update_time", ColumnType.TIMESTAMP))
        answers += [
            ("begins", ColumnType.TIMESTAMP),
            ("ends", ColumnType.TIMESTAMP),
            ("probability", ColumnType.DOUBLE),
            ("withdrawn", ColumnType.BOOLEAN),
        ]
        return AnswerColumns(tuple(answers), tuple(answers), (_POLYGON,))

    def key_names(self, source: StreamSchema, beside: Beside) -> tuple[str | None, ...]:
        """Its own, or what the stream calls it; pairs have none."""
        return (source.key,) if self.pairs else ("key", source.key)

    def check_select_list(self, items: Sequence[Item], complaints: Complaints) -> None:
        """A SELECT list names the polygon of an answer only where there is one."""
        why = self.why_no_polygon
        for item in items:
            named = [name for name in columns_of(item.expression) if name.name == _POLYGON[0]]
            if named and why:
                complaints.refuse(
                    "no-polygon",
                    f"the answers have no polygon: {why}",
                    named[0].span or item.span,
                    "leave it out; begins and ends give the time when the answer is true",
                )

    @property
    def why_no_polygon(self) -> str | None:
        """Why an answer has no polygon; None: it has one."""
        if len(self.aliases) != 2:
            count = (
                f"an answer about {len(self.aliases)} updates"
                if self.pairs
                else "a condition on single updates"
            )
            return f"{count} has none"
        if any(isinstance(condition, Distance) for condition in self.conditions):
            return "the border of a DISTANCE is curved"
        differences = sum(isinstance(condition, Difference) for condition in self.conditions)
        if self.certainty is Certainty.PROBABILITY and differences > 1:
            return "the border of a PROBABILITY in several dimensions is curved"
        return None

    def having_selected(self, answers: Columns, selected: SelectList) -> Self:
        """Polygons and probabilities are computed only if they have a reader."""
        named = {column.name for _, expression, _ in selected for column in columns_of(expression)}
        return replace(self, polygon=_POLYGON in answers, reads=frozenset(named))

    @property
    def is_by_sensor(self) -> bool:
        """Whether it answers for each sensor separately."""
        return not self.pairs and self.buffer is None

    def spread_by(self, source: StreamSchema) -> tuple[str, ...]:
        """By sensor, unless sensors are compared."""
        return (source.key,) if source.key and self.is_by_sensor else ()

    @property
    def has_partitions(self) -> bool:
        """A sensor is one."""
        return True

    @property
    def is_shared(self) -> bool:
        """Pairs are: each zone answers those that meet in its tiles."""
        return self.pairs

    def looks_back_us(self, heartbeat_us: int | None) -> int | Unbounded:
        """WITHIN, and how long an update lives."""
        if self.tentative:
            return Unbounded(
                "a TENTATIVE answer may be withdrawn later",
                "TENTATIVE",
                "leave it out: answers are then emitted when they are final",
            )
        if self.buffer is not None:
            return Unbounded(
                "the contents of a full BUFFER depend on all earlier updates", "BUFFER", "leave BUFFER out"
            )
        if heartbeat_us is None:
            return Unbounded(
                "it reads no SUPPRESS, so it is not known how long an update holds",
                "",
                "read a SUPPRESS with its column heartbeat: SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 30 SECONDS) PREDICT (…)",
            )
        return self.within_us + heartbeat_us

    @property
    def most_updates(self) -> int | None:
        """BUFFER."""
        return self.buffer

    @property
    def beside_shared(self) -> Literal["always", "before", "never"]:
        """BUFFER counts all updates."""
        return "never" if self.pairs and self.buffer is not None else "before"

    def words(self, explained: Explained) -> Words:
        """See `words`."""
        from headwater.query.operators.predict.words import words

        return words(self, explained)

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """See `closing_lines`."""
        from headwater.query.operators.predict.closing_lines import closing_lines

        return closing_lines(run)

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.predict.plan import make_kernel

        return make_kernel(queries, place)
