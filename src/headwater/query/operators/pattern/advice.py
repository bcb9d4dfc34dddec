"""What is wrong inside a MATCH_RECOGNIZE: advice for what people write elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from headwater.query.language.syntax_advice import Group, SyntaxAdvice, Unexpected

_CLAUSES: Final = (
    "the clauses come in this order: PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, MATCH EVERY, MODE, "
    "AFTER MATCH, PATTERN (…), WITHIN, WITH TIMEOUTS, LIMIT, FORGET, SUBSET, DEFINE"
)
_LOOP: Final = "a loop in a loop needs parentheses: (A+)*"
_FOLLOWED_BY: Final = "write A B for the very next row, A ~> B for the next B, A ~~> B for any later B"
_ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("*", "+", "?", "{"), _LOOP),
    **dict.fromkeys(("-", ">"), _FOLLOWED_BY),
    "||": "separate alternatives with a single bar: A | B",
    "!": "write NOT B for the absence of a row, and B+! for a loop that takes all rows it can",
}
"""For what people write in patterns elsewhere."""


class PatternAdvice(SyntaxAdvice):
    """Of MATCH_RECOGNIZE."""

    __slots__ = ()

    signs = frozenset({"?", "!", "{", "}", "{-", "-}", "^", "$", "|", "~", "~~", "~>", "~~>"})
    beginning = Group(
        frozenset({"BEGINNING", "ENDING", "OPEN_EXCLUSION", "PERMUTE", "LPAR", "NOT", "NAME", "QUOTED"}),
        "a part of a pattern",
    )
    groups: ClassVar[tuple[Group, ...]] = (
        Group(frozenset({"~>", "~~>"}), "a link such as '~>'"),
        Group(frozenset({"*", "+", "?", "{", "~", "~~"}), "a quantifier such as '+'"),
    )
    named_first = "PATTERN"

    def first(self, unexpected: Unexpected) -> str | None:
        """What a pattern says otherwise, and the order of the clauses."""
        words = unexpected.words
        if words & self.signs and unexpected.text in _ELSEWHERE:
            return _ELSEWHERE[unexpected.text]
        if unexpected.name_expected or not unexpected.text.isidentifier():
            return None
        return _CLAUSES if "PATTERN" in words or words >= {"DEFINE", "SUBSET"} else None
