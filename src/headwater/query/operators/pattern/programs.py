"""A condition over other rows of the match, as a program for the kernel's machine; and what it must remember.

Rule 1  Every value is a whole number or a double, decided here by the types the checker found: DOUBLE is a double, all else
        (numbers, instants, durations in microseconds, truth values, strings as places in a dictionary) is whole.
Rule 2  What the machine cannot do exactly as columns do (concatenation, sines and logarithms of several rows) is not
        translated: `untranslatable` reports it when a query is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from headwater.kernels.pattern import machine as op
from headwater.kernels.pattern.machine import Memory
from headwater.kernels.pattern.question import Program, Recall, Value
from headwater.model import ColumnType
from headwater.query.expressions import ExprType, evaluate, type_of
from headwater.query.expressions.functions import FUNCTIONS
from headwater.query.expressions.kinds import COMPARISONS, binary_type, common_type, literal_type
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
    Timestamp,
    Unary,
)
from headwater.query.language.walk import every_part
from headwater.query.operators.pattern.terms import AggregateTerm, Lowered, MatchNumberTerm, RowTerm, Term

_DOUBLE, _WHOLE = ExprType.DOUBLE, ExprType.BIGINT
_ARITHMETIC: Final = {"+": op.ADD, "-": op.SUBTRACT, "*": op.MULTIPLY, "%": op.REMAINDER}
_ARITHMETIC_D: Final = {
    "+": op.ADD_D,
    "-": op.SUBTRACT_D,
    "*": op.MULTIPLY_D,
    "/": op.DIVIDE_D,
    "%": op.REMAINDER_D,
}
_FUNCTIONS: Final = frozenset(
    ("ABS", "SQRT", "FLOOR", "CEIL", "LEAST", "GREATEST", "COALESCE", "NULLIF", "DISTANCE")
)

Instruction = tuple[int, int, int, int]


def value_of(argument: Expression) -> Value:
    """A row-local expression as a value of single rows."""
    # By its written form: as values, 1, 1.0 and TRUE would be equal.
    return Value(repr(argument), lambda rows: evaluate(argument, rows))


def looks_at_one_row(lowered: Lowered) -> bool:
    """Whether a condition looks only at the row under test and at rows a fixed number of places away from it."""
    return all(is_under_test(term) for term in lowered.terms)


def is_under_test(term: Term) -> bool:
    """Whether a term is a value of the row under test, or of one a fixed number of places away."""
    return isinstance(term, RowTerm) and term.variables is None and not term.first and term.offset == 0


def untranslatable(lowered: Lowered) -> Expression | None:
    """The part of a condition over several rows that the machine has no words for."""
    if looks_at_one_row(lowered):
        return None
    for part in every_part(lowered.expression):
        if isinstance(part, Call) and part.function not in _FUNCTIONS:
            return part
        if isinstance(part, Binary) and part.operator == "||":
            return part
    return None


@dataclass(slots=True)
class Compiler:
    """Translates the conditions of one pattern; what they use is shared between them."""

    variables: tuple[str, ...]
    columns: Mapping[str, ColumnType]
    whole: dict[str, Value] = field(default_factory=dict)
    double: dict[str, Value] = field(default_factory=dict)
    whole_constants: list[int] = field(default_factory=list)
    double_constants: list[float] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    slots: dict[object, int] = field(default_factory=dict)
    double_slots: dict[object, int] = field(default_factory=dict)
    begin: list[int] = field(default_factory=list)
    steps: list[tuple[int, Instruction, tuple[str, ...] | None]] = field(default_factory=list)

    def program(self, lowered: Lowered) -> Program:
        """One condition."""
        writer = _Writer(self, lowered)
        writer.write(lowered.expression)
        shifts = [term.shift for term in lowered.terms if isinstance(term, RowTerm)]
        return Program(tuple(writer.code), min(0, *shifts, 0), max(0, *shifts, 0))

    def recall(self) -> Recall:
        """What all the programs use."""
        ordered = sorted(self.steps, key=lambda step: step[0])
        member = [
            [variables is None or name in variables for name in (*self.variables, "")][
                : max(len(self.variables), 1)
            ]
            for _, _, variables in ordered
        ]
        memory = Memory(
            np.array([step for _, step, _ in ordered], np.int64).reshape(-1, 4),
            np.array(member, np.bool_).reshape(-1, max(len(self.variables), 1)),
            np.array(self.begin, np.int64),
            np.zeros(len(self.double_slots)),
        )
        return Recall(
            tuple(self.whole.values()),
            tuple(self.double.values()),
            tuple(self.whole_constants),
            tuple(self.double_constants),
            tuple(self.texts),
            memory,
        )

    def is_double(self, argument: Expression) -> bool:
        """Whether the values of a row-local expression are doubles."""
        return type_of(argument, self.columns, []) is _DOUBLE

    def kind(self, node: Expression, lowered: Lowered) -> ExprType:
        """The type of a part of a condition."""
        terms = {f"#{number}": ColumnType(kind.value) for number, kind in enumerate(lowered.kinds)}
        found = type_of(node, terms, [])
        assert found is not None, "conditions were checked"
        return found

    # --- columns, constants, memory -----------------------------------------------------------------------------------

    def column(self, argument: Expression, kind: ExprType) -> int:
        """The place of a value's column."""
        value = value_of(argument)
        columns = self.double if kind is _DOUBLE else self.whole
        columns.setdefault(value.key, value)
        return list(columns).index(value.key)

    def constant(self, value: int | str) -> int:
        """The place of a whole constant; a string's number is found when its dictionary is known."""
        place = len(self.whole_constants)
        if isinstance(value, str):
            self.texts.append((place, value))
        self.whole_constants.append(0 if isinstance(value, str) else int(value))
        return place

    def double_constant(self, value: float) -> int:
        """The place of a double constant."""
        self.double_constants.append(value)
        return len(self.double_constants) - 1

    def last_row(self, variables: tuple[str, ...] | None, offset: int) -> int:
        """Where the row `offset` before the last of some variables is remembered."""
        key = ("last", variables, offset)
        if key not in self.slots:
            later = self.last_row(variables, offset - 1) if offset else -1
            slot = self._slot(key, -1)
            # Those further back first: each takes over what the next later one was.
            what = op.BEFORE_LAST if offset else op.LAST
            self.steps.append((-offset, (what, slot, 0, later), variables))
        return self.slots[key]

    def first_row(self, variables: tuple[str, ...] | None, offset: int) -> int:
        """Where the row `offset` after the first of some variables is remembered."""
        key = ("first", variables, offset)
        if key not in self.slots:
            slot = self._slot(key, -1)
            self.steps.append((1, (op.FIRST, slot, offset, self.count(variables)), variables))
        return self.slots[key]

    def count(self, variables: tuple[str, ...] | None) -> int:
        """Where the number of rows is remembered."""
        key = ("count", variables)
        if key not in self.slots:
            self.steps.append((2, (op.COUNT, self._slot(key, 0), 0, 0), variables))
        return self.slots[key]

    def count_of(self, term: AggregateTerm, column: int, *, double: bool) -> int:
        """Where the number of values that are there is remembered."""
        key = ("count of", term.variables, column, double)
        if key not in self.slots:
            what = op.COUNT_DOUBLE if double else op.COUNT_WHOLE
            self.steps.append((3, (what, self._slot(key, 0), column, 0), term.variables))
        return self.slots[key]

    def sum_of(self, term: AggregateTerm, column: int, *, double: bool) -> tuple[int, int]:
        """Where the sum is remembered, and where it is noted that it overflowed."""
        key = ("sum", term.variables, column)
        if double:
            if key not in self.double_slots:
                self.double_slots[key] = len(self.double_slots)
                self.steps.append((3, (op.ADD_DOUBLE, self.double_slots[key], column, 0), term.variables))
            return self.double_slots[key], 0
        if key not in self.slots:
            slot, overflow = self._slot(key, 0), self._slot(("overflow", key), 0)
            self.steps.append((3, (op.ADD_WHOLE, slot, column, overflow), term.variables))
        return self.slots[key], self.slots[("overflow", key)]

    def extreme(self, term: AggregateTerm, column: int, *, double: bool) -> int:
        """Where the row with the least or greatest value is remembered."""
        key = (term.function, term.variables, column, double)
        if key not in self.slots:
            least = term.function == "MIN"
            what = (
                (op.LEAST_DOUBLE if least else op.GREATEST_DOUBLE)
                if double
                else (op.LEAST_WHOLE if least else op.GREATEST_WHOLE)
            )
            self.steps.append((3, (what, self._slot(key, -1), column, 0), term.variables))
        return self.slots[key]

    def _slot(self, key: object, begin: int) -> int:
        self.slots[key] = len(self.begin)
        self.begin.append(begin)
        return self.slots[key]


