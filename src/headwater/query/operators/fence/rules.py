"""What each rule of FENCE in `grammar.lark` beside it adds to the tree; the methods carry the names of the rules.

RADIUS, BOX, SHAPE and FORGET are those of FOLLOW. Options may stand in any order.
"""

from __future__ import annotations

from lark import Token, v_args

from headwater.kernels.fence.choices import Detect
from headwater.query.language.leaves import name_of, refused, stretch
from headwater.query.language.options import Option, once, one_of
from headwater.query.language.shared_rules import REGIONS, SharedRules
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Expression
from headwater.query.operators.fence.tree import Fence


@v_args(inline=True)
class FenceRules(SharedRules):
    """The rules between `FENCE (` and its end."""

    def fence(self, word: Token, fences: Token, where: Expression | None, *listed: Option) -> Fence:
        """`FENCE (fences [WHERE condition] options)`."""
        options = once(listed)
        one_of(listed, REGIONS)
        return Fence(
            name_of(fences),
            where,
            options.get("RADIUS"),
            options.get("BOX"),
            options.get("SHAPE"),
            options.get("DETECT"),
            options.get("FORGET"),
            span=span_of(word),
            places={"fences": span_of(fences)} | {part.word: part.span for part in listed},
        )

    def detect_option(self, word: Token, *changes: Token) -> Option:
        """`DETECT word, …`; each word once."""
        found: list[Detect] = []
        for token in changes:
            detect = Detect[token.upper()]
            if detect in found:
                raise refused(f"DETECT lists {detect.name} twice", span_of(token), "list it once")
            found.append(detect)
        return Option("DETECT", tuple(found), stretch(word, changes[-1]))

    def detected(self, word: Token) -> Token:
        """The changes to report."""
        return word
