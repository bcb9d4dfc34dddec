"""What lies inside an expression: its parts, the columns it reads; and how deep expressions lie in one another, in any node of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from headwater.query.language.tree import (
    Between,
    Binary,
    Call,
    Case,
    CreateQuery,
    Expression,
    In,
    IsNull,
    Item,
    Name,
    Select,
    Unary,
)
from headwater.query.language.tree.nodes import Holder, Level


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions an expression is made of, in the order written."""
    match expression:
        case Binary():
            return (expression.left, expression.right)
        case Unary() | IsNull():
            return (expression.operand,)
        case Between():
            return (expression.operand, expression.low, expression.high)
        case In():
            return (expression.operand, *expression.items)
        case Case():
            branches = [part for branch in expression.branches for part in branch]
            return (*branches, expression.otherwise) if expression.otherwise else tuple(branches)
        case Call():
            return expression.arguments
        case _:
            return ()


def with_parts(expression: Expression, parts: Iterable[Expression]) -> Expression:
    """The same expression made of other parts, which are as many as `parts_of` gives."""
    changed = tuple(parts)
    match expression:
        case Binary():
            return replace(expression, left=changed[0], right=changed[1])
        case Unary() | IsNull():
            return replace(expression, operand=changed[0])
        case Between():
            return replace(expression, operand=changed[0], low=changed[1], high=changed[2])
        case In():
            return replace(expression, operand=changed[0], items=changed[1:])
        case Case():
            count = len(expression.branches)
            branches = tuple(zip(changed[: 2 * count : 2], changed[1 : 2 * count : 2], strict=True))
            return replace(
                expression, branches=branches, otherwise=changed[-1] if expression.otherwise else None
            )
        case Call():
            return replace(expression, arguments=changed)
        case _:
            return expression


def every_part(expression: Expression) -> Iterator[Expression]:
    """The expression itself and all that lies inside it, outermost first, left to right."""
    waiting = [expression]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(parts_of(found)))


def columns_of(expression: Expression) -> tuple[Name, ...]:
    """The columns it reads, each once, in the order written."""
    names = (part for part in every_part(expression) if isinstance(part, Name))
    return tuple(dict.fromkeys(names))


def depth_of(node: object) -> int:
    """How many levels of expressions and patterns lie in one another, in any node of a tree; found without recursion."""
    deepest = 0
    level = _roots(node)
    while level:
        deepest += 1
        level = [part for root in level for part in _inside(root)]
    return deepest


def _inside(node: Expression | Level) -> tuple[Expression | Level, ...]:
    return node.inside() if isinstance(node, Level) else parts_of(node)


def _roots(node: object) -> list[Expression | Level]:
    """The expressions and levels that a node holds directly; itself, if it is one."""
    match node:
        case CreateQuery():
            return _roots(node.select)
        case Select():
            items = [item.expression for item in node.items or ()]
            where = [node.where] if node.where else []
            operators = (*node.chain, node.operator)
            return [*items, *where, *(root for operator in operators for root in _roots(operator))]
        case Item():
            return [node.expression]
        case Level() | Binary() | Unary() | Between() | In() | IsNull() | Case() | Call():
            return [node]
        case Holder():
            return list(node.inside())
        case _:
            return []
