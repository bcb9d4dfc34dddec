"""FENCE with every choice made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headwater.kernels.fence.choices import Detect
from headwater.model import ColumnType, FencesSchema, Kernel, PointsSchema, Rows, StreamSchema
from headwater.query.language.tree import Expression
from headwater.query.language.walk import columns_of
from headwater.query.operators.closing_lines import ClosingLines, RunCounts
from headwater.query.operators.contract import (
    AnswerColumns,
    Beside,
    Demand,
    Explained,
    KernelPlace,
    OpenedSet,
    Operator,
    Words,
)
from headwater.query.operators.fence.tree import Fence

if TYPE_CHECKING:
    from headwater.query.planning.query_plan import QueryPlan


@dataclass(frozen=True, slots=True)
class FenceOperator(Operator):
    """A FENCE operator with every choice made.

    `fences` is a declared set of polygons, then `moving` is False and there is no region; or a stream or a query, whose rows are fences
    that move, with one of `radius_m`, `box_m` (width and height) and `shape`, a column with a polygon as WKT text. `where` is
    a condition on fences. `roaming`: fences are the positions themselves, and every two of them are a pair once.
    """

    kind: ClassVar[str] = "fence"
    keyword: ClassVar[str] = Fence.keyword

    fences: str
    moving: bool
    where: Expression | None
    radius_m: float | None
    box_m: tuple[float, float] | None
    shape: str | None
    detect: tuple[Detect, ...]
    forget_us: int
    roaming: bool

    def useful_rows(self, where: Expression | None) -> Expression | None:
        """One stream may be both positions and fences that move."""
        return where if self.roaming or not self.moving else None

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """Where positions are; where fences are and how they look."""
        place = source.place
        assert place is not None
        if source.name == sources[0]:
            yield Demand(where, frozenset((place.x, place.y)))
        if self.moving and source.name == self.fences:
            shape = (self.shape,) if self.shape else ()
            yield Demand(self.where, frozenset((place.x, place.y, *shape)))

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """Who did what at which fence, and where."""
        assert source.key is not None and source.place is not None and beside is not None and beside.key
        answers = (
            ("change", ColumnType.STRING),
            ("object", source.types[source.key]),
            ("fence", beside.types[beside.key]),
            *((axis, source.types[axis]) for axis in (source.place.x, source.place.y)),
        )
        return AnswerColumns(answers, answers)

    def key_names(self, source: StreamSchema, beside: Beside) -> tuple[str | None, ...]:
        """The object, or what the stream calls it."""
        return ("object", source.key)

    @property
    def reads_beside(self) -> str | None:
        """Fences that move."""
        return self.fences if self.moving else None

    @property
    def declared_set(self) -> str | None:
        """Fences that stand still."""
        return None if self.moving else self.fences

    def meaning_of_set(self, declared: PointsSchema | FencesSchema) -> str:
        """The type of their names, which answers have, and of the columns in its condition."""
        columns = self.columns_of_set(declared)
        return " ".join(
            f"{name} {kind.value}"
            for name, kind in declared.columns
            if name in columns or name == declared.key
        )

    def open_set(self, schema: PointsSchema | FencesSchema, rows: Rows, *, geographic: bool) -> OpenedSet:
        """The fences for which its condition holds."""
        from headwater.query.operators.fence.plan import fences_of

        return fences_of(self, schema, rows, geographic=geographic)

    def columns_of_set(self, declared: PointsSchema | FencesSchema) -> frozenset[str]:
        """Those of its condition."""
        return frozenset(column.name for column in columns_of(self.where)) if self.where else frozenset()

    def spread_by(self, source: StreamSchema) -> tuple[str, ...]:
        """By object, if fences stand still."""
        return (source.key,) if source.key and not self.moving else ()

    @property
    def has_partitions(self) -> bool:
        """An object is one."""
        return True

    @property
    def is_shared(self) -> bool:
        """If fences move, each zone has all of them and the objects that live in it."""
        return self.moving

    @property
    def counts_its_share(self) -> bool:
        """It does."""
        return self.moving

    def looks_back_us(self, heartbeat_us: int | None) -> int:
        """Back to the last position of an object that is not forgotten; a forgotten object leaves a microsecond after FORGET."""
        return self.forget_us + 1

    @property
    def beside_shared(self) -> Literal["always", "before", "never"]:
        """It may be shared itself."""
        return "before"

    def passes_on(self, source: str) -> tuple[str, ...]:
        """The positions."""
        return (source,)

    def finds_the_same_later(self, source: StreamSchema) -> bool:
        """It goes by the last position before."""
        return True

    def words(self, explained: Explained) -> Words:
        """See `words`."""
        from headwater.query.operators.fence.words import words

        return words(self, explained)

    @staticmethod
    def set_in_words(name: str, queries: Sequence[QueryPlan]) -> str:
        """See `words`."""
        from headwater.query.operators.fence.words import fences_in_words

        return fences_in_words(name)

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """See `closing_lines`."""
        from headwater.query.operators.fence.closing_lines import closing_lines

        return closing_lines(run)

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.fence.plan import make_kernel

        return make_kernel(queries, place)
