import pytest

from headwater.query.language.parse import parse, parse_expression
from headwater.query.language.printer import show
from headwater.query.language.tree import Binary, Literal, Name, Quantity, Script, Unary, Unit

STATEMENTS = """\
CREATE STREAM weather (
  station STRING KEY,
  at TIMESTAMP TIME,
  lon DOUBLE,
  lat DOUBLE,
  "order by" BIGINT,
  PLACE (lon, lat) GEOGRAPHIC
) LATE 10 SECONDS DROP IDLE 1 MINUTE;

CREATE QUERY frost AS
SELECT temperature, wind * 3.6 AS "from"
FROM weather
WHERE wind <> 0 OR NOT (lon IN (1, 2) AND lat BETWEEN 0 AND 1)
CORRELATE (
  3 OF temperature <= 0 AS cold,
  's 1'.humidity BETWEEN 80 AND 100,
  -7.wind < 2.5
  DISTINCT SENSORS
  WITHIN 30 SECONDS, 0.5 KM
  INSIDE POLYGON ((0, 0), (1.5, 0), (0, -1))
  EMIT ALL
  LIMIT 3 PER ROW
);

CREATE QUERY all_of_it AS
SELECT *
FROM frost;
"""


def test_there_is_one_way_to_write_everything():
    text = """
      create stream weather (station varchar KEY, "at" timestamp TIME, lon float, lat real, "order by" int,
        PLACE (lon,lat) geographic) IDLE 1 MINUTES LATE INTERVAL '10' SECOND DROP;
      create query frost as select temperature, (wind*3.6) as "from" from weather
        where ((wind) != 0) or not (lon in (1,2) and lat between 0 and 1)
        correlate (3 of temperature<=0 as cold, 's 1'.humidity between 80 and 100, -7.wind < 2.5
          emit all limit 3 per row inside polygon ((0,0),(1.5,0),(0,-1)) within 0.5 km, 30 seconds distinct sensors);
      create query all_of_it as select * from frost
    """
    script, errors = parse(text)
    assert errors == []
    assert show(script) == STATEMENTS
    assert parse(STATEMENTS) == (script, [])


@pytest.mark.parametrize(
    "text",
    [
        "a + b - c", "a - (b - c)", "a - (b + c)", "(a + b) * c", "a * (b / c)", "a / b / c", "-a * b", "-(a * b)",
        "a - -5", "-(5)", "-(-5)", "-(-a)", "+5", "-+5", "+-a", "5 SECONDS + -3 DAYS", "-(5 SECONDS)",
        "a = b AND c <> d", "(a = b) = c", "a = (b = c)", "NOT a = b", "NOT NOT a", "(NOT a) = b", "NOT (a AND b)",
        "a OR b AND c", "(a OR b) AND c", "a AND (b AND c)", "(a BETWEEN 1 AND 2) BETWEEN b AND c",
        "a BETWEEN 1 + 2 AND 3", "a BETWEEN (b AND c) AND d", "a NOT BETWEEN 1 AND 2", "a NOT IN ('x', NULL)",
        "(a IS NULL) IS NOT NULL", "a || 'it''s' || b", "CASE WHEN a THEN CASE WHEN b THEN 1 END ELSE 2 END",
        "ABS(a, b + 1)", "F()", "A.x + \"a b\".\"c\"\"d\"", "\"select\"", "late + key", "TIMESTAMP '2026-01-31T06:00:00Z'",
        "TIMESTAMP '0001-01-01T00:00:00.000001Z'", "1e+16", "0.1", "5e-324", "-0.0", "-9223372036854775808", "TRUE", "NULL",
        "1 SECOND", "1 KM", "1 METER", "2 METERS",
    ],
)  # fmt: skip
def test_canonical_text_is_left_as_it_is(text):
    assert show(parse_expression(text)) == text


def test_two_minus_signs_are_never_a_comment():
    tree = Binary("-", Name("a"), Unary("-", Unary("-", Literal(-1))))
    assert show(tree) == "a - -(-(-1))"
    assert parse_expression(show(tree)) == tree


def test_a_minus_before_a_number_is_not_a_negative_number():
    assert show(Unary("-", Literal(5))) == "-(5)"
    assert show(Literal(-5)) == "-5"
    assert show(Unary("-", Quantity(5, Unit.KM))) == "-(5 KM)"


def test_a_text_without_statements():
    assert show(Script(())) == ""
