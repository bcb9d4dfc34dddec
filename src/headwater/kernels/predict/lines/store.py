"""What is each sensor's line, from when until when? The updates of one source, as lines in slots.

Rule 1  A step takes updates in stream order and emits the events of lines, in order (see `events`): for each update LIFE of
        its sensor's former line if that is cut, with a buffer PURGE of what is over, GIVE_UP and LIFE of the line that covers
        for it, then ADD of itself unless it is refused. Last comes PURGE of lines with end + w < watermark.
Rule 2  A slot that is freed is used again only in a later step: a reader of a step's events finds every line they refer to, with
        its last life; the lives in between are in the events.
Rule 3  How the updates are cut into steps changes neither lives nor what is given up, only when a line is purged.
Rule 4  A step changes none of its arguments.

Memory  Without a buffer: the open line of each sensor and those closed or run out less than w before the watermark. With
        a buffer: at most n lines. Slots are as many as these and the updates of the largest step since there were none,
        at most, until the state is saved without the empty ones (`save`). A step copies the slots in use, so many small
        steps cost more than one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.predict.choices import GiveUp
from headwater.kernels.predict.geometry.shapes import Lines, Real, Whole
from headwater.kernels.predict.lines import buffer as bounded
from headwater.kernels.predict.lines.buffer import Buffer, keep
from headwater.kernels.predict.lines.events import EVENT_COLUMNS, PURGE, Keys, Updates
from headwater.kernels.predict.lines.heap import Heap
from headwater.kernels.predict.lines.slots import follow
from headwater.model import Instant

_POLICIES: Final = {
    GiveUp.LEAST: bounded.LEAST,
    GiveUp.NEWEST: bounded.NEWEST,
    GiveUp.OLDEST: bounded.OLDEST,
    GiveUp.RANDOM: bounded.RANDOM,
}
_BY_SLOT: Final = ("key", "before", "after", "number", "worth")
_NEIGHBOURS: Final = {"before", "after"}
_SMALLEST: Final = 16


@dataclass(frozen=True, slots=True)
class LineState:
    """Lines by slot; a slot that is not `stored` may hold a former line.

    `key` int64[slots] is the code of a line's sensor. `last` int64[codes] is the slot of a sensor's last line, or -1. With a
    buffer also, by slot: `before` and `after`, the neighbours of the same sensor or -1; `number`, the update's place in the
    stream; `worth`, its contribution (LEAST only). `count` is the number of updates seen, `handed_on_us` how much life was passed to neighbours.
    """

    lines: Lines
    key: Whole
    stored: NDArray[np.bool_]
    last: Whole
    before: Whole
    after: Whole
    number: Whole
    worth: Real
    count: int
    handed_on_us: int


@dataclass(frozen=True, slots=True)
class Happened:
    """The results of a step: `events` int64[m, 5]; updates given up, refused ones included; whole seconds of life passed to neighbours.

    Seconds of all steps add up to those of all lives passed on: a fraction is emitted when it has become whole.
    """

    events: Whole
    updates_given_up: int = 0
    seconds_given_up: int = 0


class LineStore:
    """The lines of one source, all of them or at most `buffer` at a time."""

    def __init__(
        self,
        dimensions: int,
        within_us: int,
        *,
        buffer: int | None = None,
        give_up: GiveUp = GiveUp.LEAST,
        seed: int = 0,
    ) -> None:
        assert buffer is None or buffer >= 1, "a buffer of nothing"
        self.dimensions = dimensions
        self.within_us = within_us
        self.buffer = buffer
        self.give_up = give_up
        seed &= 0xFFFF_FFFF_FFFF_FFFF
        self._seed = seed - (1 << 64) if seed >= 1 << 63 else seed

    def start(self) -> LineState:
        """No lines."""
        return self._state(0, 0)

    def step(
        self, state: LineState, updates: Updates, watermark: Instant, keys: Keys | None = None
    ) -> tuple[LineState, Happened]:
        """Take updates, none of them before an earlier step's, and let time pass until `watermark`.

        `keys` matters to a buffer only; without it keys are ordered by, and identified with, their codes.
        """
        if not len(updates.t0) and not self._due(state, watermark).any():
            return state, Happened(np.empty((0, EVENT_COLUMNS), np.int64))
        updates = Updates(*map(_plain, updates))
        if self.buffer is None:
            return self._follow(state, updates, watermark)
        return self._keep(state, updates, watermark, Keys(*map(_plain, keys)) if keys else None)

    def lines(self, state: LineState) -> Lines:
        """The lines by slot, with the lives they have now."""
        return state.lines

    def save(self, state: LineState, codes: Whole) -> dict[str, Any]:
        """The stored lines without gaps between them (see `slots_without_gaps`), of sensors with these codes, which become the codes 0, 1, …."""
        slots, place = np.flatnonzero(state.stored), slots_without_gaps(state)
        saved: dict[str, Any] = {name: column[slots] for name, column in state.lines._asdict().items()}
        for name in self._columns:
            saved[name] = getattr(state, name)[slots]
        for name in _NEIGHBOURS & saved.keys():
            saved[name] = _moved(saved[name], place)
        last = np.full(len(codes), -1)
        known = codes < len(state.last)
        last[known] = state.last[codes[known]]
        return {
            **saved,
            "key": np.searchsorted(codes, saved["key"]),
            "last": _moved(last, place),
            "count": state.count,
            "handed_on_us": state.handed_on_us,
        }

    def load(self, saved: dict[str, Any]) -> LineState:
        """The saved state."""
        many, last = len(saved["key"]), saved["last"]
        empty = self._state(_room(many), len(last))
        empty.last[:] = last
        empty.stored[:many] = True
        for name, column in empty.lines._asdict().items():
            column[:many] = saved[name]
        for name in self._columns:
            getattr(empty, name)[:many] = saved[name]
        return replace(empty, count=saved["count"], handed_on_us=saved["handed_on_us"])

    # --- steps --------------------------------------------------------------------------------------------------------

    def _follow(self, state: LineState, updates: Updates, watermark: Instant) -> tuple[LineState, Happened]:
        """Without a buffer."""
        many = len(updates.t0)
        if many:
            state = self._copied(state, updates)
            free = np.flatnonzero(~state.stored)[:many]
            events = np.empty((2 * many, EVENT_COLUMNS), np.int64)
            count = follow(state.lines, state.key, state.stored, state.last, updates, free, events)
            events = events[:count]
        else:
            state = replace(state, stored=state.stored.copy(), last=state.last.copy())
            events = np.empty((0, EVENT_COLUMNS), np.int64)
        purged = self._purge(state, watermark)
        return replace(state, count=state.count + many), Happened(np.concatenate([events, purged]))

    def _purge(self, state: LineState, watermark: Instant) -> Whole:
        """Remove what is over; returns the events of it."""
        slots = np.flatnonzero(self._due(state, watermark))
        state.stored[slots] = False
        of = state.key[slots]
        state.last[of[state.last[of] == slots]] = -1
        start, end = state.lines.start[slots], state.lines.end[slots]
        same = np.ones_like(slots)
        return np.stack([PURGE * same, slots, start, end, watermark * same], axis=1)

    def _keep(
        self, state: LineState, updates: Updates, watermark: Instant, keys: Keys | None
    ) -> tuple[LineState, Happened]:
        """With a buffer."""
        assert self.buffer is not None
        many = len(updates.t0)
        stored = int(np.count_nonzero(state.stored))
        before, state = state, self._copied(state, updates)
        slots, codes = len(state.key), len(state.last)
        if keys is None:
            keys = Keys(np.arange(codes), np.arange(codes))
        room = min(self.buffer, stored + many) + 1
        rules = np.array([self.buffer, self.within_us, _POLICIES[self.give_up], self._seed], np.int64)
        counts = np.zeros(bounded.COUNTS, np.int64)
        counts[bounded.NUMBER] = state.count
        counts[bounded.HANDED_ON_US] = state.handed_on_us
        buffer = Buffer(
            state.lines,
            state.key,
            state.stored,
            state.last,
            state.before,
            state.after,
            state.number,
            state.worth,
            _heap(state, keys, state.lines.end, room, slots),
            _heap(state, keys, state.worth, room, slots),
            rules,
            counts,
            np.empty((5 * many + stored, EVENT_COLUMNS), np.int64),
        )
        keep(buffer, updates, keys, np.flatnonzero(~state.stored)[:many], watermark)
        handed_on_us = int(counts[bounded.HANDED_ON_US])
        happened = Happened(
            buffer.events[: counts[bounded.EVENTS]].copy(),
            int(counts[bounded.GIVEN_UP]),
            handed_on_us // 1_000_000 - before.handed_on_us // 1_000_000,
        )
        return replace(state, count=int(counts[bounded.NUMBER]), handed_on_us=handed_on_us), happened

    def _due(self, state: LineState, watermark: Instant) -> NDArray[np.bool_]:
        due: NDArray[np.bool_] = state.lines.end < watermark - self.within_us
        due &= state.stored
        return due

    # --- slots --------------------------------------------------------------------------------------------------------

    @property
    def _columns(self) -> tuple[str, ...]:
        """The further columns of a line."""
        return _BY_SLOT[:1] if self.buffer is None else _BY_SLOT

    def _state(self, slots: int, codes: int) -> LineState:
        """No lines, and room for some."""
        more = 0 if self.buffer is None else slots
        lines = Lines(
            np.zeros(slots, np.int64),
            np.zeros(slots, np.int64),
            np.zeros(slots, np.int64),
            np.zeros((slots, self.dimensions)),
            np.zeros((slots, self.dimensions)),
            np.zeros(slots),
        )
        return LineState(
            lines,
            np.zeros(slots, np.int64),
            np.zeros(slots, np.bool_),
            np.full(codes, -1),
            np.zeros(more, np.int64),
            np.zeros(more, np.int64),
            np.zeros(more, np.int64),
            np.zeros(more),
            0,
            0,
        )

    def _copied(self, state: LineState, updates: Updates) -> LineState:
        """A copy of a state with room for some updates."""
        many = len(updates.t0)
        slots = np.flatnonzero(state.stored)
        top = int(slots[-1]) + 1 if len(slots) else 0
        codes = max(len(state.last), int(updates.key.max()) + 1 if many else 0)
        if codes > len(state.last):
            codes = max(codes, 2 * len(state.last))
        copy = self._state(_room(max(top, len(slots) + many)), codes)
        copy.last[: len(state.last)] = state.last
        copy.stored[:top] = state.stored[:top]
        for to, column in zip(copy.lines, state.lines, strict=True):
            to[:top] = column[:top]
        for name in self._columns:
            getattr(copy, name)[:top] = getattr(state, name)[:top]
        return replace(copy, count=state.count, handed_on_us=state.handed_on_us)


def slots_without_gaps(state: LineState) -> Whole:
    """int64[slots]: the slot that each stored line has after saving and loading, -1 for the others."""
    return np.where(state.stored, np.cumsum(state.stored) - 1, -1)


def _moved(slots: Whole, place: Whole) -> Whole:
    """Where lines are after a move; -1, for none, stays."""
    return np.where(slots >= 0, place[slots], -1) if len(place) else slots


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """The one layout for which the loops are compiled: arrays from bytes are read-only, columns of tables have gaps."""
    return np.require(column, requirements=["C", "W"])


def _heap(state: LineState, keys: Keys, first: NDArray[Any], room: int, slots: int) -> Heap:
    place = np.empty(slots, np.int64)
    return Heap(np.empty(room, np.int64), place, first, state.lines.t0, state.key, keys.rank, state.number)


def _room(slots: int) -> int:
    """Slightly more, in eighths of a power of two: arrays with an entry for each slot then rarely change their length."""
    eighth = max(_SMALLEST, (1 << max(slots - 1, 0).bit_length()) // 8)
    return -(-slots // eighth) * eighth
