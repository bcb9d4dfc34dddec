"""What is asked: whom to follow, how far around them, how long back, and what stands behind it.

The kernel gets rows of several sources at once. A `Taking` says which of them are rows of one source and under which names its
columns are found; so a focal stream may be an event stream at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.follow.words import Update
from headwater.model import Answers, Column, ColumnType, Instant, Rows, StreamSchema

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

FOCAL = "focal"
INTEREST = "interest"
HISTORICAL = "historical"
SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Taking:
    """The rows of one source: its number among them (None: there is no other), and the name of each of its columns there."""

    source: int | None
    columns: Mapping[str, str]

    def rows(self, rows: Rows) -> Rows:
        """Its rows, with its own names; without columns that did not travel."""
        own = Rows({name: rows[there] for name, there in self.columns.items() if there in rows}, rows.count)
        return own if self.source is None else own.take(rows[SOURCE].values == self.source)


@dataclass(frozen=True, slots=True)
class Events:
    """What is looked at: the rows of some sources as one stream, as far as a condition holds.

    With several sources, `names` is what each is called in the column `source`. `where` is a place in the kernel's list of
    conditions.
    """

    sources: tuple[Taking, ...]
    names: tuple[str, ...]
    schema: StreamSchema
    where: int | None

    @property
    def identity(self) -> str:
        """The same for queries that can share what is stored."""
        return repr((self.names, [taking.source for taking in self.sources], self.schema.columns, self.where))


@dataclass(frozen=True, slots=True)
class Focals:
    """Who is followed: rows of a source for which a condition holds, with a key and a place, and a shape if there is a column of them."""

    taking: Taking
    where: int | None
    key: str
    x: str
    y: str
    x_type: ColumnType
    y_type: ColumnType
    shape: str | None


@dataclass(frozen=True, slots=True)
class Reuse:
    """What operators look at together: events that are alike in some columns; None: each event by itself."""

    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class FollowQuery:
    """A standing FOLLOW. Lengths in metres, times in microseconds.

    `before_us` is how far back operators look beyond `last_us`, the history that is asked for. `share` is (zone, zones): only focal
    objects that live in this zone. `interests`: not events are told, but interests. `reuse`: what an interest
    need not see again (see `reuse`); None: everything is streamed. `tells`: somebody asked for the answers of FOLLOW itself. `operators` are None if nothing stands behind it.
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
    reuse: Reuse | None
    tells: bool
    operators: Operators | None

    @property
    def reach_us(self) -> int:
        """How long before an interest begins its events do."""
        return self.last_us + self.before_us


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


class Told(NamedTuple):
    """Answers with their stamps, and for each of them the place of its interest in `Lives`."""

    answers: Answers
    of: Whole


class Operators(Protocol):
    """What stands behind a FOLLOW: runs on the events of each interest by themselves, from nothing."""

    def start(self) -> Any:
        """No interest yet."""
        ...

    def step(
        self, state: Any, lives: Lives, rows: Rows, of: Whole, watermark: Instant
    ) -> tuple[Any, Sequence[Told], Mapping[str, int]]:
        """Take the events of interests, in order of interest and time; `of[n]` is the place of each one's interest in `lives`."""
        ...

    def save(self, state: Any) -> dict[str, Any]:
        """As plain values."""
        ...

    def load(self, values: dict[str, Any], since: Instant) -> Any:
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
