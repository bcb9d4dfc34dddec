from random import Random

import pytest

from headwater.query.expressions import ExprType, evaluate, is_said_by_spark, to_spark_sql, type_of
from headwater.query.language.parse import parse_expression
from headwater.query.language.printer import show
from tests.laws.expression_worlds import KINDS, TYPES, random_expression, random_rows

SEED = 20260131
MANY = 120

# Where two engines most easily part ways.
WELL_KNOWN = (
    "a / 0", "a % m", "-7 % 3", "7.5 % -2", "1 / 3", "9223372036854775807 + 1", "-(-9223372036854775808)",
    "ABS(-9223372036854775808)", "1e308 * 10", "x / -0.0", "SQRT(-1)", "x IN (0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)",
    "NULL IN (1, 2)", "1 IN (2, NULL)", "NOT (p AND NULL)", "p OR NULL", "s = 'it''s \\ ` \" $'", "s < 'a'", "'𝄞' > 'ﬀ'",
    "SUBSTRING(s, 0, 2)", "SUBSTRING(s, -1)", "SUBSTRING(s, -5, 6)", "SUBSTRING(s, 2, -1)", "SUBSTRING(s, m)", "SUBSTRING(s, 1, a)", "LENGTH('𝄞')", "TRIM(' \t ')",
    "LEAST(a, NULL, x)", "COALESCE(NULL, NULL)", "NULLIF(a, NULL)", "YEAR(t)", "DAY(t)", "HOUR(t)", "SECOND(t)",
    "30 SECONDS * 0.5", "(t - r) / 3", "t + 1 DAY", "TIMESTAMP '2026-03-29 02:30:00' + 1 HOUR", "a BETWEEN 0.5 AND m",
    "CASE WHEN a > 0 THEN a WHEN p THEN 2.5 END", "DISTANCE(0, 0, 3, 4)", "1e-320 / 10", "x = -0.0", "SIGN(-0.5)",
)  # fmt: skip


@pytest.fixture(scope="module")
def world(spark):
    rows = random_rows(Random(SEED), 40)
    types = ", ".join(
        f"`{name}` {'BIGINT' if kind.value == 'TIMESTAMP' else kind.value}" for name, kind in TYPES.items()
    )
    frame = spark.createDataFrame([tuple(row.values()) for row in rows.tolist()], types)
    return rows, frame.withColumns({"t": _instant(spark, "t"), "r": _instant(spark, "r")}).cache()


def _instant(spark, column):
    from pyspark.sql import functions

    return functions.expr(f"TIMESTAMP_MICROS({column})")


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_spark_gives_the_values_that_we_give(spark, world, ansi):
    rows, frame = world
    random = Random(SEED)
    expressions = [parse_expression(text) for text in WELL_KNOWN]
    expressions += [random_expression(random, random.choice(KINDS), 3) for _ in range(MANY)]
    assert all(is_said_by_spark(expression, TYPES) for expression in expressions)
    settings = {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": "Europe/Zurich"}
    before = {setting: spark.conf.get(setting) for setting in settings}
    try:
        for setting, value in settings.items():
            spark.conf.set(setting, value)
        found = frame.selectExpr(*(f"{_sql(e)} AS e{n}" for n, e in enumerate(expressions))).collect()
    finally:
        for setting, value in before.items():
            spark.conf.set(setting, value)
    for number, expression in enumerate(expressions):
        expected = evaluate(expression, rows).tolist()
        assert [row[number] for row in found] == expected, show(expression)


def test_a_filter_in_spark_keeps_every_row_for_which_the_condition_holds(spark, world):
    rows, frame = world
    condition = parse_expression("x > 0 AND SIN(x) > 0.1 OR s = 'a' AND UPPER(u) = 'B' AND a > 0")
    sql = to_spark_sql(condition, TYPES)
    filtered = frame.where(sql).count()
    weaker = parse_expression("x > 0 OR s = 'a' AND a > 0")
    assert filtered == sum(value is True for value in evaluate(weaker, rows).tolist())
    assert filtered >= sum(value is True for value in evaluate(condition, rows).tolist())


def _sql(expression) -> str:
    sql = to_spark_sql(expression, TYPES)
    return f"UNIX_MICROS({sql})" if type_of(expression, TYPES, []) is ExprType.TIMESTAMP else sql
