"""The canonical text of PREDICT, for `printer.show`."""

from __future__ import annotations

from headwater.kernels.predict.choices import Certainty
from headwater.query.language.expression_text import expression_text, name_text, operator_text
from headwater.query.operators.predict.tree import Predict


def predict_text(node: Predict) -> str:
    """`PREDICT (…)`."""
    aliases = ", ".join(name_text(alias.name) for alias in node.aliases)
    seed = "" if node.seed is None else f" {node.seed}"
    lines = [
        f"PAIRS {aliases} WHERE {expression_text(node.condition)}"
        if node.aliases
        else expression_text(node.condition),
        *([f"WITHIN {expression_text(node.within)}"] if node.within else []),
        *([f"PROBABILITY >= {node.p!r}"] if node.certainty is Certainty.PROBABILITY else []),
        *([node.certainty.name] if node.certainty in (Certainty.MAY, Certainty.MUST) else []),
        *([] if node.tentative is None else ["TENTATIVE" if node.tentative else "VALIDATED"]),
        *([f"AHEAD {expression_text(node.ahead)}"] if node.ahead else []),
        *([f"EVERY {expression_text(node.every)}"] if node.every else []),
        *([] if node.buffer is None else [f"BUFFER {node.buffer}"]),
        *([f"GIVE UP {node.give_up.name}{seed}"] if node.give_up else []),
    ]
    return operator_text("PREDICT", lines)
