"""Which state do the sensors with samples have? Reads it from the query's store and writes it back.

Rule 1  A sensor is forgotten once the watermark is more than FORGET past its last sample: a later sample would be its first.
Rule 2  Only sensors with samples, and those that are due to be forgotten, are read.

Memory  See `sensors`; in addition the identity of the key and two times, in all some 50 bytes and 8 for every number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from headwater.kernels.suppress.keys import Ids, Keys, Whole
from headwater.kernels.suppress.predictors import SEEN_AT, Sensors
from headwater.kernels.suppress.question import SuppressQuery
from headwater.kernels.suppress.sensors import no_sensors, sensors_at
from headwater.model import END, Instant, KeyedStore, Records, empty_store, no_records
from headwater.model.rows import Mask

_WHOLE: Final = "whole"
_REAL: Final = "real"


@dataclass(frozen=True, slots=True)
class Remembered:
    """The sensors with samples: their identities, a row for each in a table that may be changed, and the row of every sample.

    `known`: whether the store has a record of a sensor.
    """

    store: KeyedStore
    ids: Ids
    known: Mask
    sensors: Sensors
    slots: Whole

    def store_after(self, forget_us: int | None, before: Instant, watermark: Instant) -> KeyedStore:
        """The store with the values of the table, and without those that are forgotten between two watermarks."""
        if forget_us is None:
            due = np.full(len(self.ids), END)
            return self.store.put(self._records(due), no_records().ids)
        due = np.minimum(self.sensors.whole[:, SEEN_AT] + forget_us, END)
        silent = self.store.due(before, watermark)
        # Two keys that agree in 64 of 128 bits are treated as one.
        silent = silent[~np.isin(silent[:, 0], self.ids[:, 0])]
        stays = due >= watermark
        records = self._records(due)
        if stays.all():
            return self.store.put(records, silent)
        gone = np.concatenate([silent, self.ids[~stays & self.known]])
        return self.store.put(records.take(np.flatnonzero(stays)), gone)

    def _records(self, due: Whole) -> Records:
        table = {_WHOLE: self.sensors.whole, _REAL: self.sensors.real}
        return Records(self.ids, due, np.full(len(due), END), table)


def no_sensors_yet(query: SuppressQuery) -> KeyedStore:
    """The store of a query that has seen no sample."""
    none = no_sensors(query.predictor, len(query.dimensions), query.parameters)
    empty = no_records()
    return empty_store(Records(empty.ids, empty.due, empty.hold, {_WHOLE: none.whole, _REAL: none.real}))


def forget(store: KeyedStore, before: Instant, watermark: Instant) -> KeyedStore:
    """The store after time has passed between two watermarks without samples."""
    return store.put(no_records(), store.due(before, watermark))


def remember(store: KeyedStore, keys: Keys, number: Whole) -> Remembered:
    """The state of the sensors with samples; `number` is the key of each sample."""
    seen = np.zeros(len(keys), np.bool_)
    seen[number] = True
    touched = np.flatnonzero(seen)
    if len(touched) == len(keys):
        ids, slots = keys.ids, number
    else:
        ids, slots = keys.ids[touched], (np.cumsum(seen) - 1)[number]
    records, place = store.find(ids)
    whole, real = records.table[_WHOLE], records.table[_REAL]
    assert isinstance(whole, np.ndarray) and isinstance(real, np.ndarray)
    found = Sensors(whole, real)
    return Remembered(store, ids, place >= 0, sensors_at(found, place), slots)
