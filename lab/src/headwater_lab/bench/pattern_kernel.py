"""The pattern kernel alone, on one core: it gets what a host would hand it, rows in order, a hundred thousand at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from headwater.model import BEGINNING, Column, ColumnType, Rows, coded
from headwater.query.planning.plan import compile_text
from headwater_lab.bench.pattern_events import KINDS, Events
from headwater_lab.bench.pattern_questions import PatternQuestion, script

STEP_ROWS: Final = 100_000
TRIES: Final = 3


def batches(events: Events) -> Iterator[Rows]:
    """The events in order of time."""
    order = np.lexsort((events.value, events.sensor, events.at))
    names, kinds = (np.array([*texts, ""], object)[:-1] for texts in (events.names, KINDS))
    for start in range(0, len(order), STEP_ROWS):
        part = order[start : start + STEP_ROWS]
        yield Rows.of(
            {
                "sensor": coded(events.sensor[part], names.copy()),
                "at": Column(ColumnType.TIMESTAMP, events.at[part]),
                "value": Column(ColumnType.DOUBLE, events.value[part]),
                "kind": coded(events.kind[events.sensor[part]], kinds.copy()),
            }
        )


def kernel_rate(questions: Sequence[PatternQuestion], events: Events) -> tuple[float, int]:
    """Events a second of processor time, the best of some runs; and the matches of one."""
    plan = compile_text(script(questions))
    (group,) = plan.groups(0)
    steps = [rows.select(plan.columns_read("events")) for rows in batches(events)]
    seconds: list[float] = []
    matches = 0
    for _ in range(TRIES):
        state, matches = group.kernel.start(BEGINNING), 0
        begun = time.process_time()
        for rows in steps:
            step = group.kernel.step(state, rows, int(rows["at"].values[-1]))
            state = step.state
            matches += sum(block.rows.count for block in step.answers)
        seconds.append(time.process_time() - begun)
    return len(events) / min(seconds), matches
