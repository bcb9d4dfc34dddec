"""Which readings of different sensors belong together? Thousands of standing CORRELATE queries over one stream.

A *complex event* of a subscription takes one matching reading per clause, all within δt before its latest one and, if required
for, closer than δl to one another. Rows come in order; at each row ρ the events that contain ρ and nothing after it are
decided, so an answer never has to be taken back.

Rule 1  A reading finds the clauses it matches by index (`match.py`); equal clauses are matched and stored once.
Rule 2  Subscriptions whose clauses do not conflict are answered from the latest match of each clause, in constant time;
        the others by an exact search (`search.py`).
Rule 3  Everything can be computed again from the rows of the window and what READINGS emitted: only these are saved, and a
        restored kernel matches the rows of its window once more.
Memory  Rows that matched some clause, for the longest δt of all subscriptions.
Source  complex events as in Filter-Split-Forward, section IV; F -> clauses, δt -> within_us, δl -> within_m, L -> region.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.correlate.answers import Shapes
from headwater.kernels.correlate.chains import Past
from headwater.kernels.correlate.emitted_readings import log_emitted, mark_emitted
from headwater.kernels.correlate.engine import CUTS, StepFindings, advance
from headwater.kernels.correlate.match import Matcher, Matches
from headwater.kernels.correlate.match_memory import Memory
from headwater.kernels.correlate.past_matches import History
from headwater.kernels.correlate.regions import own
from headwater.kernels.correlate.subscription import Subscription
from headwater.kernels.correlate.subscription_table import LATEST_SEARCH, tabulate
from headwater.kernels.correlate.window import Window
from headwater.model import (
    BEGINNING,
    END,
    Column,
    ColumnType,
    Instant,
    Log,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
)

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CorrelateState:
    """The state after some rows.

    `log` and `emitted_log` are the saved rows and emitted readings; `since[s]` is from when a subscription sees rows,
    `emitted_until[s]` the row at which a plain READINGS subscription was last complete. The rest is computed from these.
    """

    watermark: Instant
    since: Numbers
    emitted_until: Numbers
    log: Log
    emitted_log: Log
    window: Window
    memory: Memory
    moment: int


class CorrelateKernel:
    """All CORRELATE queries that read one stream in one zone."""

    def __init__(
        self,
        schema: StreamSchema,
        subscriptions: Sequence[Subscription],
        conditions: Sequence[RowCondition] = (),
    ) -> None:
        self.schema = schema
        self.subscriptions = tuple(subscriptions)
        self.contents = tabulate(schema, self.subscriptions)
        self.table = self.contents.table
        self.matcher = Matcher(schema, self.contents, conditions)
        self.shapes = Shapes(schema, self.subscriptions, self.table, self.contents.attributes)
        self._types = self._answer_types()
        self._logged = tuple(schema.types) if self.matcher.conditions else tuple(self._types)
        self._searching = bool((self.table.kind >= LATEST_SEARCH).any())

    def start(self, since: Instant) -> CorrelateState:
        """No rows; rows before `since` are not for these queries."""
        count = len(self.subscriptions)
        return self._state(BEGINNING, np.full(count, since, np.int64), np.full(count, -1, np.int64), 0)

    def step(self, state: CorrelateState, rows: Rows, watermark: Instant) -> Step[CorrelateState]:
        """Take rows, answer at each of them, forget what is older than the longest δt."""
        if not rows.count:
            return Step(self._forget(state, rows, watermark), (), watermark)
        rows = rows.take(slice(self._first_row(state, rows), None))
        matched, matches = _matched_rows(rows, self.matcher.match(rows), state.window.end)
        state, found = self._advance(state, matched, matches, answering=True)
        answers = self.shapes.answers(found, state.window)
        cuts = int(found.counts[CUTS])
        counts = {"limit_cuts": cuts} if cuts else {}
        return Step(
            self._forget(self._log_emitted(state, found), matched, watermark), answers, watermark, counts
        )

    def save(self, state: CorrelateState) -> Saved:
        """The rows of the window and, for each query, since when it sees rows and which readings it has emitted."""
        values = {
            "watermark": state.watermark,
            "next_row": state.window.end,
            "queries": [s.name for s in self.subscriptions],
            "fingerprints": [s.fingerprint for s in self.subscriptions],
            "since": state.since,
            "told_until": state.emitted_until,
        }
        return Saved(values, {"rows": state.log, "told": state.emitted_log})

    def load(self, saved: Saved, since: Instant) -> CorrelateState:
        """The saved state of the queries that are unchanged; others begin at `since`, with rows yet to come."""
        values = saved.values
        known = {
            (name, fingerprint): number
            for number, (name, fingerprint) in enumerate(
                zip(values["queries"], values["fingerprints"], strict=True)
            )
        }
        old = np.array([known.get((s.name, s.fingerprint), -1) for s in self.subscriptions], np.int64)
        begins = max(since, values["watermark"])
        last = np.append(values["since"], 0)[old], np.append(values["told_until"], 0)[old]
        state = self._state(
            values["watermark"],
            np.where(old >= 0, last[0], begins).astype(np.int64),
            np.where(old >= 0, last[1], -1).astype(np.int64),
            values["next_row"],
        )
        return self._remembered(state, saved.logs.get("rows", Log()), saved.logs.get("told", Log()), old >= 0)

    def next_due(self, state: CorrelateState) -> Instant:
        """When the last row of the window expires; there are no answers without rows."""
        newest = [chunk.newest for log in (state.log, state.emitted_log) for chunk in log.chunks]
        return max(newest) + self.contents.longest_us - 1 if newest else END

    def is_blank(self, state: CorrelateState) -> bool:
        """Whether there is no row in the window."""
        is_empty = (
            not state.log.chunks and not state.emitted_log.chunks and state.window.end == state.window.first
        )
        return is_empty and not (state.since > BEGINNING).any()

    def _state(
        self, watermark: Instant, since: Numbers, emitted_until: Numbers, next_row: int
    ) -> CorrelateState:
        hashed = self.schema.key if self._searching else None
        window = Window.empty(self._types, next_row, hashed)
        memory = Memory(len(self.contents.ranges))
        return CorrelateState(watermark, since, emitted_until, Log(), Log(), window, memory, memory.moment)

    def _first_row(self, state: CorrelateState, rows: Rows) -> int:
        """Rows are in order of time, so those before every `since` are at the front."""
        return int(np.searchsorted(rows[self.schema.time].values, state.since.min(initial=END)))

    def _advance(
        self, state: CorrelateState, rows: Rows, matches: Matches, *, answering: bool
    ) -> tuple[CorrelateState, StepFindings]:
        """Store the matches of rows, and answer."""
        state = self._with_own_memory(state)
        window, memory = state.window.append(rows), state.memory
        past = self._past(window)
        emitted_until = state.emitted_until.copy()
        next_match = memory.make_room(self.table, past, matches)
        found = advance(
            History(self.table, memory.heads, memory.past_matches.chains, memory.places.lists, past),
            state.since,
            emitted_until,
            matches,
            next_match=next_match,
            answering=answering,
        )
        return replace(state, emitted_until=emitted_until, window=window, moment=memory.moment), found

    def _with_own_memory(self, state: CorrelateState) -> CorrelateState:
        """The state, with a memory that no later state has changed."""
        if state.moment == state.memory.moment:
            return state
        fresh = self._state(state.watermark, state.since, state.emitted_until, state.window.end)
        return self._remembered(
            fresh, state.log, state.emitted_log, np.ones(len(self.subscriptions), np.bool_)
        )

    def _past(self, window: Window) -> Past:
        """The columns of the window in the form of the loops."""
        if not self._searching:
            return Past(
                window.first, window.values(self.schema.time), np.empty(0, np.int64), np.empty(0), np.empty(0)
            )
        place, key = self.schema.place, self.schema.key
        count = window.end - window.first
        keys = np.zeros(count, np.int64) if key is None else window.tracks[key].identities
        if place is None:
            x = y = np.zeros(count)
        else:
            x, y = own(window.values(place.x)), own(window.values(place.y))
        return Past(window.first, window.values(self.schema.time), keys, x, y)

    def _log_emitted(self, state: CorrelateState, found: StepFindings) -> CorrelateState:
        """The state with newly emitted readings in the log."""
        emitted = found.emitted.reshape(-1, 4)
        if not len(emitted):
            return state
        time = state.window.values(self.schema.time)[emitted[:, 1] - state.window.first]
        names = [s.name for s in self.subscriptions]
        log = log_emitted(state.emitted_log, self.table, names, self.contents.attributes, emitted, time)
        return replace(state, emitted_log=log)

    def _forget(self, state: CorrelateState, rows: Rows, watermark: Instant) -> CorrelateState:
        """Log the new rows that stay, and drop rows that no later row can be joined with."""
        keep_from = watermark - self.contents.longest_us + 1
        log = state.log.since(keep_from)
        stays = int(np.searchsorted(rows[self.schema.time].values, keep_from)) if rows.count else 0
        if stays < rows.count:
            stay = rows.take(slice(stays, None))
            log = log.append(stay.select(name for name in self._logged if name in stay), self.schema.time)
        gone = int(np.searchsorted(state.window.values(self.schema.time), keep_from))
        window = state.window.drop_before(state.window.first + gone)
        return replace(
            state,
            watermark=watermark,
            log=log,
            emitted_log=state.emitted_log.since(keep_from),
            window=window,
            moment=state.memory.forget(state.moment, window.first),
        )

    def _remembered(
        self, state: CorrelateState, log: Log, emitted_log: Log, same: NDArray[np.bool_]
    ) -> CorrelateState:
        """Matches and chains computed again from the rows of a saved window."""
        rows = log.rows()
        if rows is None:
            return replace(state, log=log, emitted_log=emitted_log)
        missing = {n: Column.nulls(kind, rows.count) for n, kind in self.schema.columns if n not in rows}
        rows = rows.having(**missing)
        first = state.window.end - rows.count
        state = self._state(state.watermark, state.since, state.emitted_until, first)
        matches = self.matcher.match(rows, self._conditions_of_old_rows(same))
        state, _ = self._advance(state, rows, Matches(matches.row + first, matches.of_class), answering=False)
        queries = {s.name: number for number, s in enumerate(self.subscriptions) if same[number]}
        mark_emitted(
            state.memory.past_matches.chains, self.table, emitted_log, queries, self.contents.attributes
        )
        return replace(state, log=log, emitted_log=emitted_log)

    def _conditions_of_old_rows(self, same: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The conditions that must be tested for old rows: those of queries that saw these rows."""
        used = sorted({s.where for s in self.subscriptions if s.where is not None})
        needed = {s.where for s, is_same in zip(self.subscriptions, same.tolist(), strict=True) if is_same}
        return np.array([number in needed for number in used], np.bool_)

    def _answer_types(self) -> dict[str, ColumnType]:
        """The columns an answer can need."""
        place = self.schema.place
        names = [
            self.schema.time,
            self.schema.key,
            *((place.x, place.y) if place else ()),
            *self.contents.attributes,
        ]
        return {name: self.schema.types[name] for name in dict.fromkeys(names) if name is not None}


def _matched_rows(rows: Rows, matches: Matches, end: int) -> tuple[Rows, Matches]:
    """The rows with a match, and the matches with these rows' numbers from `end` on."""
    if not len(matches.row):
        return rows.take(slice(0, 0)), matches
    fresh = np.ones(len(matches.row), np.bool_)
    fresh[1:] = matches.row[1:] != matches.row[:-1]
    matched = matches.row[fresh]
    return rows.take(matched), Matches(end - 1 + np.cumsum(fresh), matches.of_class)
