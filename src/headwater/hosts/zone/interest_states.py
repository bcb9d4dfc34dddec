"""The states of the operators downstream of a FOLLOW between two steps: a step touches interests that have events, are due, or are over.

There are two forms. *Combined*: if kernels can answer by interest, all interests have one state, so that a step calls each kernel once
(SELECT, MATCH_RECOGNIZE). *Separate*: each interest has states of its own, saved as one record, which is read when it is touched.

Rule 1  An interest without events so far has no state. Separate states that are blank are not stored either.
Rule 2  The state of an interest changes when it has events, when its kernels say so (`due`), and when it is over: then it is stepped to the
        end of its input, and its state is dropped.
Rule 3  Combined, an interest with rows that wait for an incomplete kernel is touched in every step.

Memory  The kernels' states, 24 bytes and 8 for each group: combined, for every interest that had an event; separate, only for those
        with a state that is not blank, with some hundred bytes for the names in what is saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np

from headwater.hosts.zone.graph import waiting_for
from headwater.hosts.zone.interest_graph import InterestGraph, States, Stream
from headwater.kernels.follow.question import (
    InterestAnswers,
    InterestEvents,
    Lives,
    Operators,
    OperatorState,
    Whole,
)
from headwater.model import (
    BEGINNING,
    END,
    INTEREST_SERIAL,
    Ids,
    Instant,
    KernelByInterest,
    KeyedStore,
    Log,
    Ragged,
    Records,
    Rows,
    Saved,
    decode,
    empty_store,
    encode,
    key_ids,
    no_records,
)
from headwater.query.planning.interest_plan import InterestPlan

_FOCAL: Final = "focal"
_SETTLED: Final = "settled"
_STATE: Final = "state"
_BYTES: Final = "bytes"
_INTERESTS: Final = "interests"


def _ids(serials: Whole) -> Ids:
    """The identities of interests in a store."""
    ids = np.zeros((len(serials), 2), np.uint64)
    ids[:, 0] = serials
    return ids


def _serials(ids: Ids) -> Whole:
    return ids[:, 0].view(np.int64)


def _records(serials: Whole, due: Whole, focal: Ids, settled: Whole) -> Records:
    never = np.full(len(serials), END)
    return Records(_ids(serials), due, never, {_FOCAL: focal, _SETTLED: settled})


def _no_records(groups: int) -> Records:
    none = np.zeros(0, np.int64)
    return _records(none, none, no_records().ids, np.zeros((0, groups), np.int64))


def _no_states(groups: int) -> Records:
    """No records, of interests with separate states."""
    none = Ragged(np.zeros(1, np.int64), {_BYTES: np.zeros(0, np.uint8)})
    return replace(_no_records(groups), lists={_STATE: none})


def _has_rows(streams: Iterable[Stream]) -> Any:
    return np.logical_or.reduce([stream.bounds[1:] > stream.bounds[:-1] for stream in streams])


def _settled_now(graph: InterestGraph, groups: Sequence[str], saved: Whole) -> Whole:
    """Times that were saved for some groups, for the present groups."""
    settled = np.full((len(saved), len(graph.plan.groups)), BEGINNING)
    for place, group in enumerate(graph.plan.groups):
        if group.name in groups:
            settled[:, place] = saved[:, groups.index(group.name)]
    return settled


def make_operators(plan: InterestPlan) -> Operators:
    """The operators downstream of a FOLLOW."""
    graph = InterestGraph(plan)
    return CombinedInterests(graph) if plan.by_interest else SeparateInterests(graph)


# --- separate ---------------------------------------------------------------------------------------------------------


class Opened(NamedTuple):
    """The state of one interest: its focal object, int64[groups], the states of its graph, and until when they do not change."""

    focal: Ids
    settled: Whole
    states: States
    due: Instant


@dataclass(frozen=True)
class SeparateState(OperatorState):
    """Records as they were saved last; and since then those that are `changed` and those that are `gone`.

    `read` are decoded records of the store. `written` is this state with all changes in the store, once it was needed.
    """

    watermark: Instant
    store: KeyedStore
    changed: Mapping[int, Opened] = field(default_factory=dict)
    gone: frozenset[int] = frozenset()
    read: Mapping[int, Opened] = field(default_factory=dict)
    written: list[SeparateState] = field(default_factory=list, compare=False, repr=False)


class SeparateInterests:
    """The operators downstream of a FOLLOW, with a state for each interest."""

    def __init__(self, graph: InterestGraph) -> None:
        self.graph = graph
        self.plan = graph.plan

    def start(self) -> SeparateState:
        """No interest yet."""
        return SeparateState(BEGINNING, self._no_store())

    def due(self, state: OperatorState, watermark: Instant) -> Ids:
        """The focal objects of interests that must be stepped even without events."""
        assert isinstance(state, SeparateState)
        state = _latest(state)
        opened, stored = self._due(state, watermark)
        records, _ = state.store.find(_ids(stored))
        known: Any = records.table[_FOCAL]
        return np.concatenate([known, *(state.changed[serial].focal for serial in opened)])

    def step(
        self,
        state: OperatorState,
        lives: Lives,
        events: Sequence[InterestEvents],
        settled: Whole,
        watermark: Instant,
    ) -> tuple[SeparateState, Sequence[InterestAnswers], Mapping[str, int]]:
        """Step the interests that have events, are due, or are over."""
        assert isinstance(state, SeparateState)
        state = _latest(state)
        counts: Counter[str] = Counter()
        streams = self.graph.streams(lives, events)
        touched = self._touched(state, lives, _has_rows(streams.values()), watermark)
        known = self._known(state, lives.serial[touched])
        focal = key_ids([lives.focal.take(touched)], len(touched))
        changed, gone, answers = dict(state.changed), set(state.gone), list[InterestAnswers]()
        for number, life in enumerate(touched.tolist()):
            serial = int(lives.serial[life])
            before = known.get(serial)
            until = settled[life][list(self.plan.parts)] if before is None else before.settled
            states, more = self._step(
                self.graph.empty if before is None else before.states,
                {name: stream.of_life(life) for name, stream in streams.items()},
                lives,
                life,
                until,
                END if lives.is_over[life] else watermark,
                counts,
            )
            answers += more
            changed.pop(serial, None)
            if lives.is_over[life] or self.graph.is_blank(states):
                gone.add(serial)
            else:
                gone.discard(serial)
                changed[serial] = Opened(
                    focal[number : number + 1], until, states, self.graph.next_due(states)
                )
        return (
            replace(state, watermark=watermark, changed=changed, gone=frozenset(gone), written=[]),
            answers,
            counts,
        )

    def save(self, state: OperatorState) -> Saved:
        """One record for each interest."""
        assert isinstance(state, SeparateState)
        after = self._written(_latest(state))
        if after is not state:
            state.written[:] = [after]
        return Saved(self._values(state.watermark), stores={_INTERESTS: after.store})

    def load(self, saved: Saved, since: Instant) -> SeparateState:
        """A saved state. Records are read when they are touched; at once if the queries have changed, whose new ones begin at `since`."""
        values, store = saved.values, saved.stores.get(_INTERESTS)
        if values["apart"] or store is None:
            return self.start()
        state = SeparateState(values["watermark"], store.shaped_like(self._no_store().like))
        if values["meaning"] == list(self.plan.meaning):
            return state
        records = store.shaped_like(_no_states(len(values["groups"]))).everything()
        opened = self._opened(records, values["groups"], since)
        return replace(
            state,
            store=self._no_store_after(store),
            changed=opened,
        )

    # --- a step ---

    def _step(
        self,
        states: States,
        entries: Mapping[str, Rows],
        lives: Lives,
        life: int,
        settled: Whole,
        until: Instant,
        counts: Counter[str],
    ) -> tuple[States, list[InterestAnswers]]:
        def life_of(rows: Rows) -> Whole:
            return np.full(rows.count, life)

        every = np.broadcast_to(settled, (len(lives.serial), len(settled)))
        return self.graph.step(states, entries, until, lives, life_of, every, counts)

    def _touched(self, state: SeparateState, lives: Lives, has_rows: Any, watermark: Instant) -> Whole:
        """The places of the interests that are stepped."""
        serials = lives.serial
        opened, stored = self._due(state, watermark)
        touched = has_rows | np.isin(serials, np.concatenate([np.array(opened, np.int64), stored]))
        over = np.flatnonzero(lives.is_over & ~touched)
        is_known = state.store.has(_ids(serials[over]))
        is_known &= ~np.isin(serials[over], np.array(sorted(state.gone), np.int64))
        is_known |= np.array([serial in state.changed for serial in serials[over].tolist()], np.bool_)
        touched[over[is_known]] = True
        return np.flatnonzero(touched)

    def _due(self, state: SeparateState, watermark: Instant) -> tuple[list[int], Whole]:
        """The serials of interests that are due: of those that have changed since they were saved, and of the others."""
        opened = [serial for serial, one in state.changed.items() if one.due < watermark]
        stored = _serials(state.store.due(state.watermark, watermark))
        hidden = np.array([*state.changed, *state.gone], np.int64)
        return opened, stored[~np.isin(stored, hidden)]

    def _known(self, state: SeparateState, serials: Whole) -> dict[int, Opened]:
        """The states of some interests."""
        found = {
            serial: one
            for serial in serials.tolist()
            if (one := state.changed.get(serial) or state.read.get(serial)) and serial not in state.gone
        }
        missing = [serial for serial in serials.tolist() if serial not in found and serial not in state.gone]
        records, _ = state.store.find(_ids(np.array(missing, np.int64)))
        return found | self._opened(records, [group.name for group in self.plan.groups], BEGINNING)

    # --- records ---

    def _opened(self, records: Records, groups: Sequence[str], since: Instant) -> dict[int, Opened]:
        """The states in some records, which were written for some groups."""
        table: Any = records.table
        saved: Any = records.lists[_STATE]
        data, settled = saved.lines[_BYTES], _settled_now(self.graph, groups, table[_SETTLED])
        found = {}
        for number, serial in enumerate(_serials(records.ids).tolist()):
            tree = decode(data[saved.offsets[number] : saved.offsets[number + 1]].data)
            states = self.graph.loaded(tree, since)
            found[serial] = Opened(
                table[_FOCAL][number : number + 1], settled[number], states, self.graph.next_due(states)
            )
        return found

    def _written(self, state: SeparateState) -> SeparateState:
        """The state with all changes in the store."""
        if not state.changed and not state.gone:
            return state
        serials = np.array(list(state.changed), np.int64)
        ones = list(state.changed.values())
        cells = [np.frombuffer(encode(self.graph.saved(one.states)), np.uint8) for one in ones]
        offsets = np.zeros(len(cells) + 1, np.int64)
        np.cumsum([len(cell) for cell in cells], out=offsets[1:])
        # A state that was due at every step is due at the next one.
        due = np.array([max(one.due, state.watermark) for one in ones], np.int64)
        focal = np.concatenate([no_records().ids, *(one.focal for one in ones)])
        settled = np.array([one.settled for one in ones], np.int64).reshape(len(ones), len(self.plan.groups))
        records = replace(
            _records(serials, due, focal, settled),
            lists={_STATE: Ragged(offsets, {_BYTES: np.concatenate([np.zeros(0, np.uint8), *cells])})},
        )
        gone = _ids(np.array(sorted(state.gone), np.int64))
        store = state.store.put(records, gone[state.store.has(gone)])
        return SeparateState(state.watermark, store, read=state.changed)

    def _values(self, watermark: Instant) -> dict[str, Any]:
        groups = [group.name for group in self.plan.groups]
        return {
            "apart": False,
            "watermark": watermark,
            "groups": groups,
            "meaning": list(self.plan.meaning),
        }

    def _no_store(self) -> KeyedStore:
        return empty_store(_no_states(len(self.plan.groups)))

    def _no_store_after(self, store: KeyedStore) -> KeyedStore:
        """An empty store, whose runs have numbers that were never used."""
        return replace(self._no_store(), next_number=store.next_number)


def _latest(state: SeparateState) -> SeparateState:
    """The same state with its changes in the store, if it was saved."""
    return state.written[0] if state.written else state


# --- combined ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CombinedState(OperatorState):
    """The states of all interests together; for each its focal object, and up to when answers were delivered already."""

    states: States
    interests: KeyedStore
    watermark: Instant


class CombinedInterests:
    """The operators downstream of a FOLLOW, with kernels that answer by interest."""

    def __init__(self, graph: InterestGraph) -> None:
        self.graph = graph
        self.plan = graph.plan

    def start(self) -> CombinedState:
        """No interest yet."""
        return CombinedState(self.graph.empty, empty_store(_no_records(len(self.plan.groups))), BEGINNING)

    def due(self, state: OperatorState, watermark: Instant) -> Ids:
        """The focal objects of interests that may change by time alone."""
        assert isinstance(state, CombinedState)
        waiting = [state.states[waiting_for(name)] for name in self.graph.graph.waits]
        serials = [chunk.rows[INTEREST_SERIAL].values for log in waiting for chunk in log.chunks]
        for group in self.plan.groups:
            assert isinstance(group.kernel, KernelByInterest)
            serials.append(group.kernel.due_interests(state.states[group.name], watermark))
        due_serials = np.unique(np.concatenate([np.zeros(0, np.int64), *serials]))
        records, _ = state.interests.find(_ids(due_serials))
        assert len(records) == len(due_serials), "a kernel stores an interest that is not stored here"
        focal: Any = records.table[_FOCAL]
        return focal

    def step(
        self,
        state: OperatorState,
        lives: Lives,
        events: Sequence[InterestEvents],
        settled: Whole,
        watermark: Instant,
    ) -> tuple[CombinedState, Sequence[InterestAnswers], Mapping[str, int]]:
        """Step all kernels: to the end for interests that are over, then as far as time has come for the others."""
        assert isinstance(state, CombinedState)
        counts: Counter[str] = Counter()
        streams = self.graph.streams(lives, events)
        has_rows = _has_rows(streams.values())
        records, place = state.interests.find(_ids(lives.serial))
        until = settled[:, self.plan.parts]
        is_known = place >= 0
        saved: Any = records.table[_SETTLED]
        until[is_known] = saved[place[is_known]]
        over = np.flatnonzero(lives.is_over & (is_known | has_rows))
        states, answers = state.states, list[InterestAnswers]()
        if len(over):
            taken, states = self._split(states, lives.serial[over])
            _, answers = self._step(taken, streams, lives, over, until, END, counts)
        rest = np.flatnonzero(~lives.is_over)
        states, more = self._step(states, streams, lives, rest, until, watermark, counts)
        begun = np.flatnonzero(has_rows & ~is_known & ~lives.is_over)
        never = np.full(len(begun), END)
        focal = key_ids([lives.focal.take(begun)], len(begun))
        interests = state.interests.put(
            _records(lives.serial[begun], never, focal, until[begun]),
            _ids(lives.serial[over[is_known[over]]]),
        )
        return CombinedState(states, interests, watermark), [*answers, *more], counts

    def save(self, state: OperatorState) -> Saved:
        """The stores and logs of all kernels."""
        assert isinstance(state, CombinedState)
        groups, stores, logs = {}, {_INTERESTS: state.interests}, dict[str, Log]()
        for group in self.plan.groups:
            saved = group.kernel.save(state.states[group.name])
            groups[group.name] = {
                "values": saved.values,
                "stores": list(saved.stores),
                "logs": list(saved.logs),
            }
            stores |= {f"{group.name}/{name}": store for name, store in saved.stores.items()}
            logs |= {f"{group.name}/{name}": log for name, log in saved.logs.items()}
        logs |= {waiting_for(name): state.states[waiting_for(name)] for name in self.graph.graph.waits}
        values = {
            "apart": True,
            "watermark": state.watermark,
            "groups": groups,
            "order": [group.name for group in self.plan.groups],
        }
        return Saved(values, logs, stores)

    def load(self, saved: Saved, since: Instant) -> CombinedState:
        """A saved state; new queries begin at `since`."""
        values = saved.values
        if not values["apart"]:
            return self.start()
        states: dict[str, Any] = {}
        for group in self.plan.groups:
            part = values["groups"].get(group.name)
            if part is None:
                states[group.name] = group.kernel.start(since)
                continue
            stores = {name: saved.stores[f"{group.name}/{name}"] for name in part["stores"]}
            logs = {name: saved.logs[f"{group.name}/{name}"] for name in part["logs"]}
            states[group.name] = group.kernel.load(Saved(part["values"], logs, stores), since)
        for waiting in map(waiting_for, self.graph.graph.waits):
            states[waiting] = saved.logs.get(waiting, Log())
        return CombinedState(
            states, self._interests(saved.stores[_INTERESTS], values["order"]), values["watermark"]
        )

    def _interests(self, store: KeyedStore, groups: Sequence[str]) -> KeyedStore:
        """The records of interests, for the present groups."""
        if groups == [group.name for group in self.plan.groups]:
            return store.shaped_like(_no_records(len(groups)))
        records = store.shaped_like(_no_records(len(groups))).everything()
        table: Any = records.table
        settled = _settled_now(self.graph, groups, table[_SETTLED])
        empty = replace(empty_store(_no_records(len(self.plan.groups))), next_number=store.next_number)
        return empty.put(
            _records(_serials(records.ids), records.due, table[_FOCAL], settled), no_records().ids
        )

    # --- a step ---

    def _step(
        self,
        states: States,
        streams: Mapping[str, Stream],
        lives: Lives,
        chosen: Whole,
        settled: Whole,
        until: Instant,
        counts: Counter[str],
    ) -> tuple[States, list[InterestAnswers]]:
        """Step with the events of some interests."""

        def life_of(rows: Rows) -> Whole:
            of = np.searchsorted(lives.serial, rows[INTEREST_SERIAL].values)
            assert (lives.serial[of] == rows[INTEREST_SERIAL].values).all(), (
                "an answer for an interest that is not stepped"
            )
            return of

        entries = {name: stream.of_lives(chosen) for name, stream in streams.items()}
        return self.graph.step(states, entries, until, lives, life_of, settled, counts)

    def _split(self, states: States, serials: Whole) -> tuple[dict[str, Any], dict[str, Any]]:
        """The states of some interests, and those of the others."""
        taken, others = dict[str, Any](), dict[str, Any]()
        for group in self.plan.groups:
            assert isinstance(group.kernel, KernelByInterest)
            taken[group.name], others[group.name] = group.kernel.split(states[group.name], serials)
        for name in self.graph.graph.waits:
            waiting, time = waiting_for(name), self.graph.graph.schemas[name].time
            taken[waiting], others[waiting] = _split_log(states[waiting], serials, time)
        return taken, others


def _split_log(log: Log, serials: Whole, time: str) -> tuple[Log, Log]:
    """The rows of some interests, and those of all others."""
    rows = log.rows()
    if rows is None:
        return log, log
    is_taken = np.isin(rows[INTEREST_SERIAL].values, serials)
    if not is_taken.any():
        return Log((), log.next_number), log
    empty = Log((), log.next_number)
    return empty.append(rows.take(is_taken), time), empty.append(rows.take(~is_taken), time)
