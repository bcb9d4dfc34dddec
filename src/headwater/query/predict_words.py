"""SUPPRESS and PREDICT in words, for people who read plans: what is sent, what is asked, when it is told, what it keeps."""

from __future__ import annotations

from typing import Final

from headwater.kernels.predict.question import Difference, Distance, Value
from headwater.kernels.predict.words import Certainty, Comparator, GiveUp
from headwater.kernels.suppress.words import Predictor, memory_of
from headwater.query.groups import QueryPlan
from headwater.query.operators.predict.operator import PredictOperator
from headwater.query.operators.suppress.operator import SuppressOperator
from headwater.query.words import counted, duration_in_words, size_in_words

Entry = tuple[str, str | list[str]]

LINE_BYTES: Final = 80
"""What a stored update takes beside its dimensions: life, tolerance, neighbours, its place in the index."""

ANSWER_BYTES: Final = 80
"""What an answer takes until it is told."""

SENSOR_BYTES: Final = 56
"""What SUPPRESS keeps of a sensor beside its line and what its predictor remembers: who it is, when it sent and was read."""

_SIGNS: Final = {
    Comparator.LESS_EQUAL: "<=",
    Comparator.LESS: "<",
    Comparator.GREATER_EQUAL: ">=",
    Comparator.GREATER: ">",
    Comparator.EQUAL: "=",
    Comparator.DIFFERENT: "<>",
}

_POLICIES: Final = {
    GiveUp.LEAST: "the one that contributes least",
    GiveUp.NEWEST: "the one that comes",
    GiveUp.OLDEST: "the oldest",
    GiveUp.RANDOM: "one drawn by the seed",
}


def suppression_in_words(asked: SuppressOperator) -> list[Entry]:
    """When an update is sent, and what line it says."""
    several = len(asked.dimensions) > 1
    return [
        (
            "sends",
            f"an update when ({', '.join(asked.dimensions)}) is more than {asked.tolerance:g} from the line last sent"
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


def prediction_in_words(asked: PredictOperator) -> list[Entry]:
    """What is asked of the lines, and when it is told."""
    entries: list[Entry] = [("conditions", [_condition(asked, condition) for condition in asked.conditions])]
    if len(asked.aliases) > 1:
        entries.append(
            ("within", f"the two times of a pair at most {duration_in_words(asked.within_us)} apart")
        )
    entries.append(("certainty", _certainty(asked)))
    entries.append(("answers", _told(asked)))
    if asked.buffer is not None:
        entries.append(
            (
                "buffer",
                f"{counted(asked.buffer, 'update')} a stream; when full, {_POLICIES[asked.give_up]} is given up",
            )
        )
    return entries


def zones_of_shared_in_words(query: QueryPlan, zones: int) -> str:
    """Where a query lives that every zone has."""
    if isinstance(query.operator, PredictOperator) and query.operator.pairs:
        return (
            f"all {zones} (from 0): every update comes to all of them, and the pairs are shared out by where their lines can "
            "be near one another, each to one zone"
        )
    return f"all {zones} (from 0), a copy in each, for the pairs that read it; one of them tells"


def state_of_suppression(asked: SuppressOperator) -> str:
    """What a SUPPRESS keeps."""
    ring, memory = memory_of(asked.predictor, len(asked.dimensions), asked.parameters)
    kept = size_in_words(SENSOR_BYTES + 8 * (ring + 2 * len(asked.dimensions) + memory))
    if asked.forget_us is None:
        return f"{kept} a sensor, for ever: FORGET ends it"
    return f"{kept} a sensor that had a reading in the last {duration_in_words(asked.forget_us)}"


def state_of_prediction(asked: PredictOperator) -> list[str]:
    """What a PREDICT keeps."""
    dimensions = max((len(names) for names in asked.dimensions), default=1)
    line = size_in_words(LINE_BYTES + 16 * dimensions)
    if asked.buffer is not None:
        lines = f"at most {counted(asked.buffer, 'update')} a stream, {line} each"
    else:
        lines = f"the updates whose life is not over, or ended at most {duration_in_words(asked.within_us)} ago: {line} each"
    return [lines, f"answers that are not yet decided: {size_in_words(ANSWER_BYTES)} each"]


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


def _condition(asked: PredictOperator, condition: Value | Difference | Distance) -> str:
    match condition:
        case Value():
            said = _dimension(asked, condition.alias, condition.dimension)
            return f"{said} {_SIGNS[condition.comparator]} {condition.bound:g}"
        case Difference():
            left = _dimension(asked, condition.left, condition.left_dimension)
            right = _dimension(asked, condition.right, condition.right_dimension)
            return f"|{left} - {right}| {_SIGNS[condition.comparator]} {condition.bound:g}"
        case Distance():
            left, right = asked.aliases[condition.left], asked.aliases[condition.right]
            return f"distance of {left} and {right} {'<' if condition.strict else '<='} {condition.bound:g}"


def _dimension(asked: PredictOperator, alias: int, dimension: int) -> str:
    name = asked.dimensions[asked.sources[alias] or 0][dimension]
    return f"{asked.aliases[alias]}.{name}" if len(asked.aliases) > 1 else name


def _certainty(asked: PredictOperator) -> str:
    match asked.certainty:
        case Certainty.LINE:
            return "lines are taken as they are"
        case Certainty.MAY:
            return "it may be so: some values within the tolerances satisfy it"
        case Certainty.MUST:
            return "it must be so: all values within the tolerances satisfy it"
        case Certainty.PROBABILITY:
            return f"with probability {asked.p:g} at least, values uniform within the tolerances"


def _told(asked: PredictOperator) -> str:
    if asked.tentative:
        ahead = (
            f", {duration_in_words(asked.ahead_us)} before it begins" if asked.ahead_us is not None else ""
        )
        return f"tentative: as soon as predicted{ahead}; a later update cuts or withdraws it"
    every = f", and every {duration_in_words(asked.every_us)} before" if asked.every_us else ""
    return f"validated: each interval once time has passed its end{every}; never taken back"
