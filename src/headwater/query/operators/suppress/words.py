"""SUPPRESS in words, for people who read plans: what is sent, and what it keeps."""

from __future__ import annotations

from typing import Final

from headwater.kernels.suppress.words import Predictor, memory_of
from headwater.query.language.words import duration_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.suppress.operator import SuppressOperator

SENSOR_BYTES: Final = 56
"""What SUPPRESS keeps of a sensor beside its line and what its predictor remembers: who it is, when it sent and was read."""


def words(asked: SuppressOperator, explained: Explained) -> Words:
    """One query."""
    plan, query = explained.plan, explained.query
    zones = None
    if query.spread and explained.reads_stream:
        zones = f"all {plan.zones} (from 0), by {query.spread[0]}: each sensor lives in one of them"
    return Words(_asks(asked), _state(asked), zones=zones)


def _asks(asked: SuppressOperator) -> list[Entry]:
    several = len(asked.dimensions) > 1
    return [
        (
            "sends",
            f"an update when ({', '.join(asked.dimensions)}) is more than {asked.tolerance:g} from the last line sent"
            f"{', in Euclidean distance' if several else ''}, or {duration_in_words(asked.heartbeat_us)} after it",
        ),
        ("line", f"through the reading, {_slope(asked)}"),
        *_forgotten(asked),
        ("answers", "each update: values, slopes a second, tolerance, heartbeat, and why it was sent"),
    ]


def _forgotten(asked: SuppressOperator) -> list[Entry]:
    if asked.forget_us is None:
        return []
    return [("forgotten", f"a sensor without a reading for longer than {duration_in_words(asked.forget_us)}")]


def _state(asked: SuppressOperator) -> str:
    ring, memory = memory_of(asked.predictor, len(asked.dimensions), asked.parameters)
    kept = size_in_words(SENSOR_BYTES + 8 * (ring + 2 * len(asked.dimensions) + memory))
    if asked.forget_us is None:
        return f"{kept} a sensor, forever: FORGET ends it"
    return f"{kept} a sensor that had a reading in the last {duration_in_words(asked.forget_us)}"


def _slope(asked: SuppressOperator) -> str:
    numbers = ", ".join(f"{number:g}" for number in asked.parameters)
    match asked.predictor:
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
