"""Events a second of the pattern kernel alone, on one core: `python benchmarks/kernels_pattern.py [events]`.

The events and patterns are those of `headwater bench patterns`. The kernel gets what a host would hand it: rows in order, a
hundred thousand at a time. Every figure comes with the number of matches.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

from headwater.apps.bench.pattern_events import Events, make_events
from headwater.apps.bench.pattern_questions import BANDS, RISE, PatternQuestion, many_bands, script
from headwater.model import BEGINNING, Column, ColumnType, Rows, coded
from headwater.query.plan import compile_text

STEP_ROWS = 100_000


def batches(events: Events) -> Iterator[Rows]:
    """The events in order of time."""
    order = np.lexsort([events.value, events.sensor, events.at])
    names = np.array([*events.names, ""], object)[:-1]
    for start in range(0, len(order), STEP_ROWS):
        part = order[start : start + STEP_ROWS]
        yield Rows.of(
            {
                "sensor": coded(events.sensor[part].astype(np.int32), names.copy()),
                "at": Column(ColumnType.TIMESTAMP, events.at[part]),
                "value": Column(ColumnType.DOUBLE, events.value[part]),
            }
        )


def measure(name: str, questions: list[PatternQuestion], steps: list[Rows]) -> None:
    """Print the rate of one set of patterns, the better of two runs."""
    (group,) = compile_text(script(questions)).groups(0)
    seconds = []
    for _ in range(2):
        state, matches = group.kernel.start(BEGINNING), 0
        begun = time.process_time()
        for rows in steps:
            step = group.kernel.step(state, rows, int(rows["at"].values[-1]))
            state = step.state
            matches += sum(block.rows.count for block in step.answers)
        seconds.append(time.process_time() - begun)
    rows_in = sum(rows.count for rows in steps)
    print(f"{name:<24} {rows_in / min(seconds):>12,.0f} events/s  {matches:>9,} matches")


def main() -> None:
    """All sets of patterns."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    steps = list(batches(make_events(count, seed=7)))
    measure("A B+ C", [BANDS], steps)
    measure("with PREV and AVG", [RISE], steps)
    measure("100 patterns", list(many_bands(100, seed=7)), steps)


if __name__ == "__main__":
    main()
