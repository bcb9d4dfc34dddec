import math
import pickle

import pytest

from headwater.model import Column, ColumnType, Rows, strings
from headwater.query.expressions import FUNCTIONS, condition, evaluate, evaluate_constant
from headwater.query.language.parse import parse_expression
from headwater.query.language.tree import Name

ROWS = Rows.of(
    {
        "a": Column.of(ColumnType.BIGINT, [7, -7, None]),
        "x": Column.of(ColumnType.DOUBLE, [2.5, -2.5, None]),
        "s": Column.of(ColumnType.STRING, ["wet", "Dry", None]),
        "t": Column.of(ColumnType.TIMESTAMP, [1_769_839_261_500_000, -1, None]),
        "p": Column.of(ColumnType.BOOLEAN, [True, False, None]),
    }
)


def values(text: str, rows: Rows = ROWS) -> list:
    return evaluate(parse_expression(text), rows).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + 1", [8, -6, None]), ("a / 2", [3.5, -3.5, None]), ("a % 4", [3, -3, None]), ("x % 2", [0.5, -0.5, None]),
        ("a / 0", [None, None, None]), ("a % 0", [None, None, None]), ("x / (a - 7)", [None, 2.5 / 14, None]),
        ("a * 9223372036854775807", [None, None, None]), ("-(a - 9223372036854775807 - 8)", [None, None, None]),
        ("x * 1e308 * 10", [None, None, None]), ("s || '!'", ["wet!", "Dry!", None]), ("s < 'a'", [False, True, None]),
        ("s = 'wet'", [True, False, None]), ("'x' > s", [True, True, None]), ("t > TIMESTAMP '2026-01-31'", [True, False, None]),
        ("t - TIMESTAMP '1970-01-01'", [1_769_839_261.5, -0.000001, None]), ("t - t = 0 SECONDS", [True, True, None]),
        ("t + 1.5 SECONDS", [1_769_839_263_000_000, 1_499_999, None]), ("1 DAY / 1 HOUR", [24.0] * 3),
        ("30 SECONDS * 0.5", [15.0] * 3), ("1 SECOND / 3", [0.333333] * 3), ("x * 2 KM", [5000.0, -5000.0, None]),
        ("p AND x > 0", [True, False, None]), ("p OR NULL", [True, None, None]), ("NOT p", [False, True, None]),
        ("p AND FALSE", [False] * 3), ("x BETWEEN -2.5 AND 2.5", [True, True, None]), ("x NOT BETWEEN 0 AND 9", [False, True, None]),
        ("a IN (7, 8)", [True, False, None]), ("a IN (7, NULL)", [True, None, None]), ("a NOT IN (7, x)", [False, True, None]),
        ("s IN ('wet', 'moist')", [True, False, None]), ("a IS NULL", [False, False, True]), ("a IS NOT NULL", [True, True, False]),
        ("CASE WHEN p THEN s END", ["wet", None, None]), ("CASE WHEN a > 0 THEN 'up' WHEN a < 0 THEN s ELSE '?' END", ["up", "Dry", "?"]),
        ("CASE a WHEN 7 THEN 1 ELSE 2.5 END", [1.0, 2.5, 2.5]), ("NULL", [None] * 3), ("1", [1, 1, 1]), ("'c'", ["c"] * 3),
    ],
)  # fmt: skip
def test_an_expression_has_a_value_for_every_row(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ABS(-5)", 5), ("ABS(-2.5)", 2.5), ("ABS(-1 HOUR)", 3600.0), ("ABS(-9223372036854775808)", None),
        ("SIGN(-3)", -1), ("SIGN(0.0)", 0.0), ("SIGN(2.5)", 1.0),
        ("ROUND(2.5)", 3.0), ("ROUND(-2.5)", -3.0), ("ROUND(0.49999999999999994)", 0.0), ("ROUND(1e300)", 1e300), ("ROUND(7)", 7),
        ("ROUND(2.345, 2)", 2.35), ("ROUND(-2.345, 1)", -2.3), ("ROUND(1250.0, -2)", 1300.0), ("ROUND(1e-30, 99)", 0.0),
        ("ROUND(1.5e300, 5)", 1.5e300), ("ROUND(2.5, NULL)", None),
        ("FLOOR(-2.5)", -3.0), ("FLOOR(7)", 7), ("CEIL(2.1)", 3.0), ("CEIL(-0.5)", 0.0),
        ("SQRT(16)", 4.0), ("SQRT(-1)", None), ("EXP(0)", 1.0), ("EXP(1000)", None), ("LN(1)", 0.0), ("LN(0)", None), ("LN(-1)", None),
        ("LOG10(1000)", 3.0), ("POWER(2, 10)", 1024.0), ("POWER(-8, 0.5)", None), ("POWER(10, 400)", None),
        ("SIN(0)", 0.0), ("COS(0)", 1.0), ("TAN(0)", 0.0), ("ASIN(1)", math.pi / 2), ("ASIN(2)", None), ("ACOS(1)", 0.0),
        ("ATAN(1)", math.pi / 4), ("ATAN2(1, -1)", 3 * math.pi / 4), ("RADIANS(180)", math.pi), ("DEGREES(0.5)", math.degrees(0.5)),
        ("LEAST(3, 1, 2)", 1), ("LEAST('b', 'a')", "a"), ("GREATEST(1, NULL, 2.5)", 2.5), ("GREATEST(NULL, NULL)", None),
        ("COALESCE(NULL, 2, 3)", 2), ("COALESCE(NULL)", None), ("NULLIF(1, 1)", None), ("NULLIF(1, NULL)", 1), ("NULLIF('a', 'b')", "a"),
        ("UPPER('straße')", "STRASSE"), ("LOWER('ÄB')", "äb"), ("LENGTH('𝄞ü')", 2), ("TRIM('  a b ')", "a b"), ("TRIM('\ta')", "\ta"),
        ("SUBSTRING('abcdef', 2)", "bcdef"), ("SUBSTRING('abcdef', 2, 3)", "bcd"), ("SUBSTRING('abcdef', 0, 2)", "ab"),
        ("SUBSTRING('abcdef', -2)", "ef"), ("SUBSTRING('abc', -5, 3)", "a"), ("SUBSTRING('abc', 9)", ""), ("SUBSTRING('abc', 1, -1)", ""),
        ("SUBSTRING('abc', 1, 9223372036854775807)", "abc"), ("CONCAT('a', 'b', 'c')", "abc"), ("CONCAT('a', NULL)", None),
        ("YEAR(TIMESTAMP '2026-01-31 23:59:59.9')", 2026), ("MONTH(TIMESTAMP '2026-12-31')", 12), ("DAY(TIMESTAMP '2024-02-29')", 29),
        ("HOUR(TIMESTAMP '1969-12-31 23:00:01')", 23), ("MINUTE(TIMESTAMP '2026-01-31 06:07:08')", 7),
        ("SECOND(TIMESTAMP '1969-12-31 23:59:58.999')", 58), ("YEAR(TIMESTAMP '0001-01-01')", 1),
        ("DISTANCE(0, 0, 3, 4)", 5.0), ("DISTANCE(1e200, 0, -1e200, 0)", None),
    ],
)  # fmt: skip
def test_a_function_gives_what_its_line_in_the_reference_says(text, expected):
    found = evaluate_constant(parse_expression(text))
    if isinstance(expected, float) and expected:
        assert found == pytest.approx(expected, rel=1e-15, abs=0)
    else:
        assert (found, type(found)) == (expected, type(expected))


