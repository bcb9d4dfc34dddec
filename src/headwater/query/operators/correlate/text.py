"""The canonical text of CORRELATE, for `printer.show`."""

from __future__ import annotations

from headwater.query.language.expression_text import alias_text, constant_text, expression_text, operator_text
from headwater.query.operators.correlate.tree import (
    Area,
    BoxArea,
    CircleArea,
    Clause,
    Correlate,
    PolygonArea,
    SensorsArea,
)


def correlate_text(node: Correlate) -> str:
    """`CORRELATE (…)`."""
    distance = f", {expression_text(node.distance)}" if node.distance else ""
    lines = [
        ",\n  ".join(map(clause_text, node.clauses)),
        *(["DISTINCT SENSORS"] if node.distinct_sensors else []),
        f"WITHIN {expression_text(node.within)}{distance}",
        *([f"INSIDE {area_text(node.area)}"] if node.area else []),
        *([f"EMIT {node.emit.value}"] if node.emit else []),
        *([f"LIMIT {node.limit} PER ROW"] if node.limit is not None else []),
    ]
    return operator_text("CORRELATE", lines)


def clause_text(node: Clause) -> str:
    """`[n OF] ['sensor'.]attribute condition [AS name]`."""
    count = "" if node.count is None else f"{node.count} OF "
    sensor = "" if node.sensor is None else f"{constant_text(node.sensor)}."
    return f"{count}{sensor}{expression_text(node.condition)}{alias_text(node.alias)}"


def area_text(node: Area) -> str:
    """The text after INSIDE."""
    match node:
        case CircleArea():
            return f"CIRCLE ({node.x!r}, {node.y!r}, {expression_text(node.radius)})"
        case BoxArea():
            return f"BOX ({node.west!r}, {node.south!r}, {node.east!r}, {node.north!r})"
        case PolygonArea():
            return f"POLYGON ({', '.join(f'({x!r}, {y!r})' for x, y in node.corners)})"
        case SensorsArea():
            return f"SENSORS ({', '.join(map(constant_text, node.keys))})"
