"""What does the condition of a PREDICT ask of lines?

Conditions joined by AND, each of them a dimension, the size of a difference of two updates, or their distance, compared with a
number. Everything else is refused: nobody could say when it is true between two updates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from headwater.kernels.predict.question import Difference, Distance, Value
from headwater.kernels.predict.words import Comparator
from headwater.model import StreamSchema
from headwater.query.checks.complaints import Complaints, suggest
from headwater.query.checks.expressions import constant, type_of
from headwater.query.checks.suppress import PLAIN_NUMBER, why_no_meters
from headwater.query.checks.updates import HEARTBEAT, TOLERANCE, dimensions_in, slope_of
from headwater.query.expressions import ExprType
from headwater.query.tree import Between, Binary, Call, Expression, Name, Predict, Quantity, Unary
from headwater.query.walk import every_part

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

_SHAPES: Final = (
    "PREDICT takes conditions joined by AND: temperature < 50; in PAIRS also a.temperature < 50, ABS(a.x - b.x) <= 400, "
    "DISTANCE(a, b) <= 400"
)


class _Of(NamedTuple):
    """A dimension of an alias."""

    alias: int
    name: str


class _Subject(NamedTuple):
    """What is compared with a number: one dimension, the size of a difference of two, or (no dimension) a distance."""

    of: tuple[_Of, ...]
    distance: tuple[int, int] | None = None


@dataclass(slots=True)
class Lowering:
    """One operator's condition; `sources` says for every alias which of the `schemas` it reads, None where one is not known."""

    tree: Predict
    sources: Sequence[int]
    schemas: Sequence[StreamSchema | None]
    complaints: Complaints
    aliases: list[str] = field(init=False)
    found: list[tuple[_Subject, Comparator, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.aliases = [alias.name for alias in self.tree.aliases]

    def run(self) -> tuple[tuple[Condition, ...], tuple[tuple[str, ...], ...]] | None:
        """The conditions, and the dimensions of every source that they count; None and complaints."""
        before = len(self.complaints.errors)
        self._check_updates()
        for part in _conjunction(self.tree.condition):
            self._part(part)
        if len(self.complaints.errors) > before or None in self.schemas:
            return None
        dimensions = self._dimensions()
        places = [{name: place for place, name in enumerate(names)} for names in dimensions]

        def place_of(of: _Of) -> int:
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
        """Of every source the dimensions that are named; all of them where a distance is asked for."""
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

    # --- the streams ------------------------------------------------------------------------------------------------

    def _check_updates(self) -> None:
        """Every source is a stream of updates."""
        for schema in self.schemas:
            if schema is None:
                continue
            types = schema.types
            missing = [name for name in (TOLERANCE, HEARTBEAT) if name not in types]
            if not dimensions_in(schema):
                missing.insert(0, slope_of(self._a_dimension(schema)))
            if missing:
                self._no_updates(schema, f"it has no {_listed(missing)}")
                continue
            for name in (TOLERANCE, HEARTBEAT):
                if not types[name].numeric:
                    self._no_updates(schema, f"its '{name}' is {types[name].value}")

    def _no_updates(self, schema: StreamSchema, why: str) -> None:
        name = self._a_dimension(schema)
        self.complaints.refuse(
            "no-updates",
            f"'{schema.name}' is no stream of updates: {why}",
            self.tree.span,
            f"put SUPPRESS ({name} TOLERANCE … HEARTBEAT …) before PREDICT",
            f"or, if its rows are updates, name their columns {name}, {slope_of(name)}, {TOLERANCE} and {HEARTBEAT}",
        )

    def _a_dimension(self, schema: StreamSchema) -> str:
        """The first column of numbers that the condition names; any other if it names none."""
        types = schema.types
        named = (part.name for part in every_part(self.tree.condition) if isinstance(part, Name))
        return next((name for name in named if name in types and types[name].numeric), "x")

    def _is_update(self, schema: StreamSchema) -> bool:
        types = schema.types
        return bool(dimensions_in(schema)) and all(
            name in types and types[name].numeric for name in (TOLERANCE, HEARTBEAT)
        )

    # --- the parts of the conjunction ---------------------------------------------------------------------------------

    def _part(self, part: Expression) -> None:
        if isinstance(part, Between) and not part.negated:
            self._comparison(part.operand, ">=", part.low, part)
            self._comparison(part.operand, "<=", part.high, part, again=True)
        elif isinstance(part, Binary) and part.operator in COMPARATORS:
            if _is_constant(part.left) and not _is_constant(part.right):
                operator = _TURNED.get(part.operator, part.operator)
                self._comparison(part.right, operator, part.left, part)
            else:
                self._comparison(part.left, part.operator, part.right, part)
        elif isinstance(part, Binary) and part.operator == "OR":
            self._refuse_shape("OR joins conditions of a PREDICT", part, "write a query for each alternative")
        elif isinstance(part, Unary) and part.operator == "NOT":
            self._refuse_shape(
                "NOT stands before a condition of a PREDICT", part, "turn the comparison instead: < into >="
            )
        else:
            self._refuse_shape("this is no comparison with a number", part)

    def _comparison(
        self, subject: Expression, operator: str, bound: Expression, whole: Expression, *, again: bool = False
    ) -> None:
        """`subject operator bound`; `again`: the subject was looked at before, and complained of."""
        if not _is_constant(bound):
            self._refuse_two_sides(subject, bound, whole)
            return
        before = len(self.complaints.errors)
        said = self._subject(subject, whole)
        if again:
            del self.complaints.errors[before:]
        value = self._bound(bound)
        if said is None or value is None:
            return
        comparator = COMPARATORS[operator]
        if said.distance is not None and comparator not in _AT_MOST:
            self._refuse_shape(f"a DISTANCE is compared with {operator}", whole, "it takes <= or < only")
            return
        pair = len(said.of) == 2 or said.distance is not None
        if pair and value < 0:
            self.complaints.refuse(
                "negative-bound",
                f"{'DISTANCE' if said.distance else 'ABS'} is never below zero, so it is not compared with {value:g}",
                bound.span or whole.span or self.tree.span,
                "give a bound of zero or more",
            )
            return
        if not self._unit_fits(said, bound):
            return
        if said.distance and any(
            other.distance and set(other.distance) == set(said.distance) for other, _, _ in self.found
        ):
            first, second = (self.aliases[alias] for alias in said.distance)
            self._refuse_shape(
                f"the distance of '{first}' and '{second}' stands here twice", whole, "take one of them out"
            )
            return
        self.found.append((said, comparator, value))

    def _refuse_two_sides(self, left: Expression, right: Expression, whole: Expression) -> None:
        if isinstance(left, Name) and isinstance(right, Name) and self.aliases:
            left_text, right_text = (_said(name) for name in (left, right))
            advice = f"compare how far apart two updates are: ABS({left_text} - {right_text}) <= 5"
        else:
            advice = "one side is a number"
        self._refuse_shape("neither side is a number", whole, advice)

    # --- what is compared ---------------------------------------------------------------------------------------------

    def _subject(self, expression: Expression, whole: Expression) -> _Subject | None:
        if isinstance(expression, Name):
            of = self._dimension(expression)
            return None if of is None else _Subject((of,))
        if isinstance(expression, Call) and expression.function in ("ABS", "DISTANCE"):
            if not self.aliases:
                name = "temperature" if expression.function == "ABS" else "x"
                self._refuse_shape(
                    f"{expression.function} compares two updates, and this is a condition on each",
                    expression,
                    f"write PAIRS a, b WHERE {_example(expression.function)} WITHIN 3 SECONDS",
                    *([f"or {name} BETWEEN -5 AND 5"] if expression.function == "ABS" else []),
                )
                return None
            return self._distance(expression) if expression.function == "DISTANCE" else self._size(expression)
        if isinstance(expression, Binary) and expression.operator == "-" and self.aliases:
            self._refuse_shape(
                "a difference of two updates is taken without its sign", expression, "write ABS(a.x - b.x)"
            )
        elif _is_constant(expression):
            self._refuse_shape("both sides are numbers", whole)
        else:
            self._refuse_shape("this is no dimension", expression)
        return None

    def _size(self, call: Call) -> _Subject | None:
        """`ABS(a.x - b.x)`."""
        inside = call.arguments[0] if len(call.arguments) == 1 else None
        if (
            not isinstance(inside, Binary)
            or inside.operator != "-"
            or not isinstance(inside.left, Name)
            or not isinstance(inside.right, Name)
        ):
            advice = "write ABS(a.x - b.x)"
            if isinstance(inside, Name):
                advice += f", or {_said(inside)} BETWEEN -5 AND 5 for a value"
            self._refuse_shape("ABS takes a dimension of one update less one of another", call, advice)
            return None
        left, right = self._dimension(inside.left), self._dimension(inside.right)
        if left is None or right is None:
            return None
        if left.alias == right.alias:
            self._refuse_same(self.aliases[left.alias], inside)
            return None
        return _Subject((left, right))

    def _distance(self, call: Call) -> _Subject | None:
        """`DISTANCE(a, b)`."""
        plain = [name for name in call.arguments if isinstance(name, Name) and name.qualifier is None]
        if len(call.arguments) != 2 or len(plain) != 2:
            advice = "write DISTANCE(a, b); it is over all dimensions"
            self._refuse_shape("DISTANCE takes two aliases of PAIRS", call, advice)
            return None
        found = [self._alias(name.name, name) for name in plain]
        left, right = found
        if left is None or right is None:
            return None
        if left == right:
            self._refuse_same(self.aliases[left], call)
            return None
        schemas = [self.schemas[self.sources[alias]] for alias in (left, right)]
        dimensions = [set(dimensions_in(schema)) for schema in schemas if schema and self._is_update(schema)]
        if len(dimensions) == 2 and dimensions_in(schemas[0]) != dimensions_in(schemas[1]):  # type: ignore[arg-type]
            first, second = (", ".join(dimensions_in(schema)) for schema in schemas if schema)
            self._refuse_shape(
                f"'{plain[0].name}' has the dimensions {first}, and '{plain[1].name}' has {second}",
                call,
                "a DISTANCE needs the same ones in the same order: compare them one by one with ABS",
            )
            return None
        return _Subject((), (left, right))

    def _dimension(self, name: Name) -> _Of | None:
        alias = self._alias_of(name)
        if alias is None:
            return None
        schema = self.schemas[self.sources[alias]]
        if schema is None:
            return _Of(alias, name.name)
        dimensions = dimensions_in(schema)
        kind = schema.types.get(name.name)
        span = name.span or self.tree.span
        if name.name in dimensions:
            return _Of(alias, name.name)
        if kind is None:
            known = suggest(name.name, dimensions, "dimensions")
            self.complaints.refuse(
                "unknown-column", f"there is no dimension named '{name.name}'", span, *known
            )
        elif not kind.numeric:
            self.complaints.refuse(
                "attribute-not-numeric",
                f"PREDICT compares numbers, but '{name.name}' is {kind.value}",
                span,
                f"its dimensions are {', '.join(dimensions)}" if dimensions else "take a column of numbers",
            )
        elif self._is_update(schema):
            self.complaints.refuse(
                "no-updates",
                f"'{name.name}' is no dimension of '{schema.name}': there is no '{slope_of(name.name)}'",
                span,
                f"its dimensions are {', '.join(dimensions)}",
            )
        return None

    def _alias_of(self, name: Name) -> int | None:
        if self.aliases:
            if name.qualifier is not None:
                return self._alias(name.qualifier, name)
            example = f"{self.aliases[0]}.{name.name}"
            self.complaints.refuse(
                "unknown-alias",
                f"'{name.name}' of which update?",
                name.span or self.tree.span,
                f"write {example}: the aliases are {', '.join(self.aliases)}",
            )
            return None
        if name.qualifier is None:
            return 0
        self.complaints.refuse(
            "unknown-alias",
            f"there is no alias '{name.qualifier}', because there is no PAIRS",
            name.span or self.tree.span,
            f"write {name.name}, or PAIRS a, b WHERE … for conditions on two updates",
        )
        return None

    def _alias(self, alias: str, name: Name) -> int | None:
        if alias in self.aliases:
            return self.aliases.index(alias)
        self.complaints.refuse(
            "unknown-alias",
            f"there is no alias named '{alias}'",
            name.span or self.tree.span,
            *suggest(alias, self.aliases, "aliases"),
        )
        return None

    # --- the number ---------------------------------------------------------------------------------------------------

    def _bound(self, expression: Expression) -> float | None:
        before = len(self.complaints.errors)
        kind = type_of(expression, {}, self.complaints)
        if kind is None:
            return None
        span = expression.span or self.tree.span
        if kind not in (ExprType.BIGINT, ExprType.DOUBLE):
            message = f"a dimension is compared with a number, not with {kind.value}"
            self.complaints.refuse(
                "type-mismatch", message, span, "write a plain number, or a length in METERS"
            )
            return None
        value = constant(expression)
        if not isinstance(value, int | float) or not math.isfinite(value):
            self.complaints.refuse("type-mismatch", "this is no number", span, "write a plain number")
        return float(value) if len(self.complaints.errors) == before else None  # type: ignore[arg-type]

    def _unit_fits(self, subject: _Subject, bound: Expression) -> bool:
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

    # --- complaints ---------------------------------------------------------------------------------------------------

    def _refuse_shape(self, why: str, part: Expression, *advice: str) -> None:
        self.complaints.refuse("not-predictable", why, part.span or self.tree.span, *(advice or (_SHAPES,)))

    def _refuse_same(self, alias: str, part: Expression) -> None:
        self._refuse_shape(f"'{alias}' is compared with itself", part, "compare two different aliases")


def _conjunction(expression: Expression) -> Iterator[Expression]:
    """What is joined by AND, in the order written."""
    waiting = [expression]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Binary) and found.operator == "AND":
            waiting += [found.right, found.left]
        else:
            yield found


def _is_constant(expression: Expression) -> bool:
    return not any(isinstance(part, Name) for part in every_part(expression))


def _said(name: Name) -> str:
    return name.name if name.qualifier is None else f"{name.qualifier}.{name.name}"


def _example(function: str) -> str:
    return "ABS(a.x - b.x) <= 5" if function == "ABS" else "DISTANCE(a, b) <= 5"


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return " and no ".join([", no ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]
