"""The readings a node holds, until they are no longer valid.

Rule 1  A reading stays in its slot for as long as it is held, so that a table by slot, which nothing moves, says what was sent where.
        `order` lists the slots in use by time, ties by arrival.
Rule 2  A reading is identified by its source and its number; one that is held already is not stored twice.

Memory  Readings no older than the validity, at most MOST_READINGS; beyond that the oldest are given up, and counted.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import Instant, Readings

MOST_READINGS: Final = 4_000_000
_FIRST_SLOTS: Final = 64

Slots = NDArray[np.int64]


class Store:
    """Readings by slot; `source` is a position in the node's list of sources."""

    def __init__(self) -> None:
        self._columns = Readings(
            np.zeros(_FIRST_SLOTS, np.int32),
            np.zeros(_FIRST_SLOTS, np.int64),
            np.zeros(_FIRST_SLOTS),
            np.zeros(_FIRST_SLOTS, np.int64),
        )
        self._used = np.zeros(_FIRST_SLOTS, np.bool_)
        self.order: Slots = np.zeros(0, np.int64)

    @property
    def capacity(self) -> int:
        """Slots there are, used or not."""
        return len(self._used)

    def add(self, readings: Readings) -> Slots:
        """Take readings in, those that are held already left out; the slots of the new ones."""
        readings = readings.take(self._unknown(readings))
        count = len(readings.time)
        slots = self._free(count)
        held = self._columns
        held.source[slots], held.time[slots] = readings.source, readings.time
        held.value[slots], held.number[slots] = readings.value, readings.number
        self._used[slots] = True
        waiting = np.concatenate([self.order, slots])
        self.order = waiting[np.argsort(self._columns.time[waiting], kind="stable")]
        return slots

    def at(self, slots: Slots) -> Readings:
        """The readings in some slots."""
        return self._columns.take(slots)

    def between(self, first: Instant, last: Instant) -> Slots:
        """The slots of readings from `first` to `last`, both included, by time."""
        times = self._columns.time[self.order]
        return self.order[np.searchsorted(times, first) : np.searchsorted(times, last, "right")]

    def expire(self, before: Instant) -> tuple[Slots, int]:
        """Let go of readings before a time, and of the oldest beyond the bound.

        The slots that are free again, and how many of their readings were still valid.
        """
        old = int(np.searchsorted(self._columns.time[self.order], before))
        gone = max(old, len(self.order) - MOST_READINGS)
        freed, self.order = self.order[:gone], self.order[gone:]
        self._used[freed] = False
        return freed, gone - old

    def save(self) -> dict[str, Any]:
        """All of it, slots included."""
        return {"columns": list(self._columns), "used": self._used, "order": self.order}

    @staticmethod
    def load(saved: dict[str, Any]) -> Store:
        """What `save` gave."""
        store = Store()
        store._columns = Readings(*(np.array(column) for column in saved["columns"]))
        store._used, store.order = np.array(saved["used"]), np.array(saved["order"])
        return store

    def _unknown(self, readings: Readings) -> NDArray[np.bool_]:
        """Which readings are not held; of several equal ones the first."""
        held = self.at(self.between(*_span(readings.time)))
        source = np.concatenate([held.source, readings.source])
        number = np.concatenate([held.number, readings.number])
        order = np.lexsort((source, number))  # stable: of equal ones the first comes first
        same = (np.diff(source[order]) == 0) & (np.diff(number[order]) == 0)
        new = np.ones(len(order), np.bool_)
        new[order[1:][same]] = False
        return new[len(held.time) :]

    def _free(self, count: int) -> Slots:
        free = np.flatnonzero(~self._used)
        if len(free) < count:
            capacity = max(2 * self.capacity, self.capacity + count)
            self._columns = Readings(*(_longer(column, capacity) for column in self._columns))
            self._used = _longer(self._used, capacity)
            free = np.flatnonzero(~self._used)
        return free[:count]


def _span(times: NDArray[np.int64]) -> tuple[Instant, Instant]:
    return (int(times.min()), int(times.max())) if len(times) else (0, -1)


def _longer(column: NDArray[Any], length: int) -> NDArray[Any]:
    longer = np.zeros(length, column.dtype)
    longer[: len(column)] = column
    return longer
