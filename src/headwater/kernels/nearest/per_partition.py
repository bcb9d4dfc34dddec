"""NEAREST … PER: how is each value of PER, a partition, stored between steps?

Rule 1  A step reads and writes only the partitions that have objects in it, and those that change by time: a member of a set leaves the
        window, a tick comes.
Rule 2  A partition has a record: its lists, and the rows of the objects that are candidates or recent. So it depends on no other partition, and
        leaves nothing when it is removed.
Rule 3  With a window of time a partition is removed when no object is left in it. With a window of rows time removes no object, so
        its last objects stay until FORGET is over; without it for ever.
Rule 4  FORGET: a value without an object for longer than that is forgotten. Its members leave a microsecond after it, and its next
        object is a first one: the objects between two such silences are a *life*, and each life is a partition.

Memory  Of a partition about 100 bytes, 8 for each point, and its candidates and recent objects with their rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.nearest import candidates
from headwater.kernels.nearest.choices import Emission
from headwater.kernels.nearest.distance import coordinates
from headwater.kernels.nearest.lifetimes import Lives, begin_lives
from headwater.kernels.nearest.objects import NUMBER
from headwater.kernels.nearest.packing import spans
from headwater.kernels.nearest.query_sets import QuerySet, QuerySetState, Real, Recent, SetEvents, Whole
from headwater.model import (
    END,
    Column,
    ColumnType,
    Ids,
    Instant,
    KeyedStore,
    Ragged,
    Records,
    Rows,
    Text,
    empty_store,
    key_ids,
    no_records,
    text_of,
)
from headwater.model.keyed_records import join_lines, take_values
from headwater.model.partitions import by_partition, numbered

_SEEN: Final = "seen"
_TICK: Final = "tick"
_LENGTHS: Final = "lengths"
_LIMITS: Final = "limits"
_LAST: Final = "last"
_RECENT: Final = "recent"
_CANDIDATES: Final = "candidates"
_OBJECTS: Final = "objects"


@dataclass(frozen=True, slots=True)
class PartitionsState:
    """When each query began, and the partitions by their value of PER; the work since the state was made or loaded."""

    since: Whole
    store: KeyedStore
    tested: int = 0
    inserted: int = 0


@dataclass(frozen=True, slots=True)
class _Touched:
    """The partitions of a step: their identities, whether they have a record, their state, and the rows of their objects."""

    ids: Ids
    known: NDArray[np.bool_]
    state: QuerySetState
    objects: _Objects
    last: Whole


@dataclass(frozen=True, slots=True)
class _Objects:
    """Rows of objects in their stored form, and the partition of each: texts that no answer has are never decoded."""

    lines: Mapping[str, Any]
    partitions: Whole

    @property
    def numbers(self) -> Whole:
        """The objects' numbers."""
        found: Whole = self.lines[NUMBER]
        return found

    def take(self, chosen: Whole) -> _Objects:
        """Some of them."""
        lines = {name: take_values(values, chosen) for name, values in self.lines.items()}
        return _Objects(lines, self.partitions[chosen])

    def rows(self) -> Rows:
        """The same as rows."""
        columns = {
            name: values.column() if isinstance(values, Text) else values
            for name, values in self.lines.items()
            if name != NUMBER
        }
        return Rows({NUMBER: Column(ColumnType.BIGINT, self.numbers), **columns}, len(self.partitions))


