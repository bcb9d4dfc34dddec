"""Which type does an expression have, and what is wrong with it?

Errors are collected, not raised: a user sees all of them at once. An error inside an expression is reported once; expressions
that contain it add no further error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headwater.model import ColumnType, QueryError, Span
from headwater.query.expressions.functions import FUNCTIONS
from headwater.query.expressions.kinds import (
    ExprType,
    binary_type,
    column_key,
    common_type,
    literal_type,
    of_column,
    unary_type,
)
from headwater.query.language.limits import LONGEST_US
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import (
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

OVER_MATCHES: Final = frozenset(
    ("COUNT", "SUM", "AVG", "MIN", "MAX", "FIRST", "LAST", "PREV", "NEXT", "CLASSIFIER", "MATCH_NUMBER")
)
"""Functions of MEASURES, DEFINE and UNTIL, which `patterns.terms` resolves before types are determined."""

_OVER_MATCHES: Final = "use it in MEASURES, DEFINE and UNTIL of MATCH_RECOGNIZE, and not inside another one"
_LONGEST: Final = "the longest is 36500 DAYS"


def type_of(
    expression: Expression, types: Mapping[str, ColumnType], errors: list[QueryError]
) -> ExprType | None:
    """Its type, given the types of the columns by `column_key`; if something is wrong, None and more `errors`."""
    return _Types(types, errors).of(expression)


class _Types:
    """One walk over an expression."""

    def __init__(self, types: Mapping[str, ColumnType], errors: list[QueryError]) -> None:
        self.types = types
        self.errors = errors

    def of(self, expression: Expression) -> ExprType | None:
        match expression:
            case Name():
                return self._column(expression)
            case Literal():
                return literal_type(expression)
            case Timestamp():
                return ExprType.TIMESTAMP
            case Quantity():
                return self._quantity(expression)
            case Unary():
                return self._unary(expression)
            case Binary():
                return self._binary(expression)
            case Between():
                return self._alike(
                    expression, (expression.operand, expression.low, expression.high), "BETWEEN"
                )
            case In():
                return self._alike(expression, (expression.operand, *expression.items), "IN")
            case IsNull():
                self.of(expression.operand)
                return ExprType.BOOLEAN
            case Case():
                return self._case(expression)
            case Call():
                return self._call(expression)
            case Star():
                message = "a star stands for all rows, and is allowed only in COUNT(*)"
                self._refuse("wrong-arguments", message, expression.span, "name a column instead")
                return None

    def _column(self, name: Name) -> ExprType | None:
        key = column_key(name)
        kind = self.types.get(key)
        if kind is None:
            self._refuse(
                "unknown-column",
                f"there is no column named '{key}'",
                name.span,
                *suggest(key, self.types, "columns"),
            )
            return None
        return of_column(kind)

    def _quantity(self, quantity: Quantity) -> ExprType | None:
        if not quantity.unit.is_time:
            return ExprType.DOUBLE
        if abs(quantity.micros) > LONGEST_US:
            self._refuse("too-long", "this duration is longer than a hundred years", quantity.span, _LONGEST)
            return None
        return ExprType.DURATION

    def _unary(self, expression: Unary) -> ExprType | None:
        kind = self.of(expression.operand)
        if kind is None:
            return None
        found = unary_type(expression.operator, kind)
        if found is None:
            expected = "a condition" if expression.operator == "NOT" else "a number or a duration"
            message = f"{_sign(expression.operator)} takes {expected}, not {kind.value}"
            self._refuse("type-mismatch", message, expression.span)
        return found

    def _binary(self, expression: Binary) -> ExprType | None:
        left, right = self.of(expression.left), self.of(expression.right)
        if left is None or right is None:
            return None
        found = binary_type(expression.operator, left, right)
        if found is None:
            message = f"{_sign(expression.operator)} cannot combine {left.value} and {right.value}"
            self._refuse(
                "type-mismatch", message, expression.span, *_advice(expression.operator, left, right)
            )
        return found

    def _alike(self, expression: Between | In, parts: tuple[Expression, ...], word: str) -> ExprType | None:
        kinds = [self.of(part) for part in parts]
        known = [kind for kind in kinds if kind is not None]
        if len(known) < len(kinds):
            return None
        if common_type(known) is None:
            message = f"{word} cannot combine {_listed(known)}"
            self._refuse("type-mismatch", message, expression.span, *_advice("=", *_two(known)))
            return None
        return ExprType.BOOLEAN

    def _case(self, expression: Case) -> ExprType | None:
        whole = True
        for condition, _ in expression.branches:
            kind = self.of(condition)
            if kind not in (None, ExprType.BOOLEAN, ExprType.NULL):
                assert kind is not None
                self._refuse("type-mismatch", f"WHEN takes a condition, not {kind.value}", condition.span)
            whole &= kind in (ExprType.BOOLEAN, ExprType.NULL)
        values = [value for _, value in expression.branches]
        values += [expression.otherwise] if expression.otherwise else []
        kinds = [self.of(value) for value in values]
        known = [kind for kind in kinds if kind is not None]
        if len(known) < len(kinds):
            return None
        found = common_type(known)
        if found is None:
            message = f"this CASE gives {_listed(known)}"
            self._refuse("type-mismatch", message, expression.span, "all its values must be of one type")
        return found if whole else None

    def _call(self, call: Call) -> ExprType | None:
        if call.function in OVER_MATCHES:
            message = f"{call.function} refers to the rows of a match, and there is no match here"
            self._refuse("misplaced-aggregate", message, call.span, _OVER_MATCHES)
            return None
        if call.scope is not None:
            message = f"{call.scope.value} has no meaning before {call.function}"
            self._refuse(
                "misplaced-scope", message, call.span, "use it before FIRST, LAST, SUM, … in MEASURES"
            )
            return None
        kinds = [self.of(argument) for argument in call.arguments]
        function = FUNCTIONS.get(call.function)
        if function is None:
            advice = suggest(call.function, FUNCTIONS, "functions")
            self._refuse(
                "unknown-function", f"there is no function named '{call.function}'", call.span, *advice
            )
            return None
        known = [kind for kind in kinds if kind is not None]
        if len(known) < len(kinds):
            return None
        signature = function.resolve(known)
        if signature is None:
            names = ", ".join(kind.value for kind in known)
            advice_line = f"it is {function.usage}: {function.meaning}"
            self._refuse(
                "wrong-arguments", f"{function.name} does not take ({names})", call.span, advice_line
            )
            return None
        return signature.gives

    def _refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        self.errors.append(QueryError(code, message, span=span, advice=advice))


def _advice(operator: str, left: ExprType, right: ExprType) -> list[str]:
    """What to write instead, for slips that are often made."""
    pair = {left, right}
    number = pair & {ExprType.BIGINT, ExprType.DOUBLE}
    if pair == {ExprType.TIMESTAMP, ExprType.STRING}:
        return ["write an instant as TIMESTAMP '2026-01-31 06:00:00'"]
    if number and pair & {ExprType.TIMESTAMP, ExprType.DURATION}:
        return ["give a number of seconds its unit: 30 SECONDS"]
    if number and ExprType.STRING in pair:
        return ["write texts in quotes and numbers without: '5' is a text, 5 a number"]
    if operator == "+" and ExprType.STRING in pair:
        return ["strings are joined with ||"]
    if operator in ("AND", "OR"):
        return [f"{operator} joins conditions"]
    return []


def _sign(operator: str) -> str:
    return operator if operator.isalpha() else f"'{operator}'"


def _listed(kinds: list[ExprType]) -> str:
    return " and ".join(dict.fromkeys(kind.value for kind in kinds if kind is not ExprType.NULL))


def _two(kinds: list[ExprType]) -> tuple[ExprType, ExprType]:
    """Two kinds that do not go together."""
    pairs = ((kinds[0], kind) for kind in kinds[1:])
    return next((pair for pair in pairs if common_type(pair) is None), (kinds[0], kinds[-1]))
