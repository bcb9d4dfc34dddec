"""Which sequences of rows match a pattern? All MATCH_RECOGNIZE queries that read one stream in one zone.

The phases, with the names they have in the paper: *creation* (`automaton`: a pattern becomes states), *filtering* (`lanes`:
row tests are worked out for whole columns, and rows at which nothing can begin are passed over), *scan* (`scan` and `every`:
partial matches move from state to state), *response* (`response`: what is told of a match).

Rule 1  A step looks at each partition's kept and new rows once for every query; equal tests are worked out once for all.
Rule 2  A match is told as soon as it is certain: no row that may still come can change it.
Memory  See `lanes` for rows and `runs` for partial matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.pattern.automaton import ACCEPT, TAKE, Automaton, create
from headwater.kernels.pattern.every import watch
from headwater.kernels.pattern.lanes import Arranged, LaneState, arrange
from headwater.kernels.pattern.machine import Programs, Table, make_stack
from headwater.kernels.pattern.node_runs import NodeQuery
from headwater.kernels.pattern.question import PatternQuery, RowTest
from headwater.kernels.pattern.response import Found, respond
from headwater.kernels.pattern.runs import (
    AT,
    BEST,
    END_OF_LAST,
    GIVEN_UP,
    MANY_NODES,
    MANY_NODES_OF_EVERY,
    MEMORY,
    NEVER,
    NO_SUCH_ROW,
    NODE_COLUMNS,
    NUMBER,
    OPEN_COLUMNS,
    OPEN_PARTITION,
    ROOM,
    ROWS_GIVEN_UP,
    SEARCH,
    THREADS,
    WAITING,
    WAITING_COLUMNS,
    Rules,
    Runs,
    Segments,
)
from headwater.kernels.pattern.scan import scan
from headwater.kernels.pattern.shape import Chain, Loop, One
from headwater.kernels.pattern.words import RowsPerMatch, SkipTo
from headwater.model import (
    APART,
    BEGINNING,
    END,
    Answers,
    Column,
    ColumnType,
    Instant,
    Log,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    join_rows,
)

Numbers = NDArray[np.int64]

_SKIPS = (SkipTo.PAST_LAST_ROW, SkipTo.NEXT_ROW, SkipTo.FIRST, SkipTo.LAST, SkipTo.NOWHERE)


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane and the queries in it, by their place in the kernel's list."""

    number: int  # never used for two lanes, so that what is stored under it is always the same
    state: LaneState
    queries: tuple[int, ...]
    runs: tuple[Runs, ...]


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
        self.compiled = [_compiled(query, shortcuts) for query in queries]

    def without_shortcuts(self) -> PatternKernel:
        """The same kernel without what makes it fast and changes no answer: no row is passed over, nothing is merged."""
        return PatternKernel(self.schema, self.queries, self.conditions, shortcuts=False)

    # --- the contract -------------------------------------------------------------------------------------------------

    def start(self, since: Instant) -> PatternState:
        """Nothing seen; rows before `since` are not for these queries."""
        lanes = tuple(self._new_lanes(range(len(self.queries)), since, 0))
        return PatternState(BEGINNING, lanes, len(lanes))

    def step(self, state: PatternState, rows: Rows, watermark: Instant) -> Step[PatternState]:
        """Look at the rows, let time pass, tell what is certain."""
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
            after, held = self._lane_step(lane, chosen[where], watermark, answers, counts)
            lanes.append(after)
            complete = min(complete, held)
        blocks = tuple(Answers(shape, join_rows(parts)) for shape, parts in sorted(answers.items()))
        told = {name: amount for name, amount in counts.items() if amount}
        return Step(PatternState(watermark, tuple(lanes), state.next_lane), blocks, complete, told)

    def save(self, state: PatternState) -> Saved:
        """Lanes with their queries' names; kept rows and keys as logs."""
        logs: dict[str, Log] = {}
        lanes = []
        for lane in state.lanes:
            name = str(lane.number)
            logs[f"{name}/rows"] = lane.state.log
            logs[f"{name}/keys"] = lane.state.key_log
            lanes.append(
                {
                    "number": lane.number,
                    "since": lane.state.since,
                    "counts": lane.state.counts,
                    "kept": np.bincount(lane.state.partition, minlength=len(lane.state.counts)),
                    "queries": [self.queries[q].name for q in lane.queries],
                    "fingerprints": [self.queries[q].fingerprint for q in lane.queries],
                    "runs": [
                        {
                            "open": r.open,
                            "threads": r.threads,
                            "doubles": r.doubles,
                            "nodes": r.nodes,
                            "waiting": r.waiting,
                        }
                        for r in lane.runs
                    ],
                }
            )
        return Saved({"watermark": state.watermark, "lanes": lanes, "next_lane": state.next_lane}, logs)

    def load(self, saved: Saved, since: Instant) -> PatternState:
        """What is known of the queries that are still the same; others begin at `since`."""
        watermark = saved.values["watermark"]
        places = {(query.name, query.fingerprint): place for place, query in enumerate(self.queries)}
        lanes: list[Lane] = []
        known: set[int] = set()
        for values in saved.values["lanes"]:
            names = zip(values["queries"], values["fingerprints"], strict=True)
            kept = [
                (places[name], runs)
                for name, runs in zip(names, values["runs"], strict=True)
                if name in places
            ]
            if kept:
                queries = tuple(place for place, _ in kept)
                known.update(queries)
                lanes.append(
                    Lane(
                        values["number"],
                        self._lane_state(values, saved.logs, queries),
                        queries,
                        tuple(_loaded(r) for _, r in kept),
                    )
                )
        fresh = [place for place in range(len(self.queries)) if place not in known]
        added = self._new_lanes(fresh, max(since, watermark), saved.values["next_lane"])
        return PatternState(watermark, (*lanes, *added), saved.values["next_lane"] + len(added))

    # --- lanes --------------------------------------------------------------------------------------------------------

    def _new_lanes(self, places: Sequence[int], since: Instant, number: int) -> list[Lane]:
        by_lane: dict[object, list[int]] = {}
        for place in places:
            query = self.queries[place]
            by_lane.setdefault((query.partition, query.order, query.where), []).append(place)
        return [
            Lane(
                number + place,
                LaneState(
                    since,
                    self._no_keys(queries[0]),
                    np.zeros(0 if self.queries[queries[0]].kept_apart_by else 1, np.int64),
                ),
                tuple(queries),
                tuple(self.compiled[query].none() for query in queries),
            )
            for place, queries in enumerate(by_lane.values())
        ]

    def _no_keys(self, place: int) -> Rows:
        columns = self.queries[place].kept_apart_by
        if not columns:
            return Rows({}, 1)
        types = {**self.schema.types, APART: ColumnType.BIGINT}
        return Rows.empty({name: types[name] for name in columns})

    def _lane_state(
        self, values: Mapping[str, Any], logs: Mapping[str, Log], queries: Sequence[int]
    ) -> LaneState:
        name = str(values["number"])
        log, key_log = logs[f"{name}/rows"], logs[f"{name}/keys"]
        counts, kept = np.array(values["counts"]), values["kept"]
        stored, keys = log.rows(), key_log.rows()
        columns = self.queries[queries[0]].kept_apart_by
        found = self._no_keys(queries[0]) if keys is None else keys.select(columns)
        if stored is None:
            return LaneState(values["since"], found, counts, None, np.zeros(0, np.int64), log, key_log)
        partition, number = stored[PARTITION_COLUMN].values, stored[NUMBER_COLUMN].values
        still = np.flatnonzero(number >= counts[partition] - kept[partition])
        order = still[np.lexsort([number[still], partition[still]])]
        rows = stored.take(order)
        plain = rows.select(
            [column for column in rows.columns if column not in (PARTITION_COLUMN, NUMBER_COLUMN)]
        )
        return LaneState(values["since"], found, counts, plain, partition[order], log, key_log)

    def _lane_step(
        self, lane: Lane, rows: Rows, watermark: Instant, answers: dict[int, list[Rows]], counts: Counter[str]
    ) -> tuple[Lane, Instant]:
        state = lane.state
        if rows.count and state.since > BEGINNING:
            rows = rows.take(slice(int(np.searchsorted(rows[self.schema.time].values, state.since)), None))
        if not rows.count and not any(len(runs.open) for runs in lane.runs):
            return lane, watermark
        first = self.queries[lane.queries[0]]
        table, keys, before = arrange(state, rows, first.kept_apart_by, first.order, self.schema.time)
        segments, after = self._segments(table, before, lane)
        needed = segments.high.copy()
        runs = []
        held = watermark
        for place, old in zip(lane.queries, lane.runs, strict=True):
            compiled = self.compiled[place]
            found, new, counted = compiled.run(table, segments, old, watermark)
            runs.append(new)
            searching = _still_needed(new, segments)
            np.minimum(needed, searching, out=needed)
            open_ = searching < segments.high
            if open_.any():
                held = min(held, int(table.time[searching[open_]].min()))
            counts["partial_matches_given_up"] += int(counted[GIVEN_UP])
            counts["skips_to_no_row"] += int(counted[NO_SUCH_ROW])
            counts["rows_given_up"] += int(counted[ROWS_GIVEN_UP])
            if len(found.lines):
                told = respond(compiled.query, compiled.auto, found, table, keys, segments)
                if told.count:
                    answers.setdefault(compiled.query.output, []).append(told)
        back = max(-self.compiled[place].query.shifts[0] for place in lane.queries)
        new_state = self._kept(state, table, keys, after, segments, np.maximum(needed - back, segments.low))
        return Lane(lane.number, new_state, lane.queries, tuple(runs)), held if watermark < END else watermark

    def _segments(self, table: Arranged, before: Numbers, lane: Lane) -> tuple[Segments, Numbers]:
        """The partitions to look at: those with new rows, and those with something open."""
        partitions = len(before)
        new = np.bincount(table.partition[table.fresh], minlength=partitions)
        active = new > 0
        for runs in lane.runs:
            active[runs.open[:, OPEN_PARTITION]] = True
        chosen = np.flatnonzero(active)
        low = np.searchsorted(table.partition, chosen)
        high = np.searchsorted(table.partition, chosen, side="right")
        base = before[chosen] - (high - low - new[chosen])
        return Segments(chosen, low, high, base, before[chosen]), before + new

    def _kept(
        self,
        state: LaneState,
        table: Arranged,
        keys: Rows,
        counts: Numbers,
        segments: Segments,
        needed: Numbers,
    ) -> LaneState:
        """The lane after a step: the rows from `needed` on are kept, and all of partitions that were not looked at."""
        keep = np.ones(table.rows.count, np.bool_)
        for low, border in zip(segments.low.tolist(), needed.tolist(), strict=True):
            keep[low:border] = False
        rows, partition = table.rows.take(keep), table.partition[keep]
        fresh = np.flatnonzero(table.fresh & keep)
        log = state.log
        time = self.schema.time
        if rows.count:
            log = log.since(int(rows[time].values.min()))
            log = log.append(_numbered(table, counts, fresh), time)
            if sum(chunk.rows.count for chunk in log.chunks) > 4 * rows.count + 16384:
                log = Log((), log.next_number).append(_numbered(table, counts, np.flatnonzero(keep)), time)
        else:
            log = Log((), log.next_number)
        key_log = state.key_log
        if keys.count > state.keys.count and keys.columns:
            added = keys.take(slice(state.keys.count, None))
            key_log = key_log.append(added.having(**{AT_COLUMN: _zeros(added.count)}), AT_COLUMN)
        return replace(
            state, keys=keys, counts=counts, rows=rows, partition=partition, log=log, key_log=key_log
        )


