from time import process_time

import pytest

from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType, QueryError, Span
from headwater.query.language.parse import is_plain_name, parse, parse_expression, parse_items, parse_quantity
from headwater.query.language.tokens import MAX_DEPTH, MOST_ERRORS, MOST_NESTED, MOST_TOKENS
from headwater.query.language.tree import (
    Between,
    Binary,
    Call,
    Case,
    ColumnDefinition,
    CreateQuery,
    CreateStream,
    In,
    IsNull,
    Item,
    Literal,
    Name,
    PlaceDefinition,
    Quantity,
    Select,
    Timestamp,
    Unary,
    Unit,
)
from headwater.query.language.walk import depth_of
from headwater.query.operators.correlate.parse import parse_area, parse_clause
from headwater.query.operators.correlate.tree import (
    BoxArea,
    CircleArea,
    Clause,
    Correlate,
    PolygonArea,
    SensorsArea,
)

STREAM = """
CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, -- where
  temperature DOUBLE, /* in
  degrees */ humidity DOUBLE,
  PLACE (lon, lat) GEOGRAPHIC
) LATE 10 SECONDS DROP IDLE 1 MINUTE DEDUPLICATE;
"""

FROST = """
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (
  temperature BETWEEN -5 AND 0, humidity >= 80, wind <= 2
  WITHIN 30 SECONDS, 500 METERS
  INSIDE CIRCLE (7.17, 45.87, 5 KM)
);
"""


def one(text: str):
    script, errors = parse(text)
    assert errors == []
    (statement,) = script.statements
    return statement


def messages(text: str) -> list[tuple[int, int, str]]:
    """Line, column and message of every error."""
    return [(error.span.line, error.span.column, error.message) for error in parse(text)[1]]


# --- statements -------------------------------------------------------------------------------------------------------


def test_a_stream_says_all_it_can_say():
    assert one(STREAM) == CreateStream(
        "weather",
        (
            ColumnDefinition("station", ColumnType.STRING, key=True),
            ColumnDefinition("at", ColumnType.TIMESTAMP, time=True),
            ColumnDefinition("lon", ColumnType.DOUBLE),
            ColumnDefinition("lat", ColumnType.DOUBLE),
            ColumnDefinition("temperature", ColumnType.DOUBLE),
            ColumnDefinition("humidity", ColumnType.DOUBLE),
        ),
        PlaceDefinition("lon", "lat", geographic=True),
        Quantity(10, Unit.SECONDS),
        drop_late=True,
        idle=Quantity(1, Unit.MINUTES),
        deduplicate=True,
    )


def test_options_of_a_stream_come_in_any_order():
    columns = "(at TIMESTAMP TIME)"
    first = one(f"CREATE STREAM s {columns} LATE 1 SECOND IDLE 2 SECONDS DEDUPLICATE;")
    assert one(f"CREATE STREAM s {columns} DEDUPLICATE IDLE 2 SECONDS LATE 1 SECOND;") == first


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("STRING", ColumnType.STRING),
        ("varchar", ColumnType.STRING),
        ("Text", ColumnType.STRING),
        ("DOUBLE", ColumnType.DOUBLE),
        ("FLOAT", ColumnType.DOUBLE),
        ("REAL", ColumnType.DOUBLE),
        ("BIGINT", ColumnType.BIGINT),
        ("INT", ColumnType.BIGINT),
        ("INTEGER", ColumnType.BIGINT),
        ("LONG", ColumnType.BIGINT),
        ("BOOLEAN", ColumnType.BOOLEAN),
        ("TIMESTAMP", ColumnType.TIMESTAMP),
    ],
)
def test_types_have_the_names_people_know(written, kind):
    assert one(f"CREATE STREAM s (a {written})").columns == (ColumnDefinition("a", kind),)


