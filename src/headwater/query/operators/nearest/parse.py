"""The part of a NEAREST that is read alone."""

from __future__ import annotations

from headwater.query.language.parse import parse_alone
from headwater.query.operators.nearest.tree import Using


def parse_using(text: str) -> Using:
    """How candidates are stored, such as `USING PROBABLE 0.001`; raises QueryError."""
    return parse_alone(text, "using")
