"""A MATCH_RECOGNIZE query as its kernel sees it: a shape over numbered variables, its conditions, what is emitted.

Conditions come in two kinds. A *row test* reads one row and rows a fixed number of places before or after it; it is
computed for whole columns at once, and once for all queries with the same test. A *program* reads other rows of the
match and runs in the scan, row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headwater.kernels.pattern.choices import RowsPerMatch, SkipTo
from headwater.kernels.pattern.machine import MATCH_NUMBER, Memory
from headwater.kernels.pattern.node import NodePattern
from headwater.kernels.pattern.shape import Shape, has_edges
from headwater.model import INTEREST_SERIAL, Column, ColumnType, Rows
from headwater.model.rows import Mask

ComputeColumn = Callable[[Rows], Column]


@dataclass(frozen=True, slots=True)
class Value:
    """A value of single rows; `key` is equal for values that are equal."""

    key: str
    compute: ComputeColumn = field(compare=False)


@dataclass(frozen=True, slots=True)
class RowTest:
    """A condition on a row and its neighbours: `test` reads column `#i` for the i-th of `terms` (a value, and its offset in rows)."""

    key: str
    terms: tuple[tuple[Value, int], ...]
    test: Callable[[Rows], Mask]


@dataclass(frozen=True, slots=True)
class Program:
    """Instructions of the machine; `least` and `most` are the smallest and the greatest physical shift in it."""

    code: tuple[tuple[int, int, int, int], ...]
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class Recall:
    """What the programs of a pattern use: columns (values as whole numbers or doubles), constants, and what is remembered."""

    whole: tuple[Value, ...]
    double: tuple[Value, ...]
    whole_constants: tuple[int, ...]
    double_constants: tuple[float, ...]
    texts: tuple[tuple[int, str], ...]  # whole constants that stand for strings
    memory: Memory


@dataclass(frozen=True, slots=True)
class RowTerm:
    """A value at one row of a match: `variables` None is any; counted from the first or the last, then `shift` rows away."""

    value: Value
    variables: tuple[int, ...] | None
    first: bool
    offset: int
    shift: int
    final: bool


@dataclass(frozen=True, slots=True)
class AggregateTerm:
    """COUNT, SUM, AVG, MIN or MAX of a value (None: of rows) over the rows of some variables."""

    function: str
    value: Value | None
    type: ColumnType
    variables: tuple[int, ...] | None
    final: bool


@dataclass(frozen=True, slots=True)
class ClassifierTerm:
    """The name of the variable that a row of the match was bound to."""

    variables: tuple[int, ...] | None
    first: bool
    offset: int
    shift: int
    final: bool


@dataclass(frozen=True, slots=True)
class MatchNumberTerm:
    """The number of the match in its partition, from 1."""


Term = RowTerm | AggregateTerm | ClassifierTerm | MatchNumberTerm


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of the answer: `compute` reads column `#i` for the i-th term."""

    name: str
    type: ColumnType
    terms: tuple[Term, ...]
    compute: ComputeColumn


@dataclass(frozen=True, slots=True)
class PatternQuery:
    """A standing MATCH_RECOGNIZE; `where` is the place of its WHERE in the kernel's list of conditions.

    `order` are the columns that decide between rows of equal time, before the stream's own order does. `tests[c]` is the
    condition that the shape calls c. `row_columns` are what ALL ROWS emits of each row, `identity`
    the columns that make two rows different to this query.
    """

    name: str
    fingerprint: str
    output: int
    where: int | None
    partition: tuple[str, ...]
    order: tuple[str, ...]
    shape: Shape
    variables: tuple[str, ...]
    tests: tuple[RowTest | Program, ...]
    recall: Recall
    measures: tuple[Measure, ...]
    row_columns: tuple[str, ...]
    identity: tuple[str, ...]
    rows: RowsPerMatch = RowsPerMatch.ONE
    every: bool = False
    skip: SkipTo = SkipTo.PAST_LAST_ROW
    skip_to: tuple[int, ...] = ()
    within_us: int | None = None
    between_us: int | None = None
    timeouts: bool = False
    limit: int | None = None
    shifts: tuple[int, int] = (0, 0)  # the greatest offsets before and after a row
    node: NodePattern | None = None  # with MODE
    by_interest: bool = False  # rows come with INTEREST_SERIAL
    forget_us: int | None = None  # a partition ends when it is silent for longer

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The columns by which rows are separated: those of PARTITION BY, and INTEREST_SERIAL."""
        return (*self.partition, INTEREST_SERIAL) if self.by_interest else self.partition

    @property
    def is_anywhere_the_same(self) -> bool:
        """Whether its matches from some row on are the same wherever the partition begins before that row."""
        every_row = SkipTo.NOWHERE if self.every else SkipTo.NEXT_ROW
        return (
            self.skip is every_row
            and self.shifts == (0, 0)
            and self.within_us is not None
            and self.limit is None
            and self.node is None
            and self.rows is not RowsPerMatch.ALL_WITH_UNMATCHED
            and not self.is_numbered
            and not has_edges(self.shape)
        )

    @property
    def is_numbered(self) -> bool:
        """Whether it needs the number of a match."""
        has_term = any(
            isinstance(term, MatchNumberTerm) for measure in self.measures for term in measure.terms
        )
        codes = [test.code for test in self.tests if isinstance(test, Program)]
        return has_term or any(step[0] == MATCH_NUMBER for code in codes for step in code)