def test_words_of_the_language_are_names_where_that_is_clear():
    words = [
        "key",
        "time",
        "place",
        "late",
        "row",
        "sensors",
        "stream",
        "query",
        "timestamp",
        "interval",
        "second",
        "day",
        "km",
        "of",
        "per",
        "limit",
        "emit",
        "inside",
        "all",
        "latest",
        "readings",
        "box",
        "circle",
        "polygon",
        "drop",
        "idle",
        "deduplicate",
        "geographic",
        "at",
        "value",
        "rows",
        "string",
        "double",
    ]
    columns = ", ".join(f"{word} BIGINT KEY TIME" for word in words)
    stream = one(f"CREATE STREAM time ({columns}, PLACE (place, late));")
    assert [column.name for column in stream.columns] == words
    assert stream.place == PlaceDefinition("place", "late")
    query = one(
        f"CREATE QUERY query AS SELECT {', '.join(words)} FROM stream WHERE key > time AND place IS NULL"
    )
    assert query.select.items == tuple(Item(Name(word)) for word in words)
    clauses = ", ".join(f"{word} > 1 AS {word}" for word in words)
    operator = one(
        f"CREATE QUERY q AS SELECT * FROM s CORRELATE ({clauses} WITHIN 1 DAY SENSORS (1))"
    ).select.operator
    assert [clause.alias for clause in operator.clauses] == words


def test_other_words_of_the_language_are_names_in_double_quotes():
    assert one('CREATE QUERY "select" AS SELECT "from" FROM "a ""b"""') == CreateQuery(
        "select", Select((Item(Name("from")),), 'a "b"')
    )
    assert not is_plain_name("Select")
    assert is_plain_name("late")


def test_a_correlation_says_all_it_can_say():
    assert one(FROST) == CreateQuery(
        "frost",
        Select(
            None,
            "weather",
            operator=Correlate(
                (
                    Clause(Between(Name("temperature"), Literal(-5), Literal(0))),
                    Clause(Binary(">=", Name("humidity"), Literal(80))),
                    Clause(Binary("<=", Name("wind"), Literal(2))),
                ),
                Quantity(30, Unit.SECONDS),
                Quantity(500, Unit.METERS),
                CircleArea(7.17, 45.87, Quantity(5, Unit.KM)),
            ),
        ),
    )


def test_options_of_a_correlation_come_in_any_order():
    clauses = "CREATE QUERY q AS SELECT * FROM s CORRELATE (a > 1"
    first = one(
        f"{clauses} DISTINCT SENSORS WITHIN 1 SECOND, 2 KM INSIDE SENSORS ('s') EMIT ALL LIMIT 3 PER ROW);"
    )
    operator = first.select.operator
    assert operator.distinct_sensors
    assert (operator.emit, operator.limit) == (Emit.ALL, 3)
    assert operator.area == SensorsArea(("s",))
    other = one(
        f"{clauses} LIMIT 3 PER ROW SENSORS ('s') EMIT ALL WITHIN 2 KM, INTERVAL '1' SECOND DISTINCT SENSORS);"
    )
    assert other == first


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("a < 1", Clause(Binary("<", Name("a"), Literal(1)))),
        ("a = 'wet'", Clause(Binary("=", Name("a"), Literal("wet")))),
        ("a != 1", Clause(Binary("<>", Name("a"), Literal(1)))),
        ("a NOT BETWEEN 1 AND 2", Clause(Between(Name("a"), Literal(1), Literal(2), negated=True))),
        ("a BETWEEN 1 + 1 AND 2 AS b", Clause(Between(Name("a"), Binary("+", Literal(1), Literal(1)), Literal(2)), alias="b")),
        ("'s1'.a > 1", Clause(Binary(">", Name("a"), Literal(1)), sensor="s1")),
        ("17.a > 1", Clause(Binary(">", Name("a"), Literal(1)), sensor=17)),
        ("-17.a > 1", Clause(Binary(">", Name("a"), Literal(1)), sensor=-17)),
        ("3 OF a <= 0 AS cold", Clause(Binary("<=", Name("a"), Literal(0)), count=3, alias="cold")),
        ("2 OF 's'.of > 1", Clause(Binary(">", Name("of"), Literal(1)), sensor="s", count=2)),
    ],
)  # fmt: skip
def test_a_clause_is_a_range_of_some_or_one_sensor(text, clause):
    assert parse_clause(text) == clause


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("CIRCLE (7, -4.5, 5 KM)", CircleArea(7, -4.5, Quantity(5, Unit.KM))),
        ("circle (7, -4.5, 5)", CircleArea(7, -4.5, Quantity(5, Unit.METERS))),
        ("BOX (-1, -2, 3, 4.0)", BoxArea(-1, -2, 3, 4.0)),
        ("POLYGON ((0, 0), (1, 0), (-1, 1))", PolygonArea(((0, 0), (1, 0), (-1, 1)))),
        ("SENSORS ('s1', 2, -3)", SensorsArea(("s1", 2, -3))),
    ],
)
def test_an_area_is_a_region_or_a_list_of_sensors(text, area):
    assert parse_area(text) == area


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("30 SECONDS", Quantity(30, Unit.SECONDS)),
        ("1 second", Quantity(1, Unit.SECONDS)),
        ("1.5 MINUTES", Quantity(1.5, Unit.MINUTES)),
        ("-2 HOURS", Quantity(-2, Unit.HOURS)),
        ("1 DAY", Quantity(1, Unit.DAYS)),
        ("500 METRES", Quantity(500, Unit.METERS)),
        ("5 KM", Quantity(5, Unit.KM)),
        ("INTERVAL '6' SECOND", Quantity(6, Unit.SECONDS)),
        ("INTERVAL '-1.5' DAY", Quantity(-1.5, Unit.DAYS)),
        ("INTERVAL 6 SECONDS", Quantity(6, Unit.SECONDS)),
    ],
)
def test_a_quantity_is_a_number_with_a_unit(text, quantity):
    assert parse_quantity(text) == quantity


