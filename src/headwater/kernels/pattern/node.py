"""Which events of one partition make up a sequence, on a sensor node with room for a fixed number of them?

The phases are the paper's:

Creation   a pattern becomes states: state s waits for element s, the state after the last element accepts (`NodePattern`).
Filtering  an event that satisfies no element's own condition is ignored (`_filtered`).
Scan       an event that no open sequence waits for is rejected, one that is waited for is registered in the window
           (`_scan_many`: UNRESTRICTED, `_scan_one`: FIRST and RECENT).
Response   the accepting event and the contents of the window are sent at once (`_send_all`, `_send_one`, `_send`).

Rule 1  UNRESTRICTED: every start event opens a sequence; every combination of one event per element, in the order of rows and
        at most `within_us` from first to last, is a match at its last event, lexicographic by row. With a seed, one of those
        that an event completes is sent: the n-th choice depends on the seed and n alone.
Rule 2  FIRST and RECENT hold one sequence. An event that the next state waits for advances it. RECENT: one that does not, but
        satisfies the element bound last, takes that event's place; so with (A, B), A x > 0 and B x > 5, a row of 7 is B.
Rule 3  After a match, and when its time has run out, a sequence of FIRST or RECENT starts empty. What was rejected before
        stays rejected; the event that finds it out of time is processed again.
Rule 4  `B+` means one B, others of which may be skipped; as that holds for every element, no mode needs to test for it.
Rule 5  A full window (UNRESTRICTED alone) gives up the newest event of the first sequence, its initial event last, then those
        of the second. Every event that follows some initial event follows the oldest one too: the first sequence has all
        events that are not initial. So the newest of these goes; if there is none, the oldest initial event. An event whose
        only predecessor had to go for it is given up as well.
Rule 6  One event registered for two elements takes two places.

Memory  The window: `hold` events, removed as soon as the latest initial event that they follow is out of time. The combinations that one
        event completes are cut at MOST_AT_ONCE. Both losses are counted. A step allocates a copy of the window and what it sends.
Source  In-network CEP (seed 002), section 6. Conditions on bound events belong into `_awaited` (FIRST and RECENT,
        where the window contains the bound events) and into `_next_of` (UNRESTRICTED, where `chosen` does).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.choices import Mode
from headwater.model import Instant
from headwater.model.splitmix import GOLDEN, splitmix64

Numbers = NDArray[np.int64]
Bits = NDArray[np.uint64]
Mask = NDArray[np.bool_]

MOST_ELEMENTS: Final = 63
MOST_HELD: Final = 1 << 20
ROOM: Final = 16  # matches of a step that there is room for at first
MOST_WITHIN_US: Final = 1 << 61  # so that a time and this can be added
MOST_AT_ONCE: Final = 1_000_000  # combinations that one event completes; further ones are cut and counted

HELD, CHOICES, DROPPED, CUT = range(4)
NEVER: Final = -(1 << 63)


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A sequence of elements: `repeats` (bool[elements]) says which are written with `+`.

    `seed`: UNRESTRICTED sends one combination for each completing event, chosen by it; None sends all.
    """

    elements: int
    repeats: Mask
    within_us: int
    mode: Mode
    hold: int = 64
    seed: int | None = None

    def __post_init__(self) -> None:
        assert 1 <= self.elements <= MOST_ELEMENTS, f"{self.elements} elements"
        assert self.repeats.shape == (self.elements,), "one `repeats` for each element"
        assert 0 <= self.within_us <= MOST_WITHIN_US, f"within {self.within_us} µs"
        assert self.least_hold <= self.hold <= MOST_HELD, f"a window of {self.hold} events"

    @property
    def least_hold(self) -> int:
        """A window with less room never has a match; the accepting event needs none."""
        return max(1, self.elements - 1)


class Window(NamedTuple):
    """Events in the order they were registered, each int64[hold], the first `counts[HELD]` of them in use.

    `start` is the time of the latest initial event that an event follows: when that is out of time, so is the event.
    `counts`: events held, choices made by the seed, events dropped, combinations cut (all but the first since the beginning).
    """

    element: Numbers
    row: Numbers
    time: Numbers
    start: Numbers
    counts: Numbers


