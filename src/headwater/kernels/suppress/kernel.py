"""Which readings have to be sent so that everybody knows the others? All SUPPRESS queries that read one stream in one zone.

Rule 1  A row is a sample of a query if its condition holds and neither its key nor one of the dimensions is NULL; a row for
        which only the condition holds is counted.
Rule 2  What is sent, and why: see `sensors`. Samples of one sensor and one time are taken in the order of the stream.
Rule 3  An update is told at the time of its sample. `match_id` is made of the query's name, key, time and values.

Memory  A slot for every key (see `keys`), the same for all queries, and the two rows of `sensors` for every slot and query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.suppress.keys import Keys, keys_from
from headwater.kernels.suppress.question import SuppressQuery
from headwater.kernels.suppress.sensors import (
    REASONS,
    Sensors,
    Sent,
    no_sensors,
    rules_for,
    send,
    with_sensors,
)
from headwater.model import (
    BEGINNING,
    SECOND,
    Answers,
    Column,
    ColumnType,
    Instant,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    coded,
    compacted,
    content_ids,
    join_rows,
)
from headwater.model.rows import Mask

Whole = NDArray[np.int64]
Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SuppressState:
    """How far time has come; the sensors' keys; for every query when it began and what it knows of sensors.

    A query's table may end before the last slot: it has no sample of the sensors behind.
    """

    watermark: Instant
    keys: Keys
    since: Whole
    sensors: tuple[Sensors, ...]


@dataclass(frozen=True, slots=True)
class _Update:
    """What a query sends: the rows it goes by, their slots and values, why and with which slopes."""

    query: SuppressQuery
    rows: Whole
    slots: Whole
    values: Real
    sent: Sent


class SuppressKernel:
    """All SUPPRESS queries that read one stream in one zone."""

    def __init__(
        self,
        schema: StreamSchema,
        queries: Sequence[SuppressQuery],
        conditions: Sequence[RowCondition] = (),
    ) -> None:
        self.schema = schema
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)
        self.key = () if schema.key is None else (schema.key,)
        self.rules = [rules_for(q.tolerance, q.heartbeat_us, q.predictor, q.parameters) for q in queries]

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> SuppressState:
        """Nothing seen; rows before `since` are not for these queries."""
        tables = tuple(_none_of(query) for query in self.queries)
        return SuppressState(BEGINNING, Keys(), np.full(len(self.queries), since, np.int64), tables)

    def step(self, state: SuppressState, rows: Rows, watermark: Instant) -> Step[SuppressState]:
        """Show the rows to the sensors and tell what they send."""
        if not rows.count:
            after = SuppressState(watermark, state.keys, state.since, state.sensors)
            return Step(after, (), watermark)
        counts: Counter[str] = Counter()
        chosen = self._samples(rows, state.since, counts)
        keys, slots = self._slots(state.keys, rows, chosen)
        tables, updates = self._send(state.sensors, rows, chosen, slots, len(keys))
        shapes: dict[int, list[_Update]] = {}
        for samples, update in zip(chosen, updates, strict=True):
            counts[f"samples:{update.query.name}"] += len(samples)
            counts[f"updates:{update.query.name}"] += len(update.rows)
            if len(update.rows):
                shapes.setdefault(update.query.shape, []).append(update)
        answers = tuple(Answers(shape, self._block(shapes[shape], rows, keys)) for shape in sorted(shapes))
        following = SuppressState(watermark, keys, state.since, tuple(tables))
        return Step(following, answers, watermark, {name: count for name, count in counts.items() if count})

    def save(self, state: SuppressState) -> Saved:
        """Every query's table; the keys as a log."""
        values = {
            "watermark": state.watermark,
            "queries": [query.name for query in self.queries],
            "fingerprints": [query.fingerprint for query in self.queries],
            "since": state.since,
            "sensors": [{"whole": table.whole, "real": table.real} for table in state.sensors],
        }
        return Saved(values, {"keys": state.keys.log})

    def load(self, saved: Saved, since: Instant) -> SuppressState:
        """What is known of the queries that are still the same; others begin at `since`."""
        values = saved.values
        names = zip(values["queries"], values["fingerprints"], strict=True)
        place = {name: number for number, name in enumerate(names)}
        begins = max(since, values["watermark"])
        since_of: list[int] = []
        tables: list[Sensors] = []
        for query in self.queries:
            number = place.get((query.name, query.fingerprint))
            since_of.append(begins if number is None else int(values["since"][number]))
            tables.append(_none_of(query) if number is None else _loaded(values["sensors"][number]))
        keys = keys_from(saved.logs["keys"])
        return SuppressState(values["watermark"], keys, np.array(since_of, np.int64), tuple(tables))

    # --- samples ------------------------------------------------------------------------------------------------------

    def _samples(self, rows: Rows, since: Whole, counts: Counter[str]) -> list[Whole]:
        """Which rows are samples of each query; those that are wanted and are none are counted."""
        times = rows[self.schema.time].values
        holds: dict[int | None, Mask] = {None: np.ones(rows.count, np.bool_)}
        valid: dict[tuple[str, ...], Mask] = {}
        chosen = []
        for query, begins in zip(self.queries, since.tolist(), strict=True):
            if query.where is not None and query.where not in holds:
                holds[query.where] = self.conditions[query.where](rows)
            if query.dimensions not in valid:
                valid[query.dimensions] = _all_valid(rows, (*self.key, *query.dimensions))
            first = int(np.searchsorted(times, begins))
            wanted, whole = holds[query.where][first:], valid[query.dimensions][first:]
            chosen.append(np.flatnonzero(wanted & whole) + first)
            counts[f"not_samples:{query.name}"] += int(wanted.sum()) - len(chosen[-1])
        return chosen

    def _slots(self, keys: Keys, rows: Rows, chosen: Sequence[Whole]) -> tuple[Keys, Whole]:
        """All keys; and the slot of every row that is somebody's sample. Without a key column there is one sensor."""
        slots = np.zeros(rows.count, np.int64)
        if self.schema.key is None:
            return keys, slots
        anyone = np.zeros(rows.count, np.bool_)
        for samples in chosen:
            anyone[samples] = True
        places = np.flatnonzero(anyone)
        after, slots[places] = keys.with_those_of(rows[self.schema.key].take(places))
        return after, slots

    def _send(
        self, sensors: Sequence[Sensors], rows: Rows, chosen: Sequence[Whole], slots: Whole, keys: int
    ) -> tuple[list[Sensors], list[_Update]]:
        """What every query knows of sensors after the step, and what it sends."""
        times = rows[self.schema.time].values
        tables, updates = [], []
        for query, rules, before, samples in zip(self.queries, self.rules, sensors, chosen, strict=True):
            after = with_sensors(before, keys if self.key else 1) if len(samples) else before
            values = _numbers(rows, query.dimensions, samples)
            sent = send(rules, after, slots[samples], times[samples], values)
            tables.append(after)
            places = samples[sent.place]
            updates.append(_Update(query, places, slots[places], values[sent.place], sent))
        return tables, updates

    # --- answers ------------------------------------------------------------------------------------------------------

    def _block(self, updates: Sequence[_Update], rows: Rows, keys: Keys) -> Rows:
        """The updates of all queries of a shape, by row and then by query."""
        told = join_rows([self._told(update) for update in updates])
        number = np.repeat(np.arange(len(updates), dtype=np.int32), [len(part.rows) for part in updates])
        row = np.concatenate([part.rows for part in updates])
        slot = np.concatenate([part.slots for part in updates])
        if len(updates) > 1:
            order = np.argsort(row, kind="stable")
            told, number, row, slot = told.take(order), number[order], row[order], slot[order]
        query = coded(number, np.array([part.query.name for part in updates] + [""], object)[:-1])
        event_time = Column(ColumnType.TIMESTAMP, rows[self.schema.time].values[row])
        key = {name: _chosen(rows[name], row) for name in self.key}
        content = [_content(column, keys, slot) for column in key.values()]
        values = [told[name] for name in updates[0].query.dimensions]
        identity = content_ids([query, event_time, *content, *values])
        head = {"query": query, "event_time": event_time, "match_id": identity}
        return Rows({**head, **key, **told.columns}, told.count)

    def _told(self, update: _Update) -> Rows:
        """The columns of a query's updates behind the key."""
        query, count = update.query, len(update.rows)
        columns = {name: _real(update.values[:, d]) for d, name in enumerate(query.dimensions)}
        for d, name in enumerate(query.dimensions):
            columns[f"{name}_slope"] = _real(update.sent.slopes[:, d])
        columns["tolerance"] = _real(np.full(count, query.tolerance))
        columns["heartbeat"] = _real(np.full(count, query.heartbeat_us / SECOND))
        columns["reason"] = coded(update.sent.reason, REASONS)
        return Rows(columns, count)


