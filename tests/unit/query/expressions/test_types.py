import pytest

from headwater.model import ColumnType, QueryError, Span
from headwater.query.expressions import ExprType, type_of
from headwater.query.language.parse import parse_expression

TYPES = {
    "a": ColumnType.BIGINT,
    "x": ColumnType.DOUBLE,
    "s": ColumnType.STRING,
    "t": ColumnType.TIMESTAMP,
    "p": ColumnType.BOOLEAN,
    "match": ColumnType.ID,
    "A.x": ColumnType.DOUBLE,
}


def checked(text: str) -> tuple[ExprType | None, list[QueryError]]:
    errors: list[QueryError] = []
    return type_of(parse_expression(text), TYPES, errors), errors


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a + 1", "BIGINT"), ("a + 1.0", "DOUBLE"), ("a / 2", "DOUBLE"), ("a % 2", "BIGINT"), ("x % 2", "DOUBLE"),
        ("-a", "BIGINT"), ("-x", "DOUBLE"), ("-(1 DAY)", "DURATION"), ("s || 'x'", "STRING"), ("NOT p", "BOOLEAN"),
        ("t - t", "DURATION"), ("t - 1 DAY", "TIMESTAMP"), ("1 DAY + t", "TIMESTAMP"), ("1 DAY + 1 HOUR", "DURATION"),
        ("2 * 1 DAY", "DURATION"), ("1 DAY / 2.5", "DURATION"), ("(t - t) / 1 SECOND", "DOUBLE"), ("5 KM", "DOUBLE"),
        ("x < 5 KM", "BOOLEAN"), ("a = x", "BOOLEAN"), ("p < TRUE", "BOOLEAN"), ("t - t > 30 SECONDS", "BOOLEAN"),
        ("match = match", "BOOLEAN"), ("a BETWEEN 0 AND x", "BOOLEAN"), ("s IN ('a', NULL)", "BOOLEAN"),
        ("NULL", "NULL"), ("NULL + 1", "NULL"), ("-NULL", "NULL"), ("NULL AND p", "BOOLEAN"), ("NULL || s", "STRING"),
        ("NULL = a", "BOOLEAN"), ("CASE WHEN p THEN 1 ELSE 2.5 END", "DOUBLE"), ("CASE WHEN p THEN NULL END", "NULL"),
        ("COALESCE(NULL, a, x)", "DOUBLE"), ("ABS(a)", "BIGINT"), ("ABS(x)", "DOUBLE"), ("ABS(t - t)", "DURATION"),
        ("ABS(NULL)", "NULL"), ("SQRT(a)", "DOUBLE"), ("ROUND(x)", "DOUBLE"), ("ROUND(a)", "BIGINT"), ("ROUND(a, 1)", "DOUBLE"),
        ("FLOOR(x)", "DOUBLE"), ("LENGTH(s)", "BIGINT"), ("SUBSTRING(s, 1)", "STRING"), ("SUBSTRING(s, 1, a)", "STRING"),
        ("CONCAT(s)", "STRING"), ("YEAR(t)", "BIGINT"), ("DISTANCE(x, 0, a, 0)", "DOUBLE"), ("A.x + 1", "DOUBLE"),
        ("a IS NULL", "BOOLEAN"), ("LEAST(t, t)", "TIMESTAMP"), ("NULLIF(s, 'x')", "STRING"),
    ],
)  # fmt: skip
def test_an_expression_has_a_type(text, kind):
    assert checked(text) == (ExprType(kind), [])


def test_durations_leave_an_expression_as_seconds():
    assert ExprType.DURATION.column is ColumnType.DOUBLE
    assert ExprType.NULL.column is ColumnType.STRING
    assert ExprType.BIGINT.column is ColumnType.BIGINT