class NodeState(NamedTuple):
    """The state of the node between steps."""

    window: Window

    @property
    def held(self) -> int:
        """How many events the window holds."""
        return int(self.window.counts[HELD])

    @property
    def dropped(self) -> int:
        """How many events a full window has given up."""
        return int(self.window.counts[DROPPED])

    @property
    def cut(self) -> int:
        """How many combinations were not sent because one event completed too many."""
        return int(self.window.counts[CUT])


class NodeStep(NamedTuple):
    """What one step gives: matches as row numbers (int64[m, elements]), their last times (int64[m]), events dropped."""

    state: NodeState
    matches: Numbers
    ends: Numbers
    dropped: int


class NodeScan:
    """The scan of one pattern over one partition; a state is passed in and a new one comes out."""

    def __init__(self, pattern: NodePattern) -> None:
        self.pattern = pattern

    def start(self) -> NodeState:
        """An empty window."""
        hold = self.pattern.hold
        element, row, time, start = np.zeros((4, hold), np.int64)
        return NodeState(Window(element, row, time, start, np.zeros(4, np.int64)))

    def step(self, state: NodeState, holds: Mask, time: Numbers, row: Numbers, now: Instant) -> NodeStep:
        """Take rows in order (`holds` is bool[elements, n], `row` grows); no later row will be before `now`."""
        pattern, window = self.pattern, Window(*(part.copy() for part in state.window))
        assert holds.shape == (pattern.elements, len(time)), "one row of `holds` for each element"
        bits = _filtered(np.ascontiguousarray(holds))
        room = Sent(
            np.empty(pattern.elements * ROOM, np.int64), np.empty(ROOM, np.int64), np.zeros(1, np.int64)
        )
        if pattern.mode is Mode.UNRESTRICTED:
            choosing, seed = pattern.seed is not None, np.uint64((pattern.seed or 0) & _ALL_BITS)
            sent = _scan_many(
                window, room, bits, Events(time, row), pattern.elements, pattern.within_us, choosing, seed
            )
            _forget(window, now, pattern.within_us)
        else:
            staying = pattern.mode is Mode.RECENT
            sent = _scan_one(window, room, bits, time, row, pattern.elements, pattern.within_us, staying)
            _give_up_late(window, now, pattern.within_us)
        count = int(sent.made[0])
        matches = sent.rows[: count * pattern.elements].reshape(count, pattern.elements)
        after = NodeState(window)
        return NodeStep(after, matches, sent.ends[:count], after.dropped - state.dropped)

    def save(self, state: NodeState) -> dict[str, Any]:
        """The events held and the counts; as large as what is held."""
        window = state.window
        parts = {name: getattr(window, name)[: state.held].copy() for name in _HELD_PARTS}
        return {**parts, "counts": window.counts.copy()}

    def load(self, saved: Mapping[str, Any]) -> NodeState:
        """A saved state of the same pattern."""
        state = self.start()
        for name in _HELD_PARTS:
            getattr(state.window, name)[: len(saved[name])] = saved[name]
        state.window.counts[:] = saved["counts"]
        return state


class Sent(NamedTuple):
    """Matches one after the other with room to grow: their rows, their last times, and how many there are."""

    rows: Numbers
    ends: Numbers
    made: Numbers


class Events(NamedTuple):
    """When each event was, and its row's number."""

    time: Numbers
    row: Numbers


_HELD_PARTS = ("element", "row", "time", "start")
_ALL_BITS = (1 << 64) - 1

# --- filtering --------------------------------------------------------------------------------------------------------


@loop
def _filtered(holds: Mask) -> Bits:
    """For each row the elements whose own conditions it satisfies, as bits; 0: none."""
    bits = np.zeros(holds.shape[1], np.uint64)
    for element in range(holds.shape[0]):
        bit = np.uint64(1) << np.uint64(element)
        for i in range(holds.shape[1]):
            if holds[element, i]:
                bits[i] |= bit
    return bits


@loop(inline="always")
def _satisfies(bits: int, element: int) -> bool:
    return (np.uint64(bits) >> np.uint64(element)) & np.uint64(1) != np.uint64(0)


# --- scan: one sequence (FIRST, RECENT) -------------------------------------------------------------------------------


