"""The canonical text of expressions, names and constants, which statements and operators use.

Parentheses are written only where the grammar needs them, names are quoted only if they must be, units are always written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Final

from headwater.model import format_instant
from headwater.query.language.parse import is_plain_name
from headwater.query.language.tree.expressions import (
    Between,
    Binary,
    Call,
    Case,
    Expression,
    In,
    IsNull,
    Literal,
    Name,
    Quantity,
    Star,
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
def expression_text(node: object) -> str:
    """The text of an expression."""
    raise AssertionError(f"{type(node).__name__} is not an expression")


@expression_text.register
def _(node: Literal) -> str:
    return constant_text(node.value)


@expression_text.register
def _(node: Timestamp) -> str:
    return f"TIMESTAMP '{format_instant(node.instant)}'"


@expression_text.register
def _(node: Quantity) -> str:
    unit = node.unit.name
    return f"{node.amount!r} {unit.removesuffix('S') if node.amount == 1 else unit}"


@expression_text.register
def _(node: Name) -> str:
    return (
        name_text(node.name)
        if node.qualifier is None
        else f"{name_text(node.qualifier)}.{name_text(node.name)}"
    )


@expression_text.register
def _(node: Unary) -> str:
    if node.operator == "NOT":
        return f"NOT {_inside(node.operand, _NOT)}"
    operand = _inside(node.operand, _FACTOR)
    # -(5) is not the number -5, and two minus signs begin a comment.
    if node.operator == "-" and (operand[0] == "-" or isinstance(node.operand, Literal | Quantity)):
        operand = f"({operand})"
    return node.operator + operand


@expression_text.register
def _(node: Binary) -> str:
    level = _LEVELS[node.operator]
    left = _inside(node.left, level + (level == _COMPARISON))
    return f"{left} {node.operator} {_inside(node.right, level + 1)}"


@expression_text.register
def _(node: Between) -> str:
    sides = f"{_inside(node.low, _SUM)} AND {_inside(node.high, _SUM)}"
    return f"{_inside(node.operand, _SUM)} {'NOT ' * node.negated}BETWEEN {sides}"


@expression_text.register
def _(node: In) -> str:
    return f"{_inside(node.operand, _SUM)} {'NOT ' * node.negated}IN ({expressions_text(node.items)})"


@expression_text.register
def _(node: IsNull) -> str:
    return f"{_inside(node.operand, _SUM)} IS {'NOT ' * node.negated}NULL"


@expression_text.register
def _(node: Case) -> str:
    branches = [
        f"WHEN {expression_text(condition)} THEN {expression_text(value)}"
        for condition, value in node.branches
    ]
    otherwise = [f"ELSE {expression_text(node.otherwise)}"] if node.otherwise else []
    return " ".join(["CASE", *branches, *otherwise, "END"])


@expression_text.register
def _(node: Call) -> str:
    scope = "" if node.scope is None else f"{node.scope.value} "
    return f"{scope}{node.function}({expressions_text(node.arguments)})"


@expression_text.register
def _(node: Star) -> str:
    return "*" if node.qualifier is None else f"{name_text(node.qualifier)}.*"


def constant_text(value: float | int | str | bool | None) -> str:
    """The text of a constant."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def name_text(name: str) -> str:
    """A name, in double quotes where it must be."""
    return name if is_plain_name(name) else '"' + name.replace('"', '""') + '"'


def expressions_text(expressions: Iterable[Expression]) -> str:
    """Expressions as a list."""
    return ", ".join(map(expression_text, expressions))


def alias_text(alias: str | None) -> str:
    """`AS alias`, where there is one."""
    return "" if alias is None else f" AS {name_text(alias)}"


def operator_text(keyword: str, lines: Iterable[str]) -> str:
    """`KEYWORD (…)`, one option a line."""
    return f"{keyword} (\n" + "".join(f"  {line}\n" for line in lines) + ")"


def lines_of(texts: Sequence[str]) -> list[str]:
    """A list, one entry a line, further in."""
    return [*(f"  {text}," for text in texts[:-1]), f"  {texts[-1]}"]


def _inside(node: Expression, level: int) -> str:
    """The text of a part in a place that needs `level`."""
    return expression_text(node) if _level(node) >= level else f"({expression_text(node)})"


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
