"""Kernels that do what a host may do by `next_due`, `due_interests` and `is_blank`: step while nothing is due, and begin anew from blank states.

They stand around another kernel and answer as it does, if what it says about its states is true. What they assert is that steps in which
nothing is due emit nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from headwater.model import BEGINNING, Instant, Kernel, KernelByInterest, Rows, Saved, Step

LATE: Final[Instant] = 1 << 58
"""Later than all that a world has, but not the end of the input."""

Rests = Callable[[Kernel[Any], Any, Instant], bool]


def until_next_due(kernel: Kernel[Any], state: Any, until: Instant) -> bool:
    """Whether nothing is due for any key."""
    return until <= kernel.next_due(state)


def nobody_is_due(kernel: Kernel[Any], state: Any, until: Instant) -> bool:
    """Whether nothing is due for any interest."""
    assert isinstance(kernel, KernelByInterest)
    return not len(kernel.due_interests(state, until))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A state, and the watermark up to which it has been stepped."""

    state: Any
    watermark: Instant


class SteppedWhileNothingIsDue:
    """Before each step, steps without rows: to half of the time without rows, and to all of it, as far as nothing is due."""

    def __init__(self, kernel: Kernel[Any], time: str, rests: Rests = until_next_due) -> None:
        self.kernel = kernel
        self.time = time
        self.rests = rests
        self.steps = 0

    def start(self, since: Instant) -> Waiting:
        """The kernel's own."""
        return Waiting(self.kernel.start(since), BEGINNING)

    def step(self, waiting: Waiting, rows: Rows, watermark: Instant) -> Step[Waiting]:
        """The kernel's own, after others that emit nothing."""
        state, after = waiting.state, waiting.watermark
        first = int(rows[self.time].values[0]) if rows.count else LATE
        due = self.kernel.next_due(state) if self.rests is until_next_due else LATE
        quiet = min(first, watermark, due, LATE)
        for until in ((after + quiet) // 2 if after > BEGINNING else BEGINNING, quiet):
            if after < until and self.rests(self.kernel, state, until):
                idle = self.kernel.step(state, rows.take(slice(0, 0)), until)
                assert not idle.answers
                assert not any(idle.counts.values())
                state, after = idle.state, until
                self.steps += 1
        step = self.kernel.step(state, rows, watermark)
        return Step(Waiting(step.state, watermark), step.answers, step.complete_until, step.counts)

    def save(self, waiting: Waiting) -> Saved:
        """The kernel's own."""
        return self.kernel.save(waiting.state)

    def load(self, saved: Saved, since: Instant) -> Waiting:
        """The kernel's own. Nothing is known of its watermark, so that the first step is without others."""
        return Waiting(self.kernel.load(saved, since), LATE)

    def next_due(self, waiting: Waiting) -> Instant:
        """The kernel's own."""
        return self.kernel.next_due(waiting.state)

    def is_blank(self, waiting: Waiting) -> bool:
        """The kernel's own."""
        return self.kernel.is_blank(waiting.state)


class BegunAnewWhereBlank:
    """After each step, a state that is blank becomes the empty one."""

    def __init__(self, kernel: Kernel[Any]) -> None:
        self.kernel = kernel
        self.begun_anew = 0

    def start(self, since: Instant) -> Any:
        """The kernel's own."""
        return self.kernel.start(since)

    def step(self, state: Any, rows: Rows, watermark: Instant) -> Step[Any]:
        """The kernel's own, with the state of nobody where that is as good."""
        step = self.kernel.step(state, rows, watermark)
        if not self.kernel.is_blank(step.state):
            return step
        self.begun_anew += 1
        return Step(self.kernel.start(BEGINNING), step.answers, step.complete_until, step.counts)

    def save(self, state: Any) -> Saved:
        """The kernel's own."""
        return self.kernel.save(state)

    def load(self, saved: Saved, since: Instant) -> Any:
        """The kernel's own."""
        return self.kernel.load(saved, since)

    def next_due(self, state: Any) -> Instant:
        """The kernel's own."""
        return self.kernel.next_due(state)

    def is_blank(self, state: Any) -> bool:
        """The kernel's own."""
        return self.kernel.is_blank(state)
