"""Simulations as tasks of one Spark job: one simulation a task, on as many cores as there are.

Rule 1  The longest come first, so that the cores end together.
Rule 2  A simulation that fails is told in words and does not take the others with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from headwater.apps.reproduce.fsf_cases import Case, Measured
from headwater.apps.reproduce.fsf_scenes import Scene
from headwater.apps.reproduce.outcome import Say

if TYPE_CHECKING:
    from pyspark import SparkContext

WATCH_EVERY_S: Final = 1.0
SAY_EVERY_S: Final = 30.0
# From measuring: how much longer than with the others a simulation takes.
_SLOW: Final[Mapping[str, float]] = {"naive": 3.0, "operator-placement": 2.0, "centralized": 2.0}


def run_on_spark(
    context: SparkContext,
    simulate: Callable[[Case, Scene], Measured],
    cases: Sequence[Case],
    scenes: Mapping[str, Scene],
    say: Say,
) -> tuple[list[Measured], list[str]]:
    """Rows in the order of the cases, and what failed."""
    ordered = sorted(range(len(cases)), key=lambda at: -_cost(cases[at], scenes[cases[at].scene]))
    shared = context.broadcast(dict(scenes))

    def run(at: int) -> tuple[int, Measured | str]:
        case: Case = cases[at]
        try:
            return at, simulate(case, shared.value[case.scene])
        except Exception as fault:
            return at, f"{case}: {type(fault).__name__}: {fault}"

    with _watching(context, len(cases), say):
        done = dict(context.parallelize(ordered, len(ordered)).map(run).collect())
    shared.unpersist()
    found = [done[at] for at in range(len(cases))]
    return [one for one in found if isinstance(one, Measured)], [one for one in found if isinstance(one, str)]


def _cost(case: Case, scene: Scene) -> float:
    size = len(scene.network.nodes) * case.subscriptions * len(scene.recorded.readings.time)
    return size * _SLOW.get(case.approach, 1.0) * (2.0 if case.faults else 1.0)


@contextmanager
def _watching(context: Any, total: int, say: Say) -> Iterator[None]:
    """Say how many simulations are done: whenever it is more, but not all the time."""
    over, tracker, start = Event(), context.statusTracker(), time.monotonic()

    def watch() -> None:
        told, last = 0, start
        while not over.wait(WATCH_EVERY_S):
            with suppress(Exception):  # a run is not to end because nobody knows how far it is
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                done = max(
                    (stage.numCompletedTasks for stage in stages if stage and stage.numTasks == total),
                    default=0,
                )
                now = time.monotonic()
                if done > told and (now - last >= SAY_EVERY_S or done * 10 // total > told * 10 // total):
                    told, last = done, now
                    say(f"{done} of {total} simulations done after {now - start:.0f} s")

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
    say(f"{total} of {total} simulations done after {time.monotonic() - start:.0f} s")
