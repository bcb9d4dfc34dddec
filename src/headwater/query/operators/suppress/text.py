"""The canonical text of SUPPRESS, for `printer.show`."""

from __future__ import annotations

from typing import Final

from headwater.kernels.suppress.choices import Predictor
from headwater.query.language.expression_text import expression_text, name_text, operator_text
from headwater.query.language.tree.expressions import Quantity
from headwater.query.operators.suppress.tree import Suppress

PREDICTORS: Final = {
    Predictor.CONSTANT: "CONSTANT",
    Predictor.SLOPE: "SLOPE",
    Predictor.LEAST_SQUARES: "LEAST SQUARES",
    Predictor.DOUBLE_EXPONENTIAL: "DOUBLE EXPONENTIAL",
    Predictor.KALMAN: "KALMAN",
}
"""How each predictor is written."""


def suppress_text(node: Suppress) -> str:
    """`SUPPRESS (…)`."""
    tolerance = (
        expression_text(node.tolerance) if isinstance(node.tolerance, Quantity) else repr(node.tolerance)
    )
    lines = [
        f"{', '.join(name_text(dimension.name) for dimension in node.dimensions)} TOLERANCE {tolerance}",
        f"HEARTBEAT {expression_text(node.heartbeat)}",
        *([f"USING {predictor_text(node)}"] if node.predictor else []),
        *([f"FORGET {expression_text(node.forget)}"] if node.forget else []),
    ]
    return operator_text("SUPPRESS", lines)


def predictor_text(node: Suppress) -> str:
    """A predictor and its numbers, as after USING."""
    assert node.predictor is not None
    return " ".join([PREDICTORS[node.predictor], ", ".join(map(repr, node.parameters))]).rstrip()
