"""What is wrong inside a FOLLOW: the order of its options, and what they look like."""

from __future__ import annotations

from typing import Final

from headwater.query.language.syntax_advice import SyntaxAdvice, Unexpected

_REGIONS: Final = {"RADIUS", "BOX", "SHAPE"}
_OPTIONS: Final = {"FORGET", "DELIVER", "ALWAYS", "MOVED"}


class FollowAdvice(SyntaxAdvice):
    """Of FOLLOW."""

    __slots__ = ()

    def otherwise(self, unexpected: Unexpected) -> str | None:
        """What its options look like."""
        words = unexpected.words
        if words >= _OPTIONS:
            return (
                "after RADIUS, BOX or SHAPE come LAST, UPDATE ALWAYS, EVERY, MOVED or QUALITY, FORGET, DELIVER ONCE or EACH, "
                "BEST EFFORT and EMIT INTERESTS, without commas"
            )
        if words >= _REGIONS:
            return "first give the region around an object: RADIUS 500 METERS, BOX 400, 300, or SHAPE and a column with polygons; the other options come after it"
        if words == {"ALWAYS", "EVERY", "MOVED", "QUALITY"}:
            return "write UPDATE ALWAYS, EVERY 10 SECONDS, MOVED 100 METERS or QUALITY 0.8, 0.8"
        if words == {"ONCE", "EACH"}:
            return "write DELIVER ONCE, or DELIVER EACH to deliver an answer once for each interest"
        if words == {"INTERESTS"}:
            return "write EMIT INTERESTS, or leave EMIT out to emit events"
        return None
