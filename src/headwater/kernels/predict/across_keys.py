"""PREDICT queries that read the lines of all keys together: pairs, and those with a buffer.

Rule 1  A row is an update if the query's condition holds, its source is the alias's, and key, values, slopes, tolerance (>= 0) and
        heartbeat (> 0) are numbers, none too large for arithmetic; rows for which only the first two hold are
        counted.
Rule 2  Queries that read the same updates in the same way share the lines made from them.
Rule 3  What happens before the watermark is emitted with the step: nothing is emitted later than its time.
Rule 4  Keys and lines are renumbered when few of the numbers are in use: no answer, no order and no `match_id` depends on them.
Memory  See `store`, `answers`, `index` and `sensors`. Nothing is stored of a key whose lives have been over for longer than w. A step copies
        all lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.predict.choices import GiveUp
from headwater.kernels.predict.geometry.shapes import Lines, Whole
from headwater.kernels.predict.lines.events import Keys, Updates
from headwater.kernels.predict.lines.slots import NEVER
from headwater.kernels.predict.lines.store import LineState, LineStore
from headwater.kernels.predict.pair_queries import PairStanding
from headwater.kernels.predict.plan import follows_from_lives, sources_of
from headwater.kernels.predict.question import Alias, PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.standing_queries import Standing
from headwater.model import (
    BEGINNING,
    END,
    Column,
    ColumnType,
    Instant,
    RowCondition,
    Rows,
    StreamSchema,
)

SOURCE: Final = "source"
_LONGEST_S: Final = 36_500 * 86_400.0
"""The longest heartbeat of an update, as in the language; a longer one is cut."""

_SPARSE: Final = 2
"""Slots, and keys, are renumbered if fewer than one in so many has a line, …"""
_FEW: Final = 16
"""… unless there are only so few."""

_LARGEST: Final = 1e290
"""Lines beyond this cannot be compared: their differences and squares would not be finite."""


@dataclass(frozen=True, slots=True)
class Spring:
    """Where lines come from: the same for all queries that share them, if they also began at the same time."""

    alias: Alias  # without its name
    where: int | None
    within_us: int
    buffer: int | None
    give_up: GiveUp
    seed: int


@dataclass(frozen=True, slots=True)
class Source:
    """The lines of a spring since some time."""

    spring: Spring
    since: Instant
    lines: LineState


@dataclass(frozen=True, slots=True)
class QueryState:
    """A query's state: from when it reads rows, which of the kernel's sources are its own, and its pending answers."""

    since: Instant
    sources: tuple[int, ...]
    pending: Any  # a `Pending` or a `PendingPairs`, depending on the query


@dataclass(frozen=True, slots=True)
class WholeState:
    """How far time has come, the known keys, the lines, and the queries."""

    watermark: Instant
    sensors: Sensors
    sources: tuple[Source, ...]
    queries: tuple[QueryState, ...]


Stepped = tuple[WholeState, dict[int, list[list[Rows]]]]
"""The state after a step, and what is emitted: by shape, for each query its blocks in order."""


class WholePredict:
    """PREDICT queries over the lines of all keys."""

    def __init__(
        self,
        schema: StreamSchema,
        queries: Sequence[PredictQuery],
        conditions: Sequence[RowCondition] = (),
        *,
        index: bool = True,
    ) -> None:
        self.schema = schema
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)
        self.standing = [_standing(query, index=index) for query in queries]
        self.springs = [_springs(query) for query in queries]
        self._stores = {spring: _store(spring) for springs in self.springs for spring in springs}

    def start(self, since: Instant) -> WholeState:
        """Nothing read; rows before `since` are not for these queries."""
        sources: dict[Spring, int] = {}
        found: list[Source] = []
        query_states = []
        for standing, springs in zip(self.standing, self.springs, strict=True):
            for spring in springs:
                if spring not in sources:
                    sources[spring] = len(found)
                    found.append(Source(spring, since, self._stores[spring].start()))
            query_states.append(
                QueryState(since, tuple(sources[spring] for spring in springs), standing.start())
            )
        return WholeState(BEGINNING, Sensors.none(self.key_type), tuple(found), tuple(query_states))

    def step(self, state: WholeState, rows: Rows, watermark: Instant, counts: Counter[str]) -> Stepped:
        """Take updates, let time pass, emit."""
        sensors, codes, has_key = self._keys(state.sensors, rows)
        keys = Keys(sensors.rank, sensors.identity)
        holds: dict[int, NDArray[np.bool_]] = {}
        sources, events, refused, given_up = [], [], [], []
        for source in state.sources:
            updates, lacking = self._updates(source.spring, source.since, rows, codes, has_key, holds)
            store = self._stores[source.spring]
            lines, happened = store.step(source.lines, updates, watermark, keys)
            sources.append(replace(source, lines=lines))
            events.append(happened.events)
            refused.append(lacking)
            given_up.append((happened.updates_given_up, happened.seconds_given_up))
        query_states: list[QueryState] = []
        shapes: dict[int, list[list[Rows]]] = {}
        for query, standing, part in zip(self.queries, self.standing, state.queries, strict=True):
            pending, emitted = standing.step(
                part.pending,
                [state.sources[s].lines for s in part.sources],
                [sources[s].lines for s in part.sources],
                [events[s] for s in part.sources],
                sensors,
                watermark,
            )
            query_states.append(replace(part, pending=pending))
            if emitted:
                shapes.setdefault(query.shape, []).append(emitted)
            counts[f"not_updates:{query.name}"] += sum(refused[s] for s in part.sources)
            counts[f"updates_given_up:{query.name}"] += sum(given_up[s][0] for s in part.sources)
            counts[f"seconds_given_up:{query.name}"] += sum(given_up[s][1] for s in part.sources)
        return WholeState(watermark, sensors, tuple(sources), tuple(query_states)), shapes

    def next_due(self, state: WholeState) -> Instant:
        """Any step may do something while there is a line."""
        return END if _is_empty(state) else BEGINNING

    def is_blank(self, state: WholeState) -> bool:
        """Whether no line is known. A buffer numbers its updates, and chance goes by these numbers: it is blank until the first."""
        return _is_empty(state) and all(
            source.since == BEGINNING and (source.spring.buffer is None or not source.lines.count)
            for source in state.sources
        )

    def values(self, state: WholeState, codes: Whole) -> dict[str, Any]:
        """The state with codes 0, 1, … for the given rising codes, which are all that have lines, and lines without gaps."""
        lines = [source.lines for source in state.sources]
        return {
            "watermark": state.watermark,
            "sources": [
                {"since": source.since, "lines": self._stores[source.spring].save(source.lines, codes)}
                for source in state.sources
            ],
            "queries": [
                {
                    "name": query.name,
                    "fingerprint": query.fingerprint,
                    "since": part.since,
                    "sources": list(part.sources),
                    "pending": standing.save(part.pending, [lines[s] for s in part.sources]),
                }
                for query, standing, part in zip(self.queries, self.standing, state.queries, strict=True)
            ],
        }

    def state(self, values: dict[str, Any], sensors: Sensors, since: Instant) -> WholeState:
        """The state of the queries that are unchanged; others begin at `since`."""
        begins = max(since, values["watermark"])
        known = {(part["name"], part["fingerprint"]): part for part in values["queries"]}
        sources: dict[Any, int] = {}
        found: list[Source] = []
        query_states = []
        for query, standing, springs in zip(self.queries, self.standing, self.springs, strict=True):
            part = known.get((query.name, query.fingerprint))
            places = []
            for number, spring in enumerate(springs):
                name = (spring, part is None, begins if part is None else part["sources"][number])
                if name not in sources:
                    sources[name] = len(found)
                    store = self._stores[spring]
                    if part is None:
                        found.append(Source(spring, begins, store.start()))
                    else:
                        old = values["sources"][part["sources"][number]]
                        found.append(Source(spring, old["since"], store.load(old["lines"])))
                places.append(sources[name])
            if part is None:
                query_states.append(QueryState(begins, tuple(places), standing.start()))
            else:
                lines = [found[place].lines for place in places]
                query_states.append(
                    QueryState(part["since"], tuple(places), standing.load(part["pending"], lines))
                )
        return WholeState(values["watermark"], sensors, tuple(found), tuple(query_states))

    def without_gaps(self, state: WholeState) -> WholeState:
        """The same state, without keys that have no line and without empty slots if there are many of either."""
        slots = [np.flatnonzero(source.lines.stored) for source in state.sources]
        stored = sum(map(len, slots))
        has_gaps = any(len(some) and some[-1] >= _SPARSE * len(some) + _FEW for some in slots)
        if not has_gaps and len(state.sensors.rank) <= _SPARSE * stored + _FEW:
            return state
        codes = codes_in_use(state)
        return self.state(self.values(state, codes), state.sensors.only(codes), BEGINNING)

    def lines_of(self, spring: Spring, since: Instant, rows: Rows) -> Lines:
        """The lines made from the updates among rows, with their promised lives."""
        keys = self.keys_of(rows)
        updates, _ = self._updates(spring, since, rows, np.arange(rows.count), keys.valid, {})
        end = np.minimum(updates.t0, NEVER - updates.heartbeat_us) + updates.heartbeat_us
        return Lines(updates.t0, updates.t0, end, updates.values, updates.slopes, updates.tolerance)

    # --- updates ------------------------------------------------------------------------------------------------------

    @property
    def key_type(self) -> ColumnType:
        """The type of keys; without a key all rows have one key, which is a number."""
        return ColumnType.BIGINT if self.schema.key is None else self.schema.types[self.schema.key]

    def keys_of(self, rows: Rows) -> Column:
        """The key of every row."""
        if self.schema.key is None:
            return Column(ColumnType.BIGINT, np.zeros(rows.count, np.int64))
        return rows[self.schema.key]

    def _keys(self, sensors: Sensors, rows: Rows) -> tuple[Sensors, Whole, NDArray[np.bool_] | None]:
        """The codes of all rows' keys, and which rows have one (None: all)."""
        column = self.keys_of(rows)
        if column.valid is None or column.valid.all():
            return (*sensors.codes(column), None)
        codes = np.zeros(rows.count, np.int64)
        sensors, codes[column.valid] = sensors.codes(replace(column.take(column.valid), valid=None))
        return sensors, codes, column.valid

    def _updates(
        self,
        spring: Spring,
        since: Instant,
        rows: Rows,
        codes: Whole,
        has_key: NDArray[np.bool_] | None,
        holds: dict[int, NDArray[np.bool_]],
    ) -> tuple[Updates, int]:
        """The rows that are updates of a source, and how many of its rows are not."""
        alias = spring.alias
        time = rows[self.schema.time].values
        chosen = time >= since
        if spring.where is not None and rows.count:
            if spring.where not in holds:
                holds[spring.where] = self.conditions[spring.where](rows)
            chosen = chosen & holds[spring.where]
        if alias.source is not None:
            of = rows[SOURCE]
            chosen = chosen & (of.values == alias.source) & of.is_valid
        valid = chosen.copy() if has_key is None else chosen & has_key
        numbers = {}
        for name in (*alias.values, *alias.slopes, alias.tolerance, alias.heartbeat):
            column = rows[name]
            numbers[name] = column.values.astype(np.float64, copy=False)
            valid &= np.isfinite(numbers[name])
            if column.valid is not None:
                valid &= column.valid
        valid &= (numbers[alias.tolerance] >= 0.0) & (numbers[alias.heartbeat] > 0.0)
        heartbeat = np.minimum(numbers[alias.heartbeat], _LONGEST_S)
        with np.errstate(over="ignore", invalid="ignore"):
            for value, slope in zip(alias.values, alias.slopes, strict=True):
                size = np.abs(numbers[value]) + np.abs(numbers[slope]) * heartbeat + numbers[alias.tolerance]
                valid &= size < _LARGEST
        taken = np.flatnonzero(valid)
        if spring.buffer is None and len(taken) > 1:
            # Of two updates of one sensor at one time the former has no life; only a buffer would count it.
            same = (codes[taken[1:]] == codes[taken[:-1]]) & (time[taken[1:]] == time[taken[:-1]])
            if same.any():
                taken = taken[np.append(~same, True)]
        updates = Updates(
            codes[taken],
            time[taken].astype(np.int64, copy=False),
            _stacked([numbers[name] for name in alias.values], taken),
            _stacked([numbers[name] for name in alias.slopes], taken),
            numbers[alias.tolerance][taken],
            np.maximum(np.rint(heartbeat[taken] * 1e6).astype(np.int64), 1),
        )
        return updates, int(np.count_nonzero(chosen)) - int(np.count_nonzero(valid))


