"""What happens near moving objects? All FOLLOW queries with the same focal stream and the same sources of events in one zone.

Rule 1  Rows are location updates. Events are in stores, which other kernels fill (see `store`) and which a step may read. An update may
        begin an interest (see `interests`). It first gets the stored events of its region, from `last` and the operators' windows before
        its start; then the events there until its life ends.
Rule 2  The operators downstream of FOLLOW run once for each interest, from an empty state, on these events alone. When the life ends, so
        does their input.
Rule 3  Answers are delivered as `delivery` describes, stamped with the focal object, the interest, and whether they are historical.
Rule 4  With a share, a zone follows the focal objects that live in it; every zone has all events.
Rule 5  Events that operators do not need, or have already seen with the previous interest, are not streamed where that changes no answer
        (see `reuse`).
Rule 6  BEST EFFORT n: of the events before its start an interest gets the n latest.
Rule 7  A step reads the focal objects that have a row, whose silence exceeds FORGET, near which there is an event, or for whose operators
        the passing of time may change something.
Memory  See `by_key`, and the operators' states of every interest that is alive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from headwater.kernels.follow.by_key import ByKey, changed, needed, no_objects
from headwater.kernels.follow.choices import Update
from headwater.kernels.follow.delivery import Delivered, deliver
from headwater.kernels.follow.finding import Found, find_events
from headwater.kernels.follow.intake import updates_in
from headwater.kernels.follow.interests import (
    TALLIES,
    Alive,
    Recent,
    Updates,
    switch,
)
from headwater.kernels.follow.places import Look, lay_out
from headwater.kernels.follow.quality import counted, finished_interests, regions
from headwater.kernels.follow.question import (
    FollowQuery,
    InterestAnswers,
    InterestEvents,
    Lives,
    Operators,
    OperatorState,
    Whole,
    stamped,
)
from headwater.kernels.follow.reuse import choose
from headwater.kernels.follow.store import Store, View
from headwater.model import (
    BEGINNING,
    Answers,
    Column,
    ColumnType,
    Instant,
    KeyedStore,
    Log,
    Rows,
    Saved,
    Step,
    StreamSchema,
    coded,
    content_ids,
    join_rows,
    no_records,
)

_TIME: Final = "event_time"
_NO_OPERATORS: Final = OperatorState()


@dataclass(frozen=True, slots=True)
class QueryState:
    """The state of a query: its focal objects, and what its operators know of all interests."""

    objects: ByKey
    operators: OperatorState


@dataclass(frozen=True, slots=True)
class FollowState:
    """How far time has come, and the queries. For a step also the stores of all sources, which contain the events up to their watermarks."""

    watermark: Instant
    queries: tuple[QueryState, ...]
    stores: Mapping[str, Store] = field(default_factory=dict)


class FollowKernel:
    """All FOLLOW queries with the same focal stream, whose schema is given, and the same sources of events in one zone."""

    def __init__(self, schema: StreamSchema, queries: Sequence[FollowQuery]) -> None:
        self.schema = schema
        self.queries = tuple(queries)

    def with_operators(self, operators: Mapping[str, Operators]) -> FollowKernel:
        """The same kernel, with operators that run on the events of some queries."""
        queries = [replace(query, operators=operators.get(query.name)) for query in self.queries]
        return FollowKernel(self.schema, queries)

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> FollowState:
        """Nothing read; rows before `since` are not for these queries."""
        return FollowState(BEGINNING, tuple(self._started(query, since) for query in self.queries))

    def with_stores(self, state: FollowState, stores: Mapping[str, Store]) -> FollowState:
        """The state with stores, for one step."""
        return replace(state, stores=stores)

    def needs_since(self, state: FollowState) -> Mapping[str, Instant]:
        """From when on each source is needed: the longest history of any query that reads it."""
        needs: dict[str, Instant] = {}
        for query, part in zip(self.queries, state.queries, strict=True):
            needed = max(part.objects.since, state.watermark - query.history_us)
            for source in query.events.sources:
                needs[source.name] = min(needed, needs.get(source.name, needed))
        return needs

    def step(self, state: FollowState, rows: Rows, watermark: Instant) -> Step[FollowState]:
        """Take location updates, read events, let time pass, answer."""
        counts: Counter[str] = Counter()
        views: dict[str, View] = {}
        next_states: list[QueryState] = []
        shapes: dict[int, list[Rows]] = {}
        for query, part in zip(self.queries, state.queries, strict=True):
            if query.events.identity not in views:
                stores = [state.stores[source.name] for source in query.events.sources]
                views[query.events.identity] = View(query.events, stores)
            view = views[query.events.identity]
            updates = updates_in(rows, self.schema.time, query, part.objects.since, counts)
            after, answers = self._step_query(query, part, view, updates, state.watermark, watermark, counts)
            next_states.append(after)
            for block in answers:
                shapes.setdefault(block.shape, []).append(block.rows)
        joined = tuple(Answers(shape, join_rows(blocks)) for shape, blocks in sorted(shapes.items()))
        # A later interest brings its history, and operators of a living one may still answer from their windows.
        complete = watermark - max((query.reach_us for query in self.queries), default=0)
        return Step(
            FollowState(watermark, tuple(next_states)),
            joined,
            max(complete, BEGINNING),
            {name: many for name, many in counts.items() if many},
        )

    def save(self, state: FollowState) -> Saved:
        """Objects by key in stores, and the operators' states as the operators save them."""
        queries, logs, stores = [], dict[str, Log](), dict[str, KeyedStore]()
        for query, part in zip(self.queries, state.queries, strict=True):
            objects = part.objects
            saved: dict[str, Any] = {
                "name": query.name,
                "fingerprint": query.fingerprint,
                "since": objects.since,
                "serial": objects.serial,
                "levels": [list(level) for level in objects.near.levels],
            }
            stores[query.name], stores[_near(query.name)] = objects.store, objects.near.entries
            if query.operators is not None:
                operators = query.operators.save(part.operators)
                saved["operators"] = operators.values
                logs |= {_operators_key(query.name, name): log for name, log in operators.logs.items()}
                stores |= {
                    _operators_key(query.name, name): store for name, store in operators.stores.items()
                }
            queries.append(saved)
        return Saved({"watermark": state.watermark, "queries": queries}, logs, stores)

    def load(self, saved: Saved, since: Instant) -> FollowState:
        """The state of the queries that are unchanged; others begin at `since`."""
        values = saved.values
        begins = max(since, values["watermark"])
        known = {(part["name"], part["fingerprint"]): part for part in values["queries"]}
        states = []
        for query in self.queries:
            part = known.get((query.name, query.fingerprint))
            states.append(
                self._started(query, begins) if part is None else self._loaded(query, part, saved, begins)
            )
        return FollowState(values["watermark"], tuple(states))

    def next_due(self, state: FollowState) -> Instant:
        """Not used: no FOLLOW is downstream of a FOLLOW."""
        return BEGINNING

    def is_blank(self, state: FollowState) -> bool:
        """Not used."""
        return False

    def _loaded(self, query: FollowQuery, part: dict[str, Any], saved: Saved, begins: Instant) -> QueryState:
        """The state of a query, which may have gained or lost its operators."""
        objects = no_objects(query, part["since"]).loaded(
            saved.stores[query.name], saved.stores[_near(query.name)], part["levels"], part["serial"]
        )
        if query.operators is None:
            return QueryState(objects, _NO_OPERATORS)
        if "operators" not in part:
            return QueryState(objects, query.operators.start())
        prefix = _operators_key(query.name, "")
        own = Saved(part["operators"], _named(saved.logs, prefix), _named(saved.stores, prefix))
        return QueryState(objects, query.operators.load(own, begins))

    def _started(self, query: FollowQuery, since: Instant) -> QueryState:
        return QueryState(
            no_objects(query, since), query.operators.start() if query.operators else _NO_OPERATORS
        )

    # --- a step of one query ------------------------------------------------------------------------------------------

    def _step_query(
        self,
        query: FollowQuery,
        state: QueryState,
        view: View,
        updates: Updates,
        before: Instant,
        watermark: Instant,
        counts: Counter[str],
    ) -> tuple[QueryState, list[Answers]]:
        """The answers of a query for the objects that the step needs."""
        objects, since = state.objects, state.objects.since
        due = query.operators.due(state.operators, watermark) if query.operators else no_records().ids
        few = needed(query, objects, updates, view, before, watermark, due)
        counts[f"locations:{query.name}"] += len(updates.time)
        recent = _recent(query, few.alive, updates, view)
        interests = switch(query, few.alive, updates, recent, since, watermark, objects.serial)
        lives = Lives(
            interests.serial,
            interests.focal,
            interests.number,
            interests.start,
            interests.end,
            interests.is_over,
        )
        found = find_events(query, interests, since, view, before, watermark, counts)
        events, settled = self._events(query, found, view, since, counts)
        tally = np.zeros((len(lives.serial), TALLIES), np.int64)
        operators, delivered, answers = state.operators, few.delivered, list[Answers]()
        if query.interests:
            is_past = self._times(query, found) < lives.start[found.of]
            past = np.bincount(found.of[is_past], minlength=len(lives.serial))
            tally = counted(query, few.alive, updates, interests, view, past, before, watermark)
            over = finished_interests(query, interests, tally)
            answers = [over] if over else []
        else:
            blocks: list[InterestAnswers] = []
            if query.emits_events and (own := events.pop()).rows.count:
                blocks.append(_of_itself(query, own.rows, lives, own.of))
            if query.operators:
                operators, more, things = query.operators.step(operators, lives, events, settled, watermark)
                blocks += more
                counts.update(things)
            answers, delivered = self._delivered(query, lives, blocks, delivered, counts)
        begun = int(np.count_nonzero(interests.is_new))
        counts[f"interests:{query.name}"] += begun
        alive = interests.alive(tally)
        recently = delivered.recent(watermark, query.reach_us, alive)
        objects = changed(query, objects, few, alive, recently, objects.serial + begun, watermark)
        return QueryState(objects, operators), answers

    @staticmethod
    def _delivered(
        query: FollowQuery,
        lives: Lives,
        step_blocks: Sequence[InterestAnswers],
        delivered: Delivered,
        counts: Counter[str],
    ) -> tuple[list[Answers], Delivered]:
        """The delivered answers of a step, shape by shape, and all answers delivered by then."""
        by_shape: dict[int, list[InterestAnswers]] = {}
        for block in step_blocks:
            by_shape.setdefault(block.answers.shape, []).append(block)
        answers = []
        for blocks in by_shape.values():
            some, delivered, repeated = deliver(query, lives, blocks, delivered)
            counts[f"answers_repeated:{query.name}"] += repeated
            if some is not None:
                answers.append(some)
        return answers, delivered

    def _events(
        self, query: FollowQuery, found: Found, view: View, since: Instant, counts: Counter[str]
    ) -> tuple[list[InterestEvents], Whole]:
        """The events that are streamed for every need, if there is a reader; and until when the answers of an interest have been delivered."""
        choice = choose(query, found, view, since)
        time, events = self._times(query, found), []
        is_past = time < found.interests.start[found.of]
        is_read = query.operators is not None or (query.emits_events and not query.interests)
        for streamed in choice.streamed:
            past = int(np.count_nonzero(is_past[streamed]))
            counts[f"events_historical:{query.name}"] += past
            counts[f"events_live:{query.name}"] += int(np.count_nonzero(streamed)) - past
            if is_read:
                rows = found.rows.take(found.row[streamed])
                timed = rows.having(**{_TIME: Column(ColumnType.TIMESTAMP, time[streamed])})
                events.append(InterestEvents(timed, found.of[streamed]))
        for saving, many in choice.saved.items():
            counts[f"saved_{saving.value}:{query.name}"] += many
        return events, choice.settled

    @staticmethod
    def _times(query: FollowQuery, found: Found) -> Whole:
        return found.rows[query.events.schema.time].values[found.row]


