"""What each rule of SUPPRESS in `grammar.lark` beside it adds to the tree; the methods have the names of the rules.

Options may be in any order. Required ones (TOLERANCE, HEARTBEAT) are checked here, because the tree has no room for their absence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lark import Token, v_args

from headwater.kernels.suppress.choices import Predictor
from headwater.model import Span
from headwater.query.language.leaves import Number, name_of, number_of, refused, stretch, whole_number
from headwater.query.language.options import Option, once
from headwater.query.language.shared_rules import SharedRules, Signed
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Literal, Quantity
from headwater.query.operators.suppress.tree import Dimension, Suppress


class _Used(NamedTuple):
    """A predictor and the numbers after it."""

    predictor: Predictor
    parameters: tuple[Number, ...]
    span: Span


@v_args(inline=True)
class SuppressRules(SharedRules):
    """The rules between `SUPPRESS (` and its end."""

    def suppress(self, word: Token, *parts: Any) -> Suppress:
        """`SUPPRESS (dimensions options)`."""
        listed = [part for part in parts if isinstance(part, Option)]
        options = once(listed)
        for missing, advice in (
            (
                "TOLERANCE",
                "give the distance that a value may have from the line that was sent: TOLERANCE 0.5",
            ),
            ("HEARTBEAT", "give the time after which an update is always sent: HEARTBEAT 30 SECONDS"),
        ):
            if missing not in options:
                raise refused(f"SUPPRESS without {missing}", span_of(word), advice)
        predictor, parameters = options.get("USING", (None, ()))
        return Suppress(
            tuple(part for part in parts if isinstance(part, Dimension)),
            options["TOLERANCE"],
            options["HEARTBEAT"],
            predictor,
            parameters,
            options.get("FORGET"),
            span=span_of(word),
            places={part.word: part.span for part in listed},
        )

    def dimension(self, name: Token) -> Dimension:
        """A column."""
        return Dimension(name_of(name), span=span_of(name))

    def tolerance_option(self, word: Token, tolerance: Literal | Quantity) -> Option:
        """`TOLERANCE 0.5` or `TOLERANCE 25 METERS`."""
        said = tolerance.value if isinstance(tolerance, Literal) else tolerance
        return Option("TOLERANCE", said, stretch(word, tolerance))

    def heartbeat_option(self, word: Token, heartbeat: Quantity) -> Option:
        """`HEARTBEAT t`."""
        return Option("HEARTBEAT", heartbeat, stretch(word, heartbeat))

    def predictor_option(self, used: _Used) -> Option:
        """`USING predictor`."""
        return Option("USING", (used.predictor, used.parameters), used.span)

    def constant_predictor(self, word: Token, end: Token) -> _Used:
        """`USING CONSTANT`."""
        return _Used(Predictor.CONSTANT, (), stretch(word, end))

    def slope_predictor(self, word: Token, end: Token) -> _Used:
        """`USING SLOPE`."""
        return _Used(Predictor.SLOPE, (), stretch(word, end))

    def squares_predictor(self, word: Token, _least: Token, _squares: Token, n: Signed) -> _Used:
        """`USING LEAST SQUARES n`."""
        count = whole_number(n.number, "LEAST SQUARES", n.minus)
        return _Used(Predictor.LEAST_SQUARES, (count,), stretch(word, n.number))

    def double_predictor(self, word: Token, _double: Token, _word: Token, *listed: Signed) -> _Used:
        """`USING DOUBLE EXPONENTIAL α, β`."""
        return _Used(Predictor.DOUBLE_EXPONENTIAL, _numbers(listed), stretch(word, listed[-1].number))

    def kalman_predictor(self, word: Token, _kalman: Token, *listed: Signed) -> _Used:
        """`USING KALMAN q, r`."""
        return _Used(Predictor.KALMAN, _numbers(listed), stretch(word, listed[-1].number))


def _numbers(listed: Sequence[Signed]) -> tuple[Number, ...]:
    return tuple(number_of(part.number, part.minus) for part in listed)
