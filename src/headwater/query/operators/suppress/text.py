"""The canonical text of SUPPRESS, for `printer.show`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from headwater.kernels.suppress.words import Predictor
from headwater.query.language.tree import Quantity, Suppress

PREDICTORS: Final = {
    Predictor.CONSTANT: "CONSTANT",
    Predictor.SLOPE: "SLOPE",
    Predictor.LEAST_SQUARES: "LEAST SQUARES",
    Predictor.DOUBLE_EXPONENTIAL: "DOUBLE EXPONENTIAL",
    Predictor.KALMAN: "KALMAN",
}
"""How each predictor is written."""


def suppress_text(node: Suppress, show: Callable[[object], str], name: Callable[[str], str]) -> str:
    """`SUPPRESS (…)`; `show` gives the text of a node, `name` that of a name."""
    tolerance = show(node.tolerance) if isinstance(node.tolerance, Quantity) else repr(node.tolerance)
    lines = [
        f"{', '.join(name(dimension.name) for dimension in node.dimensions)} TOLERANCE {tolerance}",
        f"HEARTBEAT {show(node.heartbeat)}",
        *([f"USING {predictor_text(node)}"] if node.predictor else []),
        *([f"FORGET {show(node.forget)}"] if node.forget else []),
    ]
    return _block("SUPPRESS", lines)


def predictor_text(node: Suppress) -> str:
    """A predictor and its numbers, as behind USING."""
    assert node.predictor is not None
    return " ".join([PREDICTORS[node.predictor], ", ".join(map(repr, node.parameters))]).rstrip()


def _block(word: str, lines: list[str]) -> str:
    return f"{word} (\n" + "".join(f"  {line}\n" for line in lines) + ")"