def _near(query: str) -> str:
    """The name of the store of a query's regions."""
    return f"{query}/near"


def _operators_key(query: str, name: str) -> str:
    """The name of a log or store of a query's operators."""
    return f"{query}/behind/{name}"


def _named(all_of_them: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The entries whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): one for name, one in all_of_them.items() if name.startswith(prefix)}


def _recent(query: FollowQuery, alive: Alive, updates: Updates, view: View) -> Recent:
    """The events and regions for QUALITY; empty for other update conditions."""
    nowhere = np.zeros(0, np.int64)
    if query.update is not Update.QUALITY or not len(updates.time):
        empty = Look(np.zeros((0, 4)), nowhere, nowhere, np.zeros(0), np.zeros(0), -1.0, query.geographic)
        return Recent(lay_out(nowhere, np.zeros(0), np.zeros(0)), empty, np.zeros(1, np.int64))
    x, y = np.concatenate([alive.x, updates.x]), np.concatenate([alive.y, updates.y])
    return regions(query, x, y, view, int(updates.time.min()) - query.over_us)


def _of_itself(query: FollowQuery, events: Rows, lives: Lives, of: Whole) -> InterestAnswers:
    """The events as answers. An event has one identity, however many interests it belongs to."""
    columns = query.events.schema.types
    called = coded(np.zeros(events.count, np.int32), np.array([query.name], object))
    identity = content_ids([called, events[_TIME], *(events[column] for column in columns)], of)
    head = {"query": called, _TIME: events[_TIME], "match_id": identity}
    rows = Rows({**head, **events.select(columns).columns}, events.count)
    return InterestAnswers(Answers(query.shape, stamped(rows, lives, of)), of)
