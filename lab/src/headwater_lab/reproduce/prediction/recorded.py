"""Recorded readings: how many reports are saved while nearly every answer stays right?

Rule 1  Truth is what all readings say at each of their instants, and answers are compared with it there.
Rule 2  For each predictor tolerances are tried from small to large; between the last that reaches `TARGET_F` and the first that does
        not, it is looked more closely. The best is the largest that reaches it.
Rule 3  What has vanished is still predicted until its heartbeat runs out: that counts as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from headwater.kernels.suppress.choices import Predictor
from headwater.model import SECOND, Rows
from headwater_lab.bench.predict_kernel import PredictQuestion, Readings, Sending, seconds_of, send
from headwater_lab.reproduce.prediction.cases import (
    LAB_PAIRS,
    LAB_VALUES,
    TRAFFIC,
    UNLIMITED,
    Case,
    Measured,
)
from headwater_lab.reproduce.prediction.interval_answers import ask
from headwater_lab.reproduce.prediction.truth import Series, Truth, score, true_pairs, true_values
from headwater_lab.workloads.ingolstadt import TRAFFIC_FILE, read_traffic
from headwater_lab.workloads.intel_lab import EPOCH_US, LAB_FILE, read_lab

TARGET_F: Final = 0.99
CLOSER: Final = 3
NEAR_CAR_M: Final = 50.0
# Temperatures are whole hundredths of a degree. Bounds lie between them, so that nothing is exactly on a border.
NEAR_DEGREES: Final = 0.505
WARM_DEGREES: Final = 22.005

Parameters = Mapping[Predictor, tuple[float, ...]]

# Chosen by hand, by the number of updates alone.
_OF_TRAFFIC: Final[Parameters] = {
    Predictor.CONSTANT: (),
    Predictor.SLOPE: (),
    Predictor.LEAST_SQUARES: (3.0,),
    Predictor.DOUBLE_EXPONENTIAL: (0.9, 0.9),
    Predictor.KALMAN: (1.0, 0.01),
}
_OF_LAB: Final[Parameters] = {
    Predictor.CONSTANT: (),
    Predictor.SLOPE: (),
    Predictor.LEAST_SQUARES: (10.0,),
    Predictor.DOUBLE_EXPONENTIAL: (0.3, 0.05),
    Predictor.KALMAN: (1e-10, 1e-4),
}


@dataclass(frozen=True, slots=True)
class Record:
    """Readings, the question about them, the truth, and which tolerances and parameters to try."""

    readings: Readings
    sensors: int
    question: PredictQuestion
    truth: Truth
    heartbeat_us: int
    tolerances: Sequence[float]
    parameters: Parameters


def run_recorded(case: Case, folder: Path, *, instants: int | None = None) -> list[Measured]:
    """All rows of a task: a predictor, against the tolerance."""
    record = RECORDS[case.part](folder, instants)
    predictor = Predictor(case.predictor)
    rows: dict[float, Measured] = {}

    def reaches(tolerance: float) -> bool:
        sending = Sending(tolerance, record.heartbeat_us, predictor, record.parameters[predictor])
        rows[tolerance] = _measure(case, record, sending)
        return rows[tolerance].f >= TARGET_F

    good, bad = 0.0, 0.0
    for tolerance in record.tolerances:
        if reaches(tolerance):
            good = tolerance
        else:
            bad = tolerance
            break
    for _ in range(CLOSER if bad else 0):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if reaches(middle) else (good, middle)
    return [rows[tolerance] for tolerance in sorted(rows)]


def best(measured: Sequence[Measured]) -> Measured | None:
    """Of the rows of one case, the one with the fewest updates that reaches the required F."""
    return min((m for m in measured if m.f >= TARGET_F), key=lambda m: m.updates, default=None)


def present(folder: Path) -> list[str]:
    """The parts whose data is there."""
    found = [TRAFFIC] if (folder / TRAFFIC_FILE).is_file() else []
    return [*found, *((LAB_PAIRS, LAB_VALUES) if (folder / LAB_FILE).is_file() else ())]


def _measure(case: Case, record: Record, sending: Sending) -> Measured:
    sent = send(record.readings, sending)
    answers, answered = ask(sent, record.question)
    found = score(answers, record.truth)
    return Measured(
        part=case.part,
        objects=record.sensors,
        predictor=sending.name,
        tolerance=sending.tolerance,
        within_s=0,
        certainty="line",
        buffer=UNLIMITED,
        readings=len(record.readings),
        updates=sent.count,
        updates_per_s=sent.count / seconds_of(record.readings),
        sent=sent.count / len(record.readings),
        answers=answered.rows,
        true_pairs=record.truth.mean,
        precision=found.precision,
        recall=found.recall,
        f=found.f,
        f_now=found.f,
        precision_real=found.precision,
        recall_real=found.recall,
        f_real=found.f,
        given_up=0,
        kernel_s=answered.seconds,
    )


def _traffic(folder: Path, instants: int | None) -> Record:
    """Cars within 50 m of one another, by their distance."""
    rows = read_traffic(folder / TRAFFIC_FILE)
    readings, sensors = _readings(rows, "vehicle", ("x", "y"))
    times = np.unique(readings.at)[:instants]
    readings = _until(readings, int(times[-1]))
    series = Series.of(sensors, readings.key, readings.at, readings.values, hold_us=SECOND)
    truth = true_pairs(series, times, bound=NEAR_CAR_M, within_us=0, euclidean=True)
    question = PredictQuestion(NEAR_CAR_M, euclidean=True)
    tolerances = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0)
    return Record(readings, sensors, question, truth, 10 * SECOND, tolerances, _OF_TRAFFIC)


def _lab(folder: Path, instants: int | None, *, pairs: bool) -> Record:
    """Motes within half a degree of one another, or warmer than 22 degrees."""
    rows = read_lab(folder / LAB_FILE, epochs=instants)
    readings, sensors = _readings(rows, "mote", ("temperature",))
    times = np.unique(readings.at)
    series = Series.of(sensors, readings.key, readings.at, readings.values, hold_us=EPOCH_US)
    if pairs:
        truth, question = (
            true_pairs(series, times, bound=NEAR_DEGREES, within_us=0),
            PredictQuestion(NEAR_DEGREES),
        )
    else:
        truth = true_values(series, times, lambda values: values[:, 0] > WARM_DEGREES)
        question = PredictQuestion(WARM_DEGREES, above=True)
    tolerances = (0.005, 0.015, 0.025, 0.035, 0.055, 0.085, 0.125, 0.205, 0.305, 0.505, 0.805)
    return Record(readings, sensors, question, truth, 1_800 * SECOND, tolerances, _OF_LAB)


RECORDS: Final[Mapping[str, Callable[[Path, int | None], Record]]] = {
    TRAFFIC: _traffic,
    LAB_PAIRS: lambda folder, instants: _lab(folder, instants, pairs=True),
    LAB_VALUES: lambda folder, instants: _lab(folder, instants, pairs=False),
}


def _readings(rows: Rows, key: str, dimensions: tuple[str, ...]) -> tuple[Readings, int]:
    """With sensors numbered 0, 1, … in the order of their keys."""
    names, number = np.unique(rows[key].values, return_inverse=True)
    values = np.column_stack([rows[name].values for name in dimensions])
    return Readings(dimensions, number.astype(np.int64), rows["at"].values, values), len(names)


def _until(readings: Readings, last: int) -> Readings:
    selected = readings.at <= last
    return Readings(
        readings.dimensions, readings.key[selected], readings.at[selected], readings.values[selected]
    )
