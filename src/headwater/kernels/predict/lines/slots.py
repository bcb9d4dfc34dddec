"""Lines in slots: how an update becomes a line, and what happens to lines in a store without a bound.

Rule 1  A line lives from its update until the next one of its sensor, or until its heartbeat has run out; of two updates at one
        time the later one in the stream has the life and the other's is empty.
Rule 2  The former line of a sensor ends where a new one begins, at the latest; nothing else about it changes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.geometry.shapes import LOOP, Lines, Whole
from headwater.kernels.predict.lines.events import ADD, LIFE, Updates, note

NEVER: Final = 2**62
"""No life ends later: a window can be added without overflow."""


@loop(**LOOP)
def follow(
    lines: Lines,
    key: Whole,
    stored: NDArray[np.bool_],
    last: Whole,
    updates: Updates,
    free: Whole,
    events: Whole,
) -> int:
    """Take updates in order, without a bound; returns the number of events."""
    count = 0
    for i in range(len(updates.t0)):
        code, now, slot = updates.key[i], updates.t0[i], free[i]
        former = last[code]
        if former >= 0 and lines.end[former] > now:
            lines.end[former] = now
            count = note(events, count, LIFE, former, lines.start[former], now, now)
        fill(lines, key, stored, slot, updates, i)
        last[code] = slot
        count = note(events, count, ADD, slot, now, lines.end[slot], now)
    return count


@loop(**LOOP)
def fill(lines: Lines, key: Whole, stored: NDArray[np.bool_], slot: int, updates: Updates, i: int) -> None:
    """Write an update into a slot, with the life it has if its sensor sends nothing more."""
    t0 = updates.t0[i]
    heartbeat = updates.heartbeat_us[i]
    lines.t0[slot] = lines.start[slot] = t0
    lines.end[slot] = t0 + heartbeat if heartbeat < NEVER - max(t0, 0) else NEVER
    for dimension in range(updates.values.shape[1]):
        lines.values[slot, dimension] = updates.values[i, dimension]
        lines.slopes[slot, dimension] = updates.slopes[i, dimension]
    lines.tolerance[slot] = updates.tolerance[i]
    key[slot] = updates.key[i]
    stored[slot] = True
