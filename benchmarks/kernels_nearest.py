"""Objects a second of the NEAREST kernel alone, on one core: `python benchmarks/kernels_nearest.py [objects]`.

Objects and queries are those of `headwater bench nearest`: 400 queries over windows of 40,000 uniform objects, k = 9, by each
algorithm; then the exact one with 10,000 queries. Every figure comes with what it was reached by.
"""

from __future__ import annotations

import sys

from headwater.kernels.nearest.choices import Algorithm
from headwater_lab.bench.nearest import FILL, JUDGED_K, MANY_QUERIES, OBJECTS_RA, QUERIES
from headwater_lab.bench.nearest_kernel import run_kernel
from headwater_lab.bench.nearest_objects import make_objects, make_points, uniform
from headwater_lab.bench.nearest_questions import NearestQuestion

SEED = 7


def main() -> None:
    """All of it."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    objects = make_objects(uniform(), max(count, 2 * FILL), seed=SEED)
    for queries, algorithm in (
        *((QUERIES, algorithm) for algorithm in Algorithm),
        (MANY_QUERIES, Algorithm.RAPF),
    ):
        points = make_points(uniform(), queries, seed=SEED)
        slow = algorithm is Algorithm.RA
        chosen = objects.first(FILL + OBJECTS_RA) if slow else objects
        run = run_kernel(NearestQuestion(JUDGED_K, algorithm), points, chosen, fill=FILL)
        print(
            f"{queries:>6,} queries  {algorithm.value:<4} {run.rate:>10,.0f} objects/s  {run.candidates:5.1f} candidates a query  "
            f"{run.tests:6.1f} queries tested an object  {run.state_bytes / 2**20:5.1f} MiB  {len(run.answers):>8,} answers"
        )


if __name__ == "__main__":
    main()
