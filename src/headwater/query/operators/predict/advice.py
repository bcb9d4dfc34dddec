"""What is wrong inside a PREDICT: numbers that are missing, and what its options look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from headwater.query.language.syntax_advice import SyntaxAdvice, Unexpected

_OPTIONS: Final = {"MAY", "MUST", "TENTATIVE", "VALIDATED"}


class PredictAdvice(SyntaxAdvice):
    """Of PREDICT."""

    __slots__ = ()

    numbers: ClassVar[Mapping[str, str]] = {
        "PROBABILITY": "PROBABILITY takes a number, the least probability of an answer: PROBABILITY >= 0.9",
        "BUFFER": "BUFFER takes the number of updates to store: BUFFER 10000",
        "RANDOM": "RANDOM takes a seed, any integer: GIVE UP RANDOM 7",
    }

    def otherwise(self, unexpected: Unexpected) -> str | None:
        """What its options look like."""
        words, found = unexpected.words, unexpected.text
        if words == {"LEAST", "NEWEST", "OLDEST", "RANDOM"}:
            return "write GIVE UP LEAST, NEWEST, OLDEST, or RANDOM and a seed, as in GIVE UP RANDOM 7"
        if words == {"WHERE", ","}:
            return "write PAIRS a, b WHERE ABS(a.x - b.x) <= 5 WITHIN 3 SECONDS"
        if words >= _OPTIONS and (found.isidentifier() or found == ","):
            return (
                "after the condition come WITHIN, MAY, MUST or PROBABILITY >= 0.9, VALIDATED, TENTATIVE, AHEAD, EVERY, BUFFER and "
                "GIVE UP, without commas"
            )
        return None
