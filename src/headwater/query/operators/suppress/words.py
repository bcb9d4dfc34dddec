"""SUPPRESS in words, for people who read plans: what is sent, and what it keeps."""

from __future__ import annotations

from typing import Final

from headwater.kernels.suppress.choices import Predictor, memory_of
from headwater.query.language.words import duration_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.suppress.operator import SuppressOperator

SENSOR_BYTES: Final = 56
"""What SUPPRESS keeps of a sensor beside its line and what its predictor remembers: who it is, when it sent and was read."""


def words(operator: SuppressOperator, explained: Explained) -> Words:
    """One query."""
    plan, query = explained.plan, explained.query
    zones = None
    if query.spread and explained.reads_stream:
        zones = f"all {plan.zones} (from 0), by {query.spread[0]}: each sensor lives in one of them"
    return Words(_conditions(operator), _state(operator), zones=zones)


def _conditions(operator: SuppressOperator) -> list[Entry]:
    several = len(operator.dimensions) > 1
    return [
        (
            "sends",
            f"an update when ({', '.join(operator.dimensions)}) is more than {operator.tolerance:g} from the last line sent"
            f"{', in Euclidean distance' if several else ''}, or {duration_in_words(operator.heartbeat_us)} after it",
        ),
        ("line", f"through the reading, {_slope(operator)}"),
        *_forgotten(operator),
        ("answers", "each update: values, slopes per second, tolerance, heartbeat, and why it was sent"),
    ]


def _forgotten(operator: SuppressOperator) -> list[Entry]:
    if operator.forget_us is None:
        return []
    return [
        ("forgotten", f"a sensor without a reading for longer than {duration_in_words(operator.forget_us)}")
    ]


def _state(operator: SuppressOperator) -> str:
    ring, memory = memory_of(operator.predictor, len(operator.dimensions), operator.parameters)
    stored = size_in_words(SENSOR_BYTES + 8 * (ring + 2 * len(operator.dimensions) + memory))
    if operator.forget_us is None:
        return f"{stored} a sensor, forever: FORGET ends it"
    return f"{stored} a sensor that had a reading in the last {duration_in_words(operator.forget_us)}"


def _slope(operator: SuppressOperator) -> str:
    numbers = ", ".join(f"{number:g}" for number in operator.parameters)
    match operator.predictor:
        case Predictor.CONSTANT:
            return "level"
        case Predictor.SLOPE:
            return "with the slope of the last two readings"
        case Predictor.LEAST_SQUARES:
            return f"with the slope of least squares over the last {numbers} readings"
        case Predictor.DOUBLE_EXPONENTIAL:
            return f"with the trend of double exponential smoothing ({numbers})"
        case Predictor.KALMAN:
            return f"with the velocity of a Kalman filter (noise {numbers})"
