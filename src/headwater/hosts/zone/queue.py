"""Rows arrive in any order; operators need them in event-time order, once nothing earlier can come.

Rule 1  The watermark of a stream is the least of its inputs' times reached, minus LATE. Rows before it are passed on,
        in the stream's order; the others wait.
Rule 2  A row is late iff its time is below (the time that the earlier units of its input had reached) − LATE, or below what was
        already passed on. A unit is a file of a streaming run or a micro-batch of a DataFrame, so for files
        lateness does not depend on the batches.
Rule 3  An input silent for longer than IDLE does not hold the others back.
Rule 4  The end of the input is a watermark beyond every row. An input that is absent since the last start holds no other input back, and
        continues where it was when it comes back.
Rule 5  If time ticks, an input without rows advances at the pace of the clock, from the time it had reached; by
        at most MOST_TICKS ticks at once, so that a run that was stopped for long continues where it was. Then none is idle.
        Rows that an input holds back may be accepted after a silence (rule 5 of `clock`).
Memory  The rows that wait: those of the last LATE, and those held because they are far ahead (see `clock`), of which at
        most MOST_HELD are stored; the furthest ahead above that are given up as bad rows, with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from headwater.hosts.zone.clock import LEAP, NO_CLUSTERS, PATIENCE, Clusters, InputClock
from headwater.model import (
    BEGINNING,
    END,
    Column,
    Instant,
    Log,
    Rows,
    StreamSchema,
    join_rows,
    order_of,
    same_as_previous,
)

MOST_HELD: Final = 100_000
MOST_TICKS: Final = 10


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of what came: rows of one input, from one unit of its source.

    `number` is the unit's place in the order of the source, `piece` this part's place in the unit. `clusters` count
    every row the source read, including those that no query can use and that are not among `rows`.
    """

    input: str
    number: int
    piece: int = 0
    clusters: Clusters = field(default_factory=lambda: NO_CLUSTERS)
    rows: Rows | None = None


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of a stream's queue: the clocks of its inputs, how far rows were passed on, and the rows that wait."""

    clocks: Mapping[str, InputClock]
    handed: Instant = BEGINNING
    waiting: Log = field(default_factory=Log)

    @property
    def reached(self) -> Instant:
        """The greatest time any input has reached."""
        return max((clock.reached for clock in self.clocks.values()), default=BEGINNING)


@dataclass(frozen=True, slots=True)
class Release:
    """The results of one step of a queue: rows in order, the watermark, and the rows to report.

    `held` wait because they are far ahead; `repeated` were left out because the stream is declared with DEDUPLICATE.
    """

    rows: Rows
    watermark: Instant
    late: Rows
    given_up: Rows
    held: Rows
    repeated: Rows


