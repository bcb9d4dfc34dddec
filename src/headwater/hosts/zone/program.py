"""One zone's share of a plan: queues put rows in order, kernels answer, queries that read queries follow.

A zone is where some queries live whole: every row they can use comes here, and their state is here. The plain loop has one
zone; Spark has several. A program is pure: (state, what came) -> (state, what to tell), so a host may run a step again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headwater.hosts.zone.queue import Queue, QueueState, Unit
from headwater.model import BEGINNING, Instant, Log, Rows, StreamSchema, join_rows, order_of
from headwater.query.groups import Group
from headwater.query.plan import Plan


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What came to a zone since the last step: units of every stream, the time by the clock, and whether it is the end."""

    units: Mapping[str, Sequence[Unit]]
    now: Instant | None = None
    end: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """What a step tells: answers (SELECT lists applied), late rows and given-up rows by stream, and counts by name."""

    answers: tuple[Rows, ...] = ()
    late: Mapping[str, Rows] = field(default_factory=dict)
    given_up: Mapping[str, Rows] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ZoneState:
    """The state of every queue and every group of kernels, by name; and of queries that others read, the answers that wait.

    `groups` has both: under a group's name its kernel's state, under `waiting_for(query)` a log.
    """

    queues: Mapping[str, QueueState]
    groups: Mapping[str, Any]


def waiting_for(query: str) -> str:
    """The name under which the answers of a query wait for those that read it: no group is named so."""
    return f"waiting:{query}"


class Program:
    """Runs the queries of a plan that live in one zone."""

    def __init__(self, plan: Plan, zone: int = 0, inputs: Mapping[str, Sequence[str]] | None = None) -> None:
        self.plan = plan
        self.zone = zone
        self.inputs = dict(inputs or {})
        self.groups: tuple[Group, ...] = plan.groups(zone)
        # Every stream has a queue in every zone, read there or not: a query added later finds the time already known.
        self.queues = {
            stream.name: Queue(stream, plan.kept(stream.name), self.inputs.get(stream.name, (stream.name,)))
            for stream in plan.streams
        }
        self.chained = {query.reads for query in plan.queries} & {query.name for query in plan.queries}

    def start(self) -> ZoneState:
        """Nothing seen yet."""
        groups: dict[str, Any] = {group.name: group.kernel.start(BEGINNING) for group in self.groups}
        groups.update({waiting_for(name): Log() for name in self.handed_on})
        return ZoneState({name: queue.start() for name, queue in self.queues.items()}, groups)

    @property
    def handed_on(self) -> list[str]:
        """The queries of this zone whose answers others read."""
        return [name for group in self.groups for name in group.queries if name in self.chained]

    def step(self, state: ZoneState, arrivals: Arrivals) -> tuple[ZoneState, Output]:
        """Take what came and answer what can be answered."""
        queues: dict[str, QueueState] = {}
        ordered: dict[str, tuple[Rows, Instant]] = {}
        late: dict[str, Rows] = {}
        given_up: dict[str, Rows] = {}
        counts: Counter[str] = Counter()
        for name, queue in self.queues.items():
            units = arrivals.units.get(name, ())
            queues[name], release = queue.step(state.queues[name], units, now=arrivals.now, end=arrivals.end)
            ordered[name] = release.rows, release.watermark
            late[name] = self.ours(name, release.late)
            given_up[name] = self.ours(name, release.given_up)
            counts[f"repeated:{name}"] += self.ours(name, release.repeated).count
            counts[f"held:{name}"] += self.ours(name, release.held).count
        groups, answers, told = self.advance(state.groups, ordered)
        counts.update(told)
        return ZoneState(queues, groups), Output(answers, _filled(late), _filled(given_up), counts)

    def advance(
        self, groups: Mapping[str, Any], ordered: Mapping[str, tuple[Rows, Instant]]
    ) -> tuple[dict[str, Any], tuple[Rows, ...], Mapping[str, int]]:
        """Step every group with rows in order and a watermark for each stream: what bounded runs use directly."""
        sources = dict(ordered)
        following: dict[str, Any] = {}
        blocks: list[Rows] = []
        counts: Counter[str] = Counter()
        for group in self.groups:
            rows, watermark = self._source(group.reads, sources)
            step = group.kernel.step(groups[group.name], rows, watermark)
            following[group.name] = step.state
            counts.update(step.counts)
            projected = [self.plan.project(answers) for answers in step.answers if answers.rows.count]
            blocks += projected
            for name in self._answered_by(group):
                given = self._as_stream(name, projected)
                ready, following[waiting_for(name)] = self._hand_on(
                    name, groups[waiting_for(name)], given, step.complete_until
                )
                sources[name] = ready, step.complete_until
        return following, tuple(blocks), counts

    def ours(self, stream: str, rows: Rows) -> Rows:
        """Of rows that came to this zone, those it is to tell about: a row may come to several, the first one tells."""
        if self.zone == 0 or not rows.count:
            return rows
        elsewhere = np.logical_or.reduce(self.plan.routing(stream)(rows)[: self.zone])
        return rows.take(np.flatnonzero(~elsewhere))

    def since(self, state: ZoneState, group: Group) -> Instant:
        """From when on a query added now sees rows: just after the greatest time its stream has reached."""
        stream = self.plan.root_stream(group.reads)
        queue = state.queues.get(stream)
        return BEGINNING if queue is None or queue.reached == BEGINNING else queue.reached + 1

    def _source(self, name: str, sources: Mapping[str, tuple[Rows, Instant]]) -> tuple[Rows, Instant]:
        if name in sources:
            return sources[name]
        # Another zone's query: its answers never come here, and the planner never asks for them.
        raise AssertionError(f"nothing in this zone gives '{name}'")

    def _answered_by(self, group: Group) -> list[str]:
        return [name for name in group.queries if name in self.chained]

    def _hand_on(self, name: str, waits: Log, given: Rows, complete: Instant) -> tuple[Rows, Log]:
        """The answers of a query that can be read, in order, and those that wait: earlier ones may still come."""
        time = given["event_time"].values
        if not waits.chunks and (not given.count or int(time.max()) < complete):
            return given, waits
        stored = waits.rows()
        rows = given if stored is None else join_rows([stored, given])
        is_ready = rows["event_time"].values < complete
        ready, rest = rows.take(is_ready), rows.take(~is_ready)
        left = Log((), waits.next_number).append(rest, "event_time")
        return ready.take(order_of(ready, self.plan.stream(name).order)), left

    def _as_stream(self, name: str, blocks: Sequence[Rows]) -> Rows:
        """The answers of one query as rows of the stream that others read, in its order."""
        schema: StreamSchema = self.plan.stream(name)
        columns = [column for column, _ in schema.columns]
        parts = [Rows.empty(schema.types)]
        for block in blocks:
            queries = block["query"]
            assert queries.names is not None
            code = int(np.searchsorted(queries.names, name)) if len(queries.names) else 0
            if code == len(queries.names) or queries.names[code] != name:
                continue
            own = np.flatnonzero(queries.values == code)
            if len(own):  # a block may name queries of other columns, of which it has no answer
                parts.append(block.take(own).select(columns))
        rows = join_rows(parts)
        return rows.take(order_of(rows, schema.order))


def _filled(by_stream: Mapping[str, Rows]) -> dict[str, Rows]:
    return {name: rows for name, rows in by_stream.items() if rows.count}
