"""Input and output of the line store: updates come in, events of lines go out.

ADD      a line is put into a slot, with its life.
LIFE     the life of a stored line changes: cut by the next update of its sensor, or longer, since it covers for one given up.
GIVE_UP  a line is removed because the buffer was full; the life in the event is the one that it had until then.
PURGE    a line is removed because nothing can match it any more.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Real, Whole

# What happened: column WHAT.
ADD: Final = 0
LIFE: Final = 1
GIVE_UP: Final = 2
PURGE: Final = 3

# Columns of events, int64[m, 5].
WHAT: Final = 0
LINE: Final = 1  # the slot
START: Final = 2  # the life is [START, END)
END: Final = 3
WHEN: Final = 4  # the time of the update that caused it; the watermark, if time alone did
EVENT_COLUMNS: Final = 5


class Updates(NamedTuple):
    """Updates of one source in stream order. All are valid: no NaN, tolerance >= 0, heartbeat > 0.

    `key` int64[n] is the sensor's code, `t0` int64[n] the time in µs, `values` and `slopes` (per second) float64[n, d],
    `tolerance` float64[n], `heartbeat_us` int64[n].
    """

    key: Whole
    t0: Whole
    values: Real
    slopes: Real
    tolerance: Real
    heartbeat_us: Whole


class Keys(NamedTuple):
    """What a buffer must know of the sensors, by code: only their order and identity, not which came first.

    `rank` int64[codes]: in the order of the keys (two codes always compare the same way, however many others come between).
    `identity` int64[codes]: a hash of the key, or the key itself if it is a number. RANDOM uses it.
    """

    rank: Whole
    identity: Whole


@loop(**LOOP, inline="always")
def note(events: Whole, at: int, what: int, slot: int, start: int, end: int, when: int) -> int:
    """Record an event; returns the place of the next one."""
    events[at, WHAT] = what
    events[at, LINE] = slot
    events[at, START] = start
    events[at, END] = end
    events[at, WHEN] = when
    return at + 1