def _standing(query: PredictQuery, *, index: bool) -> Standing | PairStanding:
    """The standing query, or pair query, of a query."""
    return (PairStanding if follows_from_lives(query) else Standing)(query, index=index)


def _springs(query: PredictQuery) -> tuple[Spring, ...]:
    """A spring for each source of a query."""
    found = []
    for source in sources_of(query):
        alias = next(alias for alias in query.aliases if alias.source == source)
        bounded = query.buffer is not None
        found.append(
            Spring(
                replace(alias, name=""),
                query.where,
                query.within_us,
                query.buffer,
                query.give_up if bounded else GiveUp.LEAST,
                query.seed if bounded else 0,
            )
        )
    return tuple(found)


def _store(spring: Spring) -> LineStore:
    return LineStore(
        len(spring.alias.values),
        spring.within_us,
        buffer=spring.buffer,
        give_up=spring.give_up,
        seed=spring.seed,
    )


def _is_empty(state: WholeState) -> bool:
    """Whether there is neither a line nor an answer that is not over."""
    has_lines = any(source.lines.stored.any() for source in state.sources)
    return not has_lines and not any(part.pending.count for part in state.queries)


def codes_in_use(state: WholeState) -> Whole:
    """The codes of all keys that have a line, in order."""
    used = np.zeros(len(state.sensors.rank), np.bool_)
    for source in state.sources:
        used[source.lines.key[source.lines.stored]] = True
    return np.flatnonzero(used)


def _stacked(columns: Sequence[NDArray[np.float64]], taken: Whole) -> NDArray[np.float64]:
    """float64[updates, dimensions]."""
    stacked = np.empty((len(taken), len(columns)))
    for place, column in enumerate(columns):
        stacked[:, place] = column[taken]
    return stacked
