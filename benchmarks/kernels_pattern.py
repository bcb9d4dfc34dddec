"""Events a second of the pattern kernel alone, on one core: `python benchmarks/kernels_pattern.py [events]`.

The events and patterns are those of `headwater bench patterns`. Every figure comes with the number of matches. The last line
tells what the row tests of the first pattern cost, which are worked out in columns before the scan.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from headwater.kernels.pattern.kernel import PatternKernel
from headwater.kernels.pattern.partitioned_rows import Arranged
from headwater.kernels.pattern.question import RowTest
from headwater.query.planning.plan import compile_text
from headwater_lab.bench.pattern_events import Events, make_events
from headwater_lab.bench.pattern_kernel import batches, kernel_rate
from headwater_lab.bench.pattern_questions import script
from headwater_lab.bench.patterns import CASES

SEED = 7


def main() -> None:
    """All sets of patterns."""
    events = make_events(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, seed=SEED)
    for letter, case in CASES.items():
        rate, matches = kernel_rate(case.make(SEED), events)
        print(f"({letter}) {case.title:<55} {rate:>12,.0f} events/s  {matches:>9,} matches")

    print(f"the row tests of (a): {row_test_ns(events):.1f} ns an event")


def row_test_ns(events: Events) -> float:
    """Processor time of all row tests of the first pattern, for one event."""
    (group,) = compile_text(script(CASES["a"].make(SEED))).groups(0)
    assert isinstance(group.kernel, PatternKernel)
    tests = [test for test in group.kernel.queries[0].tests if isinstance(test, RowTest)]
    spent = 0
    for rows in batches(events):
        table = Arranged(rows, np.zeros(rows.count, np.int64), np.ones(rows.count, np.bool_), "at")
        begun = time.process_time_ns()
        for test in tests:
            table.test(test)
        spent += time.process_time_ns() - begun
    return spent / len(events)


if __name__ == "__main__":
    main()