class _Writer:
    """Writes one program; `write` leaves a value on the stack and gives its type."""

    def __init__(self, compiler: Compiler, lowered: Lowered) -> None:
        self.compiler = compiler
        self.lowered = lowered
        self.code: list[Instruction] = []

    def write(self, node: Expression, expected: ExprType | None = None) -> ExprType:
        """The value of a node; as a double if `expected` is DOUBLE and it is a whole number."""
        kind = self._plain(node)
        if expected is _DOUBLE and kind is not _DOUBLE and kind is not ExprType.NULL:
            self._add(op.TO_DOUBLE)
            return _DOUBLE
        return kind

    def _add(self, what: int, a: int = 0, b: int = 0, c: int = 0) -> None:
        self.code.append((what, a, b, c))

    def _plain(self, node: Expression) -> ExprType:
        match node:
            case Name():
                number = int(node.name[1:])
                return self._term(self.lowered.terms[number], self.lowered.kinds[number])
            case Literal() | Timestamp() | Quantity():
                return self._constant(node)
            case Unary():
                return self._unary(node)
            case Binary():
                return self._binary(node)
            case Between():
                self._all_alike([node.operand, node.low], ">=", [node.operand, node.low, node.high])
                self._all_alike([node.operand, node.high], "<=", [node.operand, node.low, node.high])
                self._add(op.AND)
                return self._negated(node.negated)
            case In():
                for number, item in enumerate(node.items):
                    self._all_alike([node.operand, item], "=", [node.operand, *node.items])
                    if number:
                        self._add(op.OR)
                return self._negated(node.negated)
            case IsNull():
                self.write(node.operand)
                self._add(op.IS_NULL)
                return self._negated(node.negated)
            case Case():
                return self._case(node)
            case Call():
                return self._call(node)
            case _:
                raise AssertionError(f"{type(node).__name__} in a condition")

    def _negated(self, negated: bool) -> ExprType:
        if negated:
            self._add(op.NOT)
        return ExprType.BOOLEAN

    def _constant(self, node: Literal | Timestamp | Quantity) -> ExprType:
        if isinstance(node, Timestamp):
            self._add(op.WHOLE, self.compiler.constant(node.instant))
            return ExprType.TIMESTAMP
        if isinstance(node, Quantity) and node.unit.is_time:
            self._add(op.WHOLE, self.compiler.constant(node.micros))
            return ExprType.DURATION
        value = node.meters if isinstance(node, Quantity) else node.value
        kind = _DOUBLE if isinstance(node, Quantity) else literal_type(node)
        if value is None:
            self._add(op.NULL)
        elif kind is _DOUBLE:
            self._add(op.DOUBLE, self.compiler.double_constant(float(value)))
        else:
            assert isinstance(value, int | str)
            self._add(op.WHOLE, self.compiler.constant(value))
        return kind

    # --- terms ----------------------------------------------------------------------------------------------------

    def _term(self, term: Term, kind: ExprType) -> ExprType:
        match term:
            case RowTerm():
                self._row(term, kind)
            case AggregateTerm():
                self._aggregate(term, kind)
            case MatchNumberTerm():
                self._add(op.MATCH_NUMBER)
            case _:
                raise AssertionError("CLASSIFIER() of a condition is a constant")
        return kind

    def _row(self, term: RowTerm, kind: ExprType) -> None:
        column = self.compiler.column(term.argument, kind)
        if is_under_test(term):
            slot = -1
        elif term.first:
            slot = self.compiler.first_row(term.variables, term.offset)
        else:
            slot = self.compiler.last_row(term.variables, term.offset)
        self._add(op.ROW_DOUBLE if kind is _DOUBLE else op.ROW_WHOLE, column, slot, term.shift)

    def _aggregate(self, term: AggregateTerm, kind: ExprType) -> None:
        if term.argument is None:
            self._add(op.COUNTED, self.compiler.count(term.variables))
            return
        # A sum is of the type of its values, an average always a double: what they are of decides.
        double = self.compiler.is_double(term.argument)
        column = self.compiler.column(term.argument, _DOUBLE if double else _WHOLE)
        if term.function in ("MIN", "MAX"):
            slot = self.compiler.extreme(term, column, double=double)
            self._add(op.ROW_DOUBLE if double else op.ROW_WHOLE, column, slot, 0)
            return
        count = self.compiler.count_of(term, column, double=double)
        if term.function == "COUNT":
            self._add(op.COUNTED, count)
            return
        total, overflow = self.compiler.sum_of(term, column, double=double)
        mean = term.function == "AVG"
        if double:
            self._add(op.MEAN_DOUBLE if mean else op.SUM_DOUBLE, total, count)
        else:
            self._add(op.MEAN_WHOLE if mean else op.SUM_WHOLE, total, count, overflow)

    # --- operators ------------------------------------------------------------------------------------------------

    def _unary(self, node: Unary) -> ExprType:
        kind = self.write(node.operand)
        if node.operator == "NOT":
            self._add(op.NOT)
        elif node.operator == "-":
            self._add(op.NEGATE_D if kind is _DOUBLE else op.NEGATE)
        return kind

    def _binary(self, node: Binary) -> ExprType:
        if node.operator in ("AND", "OR"):
            self.write(node.left)
            self.write(node.right)
            self._add(op.AND if node.operator == "AND" else op.OR)
            return ExprType.BOOLEAN
        if node.operator in COMPARISONS:
            self._all_alike([node.left, node.right], node.operator, [node.left, node.right])
            return ExprType.BOOLEAN
        return self._arithmetic(node)

    def _arithmetic(self, node: Binary) -> ExprType:
        left, right = self._kind(node.left), self._kind(node.right)
        kind = binary_type(node.operator, left, right)
        assert kind is not None
        if ExprType.NULL in (left, right):
            self._add(op.NULL)
            return kind
        scaled = kind is ExprType.DURATION and (_DOUBLE in (left, right) or node.operator == "/")
        if kind is _DOUBLE or scaled:
            self.write(node.left, _DOUBLE)
            self.write(node.right, _DOUBLE)
            self._add(_ARITHMETIC_D[node.operator])
            if scaled:
                self._add(op.ROUND_TO_WHOLE)
            return kind
        self.write(node.left)
        self.write(node.right)
        self._add(_ARITHMETIC[node.operator])
        return kind

    def _all_alike(self, sides: Sequence[Expression], sign: str, alike: Sequence[Expression]) -> None:
        """A comparison of two sides, brought to the common type of `alike`."""
        kind = common_type([self._kind(node) for node in alike])
        assert kind is not None
        double = kind is _DOUBLE
        first, second = reversed(sides) if sign in (">", ">=") else sides
        self.write(first, kind)
        self.write(second, kind)
        if sign in ("=", "<>"):
            self._add(op.EQUAL_D if double else op.EQUAL)
            if sign == "<>":
                self._add(op.NOT)
        elif sign in ("<", ">"):
            self._add(op.LESS_D if double else op.LESS)
        else:
            self._add(op.LESS_EQUAL_D if double else op.LESS_EQUAL)

    def _case(self, node: Case) -> ExprType:
        values = [value for _, value in node.branches]
        values += [node.otherwise] if node.otherwise else []
        kind = common_type([self._kind(value) for value in values])
        assert kind is not None
        for condition, value in node.branches:
            self.write(condition)
            self.write(value, kind)
        if node.otherwise:
            self.write(node.otherwise, kind)
        else:
            self._add(op.NULL)
        for _ in node.branches:
            self._add(op.CHOOSE)
        return kind

    def _call(self, node: Call) -> ExprType:
        kinds = [self._kind(argument) for argument in node.arguments]
        signature = FUNCTIONS[node.function].resolve(kinds)
        assert signature is not None
        if signature.gives is ExprType.NULL:
            self._add(op.NULL)
            return ExprType.NULL
        double = signature.gives is _DOUBLE
        arguments = list(zip(node.arguments, signature.takes, strict=True))
        _CALLS[node.function](self, arguments, double)
        return signature.gives

    def each(self, arguments: list[tuple[Expression, ExprType]], what: int) -> None:
        """All arguments, put together two by two."""
        for number, (argument, kind) in enumerate(arguments):
            self.write(argument, kind)
            if number:
                self._add(what)

    def one(self, arguments: list[tuple[Expression, ExprType]], what: int | None) -> None:
        """A function of one value."""
        self.write(*arguments[0])
        if what is not None:
            self._add(what)

    def null_if(self, arguments: list[tuple[Expression, ExprType]], double: bool) -> None:
        """`NULLIF(a, b)`: NULL if they are equal, else a."""
        self.each(arguments, op.EQUAL_D if double else op.EQUAL)
        self._add(op.NULL)
        self.write(*arguments[0])
        self._add(op.CHOOSE)

    def distance(self, arguments: list[tuple[Expression, ExprType]], _: bool) -> None:
        """The root of the squares."""
        x1, y1, x2, y2 = arguments
        for first, second in ((x1, x2), (y1, y2)):
            self.each([first, second], op.SUBTRACT_D)
            self.each([first, second], op.SUBTRACT_D)
            self._add(op.MULTIPLY_D)
        self._add(op.ADD_D)
        self._add(op.ROOT)

    def _kind(self, node: Expression) -> ExprType:
        return self.compiler.kind(node, self.lowered)


_Arguments = list[tuple[Expression, ExprType]]
_CALLS: Final[dict[str, Callable[[_Writer, _Arguments, bool], None]]] = {
    "ABS": lambda writer, operands, double: writer.one(operands, op.ABSOLUTE_D if double else op.ABSOLUTE),
    "SQRT": lambda writer, operands, double: writer.one(operands, op.ROOT),
    "FLOOR": lambda writer, operands, double: writer.one(operands, op.FLOOR if double else None),
    "CEIL": lambda writer, operands, double: writer.one(operands, op.CEILING if double else None),
    "LEAST": lambda writer, operands, double: writer.each(operands, op.LEAST_D if double else op.LEAST),
    "GREATEST": lambda writer, operands, double: writer.each(
        operands, op.GREATEST_D if double else op.GREATEST
    ),
    "COALESCE": lambda writer, operands, double: writer.each(operands, op.COALESCE),
    "NULLIF": lambda writer, operands, double: writer.null_if(operands, double),
    "DISTANCE": lambda writer, operands, double: writer.distance(operands, double),
}
