"""Which rows can a pattern ignore? Those that satisfy none of its conditions, if nothing counts rows one by one.

Rule 1  If every link and loop may pass rows over, a row that satisfies no condition is passed over by every
        partial match, and begins nothing: it need not come.
Rule 2  A pattern that reads the previous or next row, the first or last row of a partition, or counts rows (strict links,
        PREV and NEXT, `^` and `$`, and without MATCH EVERY empty matches, unmatched rows and LIMIT) needs every row; so does
        FORGET, because any row ends the silence.
Rule 3  A condition over other rows of the match cannot be decided for a row alone: then all rows come.
"""

from __future__ import annotations

from functools import reduce

from headwater.kernels.pattern.choices import Contiguity, RowsPerMatch
from headwater.query.language.tree import Binary, Expression, Name
from headwater.query.language.walk import parts_of, with_parts
from headwater.query.operators.pattern import tree
from headwater.query.operators.pattern.check_shape import can_be_empty
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.programs import is_under_test
from headwater.query.operators.pattern.terms import ClassifierTerm, Lowered, RowTerm
from headwater.query.operators.pattern.walk import every_pattern


def needed_rows(operator: PatternOperator, where: Expression | None) -> Expression | None:
    """A condition that holds for every row a query can use; None: for any row."""
    needed = _needed(operator)
    present = [condition for condition in (where, needed) if condition is not None]
    return reduce(lambda left, right: Binary("AND", left, right), present) if present else None


def _needed(operator: PatternOperator) -> Expression | None:
    if not _passes_rows_over(operator) or len(operator.define) < len(operator.variables):
        return None
    found: dict[str, Expression] = {}
    for lowered in (*(lowered for _, lowered in operator.define), *operator.untils):
        condition = _of_one_row(lowered)
        if condition is None:
            return None
        found.setdefault(repr(condition), condition)
    return reduce(lambda left, right: Binary("OR", left, right), found.values())


def _passes_rows_over(operator: PatternOperator) -> bool:
    counts_rows = operator.rows is RowsPerMatch.ALL_WITH_UNMATCHED or operator.limit is not None
    if not operator.every and (counts_rows or can_be_empty(operator.pattern)):
        return False
    if operator.forget_us is not None:
        return False
    terms = [term for _, lowered in (*operator.define, *operator.measures) for term in lowered.terms]
    if any(term.shift for term in terms if isinstance(term, RowTerm | ClassifierTerm)):
        return False
    return operator.mode is not None or all(map(_may_pass, every_pattern(operator.pattern)))


def _may_pass(part: tree.Pattern) -> bool:
    match part:
        case tree.Sequence():
            return Contiguity.STRICT not in part.links
        case tree.Loop():
            once = part.most is not None and part.most <= 1
            return once or part.contiguity is not Contiguity.STRICT
        case tree.Permutation():
            return len(part.parts) == 1
        case _:
            return not isinstance(part, tree.Edge)


def _of_one_row(lowered: Lowered) -> Expression | None:
    """A condition as one of single rows; None if it reads others."""
    arguments: dict[str, Expression] = {}
    for number, term in enumerate(lowered.terms):
        if not isinstance(term, RowTerm) or not is_under_test(term) or term.shift:
            return None
        arguments[f"#{number}"] = term.argument
    return _filled(lowered.expression, arguments)


def _filled(expression: Expression, arguments: dict[str, Expression]) -> Expression:
    if isinstance(expression, Name):
        return arguments[expression.name]
    return with_parts(expression, (_filled(part, arguments) for part in parts_of(expression)))
