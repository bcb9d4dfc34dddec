"""The NEAREST kernel alone, on one core: first the windows are filled, then objects are counted.

The paper publishes 100,000 objects before it measures, so that every query has its threshold. RA tests each object for
each query and needs so long that its rate is taken from fewer objects.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from headwater.kernels.nearest.kernel import NearestKernel, NearestState
from headwater.kernels.nearest.query_sets import QuerySetState
from headwater.model import BEGINNING, Rows
from headwater_lab.bench.nearest_objects import SCHEMA, Floats, Numbers, Objects, batches
from headwater_lab.bench.nearest_questions import NearestQuestion
from headwater_lab.bench.nearest_truth import Enters, emitted, expected

STEP_OBJECTS: Final = 20_000
SAMPLE: Final = 5


@dataclass(frozen=True, slots=True)
class KernelRun:
    """The cost and the state of one run of the kernel.

    `candidates` are entries stored for a query, on average; `recent` are the objects of RAPF's buffer, which all queries share;
    `cells` are the cells of interest of a query, on average, 0 without an index; `tests` are queries that were tested
    for an object. `answers` are all that were emitted before `until`.
    """

    question: NearestQuestion
    queries: int
    objects: int
    seconds: float
    candidates: float
    recent: int
    cells: float
    tests: float
    state_bytes: int
    answers: Enters
    until: int

    @property
    def stored(self) -> float:
        """Objects stored for a query, its share of the recent ones among them."""
        return self.candidates + self.recent / self.queries

    @property
    def rate(self) -> float:
        """Objects a second of processor time."""
        return self.objects / self.seconds

    @property
    def cost_us(self) -> float:
        """Microseconds of processor time for an object."""
        return self.seconds / self.objects * 1e6


def run_kernel(
    question: NearestQuestion, points: Floats, objects: Objects, *, fill: int, tries: int = 2
) -> KernelRun:
    """Fill the windows with the first `fill` objects, then time the others: the best of some tries from there."""
    kernel = NearestKernel(SCHEMA, [question.query(points)], [])
    filling = list(batches(objects, range(0, fill, STEP_OBJECTS)))
    measured = list(batches(objects, range(fill, len(objects), STEP_OBJECTS)))
    full, _, first = _run(kernel, kernel.start(BEGINNING), filling)
    seconds: list[float] = []
    for _ in range(tries):
        begun = time.process_time()
        state, stored, later = _run(kernel, full, measured)
        seconds.append(time.process_time() - begun)
    before, after = kernel.work(full), kernel.work(state)
    count = sum(rows.count for rows in measured)
    return KernelRun(
        question,
        queries=len(points),
        objects=count,
        seconds=min(seconds),
        candidates=float(np.mean(stored)) / len(points),
        recent=sum(
            len(query_set.recent.seqs)
            for query_set in state.query_sets
            if isinstance(query_set, QuerySetState)
        ),
        cells=after["cells"] / len(points),
        tests=(after["tests"] - before["tests"]) / count,
        state_bytes=int(after["bytes"]),
        answers=emitted([*first, *later]),
        until=_watermark(measured[-1]),
    )


def wrong_points(run: KernelRun, points: Floats, objects: Objects, *, seed: int) -> list[int]:
    """Of a few points drawn at random, those whose answers are not what they must be."""
    chosen = sample(len(points), seed=seed)
    question = run.question
    must = expected(objects, points, chosen, k=question.k, window_us=question.window_us, limit=question.limit)
    return differing(must.before(run.until), run.answers, chosen)


def lost_share(run: KernelRun, points: Floats, objects: Objects, *, fill: int, seed: int) -> float | None:
    """Of the answers that a few points must get where nothing is dropped, the share that was not emitted; None: nothing may be lost.

    Only what follows once the windows are full counts, and while objects still come.
    """
    question = run.question
    if question.algorithm.exact:
        return None
    chosen = sample(len(points), seed=seed)
    must = expected(objects, points, chosen, k=question.k, window_us=question.window_us).before(run.until)
    return 1.0 - must.since(int(objects.at[fill])).share_in(run.answers)


def differing(must: Enters, answers: Enters, chosen: Sequence[int]) -> list[int]:
    """The points among the chosen ones that got other answers."""
    return [point for point in chosen if must.of([point]).digest() != answers.of([point]).digest()]


def sample(points: int, *, seed: int) -> list[int]:
    """A few points, the same for the same seed."""
    chosen: Numbers = np.random.default_rng(seed).choice(points, min(SAMPLE, points), replace=False)
    return sorted(chosen.tolist())


def _run(
    kernel: NearestKernel, state: NearestState, steps: Sequence[Rows]
) -> tuple[NearestState, list[int], list[Rows]]:
    """The state after some steps, how many entries there were after each, and the answers."""
    stored: list[int] = []
    blocks: list[Rows] = []
    for rows in steps:
        step = kernel.step(state, rows, _watermark(rows))
        state = step.state
        stored.append(int(kernel.work(state)["candidates"]))
        blocks += [answers.rows for answers in step.answers]
    return state, stored, blocks


def _watermark(rows: Rows) -> int:
    """Just after the last row."""
    return int(rows["at"].values[-1]) + 1
