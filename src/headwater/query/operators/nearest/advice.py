"""What is wrong inside a NEAREST: advice for what people write and the language does not say so."""

from __future__ import annotations

from typing import Final

from headwater.query.language.syntax_advice import SyntaxAdvice, Unexpected

_OPTIONS: Final = {"OVER", "USING", "WEIGHTED"}
_ALL_OPTIONS: Final = (
    "after TO come BY (…), WEIGHTED (…), OVER a time or n ROWS, PER column, WITH TIES, USING EXACT or PROBABLE, "
    "EMIT ENTERS, CHANGES or EVERY, FORGET"
)


class NearestAdvice(SyntaxAdvice):
    """Of NEAREST."""

    __slots__ = ()

    def first(self, unexpected: Unexpected) -> str | None:
        """Its window is not called as that of other operators."""
        if unexpected.kind == "WITHIN" and not unexpected.name_expected and unexpected.words >= _OPTIONS:
            return "give the window of NEAREST with OVER, as in OVER 1 HOUR"
        return None

    def otherwise(self, unexpected: Unexpected) -> str | None:
        """What its options look like."""
        words, found = unexpected.words, unexpected.text
        if words >= {"EACH", "HIGHEST", "LOWEST"}:
            return _target(unexpected)
        if words == {"(", "PLACE"}:
            return "the attributes need parentheses: BY (solar, volts)"
        if words == {"EXACT", "PROBABLE"}:
            return "write USING EXACT or USING PROBABLE 0.001, optionally followed by ALGORITHM and its name"
        if words == {"ENTERS", "CHANGES", "EVERY"}:
            return "write EMIT ENTERS, EMIT CHANGES, or EMIT EVERY 10 SECONDS"
        if words == {"AS", ",", ")"}:
            return "BY takes columns: compute other values in a query, and read that query"
        if not words >= _OPTIONS:
            return None
        if found == ",":
            return "write the options without commas; PER, HIGHEST and LOWEST take one column"
        return _ALL_OPTIONS if found.isidentifier() else None


def _target(unexpected: Unexpected) -> str:
    named = unexpected.text.strip("'")
    point = "a point needs parentheses: TO (0.31, 0.22)"
    others = (
        f"write TO EACH OF {named} for declared points, TO HIGHEST {named} or TO LOWEST {named} for values"
    )
    return f"{others}; {point}" if named.isidentifier() or unexpected.kind == "QUOTED" else point
