"""SUPPRESS with every choice made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from headwater.kernels.suppress.choices import Predictor
from headwater.model import ColumnType, Kernel, StreamSchema
from headwater.query.checking.updates import HEARTBEAT, REASON, TOLERANCE, slope_of
from headwater.query.language.tree import Expression
from headwater.query.operators.closing_lines import ClosingLines, RunCounts
from headwater.query.operators.contract import (
    AnswerColumns,
    Beside,
    Demand,
    Explained,
    KernelPlace,
    Operator,
    Words,
)
from headwater.query.operators.suppress.tree import Suppress

if TYPE_CHECKING:
    from headwater.query.planning.query_plan import QueryPlan


MOST_SAMPLES: Final = 10_000
"""Samples that LEAST SQUARES looks back at."""


@dataclass(frozen=True, slots=True)
class SuppressOperator(Operator):
    """A SUPPRESS operator with every choice made; `parameters` are (n,), (α, β), (q, r) or none, as the predictor has them.

    `forget_us` None: no sensor is forgotten.
    """

    kind: ClassVar[str] = "suppress"
    keyword: ClassVar[str] = Suppress.keyword

    dimensions: tuple[str, ...]
    tolerance: float
    heartbeat_us: int
    predictor: Predictor
    parameters: tuple[float, ...]
    forget_us: int | None = None

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """The dimensions."""
        yield Demand(where, frozenset(self.dimensions))

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """The columns of an update."""
        answers = (
            *([(source.key, source.types[source.key])] if source.key else []),
            *((name, ColumnType.DOUBLE) for name in self.dimensions),
            *((slope_of(name), ColumnType.DOUBLE) for name in self.dimensions),
            (TOLERANCE, ColumnType.DOUBLE),
            (HEARTBEAT, ColumnType.DOUBLE),
            (REASON, ColumnType.STRING),
        )
        return AnswerColumns(answers, answers)

    def spread_by(self, source: StreamSchema) -> tuple[str, ...]:
        """By sensor."""
        return (source.key,) if source.key else ()

    @property
    def has_partitions(self) -> bool:
        """A sensor is one."""
        return True

    @property
    def beside_shared(self) -> Literal["always", "before", "never"]:
        """A copy in every zone, for a PREDICT of pairs."""
        return "before"

    def looks_back_us(self, heartbeat_us: int | None) -> int:
        """It counts as nothing: its next update says where the sensor is."""
        return 0

    @property
    def sends_every_us(self) -> int | None:
        """HEARTBEAT."""
        return self.heartbeat_us

    def words(self, explained: Explained) -> Words:
        """See `words`."""
        from headwater.query.operators.suppress.words import words

        return words(self, explained)

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """See `closing_lines`."""
        from headwater.query.operators.suppress.closing_lines import closing_lines

        return closing_lines(run)

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.suppress.plan import make_kernel

        return make_kernel(queries, place)
