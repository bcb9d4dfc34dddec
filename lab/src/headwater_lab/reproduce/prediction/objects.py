"""The paper's moving objects: what is answered with predictions, without them, and with a buffer that is too small.

Truth is worked out three times, at every second: from the last samples by the query's definition, w included; from the last samples at
that instant alone, without w (the paper says no more than that last samples are considered); and from where objects really are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from headwater.kernels.predict.choices import Certainty
from headwater.kernels.suppress.choices import Predictor
from headwater.model import SECOND
from headwater_lab.bench.predict_kernel import PredictQuestion, Readings, Sending, Sent, send
from headwater_lab.reproduce.prediction.cases import (
    DELAYED,
    LEFT_OUT,
    OBJECTS,
    POLICIES,
    UNLIMITED,
    Case,
    Measured,
)
from headwater_lab.reproduce.prediction.delays import Delays, ask_late
from headwater_lab.reproduce.prediction.interval_answers import ask
from headwater_lab.reproduce.prediction.truth import Series, score, true_pairs
from headwater_lab.workloads.moving_objects import START, Motion, Movers, make_movers

SEED: Final = 7
SECONDS: Final = 180
NEAR_M: Final = 400.0
TOLERANCE_M: Final = 25.0
HEARTBEAT_US: Final = 30 * SECOND
SAMPLE_US: Final = 3 * SECOND
BUFFER: Final = 325
BUFFER_SAMPLE_US: Final = SECOND
BUFFER_MOTION: Final = Motion(turn_every_us=5 * SECOND, turn_probability=0.75)
REAL_EVERY_US: Final = SECOND // 10
"""How finely real positions are sampled: in a tenth of a second an object moves less than 3 m."""

DELAYS: Final = {DELAYED: Delays(late_s=10), LEFT_OUT: Delays(late_s=2)}
"""LATE covers every delay, or leaves some updates out."""

WITH: Final = Sending(TOLERANCE_M, HEARTBEAT_US, Predictor.SLOPE)
WITHOUT: Final = Sending(TOLERANCE_M, HEARTBEAT_US, Predictor.CONSTANT)


def run_objects(case: Case, *, seconds: int = SECONDS) -> list[Measured]:
    """All rows of a task."""
    limited = case.part != OBJECTS
    motion, every_us = (BUFFER_MOTION, BUFFER_SAMPLE_US) if limited else (Motion(), SAMPLE_US)
    movers = make_movers(case.objects, seconds + 1, seed=SEED, motion=motion)
    samples = movers.samples(every_us)
    readings = Readings(("x", "y"), samples.key, samples.at, samples.place)
    judge = _judge(case, movers, readings, every_us, seconds)
    within_us = case.within_s * SECOND
    rows = []
    if limited:
        sent = send(readings, WITH)
        rows.append(judge(WITH, sent, PredictQuestion(NEAR_M, within_us)))
        for policy in POLICIES.values():
            rows.append(judge(WITH, sent, PredictQuestion(NEAR_M, within_us, buffer=BUFFER, give_up=policy)))
        return rows
    for sending, certainties in (
        (WITH, (Certainty.LINE, Certainty.MAY, Certainty.MUST)),
        (WITHOUT, (Certainty.LINE,)),
    ):
        sent = send(readings, sending)
        for certainty in certainties:
            rows.append(judge(sending, sent, PredictQuestion(NEAR_M, within_us, certainty=certainty)))
    return rows


def _judge(
    case: Case, movers: Movers, readings: Readings, every_us: int, seconds: int
) -> Callable[[Sending, Sent, PredictQuestion], Measured]:
    """What answers one question and compares with all truths."""
    instants = START + np.arange(1, seconds + 1) * SECOND
    held = Series.of(len(movers), readings.key, readings.at, readings.values, hold_us=every_us)
    within_us = case.within_s * SECOND
    truth = true_pairs(held, instants, bound=NEAR_M, within_us=within_us)
    now = true_pairs(held, instants, bound=NEAR_M, within_us=0)
    real = true_pairs(_really(movers, seconds, within_us), instants, bound=NEAR_M, within_us=within_us)

    def judge(sending: Sending, sent: Sent, question: PredictQuestion) -> Measured:
        if case.part in DELAYS:
            answers, answered, late = ask_late(sent, question, DELAYS[case.part])
        else:
            (answers, answered), late = ask(sent, question), 0
        by_samples, by_now, by_real = (score(answers, one) for one in (truth, now, real))
        named = {policy: name for name, policy in POLICIES.items()}
        return Measured(
            part=case.part,
            objects=case.objects,
            predictor=sending.name,
            tolerance=sending.tolerance,
            within_s=case.within_s,
            certainty=question.certainty.name.lower(),
            buffer=UNLIMITED if question.buffer is None else named[question.give_up],
            readings=len(readings),
            updates=sent.count - late,
            updates_per_s=per_second(sent, seconds),
            sent=sent.count / len(readings),
            answers=answered.rows,
            true_pairs=truth.mean,
            precision=by_samples.precision,
            recall=by_samples.recall,
            f=by_samples.f,
            f_now=by_now.f,
            precision_real=by_real.precision,
            recall_real=by_real.recall,
            f_real=by_real.f,
            given_up=answered.counts.get("updates_given_up:near", 0),
            kernel_s=answered.seconds,
        )

    return judge


def per_second(sent: Sent, seconds: int) -> float:
    """Updates a second of those from time 0 on: before, every object sends its first."""
    return int(np.count_nonzero(sent.rows["event_time"].values >= START)) / (seconds + 1)


def _really(movers: Movers, seconds: int, within_us: int) -> Series:
    """Where objects really are, step by step, from w before time 0 on."""
    steps = (
        START
        + np.arange(-(within_us // REAL_EVERY_US), seconds * SECOND // REAL_EVERY_US + 1) * REAL_EVERY_US
    )
    places = np.stack([movers.places(int(at)) for at in steps], axis=1)
    key = np.repeat(np.arange(len(movers)), len(steps))
    at = np.tile(steps, len(movers))
    return Series.of(len(movers), key, at, places.reshape(-1, 2), hold_us=REAL_EVERY_US)