# --- expressions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("1", Literal(1)),
        ("1.0", Literal(1.0)),
        (".5", Literal(0.5)),
        ("1e3", Literal(1000.0)),
        ("-9223372036854775808", Literal(-(2**63))),
        ("- 5", Literal(-5)),
        ("-(5)", Unary("-", Literal(5))),
        ("-a", Unary("-", Name("a"))),
        ("- -5", Unary("-", Literal(-5))),
        ("+5", Unary("+", Literal(5))),
        ("'it''s'", Literal("it's")),
        ("''", Literal("")),
        ("'a -- b\nc'", Literal("a -- b\nc")),
        ("NULL", Literal(None)),
        ("true", Literal(True)),
        ("FALSE", Literal(False)),
        ("TIMESTAMP '1970-01-01 00:00:01'", Timestamp(1_000_000)),
        ("TIMESTAMP '1970-01-01T01:00:01+01:00'", Timestamp(1_000_000)),
        ("timestamp", Name("timestamp")),
        ("3 KM", Quantity(3, Unit.KM)),
        ("A.x", Name("x", "A")),
        ('"a b"."c.d"', Name("c.d", "a b")),
        ("abs(x)", Call("ABS", (Name("x"),))),
        ("second(t)", Call("SECOND", (Name("t"),))),
        ("now()", Call("NOW", ())),
        ("a.b - 1", Binary("-", Name("b", "a"), Literal(1))),
        ("a-1", Binary("-", Name("a"), Literal(1))),
        ("a--1", Name("a")),
        ("1 - 2 - 3", Binary("-", Binary("-", Literal(1), Literal(2)), Literal(3))),
        ("1 + 2 * 3", Binary("+", Literal(1), Binary("*", Literal(2), Literal(3)))),
        ("(1 + 2) * 3", Binary("*", Binary("+", Literal(1), Literal(2)), Literal(3))),
        ("a || b = c", Binary("=", Binary("||", Name("a"), Name("b")), Name("c"))),
        ("a != 1", Binary("<>", Name("a"), Literal(1))),
        ("a OR b AND NOT c = d", Binary("OR", Name("a"), Binary("AND", Name("b"), Unary("NOT", Binary("=", Name("c"), Name("d")))))),
        ("a BETWEEN 1 AND 2 AND b", Binary("AND", Between(Name("a"), Literal(1), Literal(2)), Name("b"))),
        ("a NOT BETWEEN 1 AND 2", Between(Name("a"), Literal(1), Literal(2), negated=True)),
        ("a IN (1)", In(Name("a"), (Literal(1),))),
        ("a NOT IN (1, 2)", In(Name("a"), (Literal(1), Literal(2)), negated=True)),
        ("a IS NULL", IsNull(Name("a"))),
        ("a + 1 IS NOT NULL", IsNull(Binary("+", Name("a"), Literal(1)), negated=True)),
        ("CASE WHEN a THEN 1 ELSE 2 END", Case(((Name("a"), Literal(1)),), Literal(2))),
        ("CASE WHEN a THEN 1 WHEN b THEN 2 END", Case(((Name("a"), Literal(1)), (Name("b"), Literal(2))))),
        ("CASE a WHEN 1 THEN 'x' END", Case(((Binary("=", Name("a"), Literal(1)), Literal("x")),))),
    ],
)  # fmt: skip
def test_an_expression_means_what_sql_means(text, expression):
    assert repr(parse_expression(text)) == repr(expression)