@loop
def _scan_one(
    window: Window,
    sent: Sent,
    bits: Bits,
    time: Numbers,
    row: Numbers,
    elements: int,
    within_us: int,
    staying: bool,
) -> Sent:
    """The state is how many events are held: event s of the window is bound to element s."""
    counts = window.counts
    for i in range(len(bits)):
        if bits[i] == 0:
            continue
        _give_up_late(window, time[i], within_us)
        state = counts[HELD]
        if _awaited(window, bits[i], state):
            if state == elements - 1:
                sent = _with_room(sent)
                for element in range(state):
                    sent.rows[sent.made[0] * elements + element] = window.row[element]
                _send(sent, elements, row[i], time[i])
                counts[HELD] = 0
            else:
                _put(window, state, state, row[i], time[i], window.time[0] if state else time[i])
                counts[HELD] += 1
        elif staying and state > 0 and _awaited(window, bits[i], state - 1):
            _put(window, state - 1, state - 1, row[i], time[i], window.time[0] if state > 1 else time[i])
    return sent


@loop(inline="always")
def _awaited(window: Window, bits: int, element: int) -> bool:
    """Whether a row may be bound to an element, the first events of the window being bound to those before it."""
    return _satisfies(bits, element)


@loop
def _give_up_late(window: Window, now: int, within_us: int) -> None:
    """Start empty if the one sequence is out of time."""
    if window.counts[HELD] and window.time[0] + within_us < now:
        window.counts[HELD] = 0


# --- scan: many sequences (UNRESTRICTED) ------------------------------------------------------------------------------


@loop
def _scan_many(
    window: Window,
    sent: Sent,
    bits: Bits,
    events: Events,
    elements: int,
    within_us: int,
    choosing: bool,
    seed: int,
) -> Sent:
    """An event answers before it is registered, so that it never follows itself."""
    time, row = events
    ways = np.empty(len(window.row), np.float64)
    totals = np.empty(elements, np.float64)
    chosen = np.empty(elements, np.int64)
    for i in range(len(bits)):
        if bits[i] == 0:
            continue
        _forget(window, time[i], within_us)
        if _satisfies(bits[i], elements - 1):
            if elements == 1:
                sent = _with_room(sent)
                _send(sent, elements, row[i], time[i])
            elif _count_ways(window, ways, totals) > 0:
                if choosing:
                    sent = _send_one(window, sent, ways, totals[0], chosen, seed, row[i], time[i])
                else:
                    sent = _send_all(window, sent, ways, totals[0], chosen, row[i], time[i])
        for element in range(elements - 1):
            if _satisfies(bits[i], element):
                _register(window, element, row[i], time[i])
    return sent


@loop
def _register(window: Window, element: int, row: int, time: int) -> None:
    start = _followed(window, element, row, time)
    if start == NEVER:
        return
    if window.counts[HELD] == len(window.row):
        _make_room(window)
        start = _followed(window, element, row, time)
        if start == NEVER:
            window.counts[DROPPED] += 1
            return
    _put(window, window.counts[HELD], element, row, time, start)
    window.counts[HELD] += 1


@loop
def _followed(window: Window, element: int, row: int, time: int) -> int:
    """The time of the latest initial event that an event would follow; NEVER: no sequence waits for it."""
    if element == 0:
        return time
    # Later events of one element follow later initial events, so the last one held is the one that counts.
    for e in range(window.counts[HELD] - 1, -1, -1):
        if window.element[e] == element - 1 and window.row[e] < row:
            return window.start[e]
    return NEVER


@loop
def _make_room(window: Window) -> None:
    """Give up one event (rule 5)."""
    held = window.counts[HELD]
    victim = held - 1
    while victim >= 0 and window.element[victim] == 0:
        victim -= 1
    victim = max(victim, 0)  # nothing but initial events: the oldest
    for e in range(victim, held - 1):
        _move(window, e + 1, e)
    window.counts[HELD] -= 1
    window.counts[DROPPED] += 1


@loop
def _forget(window: Window, now: int, within_us: int) -> None:
    """Remove what no later event can complete."""
    remaining = 0
    for e in range(window.counts[HELD]):
        if window.start[e] + within_us >= now:
            if remaining < e:
                _move(window, e, remaining)
            remaining += 1
    window.counts[HELD] = remaining


@loop(inline="always")
def _put(window: Window, place: int, element: int, row: int, time: int, start: int) -> None:
    window.element[place], window.row[place] = element, row
    window.time[place], window.start[place] = time, start


@loop(inline="always")
def _move(window: Window, source: int, target: int) -> None:
    _put(
        window, target, window.element[source], window.row[source], window.time[source], window.start[source]
    )