class Queue:
    """Puts the rows of one stream in order; `tick_us`: the interval at which its time advances without rows, if it does."""

    def __init__(
        self,
        schema: StreamSchema,
        columns: Sequence[str],
        inputs: Sequence[str],
        *,
        tick_us: int | None = None,
    ) -> None:
        self.schema = schema
        self.tick_us = tick_us
        self.inputs = tuple(inputs)
        self.order = [name for name in schema.order if name in columns]
        self.empty = Rows.empty({name: schema.types[name] for name in columns})

    def start(self) -> QueueState:
        """Nothing read."""
        return QueueState({name: InputClock() for name in self.inputs})

    def adopt(self, state: QueueState) -> QueueState:
        """A state saved with other inputs: new ones begin, absent ones no longer count and may come back."""
        return replace(state, clocks={**{name: InputClock() for name in self.inputs}, **state.clocks})

    def step(
        self, state: QueueState, units: Sequence[Unit], *, now: Instant | None = None, end: bool = False
    ) -> tuple[QueueState, Release]:
        """Take what came; `now` is the arrival time, for IDLE and ticks; `end`: nothing more will come."""
        clocks, fresh, late = self._admit(state, units, now)
        watermark = END if end else max(state.handed, self._watermark(clocks, now))
        time = self.schema.time

        waiting = self._conform(state.waiting.since(state.handed).rows())
        waiting = waiting.take(waiting[time].values >= state.handed)
        arrived = self._conform(join_rows([self.empty, *fresh]))
        handed, repeated = self.in_order(join_rows([waiting, arrived]), watermark)

        border = max((clock.reached for clock in clocks.values()), default=BEGINNING) + LEAP
        ahead = int((waiting[time].values > border).sum())
        early, given_up = self._keep(
            arrived.take(arrived[time].values >= watermark), border, MOST_HELD - ahead
        )
        waits = join_rows([waiting, early])
        held = waits.take(waits[time].values > border)
        next_state = QueueState(clocks, watermark, state.waiting.since(watermark).append(early, time))
        return next_state, Release(
            handed, watermark, self._conform(join_rows([self.empty, *late])), given_up, held, repeated
        )

    def _conform(self, rows: Rows | None) -> Rows:
        """The rows with exactly the columns that are read now; a log may have rows with others."""
        if rows is None:
            return self.empty
        if rows.columns.keys() == self.empty.columns.keys():
            return rows
        columns = {
            n: rows[n] if n in rows else Column.nulls(kind, rows.count)
            for n, kind in self.empty.types.items()
        }
        return Rows(columns, rows.count)

    def in_order(self, rows: Rows, watermark: Instant) -> tuple[Rows, Rows]:
        """The rows before the watermark, in order; and those that were repeats."""
        times = rows[self.schema.time].values
        ready = times < watermark
        chosen = rows if ready.all() else rows.take(ready)
        handed = chosen.take(order_of(chosen, self.order))
        if not self.schema.deduplicate:
            return handed, handed.take(slice(0, 0))
        again = same_as_previous(handed, self.order)
        return handed.take(~again), handed.take(again)

    def _admit(
        self, state: QueueState, units: Sequence[Unit], now: Instant | None
    ) -> tuple[dict[str, InputClock], list[Rows], list[Rows]]:
        clocks = dict(state.clocks)
        fresh: list[Rows] = []
        late: list[Rows] = []
        border: dict[str, Instant] = {}
        came: set[str] = set()
        unit_numbers: dict[str, int] = {}
        for unit in sorted(units, key=lambda u: (u.input, u.number, u.piece)):
            clock = clocks.get(unit.input, InputClock())
            if unit_numbers.get(unit.input) != unit.number:  # a unit is not late to itself
                unit_numbers[unit.input] = unit.number
                border[unit.input] = self._border(clock, state.handed)
            if unit.rows is not None and unit.rows.count:
                is_late = unit.rows[self.schema.time].values < border[unit.input]
                if is_late.any():
                    late.append(unit.rows.take(is_late))
                    fresh.append(unit.rows.take(~is_late))
                else:
                    fresh.append(unit.rows)
            clock = clock.after(unit.clusters)
            if now is not None and len(unit.clusters):
                clock = replace(clock, arrival_time=now, ticked=0)
                came.add(unit.input)
            clocks[unit.input] = clock
        if now is not None:  # an input that never sent anything is silent from the first step on
            clocks = {
                n: replace(c, arrival_time=now) if c.arrival_time == BEGINNING else c
                for n, c in clocks.items()
            }
            silent = set(self.inputs) - came
            clocks = {n: self._tick(c, now) if n in silent else c for n, c in clocks.items()}
        return clocks, fresh, late

    def _border(self, clock: InputClock, handed: Instant) -> Instant:
        """Rows of a unit below this time are late."""
        return max(handed, clock.reached - self.schema.late_us)

    def _watermark(self, clocks: Mapping[str, InputClock], now: Instant | None) -> Instant:
        idle_us = self.schema.idle_us
        awake = [
            clock.reached + clock.ticked
            for name, clock in clocks.items()
            if name in self.inputs and (idle_us is None or now is None or now - clock.arrival_time <= idle_us)
        ]
        # When all of them are idle, none holds another back.
        reached = (
            min(awake) if awake else max((clock.reached for clock in clocks.values()), default=BEGINNING)
        )
        return BEGINNING if reached == BEGINNING else reached - self.schema.late_us

    def _tick(self, clock: InputClock, now: Instant) -> InputClock:
        """Rule 5: the clock of an input from which no rows came."""
        if self.tick_us is None:
            return clock
        silent = max(0, now - clock.arrival_time)
        if clock.reached > BEGINNING:
            silent = clock.ticked + min(silent, MOST_TICKS * self.tick_us)
            clock = replace(clock, ticked=silent, arrival_time=now)
        # An input that has reached no time keeps the time of its last rows: IDLE and silence are measured from it.
        if silent < PATIENCE * self.tick_us:
            return clock
        believed = clock.after_silence()
        return clock if believed is clock else replace(believed, ticked=0, arrival_time=now)

    def _keep(self, rows: Rows, border: Instant, room: int) -> tuple[Rows, Rows]:
        """The rows that wait, and those given up: beyond `border` there is room for so many, the nearest."""
        times = rows[self.schema.time].values
        ahead = int((times > border).sum())
        if ahead <= room:
            return rows, rows.take(slice(0, 0))
        dropped = np.zeros(len(times), np.bool_)
        dropped[np.argsort(times, kind="stable")[len(times) - (ahead - max(room, 0)) :]] = True
        return rows.take(~dropped), rows.take(dropped)
