"""Does a condition over other rows of the match hold? A small stack machine, one compiled loop for all queries.

Rule 1  A program is a table of instructions (operation, a, b, c); values are 64-bit whole numbers or doubles, each with a
        mark whether it is valid: an invalid value is NULL.
Rule 2  Results are those of the column evaluator, to the last bit: whole numbers that overflow, divisions
        by zero and doubles that are not finite are NULL.
Rule 3  Strings are whole numbers: places in one sorted dictionary of all strings that the programs can meet.

What a partial match remembers of its rows is a vector of whole numbers and one of doubles. `remember` updates them when a row
is bound; the rows of a match are never walked again. Rows are remembered by their number in the
partition, which no batch changes; -1 is none.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

# --- instructions -----------------------------------------------------------------------------------------------------

(
    NULL,
    WHOLE,  # a: place among the whole constants
    DOUBLE,  # a: place among the double constants
    ROW_WHOLE,  # a: column, b: remembered row (-1: the row under test), c: physical shift
    ROW_DOUBLE,
    COUNTED,  # a: remembered whole number
    SUM_WHOLE,  # a: the sum, b: how many, c: whether it overflowed
    SUM_DOUBLE,  # a: the sum (a double), b: how many
    MEAN_WHOLE,
    MEAN_DOUBLE,
    MATCH_NUMBER,
    TO_DOUBLE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    REMAINDER,
    NEGATE,
    ABSOLUTE,
    ADD_D,
    SUBTRACT_D,
    MULTIPLY_D,
    DIVIDE_D,
    REMAINDER_D,
    NEGATE_D,
    ABSOLUTE_D,
    ROUND_TO_WHOLE,  # a double to the nearest whole number
    EQUAL,
    LESS,
    LESS_EQUAL,
    EQUAL_D,
    LESS_D,
    LESS_EQUAL_D,
    NOT,
    AND,
    OR,
    IS_NULL,
    CHOOSE,  # condition, value, otherwise -> one of them
    COALESCE,  # value, otherwise
    LEAST,
    GREATEST,
    LEAST_D,
    GREATEST_D,
    ROOT,
    FLOOR,
    CEILING,
) = range(45)

# --- what is remembered when a row is bound ------------------------------------------------------------------------------

(
    LAST,  # dest: the row
    BEFORE_LAST,  # dest: what `b` was (the next later one)
    FIRST,  # dest: the row, if `b` (a count) is `a`
    COUNT,
    COUNT_WHOLE,  # a: column
    COUNT_DOUBLE,
    ADD_WHOLE,  # a: column, b: where an overflow is noted
    ADD_DOUBLE,  # dest: a double
    LEAST_WHOLE,  # dest: the row with the least value of column a
    LEAST_DOUBLE,
    GREATEST_WHOLE,
    GREATEST_DOUBLE,
) = range(12)

DEEPEST: Final = 256
"""Values on the stack; the checker bounds the depth of expressions far below."""


class Programs(NamedTuple):
    """The conditions of one pattern: `bit[c]` is the row of a mask in `bits`, or -1 for the program `code[from_[c]:to[c]]`."""

    bit: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    code: NDArray[np.int64]  # [n, 4]
    whole: NDArray[np.int64]
    double: NDArray[np.float64]


class Memory(NamedTuple):
    """What is remembered: `steps[n, 4]` (what, dest, a, b), applied in order if `member[n, variable]`; and how to begin."""

    steps: NDArray[np.int64]
    member: NDArray[np.bool_]
    whole: NDArray[np.int64]  # the values to begin with
    double: NDArray[np.float64]


class Table(NamedTuple):
    """The rows of a step in columns, partition by partition."""

    time: NDArray[np.int64]
    bits: NDArray[np.bool_]  # [tests, n]
    whole: NDArray[np.int64]  # [columns, n]
    whole_valid: NDArray[np.bool_]
    double: NDArray[np.float64]
    double_valid: NDArray[np.bool_]


class Look(NamedTuple):
    """A row under test for a partial match, the rows [low, high) of its partition, and the number of the match if it takes the row."""

    row: int
    low: int
    high: int
    offset: int  # the place of the partition's row 0 in the table
    match_number: int


class Stack(NamedTuple):
    """Room for computations."""

    whole: NDArray[np.int64]
    double: NDArray[np.float64]
    there: NDArray[np.bool_]


def make_stack() -> Stack:
    """An empty stack."""
    return Stack(np.zeros(DEEPEST, np.int64), np.zeros(DEEPEST), np.zeros(DEEPEST, np.bool_))


@loop
def remember(
    memory: Memory,
    table: Table,
    variable: int,
    row: int,
    number: int,
    offset: int,
    whole: NDArray[np.int64],
    double: NDArray[np.float64],
) -> None:
    """Bind a row to a variable; `row` is its place in the table, `number` = row - offset its number in the partition."""
    for step in range(len(memory.steps)):
        if not memory.member[step, variable]:
            continue
        what, dest, a, b = (
            memory.steps[step, 0],
            memory.steps[step, 1],
            memory.steps[step, 2],
            memory.steps[step, 3],
        )
        if what == LAST:
            whole[dest] = number
        elif what == BEFORE_LAST:
            whole[dest] = whole[b]
        elif what == FIRST:
            if whole[b] == a:
                whole[dest] = number
        elif what == COUNT:
            whole[dest] += 1
        elif what == COUNT_WHOLE:
            whole[dest] += table.whole_valid[a, row]
        elif what == COUNT_DOUBLE:
            whole[dest] += table.double_valid[a, row]
        elif what == ADD_WHOLE:
            if table.whole_valid[a, row]:
                added = table.whole[a, row]
                total = whole[dest] + added
                if ((whole[dest] ^ total) & (added ^ total)) < 0:
                    whole[b] += (
                        1 if added > 0 else -1
                    )  # how many times it overflowed: when that is 0 again, the sum is valid again
                whole[dest] = total
        elif what == ADD_DOUBLE:
            if table.double_valid[a, row]:
                double[dest] += table.double[a, row]
        elif what == LEAST_WHOLE:
            if table.whole_valid[a, row] and (
                whole[dest] < 0 or table.whole[a, row] < table.whole[a, whole[dest] + offset]
            ):
                whole[dest] = number
        elif what == LEAST_DOUBLE:
            if table.double_valid[a, row] and (
                whole[dest] < 0 or table.double[a, row] < table.double[a, whole[dest] + offset]
            ):
                whole[dest] = number
        elif what == GREATEST_WHOLE:
            if table.whole_valid[a, row] and (
                whole[dest] < 0 or table.whole[a, row] > table.whole[a, whole[dest] + offset]
            ):
                whole[dest] = number
        elif table.double_valid[a, row] and (
            whole[dest] < 0 or table.double[a, row] > table.double[a, whole[dest] + offset]
        ):
            whole[dest] = number


@loop
def holds(
    programs: Programs,
    condition: int,
    table: Table,
    look: Look,
    whole: NDArray[np.int64],
    double: NDArray[np.float64],
    stack: Stack,
) -> bool:
    """Whether a program is true for a row; `whole` and `double` are what is remembered of the rows before it."""
    row, low, high, offset, match_number = look
    w, d, there = stack.whole, stack.double, stack.there
    top = -1
    for at in range(programs.begin[condition], programs.end[condition]):
        op = programs.code[at, 0]
        a, b, c = programs.code[at, 1], programs.code[at, 2], programs.code[at, 3]
        if op in (ROW_DOUBLE, ROW_WHOLE):
            top += 1
            found = row if b < 0 else whole[b] + offset
            known = b < 0 or whole[b] >= 0
            found += c
            known = known and low <= found < high
            there[top] = False
            if known and op == ROW_DOUBLE:
                d[top] = table.double[a, found]
                there[top] = table.double_valid[a, found]
            elif known:
                w[top] = table.whole[a, found]
                there[top] = table.whole_valid[a, found]
        elif op == DOUBLE:
            top += 1
            d[top] = programs.double[a]
            there[top] = True
        elif op == WHOLE:
            top += 1
            w[top] = programs.whole[a]
            there[top] = True
        elif op == NULL:
            top += 1
            there[top] = False
        elif op == COUNTED:
            top += 1
            w[top] = whole[a]
            there[top] = True
        elif op == SUM_WHOLE:
            top += 1
            w[top] = whole[a]
            there[top] = whole[b] > 0 and whole[c] == 0
        elif op == SUM_DOUBLE:
            top += 1
            d[top] = double[a]
            there[top] = whole[b] > 0 and math.isfinite(d[top])
        elif op == MEAN_WHOLE:
            top += 1
            there[top] = whole[b] > 0 and whole[c] == 0
            if there[top]:
                d[top] = whole[a] / whole[b]
        elif op == MEAN_DOUBLE:
            top += 1
            there[top] = whole[b] > 0
            if there[top]:
                d[top] = double[a] / whole[b]
                there[top] = math.isfinite(d[top])
        elif op == MATCH_NUMBER:
            top += 1
            w[top] = match_number
            there[top] = True
        elif op == TO_DOUBLE:
            d[top] = float(w[top])
        elif op == NOT:
            w[top] = 1 - w[top]
        elif op in (NEGATE, ABSOLUTE):
            if w[top] == np.iinfo(np.int64).min:
                there[top] = False
            elif op == NEGATE or w[top] < 0:
                w[top] = -w[top]
        elif op == NEGATE_D:
            d[top] = -d[top]
        elif op == ABSOLUTE_D:
            d[top] = abs(d[top])
        elif op == ROUND_TO_WHOLE:
            near = np.rint(d[top])
            if -9223372036854775808.0 <= near < 9223372036854775808.0:
                w[top] = np.int64(near)
            else:
                there[top] = False
        elif op == ROOT:
            there[top] = there[top] and d[top] >= 0.0
            if there[top]:
                d[top] = math.sqrt(d[top])
        elif op == FLOOR:
            d[top] = np.floor(d[top])
        elif op == CEILING:
            d[top] = np.ceil(d[top])
        elif op == IS_NULL:
            w[top] = 0 if there[top] else 1
            there[top] = True
        elif op == CHOOSE:
            top -= 2
            source = top + 1 if there[top] and w[top] != 0 else top + 2
            w[top], d[top], there[top] = w[source], d[source], there[source]
        elif op == COALESCE:
            top -= 1
            if not there[top]:
                w[top], d[top], there[top] = w[top + 1], d[top + 1], there[top + 1]
        else:
            top -= 1
            _combine(op, w, d, there, top)
    return there[top] and w[top] != 0


@loop
def _combine(
    op: int,
    w: NDArray[np.int64],
    d: NDArray[np.float64],
    there: NDArray[np.bool_],
    top: int,
) -> None:
    """Combine two values into one."""
    left, right = there[top], there[top + 1]
    if op == AND:
        no = (left and w[top] == 0) or (right and w[top + 1] == 0)
        there[top] = no or (left and right)
        w[top] = 0 if no else 1
        return
    if op == OR:
        yes = (left and w[top] != 0) or (right and w[top + 1] != 0)
        there[top] = yes or (left and right)
        w[top] = 1 if yes else 0
        return
    if op in (LEAST, GREATEST, LEAST_D, GREATEST_D):
        _extreme(op, w, d, there, top)
        return
    there[top] = left and right
    if not there[top]:
        return
    a, b = w[top], w[top + 1]
    x, y = d[top], d[top + 1]
    if op == LESS_D:
        w[top] = 1 if x < y else 0
    elif op == LESS_EQUAL_D:
        w[top] = 1 if x <= y else 0
    elif op == EQUAL_D:
        w[top] = 1 if x == y else 0
    elif op == LESS:
        w[top] = 1 if a < b else 0
    elif op == LESS_EQUAL:
        w[top] = 1 if a <= b else 0
    elif op == EQUAL:
        w[top] = 1 if a == b else 0
    elif op == ADD:
        w[top] = a + b
        there[top] = ((a ^ w[top]) & (b ^ w[top])) >= 0
    elif op == SUBTRACT:
        w[top] = a - b
        there[top] = ((a ^ b) & (a ^ w[top])) >= 0
    elif op == MULTIPLY:
        w[top] = _wrapped_product(a, b)
        there[top] = not _overflows(a, b)
    elif op == REMAINDER:
        if b == 0:
            there[top] = False
        elif b == -1:
            w[top] = 0
        else:
            rest = a % b
            w[top] = rest - b if rest != 0 and (rest < 0) != (a < 0) else rest
    elif y == 0.0 and op in (DIVIDE_D, REMAINDER_D):
        there[top] = False
    else:
        if op == ADD_D:
            d[top] = x + y
        elif op == SUBTRACT_D:
            d[top] = x - y
        elif op == MULTIPLY_D:
            d[top] = x * y
        elif op == DIVIDE_D:
            d[top] = x / y
        else:
            d[top] = np.fmod(x, y)
        there[top] = math.isfinite(d[top])


@loop
def _extreme(
    op: int,
    w: NDArray[np.int64],
    d: NDArray[np.float64],
    there: NDArray[np.bool_],
    top: int,
) -> None:
    """LEAST and GREATEST ignore NULL."""
    if not there[top + 1]:
        return
    if not there[top]:
        second = True
    elif op == LEAST:
        second = w[top + 1] < w[top]
    elif op == GREATEST:
        second = w[top + 1] > w[top]
    elif op == LEAST_D:
        second = d[top + 1] < d[top]
    else:
        second = d[top + 1] > d[top]
    if second:
        w[top], d[top], there[top] = w[top + 1], d[top + 1], True


@loop
def _wrapped_product(a: int, b: int) -> int:
    # As unsigned numbers: of signed ones the compiler may assume that they never overflow.
    return int(np.int64(np.uint64(a) * np.uint64(b)))


@loop
def _overflows(a: int, b: int) -> bool:
    if a == 0 or b == 0:
        return False
    if a == -1:
        return b == np.iinfo(np.int64).min
    product = _wrapped_product(a, b)
    return product // a != b or product % a != 0
