"""Parts of a CORRELATE that are read alone."""

from __future__ import annotations

from headwater.query.language.parse import parse_alone
from headwater.query.operators.correlate.tree import Area, Clause


def parse_clause(text: str) -> Clause:
    """A clause, such as `3 OF temperature <= 0 AS cold`; raises QueryError."""
    return parse_alone(text, "clause")


def parse_area(text: str) -> Area:
    """An area, such as `CIRCLE (7.17, 45.87, 5 KM)`; raises QueryError."""
    return parse_alone(text, "area")
