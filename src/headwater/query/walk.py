"""What lies inside an expression: its parts, its depth, the columns it reads."""

from __future__ import annotations

from collections.abc import Iterator

from headwater.query.tree import (
    Between,
    Binary,
    Call,
    Case,
    Clause,
    Correlate,
    CreateQuery,
    Expression,
    In,
    IsNull,
    Item,
    Name,
    Select,
    Unary,
)


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
    """How many levels of expressions lie in one another, in any node of a tree; found without recursion."""
    deepest = 0
    level = _roots(node)
    while level:
        deepest += 1
        level = [part for expression in level for part in parts_of(expression)]
    return deepest


def _roots(node: object) -> list[Expression]:
    """The expressions that a node holds directly."""
    match node:
        case CreateQuery():
            return _roots(node.select)
        case Select():
            items = [item.expression for item in node.items or ()]
            where = [node.where] if node.where else []
            return items + where + _roots(node.operator)
        case Correlate():
            return [clause.condition for clause in node.clauses]
        case Clause():
            return [node.condition]
        case Item():
            return [node.expression]
        case Binary() | Unary() | Between() | In() | IsNull() | Case() | Call():
            return [node]
        case _:
            return []
