"""A FOLLOW query as its kernel sees it: which objects, how far around them, how far back, and which operators are downstream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

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

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

FOCAL = "focal"
INTEREST = "interest"
HISTORICAL = "historical"
SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a query: the rows of some sources as one stream, for which a condition holds.

    `sources` are the streams as they are stored, each under its name. `identity` is the same for queries with the same events.
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
    """The focal objects: rows of a source for which a condition holds, with a key and a place, and a shape if there is a column of shapes."""

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
    """Which events one reader of a FOLLOW needs: an operator, or the output of the FOLLOW itself.

    `part` is the number of the reader's sub-graph of connected operators. `windows_us` is the longest sum of windows on a path from here on.
    `takes` holds for all events that can matter to it; None: any may. `separates_by` are columns: the sub-graph answers for each group of
    events with equal values in them (empty: for all events together), or BY_ITSELF. `is_free`: its answers do not depend on where its events
    begin. `settles`: its answers may be wrong until windows are filled. `later_us` is how long after an answer further events, or the end of a
    life, may still change it: a loop takes more rows, and the answer becomes another one.
    """

    part: int
    windows_us: int
    takes: RowCondition | None
    separates_by: tuple[str, ...] | None
    is_free: bool
    settles: bool = False
    later_us: int = 0


BY_ITSELF: Final = None
"""`separates_by` of a sub-graph that judges each event alone."""


@dataclass(frozen=True, slots=True)
class FollowQuery:
    """A standing FOLLOW. Lengths in metres, times in microseconds.

    `before_us` is how far back operators look beyond `last_us`, the requested history. `share` is (zone, zones): only focal objects that live in
    this zone. `interests`: it emits interests instead of events. `needs` has one entry for each operator that reads this FOLLOW, and a last
    one for its own output if it `emits_events` or has no reader. `savings` are the permitted ones. `operators` are None if there are none
    downstream.
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
    operators: Operators | None

    @property
    def reuses(self) -> bool:
        """Whether events that were streamed for the previous interest may be left out."""
        return bool(self.savings) and not self.compares_nothing and any(need.is_free for need in self.needs)

    @property
    def compares_nothing(self) -> bool:
        """Whether interests are not compared with the previous ones: all answers are delivered again, or regions have shapes of their own."""
        return self.each or self.focals.shape is not None

    @property
    def reach_us(self) -> int:
        """How long before the start of an interest its events begin."""
        return self.last_us + self.before_us

    @property
    def history_us(self) -> int:
        """How far back it may read stored events."""
        return max(self.reach_us, self.over_us if self.update is Update.QUALITY else 0)


class Lives(NamedTuple):
    """Interests, one row each; those of a focal object are in the order of their starts.

    `end` is END while it is not known; `is_over`: all events of the interest have arrived.
    """

    serial: Whole  # identifies an interest in saved state
    focal: Column
    number: Whole
    start: Whole
    end: Whole
    is_over: NDArray[np.bool_]


class InterestEvents(NamedTuple):
    """Events for one reader, in order of interest and time; `of[n]` is the place in `Lives` of the interest of event n."""

    rows: Rows
    of: Whole


class InterestAnswers(NamedTuple):
    """Answers with their stamps, and for each of them the place of its interest in `Lives`."""

    answers: Answers
    of: Whole


class OperatorState:
    """What operators know of all interests. Each kind of operators has a state of its own, which only they read."""

    __slots__ = ()


class Operators(Protocol):
    """The operators that run on the events of each interest of a FOLLOW separately, from an empty state. Only they read their states."""

    def start(self) -> OperatorState:
        """No interest yet."""
        ...

    def due(self, state: OperatorState, watermark: Instant) -> Ids:
        """The focal objects with interests that must be stepped up to this watermark, even without events."""
        ...

    def step(
        self,
        state: OperatorState,
        lives: Lives,
        events: Sequence[InterestEvents],
        settled: Whole,
        watermark: Instant,
    ) -> tuple[OperatorState, Sequence[InterestAnswers], Mapping[str, int]]:
        """Take the events of some interests, for each need. All interests that have events, are due, or are over are among them.

        `settled` int64[interests, parts]: answers before these times have been delivered.
        """
        ...

    def save(self, state: OperatorState) -> Saved:
        """The state, ready to be written."""
        ...

    def load(self, saved: Saved, since: Instant) -> OperatorState:
        """A saved state; new operators see events from `since` on."""
        ...


def stamped(rows: Rows, lives: Lives, of: Whole) -> Rows:
    """Rows with an event_time, and the columns `focal`, `interest` and `historical`."""
    return rows.having(
        **{
            FOCAL: lives.focal.take(of),
            INTEREST: Column(ColumnType.BIGINT, lives.number[of]),
            HISTORICAL: Column(ColumnType.BOOLEAN, rows["event_time"].values < lives.start[of]),
        }
    )
