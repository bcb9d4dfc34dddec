"""What does a value constraint beside a join save? The paper's 1,000 objects, of which only those in a part of the area count.

The paper (section 6.1) names neither the constraint nor how many objects satisfy it. Here both objects of a pair must be in the eastern half,
or in the eastern quarter, of the area. Truth is by last samples: pairs that are near by the query's definition, of objects whose last
samples are both in that part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from headwater.model import SECOND
from headwater_lab.bench.predict_kernel import PredictQuestion, Readings, send
from headwater_lab.reproduce.prediction.cases import (
    CONSTRAINT,
    UNCONSTRAINED,
    UNCONSTRAINED_GENERAL,
    UNLIMITED,
    Case,
    Measured,
)
from headwater_lab.reproduce.prediction.interval_answers import ask
from headwater_lab.reproduce.prediction.objects import NEAR_M, SAMPLE_US, SEED, WITH, per_second
from headwater_lab.reproduce.prediction.truth import Series, Truth, score, true_pairs
from headwater_lab.workloads.moving_objects import PAPER_SIDE_M, START, make_movers

PARTS: Final = (0.5, 0.25)
"""Of the area, at its eastern end."""

ENOUGH: Final = 1_000_000
"""A buffer that is never full. A query with a buffer is answered by the general search, pair by pair, as one with value constraints is."""

TRIES: Final = 3


def run_constraints(case: Case, *, seconds: int) -> list[Measured]:
    """Without a constraint, and with each: the best time of a few."""
    movers = make_movers(case.objects, seconds + 1, seed=SEED)
    samples = movers.samples(SAMPLE_US)
    readings = Readings(("x", "y"), samples.key, samples.at, samples.place)
    sent = send(readings, WITH)
    held = Series.of(len(movers), readings.key, readings.at, readings.values, hold_us=SAMPLE_US)
    within_us = case.within_s * SECOND
    instants = START + np.arange(1, seconds + 1) * SECOND
    near = true_pairs(held, instants, bound=NEAR_M, within_us=within_us)
    free = PredictQuestion(NEAR_M, within_us)
    questions = {UNCONSTRAINED: free, UNCONSTRAINED_GENERAL: replace(free, buffer=ENOUGH)}
    for part in PARTS:
        bound = PAPER_SIDE_M * (1 - part)
        questions[f"x > {bound:,.0f} m"] = replace(free, both_above=bound)
    rows = []
    for name, question in questions.items():
        truth = near if question.both_above is None else _both_above(near, held, question.both_above)
        answers, answered = min((ask(sent, question) for _ in range(TRIES)), key=lambda one: one[1].seconds)
        found = score(answers, truth)
        rows.append(
            Measured(
                part=CONSTRAINT,
                objects=case.objects,
                predictor=WITH.name,
                tolerance=WITH.tolerance,
                within_s=case.within_s,
                certainty="line",
                buffer=UNLIMITED,
                readings=len(readings),
                updates=sent.count,
                updates_per_s=per_second(sent, seconds),
                sent=sent.count / len(readings),
                answers=answered.rows,
                true_pairs=truth.mean,
                precision=found.precision,
                recall=found.recall,
                f=found.f,
                f_now=found.f,
                precision_real=found.precision,
                recall_real=found.recall,
                f_real=found.f,
                given_up=0,
                kernel_s=answered.seconds,
                constraint=name,
            )
        )
    return rows


def _both_above(near: Truth, held: Series, bound: float) -> Truth:
    """Of the pairs at each instant, those of which both have a last sample above the bound in the first dimension."""
    pairs = []
    for instant, numbers in zip(near.instants.tolist(), near.true, strict=True):
        _, last, now = held.around(instant, 0)
        above = now & (held.values[np.maximum(last, 0), 0] > bound)
        left, right = np.divmod(numbers, near.count)
        pairs.append(numbers[above[left] & above[right]])
    return Truth(near.instants, near.count, pairs)
