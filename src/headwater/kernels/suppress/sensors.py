"""Which samples must a sensor send? One loop over the samples of many sensors, in the order of the stream.

Rule 1  A sensor sends its first sample; a sample farther than the tolerance from the line it sent last, in Euclidean distance; and
        a sample that comes when a heartbeat or more has passed since then. If both hold, the reason is the tolerance.
Rule 2  The line goes through the sample it is sent with; its predictor has seen that sample, and all before it.
Rule 3  A sensor without a sample for longer than FORGET is forgotten: its next sample is a first one, also to its predictor.
Rule 4  A receiver of the lines knows every sample up to the tolerance: a sample that is not sent is within it.

Memory  Two rows a sensor: whole numbers (when it sent, when it was read, the predictor's counters), and real numbers (the line:
        a value and a slope a dimension; the predictor's values). They stay until FORGET is over; without it for as long as the query
        does, also when the heartbeat is over: the next sample is sent then in any case, but its reason, and the slope
        of most predictors, still depend on earlier samples.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.suppress.choices import Predictor, memory_of
from headwater.kernels.suppress.predictors import (
    CODES,
    LEAST_SQUARES,
    LOOP,
    RING,
    SEEN_AT,
    SENT_AT,
    STAGE,
    Real,
    Rules,
    Sensors,
    Whole,
    fit,
    learn,
)
from headwater.model import END

FIRST, TOLERANCE, HEARTBEAT = range(3)
REASONS: Final = np.array(["first", "tolerance", "heartbeat"], object)

NEVER: Final = np.iinfo(np.int64).min


class Sent(NamedTuple):
    """Which samples were sent, by their index; why; and with which slopes, float64[n, d]."""

    place: Whole
    reason: NDArray[np.int8]
    slopes: Real


def rules_for(
    tolerance: float,
    heartbeat_us: int,
    predictor: Predictor,
    parameters: tuple[float, ...],
    forget_us: int | None = None,
) -> Rules:
    """The rules in the form that the loop takes; no FORGET is the same as one longer than all time."""
    first, second = (*parameters, 0.0, 0.0)[:2]
    forget = END - 1 if forget_us is None else int(forget_us)
    return Rules(float(tolerance), int(heartbeat_us), forget, CODES[predictor], float(first), float(second))


def no_sensors(predictor: Predictor, dimensions: int, parameters: tuple[float, ...]) -> Sensors:
    """A table without rows."""
    ring, memory = memory_of(predictor, dimensions, parameters)
    return Sensors(np.zeros((0, RING + ring), np.int64), np.zeros((0, 2 * dimensions + memory)))


def sensors_at(known: Sensors, place: Whole) -> Sensors:
    """A table of its own: each row is a copy of the known one at its place, or, at -1, a sensor without a sample."""
    whole = np.zeros((len(place), known.whole.shape[1]), np.int64)
    real = np.zeros((len(place), known.real.shape[1]))
    whole[:, SENT_AT] = NEVER
    there = np.flatnonzero(place >= 0)
    whole[there], real[there] = known.whole[place[there]], known.real[place[there]]
    return Sensors(whole, real)


def send(
    rules: Rules, sensors: Sensors, slots: Whole, times: Whole, values: Real, gaps: Real | None = None
) -> Sent:
    """Pass samples to their sensors, whose table is changed; `values` is float64[n, d].

    `gaps` is filled with the distance of each sample from the line that is valid after it: 0 if it was sent.
    """
    count, dimensions = values.shape
    sent = Sent(np.empty(count, np.int64), np.empty(count, np.int8), np.empty((count + 1, dimensions)))
    left = np.empty(0) if gaps is None else gaps
    many = _watch(rules, sensors, slots, times, values, sent, left)
    return Sent(sent.place[:many].copy(), sent.reason[:many].copy(), sent.slopes[:many].copy())


@loop(**LOOP)
def _watch(
    rules: Rules,
    sensors: Sensors,
    slots: Whole,
    times: Whole,
    values: Real,
    sent: Sent,
    gaps: Real,
) -> int:
    """How many samples are sent; their indices are written into `sent`."""
    whole, real = sensors.whole, sensors.real
    place, reason, slopes = sent
    count, dimensions = values.shape
    many = 0
    for row in range(count):
        slot, time = slots[row], times[row]
        if whole[slot, SENT_AT] != NEVER and time - whole[slot, SEEN_AT] > rules.forget_us:
            whole[slot, SENT_AT], whole[slot, STAGE] = NEVER, 0
        learn(rules, sensors, slot, time, values, row, slopes, many)
        why, gap = FIRST, 0.0
        if whole[slot, SENT_AT] != NEVER:
            since = time - whole[slot, SENT_AT]
            for d in range(dimensions):
                line = real[slot, d] + real[slot, dimensions + d] * (since / 1e6)
                gap = math.hypot(gap, values[row, d] - line)
            # Written so that a line with NaN or infinity is sent again.
            if not gap <= rules.tolerance:
                why = TOLERANCE
            elif since >= rules.heartbeat_us:
                why = HEARTBEAT
            else:
                if len(gaps) > 0:
                    gaps[row] = gap
                continue
        if rules.predictor == LEAST_SQUARES:
            fit(whole, real, slot, slopes, many)
        for d in range(dimensions):
            real[slot, d], real[slot, dimensions + d] = values[row, d], slopes[many, d]
        whole[slot, SENT_AT] = time
        place[many], reason[many] = row, why
        many += 1
        if len(gaps) > 0:
            gaps[row] = 0.0
    return many
