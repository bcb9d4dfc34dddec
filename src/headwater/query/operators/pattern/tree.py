"""MATCH_RECOGNIZE: row patterns and event patterns.

The words for contiguity, preference, rows and skipping are those of the kernel (`kernels.pattern.choices`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.pattern.choices import Contiguity, Mode, RowsPerMatch, SkipTo
from headwater.model import Span, StreamSchema
from headwater.query.language.tree.expressions import Expression, Quantity, nowhere
from headwater.query.language.tree.nodes import Level
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.checking.complaints import Complaints
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.language.syntax_advice import SyntaxAdvice
    from headwater.query.operators.pattern.operator import PatternOperator


# --- the contents of PATTERN ( … ) ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable(Level):
    """A pattern variable: one row that satisfies its DEFINE (none: any row)."""

    name: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Never(Level):
    """`NOT B`: no such row here."""

    name: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Sequence(Level):
    """Parts one after the other; `links[i]` is between part i and part i + 1."""

    parts: tuple[Pattern, ...]
    links: tuple[Contiguity, ...]
    span: Span | None = nowhere()

    def inside(self) -> tuple[Pattern, ...]:
        """See `Holder`."""
        return self.parts


@dataclass(frozen=True, slots=True)
class Choice(Level):
    """`a | b | …`, the first preferred."""

    choices: tuple[Pattern, ...]
    span: Span | None = nowhere()

    def inside(self) -> tuple[Pattern, ...]:
        """See `Holder`."""
        return self.choices


@dataclass(frozen=True, slots=True)
class Permutation(Level):
    """`PERMUTE (a, b, …)`: all of them in any order, orders that come first in the list preferred."""

    parts: tuple[Pattern, ...]
    span: Span | None = nowhere()

    def inside(self) -> tuple[Pattern, ...]:
        """See `Holder`."""
        return self.parts


@dataclass(frozen=True, slots=True)
class Exclusion(Level):
    """`{- a -}`: matched, but not among the rows of ALL ROWS PER MATCH."""

    pattern: Pattern
    span: Span | None = nowhere()

    def inside(self) -> tuple[Pattern, ...]:
        """See `Holder`."""
        return (self.pattern,)


@dataclass(frozen=True, slots=True)
class Edge(Level):
    """`^`, the beginning of the partition, or `$`, its end."""

    end: bool
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Empty(Level):
    """`()`: no row."""

    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Loop(Level):
    """`a* a+ a? a{n} a{n,} a{n,m} a{,m}`; `most` None is without end.

    `contiguity` is between repetitions (`a~+` relaxed, `a~~+` any); `reluctant` is a `?` after it, `blocking` a `!` (the
    greedy loop of MATCH EVERY); `until` ends it.
    """

    pattern: Pattern
    least: int
    most: int | None
    reluctant: bool = False
    blocking: bool = False
    contiguity: Contiguity = Contiguity.STRICT
    until: Expression | None = None
    span: Span | None = nowhere()

    def inside(self) -> tuple[Expression | Pattern, ...]:
        """See `Holder`."""
        return (self.pattern,) if self.until is None else (self.pattern, self.until)


Pattern = Variable | Never | Sequence | Choice | Permutation | Exclusion | Edge | Empty | Loop


# --- the operator -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measure:
    """`expression AS name`."""

    expression: Expression
    name: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Definition:
    """`name AS condition`, in DEFINE."""

    name: str
    condition: Expression
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Subset:
    """`name = (member, …)`, in SUBSET."""

    name: str
    members: tuple[str, ...]
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Column:
    """A column in PARTITION BY or ORDER BY."""

    name: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Skip:
    """`AFTER MATCH …`; `variable` for TO FIRST and TO LAST."""

    to: SkipTo
    variable: str | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class NodeMode:
    """`MODE mode [HOLD n EVENTS] [CHOOSE ONE SEED n]`: what runs on a sensor node."""

    mode: Mode
    hold: int | None = None
    seed: int | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class MatchRecognize(OperatorNode):
    """`MATCH_RECOGNIZE ( … )`, its parts in the order of the standard.

    [PARTITION BY columns] [ORDER BY columns] [MEASURES …]
    [ONE ROW PER MATCH | ALL ROWS PER MATCH [SHOW EMPTY MATCHES | OMIT EMPTY MATCHES | WITH UNMATCHED ROWS]]
    [MATCH EVERY] [MODE …] [AFTER MATCH …]
    PATTERN (…) [WITHIN t] [WITHIN t BETWEEN ROWS] [WITH TIMEOUTS] [LIMIT n PARTIAL MATCHES] [FORGET t]
    [SUBSET …] [DEFINE …]
    """

    keyword: ClassVar[str] = "MATCH_RECOGNIZE"
    read_alone: ClassVar[tuple[str, ...]] = ("pattern", "after")

    pattern: Pattern
    define: tuple[Definition, ...] = ()
    partition: tuple[Column, ...] = ()
    order: tuple[Column, ...] = ()
    measures: tuple[Measure, ...] = ()
    rows: RowsPerMatch | None = None
    every: bool = False
    mode: NodeMode | None = None
    skip: Skip | None = None
    within: Quantity | None = None
    between_rows: Quantity | None = None
    timeouts: bool = False
    limit: int | None = None
    forget: Quantity | None = None
    subsets: tuple[Subset, ...] = ()
    span: Span | None = nowhere()

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.pattern.rules import PatternRules

        return PatternRules

    @staticmethod
    def syntax_advice() -> SyntaxAdvice:
        """See `advice`."""
        from headwater.query.operators.pattern.advice import PatternAdvice

        return PatternAdvice()

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.pattern.text import match_recognize_text

        return match_recognize_text(self)

    def check(
        self, source: StreamSchema | None, complaints: Complaints, *, place_known: bool
    ) -> PatternOperator | None:
        """See `check`."""
        from headwater.query.operators.pattern.check import check_pattern

        return check_pattern(self, source, complaints)

    def place_of(self, word: str) -> Span | None:
        """The pattern, of whatever is spoken."""
        return self.pattern.span or self.span

    def inside(self) -> tuple[Expression | Pattern, ...]:
        """The pattern, the measures and the conditions."""
        return (
            self.pattern,
            *(measure.expression for measure in self.measures),
            *(definition.condition for definition in self.define),
        )
