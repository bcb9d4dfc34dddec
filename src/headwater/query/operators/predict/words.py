"""PREDICT in words, for people who read plans: its conditions, when answers are emitted, what is stored."""

from __future__ import annotations

from typing import Final

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.question import Difference, Distance, Value, bounds_all_joins
from headwater.query.language.words import counted, duration_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.predict.operator import PredictOperator

LINE_BYTES: Final = 80
"""What a stored update takes beside its dimensions: life, tolerance, neighbours, its place in the index."""

ANSWER_BYTES: Final = 80
"""The size of an answer until it is emitted."""

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
    GiveUp.RANDOM: "one chosen by the seed",
}


def words(operator: PredictOperator, explained: Explained) -> Words:
    """One query."""
    plan, query = explained.plan, explained.query
    zones = None
    if query.shared and plan.zones > 1 and operator.pairs:
        zones = (
            f"all {plan.zones} (from 0): every update goes to all of them, and each pair belongs to one zone, by where its lines can "
            "be near one another"
        )
    elif query.spread and explained.reads_stream:
        zones = f"all {plan.zones} (from 0), by {query.spread[0]}: each sensor lives in one of them"
    return Words(_conditions(operator), _state(operator), zones=zones)


def _conditions(operator: PredictOperator) -> list[Entry]:
    entries: list[Entry] = [
        ("conditions", [_condition(operator, condition) for condition in operator.conditions])
    ]
    if len(operator.aliases) > 1:
        entries.append(
            ("within", f"the two times of a pair at most {duration_in_words(operator.within_us)} apart")
        )
    entries.append(("certainty", _certainty(operator)))
    entries.append(("answers", _answers_in_words(operator)))
    if operator.buffer is not None:
        entries.append(
            (
                "buffer",
                f"{counted(operator.buffer, 'update')} a stream; when full, {_POLICIES[operator.give_up]} is given up",
            )
        )
    return entries


def _state(operator: PredictOperator) -> list[str]:
    dimensions = max((len(names) for names in operator.dimensions), default=1)
    line = size_in_words(LINE_BYTES + 16 * dimensions)
    if operator.buffer is not None:
        lines = f"at most {counted(operator.buffer, 'update')} a stream, {line} each"
    else:
        lines = f"the updates whose life is not over, or ended at most {duration_in_words(operator.within_us)} ago: {line} each"
    answers = f"undecided answers: {size_in_words(ANSWER_BYTES)} each"
    return [lines, answers, f"a step reads and writes {_read_by_a_step(operator)}"]


def _read_by_a_step(operator: PredictOperator) -> str:
    """What the work of a step follows."""
    if operator.buffer is not None:
        return "everything that is stored: what is given up depends on all of it"
    if len(operator.aliases) == 1:
        return "the keys with updates, and those that are due"
    if bounds_all_joins(operator.conditions):
        return "the keys with updates and those that are due; it also reads the keys whose lines may come near them"
    return "everything: no condition bounds how far apart two of them may be (<=, < or DISTANCE)"


def _condition(operator: PredictOperator, condition: Value | Difference | Distance) -> str:
    match condition:
        case Value():
            said = _dimension(operator, condition.alias, condition.dimension)
            return f"{said} {_SIGNS[condition.comparator]} {condition.bound:g}"
        case Difference():
            left = _dimension(operator, condition.left, condition.left_dimension)
            right = _dimension(operator, condition.right, condition.right_dimension)
            return f"|{left} - {right}| {_SIGNS[condition.comparator]} {condition.bound:g}"
        case Distance():
            left, right = operator.aliases[condition.left], operator.aliases[condition.right]
            return f"distance of {left} and {right} {'<' if condition.strict else '<='} {condition.bound:g}"


def _dimension(operator: PredictOperator, alias: int, dimension: int) -> str:
    name = operator.dimensions[operator.sources[alias] or 0][dimension]
    return f"{operator.aliases[alias]}.{name}" if len(operator.aliases) > 1 else name


def _certainty(operator: PredictOperator) -> str:
    match operator.certainty:
        case Certainty.LINE:
            return "lines are used as they are"
        case Certainty.MAY:
            return "possible: some values within the tolerances satisfy it"
        case Certainty.MUST:
            return "certain: all values within the tolerances satisfy it"
        case Certainty.PROBABILITY:
            return f"with a probability of at least {operator.p:g}, values uniform within the tolerances"


def _answers_in_words(operator: PredictOperator) -> str:
    if operator.tentative:
        ahead = (
            f", {duration_in_words(operator.ahead_us)} before it begins"
            if operator.ahead_us is not None
            else ""
        )
        return f"tentative: as soon as predicted{ahead}; a later update may shorten or withdraw it"
    every = f", and every {duration_in_words(operator.every_us)} before" if operator.every_us else ""
    return f"validated: each interval once time has passed its end{every}; never withdrawn"
