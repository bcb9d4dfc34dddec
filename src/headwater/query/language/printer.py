"""The canonical text of a tree: `parse(show(tree))` gives the tree back.

One way to write everything: keywords in capitals, one option a line, parentheses only where the grammar needs them, names
quoted only where they must be, units always said.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from types import UnionType
from typing import Final

from headwater.kernels.pattern.words import Contiguity
from headwater.model import format_instant
from headwater.query.language.parse import is_plain_name
from headwater.query.language.tree import (
    Between,
    Binary,
    BoxArea,
    Call,
    Case,
    CircleArea,
    Clause,
    ColumnDefinition,
    Correlate,
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Expression,
    Fence,
    Follow,
    In,
    IsNull,
    Item,
    Literal,
    MatchRecognize,
    Name,
    Nearest,
    PlaceDefinition,
    PolygonArea,
    Predict,
    Quantity,
    Script,
    Select,
    SensorsArea,
    Star,
    Suppress,
    Timestamp,
    Unary,
)
from headwater.query.operators.fence.text import fence_text
from headwater.query.operators.follow.text import follow_text
from headwater.query.operators.nearest.tree import EachTarget, NearAttribute, PointTarget, Using, ValueTarget
from headwater.query.operators.pattern.tree import (
    Choice,
    Column,
    Definition,
    Edge,
    Empty,
    Exclusion,
    Loop,
    Measure,
    Never,
    NodeMode,
    Pattern,
    Permutation,
    Sequence,
    Skip,
    Subset,
    Variable,
)
from headwater.query.operators.predict.text import predict_text
from headwater.query.operators.suppress.text import suppress_text

# How tightly each kind of expression binds, from loose to tight; a part that binds looser than its place needs parentheses.
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _FACTOR = range(7)

_LEVELS: Final = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _COMPARISON),
    **dict.fromkeys(("+", "-", "||"), _SUM),
    **dict.fromkeys(("*", "/", "%"), _PRODUCT),
}

_LINKS: Final = {Contiguity.STRICT: " ", Contiguity.RELAXED: " ~> ", Contiguity.ANY: " ~~> "}
_CONTIGUITIES: Final = {Contiguity.STRICT: "", Contiguity.RELAXED: "~", Contiguity.ANY: "~~"}
_QUANTIFIERS: Final = {(0, None): "*", (1, None): "+", (0, 1): "?"}


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
def _(node: CreatePoints) -> str:
    listed = ",\n".join(f"  {show(column)}" for column in node.columns)
    return f"CREATE POINTS {_name(node.name)} (\n{listed}\n);"


@show.register
def _(node: CreateFences) -> str:
    listed = ",\n".join(f"  {show(column)}" for column in node.columns)
    return f"CREATE FENCES {_name(node.name)} (\n{listed}\n);"


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
        f"FROM {', '.join(map(_name, (node.source, *node.further_sources)))}",
        *([f"WHERE {show(node.where)}"] if node.where else []),
        *map(show, node.chain),
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


# --- MATCH_RECOGNIZE --------------------------------------------------------------------------------------------------


@show.register
def _(node: MatchRecognize) -> str:
    lines = [
        *([f"PARTITION BY {_listed(node.partition)}"] if node.partition else []),
        *([f"ORDER BY {_listed(node.order)}"] if node.order else []),
        *(["MEASURES", *_lines(node.measures)] if node.measures else []),
        *([node.rows.value] if node.rows else []),
        *(["MATCH EVERY"] if node.every else []),
        *([show(node.mode)] if node.mode else []),
        *([show(node.skip)] if node.skip else []),
        f"PATTERN ({show(node.pattern)})",
        *([f"WITHIN {show(node.within)}"] if node.within else []),
        *([f"WITHIN {show(node.between_rows)} BETWEEN ROWS"] if node.between_rows else []),
        *(["WITH TIMEOUTS"] if node.timeouts else []),
        *([f"LIMIT {node.limit} PARTIAL MATCHES"] if node.limit is not None else []),
        *([f"FORGET {show(node.forget)}"] if node.forget else []),
        *([f"SUBSET {_listed(node.subsets)}"] if node.subsets else []),
        *(["DEFINE", *_lines(node.define)] if node.define else []),
    ]
    return "MATCH_RECOGNIZE (\n" + "".join(f"  {line}\n" for line in lines) + ")"


@show.register
def _(node: Column) -> str:
    return _name(node.name)


@show.register
def _(node: Measure) -> str:
    return f"{show(node.expression)} AS {_name(node.name)}"


@show.register
def _(node: Definition) -> str:
    return f"{_name(node.name)} AS {show(node.condition)}"


@show.register
def _(node: Subset) -> str:
    return f"{_name(node.name)} = ({', '.join(map(_name, node.members))})"


@show.register
def _(node: NodeMode) -> str:
    hold = "" if node.hold is None else f" HOLD {node.hold} EVENTS"
    seed = "" if node.seed is None else f" CHOOSE ONE SEED {node.seed}"
    return f"MODE {node.mode.value}{hold}{seed}"


@show.register
def _(node: Skip) -> str:
    variable = "" if node.variable is None else f" {_name(node.variable)}"
    return f"AFTER MATCH {node.to.value}{variable}"


@show.register
def _(node: Variable) -> str:
    return _variable(node.name)


@show.register
def _(node: Never) -> str:
    return f"NOT {_variable(node.name)}"


@show.register
def _(node: Sequence) -> str:
    parts = [_grouped(part, Sequence | Choice) for part in node.parts]
    return parts[0] + "".join(_LINKS[link] + part for link, part in zip(node.links, parts[1:], strict=True))


@show.register
def _(node: Choice) -> str:
    return " | ".join(_grouped(choice, Choice) for choice in node.choices)


@show.register
def _(node: Permutation) -> str:
    return f"PERMUTE ({_listed(node.parts)})"


@show.register
def _(node: Exclusion) -> str:
    return f"{{- {show(node.pattern)} -}}"


@show.register
def _(node: Edge) -> str:
    return "$" if node.end else "^"


@show.register
def _(node: Empty) -> str:
    return "()"


@show.register
def _(node: Loop) -> str:
    signs = _CONTIGUITIES[node.contiguity] + _quantifier(node.least, node.most)
    until = "" if node.until is None else f" UNTIL ({show(node.until)})"
    return (
        _grouped(node.pattern, Sequence | Choice | Loop)
        + signs
        + "?" * node.reluctant
        + "!" * node.blocking
        + until
    )


def _grouped(node: Pattern, looser: UnionType | type) -> str:
    """The text of a part, in parentheses where it is one of the `looser` kinds."""
    return f"({show(node)})" if isinstance(node, looser) else show(node)


def _quantifier(least: int, most: int | None) -> str:
    if (sign := _QUANTIFIERS.get((least, most))) is not None:
        return sign
    if least == most:
        return f"{{{least}}}"
    return f"{{{least or ''},{'' if most is None else most}}}"


def _variable(name: str) -> str:
    """A variable in a pattern, where two more words are no names."""
    return f'"{name}"' if name.upper() in ("PERMUTE", "UNTIL") else _name(name)


# --- NEAREST ----------------------------------------------------------------------------------------------------------


@show.register
def _(node: Nearest) -> str:
    by = "PLACE" if node.attributes is None else f"({_listed(node.attributes)})"
    using = Using(node.exact, node.sigma, node.algorithm)
    lines = [
        f"{node.k} TO {show(node.target)}" + ("" if isinstance(node.target, ValueTarget) else f" BY {by}"),
        *([f"WEIGHTED {_numbers(node.weights)}"] if node.weights is not None else []),
        f"OVER {show(node.over)}" if node.over else f"OVER {node.over_rows} ROWS",
        *([f"PER {_name(node.per)}"] if node.per is not None else []),
        *(["WITH TIES"] if node.ties else []),
        *([show(using)] if using != Using() else []),
        *(
            [f"EMIT {node.emission.value}" + (f" {show(node.every)}" if node.every else "")]
            if node.emission
            else []
        ),
        *([f"FORGET {show(node.forget)}"] if node.forget else []),
    ]
    return "NEAREST (\n" + "".join(f"  {line}\n" for line in lines) + ")"


@show.register
def _(node: PointTarget) -> str:
    return _numbers(node.coordinates)


@show.register
def _(node: EachTarget) -> str:
    return f"EACH OF {_name(node.points)}"


@show.register
def _(node: ValueTarget) -> str:
    return f"{'HIGHEST' if node.highest else 'LOWEST'} {_name(node.attribute)}{_alias(node.alias)}"


@show.register
def _(node: NearAttribute) -> str:
    return _name(node.name) + _alias(node.alias)


@show.register
def _(node: Using) -> str:
    algorithm = "" if node.algorithm is None else f" ALGORITHM {node.algorithm.value}"
    return f"USING {'EXACT' if node.sigma is None else f'PROBABLE {node.sigma!r}'}{algorithm}"


def _numbers(numbers: Iterable[float | int]) -> str:
    return f"({', '.join(map(repr, numbers))})"


# --- SUPPRESS and PREDICT ---------------------------------------------------------------------------------------------


@show.register
def _(node: Suppress) -> str:
    return suppress_text(node, show, _name)


@show.register
def _(node: Predict) -> str:
    return predict_text(node, show, _name)


# --- FOLLOW and FENCE -------------------------------------------------------------------------------------------------


@show.register
def _(node: Follow) -> str:
    return follow_text(node, show, _name)


@show.register
def _(node: Fence) -> str:
    return fence_text(node, show, _name)


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
    scope = "" if node.scope is None else f"{node.scope.value} "
    return f"{scope}{node.function}({_listed(node.arguments)})"


@show.register
def _(node: Star) -> str:
    return "*" if node.qualifier is None else f"{_name(node.qualifier)}.*"


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


def _lines(nodes: Iterable[object]) -> list[str]:
    """A list, one a line, further in."""
    *most, last = map(show, nodes)
    return [*(f"  {text}," for text in most), f"  {last}"]