def test_every_function_is_tried_above():
    (mark,) = (
        mark
        for mark in test_a_function_gives_what_its_line_in_the_reference_says.pytestmark
        if mark.name == "parametrize"
    )
    tried = {text.partition("(")[0] for text, _ in mark.args[1]}
    assert tried == set(FUNCTIONS)


def test_a_function_of_null_is_null():
    for name, function in FUNCTIONS.items():
        arguments = function.usage.partition("(")[2].partition("[")[0].count(",") + 1
        call = f"{name}({', '.join(['NULL'] * arguments)})"
        assert evaluate_constant(parse_expression(call)) is None


def test_no_rows_and_one_row_are_rows():
    nothing = Rows.empty(ROWS.types)
    for text in (
        "a + 1",
        "1",
        "s || 'x'",
        "UPPER(s)",
        "CASE WHEN p THEN s ELSE 'x' END",
        "SUBSTRING(s, a)",
        "s IN ('a')",
        "NULL",
    ):
        assert values(text, nothing) == []
    assert values("s || s", ROWS.take(slice(0, 1))) == ["wetwet"]
    assert evaluate(parse_expression("1"), Rows({}, 2)).tolist() == [1, 1]


def test_strings_come_with_a_sorted_dictionary_without_repeats():
    rows = Rows.of({"s": strings(["b", "B", None, "a"])})
    column = evaluate(parse_expression("UPPER(s)"), rows)
    assert column.names.tolist() == ["A", "B"]
    assert column.tolist() == ["B", "B", None, "A"]
    joined = evaluate(parse_expression("CASE WHEN s = 'a' THEN 'z' ELSE s END"), rows)
    assert joined.names.tolist() == sorted(set(joined.names.tolist()))
    assert joined.tolist() == ["b", "B", None, "z"]


