"""What do reads far apart in memory cost? CORRELATE among idle keys, and a loop that does nothing but read as often.

For each of 250 rows the compiled loop of CORRELATE reads some thirteen places that have nothing to do with those of the row before: two
hash tables, the node of a cell, the match before of the same sensor, its neighbours in a list, and where it was. Among a million keys
each of them is a miss of all caches. The second loop makes thirteen reads for each row, each of which says where the next one is.

    python -m benchmarks.far_reads
"""

from __future__ import annotations

import time
from typing import Any, Final

import numba
import numpy as np

from headwater.kernels.correlate import engine
from headwater_lab.bench.state import FEW, TOUCHED, loaded

MANY: Final = 1_000_000
READS: Final = 13
ROUNDS: Final = 60
WARM_UP: Final = 10


@numba.njit
def follow_links(links: Any, starts: Any) -> int:
    """For each start one read in every column, at the place that the column before holds; a sum, so that nothing is left out."""
    total = 0
    for start in starts:
        place = start
        for column in range(len(links)):
            place = links[column, place]
        total += place
    return total


def main() -> None:
    spent = [0]
    advance = engine._advance

    def timed(*inputs: Any) -> Any:
        began = time.thread_time_ns()
        found = advance(*inputs)
        spent[0] += time.thread_time_ns() - began
        return found

    engine._advance = timed
    random = np.random.default_rng(7)
    numbers_of_keys = (FEW, MANY)
    zones = [loaded("CORRELATE", keys) for keys in numbers_of_keys]
    links = [np.stack([random.permutation(keys) for _ in range(READS)]) for keys in numbers_of_keys]
    follow_links(links[0], np.arange(3))
    loops: list[list[int]] = [[] for _ in numbers_of_keys]
    reads: list[list[int]] = [[] for _ in numbers_of_keys]
    for _ in range(WARM_UP + ROUNDS):
        for case, keys in enumerate(numbers_of_keys):
            spent[0] = 0
            zones[case].take(random.choice(keys, TOUCHED, replace=False))
            loops[case].append(spent[0])
            starts = random.choice(keys, TOUCHED, replace=False)
            began = time.thread_time_ns()
            follow_links(links[case], starts)
            reads[case].append(time.thread_time_ns() - began)
    for name, cases in (("the loop of CORRELATE", loops), (f"{READS} reads a row", reads)):
        few, many = (np.median(case[WARM_UP:]) / 1e6 for case in cases)
        print(f"{name}: {few:.3f} ms with {FEW:,} keys, {many:.3f} with {MANY:,}, {many - few:.3f} more")


if __name__ == "__main__":
    main()
