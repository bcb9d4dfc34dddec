"""Which sequences of rows match a pattern? All MATCH_RECOGNIZE queries that read one stream in one zone.

The phases, with the names they have in the paper: *creation* (`automaton`: a pattern becomes states), *filtering* (`compiled_query`:
row tests are computed for whole columns, and rows at which nothing can begin are skipped), *scan* (`preferred_match` and `all_matches`:
partial matches move from state to state), *response* (`match_answers`: what is emitted of a match).

Rule 1  A step reads each partition's stored and new rows once for every query; equal tests are computed once for all.
Rule 2  A match is emitted as soon as it is certain: no row that may still come can change it.
Memory  See `partitioned_rows` for rows and `runs` for partial matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.pattern.compiled_query import compile_query
from headwater.kernels.pattern.match_answers import respond
from headwater.kernels.pattern.packed_runs import PIECE, SLOT, entries, packed, unpacked
from headwater.kernels.pattern.partitioned_rows import (
    Arranged,
    Lane,
    Pieces,
    Touched,
    arrange,
    cut,
    keys_as_stored,
    records_of_interests,
    shape_of_records,
    spans_of,
    touched,
    whole,
    with_equals,
)
from headwater.kernels.pattern.question import PatternQuery
from headwater.kernels.pattern.row_blocks import Spans, rows_between, shape_of_blocks, spilled, write_blocks
from headwater.kernels.pattern.runs import (
    GIVEN_UP,
    NO_SUCH_ROW,
    OPEN_PARTITION,
    ROWS_GIVEN_UP,
    SEARCH,
    Runs,
    Segments,
)
from headwater.model import (
    BEGINNING,
    END,
    INTEREST_SERIAL,
    Answers,
    ColumnType,
    Instant,
    Records,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    empty_store,
    join_rows,
    no_records,
)

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PatternState:
    """How far time has come, and the lanes."""

    watermark: Instant
    lanes: tuple[Lane, ...]
    next_lane: int


class PatternKernel:
    """All MATCH_RECOGNIZE queries that read one stream in one zone."""

    def __init__(
        self,
        schema: StreamSchema,
        queries: Sequence[PatternQuery],
        conditions: Sequence[RowCondition] = (),
        *,
        shortcuts: bool = True,
    ) -> None:
        self.schema = schema
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)
        self.compiled = [compile_query(query, shortcuts=shortcuts) for query in queries]

    def without_shortcuts(self) -> PatternKernel:
        """The same kernel without optimisations that change no answer: no row is skipped, nothing is merged."""
        return PatternKernel(self.schema, self.queries, self.conditions, shortcuts=False)

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> PatternState:
        """Nothing read; rows before `since` are not for these queries."""
        lanes = tuple(self._new_lanes(range(len(self.queries)), since, 0))
        return PatternState(BEGINNING, lanes, len(lanes))

    def step(self, state: PatternState, rows: Rows, watermark: Instant) -> Step[PatternState]:
        """Take rows, let time pass, emit what is certain."""
        counts: Counter[str] = Counter()
        answers: dict[int, list[Rows]] = {}
        lanes = []
        complete = watermark
        chosen: dict[int | None, Rows] = {}
        for lane in state.lanes:
            where = self.queries[lane.queries[0]].where
            if where not in chosen:
                chosen[where] = (
                    rows if where is None or not rows.count else rows.take(self.conditions[where](rows))
                )
            after = self._lane_step(lane, chosen[where], state.watermark, watermark, answers, counts)
            lanes.append(after)
            complete = min(complete, after.store.held)
        blocks = tuple(Answers(shape, join_rows(parts)) for shape, parts in sorted(answers.items()))
        named_counts = {name: amount for name, amount in counts.items() if amount}
        return Step(PatternState(watermark, tuple(lanes), state.next_lane), blocks, complete, named_counts)

    def save(self, state: PatternState) -> Saved:
        """Lanes with their queries' names, and a store for each."""
        lanes = [
            {
                "number": lane.number,
                "since": lane.since,
                "slots": list(lane.slots),
                "queries": [self.queries[place].name for place in lane.queries],
                "fingerprints": [self.queries[place].fingerprint for place in lane.queries],
            }
            for lane in state.lanes
        ]
        values = {"watermark": state.watermark, "lanes": lanes, "next_lane": state.next_lane}
        stores = {str(lane.number): lane.store for lane in state.lanes}
        blocks = {_blocks_of(str(lane.number)): lane.blocks for lane in state.lanes}
        return Saved(values, stores=stores | blocks)

    def load(self, saved: Saved, since: Instant) -> PatternState:
        """The state of the queries that are unchanged; others begin at `since`."""
        watermark, number = saved.values["watermark"], saved.values["next_lane"]
        places = {(query.name, query.fingerprint): place for place, query in enumerate(self.queries)}
        lanes: list[Lane] = []
        for values in saved.values["lanes"]:
            names = zip(values["queries"], values["fingerprints"], strict=True)
            same_queries = [
                (places[name], slot)
                for name, slot in zip(names, values["slots"], strict=True)
                if name in places
            ]
            if not same_queries:
                continue
            queries, slots = zip(*same_queries, strict=True)
            name, shape = str(values["number"]), self._shape(queries)
            store = saved.stores[name].shaped_like(shape)
            blocks = saved.stores[_blocks_of(name)].shaped_like(shape_of_blocks(shape))
            lane = Lane(values["number"], values["since"], queries, slots, store, blocks)
            lanes.append(
                lane if len(same_queries) == len(values["slots"]) else self._without_the_dropped(lane)
            )
        known = {place for lane in lanes for place in lane.queries}
        fresh = [place for place in range(len(self.queries)) if place not in known]
        added = self._new_lanes(fresh, max(since, watermark), number)
        return PatternState(watermark, (*lanes, *added), number + len(added))

    def next_due(self, state: PatternState) -> Instant:
        """When a partial match runs out of time, an absence is certain, or FORGET ends a partition."""
        return min((lane.store.next_due for lane in state.lanes), default=END)

    def is_blank(self, state: PatternState) -> bool:
        """Whether nothing is stored of any partition."""
        return all(lane.since == BEGINNING and not len(lane.store) for lane in state.lanes)

    def due_interests(self, state: PatternState, until: Instant) -> Numbers:
        """The interests with a partition that is due."""
        due = [lane.store.due(state.watermark, until)[:, 0] for lane in state.lanes]
        return np.concatenate([np.zeros(0, np.uint64), *due]).view(np.int64)

    def split(self, state: PatternState, interests: Numbers) -> tuple[PatternState, PatternState]:
        """Partitions of different interests are different records."""
        parts = [self._split_lane(lane, interests) for lane in state.lanes]
        taken, others = (tuple(lane) for lane in zip(*parts, strict=True))
        return replace(state, lanes=taken), replace(state, lanes=others)

    @staticmethod
    def _split_lane(lane: Lane, interests: Numbers) -> tuple[Lane, Lane]:
        records = records_of_interests(lane.store, interests)
        taken = replace(lane, store=empty_store(lane.store.like).put(records, no_records().ids))
        if not len(records):
            return taken, lane
        spans = spans_of(records)
        blocks = lane.blocks.put(no_records(), spans.block_ids(*spans.blocks()))
        return taken, replace(lane, store=lane.store.put(no_records(), records.ids), blocks=blocks)

    # --- lanes --------------------------------------------------------------------------------------------------------

    def _new_lanes(self, places: Sequence[int], since: Instant, number: int) -> list[Lane]:
        by_lane: dict[object, list[int]] = {}
        for place in places:
            query = self.queries[place]
            by_lane.setdefault((query.partition, query.order, query.where, query.forget_us), []).append(place)
        return [
            Lane(
                number + place,
                since,
                tuple(queries),
                tuple(range(len(queries))),
                empty_store(self._shape(queries)),
                empty_store(shape_of_blocks(self._shape(queries))),
            )
            for place, queries in enumerate(by_lane.values())
        ]

    def _shape(self, places: Sequence[int]) -> Records:
        """The contents of a record: the key, and those columns of the rows that some query of the lane reads."""
        types, keys = (
            {**self.schema.types, INTEREST_SERIAL: ColumnType.BIGINT},
            self.queries[places[0]].partition_columns,
        )
        read = {name for place in places for name in self.queries[place].identity}
        others = sorted(read.difference(keys) | {self.schema.time})
        return shape_of_records({name: types[name] for name in keys}, {name: types[name] for name in others})

    def _without_the_dropped(self, lane: Lane) -> Lane:
        """A lane that some queries have left: nothing is stored, waits or is held back for them any more."""
        columns = self.queries[lane.queries[0]].partition_columns
        found = touched(lane.store, Rows({}, 0), columns, lane.store.everything().ids)
        table, pieces = self._table(lane, found, Rows({}, 0), BEGINNING)
        opened = _Opened(found, pieces)
        runs = [opened.runs(slot, self.compiled[place].none()) for place, slot in _queries(lane)]
        return self._put(lane, found, table, pieces, runs)

    def _lane_step(
        self,
        lane: Lane,
        rows: Rows,
        since: Instant,
        watermark: Instant,
        answers: dict[int, list[Rows]],
        counts: Counter[str],
    ) -> Lane:
        if rows.count and lane.since > BEGINNING:
            rows = rows.take(rows[self.schema.time].values >= lane.since)
        due = lane.store.due(since, watermark) if watermark < END else lane.store.everything().ids
        if not rows.count and not len(due):
            return lane
        found = touched(lane.store, rows, self.queries[lane.queries[0]].partition_columns, due)
        table, pieces = self._table(lane, found, rows, watermark)
        opened, keys = _Opened(found, pieces), found.keys.take(pieces.partition)
        if pieces.over.any():
            self._run(lane, table, keys, opened, pieces, END, answers, counts)
        runs = [self.compiled[place].none() for place in lane.queries]
        if not pieces.over.all():
            runs = self._run(lane, table, keys, opened, pieces, watermark, answers, counts)
        return self._put(lane, found, table, pieces, runs)

    def _table(self, lane: Lane, found: Touched, rows: Rows, watermark: Instant) -> tuple[Arranged, Pieces]:
        """The rows of the partitions of a step, and the pieces into which FORGET cuts them."""
        first, time = self.queries[lane.queries[0]], self.schema.time
        stored, stored_in = found.stored_rows(lane.blocks)
        both = join_rows([*stored, rows.select(stored[0].columns)] if rows.count else stored)
        partition = np.concatenate([stored_in, found.of_row])
        table = arrange(both, partition, len(stored_in), found.keys, first.order, time)
        if first.forget_us is None:
            return table, whole(table, found, is_over=watermark >= END)
        return cut(table, found, first.forget_us, watermark)

    def _run(
        self,
        lane: Lane,
        table: Arranged,
        keys: Rows,
        opened: _Opened,
        pieces: Pieces,
        until: Instant,
        answers: dict[int, list[Rows]],
        counts: Counter[str],
    ) -> list[Runs]:
        """Advance all queries over the pieces that are over (`until` END) or that continue; returns what is open in them then."""
        are_over = until >= END
        segments = pieces.those(are_over=are_over)
        runs = []
        for place, slot in _queries(lane):
            compiled = self.compiled[place]
            old = opened.runs(slot, compiled.none(), in_over=are_over)
            found, new, counted = compiled.run(table, segments, old, until)
            runs.append(new)
            counts["partial_matches_given_up"] += int(counted[GIVEN_UP])
            counts["skips_to_no_row"] += int(counted[NO_SUCH_ROW])
            counts["rows_given_up"] += int(counted[ROWS_GIVEN_UP])
            if len(found.lines):
                answered = respond(compiled.query, compiled.auto, found, table, keys, segments)
                if answered.count:
                    answers.setdefault(compiled.query.output, []).append(answered)
        return runs

    def _put(self, lane: Lane, found: Touched, table: Arranged, pieces: Pieces, runs: Sequence[Runs]) -> Lane:
        """The lane after a step: of each partition that continues what is still needed is stored, and nothing of the others."""
        segments = pieces.segments
        needed_from, hold, due = self._needs(lane, table, pieces, runs)
        counts, offset = segments.base + segments.high - segments.low, segments.low - segments.base
        before = pieces.spans(found)
        first = needed_from - offset
        after = Spans(before.ids, first, spilled(first, before.until, counts))
        like = lane.store.like
        last_time = np.zeros(len(counts), np.int64) if pieces.last_time is None else pieces.last_time
        records = Records(
            after.ids,
            due,
            hold,
            keys_as_stored(found.keys, pieces.partition)
            | {"count": counts, "first": first, "last": last_time},
            {
                "rows": rows_between(table.rows, after.until + offset, segments.high, like),
                "open": packed(lane.slots, runs, counts),
            },
        )
        stays = (needed_from < segments.high) | (np.diff(records.lists["open"].offsets) > 0)
        if any(self.compiled[place].auto.first_at_edge.any() for place in lane.queries):
            stays |= ~pieces.over
        going_on = np.zeros(len(found.ids), np.bool_)
        going_on[pieces.partition[stays]] = True
        gone = found.ids[: found.known][~going_on[: found.known]]
        if not len(gone) and not stays.any():
            return lane
        store = lane.store.put(records if stays.all() else records.take(np.flatnonzero(stays)), gone)
        return replace(lane, store=store, blocks=write_blocks(lane.blocks, before, after, table.rows, offset))

    def _needs(
        self, lane: Lane, table: Arranged, pieces: Pieces, runs: Sequence[Runs]
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Of each piece the first row of the table that is stored, the time that answers are held back to, and when it is due."""
        segments, forget_us = pieces.segments, self.queries[lane.queries[0]].forget_us
        many = len(segments.low)
        needed, hold, due = segments.high.copy(), np.full(many, END), np.full(many, END)
        if forget_us is not None and pieces.last_time is not None:
            due = pieces.last_time + forget_us
        for (place, _), new in zip(_queries(lane), runs, strict=True):
            searching = _still_needed(new, segments)
            np.minimum(needed, searching, out=needed)
            is_open = searching < segments.high
            hold[is_open] = np.minimum(hold[is_open], table.time[searching[is_open]])
            of_piece = new.open[:, OPEN_PARTITION]
            deadlines = self.compiled[place].deadlines(new, segments, table.time)
            due[of_piece] = np.minimum(due[of_piece], deadlines)
        back = max(-self.queries[place].shifts[0] for place in lane.queries)
        first = np.minimum(needed - back, with_equals(table.time, segments.low, needed, segments.high))
        return np.where(pieces.over, segments.high, np.maximum(first, segments.low)), hold, due


def _blocks_of(lane: str) -> str:
    """The name of the store with the blocks of a lane."""
    return f"{lane} rows"


def _queries(lane: Lane) -> list[tuple[int, int]]:
    """The queries of a lane: their place in the kernel's list, and their slot in the records."""
    return list(zip(lane.queries, lane.slots, strict=True))


class _Opened:
    """What is open in the partitions of a step, query by query."""

    def __init__(self, found: Touched, pieces: Pieces) -> None:
        self._over = pieces.over
        self._ends = pieces.segments.fresh
        self._words, self._entries = np.zeros(0, np.int64), np.zeros((0, 3), np.int64)
        if found.known:
            open_ = found.records.lists["open"]
            self._words = np.require(open_.lines["words"], np.int64, "W")
            listed = entries(self._words, open_.offsets)
            listed[:, PIECE] = pieces.first[listed[:, PIECE]]
            listed = listed[listed[:, PIECE] >= 0]
            self._entries = listed[np.argsort(listed[:, SLOT], kind="stable")]

    def runs(self, slot: int, none: Runs, *, in_over: bool = False) -> Runs:
        """The runs of one query in pieces that are over, or in those that continue; `none`: nothing is open."""
        low, high = np.searchsorted(self._entries[:, SLOT], [slot, slot + 1])
        some = self._entries[low:high]
        return unpacked(self._words, some[self._over[some[:, PIECE]] == in_over], self._ends, none)


def _still_needed(runs: Runs, segments: Segments) -> Numbers:
    """For each segment the first row of the table that is still needed."""
    needed = segments.high.copy()
    place = np.searchsorted(segments.partition, runs.open[:, OPEN_PARTITION])
    needed[place] = runs.open[:, SEARCH] - segments.base[place] + segments.low[place]
    return np.minimum(needed, segments.high)