def test_a_string_function_looks_at_names_and_not_at_rows(monkeypatch):
    seen = []
    rows = Rows.of({"s": strings(["b", "a"] * 5000)})
    monkeypatch.setattr(
        "headwater.query.expressions.text_functions.cut_out", lambda *given: seen.append(given) or ""
    )
    evaluate(parse_expression("SUBSTRING(s, 1, 2)"), rows)
    assert sorted(seen) == [("a", 1, 2), ("b", 1, 2)]


def test_a_row_variable_is_part_of_a_name():
    rows = Rows.of({"A.x": Column.of(ColumnType.BIGINT, [1]), "B.x": Column.of(ColumnType.BIGINT, [2])})
    assert values("A.x < B.x", rows) == [True]


def test_a_condition_travels():
    travelled = pickle.loads(pickle.dumps(condition(parse_expression("x > 0"))))
    assert travelled == condition(parse_expression("x > 0"))
    assert hash(travelled) == hash(condition(parse_expression("x > 0")))
    assert travelled(ROWS).tolist() == [True, False, False]
    assert condition(parse_expression("TRUE"))(ROWS).tolist() == [True, True, True]
    assert condition(parse_expression("NULL"))(ROWS).tolist() == [False, False, False]
    assert condition(Name("p"))(ROWS).tolist() == [True, False, False]


def test_identities_pass_through():
    rows = Rows.of({"match_id": Column.of(ColumnType.ID, [b"0" * 32, b"f" * 32])})
    assert evaluate(Name("match_id"), rows).tolist() == ["0" * 32, "f" * 32]
    assert values("match_id = match_id", rows) == [True, True]


def test_many_combinations_of_strings_give_what_few_give(monkeypatch):
    rows = Rows.of(
        {
            "s": strings(["b", "a", None, "b", "ä"]),
            "u": strings(["x", None, "y", "z", "x"]),
            "n": Column.of(ColumnType.BIGINT, [1, 2, 3, None, -1]),
        }
    )
    texts = ("s || u || s", "SUBSTRING(s || u, n)", "SUBSTRING(s || u, n, 1)", "CONCAT(s, 'm', u)")
    few = [values(text, rows) for text in texts]
    assert few[0] == ["bxb", None, None, "bzb", "äxä"]
    assert few[1] == ["bx", None, None, None, "x"]
    monkeypatch.setattr("headwater.query.expressions.values.FEW_COMBINATIONS", 0)
    assert [values(text, rows) for text in texts] == few
