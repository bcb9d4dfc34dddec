"""What is wrong inside a FENCE: what its options look like."""

from __future__ import annotations

from typing import Final

from headwater.query.language.syntax_advice import SyntaxAdvice, Unexpected

_OPTIONS: Final = {"DETECT", "FORGET"}


class FenceAdvice(SyntaxAdvice):
    """Of FENCE."""

    __slots__ = ()

    def otherwise(self, unexpected: Unexpected) -> str | None:
        """What its options look like."""
        if unexpected.words >= _OPTIONS:
            return (
                "after the fences come RADIUS, BOX or SHAPE if they move, DETECT and what to detect, and FORGET, "
                "without commas between them"
            )
        if unexpected.words == {"ENTER", "EXIT", "INSIDE", "OUTSIDE", "CROSS"}:
            return "write DETECT and what to detect: ENTER, EXIT, INSIDE, OUTSIDE, CROSS"
        return None
