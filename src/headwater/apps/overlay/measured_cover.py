"""How long does a cover decision take, and is it right? A cover wrapped in this one is measured."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headwater.protocols.cover import Boxes, Cover, Exact, Verdict

Real = NDArray[np.float64]


@dataclass(slots=True)
class Watched:
    """A cover, with a stopwatch; `truth` checks every yes of a cover that may err."""

    cover: Cover
    truth: Exact | None = None
    elapsed_us: list[float] = field(default_factory=list)
    covered: int = 0
    wrong: int = 0

    def covers(self, low: Real, high: Real, others: Boxes, *, seed: int) -> Verdict:
        """What the cover says."""
        start = time.perf_counter_ns()
        verdict = self.cover.covers(low, high, others, seed=seed)
        self.elapsed_us.append((time.perf_counter_ns() - start) / 1_000)
        if verdict.covered:
            self.covered += 1
            if self.truth is not None and self.truth.covers(low, high, others, seed=seed).why == "gap":
                self.wrong += 1
        return verdict
