"""What does the condition of a PREDICT require of lines?

Conditions joined by AND, each of them a dimension, the size of a difference of two updates, or their distance, compared with a
number. Everything else is refused: whether it is true between two updates could not be determined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from headwater.kernels.predict.choices import Comparator
from headwater.kernels.predict.question import Difference, Distance, Value
from headwater.model import StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.expression_types import constant, type_of
from headwater.query.checking.places import PLAIN_NUMBER, why_no_meters
from headwater.query.checking.updates import dimensions_in
from headwater.query.expressions import ExprType
from headwater.query.language.tree import Between, Binary, Expression, Name, Quantity, Unary
from headwater.query.language.walk import every_part
from headwater.query.operators.predict.check_subjects import Of, Subject, Subjects, is_constant, said_as
from headwater.query.operators.predict.check_updates import check_updates
from headwater.query.operators.predict.tree import Predict

Condition = Value | Difference | Distance

COMPARATORS: Final = {
    "<=": Comparator.LESS_EQUAL,
    "<": Comparator.LESS,
    ">=": Comparator.GREATER_EQUAL,
    ">": Comparator.GREATER,
    "=": Comparator.EQUAL,
    "<>": Comparator.DIFFERENT,
}
_TURNED: Final = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
_AT_MOST: Final = (Comparator.LESS_EQUAL, Comparator.LESS)


@dataclass(slots=True)
class Lowering:
    """One operator's condition; `sources` says for every alias which of the `schemas` it reads, None where one is not known."""

    tree: Predict
    sources: Sequence[int]
    schemas: Sequence[StreamSchema | None]
    complaints: Complaints
    subjects: Subjects = field(init=False)
    found: list[tuple[Subject, Comparator, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.subjects = Subjects(self.tree, self.sources, self.schemas, self.complaints)

    def run(self) -> tuple[tuple[Condition, ...], tuple[tuple[str, ...], ...]] | None:
        """The conditions, and the dimensions of every source that they count; None and complaints."""
        before = len(self.complaints.errors)
        check_updates(self.tree, self.schemas, self.complaints)
        for part in _conjunction(self.tree.condition):
            self._part(part)
        if len(self.complaints.errors) > before or None in self.schemas:
            return None
        dimensions = self._dimensions()
        places = [{name: place for place, name in enumerate(names)} for names in dimensions]

        def place_of(of: Of) -> int:
            return places[self.sources[of.alias]][of.name]

        made: list[Condition] = []
        for subject, comparator, bound in self.found:
            if subject.distance is not None:
                made.append(Distance(*subject.distance, comparator is Comparator.LESS, bound))
            elif len(subject.of) == 2:
                left, right = subject.of
                made.append(
                    Difference(left.alias, place_of(left), right.alias, place_of(right), comparator, bound)
                )
            else:
                made.append(Value(subject.of[0].alias, place_of(subject.of[0]), comparator, bound))
        return tuple(made), dimensions

    def _dimensions(self) -> tuple[tuple[str, ...], ...]:
        """Of every source the dimensions that are named; all of them for a distance."""
        named: list[dict[str, None]] = [{} for _ in self.schemas]
        for subject, _, _ in self.found:
            for of in subject.of:
                named[self.sources[of.alias]].setdefault(of.name)
            for alias in subject.distance or ():
                source = self.sources[alias]
                schema = self.schemas[source]
                assert schema is not None
                named[source] = dict.fromkeys(dimensions_in(schema))
        # A distance that comes before the other conditions has named all dimensions already, one that comes later names them now.
        return tuple(tuple(names) for names in named)

    # --- the parts of the conjunction ---------------------------------------------------------------------------------

    def _part(self, part: Expression) -> None:
        if isinstance(part, Between) and not part.negated:
            self._comparison(part.operand, ">=", part.low, part)
            self._comparison(part.operand, "<=", part.high, part, again=True)
        elif isinstance(part, Binary) and part.operator in COMPARATORS:
            if is_constant(part.left) and not is_constant(part.right):
                operator = _TURNED.get(part.operator, part.operator)
                self._comparison(part.right, operator, part.left, part)
            else:
                self._comparison(part.left, part.operator, part.right, part)
        elif isinstance(part, Binary) and part.operator == "OR":
            self.subjects.refuse_shape(
                "PREDICT does not allow OR between conditions", part, "write a query for each alternative"
            )
        elif isinstance(part, Unary) and part.operator == "NOT":
            self.subjects.refuse_shape(
                "PREDICT does not allow NOT before a condition",
                part,
                "negate the comparison instead: < becomes >=",
            )
        else:
            self.subjects.refuse_shape("this is not a comparison with a number", part)

    def _comparison(
        self, subject: Expression, operator: str, bound: Expression, whole: Expression, *, again: bool = False
    ) -> None:
        """`subject operator bound`; `again`: the subject was checked before, and an error reported."""
        if not is_constant(bound):
            self._refuse_two_sides(subject, bound, whole)
            return
        before = len(self.complaints.errors)
        said = self.subjects.subject(subject, whole)
        if again:
            del self.complaints.errors[before:]
        value = self._bound(bound)
        if said is None or value is None:
            return
        comparator = COMPARATORS[operator]
        if said.distance is not None and comparator not in _AT_MOST:
            self.subjects.refuse_shape(f"a DISTANCE cannot be compared with {operator}", whole, "use <= or <")
            return
        pair = len(said.of) == 2 or said.distance is not None
        if pair and value < 0:
            self.complaints.refuse(
                "negative-bound",
                f"{'DISTANCE' if said.distance else 'ABS'} is never negative, so it cannot be compared with {value:g}",
                bound.span or whole.span or self.tree.span,
                "give a bound of zero or more",
            )
            return
        if not self._unit_fits(said, bound):
            return
        if said.distance and any(
            other.distance and set(other.distance) == set(said.distance) for other, _, _ in self.found
        ):
            first, second = (self.subjects.aliases[alias] for alias in said.distance)
            self.subjects.refuse_shape(
                f"the distance of '{first}' and '{second}' appears here twice", whole, "remove one of them"
            )
            return
        self.found.append((said, comparator, value))

    def _refuse_two_sides(self, left: Expression, right: Expression, whole: Expression) -> None:
        if isinstance(left, Name) and isinstance(right, Name) and self.subjects.aliases:
            left_text, right_text = (said_as(name) for name in (left, right))
            advice = f"compare the difference of two updates: ABS({left_text} - {right_text}) <= 5"
        else:
            advice = "one side must be a number"
        self.subjects.refuse_shape("neither side is a number", whole, advice)

    # --- the number ---------------------------------------------------------------------------------------------------

    def _bound(self, expression: Expression) -> float | None:
        before = len(self.complaints.errors)
        kind = type_of(expression, {}, self.complaints)
        if kind is None:
            return None
        span = expression.span or self.tree.span
        if kind not in (ExprType.BIGINT, ExprType.DOUBLE):
            message = f"a dimension must be compared with a number, not with {kind.value}"
            self.complaints.refuse(
                "type-mismatch", message, span, "write a plain number, or a length in METERS"
            )
            return None
        value = constant(expression)
        if not isinstance(value, int | float) or not math.isfinite(value):
            self.complaints.refuse("type-mismatch", "this is not a number", span, "write a plain number")
        return float(value) if len(self.complaints.errors) == before else None  # type: ignore[arg-type]

    def _unit_fits(self, subject: Subject, bound: Expression) -> bool:
        """METERS belong to the PLACE of a plane."""
        if not any(isinstance(part, Quantity) for part in every_part(bound)):
            return True
        named = [(of.alias, [of.name]) for of in subject.of]
        for alias in subject.distance or ():
            schema = self.schemas[self.sources[alias]]
            named.append((alias, list(dimensions_in(schema)) if schema else []))
        for alias, names in named:
            schema = self.schemas[self.sources[alias]]
            if schema and (wrong := why_no_meters(schema, names)):
                span = bound.span or self.tree.span
                self.complaints.refuse(
                    "not-in-meters", f"the bound is in METERS, but {wrong}", span, PLAIN_NUMBER
                )
                return False
        return True


def _conjunction(expression: Expression) -> Iterator[Expression]:
    """What is joined by AND, in the order written."""
    waiting = [expression]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Binary) and found.operator == "AND":
            waiting += [found.right, found.left]
        else:
            yield found
