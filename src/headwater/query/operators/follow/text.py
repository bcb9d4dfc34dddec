"""The canonical text of FOLLOW, for `printer.show`."""

from __future__ import annotations

from headwater.kernels.follow.choices import Update
from headwater.query.language.expression_text import expression_text, name_text, operator_text
from headwater.query.operators.follow.tree import Follow


def follow_text(node: Follow) -> str:
    """`FOLLOW (…)`."""
    where = f" WHERE {expression_text(node.where)}" if node.where else ""
    lines = [
        f"{name_text(node.focals)}{where}",
        _region(node),
        *([f"LAST {expression_text(node.last)}"] if node.last else []),
        *([f"UPDATE {_update(node)}"] if node.update else []),
        *([f"FORGET {expression_text(node.forget)}"] if node.forget else []),
        *([] if node.each is None else ["DELIVER EACH" if node.each else "DELIVER ONCE"]),
        *([] if node.best_effort is None else [f"BEST EFFORT {node.best_effort}"]),
        *(["EMIT INTERESTS"] if node.interests else []),
    ]
    return operator_text("FOLLOW", lines)


def _region(node: Follow) -> str:
    if node.box:
        return f"BOX {', '.join(map(expression_text, node.box))}"
    return f"RADIUS {expression_text(node.radius)}" if node.radius else f"SHAPE {name_text(node.shape or '')}"


def _update(node: Follow) -> str:
    match node.update:
        case Update.EVERY:
            return f"EVERY {expression_text(node.every)}"
        case Update.MOVED:
            return f"MOVED {expression_text(node.moved)}"
        case Update.QUALITY:
            over = f" OVER {expression_text(node.over)}" if node.over else ""
            return f"QUALITY {', '.join(map(repr, node.quality or ()))}{over}"
        case _:
            return "ALWAYS"
