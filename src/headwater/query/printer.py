"""The canonical text of a tree: `parse(show(tree))` gives the tree back.

One way to write everything: keywords in capitals, one option a line, parentheses only where the grammar needs them, names
quoted only where they must be, units always said.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Final

from headwater.model import format_instant
from headwater.query.parse import is_plain_name
from headwater.query.tree import (
    Between,
    Binary,
    BoxArea,
    Call,
    Case,
    CircleArea,
    Clause,
    ColumnDefinition,
    Correlate,
    CreateQuery,
    CreateStream,
    Expression,
    In,
    IsNull,
    Item,
    Literal,
    Name,
    PlaceDefinition,
    PolygonArea,
    Quantity,
    Script,
    Select,
    SensorsArea,
    Timestamp,
    Unary,
)

# How tightly each kind of expression binds, from loose to tight; a part that binds looser than its place needs parentheses.
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _FACTOR = range(7)

_LEVELS: Final = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _COMPARISON),
    **dict.fromkeys(("+", "-", "||"), _SUM),
    **dict.fromkeys(("*", "/", "%"), _PRODUCT),
}


@singledispatch
def show(node: object) -> str:
    """The text of any node of a tree."""
    raise AssertionError(f"no text for {type(node).__name__}")


# --- statements -------------------------------------------------------------------------------------------------------


@show.register
def _(node: Script) -> str:
    return "\n\n".join(map(show, node.statements)) + "\n" * bool(node.statements)


@show.register
def _(node: CreateStream) -> str:
    parts = [show(part) for part in (*node.columns, node.place) if part is not None]
    options = [
        f" LATE {show(node.late)}{' DROP' * node.drop_late}" if node.late else "",
        f" IDLE {show(node.idle)}" if node.idle else "",
        " DEDUPLICATE" * node.deduplicate,
    ]
    listed = ",\n".join(f"  {part}" for part in parts)
    return f"CREATE STREAM {_name(node.name)} (\n{listed}\n){''.join(options)};"


@show.register
def _(node: ColumnDefinition) -> str:
    return f"{_name(node.name)} {node.type.value}{' KEY' * node.key}{' TIME' * node.time}"


@show.register
def _(node: PlaceDefinition) -> str:
    return f"PLACE ({_name(node.x)}, {_name(node.y)}){' GEOGRAPHIC' * node.geographic}"


@show.register
def _(node: CreateQuery) -> str:
    return f"CREATE QUERY {_name(node.name)} AS\n{show(node.select)};"


@show.register
def _(node: Select) -> str:
    lines = [
        f"SELECT {'*' if node.items is None else _listed(node.items)}",
        f"FROM {_name(node.source)}",
        *([f"WHERE {show(node.where)}"] if node.where else []),
        *([show(node.operator)] if node.operator else []),
    ]
    return "\n".join(lines)


@show.register
def _(node: Item) -> str:
    return show(node.expression) + _alias(node.alias)


# --- CORRELATE --------------------------------------------------------------------------------------------------------


@show.register
def _(node: Correlate) -> str:
    distance = f", {show(node.distance)}" if node.distance else ""
    lines = [
        ",\n  ".join(map(show, node.clauses)),
        *(["DISTINCT SENSORS"] if node.distinct_sensors else []),
        f"WITHIN {show(node.within)}{distance}",
        *([f"INSIDE {show(node.area)}"] if node.area else []),
        *([f"EMIT {node.emit.value}"] if node.emit else []),
        *([f"LIMIT {node.limit} PER ROW"] if node.limit is not None else []),
    ]
    return "CORRELATE (\n" + "".join(f"  {line}\n" for line in lines) + ")"


@show.register
def _(node: Clause) -> str:
    count = "" if node.count is None else f"{node.count} OF "
    sensor = "" if node.sensor is None else f"{_constant(node.sensor)}."
    return f"{count}{sensor}{show(node.condition)}{_alias(node.alias)}"


@show.register
def _(node: CircleArea) -> str:
    return f"CIRCLE ({node.x!r}, {node.y!r}, {show(node.radius)})"


@show.register
def _(node: BoxArea) -> str:
    return f"BOX ({node.west!r}, {node.south!r}, {node.east!r}, {node.north!r})"


@show.register
def _(node: PolygonArea) -> str:
    return f"POLYGON ({', '.join(f'({x!r}, {y!r})' for x, y in node.corners)})"


@show.register
def _(node: SensorsArea) -> str:
    return f"SENSORS ({', '.join(map(_constant, node.keys))})"


# --- expressions ------------------------------------------------------------------------------------------------------


@show.register
def _(node: Literal) -> str:
    return _constant(node.value)


@show.register
def _(node: Timestamp) -> str:
    return f"TIMESTAMP '{format_instant(node.instant)}'"


@show.register
def _(node: Quantity) -> str:
    unit = node.unit.name
    return f"{node.amount!r} {unit.removesuffix('S') if node.amount == 1 else unit}"


@show.register
def _(node: Name) -> str:
    return _name(node.name) if node.qualifier is None else f"{_name(node.qualifier)}.{_name(node.name)}"


@show.register
def _(node: Unary) -> str:
    if node.operator == "NOT":
        return f"NOT {_inside(node.operand, _NOT)}"
    operand = _inside(node.operand, _FACTOR)
    # -(5) is not the number -5, and two minus signs begin a comment.
    if node.operator == "-" and (operand[0] == "-" or isinstance(node.operand, Literal | Quantity)):
        operand = f"({operand})"
    return node.operator + operand


@show.register
def _(node: Binary) -> str:
    level = _LEVELS[node.operator]
    left = _inside(node.left, level + (level == _COMPARISON))
    return f"{left} {node.operator} {_inside(node.right, level + 1)}"


@show.register
def _(node: Between) -> str:
    sides = f"{_inside(node.low, _SUM)} AND {_inside(node.high, _SUM)}"
    return f"{_inside(node.operand, _SUM)} {'NOT ' * node.negated}BETWEEN {sides}"


@show.register
def _(node: In) -> str:
    return f"{_inside(node.operand, _SUM)} {'NOT ' * node.negated}IN ({_listed(node.items)})"


@show.register
def _(node: IsNull) -> str:
    return f"{_inside(node.operand, _SUM)} IS {'NOT ' * node.negated}NULL"


@show.register
def _(node: Case) -> str:
    branches = [f"WHEN {show(condition)} THEN {show(value)}" for condition, value in node.branches]
    otherwise = [f"ELSE {show(node.otherwise)}"] if node.otherwise else []
    return " ".join(["CASE", *branches, *otherwise, "END"])


@show.register
def _(node: Call) -> str:
    return f"{node.function}({_listed(node.arguments)})"


def _inside(node: Expression, level: int) -> str:
    """The text of a part that stands where `level` is needed."""
    return show(node) if _level(node) >= level else f"({show(node)})"


def _level(node: Expression) -> int:
    match node:
        case Binary():
            return _LEVELS[node.operator]
        case Unary():
            return _NOT if node.operator == "NOT" else _FACTOR
        case Between() | In() | IsNull():
            return _COMPARISON
        case _:
            return _FACTOR


def _constant(value: float | int | str | bool | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _name(name: str) -> str:
    return name if is_plain_name(name) else '"' + name.replace('"', '""') + '"'


def _alias(alias: str | None) -> str:
    return "" if alias is None else f" AS {_name(alias)}"


def _listed(nodes: Iterable[object]) -> str:
    return ", ".join(map(show, nodes))