PARTITION_COLUMN = "#partition"
NUMBER_COLUMN = "#number"
AT_COLUMN = "#at"


def _zeros(count: int) -> Column:
    return Column(ColumnType.BIGINT, np.zeros(count, np.int64))


def _numbered(table: Arranged, counts: Numbers, chosen: Numbers) -> Rows:
    """Some rows of a table with their partition and their number in it; `counts` are as after the step."""
    partition = table.partition
    last = np.searchsorted(partition, partition[chosen], side="right")
    number = counts[partition[chosen]] - (last - chosen)
    return table.rows.take(chosen).having(
        **{
            PARTITION_COLUMN: Column(ColumnType.BIGINT, partition[chosen]),
            NUMBER_COLUMN: Column(ColumnType.BIGINT, number),
        }
    )


def _loaded(saved: Mapping[str, Any]) -> Runs:
    """Saved runs, in arrays of their own: what was read may not be written to, and would be another type to the loops."""
    return Runs(**{name: np.array(part) for name, part in saved.items()})


def _still_needed(runs: Runs, segments: Segments) -> Numbers:
    """For each segment the first row of the table that is still needed."""
    needed = segments.high.copy()
    place = np.searchsorted(segments.partition, runs.open[:, OPEN_PARTITION])
    needed[place] = runs.open[:, SEARCH] - segments.base[place] + segments.low[place]
    return np.minimum(needed, segments.high)


