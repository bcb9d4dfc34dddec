"""Cases as tasks of one Spark job: one case a task, on as many cores as there are.

Rule 1  The longest come first, so that the cores end together.
Rule 2  A case that fails is told in words and does not take the others with it.
Rule 3  Every task says that it is done to a counter that the driver looks at: that is how far it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from headwater.apps.reproduce.outcome import Say
from headwater.apps.reproduce.prediction_cases import BUFFERS, OBJECTS, Case, Measured

if TYPE_CHECKING:
    from pyspark import SparkContext

SAY_EVERY_S: Final = 10.0


def run_on_spark(
    context: SparkContext, run: Callable[[Case], list[Measured]], cases: Sequence[Case], say: Say
) -> tuple[list[Measured], list[str]]:
    """Rows in the order of the cases, and what failed."""
    ordered = sorted(range(len(cases)), key=lambda at: -_cost(cases[at]))
    done = context.accumulator(0)

    def run_one(at: int) -> tuple[int, list[Measured] | str]:
        try:
            return at, run(cases[at])
        except Exception as fault:
            return at, f"{cases[at]}: {type(fault).__name__}: {fault}"
        finally:
            done.add(1)

    with _saying(lambda: done.value, len(cases), say):
        found = dict(context.parallelize(ordered, len(ordered)).map(run_one).collect())
    in_order = [found[at] for at in range(len(cases))]
    rows = [row for one in in_order if not isinstance(one, str) for row in one]
    return rows, [one for one in in_order if isinstance(one, str)]


def _cost(case: Case) -> float:
    """Pairs of made-up objects; recorded ones take longest."""
    if case.part == OBJECTS:
        return float(case.objects**2)
    return float(case.objects**2 * (2 + case.within_s)) if case.part == BUFFERS else float("inf")


@contextmanager
def _saying(done: Callable[[], int], total: int, say: Say) -> Iterator[None]:
    """Say from time to time how many cases are done."""
    over, start = Event(), time.monotonic()

    def tell() -> None:
        told = 0
        while not over.wait(SAY_EVERY_S):
            if (now := done()) > told:
                told = now
                say(f"{told} of {total} cases done after {time.monotonic() - start:.0f} s")

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
    say(f"{total} of {total} cases done after {time.monotonic() - start:.0f} s")