def test_a_select_list_is_a_star_or_items():
    assert parse_items("*") is None
    assert parse_items("a, b + 1 AS c") == (Item(Name("a")), Item(Binary("+", Name("b"), Literal(1)), "c"))


# --- places -----------------------------------------------------------------------------------------------------------


def test_every_node_knows_its_place():
    text = "CREATE QUERY q AS\n  SELECT abs(a) + 1 AS b\n  FROM s WHERE a >\n 1 CORRELATE (\n 3 OF 'x'.c <= 0 AS d WITHIN 1 DAY)"
    query = one(text)
    assert query.span == Span(1, 1, 14)
    (item,) = query.select.items
    assert item.span == Span(2, 10, 15)
    assert item.expression.span == Span(2, 10, 10)
    assert item.expression.left.span == Span(2, 10, 6)
    assert item.expression.left.arguments[0].span == Span(2, 14, 1)
    assert query.select.source_span == Span(3, 8, 1)
    assert query.select.where.span == Span(3, 16, 1)  # it goes on in the next line
    (clause,) = query.select.operator.clauses
    assert clause.span == Span(5, 2, 20)
    assert clause.condition.span == Span(5, 11, 6)
    assert clause.condition.left.span == Span(5, 11, 1)
    assert query.select.operator.within.span == Span(5, 30, 5)
    assert one("CREATE STREAM s (\n  a STRING,\n PLACE (x, y))").place.span == Span(3, 2, 12)


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "advice"),
    [
        ("SELECT * FROM w", 1, 1, "expected CREATE, but found 'SELECT'", "a query has a name: CREATE QUERY name AS SELECT …"),
        ("CREATE STREM s (a INT)", 1, 8, "expected FENCES, POINTS, QUERY, STREAM or VIEW, but found 'STREM'", "did you mean 'STREAM'?"),
        ("CREATE QUERY", 1, 13, "expected a name, but the statement ends", None),
        ("CREATE QUERY q AS SELECT FROM w", 1, 26, "expected an expression or '*', but found 'FROM'",
         'FROM is a keyword: to use it as a name, write "FROM" in double quotes'),
        ("CREATE QUERY q AS SELECT a b FROM w", 1, 28, "expected AS, FROM, '(', ',', '.' or an operator, but found 'b'", None),
        ("CREATE QUERY q AS SELECT * FROM w CORELATE (a > 1 WITHIN 1 DAY)", 1, 35,
         "expected CORRELATE, FENCE, FOLLOW, MATCH_RECOGNIZE, NEAREST, PREDICT, SUPPRESS, WHERE, the end of the statement or ',', but found 'CORELATE'", "did you mean 'CORRELATE'?"),
        ("CREATE QUERY q AS SELECT * FROM w WHERE a BETWEN 1 AND 2", 1, 43,
         "expected CORRELATE, FENCE, FOLLOW, MATCH_RECOGNIZE, NEAREST, PREDICT, SUPPRESS, the end of the statement, '(', '.' or an operator, but found 'BETWEN'", "did you mean 'BETWEEN'?"),
        ("CREATE QUERY q AS SELECT * FROM w WHERE 1 < a < 2", 1, 47,
         "expected CORRELATE, FENCE, FOLLOW, MATCH_RECOGNIZE, NEAREST, PREDICT, SUPPRESS, the end of the statement or an operator, but found '<'",
         "a comparison has two sides: write a > 10 AND a < 30, or BETWEEN"),
        ("CREATE QUERY q AS SELECT * FROM w CORRELATE (a > 1 WITHIN 30)", 1, 61,
         "expected a unit such as SECONDS or METERS, but found ')'", None),
        ("CREATE QUERY q AS SELECT * FROM w CORRELATE (WITHIN 1 DAY)", 1, 46,
         "expected a name, a number, a string in 'quotes' or '-', but found 'WITHIN'",
         'WITHIN is a keyword: to use it as a name, write "WITHIN" in double quotes'),
        ("CREATE QUERY q AS SELECT * FROM w CORRELATE (a > 1)", 1, 35, "CORRELATE without WITHIN",
         "give the longest time between the readings: WITHIN 30 SECONDS"),
        ("CREATE QUERY q AS SELECT * FROM w CORRELATE (a > 1 WITHIN 1 DAY WITHIN 2 DAYS)", 1, 65, "WITHIN appears here twice",
         "remove one of them"),
        ("CREATE QUERY q AS SELECT * FROM 'w'", 1, 33, "expected a name, but found 'w'", 'write names in double quotes or without quotes: "w"'),
        ("CREATE STREAM s (a STRNG)", 1, 20, "there is no type named 'STRNG'", "did you mean 'STRING'?"),
        ("CREATE STREAM s (a INT, PLACE (x, y), PLACE (x, y))", 1, 39, "PLACE appears here twice", "remove one of them"),
        ("CREATE QUERY q AS SELECT 'abc FROM w", 1, 26, "this string has no closing quote",
         "end it with '; a quote inside a string is written twice: 'it''s'"),
        ('CREATE QUERY q AS SELECT "abc FROM w', 1, 26, "this quoted name has no closing quote",
         "end it with \"; strings are in single quotes: 'text'"),
        ("/* CREATE", 1, 1, "this comment is never closed", "end it with */"),
        ("CREATE QUERY q AS SELECT a & b FROM w", 1, 28, "the character '&' has no meaning here",
         "conditions are joined with AND, OR and NOT; 'not equal' is <>"),
        ("CREATE QUERY q AS SELECT `a` FROM w", 1, 26, "the character '`' has no meaning here",
         'names with unusual characters need double quotes: "my column"'),
        ('CREATE QUERY "" AS SELECT a FROM w', 1, 14, "a name is empty", "write at least one character between the double quotes"),
        ("CREATE QUERY q AS SELECT 9223372036854775808 FROM w", 1, 26, "this integer is too large",
         "integers go up to 9223372036854775807; with a decimal point it is a DOUBLE"),
        ("CREATE QUERY q AS SELECT 1e999 FROM w", 1, 26, "this number is too large", "the largest is about 1.797e308"),
        ("CREATE QUERY q AS SELECT 1e308 DAYS FROM w", 1, 26, "this number is too large for its unit", "use a smaller number"),
        ("CREATE QUERY q AS SELECT TIMESTAMP 'noon' FROM w", 1, 36, "'noon' is not a date and time",
         "write it like TIMESTAMP '2026-01-31 06:00:00' (UTC) or '2026-01-31T06:00:00+01:00'"),
        ("CREATE QUERY q AS SELECT INTERVAL 'x' DAY FROM w", 1, 35, "'x' is not a number", "write it like INTERVAL '6' SECOND"),
        ("CREATE QUERY q AS SELECT * FROM w CORRELATE (1.5 OF a > 1 WITHIN 1 DAY)", 1, 46, "OF takes an integer, not 1.5",
         "write it without a decimal point"),
    ],
)  # fmt: skip
def test_an_error_says_where_what_and_what_to_do(text, line, column, message, advice):
    script, errors = parse(text)
    assert script.statements == ()
    if "closing quote" in message or "never closed" in message or "has no meaning" in message:
        errors = errors[:1]
    (error,) = errors
    assert error.code == "syntax"
    assert (error.span.line, error.span.column, error.message) == (line, column, message)
    assert (error.advice[-1] if error.advice else None) == advice


