"""What does shared code ask of an operator? The questions, with default answers for operators without special needs.

Rule 1  Shared code never asks which operator it has. All rules about two operators are in one file: `checking/operator_pairs.py`.
Rule 2  An operator is a frozen value: all that was written, with every choice made. It does not know the query around it; the query's name,
        condition and sources are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.clauses import Clause
from headwater.model import FencesSchema, Kernel, PointsSchema, QueryError, Region, Rows, StreamSchema
from headwater.model.place import Bounds
from headwater.query.checking.answer_columns import Columns, SelectList
from headwater.query.language.tree import Expression, Item
from headwater.query.operators.closing_lines import ClosingLines, RunCounts

if TYPE_CHECKING:
    from headwater.query.checking.complaints import Complaints
    from headwater.query.checking.merges import Merge
    from headwater.query.planning.interest_plan import InterestPlan
    from headwater.query.planning.plan import Plan
    from headwater.query.planning.query_plan import QueryPlan

Beside = StreamSchema | PointsSchema | FencesSchema | None
"""The schema of what an operator reads beside FROM, or of its declared set."""

OpenedSet = Sized
"""A set as the kernel of an operator sees it. Only the operator knows what is in it; shared code hands it on and counts it."""


ZoneMask = NDArray[np.bool_]
"""bool[zones, n]: which zones can use each of some rows."""


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


class Unbounded(NamedTuple):
    """Why the time that an answer looks back over is unknown, the word of the operator that causes it ("": the whole operator), and what to do."""

    why: str
    word: str
    advice: str


class Demand(NamedTuple):
    """What an operator needs of the rows of one source.

    `condition` holds for every row it can use; None: for any row. `columns` are those that it reads beside those of the condition,
    time and key; None: all of them. `readings`: among those rows it can use only these.
    """

    condition: Expression | None
    columns: frozenset[str] | None
    readings: Readings | None = None


@dataclass(frozen=True, slots=True)
class BadRows:
    """The rows for which `holds`, bad because of the value of one column; `words` say what is wrong with it."""

    holds: Expression
    column: str
    code: str
    words: str


Entry = tuple[str, str | list[str]]
"""A line of `explain`: what it is about, and words, which are wrapped, or several lines, which are not."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A query of a plan that is put into words; `source` is what it reads."""

    plan: Plan
    query: QueryPlan
    source: StreamSchema

    @property
    def reads_stream(self) -> bool:
        """Whether it reads a declared stream, not a query."""
        return any(stream.name == self.query.reads for stream in self.plan.streams)


class Words(NamedTuple):
    """An operator in words: its conditions, its state; its zones (None: the usual words), and why it has only one; last,
    what is better drawn."""

    conditions: Sequence[Entry]
    state: str | list[str]
    zones: str | None = None
    why_there: str | None = None
    drawn: Sequence[Entry] = ()


@dataclass(frozen=True, slots=True)
class KernelPlace:
    """Where a kernel runs, for queries that read `source`: in one of `zones`.

    `home`, the zone and how many there are, when rows come to the zone that are not for all of the queries: those that are spread then look
    at the rows of their own partitions only. `by_interest`: rows come with INTEREST_SERIAL, which not every kernel can take. `schemas` are those of what is
    read together as `source`, by name, and `merge` says how, if it is more than one.
    """

    source: StreamSchema
    schemas: Mapping[str, StreamSchema]
    merge: Merge | None = None
    zone: int = 0
    zones: int = 1
    home: tuple[int, int] | None = None
    by_interest: bool = False

    def share(self, query: QueryPlan) -> tuple[int, int] | None:
        """The zone and how many there are, where each answers a share of a query."""
        return (
            (self.zone, self.zones) if query.shared and query.operator.is_shared and self.zones > 1 else None
        )


