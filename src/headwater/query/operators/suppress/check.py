"""Can a SUPPRESS be answered: its dimensions, its tolerance, its heartbeat, its predictor, its FORGET?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from headwater.kernels.suppress.choices import Predictor
from headwater.model import Span, StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.places import PLAIN_NUMBER, why_no_meters
from headwater.query.checking.streams import duration_us, forget_us, length_m
from headwater.query.language.limits import MOST_DIMENSIONS
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import Quantity
from headwater.query.operators.suppress.operator import MOST_SAMPLES, SuppressOperator
from headwater.query.operators.suppress.tree import Dimension, Suppress

_PARAMETERS: Final = {
    Predictor.LEAST_SQUARES: ("n",),
    Predictor.DOUBLE_EXPONENTIAL: ("alpha", "beta"),
    Predictor.KALMAN: ("q", "r"),
}


def check_suppress(
    tree: Suppress, schema: StreamSchema | None, complaints: Complaints, *, place_known: bool = True
) -> SuppressOperator | None:
    """The operator with every choice made, or None and complaints; without a schema, what can be checked is.

    `place_known` is False for a stream whose PLACE was refused: then a missing place is no second error.
    """
    before = len(complaints.errors)
    checker = _Checker(tree, schema, complaints)
    checker.check_dimensions()
    tolerance = checker.tolerance(place_known=place_known)
    heartbeat_us = checker.heartbeat_us()
    checker.check_parameters()
    forget_us = checker.forget_us()
    if schema is None or tolerance is None or heartbeat_us is None or len(complaints.errors) > before:
        return None
    made = SuppressOperator(
        tuple(dimension.name for dimension in tree.dimensions),
        tolerance,
        heartbeat_us,
        tree.predictor or Predictor.SLOPE,
        tuple(map(float, tree.parameters)),
        forget_us,
    )
    checker.check_columns(made)
    return made if len(complaints.errors) == before else None


@dataclass(slots=True)
class _Checker:
    """One operator; every method complains of its part."""

    tree: Suppress
    schema: StreamSchema | None
    complaints: Complaints

    def check_dimensions(self) -> None:
        """Columns of numbers, each once, and not too many."""
        seen: set[str] = set()
        for dimension in self.tree.dimensions:
            span = dimension.span or self.tree.span
            if dimension.name in seen:
                self._refuse(
                    "duplicate-name", f"'{dimension.name}' appears here twice", span, "remove one of them"
                )
            elif self.schema:
                self._check_dimension(dimension, self.schema)
            seen.add(dimension.name)
        if len(self.tree.dimensions) > MOST_DIMENSIONS:
            self._refuse(
                "predict-too-large",
                f"SUPPRESS has {len(self.tree.dimensions)} dimensions",
                self.tree.span,
                f"at most {MOST_DIMENSIONS} are possible",
            )

    def _check_dimension(self, dimension: Dimension, schema: StreamSchema) -> None:
        span = dimension.span or self.tree.span
        kind = schema.types.get(dimension.name)
        numbers = [name for name, other in schema.columns if other.numeric and name != schema.key]
        if kind is None:
            known = suggest(dimension.name, numbers, "columns of numbers")
            self._refuse("unknown-column", f"there is no column named '{dimension.name}'", span, *known)
        elif not kind.numeric:
            self._refuse(
                "attribute-not-numeric",
                f"SUPPRESS predicts numbers, but '{dimension.name}' is {kind.value}",
                span,
                f"use a numeric column: {', '.join(numbers)}" if numbers else "the stream has no numbers",
            )
        elif dimension.name == schema.key:
            self._refuse(
                "attribute-not-numeric",
                f"'{dimension.name}' names the sensors, so it cannot be a dimension",
                span,
                "use a column that the sensors measure",
            )

    def tolerance(self, *, place_known: bool) -> float | None:
        """How far a value may be from the line, in the unit of the dimensions."""
        written, span = self.tree.tolerance, self.tree.place_of("TOLERANCE")
        if isinstance(written, Quantity):
            names = [dimension.name for dimension in self.tree.dimensions]
            if length_m(written, "TOLERANCE", self.complaints) is None:
                return None
            if self.schema and place_known and (wrong := why_no_meters(self.schema, names)):
                self._refuse("not-in-meters", f"TOLERANCE is in METERS, but {wrong}", span, PLAIN_NUMBER)
                return None
            amount = written.meters
        else:
            amount = float(written)
        if amount < 0:
            self._refuse(
                "negative-tolerance",
                "TOLERANCE is negative",
                span,
                "TOLERANCE 0 sends every value that is not exactly on the line; a greater tolerance sends less",
            )
            return None
        return amount

    def heartbeat_us(self) -> int | None:
        """After how long an update is sent in any case."""
        found = duration_us(self.tree.heartbeat, "HEARTBEAT", self.complaints)
        if found is not None and found <= 0:
            self._refuse(
                "negative-duration",
                "HEARTBEAT is not longer than zero, so no update would hold",
                self.tree.place_of("HEARTBEAT"),
                "give the time after which an update is always sent, as in HEARTBEAT 30 SECONDS",
            )
        return found

    def check_parameters(self) -> None:
        """The numbers after a predictor."""
        tree, span = self.tree, self.tree.place_of("USING")
        if tree.predictor is None:
            return
        for name, value in zip(_PARAMETERS.get(tree.predictor, ()), tree.parameters, strict=True):
            if tree.predictor is Predictor.LEAST_SQUARES and not 2 <= value <= MOST_SAMPLES:
                message = f"LEAST SQUARES {value} cannot fit a line"
                advice = f"it uses the last 2 to {MOST_SAMPLES:,} samples"
            elif tree.predictor is Predictor.DOUBLE_EXPONENTIAL and not 0 < value <= 1:
                message = f"the {name} of DOUBLE EXPONENTIAL is {value}"
                advice = "it is the weight of the latest sample and must be greater than 0 and at most 1"
            elif tree.predictor is Predictor.KALMAN and not value > 0:
                message = f"the {name} of KALMAN is {value}, but noise must be greater than 0"
                advice = "q is the process noise of the velocity, r the measurement noise"
            else:
                continue
            self._refuse("wrong-predictor", message, span, advice)

    def forget_us(self) -> int | None:
        """After how long without a sample a sensor is forgotten; None: never, or a complaint."""
        advice = "write it like FORGET 1 DAY; without it no sensor is forgotten"
        return forget_us(self.tree.forget, self.tree.place_of("FORGET"), self.complaints, advice=advice)

    def check_columns(self, made: SuppressOperator) -> None:
        """The columns of an update have different names."""
        assert self.schema is not None
        seen: set[str] = set()
        for name, _ in made.columns(self.schema, None).answers:
            if name in seen:
                self._refuse(
                    "duplicate-name",
                    f"two columns of an update would be named '{name}'",
                    self.tree.span,
                    "give the column of the stream another name in a query, and read that query: SELECT … AS another_name FROM …",
                )
            seen.add(name)

    def _refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        self.complaints.refuse(code, message, span, *advice)