def test_an_error_in_one_statement_hides_no_other():
    text = (
        "CREATE STREAM a (x INTT);\n"
        "CREATE QUERY good AS SELECT * FROM a;\n"
        "CREATE QUERY b AS SELECT FROM a;\n"
        "CREATE QUERY c AS SELECT $ FROM a;\n"
        "CREATE QUERY also_good AS SELECT * FROM a\n"
        "CREATE QUERY d AS SELECT 'open FROM a;\n"
        "CREATE QUERY e SELECT * FROM a"
    )
    script, errors = parse(text)
    assert [statement.name for statement in script.statements] == ["good", "also_good"]
    assert [(error.span.line, error.message) for error in errors] == [
        (1, "there is no type named 'INTT'"),
        (3, "expected an expression or '*', but found 'FROM'"),
        (4, "the character '$' has no meaning here"),
        (6, "expected ';' before this CREATE"),
        (6, "this string has no closing quote"),
        (7, "expected AS, but found 'SELECT'"),
    ]


def test_an_empty_text_has_no_statement_and_no_error():
    for text in ("", "  \n\t", ";;;", "-- only a comment", "/* and another */ ;", "\ufeff"):
        script, errors = parse(text)
        assert (script.statements, errors) == ((), [])


def test_the_end_of_the_text_is_a_place():
    assert messages("CREATE QUERY q AS\nSELECT a\n\n") == [(2, 9, "expected FROM, but the statement ends")]
    assert messages("CREATE QUERY q AS SELECT *;") == [(1, 27, "expected FROM, but the statement ends")]