def _compiled(query: PatternQuery, shortcuts: bool) -> _Compiled | NodeQuery:
    if query.node is None:
        return _Compiled(query, shortcuts)
    parts = query.shape.parts if isinstance(query.shape, Chain) else (query.shape,)
    ones = tuple(part.part if isinstance(part, Loop) else part for part in parts)
    return NodeQuery(query, tuple(one for one in ones if isinstance(one, One)), query.node)


class _Compiled:
    """A query and what is made of it once."""

    def __init__(self, query: PatternQuery, shortcuts: bool) -> None:
        self.query = query
        self.auto: Automaton = create(query.shape)
        self.row_tests = [test for test in query.tests if isinstance(test, RowTest)]
        self.programs = _programs(query)
        self.rules = _rules(query, self.auto, merges=shortcuts)
        self.begin_bits = self._begin_bits() if shortcuts else None
        self._stack = make_stack()

    def none(self) -> Runs:
        """Nothing is open."""
        memory = self.query.recall.memory
        return Runs(
            np.zeros((0, OPEN_COLUMNS), np.int64),
            np.zeros((0, MEMORY + len(memory.whole)), np.int64),
            np.zeros((0, len(memory.double))),
            np.zeros((0, NODE_COLUMNS), np.int64),
            np.zeros((0, WAITING_COLUMNS), np.int64),
        )

    def run(
        self, table: Arranged, segments: Segments, old: Runs, watermark: Instant
    ) -> tuple[Found, Runs, Numbers]:
        """Move the query on over all segments."""
        ended = watermark >= END
        programs, columns = self._table(table)
        lines = self._lines(old, segments)
        shared = (
            self.auto,
            programs,
            self.query.recall.memory,
            self.rules,
            columns,
            self._may_begin(columns),
            segments,
        )
        given = (old.threads, old.doubles, old.nodes, old.waiting)
        search = watch if self.query.every else scan
        found, bound, now, threads, doubles, nodes, waiting, counted = search(
            *shared, lines, *given, watermark, ended, self._stack
        )
        keep = (now[:, THREADS] > 0) | (now[:, WAITING] > 0) | (now[:, SEARCH] < self._ends(segments))
        if self.query.is_numbered:
            keep |= now[:, NUMBER] > 0
        if self.rules.unmatched:
            keep |= now[:, END_OF_LAST] >= now[:, SEARCH]
        if ended:
            keep[:] = False
        runs = Runs(now[keep], threads, doubles, nodes, waiting)
        rows, states = np.ascontiguousarray(bound[:, 0]), np.ascontiguousarray(bound[:, 1])
        return Found(found, rows, states), runs, counted

    def _ends(self, segments: Segments) -> Numbers:
        return segments.base + segments.high - segments.low

    def _lines(self, old: Runs, segments: Segments) -> Numbers:
        """One line for each segment; where nothing was open, the search goes on with the first new row."""
        lines = np.zeros((len(segments.low), OPEN_COLUMNS), np.int64)
        lines[:, OPEN_PARTITION] = segments.partition
        lines[:, BEST] = -1
        lines[:, END_OF_LAST] = -1
        place = np.searchsorted(segments.partition, old.open[:, OPEN_PARTITION])
        lines[:, SEARCH] = lines[:, AT] = segments.fresh
        lines[place] = old.open
        return lines

    def _table(self, table: Arranged) -> tuple[Programs, Table]:
        count = table.rows.count
        bits = np.zeros((len(self.row_tests), count), np.bool_)
        for place, test in enumerate(self.row_tests):
            bits[place] = table.test(test)
        recall = self.query.recall
        whole, whole_valid, programs = self._whole_columns(table)
        double = np.zeros((len(recall.double), count))
        double_valid = np.zeros((len(recall.double), count), np.bool_)
        for place, value in enumerate(recall.double):
            column = table.value(value)
            double[place], double_valid[place] = column.values, column.is_valid
        return programs, Table(table.time, bits, whole, whole_valid, double, double_valid)

    def _whole_columns(self, table: Arranged) -> tuple[Numbers, NDArray[np.bool_], Programs]:
        recall = self.query.recall
        columns = [table.value(value) for value in recall.whole]
        whole = np.zeros((len(columns), table.rows.count), np.int64)
        valid = np.zeros((len(columns), table.rows.count), np.bool_)
        dictionaries = [column.names for column in columns if column.names is not None]
        texts = [text for _, text in recall.texts]
        names = np.unique(np.concatenate([*dictionaries, np.array([*texts, ""], object)]))
        for place, column in enumerate(columns):
            valid[place] = column.is_valid
            if column.names is None:
                whole[place] = column.values
            elif len(column.names):
                whole[place] = np.searchsorted(names, column.names)[column.values]
        programs = self.programs
        if recall.texts:
            constants = programs.whole.copy()
            for place, text in recall.texts:
                constants[place] = np.searchsorted(names, text)
            programs = programs._replace(whole=constants)
        return whole, valid, programs

    def _begin_bits(self) -> list[int] | None:
        """The row tests one of which must hold where an attempt begins; None: it may begin anywhere."""
        found = []
        for target in self.auto.first.tolist():
            if target == ACCEPT:
                return None
            if self.auto.kind[target] != TAKE:
                continue
            condition = int(self.auto.condition[target])
            if condition < 0 or self.programs.bit[condition] < 0:
                return None
            found.append(int(self.programs.bit[condition]))
        return sorted(set(found))

    def _may_begin(self, columns: Table) -> NDArray[np.bool_]:
        if self.begin_bits is None:
            return np.ones(len(columns.time), np.bool_)
        if len(self.begin_bits) == 1:
            return np.ascontiguousarray(columns.bits[self.begin_bits[0]])
        return (
            np.logical_or.reduce(columns.bits[self.begin_bits])
            if self.begin_bits
            else np.zeros(len(columns.time), np.bool_)
        )