class Operator:
    """The questions."""

    __slots__ = ()

    kind: ClassVar[str]
    """Which kernel answers it. Groups of queries are named by it, and state is saved under that name: it never changes."""

    keyword: ClassVar[str]
    """The word of the language by which people know it."""

    has_state: ClassVar[bool] = True
    """Whether anything is stored for it from one batch to the next."""

    # --- what it reads ------------------------------------------------------------------------------------------------

    @property
    def reads_beside(self) -> str | None:
        """A stream or a query that it reads besides those of FROM."""
        return None

    @property
    def declared_set(self) -> str | None:
        """The declared points or fences that must be loaded before rows come."""
        return None

    def meaning_of_set(self, declared: PointsSchema | FencesSchema) -> str:
        """What of the declaration of its set changes what it means."""
        raise AssertionError(f"{self.kind} is given no set")

    @property
    def written_set(self) -> OpenedSet | None:
        """The set that it names, with its place in the text."""
        return None

    def open_set(self, schema: PointsSchema | FencesSchema, rows: Rows, *, geographic: bool) -> OpenedSet:
        """Its set as the kernel sees it, from rows that have been checked."""
        raise AssertionError(f"{self.kind} is given no set")

    def columns_of_set(self, declared: PointsSchema | FencesSchema) -> frozenset[str]:
        """The columns of its set that it reads beside the key."""
        raise AssertionError(f"{self.kind} is given no set")

    @property
    def places_in_set(self) -> tuple[str, str] | None:
        """The columns of its set that are longitude and latitude."""
        return None

    def bytes_for_set(self, count: int) -> int:
        """Memory for what is stored of so many members of its set: a rough figure, by which the impossible is refused."""
        return 0

    def parts_for_set(self, count: int, zones: int) -> int:
        """Over how many zones so many members of its set are spread, if they are scattered."""
        return 1

    @property
    def bad_rows(self) -> Sequence[BadRows]:
        """Which rows of a stream are bad to it that would be good rows to others."""
        return ()

    def useful_rows(self, where: Expression | None) -> Expression | None:
        """A condition that holds for every row it can use, of whatever it reads, with such a WHERE before it; None: for any row."""
        return where

    def demands(
        self, source: StreamSchema, sources: Sequence[str], where: Expression | None
    ) -> Iterator[Demand]:
        """What it needs of one of its sources: the whole row, whose content is the identity of an answer."""
        yield Demand(where, None)

    # --- what it answers ----------------------------------------------------------------------------------------------

    def columns(self, source: StreamSchema, beside: Beside) -> AnswerColumns:
        """The columns of its answers: those of the rows that it reads, where it says nothing else."""
        starred = tuple((name, kind) for name, kind in source.columns if name != "event_time")
        return AnswerColumns(source.columns, starred)  # a time named event_time is there already

    @property
    def may_lose(self) -> bool:
        """Whether answers may be lost by chance, which can be measured."""
        return False

    @property
    def columns_depend_on(self) -> object | None:
        """What its columns depend on beside the source, for operators of which there are thousands; None: they are computed each time."""
        return None

    def key_names(self, source: StreamSchema, beside: Beside) -> tuple[str | None, ...]:
        """The columns of an answer that are a key for its readers, if they are selected; the first one first."""
        return (source.key,)

    def stamps(self, beside: Beside) -> Columns:
        """The columns that it adds to the answers of all queries that run downstream of it."""
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
        """Whether its points may be scattered over the zones."""
        return False

    @property
    def beside_shared(self) -> Literal["always", "before", "never"]:
        """Whether it may live in every zone with a shared query: `before` means only where it reads none."""
        return "never"

    def group_name(self, reads: str) -> str:
        """The name of the group in which it is answered with its like, of a query that reads `reads`. State is saved under it."""
        return f"{self.kind}:{reads}"

    @property
    def most_updates(self) -> int | None:
        """How many updates it stores at most, if there is a bound; further ones are dropped and counted."""
        return None

    @property
    def stored_sources(self) -> tuple[str, ...]:
        """The sources whose events are stored for it in groups of their own; with any, its kernel is made with all that runs after it."""
        return ()

    @staticmethod
    def make_routing(
        queries: Sequence[QueryPlan], source: StreamSchema, homes: Sequence[int], zones: int
    ) -> Callable[[Rows], ZoneMask]:
        """Which zones can use a row of a source, for queries of this kind whose demands of it have readings. `homes` are the zones of the queries."""
        raise AssertionError("its demands have no readings")

    def stored_event_bytes(self, source: StreamSchema) -> int:
        """What a stored event of a source takes, its texts aside."""
        raise AssertionError(f"{self.keyword} stores no events")

    # --- how far back it looks ----------------------------------------------------------------------------------------

    def looks_back_us(self, heartbeat_us: int | None) -> int | Unbounded:
        """How far back one answer looks, if updates that it reads live for so long (None: not known); or why that is not known.

        An operator without an answer cannot run downstream of a FOLLOW, which must know how many earlier events to pass on.
        """
        return Unbounded(
            f"{self.keyword} does not say how far back it looks",
            "",
            f"let the FOLLOW read what {self.keyword} emits: FOLLOW may come after any operator",
        )

    @property
    def sends_every_us(self) -> int | None:
        """After how long it sends an update in any case; None: its answers are no updates of its own."""
        return None

    def passes_on(self, source: str) -> tuple[str, ...]:
        """Of what a query reads (`source`, as FROM has it), that whose rows are its answers as they are."""
        return ()

    @property
    def separates_by(self) -> tuple[str, ...] | None:
        """The columns by which it separates rows: rows with equal values belong together; empty: all rows together; None: each row alone."""
        return ()

    @property
    def answers_from_first_row(self) -> bool:
        """Whether each answer depends on rows from its own first row on only, and nothing is gained by answering many queries together."""
        return False

    @property
    def waits_for_later_rows(self) -> bool:
        """Whether what it answers may depend on rows up to its window later, or on the end of its input."""
        return False

    def finds_the_same_later(self, source: StreamSchema) -> bool:
        """Whether it finds the same wherever its rows begin, as long as they begin before its window."""
        return False

    def history_us(self, windows_us: int) -> int:
        """For how long the events of its stored sources are stored, with such windows of queries that run downstream of it."""
        return 0

    def history_reason(self, windows_us: int) -> tuple[str, str]:
        """Why the history is that long: the word of the operator that causes it, and what it consists of."""
        raise AssertionError(f"{self.keyword} stores no events")

    def refuse_endless(self, name: str) -> QueryError | None:
        """Why the query of this name cannot run while rows come without end; None: it can."""
        return None

    # --- in words, for people who read plans --------------------------------------------------------------------------

    def words(self, explained: Explained) -> Words:
        """One query in words."""
        raise AssertionError(f"{self.kind} has no words")

    def drawing(self, explained: Explained) -> str | None:
        """A digraph of Graphviz, of what is better drawn than said."""
        return None

    @property
    def area(self) -> Region | None:
        """The region that it is about."""
        return None

    @staticmethod
    def set_in_words(name: str, queries: Sequence[QueryPlan]) -> str:
        """When a declared set is read that some queries of this kind need, and who shares it."""
        raise AssertionError("it is given no set")

    @staticmethod
    def state_of_many(queries: Sequence[QueryPlan], source: StreamSchema) -> list[str]:
        """The state of queries of this kind that read the same and are not described one by one; empty if it needs no words."""
        return []

    @staticmethod
    def shared_words(queries: Sequence[QueryPlan]) -> Sequence[Entry]:
        """What all queries of this kind in a plan have in common."""
        return ()

    @staticmethod
    def closing_lines(run: RunCounts) -> ClosingLines:
        """What queries of this kind say at the end of a run, from what they counted."""
        return ClosingLines()

    # --- what runs ----------------------------------------------------------------------------------------------------

    @property
    def answers_by_interest(self) -> bool:
        """Whether its kernel can answer for many interests of a FOLLOW at once, with the rows of each apart."""
        return False

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """The kernel that answers some queries of this kind together. Compiled code is loaded only now."""
        raise AssertionError("its kernel looks at stored events: see `make_kernel_on_stores`")

    @staticmethod
    def make_kernel_on_stores(
        queries: Sequence[QueryPlan],
        place: KernelPlace,
        events: Sequence[StreamSchema],
        downstream: Mapping[str, InterestPlan],
    ) -> Kernel[Any]:
        """The same for queries with `stored_sources`, whose schemas are `events`; what runs downstream of each of them, by its name."""
        raise AssertionError("its kernel looks at no stored events")

    @staticmethod
    def make_store_kernel(
        queries: Sequence[tuple[QueryPlan, Sequence[StreamSchema]]], place: KernelPlace
    ) -> Kernel[Any]:
        """The kernel that stores the events of the source of a place for some queries, each with the schemas of its `stored_sources`."""
        raise AssertionError("its kernel looks at no stored events")
