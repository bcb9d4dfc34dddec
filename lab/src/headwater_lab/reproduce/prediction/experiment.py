"""Lines instead of readings: how right are the answers, how much is sent, and what does a small buffer lose?

The paper (section 6 of "A Query Processor for Prediction-Based Monitoring of Data Streams") has objects move in 10 km² and finds
the pairs within 400 m of one another, in x and in y, within 3 s. Sensors send lines when they are off by 25 m, or after 30 s.

Parts of the table: `objects` is its figures 5 and 6, accuracy against the number of objects with lines (SLOPE) and with last values
(CONSTANT), and besides with MAY and MUST; `buffers` is figure 7, 300 objects and a buffer of 325 updates against w, also with updates
that arrive late; `value constraint` is the time that a condition on both objects saves (section 6.1); `traffic`
and `lab` are recorded data, for which there are no published figures: how many reports are saved at an F of 0.99.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from headwater.hosts.spark.session import embedded_spark
from headwater.kernels.suppress.choices import Predictor
from headwater.model import SECOND
from headwater_lab.reproduce.outcome import Outcome, Say
from headwater_lab.reproduce.prediction.cases import (
    BUFFERS,
    COLUMNS,
    CONSTRAINT,
    DELAYED,
    LAB_PAIRS,
    LAB_VALUES,
    LEFT_OUT,
    OBJECTS,
    RECORDED,
    TRAFFIC,
    Case,
    Measured,
)
from headwater_lab.reproduce.prediction.claims import claims
from headwater_lab.reproduce.prediction.constraints import run_constraints
from headwater_lab.reproduce.prediction.delays import MEAN_DELAY_US, MOST_DELAY_US
from headwater_lab.reproduce.prediction.figures import panels
from headwater_lab.reproduce.prediction.objects import BUFFER, DELAYS, REAL_EVERY_US, run_objects
from headwater_lab.reproduce.prediction.recorded import present, run_recorded
from headwater_lab.reproduce.tasks import StoredRows, run_cases

BUFFER_OBJECTS: Final = 300


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run: numbers of objects, values of w, seconds, predictors, and instants of traffic and lab (None: all)."""

    objects: tuple[int, ...]
    withins_s: tuple[int, ...]
    seconds: int
    predictors: tuple[Predictor, ...]
    traffic: int | None
    lab: int | None
    constraint_objects: int = 1_000


SCALES: Final[Mapping[str, Scale]] = {
    "small": Scale((50, 150, 300), (1, 3, 10), 180, (Predictor.CONSTANT, Predictor.SLOPE), 300, 960),
    "paper": Scale(
        (50, 100, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1_000),
        tuple(range(1, 11)),
        180,
        tuple(Predictor),
        None,
        2_880,
    ),
}


def reproduce(scale: str, say: Say, progress: Path | None = None) -> Outcome:
    """The experiment at one of its scales; `progress`: a folder for rows that are measured.

    Recorded data is taken where the folder that HEADWATER_DATA names has it.
    """
    return measure(SCALES[scale], say, Path(os.environ.get("HEADWATER_DATA", "")), progress)


def measure(scale: Scale, say: Say, folder: Path, progress: Path | None = None) -> Outcome:
    """Every row, and what follows."""
    parts = present(folder)
    if missing := [part for part in RECORDED if part not in parts]:
        say(f"left out, because '{folder}' has no such data: {'; '.join(missing)}")
    cases = list(_cases(scale, parts))
    say(f"starting Spark for {len(cases)} cases")
    with embedded_spark(small=True) as spark:
        measured, failures = run_cases(
            spark.sparkContext,
            partial(run_case, scale=scale, folder=folder.absolute()),
            cases,
            _cost,
            say,
            StoredRows(progress, Measured, str(scale)) if progress else None,
        )
    return conclude(measured, failures, about=_about(scale, parts))


def _cost(case: Case) -> float:
    """Pairs of made-up objects; recorded ones take longest."""
    if case.part == OBJECTS:
        return float(case.objects**2)
    if case.part == CONSTRAINT:
        return float(case.objects**2 * 4)
    return float("inf") if case.part in RECORDED else float(case.objects**2 * (2 + case.within_s))


