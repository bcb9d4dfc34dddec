"""What each rule of PREDICT in `grammar.lark` beside it adds to the tree; the methods have the names of the rules.

Options may be in any order. Two options that contradict one another (MAY and MUST) are reported here, because the tree has no room for both.
"""

from __future__ import annotations

from lark import Token, v_args

from headwater.kernels.predict.choices import Certainty, GiveUp
from headwater.query.language.leaves import name_of, number_of, stretch, whole_number
from headwater.query.language.options import Option, once, one_of
from headwater.query.language.shared_rules import SharedRules, Signed
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Expression, Quantity
from headwater.query.operators.predict.tree import Alias, Predict


@v_args(inline=True)
class PredictRules(SharedRules):
    """The rules between `PREDICT (` and its end."""

    def predict(
        self, word: Token, aliases: tuple[Alias, ...] | None, condition: Expression, *listed: Option
    ) -> Predict:
        """`PREDICT ([PAIRS aliases WHERE] condition options)`."""
        options = once(listed)
        one_of(listed, ("MAY", "MUST", "PROBABILITY"))
        one_of(listed, ("TENTATIVE", "VALIDATED"))
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
            places={part.word: part.span for part in listed},
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
