"""What lies inside an expression or a pattern: its parts, its depth, the columns it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from headwater.query.language.tree import (
    Between,
    Binary,
    Call,
    Case,
    Clause,
    Correlate,
    CreateQuery,
    Expression,
    Fence,
    Follow,
    In,
    IsNull,
    Item,
    MatchRecognize,
    Name,
    Predict,
    Select,
    Unary,
)
from headwater.query.operators.pattern.tree import Choice, Exclusion, Loop, Pattern, Permutation, Sequence


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
    given = tuple(parts)
    match expression:
        case Binary():
            return replace(expression, left=given[0], right=given[1])
        case Unary() | IsNull():
            return replace(expression, operand=given[0])
        case Between():
            return replace(expression, operand=given[0], low=given[1], high=given[2])
        case In():
            return replace(expression, operand=given[0], items=given[1:])
        case Case():
            count = len(expression.branches)
            branches = tuple(zip(given[: 2 * count : 2], given[1 : 2 * count : 2], strict=True))
            return replace(
                expression, branches=branches, otherwise=given[-1] if expression.otherwise else None
            )
        case Call():
            return replace(expression, arguments=given)
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


def patterns_in(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns a pattern is made of, in the order written."""
    match pattern:
        case Sequence() | Permutation():
            return pattern.parts
        case Choice():
            return pattern.choices
        case Exclusion() | Loop():
            return (pattern.pattern,)
        case _:
            return ()


def every_pattern(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern itself and all that lies inside it, outermost first, left to right."""
    waiting = [pattern]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(patterns_in(found)))


def depth_of(node: object) -> int:
    """How many levels of expressions and patterns lie in one another, in any node of a tree; found without recursion."""
    deepest = 0
    level = _roots(node)
    while level:
        deepest += 1
        level = [part for root in level for part in _inside(root)]
    return deepest


def _inside(node: Expression | Pattern) -> tuple[Expression | Pattern, ...]:
    if isinstance(node, Loop):
        return (node.pattern,) if node.until is None else (node.pattern, node.until)
    return patterns_in(node) if isinstance(node, Pattern) else parts_of(node)


def _roots(node: object) -> list[Expression | Pattern]:
    """The expressions and patterns that a node holds directly."""
    match node:
        case CreateQuery():
            return _roots(node.select)
        case Select():
            items = [item.expression for item in node.items or ()]
            where = [node.where] if node.where else []
            operators = (*node.chain, node.operator)
            return [*items, *where, *(root for operator in operators for root in _roots(operator))]
        case Predict():
            return [node.condition]
        case Follow() | Fence():
            return [node.where] if node.where else []
        case Correlate():
            return [clause.condition for clause in node.clauses]
        case MatchRecognize():
            measures = [measure.expression for measure in node.measures]
            return [node.pattern, *measures, *(definition.condition for definition in node.define)]
        case Clause():
            return [node.condition]
        case Item():
            return [node.expression]
        case Binary() | Unary() | Between() | In() | IsNull() | Case() | Call():
            return [node]
        case Sequence() | Choice() | Permutation() | Exclusion() | Loop():
            return [node]
        case _:
            return []
