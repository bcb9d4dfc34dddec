"""FOLLOW, straight from its definition: for every interest filter the whole history, run the operators on it, keep what counts.

Events and location updates are taken in the order of their streams. An operator is a function from the rows of an interest to
what it answers, with its own event times and identities, from an empty state to the end of its input; so the oracles of all
operators, and chains of them, stand behind this one.

The paper's symbols: R_i is the region of a location update, P_j an `Interest`, δ is `last_us`, the sum of windows on the longest
path (lemma 1) is `windows_us`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.model import EARTH_RADIUS_M, END, Instant
from tests.laws.oracles.correlate import distance

Row = dict[str, Any]
Place = tuple[float, float]
HOUR_US = 3_600_000_000
ALWAYS, EVERY, MOVED, QUALITY = "ALWAYS", "EVERY", "MOVED", "QUALITY"


@dataclass(frozen=True)
class Following:
    """What is asked. `over_us` None: δ, or a minute where δ is 0."""

    radius_m: float | None = None
    box_m: tuple[float, float] | None = None
    geographic: bool = False
    last_us: int = 0
    windows_us: int = 0
    update: str = ALWAYS
    every_us: int = 0
    moved_m: float = 0.0
    precision: float = 0.0
    recall: float = 0.0
    over_us: int | None = None
    forget_us: int = HOUR_US
    each: bool = False
    best_effort: int | None = None

    @property
    def quality_us(self) -> int:
        """h: how far back events count for the quality."""
        if self.over_us is not None:
            return self.over_us
        return self.last_us or 60_000_000


@dataclass(frozen=True)
class Event:
    """A row that satisfies WHERE; no place: it lies in no region."""

    time: Instant
    place: Place | None
    row: Row


@dataclass(frozen=True)
class Location:
    """A location update that satisfies WHERE; without a key or a place it is none."""

    time: Instant
    key: Any
    place: Place | None


@dataclass(frozen=True)
class Interest:
    """P_j: the region around `centre` in [start, end). `number` counts from 1, and anew when its object was forgotten."""

    focal: Any
    number: int
    centre: Place
    start: Instant
    end: Instant


@dataclass(frozen=True)
class Answer:
    """What an operator tells. Answers of one identity are one situation."""

    event_time: Instant
    identity: Hashable
    values: Row


@dataclass(frozen=True)
class Delivered:
    """An answer with its stamps."""

    interest: Interest
    answer: Answer

    @property
    def historical(self) -> bool:
        """Whether it happened before the interest began."""
        return self.answer.event_time < self.interest.start

    @property
    def row(self) -> Row:
        """As a query answers it."""
        stamps = {
            "focal": self.interest.focal,
            "interest": self.interest.number,
            "historical": self.historical,
        }
        return {"event_time": self.answer.event_time, **stamps, **self.answer.values}


Operate = Callable[[Sequence[Row]], Sequence[Answer]]


def delivered(
    following: Following, events: Sequence[Event], updates: Sequence[Location], operate: Operate
) -> list[Delivered]:
    """Everything that is delivered: by focal object, interests in order, within an interest by event time."""
    found = []
    for focal in focals(updates):
        known: set[Hashable] = set()  # what was delivered for earlier interests
        for interest in interests(following, focal, events, updates):
            rows = [event.row for event in stream_of(following, interest, events)]
            mine = [
                answer
                for answer in sorted(operate(rows), key=lambda answer: answer.event_time)
                if interest.start - following.last_us <= answer.event_time < interest.end
                and (following.each or answer.identity not in known)
            ]
            found += [Delivered(interest, answer) for answer in mine]
            known |= {answer.identity for answer in mine}
    return found


def focals(updates: Sequence[Location]) -> list[Any]:
    """The focal objects, as they first come."""
    return list(dict.fromkeys(update.key for update in updates if is_update(update)))


def is_update(update: Location) -> bool:
    """Whether there is somebody to follow, and somewhere."""
    return update.key is not None and update.place is not None


def interests(
    following: Following, focal: Any, events: Sequence[Event], updates: Sequence[Location]
) -> list[Interest]:
    """The interests of one focal object, in order."""
    found: list[Interest] = []
    begun: tuple[int, Place, Instant] | None = None  # number, centre and start of the current one
    last: Instant | None = None  # the last update, whether it began one or not

    def ends(at: Instant) -> None:
        if begun is not None:
            number, centre, start = begun
            found.append(Interest(focal, number, centre, start, at))

    for time, place in instants(focal, updates):
        if last is not None and time - last > following.forget_us:
            ends(last + following.forget_us + 1)
            begun = None
        last = time
        if begun is None:
            begun = (1, place, time)
        elif begins_anew(following, begun[1], begun[2], events, time, place):
            ends(time)
            begun = (begun[0] + 1, place, time)
    if last is not None:
        ends(min(last + following.forget_us + 1, END))
    return found


def instants(focal: Any, updates: Sequence[Location]) -> list[tuple[Instant, Place]]:
    """When and where the object was heard of: of several updates at one time, the last."""
    heard = {update.time: update.place for update in updates if update.key == focal and is_update(update)}
    return [(time, heard[time]) for time in sorted(heard)]  # type: ignore[misc]


def begins_anew(
    following: Following, centre: Place, start: Instant, events: Sequence[Event], time: Instant, place: Place
) -> bool:
    """The update condition: whether an update at `time` and `place` begins the next interest."""
    if following.update == EVERY:
        return time - start > following.every_us
    if following.update == MOVED:
        return distance(following.geographic, centre, place) > following.moved_m
    if following.update == QUALITY:
        recent = [event for event in events if time - following.quality_us <= event.time <= time]
        old = [event for event in recent if contains(following, centre, event)]
        new = [event for event in recent if contains(following, place, event)]
        both = sum(contains(following, place, event) for event in old)
        return share(both, len(old)) <= following.precision or share(both, len(new)) <= following.recall
    return True


def share(part: int, whole: int) -> float:
    """A quotient with nothing below the line is 1."""
    return part / whole if whole else 1.0


def stream_of(following: Following, interest: Interest, events: Sequence[Event]) -> list[Event]:
    """The events that the operators of an interest see."""
    return [*_replayed(following, interest, events), *_live(following, interest, events)]


def cut_from(following: Following, interest: Interest, events: Sequence[Event]) -> int:
    """How many historical events BEST EFFORT left out."""
    return len(list(_history(following, interest, events))) - len(_replayed(following, interest, events))


def _replayed(following: Following, interest: Interest, events: Sequence[Event]) -> list[Event]:
    history = list(_history(following, interest, events))
    if following.best_effort is None:
        return history
    return history[max(0, len(history) - following.best_effort) :]


def _history(following: Following, interest: Interest, events: Sequence[Event]) -> Iterator[Event]:
    first = interest.start - following.last_us - following.windows_us
    for event in events:
        if first <= event.time < interest.start and contains(following, interest.centre, event):
            yield event


def _live(following: Following, interest: Interest, events: Sequence[Event]) -> Iterator[Event]:
    for event in events:
        if interest.start <= event.time < interest.end and contains(following, interest.centre, event):
            yield event


def contains(following: Following, centre: Place, event: Event) -> bool:
    """Whether an event lies in the region around a place, or on its border."""
    if event.place is None:
        return False
    if following.radius_m is not None:
        return distance(following.geographic, centre, event.place) <= following.radius_m
    assert following.box_m is not None
    wide, high = following.box_m
    if following.geographic:
        a_degree = math.radians(1) * EARTH_RADIUS_M
        wide, high = wide / (a_degree * math.cos(math.radians(centre[1]))), high / a_degree
    return abs(event.place[0] - centre[0]) <= wide / 2 and abs(event.place[1] - centre[1]) <= high / 2
