"""The canonical text of FENCE, for `printer.show`."""

from __future__ import annotations

from collections.abc import Callable

from headwater.query.language.tree import Fence


def fence_text(node: Fence, show: Callable[[object], str], name: Callable[[str], str]) -> str:
    """`FENCE (…)`; `show` gives the text of a node, `name` that of a name."""
    where = f" WHERE {show(node.where)}" if node.where else ""
    lines = [
        f"{name(node.fences)}{where}",
        *([f"RADIUS {show(node.radius)}"] if node.radius else []),
        *([f"BOX {', '.join(map(show, node.box))}"] if node.box else []),
        *([] if node.shape is None else [f"SHAPE {name(node.shape)}"]),
        *([f"DETECT {', '.join(detect.name for detect in node.detect)}"] if node.detect else []),
        *([f"FORGET {show(node.forget)}"] if node.forget else []),
    ]
    return "FENCE (\n" + "".join(f"  {line}\n" for line in lines) + ")"