@pytest.mark.parametrize(
    ("text", "code", "span", "message", "advice"),
    [
        ("temp", "unknown-column", (1, 4), "there is no column named 'temp'", "known columns: A.x, a, match, p, s, t, x"),
        ("1 + B.x", "unknown-column", (5, 3), "there is no column named 'B.x'", "did you mean 'A.x'?"),
        ("s + 1", "type-mismatch", (1, 5), "'+' cannot combine STRING and BIGINT", "write texts in quotes and numbers without: '5' is a text, 5 a number"),
        ("s + s", "type-mismatch", (1, 5), "'+' cannot combine STRING and STRING", "strings are joined with ||"),
        ("s + NULL", "type-mismatch", (1, 8), "'+' cannot combine STRING and NULL", "strings are joined with ||"),
        ("a AND p", "type-mismatch", (1, 7), "AND cannot combine BIGINT and BOOLEAN", "AND joins conditions"),
        ("t > '2026-01-31'", "type-mismatch", (1, 16), "'>' cannot combine TIMESTAMP and STRING",
         "write an instant as TIMESTAMP '2026-01-31 06:00:00'"),
        ("t - t > 30", "type-mismatch", (1, 10), "'>' cannot combine DURATION and BIGINT",
         "give a number of seconds its unit: 30 SECONDS"),
        ("t + t", "type-mismatch", (1, 5), "'+' cannot combine TIMESTAMP and TIMESTAMP", None),
        ("-s", "type-mismatch", (1, 2), "'-' takes a number or a duration, not STRING", None),
        ("NOT a", "type-mismatch", (1, 5), "NOT takes a condition, not BIGINT", None),
        ("a BETWEEN 'x' AND 2", "type-mismatch", (1, 19), "BETWEEN cannot combine BIGINT and STRING", "write texts in quotes and numbers without: '5' is a text, 5 a number"),
        ("s IN ('a', NULL, 1)", "type-mismatch", (1, 19), "IN cannot combine STRING and BIGINT", "write texts in quotes and numbers without: '5' is a text, 5 a number"),
        ("CASE WHEN a THEN 1 END", "type-mismatch", (11, 1), "WHEN takes a condition, not BIGINT", None),
        ("CASE WHEN p THEN 1 ELSE 'x' END", "type-mismatch", (1, 31), "this CASE gives BIGINT and STRING", "all its values must be of one type"),
        ("match > s", "type-mismatch", (1, 9), "'>' cannot combine ID and STRING", None),
        ("RUND(x)", "unknown-function", (1, 7), "there is no function named 'RUND'", "did you mean 'ROUND'?"),
        ("SQRT(s)", "wrong-arguments", (1, 7), "SQRT does not take (STRING)", "it is SQRT(x): the square root"),
        ("SQRT()", "wrong-arguments", (1, 6), "SQRT does not take ()", "it is SQRT(x): the square root"),
        ("SUBSTRING(s, 1.5)", "wrong-arguments", (1, 17), "SUBSTRING does not take (STRING, DOUBLE)",
         "it is SUBSTRING(s, n[, length]): the part of s from its n-th character on (1 is the first, -1 the last)"),
        ("LEAST(a)", "wrong-arguments", (1, 8), "LEAST does not take (BIGINT)", "it is LEAST(a, b, …): the least of the values; NULLs are ignored"),
        ("40000 DAYS", "too-long", (1, 10), "this duration is longer than a hundred years", "the longest is 36500 DAYS"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_reported_with_its_place(text, code, span, message, advice):
    kind, errors = checked(text)
    assert kind is None
    (error,) = errors
    assert (error.code, error.message) == (code, message)
    assert error.span == Span(1, *span)
    assert (error.advice[-1] if error.advice else None) == advice


def test_all_errors_are_reported_and_none_twice():
    kind, errors = checked("no + 1 > NOPE(s + 1) OR SQRT('x') = 1 AND CASE WHEN a THEN nix END")
    assert kind is None
    assert [error.code for error in errors] == [
        "unknown-column",
        "type-mismatch",
        "unknown-function",
        "wrong-arguments",
        "type-mismatch",
        "unknown-column",
    ]
