"""What each rule of SUPPRESS and PREDICT in `grammar.lark` adds to the tree; the methods carry the names of the rules.

Options may stand in any order. What must be there (TOLERANCE, HEARTBEAT) and what says the same thing twice (MAY and MUST) is
told here, because the tree has no room for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lark import Token, v_args

from headwater.kernels.predict.words import Certainty, GiveUp
from headwater.kernels.suppress.words import Predictor
from headwater.model import Span
from headwater.query.syntax.leaves import Number, name_of, number_of, refused, stretch, whole_number
from headwater.query.syntax.nearest_rules import NearestRules, Signed
from headwater.query.syntax.options import Option, once, one_of
from headwater.query.syntax.tokens import span_of
from headwater.query.tree import Expression, Literal, Predict, Quantity, Suppress
from headwater.query.tree.predict import Alias, Dimension


class _Used(NamedTuple):
    """A predictor and the numbers behind it."""

    predictor: Predictor
    parameters: tuple[Number, ...]
    span: Span


@v_args(inline=True)
class PredictRules(NearestRules):
    """The rules between `SUPPRESS (` or `PREDICT (` and their ends."""

    # --- SUPPRESS -------------------------------------------------------------------------------------------------

    def suppress(self, word: Token, *parts: Any) -> Suppress:
        """`SUPPRESS (dimensions options)`."""
        given = [part for part in parts if isinstance(part, Option)]
        options = once(given)
        for missing, advice in (
            ("TOLERANCE", "say how far a value may be from the line that was sent: TOLERANCE 0.5"),
            ("HEARTBEAT", "say after how long an update is sent in any case: HEARTBEAT 30 SECONDS"),
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
            places={part.word: part.span for part in given},
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

    def double_predictor(self, word: Token, _double: Token, _word: Token, *given: Signed) -> _Used:
        """`USING DOUBLE EXPONENTIAL α, β`."""
        return _Used(Predictor.DOUBLE_EXPONENTIAL, _numbers(given), stretch(word, given[-1].number))

    def kalman_predictor(self, word: Token, _kalman: Token, *given: Signed) -> _Used:
        """`USING KALMAN q, r`."""
        return _Used(Predictor.KALMAN, _numbers(given), stretch(word, given[-1].number))

    # --- PREDICT --------------------------------------------------------------------------------------------------

    def predict(
        self, word: Token, aliases: tuple[Alias, ...] | None, condition: Expression, *given: Option
    ) -> Predict:
        """`PREDICT ([PAIRS aliases WHERE] condition options)`."""
        options = once(given)
        one_of(given, ("MAY", "MUST", "PROBABILITY"))
        one_of(given, ("TENTATIVE", "VALIDATED"))
        certainties = (Certainty[name] for name in ("MAY", "MUST", "PROBABILITY") if name in options)
        give_up, seed = options.get("GIVE UP", (None, None))
        return Predict(
            aliases or (),
            condition,
            options.get("WITHIN"),
            next(certainties, None),
            options.get("PROBABILITY"),
            True if "TENTATIVE" in options else False if "VALIDATED" in options else None,
            options.get("AHEAD"),
            options.get("EVERY"),
            options.get("BUFFER"),
            give_up,
            seed,
            span=span_of(word),
            places={part.word: part.span for part in given},
        )

    def pairs(self, *aliases: Alias) -> tuple[Alias, ...]:
        """`PAIRS a, b WHERE`."""
        return aliases

    def pair_alias(self, name: Token) -> Alias:
        """A name for one update of a pair."""
        return Alias(name_of(name), span=span_of(name))

    def predict_within(self, word: Token, within: Quantity) -> Option:
        """`WITHIN t`."""
        return Option("WITHIN", within, stretch(word, within))

    def may_option(self, word: Token) -> Option:
        """`MAY`."""
        return Option("MAY", True, span_of(word))

    def must_option(self, word: Token) -> Option:
        """`MUST`."""
        return Option("MUST", True, span_of(word))

    def probability_option(self, word: Token, p: Signed) -> Option:
        """`PROBABILITY >= p`."""
        return Option("PROBABILITY", number_of(p.number, p.minus), stretch(word, p.number))

    def tentative_option(self, word: Token) -> Option:
        """`TENTATIVE`."""
        return Option("TENTATIVE", True, span_of(word))

    def validated_option(self, word: Token) -> Option:
        """`VALIDATED`."""
        return Option("VALIDATED", True, span_of(word))

    def ahead_option(self, word: Token, ahead: Quantity) -> Option:
        """`AHEAD t`."""
        return Option("AHEAD", ahead, stretch(word, ahead))

    def every_option(self, word: Token, every: Quantity) -> Option:
        """`EVERY t`."""
        return Option("EVERY", every, stretch(word, every))

    def buffer_option(self, word: Token, size: Signed) -> Option:
        """`BUFFER n`."""
        return Option("BUFFER", whole_number(size.number, "BUFFER", size.minus), stretch(word, size.number))

    def give_up_option(self, option: Option) -> Option:
        """`GIVE UP …`."""
        return option

    def give_up_word(self, give: Token, _: Token, word: Token) -> Option:
        """`GIVE UP LEAST`, `NEWEST` or `OLDEST`."""
        return Option("GIVE UP", (GiveUp[word.upper()], None), stretch(give, word))

    def give_up_random(self, give: Token, _: Token, word: Token, seed: int) -> Option:
        """`GIVE UP RANDOM seed`."""
        return Option("GIVE UP", (GiveUp.RANDOM, seed), stretch(give, word))

    def given_up(self, word: Token) -> Token:
        """Which update goes."""
        return word


def _numbers(given: Sequence[Signed]) -> tuple[Number, ...]:
    return tuple(number_of(part.number, part.minus) for part in given)