def run_case(case: Case, scale: Scale, folder: Path) -> list[Measured]:
    """One case, wherever it is run."""
    _get_ready()
    if case.part == CONSTRAINT:
        return run_constraints(case, seconds=scale.seconds)
    if case.part not in RECORDED:
        return run_objects(case, seconds=scale.seconds)
    return run_recorded(case, folder, instants=scale.traffic if case.part == TRAFFIC else scale.lab)


@lru_cache(maxsize=1)
def _get_ready() -> None:
    """Load compiled code, once in a process: the first case is not to be charged for it."""
    for part in (OBJECTS, BUFFERS, DELAYED):
        run_objects(Case(part, 20), seconds=5)
    run_constraints(Case(CONSTRAINT, 20), seconds=5)


def conclude(measured: Sequence[Measured], failures: Sequence[str], *, about: Sequence[str]) -> Outcome:
    """Rows, figures and claims; where cases failed the claims are left out."""
    silent = [
        f"{m.part}, {m.objects:,} sensors, {m.predictor}: there are no answers"
        for m in measured
        if not m.answers
    ]
    return Outcome(
        COLUMNS,
        [m.cells() for m in measured],
        list(panels(measured)),
        claims(measured) if not (failures or silent) else [],
        [*failures, *silent],
        about,
    )


def _cases(scale: Scale, parts: Sequence[str]) -> Iterator[Case]:
    for objects in scale.objects:
        yield Case(OBJECTS, objects)
    yield Case(CONSTRAINT, scale.constraint_objects)
    for part in (BUFFERS, DELAYED, LEFT_OUT):
        for within_s in scale.withins_s:
            yield Case(part, BUFFER_OBJECTS, within_s)
    for part in parts:
        for predictor in scale.predictors:
            yield Case(part, predictor=predictor.value)


def _about(scale: Scale, parts: Sequence[str]) -> list[str]:
    """How it was measured, for the page."""
    recorded = (
        "Recorded data: "
        + "; ".join(
            {
                TRAFFIC: "positions of vehicles in Ingolstadt every second, pairs within 50 m by distance, w = 0, T = 10 s",
                LAB_PAIRS: "temperatures of a laboratory every 30 s, pairs within half a degree (0.505: values are whole hundredths), w = 0, T = 30 minutes",
                LAB_VALUES: "the same, motes above 22 degrees (22.005)",
            }[part]
            for part in parts
        )
        + ". Truth is all readings, at their instants."
        if parts
        else "Recorded data was not there."
    )
    return [
        f"Objects: 26.8 m/s in a square of 10 km², reflected at its borders, a new direction with probability 0.5 every 10 s, a sample every 3 s; "
        f"{scale.seconds} s; objects neither turn nor measure at the same moments. Tolerance 25 m, T = 30 s, K = 400 m in x and y, w = 3 s. "
        f"Buffers: {BUFFER_OBJECTS} objects, {BUFFER} updates, a sample every second, a new direction with probability 0.75 every 5 s.",
        "Accuracy: at every second, precision, recall and F of the pairs answered (an answer's interval covers the second) and their means. Truth is the "
        "query's own definition: a pair is true at t if one is within K of where the other was in [t − w, t]. It is applied to the last samples (as the "
        "paper's ideal answer, of which it says no more than that last samples are considered), and to real positions, looked at every "
        f"{REAL_EVERY_US / SECOND:g} s (`…_real`). `f_now` is against last samples at the instant alone, without w.",
        "Without predictions: an update holds its value, and comes when the value is more than 25 m from the last one sent. The paper's buffer "
        "experiment varies w without saying how far; here 1 to 10 s.",
        f"Delays: exponential with a mean of {MEAN_DELAY_US / SECOND:g} s, at most {MOST_DELAY_US / SECOND:g} s. In '{DELAYED}' LATE is "
        f"{DELAYS[DELAYED].late_s} s, and every update is waited for; in '{LEFT_OUT}' it is {DELAYS[LEFT_OUT].late_s} s, and those that come later are left out.",
        f"Value constraint: {scale.constraint_objects:,} objects, both of a pair in the eastern half or quarter of the area; the paper does not say which "
        "constraint it has. The best time of three.",
        recorded,
        "Time: kernel_s is the processor's time of the PREDICT kernel on one core, without the sensors' part.",
    ]
