"""Which pairs are true at an instant, and how much of it was answered? Worked out from what was measured, without lines and kernels.

Rule 1  The query's own definition, with values instead of lines: a pair is true at t iff one of the two is within the bound of
        what the other was at an instant of [t - w, t], whichever of the two that is.
Rule 2  A value holds from its sample to the next one of its sensor, and no longer than `hold_us`.
Rule 3  At each instant precision is the share of the answers that is true, recall the share of what is true that was answered, F their
        harmonic mean; where nothing was answered (or is true), precision (or recall) is 1. A score is the mean over the instants.

Memory  A number for every pair that is true at an instant, and one for every pair that can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Series:
    """Values of sensors 0 to `count` - 1, sensor after sensor, each in order of time: `key[m]`, `at[m]`, `values[m, d]`."""

    count: int
    key: Numbers
    at: Numbers
    values: Floats
    hold_us: int

    @classmethod
    def of(cls, count: int, key: Numbers, at: Numbers, values: Floats, *, hold_us: int) -> Series:
        """From samples in order of time."""
        order = np.argsort(key, kind="stable")
        return cls(count, key[order], at[order], np.ascontiguousarray(values[order]), hold_us)

    def around(self, instant: int, within_us: int) -> tuple[Numbers, Numbers, Mask]:
        """For every sensor the first and the last sample that hold somewhere in [t - w, t], and whether the last holds at t.

        If none does, the first comes after the last.
        """
        last = self._last(instant)
        first = self._last(instant - within_us)
        begins = np.searchsorted(self.key, np.arange(self.count))
        gone = (first < begins) | (self.at[np.maximum(first, 0)] + self.hold_us <= instant - within_us)
        now = (last >= begins) & (self.at[np.maximum(last, 0)] + self.hold_us > instant)
        return np.where(gone, np.maximum(first + 1, begins), first), last, now

    def _last(self, instant: int) -> Numbers:
        """The last sample of every sensor up to an instant; before its first one: less than that."""
        since = int(self.at.min())
        width = int(self.at.max()) - since + 2
        moment = min(max(instant - since, -1), width - 2)
        return (
            np.searchsorted(
                self.key * width + (self.at - since), np.arange(self.count) * width + moment, "right"
            )
            - 1
        )


@dataclass(frozen=True, slots=True)
class Truth:
    """At each of the instants, the numbers of what is true: of pairs `smaller * count + greater`, of single sensors their own."""

    instants: Numbers
    count: int
    true: Sequence[Numbers]

    @property
    def mean(self) -> float:
        """How many are true, on average."""
        return float(np.mean([len(true) for true in self.true]))


@dataclass(frozen=True, slots=True)
class AnswerIntervals:
    """What was answered: sensors (a pair's smaller one in `left`; of single ones `left` is 0) and intervals [begins, ends)."""

    left: Numbers
    right: Numbers
    begins: Numbers
    ends: Numbers

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def joined(cls, parts: Iterable[AnswerIntervals]) -> AnswerIntervals:
        """Several as one."""
        listed, none = list(parts), np.empty(0, np.int64)
        fields = ("left", "right", "begins", "ends")
        return cls(*(np.concatenate([none, *(getattr(part, name) for part in listed)]) for name in fields))


@dataclass(frozen=True, slots=True)
class Score:
    """Means over the instants."""

    precision: float
    recall: float
    f: float


def true_pairs(
    series: Series, instants: Numbers, *, bound: float, within_us: int, euclidean: bool = False
) -> Truth:
    """The pairs within `bound` of one another: in every dimension, or by their distance."""
    near = np.zeros((series.count, series.count), np.bool_)

    def at(instant: int) -> Numbers:
        first, last, now = series.around(instant, within_us)
        _mark_near(series.values, first, last, now, bound, euclidean, near)
        return np.flatnonzero(near)

    return _at_all(instants, series.count, at)


def true_values(series: Series, instants: Numbers, holds: Callable[[Floats], Mask]) -> Truth:
    """The sensors whose values satisfy a condition."""

    def at(instant: int) -> Numbers:
        _, last, now = series.around(instant, 0)
        sensors = np.flatnonzero(now)
        return sensors[holds(series.values[last[sensors]])]

    return _at_all(instants, series.count, at)


def score(answers: AnswerIntervals, truth: Truth) -> Score:
    """How much of what was answered is true, and how much of what is true was answered."""
    start = np.searchsorted(truth.instants, answers.begins)
    stop = np.maximum(np.searchsorted(truth.instants, answers.ends), start)
    begun, ended = np.argsort(start, kind="stable"), np.argsort(stop, kind="stable")
    begins_at = np.searchsorted(start[begun], np.arange(len(truth.instants) + 1))
    ends_at = np.searchsorted(stop[ended], np.arange(len(truth.instants) + 1))
    number = answers.left * truth.count + answers.right
    standing = np.zeros(truth.count * truth.count, np.int32)
    scores = np.empty((len(truth.instants), 3))
    for at, true in enumerate(truth.true):
        np.add.at(standing, number[begun[begins_at[at] : begins_at[at + 1]]], 1)
        np.subtract.at(standing, number[ended[ends_at[at] : ends_at[at + 1]]], 1)
        scores[at] = _scored(
            int(np.count_nonzero(standing)), len(true), int(np.count_nonzero(standing[true]))
        )
    return Score(*scores.mean(axis=0).tolist())


def _at_all(instants: Numbers, count: int, at: Callable[[int], Numbers]) -> Truth:
    return Truth(instants, count, [at(instant).astype(np.int32) for instant in instants.tolist()])


def _scored(answers: int, true: int, both: int) -> tuple[float, float, float]:
    precision = both / answers if answers else 1.0
    recall = both / true if true else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if both or not true else 0.0


@loop
def _mark_near(
    values: Floats, first: Numbers, last: Numbers, now: Mask, bound: float, euclidean: bool, near: Mask
) -> None:
    """`near[i, j]`, i < j: by Rule 1. Boxes around the values of each sensor leave most pairs out."""
    count, dimensions = len(first), values.shape[1]
    low, high = np.full((count, dimensions), np.inf), np.full((count, dimensions), -np.inf)
    for sensor in range(count):
        for sample in range(first[sensor], last[sensor] + 1):
            for place in range(dimensions):
                low[sensor, place] = min(low[sensor, place], values[sample, place])
                high[sensor, place] = max(high[sensor, place], values[sample, place])
    for left in range(count):
        for right in range(left + 1, count):
            meet = True
            for place in range(dimensions):
                if (
                    low[left, place] - high[right, place] > bound
                    or low[right, place] - high[left, place] > bound
                ):
                    meet = False
            near[left, right] = meet and (
                (now[left] and _any_near(values, last[left], first[right], last[right], bound, euclidean))
                or (now[right] and _any_near(values, last[right], first[left], last[left], bound, euclidean))
            )


@loop
def _any_near(values: Floats, one: int, first: int, last: int, bound: float, euclidean: bool) -> bool:
    """Whether a value is near one of those from the first to the last."""
    for other in range(first, last + 1):
        most, squares = 0.0, 0.0
        for place in range(values.shape[1]):
            apart = abs(values[one, place] - values[other, place])
            most = max(most, apart)
            squares += apart * apart
        if (squares <= bound * bound) if euclidean else (most <= bound):
            return True
    return False
