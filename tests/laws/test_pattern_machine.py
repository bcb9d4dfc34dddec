"""The machine that tests conditions inside the scan computes what the column evaluator computes, and its sums are those of
all bound rows."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from headwater.kernels.pattern.compiled_query import CompiledQuery
from headwater.kernels.pattern.kernel import PatternKernel
from headwater.kernels.pattern.machine import Look, Programs, Table, holds, make_stack, remember
from headwater.kernels.pattern.partitioned_rows import Arranged
from headwater.kernels.pattern.question import PatternQuery, Program
from headwater.kernels.pattern.shape import One
from headwater.model import Column, ColumnType, Rows, StreamSchema
from headwater.query.expressions import ExprType, condition, type_of
from headwater.query.language.parse import parse_expression
from headwater.query.language.printer import show
from headwater.query.language.tree import Binary, Call, Expression, Literal, Name
from headwater.query.language.walk import every_part, parts_of, with_parts
from headwater.query.operators.pattern.programs import Compiler, untranslatable
from headwater.query.operators.pattern.terms import AggregateTerm, Lowered, RowTerm, Term
from tests.laws.expression_worlds import TYPES, random_expression, random_rows

SEEDS = range(12)
EXPRESSIONS = 60
ROWS = 16

_SCHEMA = StreamSchema("readings", (("t0", ColumnType.TIMESTAMP), *TYPES.items()), time="t0", key=None)
_NOT_TRANSLATED = {
    "SIGN": "ABS",
    "RADIANS": "FLOOR",
    "DEGREES": "CEIL",
}  # others become a column or a constant
_PLAIN: dict[ExprType, Expression] = {
    ExprType.BIGINT: Name("a"),
    ExprType.DOUBLE: Name("x"),
    ExprType.STRING: Name("s"),
}


class Machine:
    """Programs over the columns of some rows, each column a term of its own."""

    def __init__(self, lowered: list[Lowered], rows: Rows, variables: tuple[str, ...] = ("A",)) -> None:
        compiler = Compiler(variables, TYPES)
        tests = tuple(compiler.program(one) for one in lowered)
        self.recall = compiler.recall()
        query = PatternQuery(
            name="q", fingerprint="", output=0, where=None, partition=(), order=(), shape=One(0, 0),
            variables=variables, tests=tests, recall=self.recall, measures=(), row_columns=(), identity=(),
        )  # fmt: skip
        (compiled,) = PatternKernel(_SCHEMA, [query]).compiled
        assert isinstance(compiled, CompiledQuery)
        assert all(isinstance(test, Program) for test in tests)
        timed = rows.having(t0=Column(ColumnType.TIMESTAMP, np.zeros(rows.count, np.int64)))
        fresh = np.ones(rows.count, np.bool_)
        self.programs: Programs
        self.table: Table
        self.programs, self.table = compiled.columns_of(
            Arranged(timed, np.zeros(rows.count, np.int64), fresh, "t0")
        )
        self.stack = make_stack()
        self.whole, self.double = self.recall.memory.whole.copy(), self.recall.memory.double.copy()

    def says(self, program: int, row: int) -> bool:
        """Whether a program says true."""
        return bool(
            holds(
                self.programs,
                program,
                self.table,
                Look(row, 0, len(self.table.time), 0, 1),
                self.whole,
                self.double,
                self.stack,
            )
        )

    def value(self, program: int, row: int, *, double: bool) -> float | int | None:
        """The value that a program leaves."""
        self.says(program, row)
        if not self.stack.there[0]:
            return None
        return float(self.stack.double[0]) if double else int(self.stack.whole[0])

    def bind(self, variable: int, row: int) -> None:
        """Bind a row."""
        remember(self.recall.memory, self.table, variable, row, row, 0, self.whole, self.double)


def lowered(expression: Expression) -> Lowered:
    """Every column a term: the row under test."""
    names = list(dict.fromkeys(part.name for part in every_part(expression) if isinstance(part, Name)))
    terms: list[Term] = [RowTerm(Name(name), None, False, 0, 0, False) for name in names]
    kinds = [ExprType(TYPES[name].value) for name in names]
    whole = _renamed(expression, {name: f"#{number}" for number, name in enumerate(names)})
    return Lowered(whole, tuple(terms), tuple(kinds), ExprType.BOOLEAN)


def _renamed(expression: Expression, names: dict[str, str]) -> Expression:
    if isinstance(expression, Name):
        return Name(names[expression.name])
    return with_parts(expression, (_renamed(part, names) for part in parts_of(expression)))


def _translatable(expression: Expression) -> Expression:
    """The same with what the machine has no words for replaced by something of the same type."""
    if isinstance(expression, Call) and expression.function in _NOT_TRANSLATED:
        expression = Call(_NOT_TRANSLATED[expression.function], expression.arguments)
    elif untranslatable(_over_two_rows(expression)) is expression:
        kind = type_of(expression, TYPES, [])
        return Literal(None) if kind is None else _PLAIN.get(kind, Literal(None))
    return with_parts(expression, map(_translatable, parts_of(expression)))


def _over_two_rows(expression: Expression) -> Lowered:
    return Lowered(expression, (RowTerm(Name("a"), ("A",), False, 1, 0, False),), (), ExprType.BOOLEAN)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_machine_says_what_columns_say(seed: int) -> None:
    random = Random(seed)
    rows = random_rows(random, ROWS)
    expressions = []
    while len(expressions) < EXPRESSIONS:
        expression = _translatable(random_expression(random, ExprType.BOOLEAN, random.randint(1, 4)))
        if type_of(expression, TYPES, []) is ExprType.BOOLEAN:
            expressions.append(expression)
    _agree(expressions, rows)


def _agree(expressions: list[Expression], rows: Rows) -> None:
    machine = Machine([lowered(expression) for expression in expressions], rows)
    wrong = []
    for number, expression in enumerate(expressions):
        expected = condition(expression)(rows)
        for row in range(rows.count):
            if machine.says(number, row) != expected[row]:
                at = {
                    part.name: rows[part.name].tolist()[row]
                    for part in every_part(expression)
                    if isinstance(part, Name)
                }
                wrong.append(f"{show(expression)} over {at}: columns say {expected[row]}")
    assert not wrong, "\n".join(sorted(wrong, key=len)[:5])


BY_HAND = (
    "a + m > 0", "a - m > 0", "a * m > 0", "a % m = 0", "a % m < 0", "-a > 0", "ABS(a) >= 0", "a / m > 1", "x / y > 1", "x % y >= 0",
    "x * y > 0", "x + y > 0", "NOT (a + m > 0)", "(a * m > 0) IS NULL", "(a + m) IS NULL", "(x / y) IS NULL", "(a % m) IS NOT NULL",
    "(-a) IS NULL", "ABS(a) IS NULL", "SQRT(x) > 1", "SQRT(x) IS NULL", "FLOOR(x) = x", "CEIL(x) > x", "FLOOR(a) = a", "CEIL(y) = 0",
    "DISTANCE(x, y, 0, 0) > 3", "DISTANCE(x, y, a, m) IS NULL", "DISTANCE(x, x, y, y) = 0",
    "s = 'a'", "s <> 'a'", "s < 'b'", "s >= 'nowhere'", "s > 'nowhere'", "s = 'nowhere'", "s <= ''", "s = u", "s < u", "s >= u",
    "s IN ('a', 'nowhere', NULL)", "s NOT IN ('a', 'nowhere')", "s NOT IN ('nowhere', NULL)", "s BETWEEN 'a' AND 'm'",
    "u NOT BETWEEN 'nowhere' AND s", "COALESCE(s, 'nowhere') = 'nowhere'", "NULLIF(s, u) IS NULL", "LEAST(s, u) = s",
    "GREATEST(s, u, 'nowhere') = 'nowhere'", "CASE WHEN p THEN s ELSE 'nowhere' END < u",
    "t < r", "t = r", "t - r < 3 SECONDS", "t + 1 DAY > r", "t - 36500 DAYS < r", "(t - r) * 2 > 1 HOUR", "(t - r) / 3 > 1 HOUR",
    "(t - r) / (r - t) = -1", "2.5 * (t - r) > 1 SECOND", "-(t - r) > 0 SECONDS", "ABS(t - r) > 1 DAY", "t BETWEEN r AND r + 1 DAY",
    "t > TIMESTAMP '2000-01-01T00:00:00Z'", "((t - r) * 1e300) IS NULL", "(t - r) * a > 0 SECONDS",
    "p", "NOT p", "p AND q", "p OR q", "p = q", "p < q", "p IS NULL OR NOT q", "p AND NULL", "p OR NULL", "NOT NULL",
    "CASE WHEN p THEN a WHEN q THEN x ELSE m END > 1", "CASE WHEN a > 0 THEN m END > 0", "CASE WHEN p THEN NULL ELSE a END IS NULL",
    "COALESCE(a, m, 7) = 7", "COALESCE(a, x) > 1", "COALESCE(NULL, a) IS NULL", "NULLIF(a, m) > 0", "NULLIF(a, 1) IS NULL",
    "NULLIF(x, a) IS NULL", "LEAST(a, m) = m", "GREATEST(a, x, m) = x", "LEAST(x, y) <= x", "GREATEST(a, NULL) = a",
    "a IN (1, 2, 3)", "a NOT IN (1, m, NULL)", "x IN (a, m, 2.5)", "a IN (NULL)", "a BETWEEN m AND x", "a NOT BETWEEN 0 AND m",
    "x BETWEEN y AND NULL", "a = x", "a < x", "a >= 9223372036854775807", "a + 1 > a", "a > 3 KM", "x < 1.5 METERS", "a = 9007199254740993",
)  # fmt: skip


def test_the_machine_says_what_columns_say_of_conditions_written_by_hand() -> None:
    expressions = [parse_expression(text) for text in BY_HAND]
    for text, expression in zip(BY_HAND, expressions, strict=True):
        assert type_of(expression, TYPES, []) in (ExprType.BOOLEAN, ExprType.NULL), text
        assert untranslatable(_over_two_rows(expression)) is None, text
    for seed in range(4):
        _agree(expressions, random_rows(Random(1000 + seed), 80))


def test_what_the_machine_has_no_words_for_is_reported_to_be_untranslatable() -> None:
    for text in (
        "LENGTH(s) > 1",
        "s || u = 'ab'",
        "SIN(x) > 0",
        "CASE WHEN p THEN UPPER(s) END = 'A'",
        "YEAR(t) = 2026",
    ):
        found = untranslatable(_over_two_rows(parse_expression(text)))
        assert isinstance(found, Call | Binary), text
        assert untranslatable(lowered(parse_expression(text))) is None, "of one row, columns say"


# --- aggregates --------------------------------------------------------------------------------------------------------

_COLUMNS = {
    "a": ExprType.BIGINT,
    "x": ExprType.DOUBLE,
    "s": ExprType.STRING,
    "t": ExprType.TIMESTAMP,
    "p": ExprType.BOOLEAN,
}
_VARIABLES = ("A", "B", "C")


def _aggregates() -> list[tuple[AggregateTerm, ExprType, str]]:
    found = []
    for over in (None, ("A",), ("B", "C")):
        found.append((AggregateTerm("COUNT", None, over, False), ExprType.BIGINT, ""))
        for column, kind in _COLUMNS.items():
            numeric = kind in (ExprType.BIGINT, ExprType.DOUBLE)
            for function in ("COUNT", "MIN", "MAX", *(("SUM", "AVG") if numeric else ())):
                gives = {"COUNT": ExprType.BIGINT, "AVG": ExprType.DOUBLE}.get(function, kind)
                found.append((AggregateTerm(function, Name(column), over, False), gives, column))
    return found


def _from_scratch(term: AggregateTerm, items: list[Any]) -> Any:
    """Over all bound values, NULLs left out."""
    there = [item for item in items if item is not None]
    if term.function == "COUNT":
        return len(items) if term.argument is None else len(there)
    if not there:
        return None
    if term.function in ("MIN", "MAX"):
        return min(there) if term.function == "MIN" else max(there)
    total = 0 if isinstance(there[0], int) else 0.0
    for item in there:  # one after the other: Python's own sum of floats is more exact than the definition
        total += item
    if isinstance(total, int):
        fits = -(2**63) <= total < 2**63
        return None if not fits else float(total) / len(there) if term.function == "AVG" else total
    value = total / len(there) if term.function == "AVG" else total
    return value if math.isfinite(value) else None


@pytest.mark.parametrize("seed", range(16))
def test_aggregates_kept_row_by_row_are_those_of_all_bound_rows(seed: int) -> None:
    random = Random(seed)
    rows = random_rows(random, 30)
    if seed % 2:  # without the extremes, so that most sums have a value
        tame = [None if random.random() < 0.2 else random.randint(-9, 9) for _ in range(30)]
        others = [None if item is None else item / 7 for item in reversed(tame)]
        rows = rows.having(a=Column.of(ColumnType.BIGINT, tame), x=Column.of(ColumnType.DOUBLE, others))
    listed = rows.tolist()
    aggregates = _aggregates()
    machine = Machine(
        [Lowered(Name("#0"), (term,), (kind,), kind) for term, kind, _ in aggregates], rows, _VARIABLES
    )
    names = sorted({text for column in ("s",) for text in rows[column].tolist() if text is not None} | {""})
    bound: list[tuple[int, int]] = []
    for row in range(rows.count):
        if random.random() < 0.3:
            continue
        bound.append((random.randrange(3), row))
        machine.bind(*bound[-1])
        for number, (term, kind, column) in enumerate(aggregates):
            inside = [
                at
                for variable, at in bound
                if term.variables is None or _VARIABLES[variable] in term.variables
            ]
            expected = _from_scratch(term, [listed[at][column] if column else at for at in inside])
            if isinstance(expected, str):
                expected = names.index(expected)
            got = machine.value(number, row, double=kind is ExprType.DOUBLE)
            assert got == expected, (term, [listed[at][column] for at in inside] if column else inside)
