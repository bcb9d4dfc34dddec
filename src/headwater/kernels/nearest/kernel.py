"""Which k objects of the window are nearest? All NEAREST queries that read one stream in one zone.

Rule 1  Queries that read the same objects in the same way are one query set (see `query_sets`); rows are numbered once for all.
Rule 2  A row is an object of a query set if its condition holds and none of its attributes is NULL; a row for which only the
        condition holds is counted.
Rule 3  What happened before the watermark is emitted with the step: nothing is emitted later than its time.
Rule 4  The objects of query sets without PER are stored once for all of them; a partition of PER has its own.
Memory  See `query_sets`, `per_partition` and `objects`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.nearest import candidates
from headwater.kernels.nearest.audit import Audit, audited
from headwater.kernels.nearest.choices import Emission
from headwater.kernels.nearest.distance import answer_distance
from headwater.kernels.nearest.objects import NUMBER, Needed, ObjectStore, find, no_rows, numbered_rows
from headwater.kernels.nearest.per_partition import Partitions, PartitionsState, candidates_in, due_by_time
from headwater.kernels.nearest.query_order import matches
from headwater.kernels.nearest.query_sets import QuerySet, QuerySetState, SetEvents, query_set_key
from headwater.kernels.nearest.question import NearestQuery
from headwater.model import (
    BEGINNING,
    END,
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
    content_ids,
    join_by_time,
    join_rows,
)

Whole = NDArray[np.int64]

_FAR_APART: Final = 32
"""Numbers with gaps above this, on average, are sorted; others are marked in a table."""

_CHANGES = np.array(["leave", "enter"], object)


@dataclass(frozen=True, slots=True)
class NearestState:
    """How far time has come, how many rows have come and the last one's time, the query sets' states, the objects, the audits."""

    watermark: Instant
    count: int
    last: Instant
    query_sets: tuple[QuerySetState | PartitionsState, ...]
    objects: ObjectStore
    audits: tuple[Audit, ...]


@dataclass(frozen=True, slots=True)
class _Audited:
    """A query under audit: the query sets of its probable and its exact twin."""

    name: str
    probable: int
    exact: int


@dataclass(frozen=True, slots=True)
class _Emitted:
    """The events of a query set, and the rows of the objects in them, piece by piece by ascending number."""

    query_set: QuerySet
    events: SetEvents
    objects: Sequence[Rows]


class NearestKernel:
    """All NEAREST queries that read one stream in one zone."""

    def __init__(
        self,
        schema: StreamSchema,
        queries: Sequence[NearestQuery],
        conditions: Sequence[RowCondition] = (),
        *,
        index: bool = True,
        recent: int | None = None,
        prune: float = 0.2,
    ) -> None:
        self.schema = schema
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)
        groups: dict[Any, list[tuple[int, NearestQuery]]] = {}
        for place, query in enumerate(queries):
            groups.setdefault(query_set_key(query), []).append((place, query))
        self.audited: list[_Audited] = []
        for query in queries:
            if twins := audited(query):
                for twin in twins:
                    groups[query.name, twin.algorithm] = [(-1, twin)]
                self.audited.append(_Audited(query.name, len(groups) - 2, len(groups) - 1))
        self.query_sets = [
            QuerySet(members, index=index, recent=recent, prune=prune) for members in groups.values()
        ]
        self.columns = self._stored_columns()
        types = {name: schema.types[name] for name in self.columns}
        self.partitions = [
            Partitions(query_set, types) if query_set.per else None for query_set in self.query_sets
        ]

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> NearestState:
        """Nothing read; rows before `since` are not for these queries."""
        return NearestState(
            BEGINNING,
            0,
            BEGINNING,
            tuple(
                query_set.start(since) if partitions is None else partitions.start(since)
                for query_set, partitions in zip(self.query_sets, self.partitions, strict=True)
            ),
            ObjectStore(),
            tuple(Audit(np.zeros((0, 2), np.int64)) for _ in self.audited),
        )

    def step(self, state: NearestState, rows: Rows, watermark: Instant) -> Step[NearestState]:
        """Take rows, let time pass, answer."""
        counts: Counter[str] = Counter()
        arrived = numbered_rows(rows, self.columns, state.count)
        holds: dict[int, NDArray[np.bool_]] = {}
        parts = [*state.objects.parts(), arrived]
        query_sets: list[QuerySetState | PartitionsState] = []
        emitted: list[_Emitted] = []
        for place, before in enumerate(state.query_sets):
            objects = self._objects(self.query_sets[place], before, rows, arrived, holds, counts)
            after, events, objects_of_events = self._step_query_set(
                place, before, objects, state.watermark, watermark
            )
            query_sets.append(after)
            emitted.append(
                _Emitted(
                    self.query_sets[place],
                    events,
                    parts if objects_of_events is None else [objects_of_events],
                )
            )
        last = int(rows[self.schema.time].values[-1]) if rows.count else state.last
        audits = self._audit(state, query_sets, [part.events for part in emitted], last, counts)
        whole = [part for part in query_sets if isinstance(part, QuerySetState)]
        needed = _needed(whole, state.count, state.count + rows.count)
        next_state = NearestState(
            watermark,
            state.count + rows.count,
            last,
            tuple(query_sets),
            state.objects.after(arrived, needed) if whole else state.objects,
            audits,
        )
        answers = self._answers(emitted)
        named_counts = {name: amount for name, amount in counts.items() if amount}
        return Step(next_state, answers, watermark, named_counts)

    def _step_query_set(
        self,
        place: int,
        state: QuerySetState | PartitionsState,
        objects: Rows,
        before: Instant,
        watermark: Instant,
    ) -> tuple[QuerySetState | PartitionsState, SetEvents, Rows | None]:
        """A query set's state after the step and its events; with PER also the rows of the objects in them."""
        query_set, partitions, time = self.query_sets[place], self.partitions[place], self.schema.time
        if partitions is None:
            assert isinstance(state, QuerySetState)
            one = np.zeros(objects.count, np.int64)
            return *query_set.step(state, objects, one, time, before, watermark), None
        assert isinstance(state, PartitionsState)
        return partitions.step(state, objects, time, before, watermark)

    def save(self, state: NearestState) -> Saved:
        """The query sets' candidates by number, and the objects as logs; with PER the partitions as a store."""
        parts, stores = [], {}
        for query_set, partitions, part in zip(
            self.query_sets, self.partitions, state.query_sets, strict=True
        ):
            if isinstance(part, QuerySetState):
                parts.append(query_set.save(part))
                continue
            assert partitions is not None
            parts.append(partitions.save(part))
            stores[partitions.name] = part.store
        values = {
            "watermark": state.watermark,
            "count": state.count,
            "fields": parts,
            "last": state.last,
            "audits": {
                audited_query.name: {
                    "points": self.query_sets[audited_query.probable].identities.view(np.int64),
                    "told": audit.emitted,
                }
                for audited_query, audit in zip(self.audited, state.audits, strict=True)
            },
            "recent_from": state.objects.recent_from,
        }
        return Saved(
            values,
            {"kept": state.objects.older, "recent": state.objects.recent},
            stores,
            holds_are_times=False,
        )

    def load(self, saved: Saved, since: Instant) -> NearestState:
        """The state of the queries and points that are unchanged; others begin at `since`."""
        values = saved.values
        objects = ObjectStore(saved.logs["kept"], saved.logs["recent"], values["recent_from"])
        begins = max(since, values["watermark"])
        stored = self._with_columns(join_rows([self._none, *objects.parts()]))
        query_sets: list[QuerySetState | PartitionsState] = []
        for query_set, partitions in zip(self.query_sets, self.partitions, strict=True):
            known = next((part for part in values["fields"] if query_set.knows(part)), None)
            if partitions is not None:
                started = partitions.start(begins)
                query_sets.append(
                    partitions.load(known, saved.stores[known["store"]], begins) if known else started
                )
            elif known:
                query_sets.append(
                    query_set.load(known, self._of(stored, query_set), self.schema.time, begins)
                )
            else:
                query_sets.append(query_set.start(begins))
        audits = []
        for audited_query in self.audited:
            audit = Audit(np.zeros((0, 2), np.int64))
            if (known := values["audits"].get(audited_query.name)) is not None:
                place = matches(
                    self.query_sets[audited_query.probable].identities, known["points"].view(np.uint64)
                )
                audit = Audit(np.array(known["told"]).reshape(-1, 2)).moved(place)
            audits.append(audit)
        return NearestState(
            values["watermark"], values["count"], values["last"], tuple(query_sets), objects, tuple(audits)
        )

    def next_due(self, state: NearestState) -> Instant:
        """When the first member of a set leaves, or, if there is none, the last object; and the next tick of EVERY."""
        due = [state.watermark if self.audited else END]
        for query_set, part in zip(self.query_sets, state.query_sets, strict=True):
            if isinstance(part, PartitionsState):
                due.append(part.store.next_due)
            elif len(part.ids) or len(part.recent):
                due += due_by_time(
                    query_set, part, np.zeros(len(part.ids), np.int64), state.watermark
                ).tolist()
        return min(due)

    def is_blank(self, state: NearestState) -> bool:
        """Whether no object is known, and the numbers of objects make no difference (they do where chance is involved)."""
        return not self.audited and all(
            _is_blank(query_set, part)
            for query_set, part in zip(self.query_sets, state.query_sets, strict=True)
        )

    # --- for tests and benchmarks -------------------------------------------------------------------------------------

    def candidates(self, state: NearestState) -> dict[tuple[str, Any, Any], list[tuple[Any, ...]]]:
        """By query, point and value of PER: the candidates' time, score, whether emitted and whether in the set."""
        common = join_rows([self._none, *state.objects.parts()])
        found: dict[tuple[str, Any, Any], list[tuple[Any, ...]]] = {}
        for query_set, partitions, part in zip(
            self.query_sets, self.partitions, state.query_sets, strict=True
        ):
            if query_set.owner[0] < 0:
                continue
            if isinstance(part, QuerySetState):
                found.update(self._candidates_of(query_set, part, common, [None]))
                continue
            assert partitions is not None
            every, stored, partition_of = partitions.everything(part, self.schema.time)
            (per,) = query_set.per
            named = dict(zip(partition_of.tolist(), stored[per].tolist(), strict=True))
            values = [named.get(partition) for partition in range(len(every.seen))]
            by_number = stored.take(np.argsort(stored[NUMBER].values))
            found.update(self._candidates_of(query_set, every, by_number, values))
        return found

    def _candidates_of(
        self, query_set: QuerySet, part: QuerySetState, stored: Rows, values: Sequence[Any]
    ) -> dict[tuple[str, Any, Any], list[tuple[Any, ...]]]:
        found = {}
        place = np.searchsorted(stored[NUMBER].values, part.ids[:, candidates.SEQ])
        times = stored[self.schema.time].values[place].tolist() if len(place) else []
        flags = part.ids[:, candidates.FLAGS]
        for b, end in enumerate(np.cumsum(part.lengths).tolist()):
            query = self.queries[query_set.owner[b % len(query_set)]]
            points = query.points.ids
            point = None if points is None else points.tolist()[query_set.point[b % len(query_set)]]
            found[query.name, point, values[b // len(query_set)]] = [
                (
                    times[p],
                    float(part.scores[p]),
                    bool(flags[p] & candidates.EMITTED),
                    bool(flags[p] & candidates.IN_SET),
                )
                for p in range(end - int(part.lengths[b]), end)
            ]
        return found

    def work(self, state: NearestState) -> dict[str, int]:
        """How much is stored, and how much work there was since the state was made or loaded."""
        rows = state.objects.parts()
        whole = [part for part in state.query_sets if isinstance(part, QuerySetState)]
        partitions = [part for part in state.query_sets if isinstance(part, PartitionsState)]
        return {
            "candidates": sum(len(part.scores) for part in whole)
            + sum(candidates_in(part) for part in partitions),
            "tests": sum(part.tested for part in state.query_sets),
            "inserts": sum(part.inserted for part in state.query_sets),
            "cells": sum(len(part.grid.members) for part in whole),
            "bytes": sum(
                part.ids.nbytes + part.scores.nbytes + part.recent.values.nbytes + part.grid.members.nbytes
                for part in whole
            )
            + sum(column.values.nbytes for part in rows for column in part.columns.values())
            + sum(part.store.size for part in partitions),
        }

    # --- objects ------------------------------------------------------------------------------------------------------

    def _stored_columns(self) -> tuple[str, ...]:
        stored = {self.schema.time, self.schema.key}
        for query_set in self.query_sets:
            stored.update(query_set.example.attributes)
            stored.update(query_set.per)
        for query in self.queries:
            stored.update(column for _, column in query.columns)
        return tuple(name for name, _ in self.schema.columns if name in stored)

    @property
    def _none(self) -> Rows:
        types = self.schema.types
        return no_rows({name: types[name] for name in self.columns})

    def _with_columns(self, stored: Rows) -> Rows:
        """The rows with all present columns: one that was stored before a query needed it is NULL there."""
        lacking = {
            name: Column.nulls(kind, stored.count)
            for name, kind in self._none.types.items()
            if name not in stored
        }
        return Rows({**stored.columns, **lacking}, stored.count)

    def _of(self, stored: Rows, query_set: QuerySet) -> Rows:
        """The stored rows that can be objects of a query set: those of others may lack an attribute."""
        valid = np.ones(stored.count, np.bool_)
        for name in query_set.example.attributes:
            valid &= stored[name].is_valid
        return stored.take(np.flatnonzero(valid))

    def _objects(
        self,
        query_set: QuerySet,
        state: QuerySetState | PartitionsState,
        rows: Rows,
        arrived: Rows,
        holds: dict[int, NDArray[np.bool_]],
        counts: Counter[str],
    ) -> Rows:
        """The rows that are objects of a query set."""
        chosen = np.ones(rows.count, np.bool_)
        where = query_set.example.where
        if where is not None and rows.count:
            if where not in holds:
                holds[where] = self.conditions[where](rows)
            chosen = holds[where]
        valid = chosen
        for name in query_set.example.attributes:
            column = rows[name]
            valid = valid if column.valid is None else valid & column.valid
        lacking = chosen & ~valid
        if lacking.any() and query_set.owner[0] >= 0:
            times = rows[self.schema.time].values[lacking]
            for owner in np.unique(query_set.owner):
                since = int(state.since[query_set.owner == owner].min())
                counts["not_objects"] += int((times >= since).sum()) * self.queries[owner].counts_rows
        return arrived if valid.all() else arrived.take(np.flatnonzero(valid))

    def _audit(
        self,
        state: NearestState,
        query_sets: Sequence[QuerySetState | PartitionsState],
        events: Sequence[SetEvents],
        last: Instant,
        counts: Counter[str],
    ) -> tuple[Audit, ...]:
        next_audits = []
        for audited_query, audit in zip(self.audited, state.audits, strict=True):
            exact = query_sets[audited_query.exact]
            if isinstance(exact, PartitionsState):
                oldest = exact.store.held
            else:
                numbers = [exact.ids[:, candidates.SEQ], exact.recent.seqs]
                oldest = min((int(part.min()) for part in numbers if len(part)), default=0)
            points = len(self.query_sets[audited_query.exact])
            after, counted = audit.after(
                events[audited_query.probable], events[audited_query.exact], points, oldest, last
            )
            counts.update({f"{what}:{audited_query.name}": amount for what, amount in counted.items()})
            next_audits.append(after)
        return tuple(next_audits)

    # --- answers ------------------------------------------------------------------------------------------------------

    def _answers(self, emitted: Sequence[_Emitted]) -> tuple[Answers, ...]:
        shapes: dict[int, list[Rows]] = {}
        found: dict[int, tuple[Rows, Whole]] = {}
        emitted = [part for part in emitted if len(part.events.emitted) and part.query_set.owner[0] >= 0]
        for part in emitted:
            # The rows of objects that several query sets share are searched for once.
            source = id(part.objects)
            if source not in found:
                objects_of_events = [
                    other.events.emitted[:, candidates.WHAT]
                    for other in emitted
                    if other.objects is part.objects
                ]
                numbers = _different(objects_of_events)
                found[source] = find(part.objects, numbers), numbers
            query_set, events = part.query_set, part.events
            owner = query_set.owner[events.emitted[:, candidates.WHOSE] % len(query_set)]
            shape = np.array([query.shape for query in self.queries])[owner]
            for number in np.unique(shape):
                block = self._block(query_set, events, shape == number, *found[source])
                shapes.setdefault(int(number), []).append(block)
        return tuple(Answers(shape, join_by_time(blocks)) for shape, blocks in sorted(shapes.items()))

    def _block(
        self, query_set: QuerySet, events: SetEvents, chosen: NDArray[np.bool_], rows: Rows, numbers: Whole
    ) -> Rows:
        """The answers of a query set's queries of one shape."""
        order = _in_order(events.emitted, chosen)
        emitted, scores = events.emitted[order], events.scores[order]
        example = query_set.example
        member = emitted[:, candidates.WHOSE] % len(query_set)
        place = np.zeros(int(numbers[-1] - numbers[0]) + 1, np.int64)
        place[numbers - numbers[0]] = np.arange(len(numbers))
        objects = rows.take(place[emitted[:, candidates.WHAT] - numbers[0]])
        names = np.array([query.name for query in self.queries] + [""], object)[:-1]
        query = coded(query_set.owner[member], names)
        event_time = Column(ColumnType.TIMESTAMP, np.ascontiguousarray(emitted[:, candidates.WHEN]))
        columns: dict[str, Column] = {}
        if (point := self._points(query_set, member)) is not None:
            columns["point"] = point
        if example.emission is Emission.EVERY:
            columns["rank"] = Column(ColumnType.BIGINT, np.ascontiguousarray(emitted[:, candidates.RANK]))
        else:
            columns["change"] = coded(emitted[:, candidates.HOW], _CHANGES)
        if self.schema.key:
            columns["key"] = objects[self.schema.key]
        columns["object_time"] = Column(ColumnType.TIMESTAMP, objects[self.schema.time].values)
        attributes = [objects[name] for name in example.attributes]
        per = [objects[name] for name in query_set.per]
        identity = content_ids([query, event_time, *columns.values(), *attributes, *per])
        if not example.metric.ranks_values:
            columns["distance"] = _finite(answer_distance(scores, example.metric))
        columns_of_query = self.queries[query_set.owner[member[0]]].columns
        columns.update({name: objects[column] for name, column in columns_of_query})
        head = {"query": query, "event_time": event_time, "match_id": identity}
        return Rows({**head, **columns}, len(emitted))

    def _points(self, query_set: QuerySet, member: Whole) -> Column | None:
        """The points' ids; either all queries of one shape have them or none has."""
        owners = np.unique(query_set.owner[member])
        if self.queries[owners[0]].points.ids is None:
            return None
        ids = [self.queries[owner].points.ids for owner in owners]
        joined = join_rows([Rows({"point": column}, len(column)) for column in ids if column is not None])
        begins = np.cumsum([0, *(len(self.queries[owner].points) for owner in owners[:-1])])
        places = begins[np.searchsorted(owners, query_set.owner[member])] + query_set.point[member]
        return joined["point"].take(places)


def _needed(query_sets: Sequence[QuerySetState], first: int, count: int) -> Needed:
    """The objects that are candidates or recent; those from the number `first` on are new."""
    recent_from = min((int(part.recent.seqs[0]) for part in query_sets if len(part.recent)), default=count)
    stored = _different([part.ids[:, candidates.SEQ] for part in query_sets])
    came = max(first, recent_from)
    fresh = [part.recent.seqs[np.searchsorted(part.recent.seqs, came) :] for part in query_sets]
    return Needed(
        stored[: np.searchsorted(stored, recent_from)],
        _different([*fresh, stored[np.searchsorted(stored, came) :]]),
        recent_from,
    )


def _finite(distance: NDArray[np.float64]) -> Column:
    """A distance that is not a finite number is NULL."""
    valid = np.isfinite(distance)
    if valid.all():
        return Column(ColumnType.DOUBLE, distance)
    return Column(ColumnType.DOUBLE, np.where(valid, distance, 0.0), valid)


def _in_order(emitted: Whole, chosen: NDArray[np.bool_]) -> Whole:
    """The chosen events by time, then by list; the order within an instant of a list is preserved."""
    places = np.flatnonzero(chosen)
    when, whose = emitted[places, candidates.WHEN], emitted[places, candidates.WHOSE]
    when = when - when.min()
    lists, count = int(whose.max()) + 1, len(places)
    if (int(when.max()) + 1) * lists * count < 1 << 62:
        # One combined number sorts several times as fast as two keys.
        return places[np.sort((when * lists + whose) * count + np.arange(count)) % count]
    return places[np.lexsort([whose, when])]


def _different(parts: Sequence[Whole]) -> Whole:
    """All numbers that occur, ascending and once."""
    numbers = np.concatenate([np.zeros(0, np.int64), *parts])
    if not len(numbers):
        return numbers
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > _FAR_APART * len(numbers):
        return np.unique(numbers)
    occurs = np.zeros(high - low + 1, np.bool_)
    occurs[numbers - low] = True
    return np.flatnonzero(occurs) + low


def _is_blank(query_set: QuerySet, state: QuerySetState | PartitionsState) -> bool:
    """Whether a query set knows no object, and is in its initial state."""
    if (state.since > BEGINNING).any() or not query_set.by_time or query_set.example.sigma is not None:
        return False
    if isinstance(state, PartitionsState):
        return not len(state.store)
    return not len(state.ids) and not len(state.recent)
