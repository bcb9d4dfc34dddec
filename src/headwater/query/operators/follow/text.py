"""The canonical text of FOLLOW, for `printer.show`."""

from __future__ import annotations

from collections.abc import Callable

from headwater.kernels.follow.words import Update
from headwater.query.language.tree import Follow


def follow_text(node: Follow, show: Callable[[object], str], name: Callable[[str], str]) -> str:
    """`FOLLOW (…)`; `show` gives the text of a node, `name` that of a name."""
    where = f" WHERE {show(node.where)}" if node.where else ""
    lines = [
        f"{name(node.focals)}{where}",
        _region(node, show, name),
        *([f"LAST {show(node.last)}"] if node.last else []),
        *([f"UPDATE {_update(node, show)}"] if node.update else []),
        *([f"FORGET {show(node.forget)}"] if node.forget else []),
        *([] if node.each is None else ["DELIVER EACH" if node.each else "DELIVER ONCE"]),
        *([] if node.best_effort is None else [f"BEST EFFORT {node.best_effort}"]),
        *(["EMIT INTERESTS"] if node.interests else []),
    ]
    return "FOLLOW (\n" + "".join(f"  {line}\n" for line in lines) + ")"


def _region(node: Follow, show: Callable[[object], str], name: Callable[[str], str]) -> str:
    if node.box:
        return f"BOX {', '.join(map(show, node.box))}"
    return f"RADIUS {show(node.radius)}" if node.radius else f"SHAPE {name(node.shape or '')}"


def _update(node: Follow, show: Callable[[object], str]) -> str:
    match node.update:
        case Update.EVERY:
            return f"EVERY {show(node.every)}"
        case Update.MOVED:
            return f"MOVED {show(node.moved)}"
        case Update.QUALITY:
            over = f" OVER {show(node.over)}" if node.over else ""
            return f"QUALITY {', '.join(map(repr, node.quality or ()))}{over}"
        case _:
            return "ALWAYS"
