"""One zone's share of a plan: queues put rows in order, kernels answer, queries that read queries follow.

A zone is where some queries live whole: every row they can use comes here, and their state is here. The plain loop has one
zone; Spark has several. A program is pure: (state, arrivals) -> (state, output), so a host may run a step again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from headwater.hosts.stored_code import use_compiled_code
from headwater.hosts.zone.graph import Graph
from headwater.hosts.zone.interest_states import make_operators
from headwater.hosts.zone.queue import Queue, QueueState, Unit
from headwater.model import BEGINNING, END, Instant, OperatedKernel, Rows, Step
from headwater.query.planning.groups import Group
from headwater.query.planning.plan import Plan
from headwater.query.planning.query_plan import QueryPlan


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What came to a zone since the last step: units of every stream, the time by the clock, and whether it is the end."""

    units: Mapping[str, Sequence[Unit]]
    now: Instant | None = None
    end: bool = False


@dataclass(frozen=True, slots=True)
class StepOutput:
    """The results of a step: answers (SELECT lists applied), late rows and given-up rows by stream, and counts by name."""

    answers: tuple[Rows, ...] = ()
    late: Mapping[str, Rows] = field(default_factory=dict)
    given_up: Mapping[str, Rows] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ZoneState:
    """The state of every queue and every group of kernels, by name; and rows that wait.

    `groups` has both: under a group's name its kernel's state, under `waiting_for(…)` a log.
    """

    queues: Mapping[str, QueueState]
    groups: Mapping[str, Any]


