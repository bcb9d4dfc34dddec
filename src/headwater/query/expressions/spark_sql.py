"""How does Spark SQL say the same, so that Catalyst can filter before Python?

Rule 1  The text means what `evaluate` does, to the last bit, whatever the session's settings: NULLs, divisions, whole
        numbers beyond 64 bits, the order of strings.
Rule 2  Where Spark cannot say a part to the last bit (a sine, capital letters) or only at length, the part is left out of
        the condition. What comes out is true wherever the condition is: a filter that lets too much through changes no
        answer, one that drops a row too many does.
Rule 3  Names and strings of a query never become words of SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headwater.model import ColumnType
from headwater.query.expressions import spark_words
from headwater.query.expressions.functions import FUNCTIONS
from headwater.query.expressions.kinds import (
    COMPARISONS,
    LOGIC,
    ExprType,
    binary_type,
    column_key,
    common_type,
    literal_type,
    of_column,
)
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

LONGEST_SQL: Final = 50_000
"""Characters of one expression in Spark SQL; what would be longer is worked out in Python alone."""

EVERY_ROW: Final = "TRUE"

_SECONDS: Final = "(CAST({0} AS DOUBLE) / 1000000.0D)"
_INSTANT: Final = "TIMESTAMP_MICROS({0})"


def to_spark_sql(
    condition: Expression, types: Mapping[str, ColumnType], *, names: Mapping[str, str] | None = None
) -> str:
    """A condition in Spark SQL, true wherever the condition is; the same everywhere if `is_said_by_spark`.

    `types` are the columns' types by `column_key`; `names` says what a column is called in Spark where it is another name.
    Instants are Spark TIMESTAMPs. An expression that is no condition is said exactly or not at all.
    """
    writer = _Writer(types, names or {})
    try:
        return writer.result(condition)
    except _NotSaid:
        return writer.weakened(condition) or EVERY_ROW


def is_said_by_spark(expression: Expression, types: Mapping[str, ColumnType]) -> bool:
    """Whether Spark SQL can say an expression to the last bit."""
    try:
        _Writer(types, {}).result(expression)
    except _NotSaid:
        return False
    return True


class _NotSaid(Exception):  # noqa: N818 - it never leaves this file
    """Spark has no words for this."""


class _Said:
    """Spark SQL and the type of what it says."""

    __slots__ = ("kind", "sql")

    def __init__(self, kind: ExprType, sql: str) -> None:
        if len(sql) > LONGEST_SQL or kind is ExprType.ID:
            raise _NotSaid
        self.kind = kind
        self.sql = sql

    def as_type(self, kind: ExprType) -> str:
        """Brought to a type that it fits."""
        if self.kind is kind:
            return self.sql
        return spark_words.null(kind) if self.kind is ExprType.NULL else f"CAST({self.sql} AS DOUBLE)"


class _Writer:
    """One walk over an expression; instants and durations are BIGINT microseconds until the end."""

    def __init__(self, types: Mapping[str, ColumnType], names: Mapping[str, str]) -> None:
        self.types = types
        self.names = names

    def result(self, expression: Expression) -> str:
        said = self.say(expression)
        if said.kind is ExprType.TIMESTAMP:
            return _INSTANT.format(said.sql)
        return _SECONDS.format(said.sql) if said.kind is ExprType.DURATION else said.sql

    def weakened(self, condition: Expression) -> str | None:
        """True wherever the condition is; None where that is every row."""
        if not (isinstance(condition, Binary) and condition.operator in LOGIC):
            try:
                said = self.say(condition)
            except _NotSaid:
                return None
            assert said.kind in (ExprType.BOOLEAN, ExprType.NULL), "only a condition can be weakened"
            return said.as_type(ExprType.BOOLEAN)
        left, right = self.weakened(condition.left), self.weakened(condition.right)
        if left and right:
            return f"({left} {condition.operator} {right})"
        return (left or right) if condition.operator == "AND" else None

    def say(self, expression: Expression) -> _Said:
        match expression:
            case Name():
                return self._column(expression)
            case Literal() | Quantity() | Timestamp():
                return _constant(expression)
            case Unary():
                return _unary(expression.operator, self.say(expression.operand))
            case Binary():
                return _binary(expression.operator, self.say(expression.left), self.say(expression.right))
            case Between():
                return self._between(expression)
            case In():
                return self._in(expression)
            case IsNull():
                operand = self.say(expression.operand).sql
                return _Said(ExprType.BOOLEAN, f"({operand} IS {'NOT ' * expression.negated}NULL)")
            case Case():
                return self._case(expression)
            case Call():
                return self._call(expression)
            case Star():
                raise AssertionError("a star has no value of its own")

    def _column(self, name: Name) -> _Said:
        key = column_key(name)
        kind = of_column(self.types[key])
        sql = spark_words.name(self.names.get(key, key))
        return _Said(kind, f"UNIX_MICROS({sql})" if kind is ExprType.TIMESTAMP else sql)

    def _between(self, expression: Between) -> _Said:
        said = [self.say(part) for part in (expression.operand, expression.low, expression.high)]
        kind = common_type([part.kind for part in said])
        assert kind is not None, "BETWEEN was not checked"
        operand, low, high = (part.as_type(kind) for part in said)
        return _Said(
            ExprType.BOOLEAN, f"({'NOT ' * expression.negated}({operand} >= {low} AND {operand} <= {high}))"
        )

    def _in(self, expression: In) -> _Said:
        said = [self.say(part) for part in (expression.operand, *expression.items)]
        kind = common_type([part.kind for part in said])
        assert kind is not None, "IN was not checked"
        operand, *items = (part.as_type(kind) for part in said)
        if kind is ExprType.DOUBLE:
            operand = (
                f"({operand} + 0.0D)"  # Spark looks long lists up bit by bit, where minus zero is not zero
            )
        word = "NOT IN" if expression.negated else "IN"
        return _Said(ExprType.BOOLEAN, f"({operand} {word} ({', '.join(items)}))")

    def _case(self, expression: Case) -> _Said:
        conditions = [self.say(condition).as_type(ExprType.BOOLEAN) for condition, _ in expression.branches]
        values = [self.say(value) for _, value in expression.branches]
        otherwise = self.say(expression.otherwise) if expression.otherwise else _Said(ExprType.NULL, "NULL")
        kind = common_type([otherwise.kind, *(value.kind for value in values)])
        assert kind is not None, "CASE was not checked"
        branches = [
            f"WHEN {condition} THEN {value.as_type(kind)}"
            for condition, value in zip(conditions, values, strict=True)
        ]
        return _Said(kind, f"CASE {' '.join(branches)} ELSE {otherwise.as_type(kind)} END")

    def _call(self, call: Call) -> _Said:
        function = FUNCTIONS[call.function]
        if function.spark is None:
            raise _NotSaid
        arguments = [self.say(argument) for argument in call.arguments]
        signature = function.resolve([argument.kind for argument in arguments])
        assert signature is not None, f"{call.function} was not checked"
        if signature.gives is ExprType.NULL:
            return _Said(ExprType.NULL, spark_words.null(ExprType.NULL))
        texts = [argument.as_type(kind) for argument, kind in zip(arguments, signature.takes, strict=True)]
        return _Said(signature.gives, function.spark(texts, signature))


def _constant(expression: Literal | Quantity | Timestamp) -> _Said:
    if isinstance(expression, Timestamp):
        return _Said(ExprType.TIMESTAMP, spark_words.whole(expression.instant))
    if isinstance(expression, Quantity):
        if expression.unit.is_time:
            return _Said(ExprType.DURATION, spark_words.whole(expression.micros))
        return _Said(ExprType.DOUBLE, spark_words.double(float(expression.meters)))
    value, kind = expression.value, literal_type(expression)
    if isinstance(value, bool):
        return _Said(kind, str(value).upper())
    if isinstance(value, int):
        return _Said(kind, spark_words.whole(value))
    if isinstance(value, float):
        return _Said(kind, spark_words.double(value))
    return _Said(kind, spark_words.null(kind) if value is None else spark_words.text(value))


def _unary(operator: str, operand: _Said) -> _Said:
    if operator == "NOT":
        return _Said(ExprType.BOOLEAN, f"(NOT {operand.as_type(ExprType.BOOLEAN)})")
    if operator == "+" or operand.kind is ExprType.NULL:
        return operand
    if operand.kind is ExprType.DOUBLE:
        return _Said(operand.kind, f"(- {operand.sql})")
    return _Said(operand.kind, f"TRY_SUBTRACT(0L, {operand.sql})")


def _binary(operator: str, left: _Said, right: _Said) -> _Said:
    kind = binary_type(operator, left.kind, right.kind)
    assert kind is not None, f"{left.kind} {operator} {right.kind} was not checked"
    if operator in LOGIC or operator in COMPARISONS or operator == "||":
        side = common_type((left.kind, right.kind, *([kind] if operator not in COMPARISONS else [])))
        assert side is not None
        return _Said(kind, f"({left.as_type(side)} {operator} {right.as_type(side)})")
    if ExprType.NULL in (left.kind, right.kind):
        return _Said(kind, spark_words.null(kind))
    if kind is ExprType.DOUBLE:
        return _Said(kind, _doubles(operator, left, right))
    if ExprType.DOUBLE in (left.kind, right.kind) or (kind is ExprType.DURATION and operator == "/"):
        # To the nearest microsecond; 2 to the 63 is the first number that does not fit.
        rounded = f"RINT({_doubles(operator, left, right)})"
        bound = spark_words.double(2.0**63)
        return _Said(kind, f"TRY_CAST({spark_words.without(rounded, bound)} AS BIGINT)")
    if operator == "%":
        return _Said(kind, f"TRY_MOD({left.sql}, {right.sql})")
    if operator == "-":
        return _Said(kind, f"TRY_SUBTRACT({left.sql}, {right.sql})")
    function = "TRY_ADD" if operator == "+" else "TRY_MULTIPLY"
    return _Said(kind, f"{function}({spark_words.apart(left.sql)}, {spark_words.apart(right.sql)})")


def _doubles(operator: str, left: _Said, right: _Said) -> str:
    """Arithmetic on DOUBLEs, which BIGINTs and durations become."""
    a, b = (
        f"CAST({said.sql} AS DOUBLE)" if said.kind is not ExprType.DOUBLE else said.sql
        for said in (left, right)
    )
    if operator == "%":
        return f"TRY_MOD({a}, {b})"
    return spark_words.finite(f"TRY_DIVIDE({a}, {b})" if operator == "/" else f"({a} {operator} {b})")
