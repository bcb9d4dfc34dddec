"""What a function is: the types it takes and gives, how it is worked out on columns, and how Spark says it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headwater.query.expressions.kinds import ExprType, common_type
from headwater.query.expressions.values import Value


@dataclass(frozen=True, slots=True)
class Signature:
    """The types a call's arguments are brought to, and the type of its result."""

    takes: tuple[ExprType, ...]
    gives: ExprType


Resolve = Callable[[Sequence[ExprType]], Signature | None]
SparkForm = Callable[[Sequence[str], Signature], str]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language.

    `resolve` gives the signature for the types of a call's arguments, None where they do not fit. `compute` gets values of
    exactly these types. `spark` gives Spark SQL that means the same to the last bit, from the SQL of the arguments; None
    where Spark has no such thing, and the function is worked out in Python only.
    """

    usage: str
    meaning: str
    resolve: Resolve
    compute: Callable[..., Value]
    spark: SparkForm | None = None

    @property
    def name(self) -> str:
        """Its name in capitals."""
        return self.usage.partition("(")[0]


def phrase(pattern: str) -> SparkForm:
    """A Spark form with `{0}`, `{1}`, … for the arguments."""

    def form(arguments: Sequence[str], _: Signature) -> str:
        return pattern.format(*arguments)

    return form


def taking(*parameters: ExprType, gives: ExprType) -> Resolve:
    """Exactly these types, in order."""

    def resolve(arguments: Sequence[ExprType]) -> Signature | None:
        fits = len(arguments) == len(parameters) and all(map(_fits, arguments, parameters))
        return Signature(parameters, gives) if fits else None

    return resolve


def taking_any_of(*choices: Resolve) -> Resolve:
    """The first signature that fits; where the word NULL leaves it open which, NULL."""

    def resolve(arguments: Sequence[ExprType]) -> Signature | None:
        fitting = [found for choice in choices if (found := choice(arguments))]
        if ExprType.NULL in arguments and len({found.gives for found in fitting}) > 1:
            return Signature((ExprType.NULL,) * len(arguments), ExprType.NULL)
        return fitting[0] if fitting else None

    return resolve


def taking_alike(*, least: int, most: int | None = None) -> Resolve:
    """Arguments of one common type, which is the type of the result."""

    def resolve(arguments: Sequence[ExprType]) -> Signature | None:
        kind = common_type(arguments)
        if kind is None or len(arguments) < least or (most is not None and len(arguments) > most):
            return None
        return Signature((kind,) * len(arguments), kind)

    return resolve


def taking_texts(arguments: Sequence[ExprType]) -> Signature | None:
    """One string or more."""
    fits = bool(arguments) and all(_fits(kind, ExprType.STRING) for kind in arguments)
    return Signature((ExprType.STRING,) * len(arguments), ExprType.STRING) if fits else None


def _fits(argument: ExprType, parameter: ExprType) -> bool:
    return argument in (parameter, ExprType.NULL) or (argument, parameter) == (
        ExprType.BIGINT,
        ExprType.DOUBLE,
    )
