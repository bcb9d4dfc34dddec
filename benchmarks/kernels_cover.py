"""The processor time of a cover decision: `python benchmarks/kernels_cover.py [decisions]`.

Boxes over five attributes as in the paper: centred near a median, with Pareto offsets of skew 1 to either side; one is asked
about, among 50, 200 and 1,000 others. Every figure comes with how often the answer was "covered" and how it was found.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

import numpy as np

from headwater.protocols.cover import Boxes, Cover, Exact, Pairwise, Probable

SEED = 7
ATTRIBUTES = 5
ROWS = (50, 200, 1_000)
DELTA = 1e-3
WAYS: dict[str, Cover] = {
    "pairwise": Pairwise(),
    "probable, paper": Probable(DELTA, estimate="paper"),
    "probable, sound": Probable(DELTA),
    "exact": Exact(),
}


def draw(rng: np.random.Generator, count: int) -> Boxes:
    centre = rng.normal(0.0, 0.3, (count, ATTRIBUTES))
    below, above = (0.3 * (1.0 + rng.pareto(1.0, (count, ATTRIBUTES))) for _ in range(2))
    return Boxes(centre - below, centre + above)


def main() -> None:
    """All of it."""
    decisions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for rows in ROWS:
        for name, way in WAYS.items():
            rng = np.random.default_rng(SEED)
            took, why = [], Counter[str]()
            for n in range(decisions):
                drawn = draw(rng, rows + 1)
                others = Boxes(drawn.low[1:], drawn.high[1:])
                start = time.thread_time()
                verdict = way.covers(drawn.low[0], drawn.high[0], others, seed=n)
                took.append(time.thread_time() - start)
                why[("covered: " if verdict.covered else "not: ") + verdict.why] += 1
            median, late = np.percentile(np.array(took[decisions // 10 :]) * 1e6, [50, 99])
            words = ", ".join(f"{word} {count}" for word, count in sorted(why.items()))
            print(f"{rows:>6,} rows  {name:<16} median {median:>7,.0f} µs  p99 {late:>8,.0f} µs  {words}")


if __name__ == "__main__":
    main()
