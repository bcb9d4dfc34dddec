"""PREDICT queries over several lines with a bound on their distance: a step reads the keys that it touches and those near them.

Rule 1  A step *touches* the keys that have rows and those that are due: a line is over, or an answer is due. It *needs* these,
        their partners in answers, and all keys with lines that may match lines of keys with rows (`neighbours`). A pair of lines of which neither
        is touched was computed when the later of them came; its answers do not change.
Rule 2  The needed keys are opened from records (`pair_records`) and stepped as if there were no other keys (`across_keys`). Only
        touched keys, and those with a common answer, are written.
Rule 3  If a step needs most keys, all of them stay open for the next steps, until these need few: opening and closing would
        only cost. `crowd` is the number of needed keys for each touched one, as measured last.
Rule 4  If the queries have changed all keys are opened, once.

Memory  See `pair_records` and `cell_index`; if all keys are open, see `across_keys`. Nothing is stored of a key whose lives have been over for longer than w.
Cost    The touched keys and those near them. A line that moves so fast, or lives so long, that its box meets more cells than there are costs
        as much as all keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from headwater.kernels.keys import different, is_among
from headwater.kernels.predict.across_keys import WholePredict, WholeState, codes_in_use
from headwater.kernels.predict.cell_index import Boxes, CellIndex, no_boxes
from headwater.kernels.predict.neighbours import Neighbours, Owned
from headwater.kernels.predict.pair_records import Frame, PairRecords, Part
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.model import (
    BEGINNING,
    Ids,
    Instant,
    KeyedStore,
    Records,
    RowCondition,
    Rows,
    StreamSchema,
    empty_store,
    join_records,
    key_ids,
    no_records,
)

_MOST: Final = 2
"""A step that needs more than one in so many keys opens all of them, …"""
_FEW: Final = 3
"""… and they are closed again when a step would need no more than one in so many."""
_FADES: Final = 1 - 1 / 16
"""The factor of `crowd` after a step with all keys, which cannot measure it."""


@dataclass(frozen=True, slots=True)
class ByPlaceState:
    """How far time has come; all keys, or None if they are in records; records and their index by place; the queries; and `crowd`."""

    watermark: Instant
    everything: WholeState | None
    store: KeyedStore
    near: CellIndex
    frame: Frame
    crowd: float


Stepped = tuple[ByPlaceState, dict[int, list[list[Rows]]]]


class _Needed(NamedTuple):
    """The records that a step needs, and which keys it touches."""

    records: Records
    touched: Ids


class PredictByPlace:
    """PREDICT queries with several aliases, bounds on all their joins, and without a buffer."""

    def __init__(
        self,
        schema: StreamSchema,
        queries: Sequence[PredictQuery],
        conditions: Sequence[RowCondition],
        *,
        index: bool = True,
    ) -> None:
        self.queries = tuple(queries)
        self.few = WholePredict(schema, queries, conditions, index=index)
        self.records = PairRecords(self.few)
        self.neighbours = Neighbours(queries)
        self.index = index

    def start(self, since: Instant) -> ByPlaceState:
        """Nothing read; rows before `since` are not for these queries."""
        state = self.few.start(since)
        frame = self.records.frame(state)
        return ByPlaceState(
            state.watermark, state, empty_store(self.records.like(frame)), no_boxes(), frame, 1.0
        )

    def step(self, state: ByPlaceState, rows: Rows, watermark: Instant, counts: Counter[str]) -> Stepped:
        """Take updates, let time pass, emit."""
        keys = self.few.keys_of(rows)
        keys = different(keys if keys.valid is None else keys.take(keys.valid))
        came = key_ids([keys], len(keys))
        if state.everything is None:
            if not rows.count and not len(state.store.due(state.watermark, watermark)):
                return replace(state, watermark=watermark), {}
            needed = self._needed(state, came, rows, watermark)
            if needed is not None:
                return self._step_few(state, needed, rows, watermark, counts)
            state = self._opened(state)
        assert state.everything is not None
        after, emitted = self.few.step(state.everything, rows, watermark, counts)
        after = self.few.without_gaps(after)
        crowd = max(1.0, state.crowd * _FADES)
        state = replace(state, watermark=watermark, everything=after, crowd=crowd)
        busy = len(came) + sum(
            block.count for blocks in emitted.values() for some in blocks for block in some
        )
        if self.index and _FEW * busy * crowd < _how_many(after):
            state = self._closed(state, after)
        return state, emitted

    def save(self, state: ByPlaceState) -> dict[str, Any]:
        """All but the stores."""
        frame, everything = state.frame, None
        if state.everything is not None:
            frame, codes = self.records.frame(state.everything), codes_in_use(state.everything)
            sensors = state.everything.sensors.only(codes).save()
            everything = {"sensors": sensors, **self.few.values(state.everything, codes)}
        return {
            "watermark": state.watermark,
            "crowd": state.crowd,
            "levels": [list(level) for level in state.near.levels],
            "since": list(frame.since),
            "queries": [
                {
                    "name": self.queries[part.place].name,
                    "fingerprint": self.queries[part.place].fingerprint,
                    "since": part.since,
                    "sources": list(part.sources),
                }
                for part in frame.parts
            ],
            "everything": everything,
        }

    def load(
        self, values: dict[str, Any], store: KeyedStore | None, cells: KeyedStore | None, since: Instant
    ) -> ByPlaceState:
        """The state of the queries that are unchanged; others begin at `since`."""
        since = max(since, values["watermark"])
        fresh = self.start(since)
        store = fresh.store if store is None else store
        cells = fresh.near.cells if cells is None else cells.shaped_like(fresh.near.cells.like)
        near = CellIndex(cells, tuple((level, many) for level, many in values["levels"]))
        frame, is_same = self._frame(values)
        state = ByPlaceState(values["watermark"], None, store, near, frame, values["crowd"])
        if values["everything"] is None and is_same:
            return replace(state, store=store.shaped_like(self.records.like(frame)))
        if values["everything"] is None:
            return self._opened(state, since)
        saved = values["everything"]
        return _cleared(state, self.few.state(saved, Sensors.load(saved["sensors"]), since))

    def next_due(self, state: ByPlaceState) -> Instant:
        """When something happens to a key by time alone; at once while all keys are opened, and a step without rows closes them."""
        return state.store.next_due if state.everything is None else self.few.next_due(state.everything)

    def is_blank(self, state: ByPlaceState) -> bool:
        """Whether no key is known."""
        if state.everything is not None:
            return self.few.is_blank(state.everything)
        is_from_the_beginning = all(since == BEGINNING for since in state.frame.since)
        return not len(state.store) and is_from_the_beginning

    # --- which keys a step needs ----------------------------------------------------------------------------------------

    def _needed(self, state: ByPlaceState, came: Ids, rows: Rows, watermark: Instant) -> _Needed | None:
        """The keys that a step needs; None: so many that all keys are opened."""
        touched = _once(np.concatenate([came, state.store.due(state.watermark, watermark)]))
        known, _ = state.store.find(touched)
        many = len(state.store) + len(touched) - len(known)
        parts, found = [known], len(touched)
        speaking = known.take(np.flatnonzero(is_among(known.ids, came)))
        lines = self.records.lines(state.frame, speaking)
        owned = [lines, self._coming(state.frame, rows)]
        ids = [self.records.partners(state.frame, known)]
        for _ in range(self.neighbours.rounds):
            for some in owned:
                near = self.neighbours.of(state.near, some, state.frame.sources)
                if near is None:
                    return None
                ids.append(near)
            seen = np.concatenate([touched, *(part.ids for part in parts)])
            needed_ids = _once(np.concatenate(ids))
            others, _ = state.store.find(needed_ids[~is_among(needed_ids, seen)])
            parts.append(others)
            found += len(others)
            if _MOST * found >= many:
                return None
            owned, ids = [self.records.lines(state.frame, others)], []
        return _Needed(join_records(parts) if any(map(len, parts)) else known, touched)

    def _coming(self, frame: Frame, rows: Rows) -> list[Owned]:
        """The lines made from updates, with their promised lives; their keys do not matter."""
        no_ids = no_records().ids
        springs = {
            source: spring
            for part in frame.parts
            for source, spring in zip(part.sources, self.few.springs[part.place], strict=True)
        }
        return [
            Owned(self.few.lines_of(springs[source], since, rows), no_ids)
            for source, since in enumerate(frame.since)
        ]

    # --- all keys, and records -------------------------------------------------------------------------------------------

    def _step_few(
        self, state: ByPlaceState, needed: _Needed, rows: Rows, watermark: Instant, counts: Counter[str]
    ) -> Stepped:
        known, touched = needed
        is_touched = is_among(known.ids, touched)
        opened = self.records.opened(state.frame, known, state.watermark, is_touched)
        after, emitted = self.few.step(opened.state, rows, watermark, counts)
        records, has_changed = self.records.closed(after, opened, touched, watermark)
        changed = np.concatenate([touched, known.ids[opened.changes], records.ids[has_changed]])
        new = records.take(np.flatnonzero(is_among(records.ids, changed)))
        old = known.take(np.flatnonzero(is_among(known.ids, changed)))
        next_state = replace(
            state,
            watermark=watermark,
            store=state.store.put(new, old.ids[~is_among(old.ids, new.ids)]),
            near=state.near.moved(self._boxes(state.frame, old), self._boxes(state.frame, new)),
            crowd=max(1.0, len(known) / max(len(touched), 1)),
        )
        return next_state, emitted

    def _opened(self, state: ByPlaceState, since: Instant = BEGINNING) -> ByPlaceState:
        """The state with all keys opened; new queries begin at `since`."""
        known = state.store.shaped_like(self.records.like(state.frame)).everything()
        closes = np.zeros(len(known), np.bool_)
        opened = self.records.opened(state.frame, known, state.watermark, closes, since)
        return _cleared(state, opened.state)

    def _closed(self, state: ByPlaceState, everything: WholeState) -> ByPlaceState:
        """The state with all keys in records."""
        frame = self.records.frame(everything)
        records, _ = self.records.closed(everything, None, _NO_IDS, state.watermark)
        store = state.store.shaped_like(self.records.like(frame)).put(records, _NO_IDS)
        boxes = self._boxes(frame, records)
        near = state.near.moved(self._boxes(frame, records.take(np.zeros(0, np.int64))), boxes)
        return replace(state, everything=None, store=store, near=near, frame=frame)

    def _boxes(self, frame: Frame, records: Records) -> Boxes:
        return self.neighbours.boxes(self.records.lines(frame, records), frame.sources)

    def _frame(self, values: dict[str, Any]) -> tuple[Frame, bool]:
        """The saved queries that still exist, and whether the saved and the present queries are the same."""
        saved = [(part["name"], part["fingerprint"]) for part in values["queries"]]
        queries_now = [(query.name, query.fingerprint) for query in self.queries]
        parts = []
        for place, name in enumerate(queries_now):
            if name in saved:
                part = values["queries"][saved.index(name)]
                parts.append(Part(place, saved.index(name), part["since"], tuple(part["sources"])))
        return Frame(tuple(values["since"]), tuple(parts)), saved == queries_now


def _cleared(state: ByPlaceState, everything: WholeState) -> ByPlaceState:
    """The state with all keys opened, and empty stores; numbers of runs are not used again."""
    store, cells = (replace(store, runs=(), count=0, skipped=()) for store in (state.store, state.near.cells))
    return replace(state, everything=everything, store=store, near=CellIndex(cells))


def _how_many(state: WholeState) -> int:
    """Keys that have lines: none if no line is there at all."""
    return len(codes_in_use(state))


def _once(ids: Ids) -> Ids:
    """Each key once. Keys with one half in common are treated as one, as with whole hashes."""
    return ids[np.unique(ids[:, 0], return_index=True)[1]]


_NO_IDS: Final[Ids] = np.zeros((0, 2), np.uint64)
