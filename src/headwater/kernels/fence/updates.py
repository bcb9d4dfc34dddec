"""Positions of objects and shapes of fences among rows: selected, cut into stretches of time, and sorted by key.

A stretch costs its updates and all keys known by then. So it contains `LEAST_STRETCH` updates, or twice as many as there are known keys if
that is more: all stretches together cost little more than their updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from headwater.kernels.fence.geometry import Real, Whole
from headwater.kernels.fence.moving_fences import Mask
from headwater.kernels.fence.objects import Keys
from headwater.kernels.fence.standing_fences import Moves
from headwater.model import BEGINNING, Column, Instant
from headwater.model.partitions import by_partition

LEAST_STRETCH: Final = 4096


class Updates(NamedTuple):
    """In order of time."""

    key: Column
    time: Whole
    x: Real
    y: Real
    shape: Column

    def only(self, chosen: Mask) -> Updates:
        """Some of them, all of which have a key."""
        if chosen.all():
            return self._replace(key=replace(self.key, valid=None), shape=replace(self.shape, valid=None))
        return Updates(
            replace(self.key.take(chosen), valid=None),
            self.time[chosen],
            self.x[chosen],
            self.y[chosen],
            replace(self.shape.take(chosen), valid=None),
        )

    def between(self, since: Instant, until: Instant) -> Updates:
        """Those of [since, until)."""
        low, high = np.searchsorted(self.time, [since, until]).tolist()
        if low == 0 and high == len(self.time):
            return self
        chosen = slice(low, high)
        return Updates(
            self.key.take(chosen),
            self.time[chosen],
            self.x[chosen],
            self.y[chosen],
            self.shape.take(chosen),
        )

    def by_slot(self, keys: Keys) -> tuple[Moves, Whole]:
        """Updates by slot and time, only the last of several at one time; and their numbers."""
        slots = keys.find(self.key)
        order = by_partition(slots, len(keys))
        slot, time = slots[order], self.time[order]
        if len(order):
            is_last = np.append((slot[1:] != slot[:-1]) | (time[1:] != time[:-1]), True)
            if not is_last.all():
                order, slot = order[is_last], slot[is_last]
        first = np.searchsorted(slot, np.arange(len(keys) + 1))
        return Moves(first, self.time[order], self.x[order], self.y[order]), order


def stretches(
    positions: Updates, fences: Updates, known: int, watermark: Instant
) -> Iterator[tuple[Updates, Updates, Instant]]:
    """Updates in stretches of time, each with its end; the last one ends with the watermark. `known`: how many keys were known before."""
    times = np.sort(np.concatenate([positions.time, fences.time]))
    done, place = BEGINNING, 0
    if len(times) > LEAST_STRETCH:
        came = np.sort(np.concatenate([_first_times(positions), _first_times(fences)]))
        while True:
            size = max(LEAST_STRETCH, 2 * max(known, int(np.searchsorted(came, done))))
            if place + size >= len(times):
                break
            until = int(times[place + size])
            if until == times[place]:  # more updates at one instant than a stretch holds: all of them
                until += 1
            yield positions.between(done, until), fences.between(done, until), until
            done, place = until, int(np.searchsorted(times, until))
    yield positions.between(done, watermark), fences.between(done, watermark), watermark


def _first_times(updates: Updates) -> Whole:
    """When each key was first heard of."""
    return updates.time[np.unique(updates.key.values, return_index=True)[1]]
