"""Rules of `grammar.lark` that several operators share: numbers with a sign, what lies around a place, FORGET."""

from __future__ import annotations

from typing import Final, NamedTuple

from lark import Token, v_args

from headwater.query.language.expression_rules import ExpressionRules
from headwater.query.language.leaves import literal, name_of, stretch, whole_number
from headwater.query.language.options import Option
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Literal, Quantity, Unit

REGIONS: Final = ("RADIUS", "BOX", "SHAPE")
"""The ways to say what lies around a place."""


class Signed(NamedTuple):
    """A number that need not make sense yet: what counts must be whole, what is likely may have a point."""

    minus: Token | None
    number: Token


@v_args(inline=True)
class SharedRules(ExpressionRules):
    """What the rules of every operator begin with."""

    def signed_number(self, minus: Token | None, number: Token) -> Signed:
        """A number with its sign."""
        return Signed(minus, number)

    def coordinate(self, minus: Token | None, number: Token) -> Literal:
        """A number with its sign."""
        return literal(number, minus)

    def seed(self, minus: Token | None, number: Token) -> int:
        """A whole number."""
        return whole_number(number, "SEED", minus)

    def radius_option(self, word: Token, radius: Literal | Quantity) -> Option:
        """`RADIUS r`."""
        return Option("RADIUS", length_of(radius), stretch(word, radius))

    def box_option(self, word: Token, width: Literal | Quantity, height: Literal | Quantity) -> Option:
        """`BOX w, h`."""
        return Option("BOX", (length_of(width), length_of(height)), stretch(word, height))

    def shape_option(self, _: Token, column: Token) -> Option:
        """`SHAPE column`."""
        return Option("SHAPE", name_of(column), span_of(column))

    def forget_option(self, word: Token, forget: Quantity) -> Option:
        """`FORGET t`."""
        return Option("FORGET", forget, stretch(word, forget))


def length_of(radius: Literal | Quantity) -> Quantity:
    """A number without unit is metres."""
    if isinstance(radius, Quantity):
        return radius
    assert isinstance(radius.value, int | float)
    return Quantity(radius.value, Unit.METERS, span=radius.span)
