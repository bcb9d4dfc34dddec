"""FOLLOW with every choice made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from headwater.kernels.follow.choices import Update
from headwater.model import ColumnType, Kernel, StreamSchema
from headwater.query.checking.answer_columns import STAMPS, Columns
from headwater.query.checking.merges import merged_name
from headwater.query.language.tree import Expression
from headwater.query.language.words import history_in_words
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
from headwater.query.operators.follow.tree import Follow

if TYPE_CHECKING:
    from headwater.query.planning.interest_plan import InterestPlan
    from headwater.query.planning.query_plan import QueryPlan

QUALITY_US: Final = 60_000_000
"""A minute: so far back QUALITY looks where neither OVER nor LAST says how far."""


@dataclass(frozen=True, slots=True)
class FollowOperator(Operator):
    """A FOLLOW operator with every choice made.

    `focals` is a stream or a query, and `where` a condition on it. There is one of `radius_m`, `box_m` (width and height) and
    `shape`, a column of the focals with a polygon as WKT text. Values that belong to a word other than `update` are 0. `over_us` is
    how far back QUALITY looks. `each`: an answer is delivered once for each interest. `best_effort` None: all earlier events
    are taken. `interests`: it emits interests, not events. `events` are the other sources, in the order of FROM.
    """

    kind: ClassVar[str] = "follow"
    keyword: ClassVar[str] = Follow.keyword

    focals: str
    where: Expression | None
    radius_m: float | None
    box_m: tuple[float, float] | None
    shape: str | None
    last_us: int
    update: Update
    every_us: int
    moved_m: float
    precision: float
    recall: float
    over_us: int
    forget_us: int
    each: bool
    best_effort: int | None
    interests: bool
    events: tuple[str, ...]

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """Of events all; of focal objects where they are and how they look around."""
        if source.name in self.events:  # a condition on several sources is one on what they are together
            yield Demand(where if len(self.events) == 1 else None, None)
        if source.name == self.focals and (place := source.place):
            shape = (self.shape,) if self.shape else ()
            yield Demand(self.where, frozenset((place.x, place.y, *shape)))

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """Events as they are; with EMIT INTERESTS the interest."""
        if not self.interests:
            return Operator.columns(self, source, beside)
        assert isinstance(beside, StreamSchema)
        answers = interest_columns(beside)
        return AnswerColumns(answers, answers)

    def stamps(self, beside: Beside) -> Columns:
        """The focal object, the interest, and whether it is from before it; interests themselves have no such columns."""
        if self.interests:
            return ()
        assert beside is not None and beside.key is not None
        kinds = (beside.types[beside.key], ColumnType.BIGINT, ColumnType.BOOLEAN)
        return tuple(zip(STAMPS, kinds, strict=True))

    @property
    def reads_beside(self) -> str | None:
        """The focal objects."""
        return self.focals

    def group_name(self, reads: str) -> str:
        """With the queries of the same focal objects and events."""
        return f"{self.kind}:{self.focals} in {merged_name(self.events)}"

    @property
    def stored_sources(self) -> tuple[str, ...]:
        """Events, for the interests that are still to come."""
        return self.events

    def stored_event_bytes(self, source: StreamSchema) -> int:
        """See `words`."""
        from headwater.query.operators.follow.words import event_bytes

        return event_bytes(source)

    def history_us(self, windows_us: int) -> int:
        """LAST and the downstream windows, or OVER of QUALITY if that is longer."""
        return max(self.last_us + windows_us, self.over_us)

    def history_reason(self, windows_us: int) -> tuple[str, str]:
        """QUALITY where its OVER is longer, otherwise LAST."""
        if self.last_us + windows_us <= self.over_us:
            return "QUALITY", "QUALITY uses them"
        return (
            "LAST",
            f"LAST is {history_in_words(self.last_us)}, the downstream windows are {history_in_words(windows_us)}",
        )

    @property
    def is_shared(self) -> bool:
        """Each zone follows the focal objects that live in it."""
        return True

    @property
    def counts_its_share(self) -> bool:
        """It does."""
        return True

    @property
    def beside_shared(self) -> Literal["always", "before", "never"]:
        """It may be shared itself."""
        return "before"

    def passes_on(self, source: str) -> tuple[str, ...]:
        """The events."""
        return self.events

    def words(self, explained: Explained) -> Words:
        """See `words`."""
        from headwater.query.operators.follow.words import words

        return words(self, explained)

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """See `closing_lines`."""
        from headwater.query.operators.follow.closing_lines import closing_lines

        return closing_lines(run)

    @staticmethod
    def make_kernel_on_stores(
        queries: Sequence[QueryPlan],
        place: KernelPlace,
        events: Sequence[StreamSchema],
        downstream: Mapping[str, InterestPlan],
    ) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.follow.plan import make_kernel

        return make_kernel(queries, place, events, downstream)

    @staticmethod
    def make_store_kernel(
        queries: Sequence[tuple[QueryPlan, Sequence[StreamSchema]]], place: KernelPlace
    ) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.follow.plan import make_store_kernel

        return make_store_kernel(queries, place)


def interest_columns(focals: StreamSchema) -> Columns:
    """The columns of an answer of EMIT INTERESTS."""
    assert focals.key is not None and focals.place is not None
    return (
        ("focal", focals.types[focals.key]),
        ("interest", ColumnType.BIGINT),
        ("begins", ColumnType.TIMESTAMP),
        ("ends", ColumnType.TIMESTAMP),
        *((axis, focals.types[axis]) for axis in (focals.place.x, focals.place.y)),
        ("events", ColumnType.BIGINT),
        ("historical_events", ColumnType.BIGINT),
        ("precision", ColumnType.DOUBLE),
        ("recall", ColumnType.DOUBLE),
    )
