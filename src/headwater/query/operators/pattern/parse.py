"""Parts of a MATCH_RECOGNIZE that are read alone."""

from __future__ import annotations

from headwater.query.language.parse import parse_alone
from headwater.query.operators.pattern.tree import Pattern, Skip


def parse_pattern(text: str) -> Pattern:
    """The contents of PATTERN, such as `A B+ ~> C`; raises QueryError."""
    return parse_alone(text, "pattern")


def parse_skip(text: str) -> Skip:
    """Where the search continues, such as `AFTER MATCH SKIP TO NEXT ROW`; raises QueryError."""
    return parse_alone(text, "after")
