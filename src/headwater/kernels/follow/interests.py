"""Where is each focal object interested in events, and since when? Location updates become interests.

Rule 1  The first update of an object begins its interest 1. A later one begins the next if the update condition holds: always; more
        than t after the last began; more than d from its place; or when too few of the latest events lie in both regions.
Rule 2  Of several updates of an object at one time the last in the order counts.
Rule 3  An object that is silent for longer than FORGET is forgotten: its last life includes the microsecond at which the silence reaches
        that length, and a later update begins interest 1 again.
Rule 4  Every known object has exactly one interest whose end is not known yet. So the state is one row for each object.
Rule 5  The end of the input is the end of every life.

Memory  One row for every object heard of within FORGET: 72 bytes and its key, 32 more with EMIT INTERESTS, with SHAPE also the shape.
        Without FORGET an object is followed for ever, so rows stay for ever. A forgotten object leaves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.cells import cells_of
from headwater.kernels.follow.choices import Update
from headwater.kernels.follow.places import Look, Places, is_in
from headwater.kernels.follow.question import FollowQuery, Real, Whole
from headwater.model import END, Column, ColumnType, Instant, coded, compacted, join_columns
from headwater.model.place import distance_m

_LOOP: Final[dict[str, Any]] = {"nogil": True}

_ORDER: Final = tuple(Update)
_EVERY: Final = _ORDER.index(Update.EVERY)
_MOVED: Final = _ORDER.index(Update.MOVED)
_QUALITY: Final = _ORDER.index(Update.QUALITY)


TALLIES: Final = 4
"""The number of counters of an interest."""


class Updates(NamedTuple):
    """Location updates in order: object, time, place, and the shape there (empty texts without SHAPE)."""

    focal: Column
    time: Whole
    x: Real
    y: Real
    shape: Column


@dataclass(frozen=True, slots=True)
class Alive:
    """The interests whose end is not known, one for each focal object: where they are, and the last time and place of the object.

    `tally` int64[n, TALLIES] are the counters of each (see `quality`).
    """

    focal: Column
    serial: Whole
    number: Whole
    start: Whole
    heard: Whole
    x: Real
    y: Real
    last_x: Real
    last_y: Real
    shape: Column
    tally: Whole

    @classmethod
    def none(cls, kind: ColumnType) -> Alive:
        """No interests."""
        whole, real, text = np.zeros(0, np.int64), np.zeros(0), Column.of(ColumnType.STRING, ())
        tally = np.zeros((0, TALLIES), np.int64)
        return cls(Column.of(kind, ()), whole, whole, whole, whole, real, real, real, real, text, tally)


@dataclass(frozen=True, slots=True)
class Interests:
    """All interests of a step: those that were alive, then those that began. `is_new` tells them apart; `end` is END while not known.

    `previous` is the place of the interest that each new one replaces, -1 if there is none. `update` int64[updates] is the current
    interest after each location update.
    """

    focal: Column
    serial: Whole
    number: Whole
    start: Whole
    end: Whole
    x: Real
    y: Real
    shape: Column
    is_new: NDArray[np.bool_]
    is_over: NDArray[np.bool_]
    heard: Whole
    last_x: Real
    last_y: Real
    previous: Whole
    update: Whole

    def alive(self, tally: Whole) -> Alive:
        """The interests that continue, with the counters of all."""
        left = np.flatnonzero(~self.is_over)
        return Alive(
            compacted(self.focal.take(left)),
            self.serial[left],
            self.number[left],
            self.start[left],
            self.heard[left],
            self.x[left],
            self.y[left],
            self.last_x[left],
            self.last_y[left],
            compacted(self.shape.take(left)),
            tally[left],
        )


class Recent(NamedTuple):
    """What QUALITY compares: events with their grid, and boxes around regions; `box` int64[n + 1] says which boxes belong to which region.

    The regions are those of the interests that were alive, and then those that the updates would create.
    """

    places: Places
    look: Look
    box: Whole


class _Rules(NamedTuple):
    update: int
    every_us: int
    moved_m: float
    precision: float
    recall: float
    over_us: int
    forget_us: int
    geographic: bool
    since: int


def switch(
    query: FollowQuery,
    alive: Alive,
    updates: Updates,
    recent: Recent,
    since: Instant,
    watermark: Instant,
    serial: int,
) -> Interests:
    """Take updates in order and let time pass until `watermark`; new interests are numbered from `serial` on.

    Events before `since` are not for this query.
    """
    known, came = len(alive.serial), len(updates.time)
    code, codes = _codes([alive.focal, updates.focal])
    room = known + came
    number, start, end = _joined(alive.number, came), _joined(alive.start, came), np.full(room, END)
    heard, made_by = _joined(alive.heard, came), np.full(room, -1)
    x, y = np.concatenate([alive.x, updates.x]), np.concatenate([alive.y, updates.y])
    current = np.full(codes, -1)
    current[code[:known]] = np.arange(known)
    rules = _Rules(
        _ORDER.index(query.update),
        query.every_us,
        query.moved_m,
        query.precision,
        query.recall,
        query.over_us,
        query.forget_us,
        query.geographic,
        since,
    )
    after, previous = np.zeros(came, np.int64), np.full(room, -1)
    many = _switch(
        rules,
        code[known:],
        updates.time,
        x,
        y,
        current,
        number,
        start,
        end,
        heard,
        made_by,
        previous,
        after,
        recent,
    )
    over = end[:many] < END
    silent = heard[:many] + (query.forget_us + 1)
    forgotten = ~over & ((silent <= watermark) | (watermark == END))
    end[:many][forgotten] = np.minimum(silent[forgotten], END)
    last_x, last_y = (np.concatenate([of, np.zeros(many - known)]) for of in (alive.last_x, alive.last_y))
    last_x[after], last_y[after] = updates.x, updates.y
    begun = np.arange(many - known)
    made = known + made_by[known:many]
    place = np.concatenate([np.arange(known), made])
    return Interests(
        join_columns([alive.focal, updates.focal]).take(place),
        np.concatenate([alive.serial, serial + begun]),
        number[:many],
        start[:many],
        end[:many],
        x[place],
        y[place],
        join_columns([alive.shape, updates.shape]).take(place),
        np.arange(many) >= known,
        over | forgotten,
        heard[:many],
        last_x,
        last_y,
        previous[:many],
        after,
    )


@loop(**_LOOP)
def _switch(  # noqa: PLR0913 one array for each column of interests
    rules: _Rules,
    code: Whole,
    time: Whole,
    x: Real,
    y: Real,
    current: Whole,
    number: Whole,
    start: Whole,
    end: Whole,
    heard: Whole,
    made_by: Whole,
    previous: Whole,
    after: Whole,
    recent: Recent,
) -> int:
    """Process the updates; returns how many interests there are then. `x` and `y` are those of the known interests, then of the updates.

    `after` receives the current interest after each update.
    """
    many = len(x) - len(code)
    known = many
    for update in range(len(code)):
        of, now = current[code[update]], time[update]
        number_then = 1
        if of >= 0:
            if now - heard[of] <= rules.forget_us:
                at = of if of < known else known + made_by[of]
                heard[of] = now
                after[update] = of
                if not _is_due(rules, now, now - start[of], x, y, at, known + update, recent):
                    continue
                end[of], number_then, previous[many] = now, number[of] + 1, of
            else:
                end[of] = heard[of] + rules.forget_us + 1
        number[many], start[many], heard[many], made_by[many] = number_then, now, now, update
        current[code[update]] = after[update] = many
        many += 1
    return many


@loop(**_LOOP)
def _is_due(rules: _Rules, now: int, age: int, x: Real, y: Real, old: int, new: int, recent: Recent) -> bool:
    """Whether an update begins an interest, if the current one has its centre at place `old` and the update is at place `new`."""
    if rules.update == _EVERY:
        return age > rules.every_us
    if rules.update == _MOVED:
        return distance_m(x[old], y[old], x[new], y[new], rules.geographic) > rules.moved_m
    if rules.update == _QUALITY:
        chosen, relevant, both = count(max(now - rules.over_us, rules.since), now + 1, old, new, recent)
        precision = both / chosen if chosen > 0 else 1.0
        recall = both / relevant if relevant > 0 else 1.0
        return precision <= rules.precision or recall <= rules.recall
    return True


@loop(**_LOOP)
def count(since: int, until: int, old: int, new: int, recent: Recent) -> tuple[int, int, int]:
    """How many of the events from `since` on and before `until` lie in one region, in another, and in both."""
    chosen, relevant, both = 0, 0, 0
    listed = recent.places.cells
    low = np.searchsorted(recent.places.time, since)
    high = np.searchsorted(recent.places.time, until)
    for which in range(2):
        of, other = (old, new) if which == 0 else (new, old)
        for box in range(recent.box[of], recent.box[of + 1]):
            west, east, south, north = cells_of(
                recent.look.boxes, box, listed.corner, listed.size, listed.shape
            )
            for along in range(south, north + 1):
                for across in range(west, east + 1):
                    cell = along * listed.shape[0] + across
                    for place in range(listed.first[cell], listed.first[cell + 1]):
                        row = listed.member[place]
                        x, y = recent.places.x[row], recent.places.y[row]
                        if low <= row < high and is_in(recent.look, box, x, y):
                            if which == 0:
                                chosen += 1
                            else:
                                relevant += 1
                                both += _is_in_any(recent, other, x, y)
    return chosen, relevant, both


@loop(**_LOOP)
def _is_in_any(recent: Recent, of: int, x: float, y: float) -> int:
    for box in range(recent.box[of], recent.box[of + 1]):
        if is_in(recent.look, box, x, y):
            return 1
    return 0


def _joined(known: Whole, more: int) -> Whole:
    return np.concatenate([known, np.zeros(more, np.int64)])


def _codes(columns: list[Column]) -> tuple[Whole, int]:
    """A number for each key of some columns, none of them NULL, and how many numbers there are."""
    joined = join_columns(columns)
    if joined.type is ColumnType.STRING:
        assert joined.names is not None
        return joined.values.astype(np.int64), len(joined.names)
    different, code = np.unique(joined.values, return_inverse=True)
    return code.astype(np.int64), len(different)


def last_of_ties(updates: Updates) -> Updates:
    """The updates that are not followed by another of the same object at the same time."""
    code, _ = _codes([updates.focal])
    order = np.lexsort([np.arange(len(code)), updates.time, code])
    follows = (code[order][1:] == code[order][:-1]) & (updates.time[order][1:] == updates.time[order][:-1])
    last = np.sort(order[np.append(~follows, True)]) if len(order) else order
    return Updates(
        updates.focal.take(last),
        updates.time[last],
        updates.x[last],
        updates.y[last],
        updates.shape.take(last),
    )


def texts(count: int) -> Column:
    """A column of empty texts: the shapes of a query without SHAPE."""
    return coded(np.zeros(count, np.int32), np.array([""], object))