def _none_of(query: SuppressQuery) -> Sensors:
    return no_sensors(query.predictor, len(query.dimensions), query.parameters)


def _loaded(saved: dict[str, Any]) -> Sensors:
    return Sensors(np.array(saved["whole"]), np.array(saved["real"]))


def _all_valid(rows: Rows, names: Sequence[str]) -> Mask:
    valid = np.ones(rows.count, np.bool_)
    for name in names:
        if (mask := rows[name].valid) is not None:
            valid &= mask
    return valid


def _numbers(rows: Rows, names: Sequence[str], places: Whole) -> Real:
    """float64[places, names]"""
    values = np.empty((len(places), len(names)))
    for d, name in enumerate(names):
        values[:, d] = rows[name].values[places]
    return values


def _chosen(column: Column, places: Whole) -> Column:
    """A column at places where it is not NULL, without the names of others."""
    taken = column.take(places)
    return compacted(Column(taken.type, taken.values, None, taken.names))


def _content(key: Column, keys: Keys, slots: Whole) -> Column:
    """What stands for a key in `match_id`: of a text its hash, which is known already."""
    return Column(ColumnType.BIGINT, keys.hashes[slots]) if key.type is ColumnType.STRING else key


def _real(values: Real) -> Column:
    return Column(ColumnType.DOUBLE, np.ascontiguousarray(values))
