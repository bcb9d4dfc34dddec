"""Which readings must be sent so that receivers can compute the others? All SUPPRESS queries that read one stream in one zone.

Rule 1  A row is a sample of a query if its condition holds and neither its key nor one of the dimensions is NULL; a row for
        which only the condition holds is counted.
Rule 2  What is sent, and why: see `sensors`. Samples of one sensor and one time are taken in the order of the stream.
Rule 3  An update has the time of its sample. `match_id` is computed from the query's name, key, time and values.
Rule 4  A step reads and writes only sensors with samples in it, and those that are forgotten in it.

Memory  The two rows of `sensors` for every sensor and query, in a store for each query: until FORGET is over, without it for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.suppress.keys import Keys, keys_of, only_key
from headwater.kernels.suppress.memory import forget, no_sensors_yet, remember
from headwater.kernels.suppress.question import SuppressQuery
from headwater.kernels.suppress.sensors import REASONS, Sent, rules_for, send
from headwater.model import (
    BEGINNING,
    END,
    SECOND,
    Answers,
    Column,
    ColumnType,
    Instant,
    KeyedStore,
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
    """How far time has come; for every query when it began and the state of its sensors, by their keys."""

    watermark: Instant
    since: Whole
    sensors: tuple[KeyedStore, ...]


@dataclass(frozen=True, slots=True)
class _Update:
    """What a query sends: the rows of the samples, their keys, their values, the reasons and the slopes."""

    query: SuppressQuery
    rows: Whole
    keys: Whole
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
        self.rules = [
            rules_for(q.tolerance, q.heartbeat_us, q.predictor, q.parameters, q.forget_us) for q in queries
        ]

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> SuppressState:
        """Nothing read; rows before `since` are not for these queries."""
        stores = tuple(no_sensors_yet(query) for query in self.queries)
        return SuppressState(BEGINNING, np.full(len(self.queries), since, np.int64), stores)

    def step(self, state: SuppressState, rows: Rows, watermark: Instant) -> Step[SuppressState]:
        """Pass the rows to the sensors and emit what they send."""
        if not rows.count:
            silent = tuple(forget(store, state.watermark, watermark) for store in state.sensors)
            return Step(SuppressState(watermark, state.since, silent), (), watermark)
        counts: Counter[str] = Counter()
        chosen = self._samples(rows, state.since, counts)
        keys = self._keys(rows, chosen)
        stores, updates = [], []
        for place, samples in enumerate(chosen):
            store, update = self._send(place, state, rows, samples, keys, watermark)
            stores.append(store)
            updates.append(update)
            counts[f"samples:{update.query.name}"] += len(samples)
            counts[f"updates:{update.query.name}"] += len(update.rows)
        shapes: dict[int, list[_Update]] = {}
        for update in updates:
            if len(update.rows):
                shapes.setdefault(update.query.shape, []).append(update)
        answers = tuple(Answers(shape, self._block(shapes[shape], rows, keys)) for shape in sorted(shapes))
        next_state = SuppressState(watermark, state.since, tuple(stores))
        return Step(next_state, answers, watermark, {name: count for name, count in counts.items() if count})

    def save(self, state: SuppressState) -> Saved:
        """When every query began; its sensors as a store."""
        values = {
            "watermark": state.watermark,
            "queries": [query.name for query in self.queries],
            "fingerprints": [query.fingerprint for query in self.queries],
            "since": state.since,
        }
        stores = dict(zip(map(_store_name, self.queries), state.sensors, strict=True))
        return Saved(values, stores=stores)

    def load(self, saved: Saved, since: Instant) -> SuppressState:
        """The state of the queries that are unchanged; others begin at `since`."""
        values = saved.values
        names = zip(values["queries"], values["fingerprints"], strict=True)
        place = {name: number for number, name in enumerate(names)}
        begins = max(since, values["watermark"])
        since_of: list[int] = []
        stores: list[KeyedStore] = []
        for query in self.queries:
            number = place.get((query.name, query.fingerprint))
            since_of.append(begins if number is None else int(values["since"][number]))
            none = no_sensors_yet(query)
            stores.append(none if number is None else saved.stores[_store_name(query)].shaped_like(none.like))
        return SuppressState(values["watermark"], np.array(since_of, np.int64), tuple(stores))

    def next_due(self, state: SuppressState) -> Instant:
        """When the next sensor is forgotten; nothing is sent without a sample."""
        return min((store.next_due for store in state.sensors), default=END)

    def is_blank(self, state: SuppressState) -> bool:
        """Whether no sensor is known."""
        return not (state.since > BEGINNING).any() and not any(map(len, state.sensors))

    # --- samples ------------------------------------------------------------------------------------------------------

    def _samples(self, rows: Rows, since: Whole, counts: Counter[str]) -> list[Whole]:
        """Which rows are samples of each query; rows that satisfy the condition but are not samples are counted."""
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
            passes, whole = holds[query.where][first:], valid[query.dimensions][first:]
            chosen.append(np.flatnonzero(passes & whole) + first)
            counts[f"not_samples:{query.name}"] += int(passes.sum()) - len(chosen[-1])
        return chosen

    def _keys(self, rows: Rows, chosen: Sequence[Whole]) -> Keys:
        """The keys of all rows that are a sample of some query. Without a key column there is one sensor."""
        if self.schema.key is None:
            return only_key(rows.count)
        anyone = np.zeros(rows.count, np.bool_)
        for samples in chosen:
            anyone[samples] = True
        places = np.flatnonzero(anyone)
        if len(places) == rows.count:
            return keys_of(rows[self.schema.key])
        keys = keys_of(rows[self.schema.key].take(places))
        number = np.zeros(rows.count, np.int64)
        number[places] = keys.number
        return Keys(keys.ids, number, keys.content)

    def _send(
        self, place: int, state: SuppressState, rows: Rows, samples: Whole, keys: Keys, watermark: Instant
    ) -> tuple[KeyedStore, _Update]:
        """The state of a query's sensors after the step, and what it sends."""
        query, rules = self.queries[place], self.rules[place]
        known = remember(state.sensors[place], keys, keys.number[samples])
        values = _numbers(rows, query.dimensions, samples)
        times = rows[self.schema.time].values[samples]
        sent = send(rules, known.sensors, known.slots, times, values)
        at = samples[sent.place]
        update = _Update(query, at, keys.number[at], values[sent.place], sent)
        return known.store_after(query.forget_us, state.watermark, watermark), update

    # --- answers ------------------------------------------------------------------------------------------------------

    def _block(self, updates: Sequence[_Update], rows: Rows, keys: Keys) -> Rows:
        """The updates of all queries of a shape, by row and then by query."""
        columns_by_row = join_rows([self._columns_of(update) for update in updates])
        number = np.repeat(np.arange(len(updates), dtype=np.int32), [len(part.rows) for part in updates])
        row = np.concatenate([part.rows for part in updates])
        number_of_key = np.concatenate([part.keys for part in updates])
        if len(updates) > 1:
            order = np.argsort(row, kind="stable")
            columns_by_row, number, row = columns_by_row.take(order), number[order], row[order]
            number_of_key = number_of_key[order]
        query = coded(number, np.array([part.query.name for part in updates] + [""], object)[:-1])
        event_time = Column(ColumnType.TIMESTAMP, rows[self.schema.time].values[row])
        key = {name: _chosen(rows[name], row) for name in self.key}
        content = [] if keys.content is None else [keys.content.take(number_of_key)]
        values = [columns_by_row[name] for name in updates[0].query.dimensions]
        identity = content_ids([query, event_time, *content, *values])
        head = {"query": query, "event_time": event_time, "match_id": identity}
        return Rows({**head, **key, **columns_by_row.columns}, columns_by_row.count)

    def _columns_of(self, update: _Update) -> Rows:
        """The columns of a query's updates after the key."""
        query, count = update.query, len(update.rows)
        columns = {name: _real(update.values[:, d]) for d, name in enumerate(query.dimensions)}
        for d, name in enumerate(query.dimensions):
            columns[f"{name}_slope"] = _real(update.sent.slopes[:, d])
        columns["tolerance"] = _real(np.full(count, query.tolerance))
        columns["heartbeat"] = _real(np.full(count, query.heartbeat_us / SECOND))
        columns["reason"] = coded(update.sent.reason, REASONS)
        return Rows(columns, count)


def _store_name(query: SuppressQuery) -> str:
    """The name of a query's store. A query that replaces another of the same name has a store of its own."""
    return f"{query.name} {query.fingerprint}"


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
    """A column at places where it is not NULL, without unused names."""
    taken = column.take(places)
    return compacted(Column(taken.type, taken.values, None, taken.names))


def _real(values: Real) -> Column:
    return Column(ColumnType.DOUBLE, np.ascontiguousarray(values))
