"""Expressions: of WHERE, SELECT lists, DEFINE and MEASURES."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.model import Span


def nowhere() -> Span | None:
    """The field of a node that says where it stood."""
    return field(default=None, compare=False, repr=False, kw_only=True)


def no_places() -> Mapping[str, Span]:
    """The field of an operator with the places of its options, by their words."""
    return field(default_factory=dict, compare=False, repr=False, kw_only=True)


class Unit(enum.Enum):
    """Units a number can carry: seconds and metres are what the engine counts in."""

    SECONDS = ("SECONDS", 1.0)
    MINUTES = ("MINUTES", 60.0)
    HOURS = ("HOURS", 3600.0)
    DAYS = ("DAYS", 86400.0)
    METERS = ("METERS", 1.0)
    KM = ("KM", 1000.0)

    @property
    def is_time(self) -> bool:
        """Whether it measures time; the others measure length."""
        return self not in (Unit.METERS, Unit.KM)

    @property
    def factor(self) -> float:
        """Seconds or metres in one of it."""
        return self.value[1]


class Scope(enum.Enum):
    """Over which rows of a match a measure looks: those up to the present one, or all."""

    RUNNING = "RUNNING"
    FINAL = "FINAL"


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a string, TRUE, FALSE or NULL (None)."""

    value: float | int | str | bool | None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Timestamp:
    """TIMESTAMP '2026-01-31 06:00:00', in microseconds."""

    instant: int
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit: 30 SECONDS, 1.5 KM."""

    amount: float | int
    unit: Unit
    span: Span | None = nowhere()

    @property
    def micros(self) -> int:
        """A duration in microseconds."""
        return round(self.amount * self.unit.factor * 1_000_000)

    @property
    def meters(self) -> float:
        """A length in metres."""
        return self.amount * self.unit.factor


@dataclass(frozen=True, slots=True)
class Name:
    """A column; `qualifier` is the part before the dot, for operators with row variables."""

    name: str
    qualifier: str | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `+x` or `NOT x`."""

    operator: str
    operand: Expression
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Binary:
    """`+ - * / % || = <> < <= > >= AND OR` between two expressions."""

    operator: str
    left: Expression
    right: Expression
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Between:
    """`x [NOT] BETWEEN low AND high`, both ends included."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class In:
    """`x [NOT] IN (a, b, …)`."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class IsNull:
    """`x IS [NOT] NULL`."""

    operand: Expression
    negated: bool = False
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE WHEN condition THEN value … [ELSE value] END`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Call:
    """A function, its name in capitals; `scope` is the word RUNNING or FINAL before it, in MEASURES."""

    function: str
    arguments: tuple[Expression, ...]
    scope: Scope | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, or `A.*` with the variable A: only as the argument of COUNT."""

    qualifier: str | None = None
    span: Span | None = nowhere()


Expression = (
    Literal | Timestamp | Quantity | Name | Unary | Binary | Between | In | IsNull | Case | Call | Star
)
