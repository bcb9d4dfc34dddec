"""The no-op ceiling: the same rows from the same files by the same routing through the same stages, and nothing done with them.

What is left is reading, checking, routing, packing, Spark, putting rows in order and saving the queue. No kernel can be
faster than one that does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from headwater.model import END, Instant, Rows, Saved, Step
from headwater.query.planning.groups import Group
from headwater.query.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class IdleKernel:
    """Takes rows and answers nothing; its state is how far time has come."""

    def start(self, since: Instant) -> Instant:
        """No row seen."""
        return since

    def step(self, state: Instant, rows: Rows, watermark: Instant) -> Step[Instant]:
        """Let time pass."""
        return Step(max(state, watermark), (), watermark)

    def save(self, state: Instant) -> Saved:
        """The time alone."""
        return Saved({"time": state})

    def load(self, saved: Saved, since: Instant) -> Instant:
        """The time that was saved."""
        return int(saved.values["time"])

    def next_due(self, state: Instant) -> Instant:
        """Nothing happens."""
        return END

    def is_blank(self, state: Instant) -> bool:
        """Nothing is known."""
        return True


class IdlePlan(Plan):
    """A plan like another one in everything but its kernels."""

    def groups(self, zone: int) -> tuple[Group, ...]:
        """The groups of the other plan, each with a kernel that does nothing."""
        return tuple(replace(group, kernel=IdleKernel(), reads_stores=()) for group in super().groups(zone))

    def __reduce__(self) -> tuple[Any, ...]:
        restore, arguments = super().__reduce__()
        return _restored, (restore, *arguments)


def idle(plan: Plan) -> IdlePlan:
    """The plan with kernels that do nothing."""
    return IdlePlan(plan.text, plan.streams, plan.queries, plan.projections, plan.zones)


@lru_cache(maxsize=8)
def _restored(restore: Callable[[bytes], Plan], packed: bytes) -> IdlePlan:
    """One object in a process however many tasks are sent it, as for any plan."""
    return idle(restore(packed))
