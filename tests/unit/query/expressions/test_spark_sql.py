import pytest

from headwater.model import ColumnType
from headwater.query.expressions import is_said_by_spark, to_spark_sql
from headwater.query.expressions.spark_sql import LONGEST_SQL
from headwater.query.language.parse import parse_expression

TYPES = {
    "a": ColumnType.BIGINT,
    "x": ColumnType.DOUBLE,
    "s": ColumnType.STRING,
    "t": ColumnType.TIMESTAMP,
    "p": ColumnType.BOOLEAN,
    "we`ird": ColumnType.DOUBLE,
    "match": ColumnType.ID,
}


def sql(text: str) -> str:
    return to_spark_sql(parse_expression(text), TYPES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 1", "(`x` > CAST(1L AS DOUBLE))"),
        ("x BETWEEN -0.5 AND 1e22", "((`x` >= CAST('-0.5' AS DOUBLE) AND `x` <= 1e+22D))"),
        ('"we`ird" = 0.5', "(`we``ird` = 0.5D)"),
        ("s = 'plain text'", "(`s` = 'plain text')"),
        ("s = 'it''s \\'", "(`s` = CAST(X'69742773205c' AS STRING))"),
        ("s IN ('a', NULL)", "(`s` IN ('a', CAST(NULL AS STRING)))"),
        ("x NOT IN (1.5)", "((`x` + 0.0D) NOT IN (1.5D))"),
        ("t >= TIMESTAMP '1970-01-01 00:00:01'", "(UNIX_MICROS(`t`) >= 1000000L)"),
        ("a + 1 = a * -2", "(TRY_ADD(`a`, 1L) = TRY_MULTIPLY(`a`, CAST('-2' AS BIGINT)))"),
        ("a + 1 + 2 > 0", "(TRY_ADD(SHIFTLEFT(TRY_ADD(`a`, 1L), 0), 2L) > 0L)"),
        ("p AND NULL OR NOT p", "((`p` AND CAST(NULL AS BOOLEAN)) OR (NOT `p`))"),
        ("a IS NOT NULL", "(`a` IS NOT NULL)"),
        ("t + 1 SECOND", "TIMESTAMP_MICROS(TRY_ADD(UNIX_MICROS(`t`), 1000000L))"),
        ("t - t", "(CAST(TRY_SUBTRACT(UNIX_MICROS(`t`), UNIX_MICROS(`t`)) AS DOUBLE) / 1000000.0D)"),
        ("CASE WHEN p THEN 1 ELSE x END", "CASE WHEN `p` THEN CAST(1L AS DOUBLE) ELSE `x` END"),
    ],
)
def test_the_sql_for_spark_says_the_same(text, expected):
    assert sql(text) == expected
    assert is_said_by_spark(parse_expression(text), TYPES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SIN(x) > 0", "TRUE"),
        ("p AND SIN(x) > 0", "`p`"),
        ("SIN(x) > 0 AND p AND UPPER(s) = 'A'", "`p`"),
        ("p OR SIN(x) > 0", "TRUE"),
        ("a > 0 AND (p OR x > 0 AND SIN(x) > 0)", "((`a` > 0L) AND (`p` OR (`x` > CAST(0L AS DOUBLE))))"),
        ("NOT (p AND SIN(x) > 0)", "TRUE"),
        ("match = match AND p", "`p`"),
    ],
)
def test_what_spark_cannot_say_lets_more_rows_through_and_never_fewer(text, expected):
    assert sql(text) == expected
    assert not is_said_by_spark(parse_expression(text), TYPES)


def test_columns_may_have_other_names_in_spark():
    assert to_spark_sql(parse_expression("x > 0.5"), TYPES, names={"x": "a.b"}) == "(`a.b` > 0.5D)"


def test_nothing_grows_beyond_its_bound():
    text = "x"
    for _ in range(40):
        text = f"DISTANCE({text}, 0, 1, 1)"
    expression = parse_expression(f"{text} > 1 AND p")
    assert not is_said_by_spark(expression, TYPES)
    assert to_spark_sql(expression, TYPES) == "`p`"
    many = ", ".join(f"'sensor-{number}'" for number in range(1000))
    assert len(sql(f"s IN ({many})")) < LONGEST_SQL


def test_a_string_never_becomes_sql():
    for nasty in ("'; DROP TABLE x; --", "\\", "\\'", "\n", "`", '"', "${x}", "\x00", "’"):
        quoted = nasty.replace("'", "''")
        said = sql(f"s = '{quoted}'")
        assert said == f"(`s` = CAST(X'{nasty.encode().hex()}' AS STRING))"
