"""Was what a world did right? Seen from outside: what users got, what links carried, whether it came to rest.

An answer is identified by (query, match_id) unless the columns that matter are named. Nothing here asks a node anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

from headwater.drivers.simulator.links import Carried
from headwater.drivers.simulator.world import World
from headwater.model import Deliver, Instant, LimitReached, NodeId

ANSWER = ("query", "match_id")


@dataclass(frozen=True, slots=True)
class Judgement:
    """Answers that came more than once, that should not have come, that did not come; `recall` of those expected."""

    twice: tuple[Hashable, ...]
    wrong: tuple[Hashable, ...]
    missed: tuple[Hashable, ...]
    recall: float

    @property
    def right(self) -> bool:
        """Everything, once, and nothing else."""
        return not (self.twice or self.wrong or self.missed)


def judge(came: Iterable[Hashable], expected: Collection[Hashable]) -> Judgement:
    """What came against what an oracle says should; both in any order, and listed in the order they came or were expected."""
    times, expected_once = Counter(came), dict.fromkeys(expected)
    missed = tuple(answer for answer in expected_once if answer not in times)
    return Judgement(
        twice=tuple(answer for answer, count in times.items() if count > 1),
        wrong=tuple(answer for answer in times if answer not in expected_once),
        missed=missed,
        recall=1.0 - len(missed) / len(expected_once) if expected_once else 1.0,
    )


def answers(
    delivered: Iterable[tuple[Instant, NodeId, Deliver]], columns: Sequence[str] = ANSWER
) -> list[tuple[Hashable, ...]]:
    """What users got, one tuple a row, in the order of delivery; the node it was delivered at comes first."""
    found: list[tuple[Hashable, ...]] = []
    for _, node, effect in delivered:
        rows = effect.answers.rows
        values = [rows.columns[name].tolist() for name in columns]
        found += [(node, *row) for row in zip(*values, strict=True)]
    return found


def load(world: World) -> Carried:
    """All links together, both ways."""
    carried = world.carried.values()
    return Carried(
        frames=sum(one.frames for one in carried),
        bytes=sum(one.bytes for one in carried),
        lost=sum(one.lost for one in carried),
    )


def settles(world: World, *, most_steps: int) -> bool:
    """Run on: whether the world comes to rest within so many steps."""
    try:
        world.run(most_steps=most_steps)
    except LimitReached:
        return False
    return world.quiet