class Partitions:
    """The partitions of a query set with PER; `types` are those of the columns that are stored."""

    def __init__(self, query_set: QuerySet, types: Mapping[str, ColumnType]) -> None:
        self.query_set = query_set
        self.types = dict(types)

    @property
    def name(self) -> str:
        """The key of the store. Other queries have another one, so that no number of a run is used twice."""
        return blake2b(self.query_set.identities.tobytes(), digest_size=16).hexdigest()

    # --- states -------------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> PartitionsState:
        """The empty state."""
        return PartitionsState(np.full(len(self.query_set), since, np.int64), empty_store(self._like))

    def save(self, state: PartitionsState) -> dict[str, Any]:
        """What is saved beside the store."""
        return {
            "identities": self.query_set.identities.view(np.int64),
            "since": state.since,
            "store": self.name,
        }

    def load(self, values: Mapping[str, Any], store: KeyedStore, since: Instant) -> PartitionsState:
        """A saved state. If the queries have changed, every partition is read."""
        begins = self.query_set.since_of(values, since)
        if values["store"] == self.name:
            return PartitionsState(begins, store.shaped_like(self._like))
        none = empty_store(self._like)
        if not len(store):
            return PartitionsState(begins, none)
        moved = _of_other_queries(store.everything(), self.query_set.places_in(values), self.query_set.k)
        return PartitionsState(begins, none.put(moved, no_records().ids))

    @property
    def _like(self) -> Records:
        """The columns of a record."""
        none, no_ids = np.zeros(0, np.int64), no_records()
        objects = {name: _stored(Column.nulls(kind, 0)) for name, kind in self.types.items()}
        return Records(
            no_ids.ids,
            no_ids.due,
            no_ids.hold,
            {
                _SEEN: none,
                _TICK: none,
                _LAST: none,
                _RECENT: np.zeros(0, np.int32),
                _LENGTHS: np.zeros((0, len(self.query_set)), np.int32),
                _LIMITS: np.zeros((0, len(self.query_set)), np.int32),
            },
            {
                _CANDIDATES: Ragged(
                    np.zeros(1, np.int64), _candidates(np.zeros((0, 3), np.int64), np.zeros(0))
                ),
                _OBJECTS: Ragged(np.zeros(1, np.int64), {NUMBER: none, **objects}),
            },
        )

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(
        self, state: PartitionsState, rows: Rows, time: str, before: Instant, watermark: Instant
    ) -> tuple[PartitionsState, SetEvents, Rows]:
        """Pass objects to the queries; also returns the rows of all objects in the events, by ascending number."""
        ids, partition = self._partitions(state.store, rows, before, watermark)
        if not len(ids):
            return state, SetEvents(np.zeros((0, candidates.EMITTED_COLUMNS), np.int64), np.zeros(0)), rows
        touched = self._touched(state, ids, time)
        lives = begin_lives(touched.last, partition, rows[time].values, self.query_set.example.forget_us)
        begun = self._with_lives(touched.state, lives)
        after, events = self.query_set.step(begun, rows, lives.partition, time, before, watermark)
        events = self._forgotten(events, after, lives, watermark)
        objects = self._with_those_of(touched.objects, rows, lives.partition)
        store = self._put(state.store, touched, lives, after, objects, watermark)
        next_state = PartitionsState(
            state.since, store, state.tested + after.tested, state.inserted + after.inserted
        )
        emitted_places = np.flatnonzero(np.isin(objects.numbers, events.emitted[:, candidates.WHAT]))
        in_order = emitted_places[np.argsort(objects.numbers[emitted_places], kind="stable")]
        return next_state, events, objects.take(in_order).rows()

    def _with_lives(self, state: QuerySetState, lives: Lives) -> QuerySetState:
        """The partitions, with one more for each life that begins in this step."""
        more = len(lives.key) - len(state.seen)
        if not more:
            return state
        fresh = self.query_set.state_of(state.since, more)
        return replace(
            state,
            seen=np.concatenate([state.seen, fresh.seen]),
            due=np.concatenate([state.due, fresh.due]),
            lengths=np.concatenate([state.lengths, fresh.lengths]),
            limits=np.concatenate([state.limits, fresh.limits]),
        )

    def _forgotten(
        self, events: SetEvents, after: QuerySetState, lives: Lives, watermark: Instant
    ) -> SetEvents:
        """The events after FORGET: members leave, nothing is emitted of them later; lives have the keys of their values."""
        forget_us, example = self.query_set.example.forget_us, self.query_set.example
        if forget_us is None:
            return events
        gone = lives.last + (forget_us + 1)
        queries = len(self.query_set)
        emitted, scores = events.emitted, events.scores
        stays = (emitted[:, candidates.HOW] != candidates.AT_TICK) | (
            emitted[:, candidates.WHEN] <= gone[emitted[:, candidates.WHOSE] // queries]
        )
        emitted, scores = emitted[stays], scores[stays]
        if example.emission is Emission.CHANGES:
            whose = np.repeat(np.arange(len(after.lengths)), after.lengths)
            is_in = (after.ids[:, candidates.FLAGS] & candidates.IN_SET) != 0
            leaves = np.flatnonzero(is_in & lives.is_over(gone, watermark)[whose // queries])
            left = np.zeros((len(leaves), candidates.EMITTED_COLUMNS), np.int64)
            left[:, candidates.WHOSE], left[:, candidates.WHAT] = (
                whose[leaves],
                after.ids[leaves, candidates.SEQ],
            )
            left[:, candidates.WHEN], left[:, candidates.HOW] = (
                gone[whose[leaves] // queries],
                candidates.LEAVE,
            )
            emitted = np.concatenate([left, emitted])
            scores = np.concatenate([after.scores[leaves], scores])
        emitted = emitted.copy()
        partition = emitted[:, candidates.WHOSE] // queries
        emitted[:, candidates.WHOSE] += (lives.key[partition] - partition) * queries
        return SetEvents(emitted, scores)

    def _with_those_of(self, known: _Objects, rows: Rows, partition: Whole) -> _Objects:
        """The known objects, and those that have come."""
        came = {NUMBER: rows[NUMBER].values, **{name: _stored(rows[name]) for name in self.types}}
        counts = [len(known.partitions), rows.count]
        lines = join_lines([known.lines, came], counts) if counts[0] else came
        return _Objects(lines, np.concatenate([known.partitions, partition]))

    def _partitions(
        self, store: KeyedStore, rows: Rows, before: Instant, watermark: Instant
    ) -> tuple[Ids, Whole]:
        """The partitions that a step touches, in an order that does not depend on steps; and the partition of every row."""
        due = store.due(before, watermark)
        if not rows.count:
            return due[np.lexsort((due[:, 1], due[:, 0]))], np.zeros(0, np.int64)
        per = self.query_set.per
        keys, partition = numbered(Rows.empty({name: self.types[name] for name in per}), rows, per)
        ids = key_ids([keys[name] for name in per], keys.count)
        # Two keys that agree in 64 of 128 bits are treated as one.
        ids = np.concatenate([ids, due[~np.isin(due[:, 0], ids[:, 0])]])
        order = np.lexsort((ids[:, 1], ids[:, 0]))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return ids[order], place[partition]

    def _touched(self, state: PartitionsState, ids: Ids, time: str) -> _Touched:
        """The stored state of some partitions, as the state of a query set that has only these."""
        found, place = state.store.find(ids)
        known = place >= 0
        there = np.flatnonzero(known)
        records = found.take(place[there])
        start = self.query_set.state_of(state.since, len(ids))
        stored = records.lists[_OBJECTS]
        objects = _Objects(stored.lines, np.repeat(there, np.diff(stored.offsets)))
        last = np.full(len(ids), END, np.int64)
        if not len(there):
            return _Touched(ids, known, start, objects, last)
        columns: Any = records.table
        seen, tick = start.seen.copy(), start.due.copy()
        seen[there], tick[there], last[there] = columns[_SEEN], columns[_TICK], columns[_LAST]
        lengths = start.lengths.reshape(len(ids), -1).copy()
        limits = start.limits.reshape(len(ids), -1).copy()
        lengths[there], limits[there] = columns[_LENGTHS], columns[_LIMITS]
        lines: Any = records.lists[_CANDIDATES].lines
        begun = replace(
            start,
            seen=seen,
            due=tick,
            lengths=lengths.ravel(),
            limits=limits.ravel(),
            ids=np.column_stack([lines["number"], lines["clock"], lines["flags"]]).astype(np.int64),
            scores=lines["score"],
            recent=self._recent(records, objects, there, time),
        )
        return _Touched(ids, known, begun, objects, last)

    def _recent(self, records: Records, objects: _Objects, partitions: Whole, time: str) -> Recent:
        """The recent objects: the last ones of each partition."""
        recent: Any = records.table[_RECENT]
        seen: Any = records.table[_SEEN]
        many = recent.astype(np.int64)
        places = spans(records.lists[_OBJECTS].offsets[1:] - many, many)
        example = self.query_set.example
        needed = {name: objects.lines[name].take(places) for name in (time, *example.attributes)}
        chosen = Rows(needed, len(places))
        times = chosen[time].values
        clocks = times if self.query_set.by_time else spans(seen - many, many)
        return Recent.of(
            coordinates(chosen, example.attributes, example.metric),
            times,
            clocks,
            objects.numbers[places],
            np.repeat(partitions, many),
        )

    def _put(
        self,
        store: KeyedStore,
        touched: _Touched,
        lives: Lives,
        after: QuerySetState,
        objects: _Objects,
        watermark: Instant,
    ) -> KeyedStore:
        """The store with the new state of the partitions."""
        many = len(lives.key)
        lengths = after.lengths.reshape(many, -1)
        partition_of_candidate = np.repeat(np.arange(many), lengths.sum(axis=1))
        recent = np.bincount(after.recent.partitions, minlength=many)
        needed = _needed(objects, after)
        offsets = _offsets(needed.partitions, many)
        hold = np.full(many, END)
        filled = np.flatnonzero(np.diff(offsets))
        hold[filled] = needed.numbers[offsets[filled]]
        due = due_by_time(self.query_set, after, partition_of_candidate, watermark)
        stays = np.diff(offsets) > 0 if self.query_set.by_time else after.seen > 0
        if (forget_us := self.query_set.example.forget_us) is not None:
            gone = lives.last + (forget_us + 1)
            due = np.minimum(due, gone)
            stays &= ~lives.is_over(gone, watermark)
        records = Records(
            touched.ids[lives.key],
            due,
            hold,
            {
                _SEEN: after.seen,
                _TICK: after.due,
                _LAST: lives.last,
                _RECENT: recent.astype(np.int32),
                _LENGTHS: lengths.astype(np.int32),
                _LIMITS: after.limits.reshape(many, -1).astype(np.int32),
            },
            {
                _CANDIDATES: Ragged(
                    _offsets(partition_of_candidate, many), _candidates(after.ids, after.scores)
                ),
                _OBJECTS: Ragged(offsets, needed.lines),
            },
        )
        is_gone = touched.known.copy()
        is_gone[lives.key[stays]] = False
        return store.put(records.take(np.flatnonzero(stays)), touched.ids[is_gone])

    # --- for tests and benchmarks -------------------------------------------------------------------------------------

    def everything(self, state: PartitionsState, time: str) -> tuple[QuerySetState, Rows, Whole]:
        """All partitions as the state of a query set, the rows of their objects, and the partition of each of these."""
        touched = self._touched(state, state.store.everything().ids, time)
        return touched.state, touched.objects.rows(), touched.objects.partitions


def due_by_time(
    query_set: QuerySet, after: QuerySetState, partition_of_candidate: Whole, watermark: Instant
) -> Whole:
    """When each partition changes by time alone."""
    if not query_set.by_time:
        return np.minimum(after.due, END)
    window = int(query_set.rules[candidates.WINDOW])
    clocks = after.ids[:, candidates.CLOCK]
    is_in = (after.ids[:, candidates.FLAGS] & candidates.IN_SET) != 0
    due = np.full(len(after.seen), END)
    np.minimum.at(due, partition_of_candidate[is_in], clocks[is_in] + window)
    if query_set.example.emission is Emission.EVERY:
        every = int(query_set.rules[candidates.EVERY])
        due = np.where(due < END, np.minimum(due, -(-watermark // every) * every), END)
    if (due < END).all():
        return due
    # Without a member, when the last object expires.
    last = np.full(len(due), watermark)
    np.maximum.at(last, after.recent.partitions, after.recent.clocks + window)
    np.maximum.at(last, partition_of_candidate, clocks + window)
    return np.where(due < END, due, np.minimum(last, END))


def candidates_in(state: PartitionsState) -> int:
    """How many candidates all partitions have."""
    return int(state.store.everything().lists[_CANDIDATES].offsets[-1])


def _needed(objects: _Objects, after: QuerySetState) -> _Objects:
    """The objects that are candidates or recent, partition by partition and in order."""
    numbers_needed = np.concatenate([after.ids[:, candidates.SEQ], after.recent.seqs])
    places = np.flatnonzero(np.isin(objects.numbers, numbers_needed))
    return objects.take(places[by_partition(objects.partitions[places], len(after.seen))])


def _offsets(partition_of: Whole, partitions: int) -> Whole:
    """Where the lists of consecutive partitions begin."""
    offsets = np.zeros(partitions + 1, np.int64)
    np.cumsum(np.bincount(partition_of, minlength=partitions), out=offsets[1:])
    return offsets


def _candidates(ids: Whole, scores: Real) -> dict[str, Any]:
    return {
        "number": np.ascontiguousarray(ids[:, candidates.SEQ]),
        "clock": np.ascontiguousarray(ids[:, candidates.CLOCK]),
        "flags": ids[:, candidates.FLAGS].astype(np.uint8),
        "score": scores,
    }


def _stored(column: Column) -> Column | Text:
    """Texts as bytes: a million partitions have a million of them."""
    return text_of(column) if column.type is ColumnType.STRING else column


def _of_other_queries(records: Records, place: Whole, k: Whole) -> Records:
    """The same partitions for other queries: `place` is the former place of each query, or -1."""
    table: Any = records.table
    lines: Any = records.lists[_CANDIDATES].lines
    known, old = place >= 0, np.maximum(place, 0)
    before = table[_LENGTHS].astype(np.int64)
    begins = (np.cumsum(before.ravel()) - before.ravel()).reshape(before.shape)
    lengths = np.where(known, before[:, old], 0)
    chosen = spans(begins[:, old].ravel(), lengths.ravel())
    offsets = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))]).astype(np.int64)
    limits = np.where(known, table[_LIMITS][:, old], k)
    return Records(
        records.ids,
        records.due,
        records.hold,
        {**table, _LENGTHS: lengths.astype(np.int32), _LIMITS: limits.astype(np.int32)},
        {
            **records.lists,
            _CANDIDATES: Ragged(offsets, {name: values[chosen] for name, values in lines.items()}),
        },
    )
