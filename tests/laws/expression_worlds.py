"""Random rows with NULLs and extremes, and random expressions over them that have a given type.

They are drawn from a `random.Random`, which Hypothesis can be and a seeded test on Spark as well.
"""

from random import Random

from headwater.model import Column, ColumnType, Rows
from headwater.query.expressions import ExprType
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
    Unit,
)

TYPES = {
    "a": ColumnType.BIGINT,
    "m": ColumnType.BIGINT,
    "x": ColumnType.DOUBLE,
    "y": ColumnType.DOUBLE,
    "s": ColumnType.STRING,
    "u": ColumnType.STRING,
    "t": ColumnType.TIMESTAMP,
    "r": ColumnType.TIMESTAMP,
    "p": ColumnType.BOOLEAN,
    "q": ColumnType.BOOLEAN,
}

B, D, T, S = ExprType.BIGINT, ExprType.DOUBLE, ExprType.TIMESTAMP, ExprType.DURATION
TEXT, BOOL = ExprType.STRING, ExprType.BOOLEAN
KINDS = (B, D, T, S, TEXT, BOOL)

_VALUES = {
    B: (0, 1, -1, 2, 3, 7, -7, 10, 100, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63), 3037000500),
    D: (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 0.1, 3.7, -3.7, 1e-320, 1e308, -1e308, 12345.678, 1e16, 0.005),
    T: (
        0,
        1,
        -1,
        1769817600000000,
        951782399999999,
        -2208988800000001,
        253402300799999999,
        -62135596800000000,
    ),
    TEXT: ("", "a", "b", "ab", "Ab", " a ", "ü", "𝄞b", "zz", "it's", "\\", "`", "\n", "10"),
    BOOL: (True, False),
}


def random_rows(random: Random, count: int) -> Rows:
    """Rows of all types, a quarter of the values NULL."""
    columns = {}
    for name, kind in TYPES.items():
        choices = _VALUES[ExprType(kind.value)]
        items = [None if random.random() < 0.25 else random.choice(choices) for _ in range(count)]
        columns[name] = Column.of(kind, items)
    return Rows.of(columns)


def random_expression(random: Random, kind: ExprType, depth: int) -> Expression:
    """An expression of a type, with functions whose results are the same to the last bit everywhere."""
    if depth == 0 or random.random() < 0.15:
        return _leaf(random, kind)
    if random.random() < 0.3:
        return _choice(random, kind, depth)
    return _MAKERS[kind](random, depth - 1)


def _leaf(random: Random, kind: ExprType) -> Expression:
    chance = random.random()
    if chance < 0.05:
        return Literal(None)
    if kind is S:
        return Quantity(
            random.choice((0, 1, -30, 2.5, 1e-6, 36500)), random.choice((Unit.SECONDS, Unit.DAYS))
        )
    if chance < 0.6:
        return Name(random.choice([name for name, column in TYPES.items() if column.value == kind.value]))
    if kind is D and chance < 0.7:
        return Quantity(random.choice((0, 1.5, -2)), random.choice((Unit.METERS, Unit.KM)))
    value = random.choice(_VALUES[kind])
    return Timestamp(value) if kind is T else Literal(value)


def _choice(random: Random, kind: ExprType, depth: int) -> Expression:
    """What goes with every type."""

    def some(target: ExprType = kind) -> Expression:
        return random_expression(random, target, depth - 1)

    match random.randrange(5):
        case 0:
            branches = tuple((some(BOOL), some()) for _ in range(random.randint(1, 2)))
            return Case(branches, random.choice((None, some())))
        case 1:
            return Call("COALESCE", tuple(some() for _ in range(random.randint(1, 3))))
        case 2:
            return Call("NULLIF", (some(), some()))
        case 3:
            return Call(
                random.choice(("LEAST", "GREATEST")), tuple(some() for _ in range(random.randint(2, 3)))
            )
        case _:
            return some()


def _whole(random: Random, depth: int) -> Expression:
    def some(kind: ExprType = B) -> Expression:
        return random_expression(random, kind, depth)

    match random.randrange(6):
        case 0 | 1:
            return Binary(random.choice("+-*%"), some(), some())
        case 2:
            return Unary(random.choice("+-"), some())
        case 3:
            return Call(random.choice(("ABS", "SIGN")), (some(),))
        case 4:
            return Call("LENGTH", (some(TEXT),))
        case _:
            return Call(random.choice(("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")), (some(T),))


def _double(random: Random, depth: int) -> Expression:
    def some(*kinds: ExprType) -> Expression:
        return random_expression(random, random.choice(kinds or (D, D, B)), depth)

    match random.randrange(7):
        case 0 | 1:
            return Binary(random.choice("+-*/%"), some(D), some())
        case 2:
            return Binary("/", some(B), some(B))
        case 3:
            return Binary("/", some(S), some(S))
        case 4:
            return Unary("-", some(D))
        case 5:
            return Call(random.choice(("ABS", "SIGN", "SQRT", "RADIANS", "DEGREES")), (some(D),))
        case _:
            return Call("DISTANCE", (some(), some(), some(), some()))


def _text(random: Random, depth: int) -> Expression:
    def some(kind: ExprType = TEXT) -> Expression:
        return random_expression(random, kind, depth)

    match random.randrange(4):
        case 0:
            return Binary("||", some(), some())
        case 1:
            return Call("CONCAT", tuple(some() for _ in range(random.randint(1, 3))))
        case 2:
            return Call("TRIM", (some(),))
        case _:
            return Call("SUBSTRING", (some(), *(some(B) for _ in range(random.randint(1, 2)))))


def _instant(random: Random, depth: int) -> Expression:
    instant, duration = random_expression(random, T, depth), random_expression(random, S, depth)
    if random.random() < 0.3:
        return Binary("+", duration, instant)
    return Binary(random.choice("+-"), instant, duration)


def _duration(random: Random, depth: int) -> Expression:
    def some(kind: ExprType = S) -> Expression:
        return random_expression(random, kind, depth)

    match random.randrange(5):
        case 0:
            return Binary("-", some(T), some(T))
        case 1:
            return Binary(random.choice("+-"), some(), some())
        case 2:
            return Binary(random.choice("*/"), some(), some(random.choice((B, D))))
        case 3:
            return Binary("*", some(random.choice((B, D))), some())
        case _:
            return random.choice((Unary("-", some()), Call("ABS", (some(),))))


def _condition(random: Random, depth: int) -> Expression:
    kind = random.choice(KINDS)

    def some() -> Expression:
        return random_expression(random, random.choice((B, D)) if kind in (B, D) else kind, depth)

    match random.randrange(6):
        case 0 | 1:
            sides = random_expression(random, BOOL, depth), random_expression(random, BOOL, depth)
            return Binary(random.choice(("AND", "OR")), *sides)
        case 2:
            return Unary("NOT", random_expression(random, BOOL, depth))
        case 3:
            return Between(some(), some(), some(), random.random() < 0.5)
        case 4:
            few_or_many = random.choice((1, 2, 3, 14))
            return In(some(), tuple(some() for _ in range(few_or_many)), random.random() < 0.5)
        case _:
            if random.random() < 0.3:
                return IsNull(some(), random.random() < 0.5)
            return Binary(random.choice(("=", "<>", "<", "<=", ">", ">=")), some(), some())


_MAKERS = {B: _whole, D: _double, TEXT: _text, T: _instant, S: _duration, BOOL: _condition}
