"""The canonical text of FENCE, for `printer.show`."""

from __future__ import annotations

from headwater.query.language.expression_text import expression_text, name_text, operator_text
from headwater.query.operators.fence.tree import Fence


def fence_text(node: Fence) -> str:
    """`FENCE (…)`."""
    where = f" WHERE {expression_text(node.where)}" if node.where else ""
    lines = [
        f"{name_text(node.fences)}{where}",
        *([f"RADIUS {expression_text(node.radius)}"] if node.radius else []),
        *([f"BOX {', '.join(map(expression_text, node.box))}"] if node.box else []),
        *([] if node.shape is None else [f"SHAPE {name_text(node.shape)}"]),
        *([f"DETECT {', '.join(detect.name for detect in node.detect)}"] if node.detect else []),
        *([f"FORGET {expression_text(node.forget)}"] if node.forget else []),
    ]
    return operator_text("FENCE", lines)