@pytest.mark.parametrize(
    "deep",
    ["1" + " + 1" * 5000, "NOT " * 5000 + "a", "-" * 1 + "(-" * 3000 + "a" + ")" * 3000, "CASE WHEN a THEN " * 500 + "b" + " END" * 500],
    ids=["sum", "not", "minus", "case"],
)  # fmt: skip
def test_what_is_too_deep_is_refused_and_not_a_crash(deep):
    (error,) = parse(f"CREATE QUERY q AS SELECT a FROM s WHERE {deep};")[1]
    assert error.message == f"an expression here is more than {MAX_DEPTH} levels deep"
    with pytest.raises(QueryError):
        parse_expression(deep)


def test_a_text_of_nothing_but_errors_is_given_up_some_time():
    assert len(parse("CREATE " * 5000)[1]) == MOST_ERRORS
    assert len(parse("#" * 5000)[1]) == MOST_ERRORS


MEGABYTE = 1 << 20


NONSENSE = {
    "nul": "\0", "brackets": "(", "closing": ")", "case": "CASE WHEN a THEN ", "create": "CREATE ", "quotes": "'\n",
    "semicolons": "a;", "words": "a ", "dots": "a.", "stars": "*", "not": "NOT ", "minus": "- ", "plus": "+ ", "and": "a AND ",
    "or": "a OR ", "sums": "a+", "products": "a*", "comparisons": "a > 1 AND ", "joined": "a||", "calls": "ABS(a)+",
}  # fmt: skip


