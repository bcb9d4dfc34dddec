"""What each rule of FOLLOW in `grammar.lark` beside it adds to the tree; the methods have the names of the rules.

After RADIUS, BOX or SHAPE, options may be in any order. That only one of these occurs, and one way to say when an
interest is moved, is checked here, because the tree has no room for a second one.
"""

from __future__ import annotations

from lark import Token, v_args

from headwater.kernels.follow.choices import Update
from headwater.query.language.leaves import name_of, number_of, stretch, whole_number
from headwater.query.language.options import Option, once, one_of
from headwater.query.language.shared_rules import REGIONS, SharedRules, Signed, length_of
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Expression, Literal, Quantity
from headwater.query.operators.follow.tree import Follow


@v_args(inline=True)
class FollowRules(SharedRules):
    """The rules between `FOLLOW (` and its end."""

    def follow(self, word: Token, focals: Token, where: Expression | None, *listed: Option) -> Follow:
        """`FOLLOW (focals [WHERE condition] options)`."""
        options = once(listed)
        one_of(listed, REGIONS)
        one_of(listed, [update.name for update in Update])
        quality, over = options.get("QUALITY", (None, None))
        return Follow(
            name_of(focals),
            where,
            options.get("RADIUS"),
            options.get("BOX"),
            options.get("SHAPE"),
            options.get("LAST"),
            next((update for update in Update if update.name in options), None),
            options.get("EVERY"),
            options.get("MOVED"),
            quality,
            over,
            options.get("FORGET"),
            options.get("DELIVER"),
            options.get("BEST EFFORT"),
            "EMIT" in options,
            span=span_of(word),
            places={"focals": span_of(focals)} | {part.word: part.span for part in listed},
        )

    # --- when an interest moves -----------------------------------------------------------------------------------

    def update_option(self, _: Token, option: Option) -> Option:
        """`UPDATE …`."""
        return option

    def update_alone(self, option: Option) -> Option:
        """The same without the word."""
        return option

    def update_always(self, word: Token) -> Option:
        """`ALWAYS`."""
        return Option("ALWAYS", True, span_of(word))

    def update_every(self, word: Token, every: Quantity) -> Option:
        """`EVERY t`."""
        return Option("EVERY", every, stretch(word, every))

    def update_moved(self, word: Token, moved: Literal | Quantity) -> Option:
        """`MOVED d`."""
        return Option("MOVED", length_of(moved), stretch(word, moved))

    def update_quality(self, word: Token, p: Signed, r: Signed, over: Quantity | None) -> Option:
        """`QUALITY p, r [OVER h]`."""
        quality = number_of(p.number, p.minus), number_of(r.number, r.minus)
        return Option("QUALITY", (quality, over), stretch(word, over or r.number))

    # --- all else -------------------------------------------------------------------------------------------------

    def last_option(self, word: Token, last: Quantity) -> Option:
        """`LAST t`."""
        return Option("LAST", last, stretch(word, last))

    def deliver_option(self, word: Token, delivered: Token) -> Option:
        """`DELIVER ONCE` or `DELIVER EACH`."""
        return Option("DELIVER", delivered.upper() == "EACH", stretch(word, delivered))

    def delivered(self, word: Token) -> Token:
        """How often."""
        return word

    def effort_option(self, word: Token, _: Token, n: Signed) -> Option:
        """`BEST EFFORT n`."""
        return Option("BEST EFFORT", whole_number(n.number, "BEST EFFORT", n.minus), stretch(word, n.number))

    def interests_option(self, word: Token, interests: Token) -> Option:
        """`EMIT INTERESTS`."""
        return Option("EMIT", True, stretch(word, interests))
