"""NEAREST with every choice made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.model import ColumnType, FencesSchema, Kernel, PointsSchema, Rows, StreamSchema
from headwater.query.checking.answer_columns import RESERVED, Columns, SelectList
from headwater.query.language.tree import Expression
from headwater.query.operators.closing_lines import ClosingLines, RunCounts
from headwater.query.operators.contract import (
    AnswerColumns,
    Beside,
    Demand,
    Entry,
    Explained,
    KernelPlace,
    OpenedSet,
    Operator,
    Unbounded,
    Words,
)
from headwater.query.operators.nearest.tree import Nearest

if TYPE_CHECKING:
    from headwater.query.planning.query_plan import QueryPlan


MOST_NEIGHBOURS: Final = 10_000
"""How many objects one NEAREST selects: its k."""

MOST_ATTRIBUTES: Final = 64
"""Attributes of one NEAREST."""

MOST_WINDOW_ROWS: Final = 1_000_000_000
"""Rows in the window of one NEAREST."""

MOST_TICKS: Final = 1_000_000
"""Ticks of EMIT EVERY in one window: when the input ends, one object alone is emitted at all of them."""


@dataclass(frozen=True, slots=True)
class NearestOperator(Operator):
    """A NEAREST operator with every choice made.

    `aliases` are the names of the attributes in an answer. There is either a `point`, or the name of declared `points`, or
    neither, under HIGHEST and LOWEST; either `window_us` or `window_rows`. `algorithm` None: the engine chooses. `columns_carried` are
    what an answer carries of its row, the name in the answer and the column of the stream: that of PER unless it is the
    key, the attributes, what else the SELECT list names.
    """

    kind: ClassVar[str] = "nearest"
    keyword: ClassVar[str] = Nearest.keyword

    k: int
    metric: Metric
    attributes: tuple[str, ...]
    aliases: tuple[str, ...]
    point: tuple[float, ...] | None
    points: str | None
    weights: tuple[float, ...] | None
    window_us: int | None
    window_rows: int | None
    per: str | None
    ties: bool
    exact: bool
    algorithm: Algorithm | None
    sigma: float | None
    emission: Emission
    every_us: int | None
    columns_carried: tuple[tuple[str, str], ...]
    forget_us: int | None = None

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """The attributes, PER, and what answers carry of their row."""
        carried = frozenset(column for _, column in self.columns_carried)
        yield Demand(where, carried.union(self.attributes, (self.per,) if self.per else ()))

    def own_columns(self, source: StreamSchema, points: Beside) -> Columns:
        """The columns that its kernel computes, before those that it copies from the row."""
        every = self.emission is Emission.EVERY
        return (
            *([("point", points.types[points.key])] if points and points.key else []),
            ("rank", ColumnType.BIGINT) if every else ("change", ColumnType.STRING),
            *([("key", source.types[source.key])] if source.key else []),
            ("object_time", ColumnType.TIMESTAMP),
            *([] if self.metric.ranks_values else [("distance", ColumnType.DOUBLE)]),
        )

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """In the order of `*` point and PER come first. A SELECT list may name any column of the stream that has a name of its own."""
        types = source.types
        own = self.own_columns(source, beside)
        carried = tuple((name, types[column]) for name, column in self.columns_carried)
        first = tuple(column for column in own if column[0] == "point" and beside)
        per = carried[:1] if self.columns_carried[0] == (self.per, self.per) else ()
        starred = (*first, *per, *own[len(first) :], *carried[len(per) :])
        answers = (*own, *carried)
        taken = {*dict(answers), *RESERVED}
        further = tuple((name, kind) for name, kind in source.columns if name not in taken)
        return AnswerColumns(answers, starred, further)

    @property
    def columns_depend_on(self) -> object | None:
        """What it carries over from the row, and how it answers."""
        every = self.emission is Emission.EVERY
        return self.points, self.metric.ranks_values, self.per, every, self.columns_carried

    def key_names(self, source: StreamSchema, beside: Beside) -> tuple[str | None, ...]:
        """Its own, or what the stream calls it."""
        own = dict(self.own_columns(source, beside))
        return ("key" if "key" in own else None, None if source.key in own else source.key)

    def having_selected(self, answers: Columns, selected: SelectList) -> Self:
        """The further columns in the SELECT list are last among the answers, under their own names."""
        names = [name for name, _ in answers]
        further = names[names.index(self.columns_carried[-1][0]) + 1 :]
        return replace(self, columns_carried=(*self.columns_carried, *((name, name) for name in further)))

    @property
    def declared_set(self) -> str | None:
        """The declared set of points, unless they are in the text."""
        return self.points

    def meaning_of_set(self, declared: PointsSchema | FencesSchema) -> str:
        """The type of their names, which answers carry; what else is declared about them changes no answer of the others."""
        return declared.types[declared.key].value

    @property
    def written_set(self) -> OpenedSet | None:
        """The one point of the text."""
        from headwater.query.operators.nearest.plan import written_point

        return written_point(self)

    def open_set(self, schema: PointsSchema | FencesSchema, rows: Rows, *, geographic: bool) -> OpenedSet:
        """The points."""
        from headwater.query.operators.nearest.plan import points_of

        return points_of(self, schema, rows)

    @property
    def may_lose(self) -> bool:
        """With PROBABLE, or where the algorithm is chosen that loses."""
        from headwater.query.operators.nearest.plan import choose_algorithm

        return choose_algorithm(self) is Algorithm.PA

    @property
    def places_in_set(self) -> tuple[str, str] | None:
        """The attributes, on the globe."""
        return (self.attributes[0], self.attributes[1]) if self.metric is Metric.GEOGRAPHIC else None

    def bytes_for_set(self, count: int) -> int:
        """For the candidates of so many points."""
        from headwater.query.operators.nearest.plan import expected_bytes

        return expected_bytes(self, count)

    def parts_for_set(self, count: int, zones: int) -> int:
        """All zones where one would have many."""
        from headwater.query.operators.nearest.plan import parts_for

        return parts_for(count, zones)

    def columns_of_set(self, declared: PointsSchema | FencesSchema) -> frozenset[str]:
        """The attributes."""
        return frozenset(self.attributes)

    def spread_by(self, source: StreamSchema) -> tuple[str, ...]:
        """By PER."""
        return (self.per,) if self.per else ()

    @property
    def has_partitions(self) -> bool:
        """With PER."""
        return bool(self.per)

    @property
    def is_scattered(self) -> bool:
        """Each point lives in one zone, unless there is PER."""
        return bool(self.points) and not self.per

    def looks_back_us(self, heartbeat_us: int | None) -> int | Unbounded:
        """OVER, if it is a duration."""
        if self.window_us is None:
            return Unbounded(
                "a window of rows may reach back for any time",
                "OVER",
                "use OVER with a time, as in OVER 1 HOUR",
            )
        return self.window_us

    def finds_the_same_later(self, source: StreamSchema) -> bool:
        """ENTERS of more than one are emitted once, when first true, and PROBABLE depends on chance."""
        return self.sigma is None and not (self.emission is Emission.ENTERS and self.k > 1)

    def words(self, explained: Explained) -> Words:
        """See `words`."""
        from headwater.query.operators.nearest.words import words

        return words(self, explained)

    @staticmethod
    def shared_words(queries: Sequence[QueryPlan]) -> Sequence[Entry]:
        """See `words`."""
        from headwater.query.operators.nearest.words import shared_words

        return shared_words(queries)

    @staticmethod
    def set_in_words(name: str, queries: Sequence[QueryPlan]) -> str:
        """See `words`."""
        from headwater.query.operators.nearest.words import points_in_words

        return points_in_words(name, queries)

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """See `closing_lines`."""
        from headwater.query.operators.nearest.closing_lines import closing_lines

        return closing_lines(run)

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.nearest.plan import make_kernel

        return make_kernel(queries, place)
