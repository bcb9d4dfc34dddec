"""What does shared code ask of an operator? These questions, with the answers of an operator that has nothing special to say.

Rule 1  Shared code never asks which operator it has before it. Where a rule is about two operators, it stands in one file of planning
        that says so.
Rule 2  An operator is a frozen value: all that was written, with every choice made. It knows nothing of the query around it, whose name,
        condition and sources it is handed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from headwater.kernels.correlate.subscription import Clause
from headwater.model import FencesSchema, PointsSchema, StreamSchema
from headwater.model.place import Bounds
from headwater.query.answer_columns import Columns, SelectList
from headwater.query.tree import Expression, Item

if TYPE_CHECKING:
    from headwater.query.checks.complaints import Complaints

Beside = StreamSchema | PointsSchema | FencesSchema | None
"""The schema of what an operator reads beside FROM, or of the set it is given."""


class AnswerColumns(NamedTuple):
    """What a kernel answers after the reserved columns; the part of it that `*` means; what a SELECT list may name besides."""

    answers: Columns
    starred: Columns
    further: Columns = ()


class Readings(NamedTuple):
    """Rows are needed that have a reading for one of some clauses, in one of some boxes (None: anywhere), of some sensors (None: any)."""

    clauses: tuple[Clause, ...]
    boxes: tuple[Bounds, ...] | None
    sensors: tuple[str | int, ...] | None


class Demand(NamedTuple):
    """What an operator asks of the rows of one source.

    `condition` holds for every row it can use; None: for any row. `columns` are those that it looks at beside those of the condition,
    time and key; None: all of them. `readings`: among those rows it can use only these.
    """

    condition: Expression | None
    columns: frozenset[str] | None
    readings: Readings | None = None


class Operator:
    """The questions."""

    __slots__ = ()

    kind: ClassVar[str]
    """Which kernel answers it. Groups of queries are named by it, and state is saved under that name: it never changes."""

    # --- what it reads ------------------------------------------------------------------------------------------------

    @property
    def reads_beside(self) -> str | None:
        """A stream or a query that it reads besides those of FROM."""
        return None

    @property
    def given_set(self) -> str | None:
        """The declared points or fences that it must be given before rows come."""
        return None

    def meaning_of_set(self, given: PointsSchema | FencesSchema) -> str:
        """What of the declaration of its set changes what it means."""
        raise AssertionError(f"{self.kind} is given no set")

    def useful_rows(self, where: Expression | None) -> Expression | None:
        """A condition that holds for every row it can use, of whatever it reads, with such a WHERE before it; None: for any row."""
        return where

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """What it asks of one of the sources that it reads: the whole row, whose content is the identity of an answer."""
        yield Demand(where, None)

    # --- what it answers ----------------------------------------------------------------------------------------------

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """The columns of its answers: those of the rows that it reads, where it says nothing else."""
        starred = tuple((name, kind) for name, kind in source.columns if name != "event_time")
        return AnswerColumns(source.columns, starred)  # a time named event_time is there already

    @property
    def columns_depend_on(self) -> object | None:
        """What its columns depend on beside the source, for operators of which there are thousands; None: they are always made anew."""
        return None

    def key_names(self, source: StreamSchema, beside: Beside) -> tuple[str | None, ...]:
        """The columns of an answer that are a key for those who read it, if they are selected; the first one first."""
        return (source.key,)

    def stamps(self, beside: Beside) -> Columns:
        """The columns that it adds to the answers of all queries that run behind it."""
        return ()

    def check_select_list(self, items: Sequence[Item], complaints: Complaints) -> None:
        """Complain of what a SELECT list names in vain."""

    def having_selected(self, answers: Columns, selected: SelectList) -> Self:
        """The operator when it is known which columns of its answers are used."""
        return self

    # --- where it lives -----------------------------------------------------------------------------------------------

    @property
    def zone_key(self) -> str | None:
        """Queries with equal keys share a zone; None: it goes by the name of its query."""
        return None

    def spread_by(self, source: StreamSchema) -> tuple[str, ...]:
        """The columns whose values decide in which zone a row is needed; none: it cannot be spread."""
        return ()

    @property
    def has_partitions(self) -> bool:
        """Whether state that is gathered in one zone is other state than that of a query that is spread."""
        return False

    @property
    def is_shared(self) -> bool:
        """Whether each zone answers a share of it, for which it needs all rows."""
        return False

    @property
    def counts_its_share(self) -> bool:
        """Whether what a zone counts of a shared one is about its share only, not about all rows."""
        return False

    @property
    def is_scattered(self) -> bool:
        """Whether the points that it is given may be scattered over the zones."""
        return False

    # --- how far back it looks ----------------------------------------------------------------------------------------

    def looks_back_us(self, heartbeat_us: int) -> int:
        """How far back one answer looks, if updates that it reads live for so long."""
        return 0
