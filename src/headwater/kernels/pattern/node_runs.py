"""A node's scan for every partition of a lane, so that hosts give the nodes' answers.

On a sensor node there is one partition: the node's own readings, held by `node.NodeScan` alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.pattern.automaton import Automaton, create
from headwater.kernels.pattern.choices import Contiguity
from headwater.kernels.pattern.deadlines import window_deadlines
from headwater.kernels.pattern.match_answers import Found
from headwater.kernels.pattern.node import CHOICES, NodePattern, NodeScan, NodeState
from headwater.kernels.pattern.partitioned_rows import Arranged
from headwater.kernels.pattern.question import PatternQuery, RowTest
from headwater.kernels.pattern.runs import (
    AT,
    BOUND,
    COUNTED,
    EVENT_TIME,
    FIRST_ROW,
    FOUND_COLUMNS,
    MATCH_NUMBER,
    MEMORY,
    NODE_COLUMNS,
    NODES,
    NUMBER,
    OPEN_COLUMNS,
    OPEN_PARTITION,
    PARTITION,
    ROWS_GIVEN_UP,
    SEARCH,
    THREADS,
    WAITING_COLUMNS,
    Runs,
    Segments,
)
from headwater.kernels.pattern.shape import ALWAYS, Chain, One
from headwater.model import END, Instant

Numbers = NDArray[np.int64]

_COUNTS = 4
_WIDTH = MEMORY + 1  # an event of the window: element, row, time, start


class NodeQuery:
    """A query with MODE: its window in every partition is `Runs.threads`, its counts are `Runs.nodes`."""

    def __init__(self, query: PatternQuery, ones: tuple[One, ...], pattern: NodePattern) -> None:
        self.query = query
        self.ones = ones
        self.scan = NodeScan(pattern)
        links = (Contiguity.RELAXED,) * (len(ones) - 1)
        self.auto: Automaton = create(Chain(ones, links))

    def none(self) -> Runs:
        """Empty windows."""
        return Runs(
            np.zeros((0, OPEN_COLUMNS), np.int64),
            np.zeros((0, _WIDTH), np.int64),
            np.zeros((0, 0)),
            np.zeros((0, NODE_COLUMNS), np.int64),
            np.zeros((0, WAITING_COLUMNS), np.int64),
        )

    def run(
        self, table: Arranged, segments: Segments, old: Runs, watermark: Instant
    ) -> tuple[Found, Runs, Numbers]:
        """Pass its new rows to every partition's node."""
        holds = self._holds(table)
        counted = np.zeros(COUNTED, np.int64)
        lines, windows, counts = [], [], []
        found, bound = [np.zeros((0, FOUND_COLUMNS), np.int64)], [np.zeros(0, np.int64)]
        held_from = np.concatenate([[0], np.cumsum(old.open[:, THREADS])])
        opened = {int(partition): place for place, partition in enumerate(old.open[:, OPEN_PARTITION])}
        for segment in range(len(segments.low)):
            place = opened.get(int(segments.partition[segment]))
            before = 0 if place is None else int(old.open[place, NUMBER])
            state = self._state(old, place, held_from)
            high, offset = segments.high[segment], segments.low[segment] - segments.base[segment]
            begin = segments.fresh[segment] + offset
            step = self.scan.step(
                state,
                holds[:, begin:high],
                table.time[begin:high],
                np.arange(begin - offset, high - offset),
                min(watermark, END),
            )
            counted[ROWS_GIVEN_UP] += step.dropped
            matches = len(step.matches)
            if matches:
                found.append(_lines(segment, step.matches + offset, step.ends, before))
                bound.append((step.matches + offset).ravel())
            if watermark < END:
                lines.append(_open(segments, segment, step.state, before + matches))
                windows.append(_window(step.state))
                counts.append(
                    np.concatenate([step.state.window.counts, np.zeros(NODE_COLUMNS - _COUNTS, np.int64)])
                )
        rows = np.concatenate(bound)
        elements = np.tile(np.arange(len(self.ones)), len(rows) // len(self.ones))
        runs = self.none()
        if lines:
            runs = Runs(
                np.array(lines), np.concatenate(windows), runs.doubles, np.array(counts), runs.waiting
            )
        return Found(np.concatenate(found), rows, elements), self._worth_keeping(runs, segments), counted

    def deadlines(self, runs: Runs, segments: Segments, time: Numbers) -> Numbers:
        """For each open line when the first event leaves its window."""
        return window_deadlines(self.scan.pattern.within_us, runs)

    def _holds(self, table: Arranged) -> NDArray[np.bool_]:
        holds = np.ones((len(self.ones), table.rows.count), np.bool_)
        for place, one in enumerate(self.ones):
            if one.condition != ALWAYS:
                test = self.query.tests[one.condition]
                assert isinstance(test, RowTest), "conditions of a node look at single rows"
                holds[place] = table.test(test)
        return holds

    def _state(self, old: Runs, place: int | None, held_from: Numbers) -> NodeState:
        if place is None:
            return self.scan.start()
        window = old.threads[held_from[place] : held_from[place + 1]]
        return self.scan.load(
            {
                "element": window[:, 0],
                "row": window[:, 1],
                "time": window[:, 2],
                "start": window[:, 3],
                "counts": old.nodes[place, :_COUNTS],
            }
        )

    def _worth_keeping(self, runs: Runs, segments: Segments) -> Runs:
        """The runs without partitions whose window is empty and that have nothing to remember."""
        keep = (runs.open[:, THREADS] > 0) | (runs.nodes[:, CHOICES] > 0)
        if self.query.is_numbered:
            keep |= runs.open[:, NUMBER] > 0
        return Runs(runs.open[keep], runs.threads, runs.doubles, runs.nodes[keep], runs.waiting)


def _lines(segment: int, rows: Numbers, ends: Numbers, before: int) -> Numbers:
    lines = np.zeros((len(rows), FOUND_COLUMNS), np.int64)
    lines[:, PARTITION] = segment
    lines[:, EVENT_TIME] = ends
    lines[:, FIRST_ROW] = rows[:, 0]
    lines[:, MATCH_NUMBER] = before + 1 + np.arange(len(rows))
    lines[:, BOUND] = rows.shape[1]
    return lines


def _open(segments: Segments, segment: int, state: NodeState, number: int) -> Numbers:
    line = np.zeros(OPEN_COLUMNS, np.int64)
    line[OPEN_PARTITION] = segments.partition[segment]
    line[AT] = segments.base[segment] + segments.high[segment] - segments.low[segment]
    line[SEARCH] = min([line[AT], *state.window.row[: state.held]])
    line[NUMBER], line[THREADS], line[NODES] = number, state.held, 1
    return line


def _window(state: NodeState) -> Numbers:
    window = state.window
    return np.stack([window.element, window.row, window.time, window.start], axis=1)[: state.held]
