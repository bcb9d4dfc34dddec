"""A PREDICT operator as its kernel sees it: checked, with every choice made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp


@dataclass(frozen=True, slots=True)
class Value:
    """A condition on one alias: the dimension's value compared with a bound."""

    alias: int
    dimension: int
    comparator: Comparator
    bound: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A condition on two aliases: the size of the difference of two dimensions compared with a bound, which is >= 0."""

    left: int
    left_dimension: int
    right: int
    right_dimension: int
    comparator: Comparator
    bound: float


@dataclass(frozen=True, slots=True)
class Distance:
    """A condition on two aliases: their Euclidean distance over all dimensions is at most the bound, or (`strict`) below it."""

    left: int
    right: int
    strict: bool
    bound: float


Condition = Value | Difference | Distance


def bounds_all_joins(conditions: Sequence[Condition]) -> bool:
    """Whether every two aliases that are compared have a bound on how far apart they may be: then only lines that are near matter."""
    bounded, joins = set(), set()
    for condition in conditions:
        if isinstance(condition, Value):
            continue
        pair = frozenset((condition.left, condition.right))
        joins.add(pair)
        if isinstance(condition, Distance) or condition.comparator in (
            Comparator.LESS_EQUAL,
            Comparator.LESS,
        ):
            bounded.add(pair)
    return bounded == joins


@dataclass(frozen=True, slots=True)
class Alias:
    """Where an alias finds its updates.

    `source` is the value of the column `source` in merged rows; None: the stream is not merged. `values` and `slopes` are
    the columns of its dimensions, the same for all aliases of one source; `tolerance` and `heartbeat` (seconds) name columns.
    """

    name: str
    source: int | None
    values: tuple[str, ...]
    slopes: tuple[str, ...]
    tolerance: str
    heartbeat: str


@dataclass(frozen=True, slots=True)
class PredictQuery:
    """One PREDICT operator: a condition on the updates of one alias, or joins of several.

    `where` is the index of its condition in the kernel's list. `within_us` is 0 for a condition on one alias; `p` belongs to
    PROBABILITY. `ahead_us` belongs to TENTATIVE, `every_us` to VALIDATED. `buffer` is the number of updates stored per stream
    (None: no bound), `seed` belongs to GIVE UP RANDOM. `polygon`: answers have their polygon. `share` is (zone, zones): this
    zone answers only the pairs whose reference tile belongs to it; None: all pairs. `reads` are the columns of answers that have a reader;
    None: all. Of the others, those that would cost something for every row are left out.
    """

    name: str
    fingerprint: str
    shape: int
    where: int | None
    aliases: tuple[Alias, ...]
    conditions: tuple[Value | Difference | Distance, ...]
    within_us: int
    certainty: Certainty
    p: float
    tentative: bool
    ahead_us: int | None
    every_us: int | None
    buffer: int | None
    give_up: GiveUp
    seed: int
    polygon: bool
    share: tuple[int, int] | None
    reads: frozenset[str] | None = None

    def is_read(self, column: str) -> bool:
        """Whether a column of the answers has a reader."""
        return self.reads is None or column in self.reads