def _megabyte_of(unit: str) -> str:
    return unit * (MEGABYTE // len(unit))


@pytest.mark.parametrize("unit", NONSENSE.values(), ids=NONSENSE)
def test_a_megabyte_of_nonsense_is_refused_without_reading_all_of_it(unit):
    for before in ("", "CREATE QUERY q AS SELECT a FROM s WHERE "):
        errors = _parsed_within_a_second(before + _megabyte_of(unit))[1]
        assert {error.code for error in errors} == {"syntax"} and len(errors) <= MOST_ERRORS


LONG_PATTERN = "CREATE QUERY q AS SELECT * FROM s MATCH_RECOGNIZE (PATTERN ({0}) DEFINE a AS a > 1);"
TOO_LONG = {
    "and": ("CREATE QUERY q AS SELECT a FROM s WHERE {0} a;", "a AND "),
    "values": ("CREATE QUERY q AS SELECT a FROM s WHERE a IN ({0} 1);", "1,"),
    "items": ("CREATE QUERY q AS SELECT {0} a FROM s;", "a,"),
    "arguments": ("CREATE QUERY q AS SELECT COALESCE({0} a) FROM s;", "a,"),
    "columns": ("CREATE STREAM s (a STRING KEY, {0} b TIMESTAMP TIME);", "a DOUBLE,"),
    "sequence": (LONG_PATTERN, "a "),
    "choice": (LONG_PATTERN.format("{0} a"), "a|"),
    "loops": (LONG_PATTERN, "a+ "),
    "quantifiers": (LONG_PATTERN.format("a {0}"), "{1}"),
}


@pytest.mark.parametrize(("statement", "unit"), TOO_LONG.values(), ids=TOO_LONG)
def test_a_statement_of_a_megabyte_is_refused_soon_and_the_next_one_is_read(statement, unit):
    text = statement.replace("{0}", _megabyte_of(unit)) + "CREATE QUERY good AS SELECT a FROM s;"
    script, (error,) = _parsed_within_a_second(text)
    assert error.message == f"this statement has more than {MOST_TOKENS} words, numbers and signs"
    assert [statement.name for statement in script.statements] == ["good"]


def test_a_statement_may_have_as_many_tokens_as_it_says():
    query = "CREATE QUERY q AS SELECT a FROM s WHERE a IN ("  # twelve tokens, and one behind the list
    listed = ",".join(["1"] * ((MOST_TOKENS - 12) // 2))
    assert parse(f"{query}{listed});")[1] == []
    (error,) = parse(f"{query}{listed},1);")[1]
    assert (error.code, error.span.column) == ("syntax", len(f"{query}{listed},1"))


def test_a_megabyte_of_spaces_comments_and_semicolons_is_read_at_once():
    for unit in (" ", "\n", "/**/ ", "--\n", ";", "; "):
        text = _megabyte_of(unit) + "CREATE QUERY good AS SELECT a FROM s;"
        script, errors = _parsed_within_a_second(text)
        assert (len(script.statements), errors) == (1, [])


def _parsed_within_a_second(text):
    """What is read of a text; a busy machine may slow some tries down, but not all of them."""
    parse("")  # the parse table is made once in a process
    for _ in range(5):
        began = process_time()
        found = parse(text)
        if process_time() - began < 1:
            return found
    pytest.fail("this took more than a second of CPU, five times")


@pytest.mark.parametrize("operator", [" + ", " AND ", " OR ", " * ", " || "])
def test_a_chain_of_operators_is_as_deep_as_it_is_long(operator):
    longest = operator.join("a" * MAX_DEPTH)
    assert depth_of(parse_expression(longest)) == MAX_DEPTH
    with pytest.raises(QueryError, match=f"more than {MAX_DEPTH} levels deep"):
        parse_expression(longest + operator + "a")


@pytest.mark.parametrize("sign", ["NOT ", "- ", "+ "])
def test_signs_before_a_value_are_as_deep_as_they_are_many(sign):
    assert depth_of(parse_expression(sign * (MAX_DEPTH - 1) + "a")) == MAX_DEPTH
    with pytest.raises(QueryError, match=f"more than {MAX_DEPTH} levels deep"):
        parse_expression(sign * MAX_DEPTH + "a")


def test_what_follows_a_statement_that_is_too_deep_is_read():
    deep = "(" * (MOST_NESTED + 1)
    script, errors = parse(f"CREATE QUERY q AS SELECT {deep} a; CREATE QUERY good AS SELECT a FROM s;\nbad;")
    assert [statement.name for statement in script.statements] == ["good"]
    assert [(error.span.line, error.message) for error in errors] == [
        (1, "more than 10000 brackets and CASEs are nested here"),
        (2, "expected CREATE, but found 'bad'"),
    ]


def test_parentheses_alone_are_not_deep():
    assert parse_expression("(" * 5000 + "a" + ")" * 5000) == Name("a")


def test_a_piece_that_cannot_be_read_raises():
    for read in (parse_expression, parse_clause, parse_quantity, parse_area, parse_items):
        for text in ("", "'", "a b c", ")", "$"):
            with pytest.raises(QueryError) as caught:
                read(text)
            assert caught.value.code == "syntax"


def test_thousands_of_queries_are_read_one_by_one():
    one_query = (
        "CREATE QUERY q{0} AS SELECT * FROM w CORRELATE (a BETWEEN -5 AND {0}, b >= 80 WITHIN 30 SECONDS);"
    )
    script, errors = parse("\n".join(one_query.format(number) for number in range(2000)))
    assert errors == []
    assert [query.span.line for query in script.statements] == list(range(1, 2001))
    assert [query.select.operator.clauses[0].condition.high.value for query in script.statements] == list(
        range(2000)
    )
