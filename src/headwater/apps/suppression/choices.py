"""Which predictors and tolerances are compared? Those requested; else all predictors, and tolerances around the query's own.

A predictor without numbers gets those of the query if it is the query's own. Otherwise a few are tried on the samples themselves,
and those that save most with the query's tolerance are taken: so each predictor is shown at about its best. The gain of a Kalman
filter depends on the ratio of its two noises alone: r is (δ/2)², and q = Λ r / pace³ with a few Λ, from a sensor that
is all noise to one that is all turns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from headwater.kernels.suppress.choices import Predictor
from headwater.query.language.suggestions import suggest
from headwater.query.operators.suppress.operator import MOST_SAMPLES, SuppressOperator

FACTORS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
LASTS: Final = (3.0, 5.0, 10.0, 20.0)
WEIGHTS: Final = tuple((alpha, beta) for alpha in (0.2, 0.5, 0.8, 1.0) for beta in (0.1, 0.3, 0.6, 0.9))
RESTLESSNESS: Final = (0.001, 0.01, 0.1, 1.0, 10.0, 30.0)
MOST_TOLERANCES: Final = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """A predictor and its numbers; None: they are chosen among a few."""

    predictor: Predictor
    parameters: tuple[float, ...] | None = None

    def candidates(self, operator: SuppressOperator, pace_s: float) -> tuple[tuple[float, ...], ...]:
        """The numbers to try for a query whose sensors are read every `pace_s` seconds: one choice, or several."""
        if self.parameters is not None:
            return (self.parameters,)
        if self.predictor is operator.predictor:
            return (operator.parameters,)
        if self.predictor is Predictor.LEAST_SQUARES:
            return tuple((last,) for last in LASTS)
        if self.predictor is Predictor.DOUBLE_EXPONENTIAL:
            return WEIGHTS
        if self.predictor is Predictor.KALMAN:
            noise = (operator.tolerance / 2 or 1.0) ** 2
            return tuple((_rounded(one * noise / pace_s**3), _rounded(noise)) for one in RESTLESSNESS)
        return ((),)


EVERY: Final = tuple(Choice(predictor) for predictor in Predictor)


class ChoiceError(ValueError):
    """A text that names no predictor or tolerance; `advice` says what would."""

    def __init__(self, message: str, advice: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.advice = list(advice)


def tolerances_around(tolerance: float) -> tuple[float, ...]:
    """A quarter, half, once, twice and four times a query's own tolerance; nothing but 0 is around 0."""
    return tuple(dict.fromkeys(factor * tolerance for factor in FACTORS))


def tolerances_in(text: str) -> tuple[float, ...]:
    """Numbers with commas between them, each once, ascending."""
    found: set[float] = set()
    for part in text.split(","):
        number = _number(part)
        if number is None or number < 0:
            raise ChoiceError(f"a tolerance is a number from 0 on, not '{part.strip()}'")
        found.add(number)
    if len(found) > MOST_TOLERANCES:
        raise ChoiceError(f"at most {MOST_TOLERANCES} tolerances can be compared, not {len(found)}")
    return tuple(sorted(found))


def choice_in(text: str) -> Choice:
    """A predictor as in the language, with its numbers or without: LEAST SQUARES 5, kalman 0.1, 25, slope."""
    cut = _WORDS_AND_NUMBERS.fullmatch(text.strip())
    name = re.sub(r"[\s_-]+", " ", cut["words"] if cut else text).strip().upper()
    known = {predictor.value: predictor for predictor in Predictor}
    if name not in known:
        raise ChoiceError(f"there is no predictor named '{name}'", suggest(name, list(known), "predictors"))
    predictor = known[name]
    assert cut is not None
    if not cut["numbers"]:
        return Choice(predictor)
    numbers = [_number(part) for part in cut["numbers"].split(",")]
    parameters = tuple(number for number in numbers if number is not None)
    if len(parameters) < len(numbers) or len(parameters) != predictor.parameters:
        raise ChoiceError(f"{name} is written {_WRITTEN[predictor]}, not '{text.strip()}'")
    _refuse_wrong(predictor, parameters)
    return Choice(predictor, parameters)


def shown(predictor: Predictor, parameters: Sequence[float]) -> str:
    """A predictor as it is written behind USING."""
    return " ".join([predictor.value, ", ".join(f"{number:g}" for number in parameters)]).rstrip()


_WORDS_AND_NUMBERS: Final = re.compile(r"(?P<words>[A-Za-z][A-Za-z\s_-]*?)\s*(?P<numbers>(?:[-+.]?\d.*)?)")

_WRITTEN: Final = {
    Predictor.CONSTANT: "without numbers",
    Predictor.SLOPE: "without numbers",
    Predictor.LEAST_SQUARES: "LEAST SQUARES n",
    Predictor.DOUBLE_EXPONENTIAL: "DOUBLE EXPONENTIAL alpha, beta",
    Predictor.KALMAN: "KALMAN q, r",
}


def _refuse_wrong(predictor: Predictor, parameters: Sequence[float]) -> None:
    """Numbers that the language would refuse as well."""
    if predictor is Predictor.LEAST_SQUARES:
        (last,) = parameters
        if last != int(last) or not 2 <= last <= MOST_SAMPLES:
            raise ChoiceError(
                f"LEAST SQUARES looks at the last 2 to {MOST_SAMPLES:,} samples, not at {last:g}"
            )
    elif predictor is Predictor.DOUBLE_EXPONENTIAL:
        if not all(0 < weight <= 1 for weight in parameters):
            raise ChoiceError("alpha and beta are weights: greater than 0, at most 1")
    elif not all(noise > 0 for noise in parameters):
        raise ChoiceError("q and r are noise: greater than 0")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _rounded(number: float) -> float:
    """To two digits: nobody has measured the noise better than that."""
    return float(f"{number:.2g}") or number
