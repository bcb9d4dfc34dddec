"""Whole texts run by a zone's program, step by step: what the laws of FOLLOW and of FENCE have in common.

A world has `rows`, those of each stream with their times in `at`, and `cuts`, the watermarks of each stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np

from headwater.hosts.local.bounded import row_filter
from headwater.hosts.zone import Program, ZoneState, fetch_from, load_zone, save_zone
from headwater.model import BEGINNING, END, Instant, Rows, add_counts
from headwater.query.planning.groups import Group
from headwater.query.planning.plan import Plan

Row = dict[str, Any]
Answers = dict[str, list[Row]]
Steps = list[dict[str, Instant]]  # the watermark of every stream, step by step


class World(Protocol):
    """Rows of some streams, and where they may be cut."""

    @property
    def rows(self) -> Mapping[str, Rows]: ...

    @property
    def cuts(self) -> Mapping[str, Sequence[Instant]]: ...


def run_plan(
    world: World,
    plan: Plan,
    steps: Steps | None = None,
    *,
    restoring: bool = False,
    alter: Callable[[Group], Group] = lambda group: group,
) -> tuple[Answers, dict[str, int]]:
    """Everything that the zones of a plan tell, step by step; by query, in order within a zone."""
    blocks: list[Rows] = []
    counts: Counter[str] = Counter()
    for zone in range(plan.zones):
        program = Program(plan, zone)
        program.graph = replace(program.graph, groups=tuple(map(alter, program.graph.groups)))
        state = program.start()
        for ordered in ordered_steps(world, plan, steps or [], zone):
            groups, answers, counted = program.advance(state.groups, ordered)
            blocks += answers
            add_counts(counts, counted)
            state = ZoneState(state.queues, groups)
            if restoring:
                state = restored(program, state)
    return collected(blocks), {name: count for name, count in sorted(counts.items()) if count}


def run_changed(world: World, steps: Steps, change: int, old: Plan, new: Plan) -> Answers:
    """What is told when the plan is another one from step `change` + 1 on."""
    program, blocks = Program(old), []
    state = program.start()
    inputs = ordered_steps(world, old, steps)[: change + 1] + ordered_steps(world, new, steps)[change + 1 :]
    for number, ordered in enumerate(inputs):
        groups, answers, _ = program.advance(state.groups, ordered)
        blocks += answers
        state = ZoneState(state.queues, groups)
        if number == change:
            later = Program(new)
            state = restored(program, state, later)
            program = later
    return collected(blocks)


def steps_of(world: World) -> Steps:
    """The watermarks of all streams, step by step: each has its own, and the least of them counts."""
    cuts = zip_longest(*(sorted(cuts) for cuts in world.cuts.values()))
    return [dict(zip(world.cuts, cut, strict=True)) for cut in cuts]


def ordered_steps(
    world: World, plan: Plan, steps: Steps, zone: int = 0
) -> list[dict[str, tuple[Rows, Instant]]]:
    """The rows of every stream in every step, and in one more to the end; only those that the zone wants."""
    found = []
    since = dict.fromkeys(world.rows, BEGINNING)
    read = {stream.name for stream in plan.streams}
    for step in [*steps, dict.fromkeys(world.rows, END)]:
        ordered = {}
        for stream, until in step.items():
            if stream not in read:
                continue
            rows = world.rows[stream]
            times = rows["at"].values
            rows = useful(plan, stream, rows.take((times >= since[stream]) & (times < until)))
            if plan.zones > 1:
                rows = rows.take(np.flatnonzero(plan.routing(stream)(rows)[zone]))
            ordered[stream] = rows, until
        since = step
        found.append(ordered)
    return found


def useful(plan: Plan, stream: str, rows: Rows) -> Rows:
    """What a host hands over of some rows: the columns that travel, and the rows that a query can use."""
    return row_filter(plan, stream)(rows.select(plan.columns_read(stream)))


def restored(program: Program, state: ZoneState, into: Program | None = None) -> ZoneState:
    """The state after a trip through bytes."""
    saved = save_zone(program, state)
    return load_zone(into or program, saved.head, fetch_from(saved.cells()))


def collected(blocks: Sequence[Rows]) -> Answers:
    """Answers by query."""
    emitted: Answers = {}
    for block in blocks:
        for row in block.tolist():
            emitted.setdefault(row["query"], []).append(row)
    return emitted


def lock(tables: Any) -> None:
    for rows in tables:
        for column in rows.columns.values():
            for array in (column.values, column.valid, column.names):
                if array is not None:
                    array.flags.writeable = False
