"""Events a second of the pattern kernel alone, on one core: `python benchmarks/kernels_pattern.py [events]`.

The events and patterns are those of `headwater bench patterns`. Every figure comes with the number of matches.
"""

from __future__ import annotations

import sys

from headwater.apps.bench.pattern_events import make_events
from headwater.apps.bench.pattern_kernel import kernel_rate
from headwater.apps.bench.patterns import CASES

SEED = 7


def main() -> None:
    """All sets of patterns."""
    events = make_events(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, seed=SEED)
    for letter, case in CASES.items():
        rate, matches = kernel_rate(case.make(SEED), events)
        print(f"({letter}) {case.title:<55} {rate:>12,.0f} events/s  {matches:>9,} matches")


if __name__ == "__main__":
    main()
