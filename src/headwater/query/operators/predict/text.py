"""The canonical text of PREDICT, for `printer.show`."""

from __future__ import annotations

from collections.abc import Callable

from headwater.kernels.predict.words import Certainty
from headwater.query.language.tree import Predict


def predict_text(node: Predict, show: Callable[[object], str], name: Callable[[str], str]) -> str:
    """`PREDICT (…)`; `show` gives the text of a node, `name` that of a name."""
    aliases = ", ".join(name(alias.name) for alias in node.aliases)
    seed = "" if node.seed is None else f" {node.seed}"
    lines = [
        f"PAIRS {aliases} WHERE {show(node.condition)}" if node.aliases else show(node.condition),
        *([f"WITHIN {show(node.within)}"] if node.within else []),
        *([f"PROBABILITY >= {node.p!r}"] if node.certainty is Certainty.PROBABILITY else []),
        *([node.certainty.name] if node.certainty in (Certainty.MAY, Certainty.MUST) else []),
        *([] if node.tentative is None else ["TENTATIVE" if node.tentative else "VALIDATED"]),
        *([f"AHEAD {show(node.ahead)}"] if node.ahead else []),
        *([f"EVERY {show(node.every)}"] if node.every else []),
        *([] if node.buffer is None else [f"BUFFER {node.buffer}"]),
        *([f"GIVE UP {node.give_up.name}{seed}"] if node.give_up else []),
    ]
    return _block("PREDICT", lines)


def _block(word: str, lines: list[str]) -> str:
    return f"{word} (\n" + "".join(f"  {line}\n" for line in lines) + ")"
