"""What does a condition of a PREDICT compare with a number: a dimension, the size of a difference, or a distance?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from headwater.model import StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.updates import dimensions_in, is_updates, slope_of
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import Binary, Call, Expression, Name
from headwater.query.language.walk import every_part
from headwater.query.operators.predict.tree import Predict

_SHAPES: Final = (
    "PREDICT takes conditions joined by AND: temperature < 50; in PAIRS also a.temperature < 50, ABS(a.x - b.x) <= 400, "
    "DISTANCE(a, b) <= 400"
)


class Of(NamedTuple):
    """A dimension of an alias."""

    alias: int
    name: str


class Subject(NamedTuple):
    """What is compared with a number: one dimension, the size of a difference of two, or (no dimension) a distance."""

    of: tuple[Of, ...]
    distance: tuple[int, int] | None = None


@dataclass(slots=True)
class Subjects:
    """Those of one operator; `sources` says for every alias which of the `schemas` it reads, None where one is not known."""

    tree: Predict
    sources: Sequence[int]
    schemas: Sequence[StreamSchema | None]
    complaints: Complaints
    aliases: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.aliases = [alias.name for alias in self.tree.aliases]

    def subject(self, expression: Expression, whole: Expression) -> Subject | None:
        """The subject of one side of a comparison; None and a complaint. `whole` is the comparison."""
        if isinstance(expression, Name):
            of = self._dimension(expression)
            return None if of is None else Subject((of,))
        if isinstance(expression, Call) and expression.function in ("ABS", "DISTANCE"):
            if not self.aliases:
                name = "temperature" if expression.function == "ABS" else "x"
                self.refuse_shape(
                    f"{expression.function} compares two updates, but this condition is on each update",
                    expression,
                    f"write PAIRS a, b WHERE {_example(expression.function)} WITHIN 3 SECONDS",
                    *([f"or {name} BETWEEN -5 AND 5"] if expression.function == "ABS" else []),
                )
                return None
            return self._distance(expression) if expression.function == "DISTANCE" else self._size(expression)
        if isinstance(expression, Binary) and expression.operator == "-" and self.aliases:
            self.refuse_shape("a difference of two updates needs ABS", expression, "write ABS(a.x - b.x)")
        elif is_constant(expression):
            self.refuse_shape("both sides are numbers", whole)
        else:
            self.refuse_shape("this is not a dimension", expression)
        return None

    def refuse_shape(self, why: str, part: Expression, *advice: str) -> None:
        """Report a condition that cannot be decided between updates."""
        self.complaints.refuse("not-predictable", why, part.span or self.tree.span, *(advice or (_SHAPES,)))

    def _size(self, call: Call) -> Subject | None:
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
                advice += f", or {said_as(inside)} BETWEEN -5 AND 5 for a value"
            self.refuse_shape(
                "ABS takes a dimension of one update minus a dimension of another", call, advice
            )
            return None
        left, right = self._dimension(inside.left), self._dimension(inside.right)
        if left is None or right is None:
            return None
        if left.alias == right.alias:
            self._refuse_same(self.aliases[left.alias], inside)
            return None
        return Subject((left, right))

    def _distance(self, call: Call) -> Subject | None:
        """`DISTANCE(a, b)`."""
        plain = [name for name in call.arguments if isinstance(name, Name) and name.qualifier is None]
        if len(call.arguments) != 2 or len(plain) != 2:
            advice = "write DISTANCE(a, b); it uses all dimensions"
            self.refuse_shape("DISTANCE takes two aliases of PAIRS", call, advice)
            return None
        found = [self._alias(name.name, name) for name in plain]
        left, right = found
        if left is None or right is None:
            return None
        if left == right:
            self._refuse_same(self.aliases[left], call)
            return None
        schemas = [self.schemas[self.sources[alias]] for alias in (left, right)]
        dimensions = [set(dimensions_in(schema)) for schema in schemas if schema and is_updates(schema)]
        if len(dimensions) == 2 and dimensions_in(schemas[0]) != dimensions_in(schemas[1]):  # type: ignore[arg-type]
            first, second = (", ".join(dimensions_in(schema)) for schema in schemas if schema)
            self.refuse_shape(
                f"'{plain[0].name}' has the dimensions {first}, and '{plain[1].name}' has {second}",
                call,
                "a DISTANCE needs the same dimensions in the same order: compare them one by one with ABS",
            )
            return None
        return Subject((), (left, right))

    def _dimension(self, name: Name) -> Of | None:
        alias = self._alias_of(name)
        if alias is None:
            return None
        schema = self.schemas[self.sources[alias]]
        if schema is None:
            return Of(alias, name.name)
        dimensions = dimensions_in(schema)
        kind = schema.types.get(name.name)
        span = name.span or self.tree.span
        if name.name in dimensions:
            return Of(alias, name.name)
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
                f"its dimensions are {', '.join(dimensions)}" if dimensions else "use a numeric column",
            )
        elif is_updates(schema):
            self.complaints.refuse(
                "no-updates",
                f"'{name.name}' is not a dimension of '{schema.name}': there is no '{slope_of(name.name)}'",
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
                f"'{name.name}' needs an alias that says which update it belongs to",
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

    def _refuse_same(self, alias: str, part: Expression) -> None:
        self.refuse_shape(f"'{alias}' is compared with itself", part, "compare two different aliases")


def is_constant(expression: Expression) -> bool:
    """Whether it contains no column."""
    return not any(isinstance(part, Name) for part in every_part(expression))


def said_as(name: Name) -> str:
    """A dimension as it was written."""
    return name.name if name.qualifier is None else f"{name.qualifier}.{name.name}"


def _example(function: str) -> str:
    return "ABS(a.x - b.x) <= 5" if function == "ABS" else "DISTANCE(a, b) <= 5"