class Program:
    """Runs the queries of a plan that live in one zone.

    `away` are shared queries that belong to another zone, which reports their counts; `silent` are those whose
    answers this zone does not emit: links of a chain, and copies.
    """

    def __init__(
        self,
        plan: Plan,
        zone: int = 0,
        inputs: Mapping[str, Sequence[str]] | None = None,
        *,
        tick_us: int | None = None,
    ) -> None:
        use_compiled_code()
        self.plan = plan
        self.zone = zone
        self.tick_us = tick_us
        self.inputs = dict(inputs or {})
        self.groups: tuple[Group, ...] = tuple(map(_with_operators, plan.groups(zone)))
        # Every stream has a queue in every zone, read there or not: a query added later finds the time already known.
        self.queues = {
            stream.name: Queue(
                stream,
                plan.columns_read(stream.name),
                self.inputs.get(stream.name, (stream.name,)),
                tick_us=tick_us,
            )
            for stream in plan.streams
        }
        beside = [query for query in plan.queries if not query.is_inside]
        read = {source for query in beside for source in plan.sources(query.reads)}
        self.chained = read & {query.name for query in plan.queries}
        merges = {together.name: together for together in plan.merges}
        schemas = {name: plan.stream(name) for name in (*self.queues, *merges, *self.chained)}
        self.graph = Graph(self.groups, frozenset(self.chained), schemas, merges)
        away = [query for query in beside if self._has_copies(query) and plan.zone_of(query.name) != zone]
        self.away = {query.name for query in away}
        copies = {query.name for query in away if not self._after_join(query)}
        self.silent = copies | {query.name for query in plan.queries if query.hidden}

    def start(self) -> ZoneState:
        """Nothing read yet."""
        queues = {name: queue.start() for name, queue in self.queues.items()}
        return ZoneState(queues, self.graph.start(BEGINNING))

    @property
    def waits(self) -> dict[str, str]:
        """The names under which rows may wait in this zone, with fingerprints: answers that others read, merges, and location updates."""
        found: dict[str, str] = {}
        for group in self.groups:
            if group.reads_stores:
                found[group.name] = self.plan.meaning(group.reads)
            if together := self.plan.merge(group.reads):
                found[together.name] = together.fingerprint
            found.update({name: self.plan.query(name).fingerprint for name in self._answered_by(group)})
        return found

    def step(self, state: ZoneState, arrivals: Arrivals) -> tuple[ZoneState, StepOutput]:
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
        groups, answers, counted = self.advance(state.groups, ordered)
        counts.update(counted)
        return ZoneState(queues, groups), StepOutput(answers, _filled(late), _filled(given_up), counts)

    def advance(
        self, groups: Mapping[str, Any], ordered: Mapping[str, tuple[Rows, Instant]]
    ) -> tuple[dict[str, Any], tuple[Rows, ...], Mapping[str, int]]:
        """Step every group with rows in order and a watermark for each stream: what bounded runs use directly."""
        next_states, blocks, counts, _ = self.advance_until(groups, ordered)
        return next_states, blocks, counts

    def advance_until(
        self, groups: Mapping[str, Any], ordered: Mapping[str, tuple[Rows, Instant]]
    ) -> tuple[dict[str, Any], tuple[Rows, ...], Mapping[str, int], Instant]:
        """The same; and the time before which no answer will follow, for callers that put answers in order."""
        blocks: list[Rows] = []
        counts: Counter[str] = Counter()
        complete = END

        def answered(group: Group, step: Step[Any]) -> list[Rows]:
            nonlocal complete
            complete = min(complete, step.complete_until)
            counts.update({name: n for name, n in step.counts.items() if _counted_of(name) not in self.away})
            projected = [self.plan.project(answers) for answers in step.answers if answers.rows.count]
            blocks.extend(
                emitted for block in projected if (emitted := self._emitted_here(group, block)).count
            )
            return projected

        next_states = self.graph.step(groups, ordered, answered)
        return next_states, tuple(blocks), counts, complete

    def ours(self, stream: str, rows: Rows) -> Rows:
        """The rows that this zone reports: of several zones with the same row, the first one does."""
        if self.zone == 0 or not rows.count:
            return rows
        elsewhere = np.logical_or.reduce(self.plan.routing(stream)(rows)[: self.zone])
        return rows.take(np.flatnonzero(~elsewhere))

    def since(self, state: ZoneState, group: Group) -> Instant:
        """From when on a query added now reads rows: just after the greatest time its stream has reached."""
        read = (group.reads, *group.reads_stores)
        roots = dict.fromkeys(root for source in read for root in self.plan.root_streams(source))
        queues = [state.queues.get(stream) for stream in roots]
        reached = max((queue.reached for queue in queues if queue is not None), default=BEGINNING)
        return BEGINNING if reached == BEGINNING else reached + 1

    def _has_copies(self, query: QueryPlan) -> bool:
        """Whether other zones have the same counts: not for a FOLLOW, which follows other objects there, nor for a FENCE."""
        return query.shared and not query.operator.counts_its_share

    def _after_join(self, query: QueryPlan) -> bool:
        """Whether a query is a PREDICT of pairs or a FENCE, or reads answers of one: each zone has different answers."""
        while not query.operator.is_shared and query.reads in self.chained:
            query = self.plan.query(query.reads)
        return query.operator.is_shared

    def _emitted_here(self, group: Group, block: Rows) -> Rows:
        """The answers of a group's queries that this zone emits."""
        if self.silent.isdisjoint(group.queries):
            return block
        queries = block["query"]
        assert queries.names is not None
        is_emitted = np.array([name not in self.silent for name in queries.names.tolist()], np.bool_)
        return block.take(is_emitted[queries.values]) if len(is_emitted) else block

    def _answered_by(self, group: Group) -> list[str]:
        return [name for name in group.queries if name in self.chained]


def _with_operators(group: Group) -> Group:
    """A group whose kernel has its downstream operators."""
    if not group.downstream:
        return group
    assert isinstance(group.kernel, OperatedKernel)
    operators = {name: make_operators(plan) for name, plan in group.downstream.items()}
    return replace(group, kernel=group.kernel.with_operators(operators))


def _counted_of(name: str) -> str:
    """The query of a count; empty if it is for all queries of a kernel."""
    return name.partition(":")[2]


def _filled(by_stream: Mapping[str, Rows]) -> dict[str, Rows]:
    return {name: rows for name, rows in by_stream.items() if rows.count}
