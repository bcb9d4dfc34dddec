"""The canonical text of NEAREST, for `printer.show`."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.query.language.expression_text import alias_text, expression_text, name_text, operator_text
from headwater.query.operators.nearest.tree import (
    EachTarget,
    Nearest,
    PointTarget,
    Target,
    Using,
    ValueTarget,
)


def nearest_text(node: Nearest) -> str:
    """`NEAREST (…)`."""
    using = Using(node.exact, node.sigma, node.algorithm)
    by = "" if isinstance(node.target, ValueTarget) else f" BY {_by(node)}"
    lines = [
        f"{node.k} TO {_target(node.target)}{by}",
        *([f"WEIGHTED {_numbers(node.weights)}"] if node.weights is not None else []),
        f"OVER {expression_text(node.over)}" if node.over else f"OVER {node.over_rows} ROWS",
        *([f"PER {name_text(node.per)}"] if node.per is not None else []),
        *(["WITH TIES"] if node.ties else []),
        *([using_text(using)] if using != Using() else []),
        *([_emission(node)] if node.emission else []),
        *([f"FORGET {expression_text(node.forget)}"] if node.forget else []),
    ]
    return operator_text("NEAREST", lines)


def using_text(node: Using) -> str:
    """`USING EXACT` or `USING PROBABLE sigma`, with the algorithm where one is named."""
    algorithm = "" if node.algorithm is None else f" ALGORITHM {node.algorithm.value}"
    return f"USING {'EXACT' if node.sigma is None else f'PROBABLE {node.sigma!r}'}{algorithm}"


def _target(node: Target) -> str:
    match node:
        case PointTarget():
            return _numbers(node.coordinates)
        case EachTarget():
            return f"EACH OF {name_text(node.points)}"
        case ValueTarget():
            highest = "HIGHEST" if node.highest else "LOWEST"
            return f"{highest} {name_text(node.attribute)}{alias_text(node.alias)}"


def _by(node: Nearest) -> str:
    if node.attributes is None:
        return "PLACE"
    return f"({', '.join(name_text(attribute.name) + alias_text(attribute.alias) for attribute in node.attributes)})"


def _emission(node: Nearest) -> str:
    assert node.emission is not None
    every = f" {expression_text(node.every)}" if node.every else ""
    return f"EMIT {node.emission.value}{every}"


def _numbers(numbers: Iterable[float | int]) -> str:
    return f"({', '.join(map(repr, numbers))})"