# --- response ---------------------------------------------------------------------------------------------------------


@loop
def _count_ways(window: Window, ways: NDArray[np.float64], totals: NDArray[np.float64]) -> float:
    """In how many ways each event leads to the accepting one; returns those of all initial events.

    One pass from the newest event to the oldest: `totals[element]` is the sum over the events already passed. Events of
    one row do not follow one another, so a row's are added when all of them are counted.
    """
    last = len(totals) - 1
    totals[:] = 0.0
    totals[last] = 1.0
    stop = window.counts[HELD]
    while stop > 0:
        start = stop - 1
        while start > 0 and window.row[start - 1] == window.row[stop - 1]:
            start -= 1
        for e in range(start, stop):
            ways[e] = totals[window.element[e] + 1]
        for e in range(start, stop):
            totals[window.element[e]] += ways[e]
        stop = start
    return totals[0]


@loop
def _next_of(window: Window, ways: NDArray[np.float64], chosen: Numbers, element: int, place: int) -> int:
    """The first event from `place` on for an element, after those chosen and leading to the accepting one; -1: none."""
    for e in range(place, window.counts[HELD]):
        is_after = element == 0 or window.row[e] > window.row[chosen[element - 1]]
        if is_after and window.element[e] == element and ways[e] > 0:
            return e
    return -1


@loop
def _send_all(
    window: Window,
    sent: Sent,
    ways: NDArray[np.float64],
    combinations: float,
    chosen: Numbers,
    row: int,
    time: int,
) -> Sent:
    """Every combination that ends with a row, in lexicographic order."""
    last = len(chosen) - 1
    element, place, left = 0, 0, MOST_AT_ONCE
    if combinations > left:
        window.counts[CUT] += np.int64(min(combinations - left, 2.0**62))
    while element >= 0 and left > 0:
        found = _next_of(window, ways, chosen, element, place)
        if found < 0:
            element -= 1
            place = chosen[element] + 1 if element >= 0 else 0
            continue
        chosen[element], place = found, found + 1
        if element < last - 1:
            element += 1
        else:
            sent = _send_chosen(window, sent, chosen, row, time)
            left -= 1
    return sent


@loop
def _send_one(
    window: Window,
    sent: Sent,
    ways: NDArray[np.float64],
    combinations: float,
    chosen: Numbers,
    seed: int,
    row: int,
    time: int,
) -> Sent:
    """One of the combinations, each as likely as the others: the k-th in lexicographic order, k drawn."""
    k = np.floor(_draw(seed, window.counts[CHOICES]) * combinations)
    window.counts[CHOICES] += 1
    place = 0
    for element in range(len(chosen) - 1):
        found = _next_of(window, ways, chosen, element, place)
        further = found
        while further >= 0 and k >= ways[found]:
            further = _next_of(window, ways, chosen, element, found + 1)
            if further >= 0:  # beyond 2**53 combinations, rounding may leave k too large: then it is the last
                k -= ways[found]
                found = further
        chosen[element], place = found, found + 1
    return _send_chosen(window, sent, chosen, row, time)


@loop
def _draw(seed: int, n: int) -> float:
    """The n-th number of a seed, from 0 to below 1 (splitmix64)."""
    bits = splitmix64(np.uint64(seed) + (np.uint64(n) + np.uint64(1)) * GOLDEN)
    return np.float64(bits >> np.uint64(11)) / 2.0**53


@loop
def _send_chosen(window: Window, sent: Sent, chosen: Numbers, row: int, time: int) -> Sent:
    elements = len(chosen)
    sent = _with_room(sent)
    for element in range(elements - 1):
        sent.rows[sent.made[0] * elements + element] = window.row[chosen[element]]
    _send(sent, elements, row, time)
    return sent


@loop
def _send(sent: Sent, elements: int, row: int, time: int) -> None:
    """End a match of which the rows before the accepting one are noted."""
    sent.rows[(sent.made[0] + 1) * elements - 1] = row
    sent.ends[sent.made[0]] = time
    sent.made[0] += 1


@loop
def _with_room(sent: Sent) -> Sent:
    """Room for one more match."""
    if sent.made[0] < len(sent.ends):
        return sent
    return Sent(
        np.concatenate((sent.rows, np.empty_like(sent.rows))),
        np.concatenate((sent.ends, np.empty_like(sent.ends))),
        sent.made,
    )
