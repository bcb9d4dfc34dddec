"""The part of a SUPPRESS that is read alone."""

from __future__ import annotations

from headwater.kernels.suppress.choices import Predictor
from headwater.query.language.parse import parse_alone


def parse_predictor(text: str) -> tuple[Predictor, tuple[float | int, ...]]:
    """A predictor and its numbers, such as `USING LEAST SQUARES 5`; raises QueryError."""
    used = parse_alone(text, "predictor_used")
    return used.predictor, used.parameters
