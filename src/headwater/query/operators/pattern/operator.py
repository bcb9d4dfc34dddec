"""MATCH_RECOGNIZE with every choice made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from headwater.kernels.pattern.choices import Mode, RowsPerMatch, SkipTo
from headwater.model import ColumnType, Kernel, QueryError, StreamSchema
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
    Unbounded,
    Words,
)
from headwater.query.operators.pattern.tree import MatchRecognize, Pattern

if TYPE_CHECKING:
    from headwater.query.planning.query_plan import QueryPlan


if TYPE_CHECKING:
    # Terms know expressions, and expressions know the bounds of the language.
    from headwater.query.operators.pattern.terms import Lowered

MOST_ELEMENTS: Final = 1000
"""Elements of a pattern, quantifiers written out."""

MOST_PERMUTED: Final = 6
"""Parts of one PERMUTE: there are 720 orders of six."""

MOST_WRITTEN_OUT: Final = 10_000
"""Elements of a pattern when the orders of PERMUTE are written out as well."""

HELD_EVENTS: Final = 64
"""Events in the window of a sensor node where HOLD does not say how many."""


@dataclass(frozen=True, slots=True)
class PatternOperator(Operator):
    """A MATCH_RECOGNIZE operator with every choice made.

    `variables` are all that PATTERN names, in the order of their first appearance; `define` has those with a condition.
    `untils` belong to the loops with UNTIL, outermost first, left to right. `order` are the columns that decide between rows
    of one time. `skip_to` are variables, a subset written out.
    """

    kind: ClassVar[str] = "pattern"
    keyword: ClassVar[str] = MatchRecognize.keyword

    pattern: Pattern
    variables: tuple[str, ...]
    define: tuple[tuple[str, Lowered], ...]
    untils: tuple[Lowered, ...]
    subsets: tuple[tuple[str, tuple[str, ...]], ...]
    measures: tuple[tuple[str, Lowered], ...]
    partition: tuple[str, ...]
    order: tuple[str, ...]
    rows: RowsPerMatch
    every: bool
    mode: Mode | None
    hold: int
    seed: int | None
    skip: SkipTo
    skip_to: tuple[str, ...]
    within_us: int | None
    between_us: int | None
    timeouts: bool
    limit: int | None
    forget_us: int | None = None

    def useful_rows(self, where: Expression | None) -> Expression | None:
        """Rows that it does not pass over unseen."""
        from headwater.query.operators.pattern.ignorable_rows import needed_rows

        return needed_rows(self, where)

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """Those columns that make a difference to a match, of rows that it does not pass over unseen."""
        from headwater.query.operators.pattern.lowering import needed_columns

        yield Demand(self.useful_rows(where), frozenset(needed_columns(self, source)))

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """Of ONE ROW PER MATCH the partition, otherwise the row; then the measures."""
        if self.rows is RowsPerMatch.ONE:
            types = source.types
            first = [(name, types[name]) for name in self.partition]
        else:
            first = [(name, kind) for name, kind in source.columns if name != "event_time"]
        measures = [(name, measure.kind.column) for name, measure in self.measures]
        marks = [("timed_out", ColumnType.BOOLEAN)] if self.timeouts else []
        answers = (*first, *measures, *marks)
        return AnswerColumns(answers, answers)

    def spread_by(self, source: StreamSchema) -> tuple[str, ...]:
        """By partition."""
        return self.partition

    @property
    def has_partitions(self) -> bool:
        """With PARTITION BY."""
        return bool(self.partition)

    def looks_back_us(self, heartbeat_us: int | None) -> int | Unbounded:
        """WITHIN."""
        if self.within_us is None:
            return Unbounded(
                "the pattern does not limit how long a match may last",
                "WITHIN",
                "write PATTERN (…) WITHIN 1 MINUTE",
            )
        return self.within_us

    @property
    def separates_by(self) -> tuple[str, ...] | None:
        """By partition."""
        return tuple(sorted(self.partition))

    @property
    def answers_from_first_row(self) -> bool:
        """A match begins with its first row."""
        return True

    @property
    def waits_for_later_rows(self) -> bool:
        """A loop continues, or the input ends."""
        return True

    def finds_the_same_later(self, source: StreamSchema) -> bool:
        """If matches neither exclude nor number one another, and read no row around them."""
        from headwater.query.operators.pattern.lowering import make_query

        return make_query("", "", 0, None, self, source).is_anywhere_the_same

    def refuse_endless(self, name: str) -> QueryError | None:
        """If its state has no bound."""
        from headwater.query.operators.pattern.check import unbounded

        if not unbounded(self):
            return None
        return QueryError(
            "unbounded-pattern",
            f"nothing bounds what '{name}' must store while rows arrive without end",
            span=self.pattern.span,
            advice=[
                "limit how long a match may last: PATTERN (…) WITHIN 1 HOUR; or LIMIT 1000 PARTIAL MATCHES"
            ],
        )

    def drawing(self, explained: Explained) -> str | None:
        """Its automaton."""
        from headwater.query.operators.pattern.words import drawing

        return drawing(self, explained)

    def words(self, explained: Explained) -> Words:
        """See `words`."""
        from headwater.query.operators.pattern.words import words

        return words(self, explained)

    @staticmethod
    def shared_words(queries: Sequence[QueryPlan]) -> Sequence[Entry]:
        """See `words`."""
        from headwater.query.operators.pattern.words import shared_words

        return shared_words(queries)

    @property
    def answers_by_interest(self) -> bool:
        """It can, unless LIMIT counts partial matches of all."""
        return self.limit is None

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """See `closing_lines`."""
        from headwater.query.operators.pattern.closing_lines import closing_lines

        return closing_lines(run)

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.pattern.plan import make_kernel

        return make_kernel(queries, place)