def _programs(query: PatternQuery) -> Programs:
    bit, begin, end = [], [], []
    code: list[tuple[int, int, int, int]] = []
    bits = 0
    for test in query.tests:
        if isinstance(test, RowTest):
            bit.append(bits)
            begin.append(0)
            end.append(0)
            bits += 1
        else:
            bit.append(-1)
            begin.append(len(code))
            code += test.code
            end.append(len(code))
    return Programs(
        np.array(bit, np.int64),
        np.array(begin, np.int64),
        np.array(end, np.int64),
        np.array(code, np.int64).reshape(-1, 4),
        np.array(query.recall.whole_constants, np.int64),
        np.array(query.recall.double_constants, np.float64),
    )


def _rules(query: PatternQuery, auto: Automaton, *, merges: bool) -> Rules:
    skip_to = np.zeros(max(len(query.variables), 1), np.bool_)
    skip_to[list(query.skip_to)] = True
    waits = bool((auto.link > 0).any())
    by_last = query.between_us is not None or bool((auto.veto[:, 0] == 1).any())
    return Rules(
        within_us=NEVER if query.within_us is None else query.within_us,
        between_us=NEVER if query.between_us is None else query.between_us,
        limit=NEVER if query.limit is None else query.limit,
        skip=_SKIPS.index(query.skip),
        skip_to=skip_to,
        timeouts=query.timeouts,
        unmatched=query.rows is RowsPerMatch.ALL_WITH_UNMATCHED,
        merges=merges,
        keeps_last=waits and by_last,
        distinct=_ambiguous(auto),
        next_rows=max(query.shifts[1], 0),
        room=ROOM,
        many_nodes=MANY_NODES_OF_EVERY if query.every else MANY_NODES,
    )


def _ambiguous(auto: Automaton) -> bool:
    """Whether the same rows may be bound to the same variables on two ways: some list of what follows has a variable twice."""
    lists = [auto.first, *np.split(auto.follow, auto.follow_from[1:-1])]
    for targets in lists:
        variables = auto.variable[targets[targets >= 0]].tolist()
        if len(set(variables)) < len(variables):
            return True
    return False
