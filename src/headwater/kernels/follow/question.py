"""What is asked: whom to follow, how far around them, how long back, and what is downstream of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.follow.choices import Saving, Update
from headwater.model import (
    Answers,
    Column,
    ColumnType,
    Ids,
    Instant,
    RowCondition,
    Rows,
    Saved,
    StreamSchema,
    coded,
)

State = TypeVar("State")

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

FOCAL = "focal"
INTEREST = "interest"
HISTORICAL = "historical"
SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Events:
    """What is looked at: the rows of some sources as one stream, as far as a condition on that holds.

    `sources` are the streams as they are kept, each under its name. `identity` is the same for queries that see the same.
    """

    sources: tuple[StreamSchema, ...]
    schema: StreamSchema
    where: RowCondition | None
    identity: str

    def rows(self, source: StreamSchema, rows: Rows) -> Rows:
        """Rows of one source as rows of the whole stream."""
        if len(self.sources) == 1:
            return rows
        known = {**rows.columns, self.schema.time: rows[source.time]}
        known[SOURCE] = coded(np.zeros(rows.count, np.int32), np.array([source.name], object))
        columns = {
            name: known[name] if name in known else Column.nulls(kind, rows.count)
            for name, kind in self.schema.columns
        }
        return Rows(columns, rows.count)


@dataclass(frozen=True, slots=True)
class Focals:
    """Who is followed: rows of a source for which a condition holds, with a key and a place, and a shape if there is a column of them."""

    where: RowCondition | None
    key: str
    key_type: ColumnType
    x: str
    y: str
    x_type: ColumnType
    y_type: ColumnType
    shape: str | None


@dataclass(frozen=True, slots=True)
class Need:
    """Which events one reader of a FOLLOW needs: an operator, or whoever asked for the events themselves.

    `part` numbers the sub-graphs of operators that hang together. `windows_us` is the longest sum of windows on a path from here on;
    `takes` holds for all events that can matter to it, None: any may. `separates_by` are the columns in which events are alike that
    its sub-graph looks at together (none: at all of them), or BY_ITSELF. `is_free`: it does not matter where its events begin.
    `settles`: what its sub-graph answers before windows are filled may be wrong. `later_us` is how long after an answer events may still
    change it, or the end of a life: a loop goes on with them, and what is handed on is another answer.
    """

    part: int
    windows_us: int
    takes: RowCondition | None
    separates_by: tuple[str, ...] | None
    is_free: bool
    settles: bool = False
    later_us: int = 0


BY_ITSELF: Final = None
"""What a sub-graph looks at that looks at each event by itself."""


@dataclass(frozen=True, slots=True)
class FollowQuery:
    """A standing FOLLOW. Lengths in metres, times in microseconds.

    `before_us` is how far back operators look beyond `last_us`, the history that is asked for. `share` is (zone, zones): only focal
    objects that live in this zone. `interests`: not events are told, but interests. `needs` are those of the operators, one for each
    that reads this FOLLOW, and behind them, if it `emits_events` or nobody reads it, its own. `savings` are those that may be made. `operators` are
    None if nothing stands behind it.
    """

    name: str
    fingerprint: str
    shape: int
    events: Events
    focals: Focals
    geographic: bool
    radius_m: float | None
    box_m: tuple[float, float] | None
    last_us: int
    before_us: int
    update: Update
    every_us: int
    moved_m: float
    precision: float
    recall: float
    over_us: int
    forget_us: int
    each: bool
    best_effort: int | None
    share: tuple[int, int] | None
    interests: bool
    needs: tuple[Need, ...]
    savings: frozenset[Saving]
    emits_events: bool
    operators: Operators[Any] | None

    @property
    def reuses(self) -> bool:
        """Whether anything that was streamed for the interest before may be left out."""
        return bool(self.savings) and not self.compares_nothing and any(need.is_free for need in self.needs)

    @property
    def compares_nothing(self) -> bool:
        """Whether interests are not compared with those before: what was told is told again, or regions have shapes of their own."""
        return self.each or self.focals.shape is not None

    @property
    def reach_us(self) -> int:
        """How long before an interest begins its events do."""
        return self.last_us + self.before_us

    @property
    def history_us(self) -> int:
        """How far back it may look from the present."""
        return max(self.reach_us, self.over_us if self.update is Update.QUALITY else 0)


class Lives(NamedTuple):
    """Interests in the order of their starts, of each focal object at least: one row each.

    `end` is END while nobody knows it; `is_over`: all its events have come.
    """

    serial: Whole  # names an interest in what is kept of it
    focal: Column
    number: Whole
    start: Whole
    end: Whole
    is_over: NDArray[np.bool_]


class InterestEvents(NamedTuple):
    """Events for one reader, in order of interest and time; `of[n]` is the place of each one's interest in `Lives`."""

    rows: Rows
    of: Whole


class InterestAnswers(NamedTuple):
    """Answers with their stamps, and for each of them the place of its interest in `Lives`."""

    answers: Answers
    of: Whole


class Operators(Protocol[State]):
    """What runs on the events of each interest of a FOLLOW by themselves, from nothing. The kernel hands its states back as they are."""

    def start(self) -> State:
        """No interest yet."""
        ...

    def due(self, state: State, watermark: Instant) -> Ids:
        """The focal objects of interests that a step up to this watermark must be given though no event of theirs comes."""
        ...

    def step(
        self, state: State, lives: Lives, events: Sequence[InterestEvents], settled: Whole, watermark: Instant
    ) -> tuple[State, Sequence[InterestAnswers], Mapping[str, int]]:
        """Take the events of some interests, for each need: all that have events, that are due, or over, are among them.

        `settled` int64[interests, parts]: answers before were told already.
        """
        ...

    def save(self, state: State) -> Saved:
        """Ready to be written."""
        ...

    def load(self, saved: Saved, since: Instant) -> State:
        """As saved; operators that are new see events from `since` on."""
        ...


def stamped(rows: Rows, lives: Lives, of: Whole) -> Rows:
    """Rows with an event_time, and whose they are: `focal`, `interest`, `historical`."""
    return rows.having(
        **{
            FOCAL: lives.focal.take(of),
            INTEREST: Column(ColumnType.BIGINT, lives.number[of]),
            HISTORICAL: Column(ColumnType.BOOLEAN, rows["event_time"].values < lives.start[of]),
        }
    )
