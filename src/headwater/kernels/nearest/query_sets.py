"""A query set: all standing queries that read the same objects in the same way, and differ in their points and in k only.

Queries with the same attributes, weights, condition, window, PER, tie rule, algorithm and emission are one query set, so 10,000 points are one
loop over objects and not 10,000. Every query has a list for each partition (see `candidates`, `engine`): list = partition * queries + query.
Without PER there is one partition. With PER the partitions of a step are those that it touches (see `per_partition`).

Memory  The lists' candidates, of which there are at most MOST_CANDIDATES; of RAPF the recent objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.growing_array import GrowingArray
from headwater.kernels.nearest import candidates, engine
from headwater.kernels.nearest.candidate_limits import RECENT_OF_PARTITION, r_star, recent_rows
from headwater.kernels.nearest.choices import Algorithm, Emission
from headwater.kernels.nearest.distance import as_coordinates, coordinates
from headwater.kernels.nearest.grid import FEWEST, BallGrid, draw, no_grid
from headwater.kernels.nearest.objects import NUMBER
from headwater.kernels.nearest.packing import packed, runs_of, spans, unpack
from headwater.kernels.nearest.query_order import by_place, identities, matches
from headwater.kernels.nearest.question import NearestQuery
from headwater.model import (
    BEGINNING,
    Instant,
    LimitReached,
    Rows,
)
from headwater.model.partitions import by_partition

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

PUT_OFF_RISK: Final = 0.15
"""σ of the rank among recent objects up to which RAPF takes one at once: a higher value defers more, and takes more of them later."""

MOST_PATIENCE: Final = 16

ROOM_FOR_CANDIDATES: Final = 1024
"""Room for so many further candidates that a query set has at first."""

ROOM_FOR_ANSWERS: Final = 4096
"""Answers of a query set in one step that there is room for at first."""

MOST_CANDIDATES: Final = 50_000_000
"""Candidates of one query set, 32 bytes each, and up to three times as much while a step runs: above, the run ends with an error."""

MOST_EMITTED: Final = 20_000_000
"""Answers of one query set in one step, likewise."""

_ALGORITHMS = {Algorithm.RA: candidates.RA, Algorithm.RAPF: candidates.RAPF, Algorithm.PA: candidates.PA}
_EMISSIONS = {
    Emission.ENTERS: candidates.ENTERS,
    Emission.CHANGES: candidates.CHANGES,
    Emission.EVERY: candidates.TICKS,
}


@dataclass(frozen=True, slots=True)
class Recent:
    """Objects that are recent, partition by partition and in order: coordinates, event times, clocks, numbers and partitions.

    They are many, and few of them change with a step: growing arrays leave the others in place.
    """

    on_values: GrowingArray
    on_times: GrowingArray
    on_clocks: GrowingArray
    on_seqs: GrowingArray
    on_partitions: GrowingArray

    @classmethod
    def of(cls, values: Real, times: Whole, clocks: Whole, seqs: Whole, partitions: Whole) -> Recent:
        """Recent objects in arrays."""
        return cls(*map(GrowingArray.over, (values, times, clocks, seqs, partitions)))

    def __len__(self) -> int:
        return self.on_seqs.stop - self.on_seqs.start

    @property
    def values(self) -> Real:
        """float64[n, dimensions]."""
        return self.on_values.shown

    @property
    def times(self) -> Whole:
        """int64[n]."""
        return self.on_times.shown

    @property
    def clocks(self) -> Whole:
        """int64[n]."""
        return self.on_clocks.shown

    @property
    def seqs(self) -> Whole:
        """int64[n]."""
        return self.on_seqs.shown

    @property
    def partitions(self) -> Whole:
        """int64[n]."""
        return self.on_partitions.shown

    def append(self, values: Real, times: Whole, clocks: Whole, seqs: Whole, partitions: Whole) -> Recent:
        """The recent objects with more at the end."""
        return Recent(
            self.on_values.append(values),
            self.on_times.append(times),
            self.on_clocks.append(clocks),
            self.on_seqs.append(seqs),
            self.on_partitions.append(partitions),
        )

    def drop(self, count: int) -> Recent:
        """The recent objects without the first ones."""
        return Recent(
            self.on_values.drop(count),
            self.on_times.drop(count),
            self.on_clocks.drop(count),
            self.on_seqs.drop(count),
            self.on_partitions.drop(count),
        )


@dataclass(frozen=True, slots=True)
class QuerySetState:
    """Of every partition `seen` is the number of its objects so far, `due` the tick of the last ones (window of rows).

    Lists follow one another in `ids` and `scores`. `grid` is not saved: it is rebuilt. `tests_since_draw` counts the tests since
    it was built, `patience` how much longer than usual to wait until it is rebuilt.
    """

    seen: Whole
    due: Whole
    since: Whole
    lengths: Whole
    limits: Whole
    ids: Whole
    scores: Real
    recent: Recent
    grid: BallGrid
    tests_since_draw: int = 0
    patience: int = 1
    tested: int = 0
    inserted: int = 0


@dataclass(frozen=True, slots=True)
class SetEvents:
    """What a step of a query set emits: the list, the object, when, how, its rank, its score."""

    emitted: Whole
    scores: Real


def query_set_key(query: NearestQuery) -> tuple[Any, ...]:
    """Queries with equal keys are one query set."""
    return (
        query.where,
        query.metric,
        query.attributes,
        query.weights,
        query.window_us,
        query.window_rows,
        query.per,
        query.ties,
        query.algorithm,
        query.emission,
        query.every_us,
        query.forget_us,
    )


class QuerySet:
    """The fixed part of a query set: its queries, one for each point."""

    def __init__(
        self,
        queries: Sequence[tuple[int, NearestQuery]],
        *,
        index: bool = True,
        recent: int | None = None,
        prune: float = 0.2,
    ) -> None:
        first = queries[0][1]
        self.example = first
        self.per: tuple[str, ...] = (first.per,) if first.per else ()
        self.by_time = first.window_us is not None
        self.prune = prune
        counts = [len(query.points) for _, query in queries]
        points = np.concatenate(
            [as_coordinates(query.points.coordinates, query.metric) for _, query in queries]
        )
        order = by_place(points)
        self.points = np.ascontiguousarray(points[order])
        self.owner = np.repeat(np.array([place for place, _ in queries], np.int64), counts)[order]
        self.point = np.concatenate([np.arange(count) for count in counts])[order]
        self.k = np.repeat(np.array([query.k for _, query in queries], np.int64), counts)[order]
        self.cut = np.repeat(np.array([_cut(query) for _, query in queries], np.int64), counts)[order]
        weights = first.weights or (1.0,) * self.points.shape[1]
        self.weights = np.array(weights, np.float64)
        self.identities = np.concatenate([identities(query) for _, query in queries], axis=1)[:, order]
        window = first.window_us if first.window_us is not None else first.window_rows
        assert window is not None
        self.rules = np.zeros(candidates.RULES, np.int64)
        self.rules[candidates.WINDOW] = window
        self.rules[candidates.BY_TIME] = self.by_time
        self.rules[candidates.TIES] = first.ties
        self.rules[candidates.ALGORITHM] = _ALGORITHMS[first.algorithm]
        self.rules[candidates.EMISSION] = _EMISSIONS[first.emission]
        self.rules[candidates.EVERY] = first.every_us or 0
        self.rules[candidates.HALF] = window // 2
        self.rules[candidates.RECENT] = self._recent_rows() if recent is None else recent
        self.indexed = (
            index
            and not self.per
            and not first.metric.ranks_values
            and first.algorithm is not Algorithm.RA
            and len(self.points) >= FEWEST
        )

    def __len__(self) -> int:
        return len(self.points)

    # --- states -------------------------------------------------------------------------------------------------------

    def start(self, since: Instant, partitions: int = 1) -> QuerySetState:
        """The empty state, with a number of partitions."""
        return self.state_of(np.full(len(self), since, np.int64), partitions)

    def state_of(self, since: Whole, partitions: int) -> QuerySetState:
        """The empty state of queries that began at different times."""
        none = np.zeros(0, np.int64)
        return QuerySetState(
            np.zeros(partitions, np.int64),
            np.full(partitions, candidates.NEVER, np.int64),
            since,
            np.zeros(partitions * len(self), np.int64),
            np.tile(self.k, partitions),
            np.zeros((0, 3), np.int64),
            np.zeros(0),
            Recent.of(np.zeros((0, self.points.shape[1])), none, none, none, none),
            no_grid(len(self)),
        )

    def _recent_rows(self) -> int:
        """How many objects are recent, at most: with PER few, because each partition has its own and writes them again when it changes."""
        most = recent_rows(int(self.k.max()))
        return min(RECENT_OF_PARTITION * int(self.k.sum()), most) if self.per else most

    def step(
        self,
        state: QuerySetState,
        rows: Rows,
        partition: Whole,
        time: str,
        before: Instant,
        watermark: Instant,
    ) -> tuple[QuerySetState, SetEvents]:
        """Pass objects to the queries; `rows` are numbered, `partition` is that of each, `before` is the watermark of the step before."""
        table, partitions, seen = self._table(state, rows, partition, time)
        ticks, partitions, due = self._ticks(state, table, partitions, watermark)
        objects = candidates.Objects(
            table.values, table.times, table.clocks, self._last_clocks(table), table.seqs, ticks
        )
        queries = self._queries()
        lists, grid, patience = self._show(
            self._lists(state, before), queries, state, objects, partitions, watermark
        )
        lengths, limits, ids, scores = packed(lists)
        tested, spent = (int(queries.at[place]) for place in (engine.TESTED, engine.SPENT))
        after = QuerySetState(
            seen,
            due,
            state.since,
            lengths,
            limits,
            ids,
            scores,
            _still_recent(table, partitions),
            grid,
            tested - spent,
            patience,
            state.tested + tested,
            state.inserted + int(lists.room[candidates.INSERTED]),
        )
        count = lists.room[candidates.EMITTED_END]
        return after, SetEvents(lists.emitted[:count], lists.emitted_scores[:count])

    def _show(
        self,
        lists: candidates.CandidateLists,
        queries: engine.Queries,
        state: QuerySetState,
        objects: candidates.Objects,
        partitions: Whole,
        watermark: Instant,
    ) -> tuple[candidates.CandidateLists, BallGrid, int]:
        """Run the engine to its end, giving it more room and a new grid when it needs them."""
        at, grid, patience = queries.at, state.grid, state.patience
        at[engine.BUDGET], at[engine.SPENT] = patience * self._budget(grid), -state.tests_since_draw
        while (came := engine.show(lists, queries, grid, objects, partitions, watermark)) != candidates.DONE:
            if came == candidates.FULL:
                lists = self._with_room_to_emit(lists)
            elif came == candidates.GROW:
                lists = self._with_room(lists)
            else:
                cost = _cost(grid, queries)
                grid = draw(self.points, self.weights, queries.tests[:, engine.FIRST_TIME])
                engine.fit(queries, grid)
                # If a grid is hardly better than the one before, the next rebuild waits longer.
                better = _cost(grid, queries) < 0.7 * cost
                patience = 1 if better else min(2 * patience, MOST_PATIENCE)
                at[engine.BUDGET], at[engine.SPENT] = patience * self._budget(grid), at[engine.TESTED]
        return lists, grid, patience

    def _with_room_to_emit(self, lists: candidates.CandidateLists) -> candidates.CandidateLists:
        emitted, scores = lists.emitted, lists.emitted_scores
        if len(emitted) >= MOST_EMITTED:
            raise LimitReached(
                "MOST_EMITTED",
                MOST_EMITTED,
                f"'{self.example.name}' has more than {MOST_EMITTED:,} answers at once",
                advice=["use fewer points, fewer neighbours, or a longer EVERY"],
            )
        return lists._replace(
            emitted=np.concatenate([emitted, np.empty_like(emitted)]),
            emitted_scores=np.concatenate([scores, np.empty_like(scores)]),
        )

    def _with_room(self, lists: candidates.CandidateLists) -> candidates.CandidateLists:
        """The state with a pool twice as large, or large enough for the longest list to move."""
        many = int(lists.table[:, candidates.LENGTH].sum())
        if many >= MOST_CANDIDATES:
            raise LimitReached(
                "MOST_CANDIDATES",
                MOST_CANDIDATES,
                f"'{self.example.name}' would have to store more than {MOST_CANDIDATES:,} candidates: "
                f"{many // len(lists.table):,} for each point and each value of PER",
                advice=[
                    "objects that arrive farther and farther from the points must all be stored for an exact answer",
                    "shorten OVER, use fewer points, or USING PROBABLE 0.001, which stores a fixed number",
                ],
            )
        more = max(len(lists.scores), 2 * int(lists.table[:, candidates.ROOM].max()), ROOM_FOR_CANDIDATES)
        return lists._replace(
            ids=np.concatenate([lists.ids, np.empty((3, more), np.int64)], axis=1),
            scores=np.concatenate([lists.scores, np.empty(more)]),
        )

    def save(self, state: QuerySetState) -> dict[str, Any]:
        """All but what can be computed from the objects' rows."""
        return {
            "identities": self.identities.view(np.int64),
            "seen": state.seen,
            "due": state.due,
            "since": state.since,
            "lengths": state.lengths.astype(np.int32),
            "limits": state.limits.astype(np.int32),
            "numbers": state.ids[:, candidates.SEQ],
            "clocks": None if self.by_time else state.ids[:, candidates.CLOCK],
            "flags": state.ids[:, candidates.FLAGS].astype(np.uint8),
            "recent_runs": runs_of(state.recent.seqs),
        }

    def knows(self, values: Mapping[str, Any]) -> bool:
        """Whether some of these queries were in a saved query set."""
        return bool((self.places_in(values) >= 0).any())

    def load(self, values: Mapping[str, Any], objects: Rows, time: str, since: Instant) -> QuerySetState:
        """A saved state; `objects` are all rows it may refer to, by ascending number."""
        place = self.places_in(values)
        known = place >= 0
        old = np.maximum(place, 0)
        lengths = np.where(known, values["lengths"].astype(np.int64)[old], 0)
        begins = np.concatenate([[0], np.cumsum(values["lengths"].astype(np.int64))])
        chosen = spans(begins[old], lengths)
        ids = np.zeros((len(chosen), 3), np.int64)
        ids[:, candidates.SEQ] = values["numbers"][chosen]
        ids[:, candidates.FLAGS] = values["flags"][chosen]
        rows = np.searchsorted(objects[NUMBER].values, ids[:, candidates.SEQ]) if len(chosen) else chosen
        times = objects[time].values
        ids[:, candidates.CLOCK] = times[rows] if self.by_time else values["clocks"][chosen]
        positions = coordinates(objects, self.example.attributes, self.example.metric)
        numbers = spans(*np.ascontiguousarray(values["recent_runs"].T))
        recent = np.searchsorted(objects[NUMBER].values, numbers)
        seen = int(values["seen"][0])
        return replace(
            self.start(since),
            seen=np.array(values["seen"]),
            due=np.array(values["due"]),
            since=self.since_of(values, since),
            lengths=lengths,
            limits=np.where(known, values["limits"].astype(np.int64)[old], self.k),
            ids=ids,
            scores=self._scores(positions, rows, np.repeat(np.arange(len(self)), lengths)),
            recent=Recent.of(
                positions[recent],
                times[recent],
                times[recent] if self.by_time else np.arange(seen - len(recent), seen),
                numbers,
                np.zeros(len(recent), np.int64),
            ),
        )

    def places_in(self, values: Mapping[str, Any]) -> Whole:
        """The place of each query in a saved query set; -1: it was not there."""
        return matches(self.identities, values["identities"].view(np.uint64))

    def since_of(self, values: Mapping[str, Any], since: Instant) -> Whole:
        """When each query began: those that were not saved begin now."""
        place = self.places_in(values)
        return np.where(place >= 0, values["since"][np.maximum(place, 0)], since)

    # --- a step's tables ----------------------------------------------------------------------------------------------

    @property
    def _by_value(self) -> bool:
        return self.example.metric.ranks_values

    def _budget(self, grid: BallGrid) -> int:
        """After how many tests rebuilding the grid is worth its cost."""
        return (
            20 * (len(grid.members) + 64 * len(self))
            if self.indexed
            else int(candidates.NEVER) // MOST_PATIENCE
        )

    def _scores(self, positions: Real, rows: Whole, whose: Whole) -> Real:
        """How near objects are to queries, with the sum in the engine's order."""
        if self._by_value:
            return positions[rows, 0]
        squares = np.zeros(len(rows))
        for d in range(self.points.shape[1]):
            gap = positions[rows, d] - self.points[whose, d]
            squares += self.weights[d] * (gap * gap)
        return np.sqrt(squares)

    def _table(
        self, state: QuerySetState, rows: Rows, partition: Whole, time: str
    ) -> tuple[Recent, Whole, Whole]:
        """Recent and new objects, partition by partition; where each partition's rows, its new rows and its end are; objects seen by then."""
        recent = state.recent
        many = len(state.seen)
        if many == 1:
            return self._table_of_one(state, rows, partition, time)
        order = by_partition(np.concatenate([recent.partitions, partition]), many)
        fresh = np.bincount(partition, minlength=many)
        ends = np.cumsum(np.bincount(recent.partitions, minlength=many) + fresh)
        partitions = np.zeros((many, 5), np.int64)
        partitions[1:, 0] = ends[:-1]
        partitions[:, 1], partitions[:, 2] = ends - fresh, ends
        values = np.concatenate(
            [recent.values, coordinates(rows, self.example.attributes, self.example.metric)]
        )
        times = np.concatenate([recent.times, rows[time].values])
        seqs = np.concatenate([recent.seqs, rows[NUMBER].values])
        partition_of = np.concatenate([recent.partitions, partition])[order]
        if self.by_time:
            clocks = times[order]
        else:
            clocks = np.concatenate([recent.clocks, np.zeros(rows.count, np.int64)])[order]
            place = np.arange(len(order)) - partitions[partition_of, 1]
            clocks = np.where(place >= 0, state.seen[partition_of] + place, clocks)
        table = Recent.of(
            np.ascontiguousarray(values[order]), times[order], clocks, seqs[order], partition_of
        )
        return table, partitions, state.seen + fresh

    def _table_of_one(
        self, state: QuerySetState, rows: Rows, partition: Whole, time: str
    ) -> tuple[Recent, Whole, Whole]:
        """The same for a single partition, where the new objects come after the recent ones."""
        before, seen = len(state.recent), state.seen + rows.count
        times = rows[time].values
        clocks = times if self.by_time else np.arange(int(state.seen[0]), int(seen[0]))
        positions = coordinates(rows, self.example.attributes, self.example.metric)
        table = state.recent.append(positions, times, clocks, rows[NUMBER].values, partition)
        return table, np.array([[0, before, before + rows.count, 0, 0]], np.int64), seen

    def _last_clocks(self, table: Recent) -> Whole:
        """The clock of the last object of each row's partition and instant."""
        if self.by_time or not len(table.times):
            return table.clocks
        last = np.ones(len(table.times), np.bool_)
        last[:-1] = (table.times[1:] != table.times[:-1]) | (table.partitions[1:] != table.partitions[:-1])
        places = np.flatnonzero(last)
        return table.clocks[places[np.searchsorted(places, np.arange(len(last)))]]

    def _ticks(
        self, state: QuerySetState, table: Recent, partitions: Whole, watermark: Instant
    ) -> tuple[Whole, Whole, Whole]:
        """With a window of rows: the ticks to emit, partition by partition, where each partition's are, and the tick that is due next."""
        if self.by_time or self.example.emission is not Emission.EVERY:
            return np.zeros(0, np.int64), partitions, state.due
        every = int(self.rules[candidates.EVERY])
        fresh = np.arange(len(table.times)) >= partitions[table.partitions, 1]
        tick = table.times[fresh] - table.times[fresh] % every + every
        whose = np.concatenate([np.flatnonzero(state.due != candidates.NEVER), table.partitions[fresh]])
        all_ticks = np.unique(
            np.column_stack([whose, np.concatenate([state.due[state.due != candidates.NEVER], tick])]), axis=0
        ).reshape(-1, 2)
        now = all_ticks[:, 1] < watermark
        due = np.full(len(state.due), candidates.NEVER, np.int64)
        due[all_ticks[~now, 0]] = all_ticks[~now, 1]
        ticks_now = all_ticks[now]
        partitions[:, 3] = np.searchsorted(ticks_now[:, 0], np.arange(len(partitions)))
        partitions[:, 4] = np.searchsorted(ticks_now[:, 0], np.arange(len(partitions)), "right")
        return np.ascontiguousarray(ticks_now[:, 1]), partitions, due

    def _queries(self) -> engine.Queries:
        many = len(self)
        tests = np.empty((many, engine.POINT + (0 if self._by_value else self.points.shape[1])))
        if not self._by_value:
            tests[:, engine.POINT :] = self.points
        return engine.Queries(
            np.zeros(engine.PLACES, np.int64),
            tests,
            self.weights,
            np.zeros((3, many), np.int64),
            np.zeros((2, many), np.int64),
            np.zeros((2, many), np.float32),
            np.zeros(2 * many, np.int64),
            np.zeros(many),
        )

    def _lists(self, state: QuerySetState, before: Instant) -> candidates.CandidateLists:
        """The lists, with some room between them."""
        many = len(state.seen)
        table = np.zeros((many * len(self), candidates.LIST_COLUMNS), np.int64)
        table[:, candidates.LENGTH] = state.lengths
        table[:, candidates.ROOM] = state.lengths + np.maximum(4, state.lengths // 4)
        table[:, candidates.LIMIT] = state.limits
        table[:, candidates.BEGIN] = np.cumsum(table[:, candidates.ROOM]) - table[:, candidates.ROOM]
        table[:, candidates.OPEN] = candidates.NOT_OPEN
        table[:, candidates.TAKEN] = -1
        table[:, candidates.K] = np.tile(self.k, many)
        table[:, candidates.CUT] = np.tile(self.cut, many)
        table[:, candidates.SINCE] = np.tile(state.since, many)
        if self.by_time and self.example.emission is Emission.EVERY and before > BEGINNING:
            every = int(self.rules[candidates.EVERY])
            table[:, candidates.TICK] = -(-before // every) * every
        elif self.by_time:
            table[:, candidates.TICK] = BEGINNING
        room = np.zeros(candidates.ROOMS, np.int64)
        room[candidates.POOL_END] = table[:, candidates.ROOM].sum()
        entries = 2 * int(room[candidates.POOL_END]) + ROOM_FOR_CANDIDATES
        answers = ROOM_FOR_ANSWERS + 2 * int(state.lengths.max(initial=0))
        lists = candidates.CandidateLists(
            table,
            np.empty((3, entries), np.int64),
            np.empty(entries),
            np.empty((answers, candidates.EMITTED_COLUMNS), np.int64),
            np.empty(answers),
            room,
            self.rules,
            np.zeros(int(self.k.max()), np.int64),
            self.prune,
        )
        unpack(lists, state.ids, state.scores)
        return lists


def _cut(query: NearestQuery) -> int:
    if query.algorithm is Algorithm.PA:
        assert query.sigma is not None
        return r_star(query.k, query.sigma)
    return r_star(query.k, PUT_OFF_RISK)


def _still_recent(table: Recent, partitions: Whole) -> Recent:
    """The rows that are recent after a step, partition by partition and in order."""
    if len(partitions) == 1:
        return table.drop(int(partitions[0, 0]))
    place = np.flatnonzero(np.arange(len(table.times)) >= partitions[table.partitions, 0])
    return Recent.of(
        table.values[place],
        table.times[place],
        table.clocks[place],
        table.seqs[place],
        table.partitions[place],
    )


def _cost(grid: BallGrid, queries: engine.Queries) -> float:
    """How many queries an object is tested against, with the present grid."""
    return len(grid.members) / max(1, len(grid.starts) - 1) + float(queries.at[engine.WIDE])
