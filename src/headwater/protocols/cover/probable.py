"""Is a box covered by the union of others, but for an error of δ? Spot checks: points drawn from the box, looked for in the rows.

Rule 1  Rows that cannot matter are dropped first; none left: not covered (`reduction.py`).
Rule 2  A point in no row left is proof: "not covered" is always right. "Covered" may be wrong, and then readings are lost.
Rule 3  If a gap takes no less than ρ of the box, d = ln δ / ln(1 − ρ) points all miss it with a probability of at most δ.
Rule 4  `estimate="sound"`: ρ is a lower bound. A gap holds a witness, a box with one bound from each row at most; so it is no
        smaller than the product, over the columns, of the smallest space between a bound of the box and a row (one row used), or
        between a row's high and another's low (two used), with no more rows used than there are. (The smallest cell of the grid of all
        bounds would do as well, and is never larger.) If that asks for more than `most_trials` points, the question is decided by cutting
        (`exact.py`), which has no error; over its budget: not covered.
Rule 5  `estimate="paper"`: ρ is the product of the smallest spaces between bounds of the box and rows, and at most `most_trials`
        points are drawn. Neither keeps the error below δ: it is here to be measured against the others.
Memory  One point at a time. Points depend on the seed and on nothing else.
Source  Ouksel, Jurca, Podnar, Aberer 2006 (RSPC); symbols: δ -> delta, ρ_w -> `gap_share`, d -> `trials_for`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from headwater.compiled import loop
from headwater.model.splitmix import GOLDEN, splitmix64
from headwater.protocols.cover.boxes import DECIDED, GREATEST, OPEN, Boxes, Question, Real, Verdict, ask
from headwater.protocols.cover.exact import BUDGET, subtract
from headwater.protocols.cover.reduction import Rows, reduce

MOST_TRIALS: Final = 10_000

Estimate = Literal["paper", "sound"]


@dataclass(frozen=True, slots=True)
class Probable:
    """Covered if no point that was drawn says otherwise."""

    delta: float
    estimate: Estimate = "sound"
    most_trials: int = MOST_TRIALS
    budget: int = BUDGET

    def covers(self, low: Real, high: Real, others: Boxes, *, seed: int = 0) -> Verdict:
        """The answer; the seed chooses the points."""
        question = ask(low, high, others)
        if question.state != OPEN:
            return DECIDED[question.state]
        question = minimised(question)
        if not len(question.lows):
            return Verdict(False, "conflict-free")
        trials = trials_for(gap_share(question, self.estimate), self.delta)
        if self.estimate == "sound" and trials > self.most_trials:
            return subtract(question, self.budget)
        if finds_gap(question, int(min(trials, self.most_trials)), seed):
            return Verdict(False, "gap")
        return Verdict(True, "trials")


def minimised(question: Question) -> Question:
    """An open question with the rows of its minimised cover set alone: the answer is the same."""
    rows = np.arange(len(question.lows), dtype=np.int32)
    count = reduce(
        question.low, question.up, question.lows, question.ups, rows, len(rows), np.empty_like(rows)
    )
    retained = rows[:count]
    return question._replace(lows=question.lows[retained], ups=question.ups[retained])


def gap_share(question: Question, estimate: Estimate) -> float:
    """The share of the box that a gap takes if there is one: at least (sound), or so the paper hopes."""
    low, up, lows, ups = question.low, question.up, question.lows, question.ups
    return float(
        _sound_share(low, up, lows, ups) if estimate == "sound" else _paper_share(low, up, lows, ups)
    )


def trials_for(share: float, delta: float) -> float:
    """How many points all miss a gap of this share with a probability of at most δ; infinite if the share is nothing."""
    if share >= 1.0:
        return 1.0
    return math.ceil(math.log(delta) / math.log1p(-share)) if share > 1e-300 else math.inf


def finds_gap(question: Question, trials: int, seed: int) -> bool:
    """Whether one of so many points lies in no row."""
    low, up, lows, ups = question.low, question.up, question.lows, question.ups
    return bool(_finds_gap(low, up, lows, ups, trials, np.uint64(seed & 0xFFFF_FFFF_FFFF_FFFF)))


@loop
def _paper_share(low: Real, up: Real, lows: Real, ups: Real) -> float:
    share = 1.0
    for j in range(len(low)):
        least = width = up[j] - low[j]
        for i in range(len(lows)):
            if lows[i, j] > low[j]:
                least = min(least, lows[i, j] - low[j])
            if ups[i, j] < up[j]:
                least = min(least, up[j] - ups[i, j])
        if least < width:
            share *= least / width
    return share


@loop
def _sound_share(low: Real, up: Real, lows: Real, ups: Real) -> float:
    """Rule 4: `least[r]` is the smallest product over the columns so far that uses up to r rows."""
    most = min(len(lows), 2 * len(low))
    least = np.ones(most + 1)
    for j in range(len(low)):
        one, two = _spaces(low[j], up[j], np.sort(lows[:, j]), np.sort(ups[:, j]))
        for r in range(most, 0, -1):
            least[r] = min(least[r], least[r - 1] * one)
            if r >= 2:
                least[r] = min(least[r], least[r - 2] * two)
    return least[most]


@loop
def _spaces(low: float, up: float, lows: Real, ups: Real) -> tuple[float, float]:
    """The smallest share of a column between an end of it and a row, and between a row and the next above; 1: there is none."""
    width = up - low
    # What a drawn point can be off by: a space must not be counted as larger than the draw makes it.
    slack = 4.0 * max(abs(np.nextafter(low, -np.inf) - low), abs(np.nextafter(up, np.inf) - up))
    one, two = width, width
    below = 0
    for n in range(len(lows)):
        while below < len(ups) and ups[below] < lows[n]:
            below += 1
        if lows[n] > low:
            one = min(one, lows[n] - low)
            if below > 0 and ups[below - 1] > low and lows[n] < up:
                two = min(two, lows[n] - ups[below - 1])
    for n in range(len(ups)):
        if ups[n] < up:
            one = min(one, up - ups[n])
    # An unbounded column has no shares: whatever cuts it leaves next to nothing of it.
    return max(0.0, one - slack) / width if one < width else 1.0, max(
        0.0, two - slack
    ) / width if two < width else 1.0


@loop
def _finds_gap(low: Real, up: Real, lows: Real, ups: Real, trials: int, seed: np.uint64) -> bool:
    columns = len(low)
    point = np.empty(columns)
    rows = np.arange(len(lows)).astype(np.int32)
    state = seed
    for _ in range(trials):
        for j in range(columns):
            state += GOLDEN
            u = _unit(state)
            # Two products, so that no width leaves the range of doubles.
            point[j] = min(
                max(low[j], (1.0 - u) * low[j] + u * min(up[j], GREATEST)), np.nextafter(up[j], -np.inf)
            )
        if not _held(point, lows, ups, rows):
            return True
    return False


@loop
def _held(point: Real, lows: Real, ups: Real, rows: Rows) -> bool:
    """Whether a row holds the point; that row is tested earlier next time."""
    for n in range(len(rows)):
        i = rows[n]
        inside = True
        for j in range(len(point)):
            if point[j] < lows[i, j] or point[j] >= ups[i, j]:
                inside = False
                break
        if inside:
            if n > 0:
                rows[n], rows[n // 2] = rows[n // 2], i
            return True
    return False


@loop(inline="always")
def _unit(state: np.uint64) -> float:
    """A number in [0, 1) from the state of the generator (SplitMix64)."""
    return float(splitmix64(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
