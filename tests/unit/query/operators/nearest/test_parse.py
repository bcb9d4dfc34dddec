"""NEAREST and CREATE POINTS as text: what people write, and what is said where it goes wrong."""

import pytest

from headwater.kernels.nearest.choices import Algorithm, Emission
from headwater.model import ColumnType, QueryError, Span
from headwater.query.language.parse import is_plain_name, parse
from headwater.query.language.printer import show
from headwater.query.language.tree import ColumnDefinition, CreatePoints, Quantity, Unit
from headwater.query.operators.nearest.parse import parse_using
from headwater.query.operators.nearest.tree import (
    EachTarget,
    NearAttribute,
    Nearest,
    PointTarget,
    Using,
    ValueTarget,
)

HOUR = Quantity(1, Unit.HOURS)
WORDS = (
    "points", "nearest", "each", "highest", "lowest", "weighted", "over", "ties", "using", "exact", "probable",
    "algorithm", "enters", "changes", "per", "by", "to", "every", "emit", "rows", "with", "of", "place", "ra",
)  # fmt: skip


def operator(inside: str) -> Nearest:
    script, errors = parse(f"CREATE QUERY q AS SELECT * FROM s NEAREST ({inside})")
    assert errors == []
    return script.statements[0].select.operator


def one_error(inside: str) -> QueryError:
    (error,) = parse(f"CREATE QUERY q AS SELECT * FROM s NEAREST (\n{inside})")[1]
    return error


CANONICAL = """\
CREATE POINTS profiles (
  id STRING KEY,
  solar DOUBLE,
  "the volts" BIGINT
);

CREATE QUERY alike AS
SELECT key, distance
FROM panels
WHERE solar > 0
NEAREST (
  10 TO EACH OF profiles BY (solar, "the volts" AS volts)
  WEIGHTED (1, 0.5)
  OVER 1 HOUR
  PER station
  WITH TIES
  USING EXACT ALGORITHM RAPF
  EMIT EVERY 10 SECONDS
);

CREATE QUERY here AS
SELECT *
FROM panels
NEAREST (
  3 TO (7.1, -45.8) BY PLACE
  OVER 40000 ROWS
  USING PROBABLE 0.001 ALGORITHM PA
  EMIT CHANGES
);

CREATE QUERY worst AS
SELECT *
FROM panels
NEAREST (
  1 TO HIGHEST pollution AS dirt
  OVER 1 DAY
);
"""


def test_what_is_written_once_is_written_the_same_way_again() -> None:
    script, errors = parse(CANONICAL)
    assert errors == []
    assert show(script) == CANONICAL


def test_options_come_in_any_order_and_in_any_case() -> None:
    found = operator(
        "10 to each of profiles emit every 10 seconds using exact algorithm rapf with ties per station over 1 hour "
        "weighted (1, 0.5) by (solar, volts)"
    )
    assert found == operator(
        "10 TO EACH OF profiles BY (solar, volts) WEIGHTED (1, 0.5) OVER 1 HOUR PER station WITH TIES "
        "USING EXACT ALGORITHM RAPF EMIT EVERY 10 SECONDS"
    )


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("1 TO (5) BY (a) OVER 1 HOUR", Nearest(1, PointTarget((5,)), (NearAttribute("a"),), HOUR)),
        ("2 TO (-5, +1) BY (a, b) OVER 1 HOUR", None),
        ("2 TO (-5, 1.5) BY (a, b AS c) OVER 7 ROWS",
         Nearest(2, PointTarget((-5, 1.5)), (NearAttribute("a"), NearAttribute("b", "c")), None, 7)),
        ("2 TO EACH OF p BY PLACE OVER 1 HOUR", Nearest(2, EachTarget("p"), None, HOUR)),
        ("2 TO LOWEST a OVER 1 HOUR", Nearest(2, ValueTarget("a", False), None, HOUR)),
        ("2 TO HIGHEST a AS b OVER 1 HOUR EMIT ENTERS",
         Nearest(2, ValueTarget("a", True, "b"), None, HOUR, emission=Emission.ENTERS)),
        ("2 TO LOWEST a OVER INTERVAL '1' HOUR PER b WITH TIES", Nearest(2, ValueTarget("a", False), None, HOUR, per="b", ties=True)),
        ("2 TO LOWEST a OVER 1 HOUR USING EXACT", Nearest(2, ValueTarget("a", False), None, HOUR, exact=True)),
        ("2 TO LOWEST a OVER 1 HOUR USING PROBABLE 0.5", Nearest(2, ValueTarget("a", False), None, HOUR, sigma=0.5)),
        ("2 TO LOWEST a OVER 1 HOUR USING PROBABLE -1 ALGORITHM ra",
         Nearest(2, ValueTarget("a", False), None, HOUR, sigma=-1, algorithm=Algorithm.RA)),
        ("-2 TO LOWEST a OVER -3 ROWS", Nearest(-2, ValueTarget("a", False), None, None, -3)),
    ],
)  # fmt: skip
def test_every_form_gives_its_tree(inside: str, expected: Nearest | None) -> None:
    if expected is None:
        assert "expected a number or '-'" in one_error(inside).message
    else:
        assert operator(inside) == expected


def test_points_are_columns_of_which_one_is_the_key() -> None:
    script, errors = parse("CREATE POINTS p (id INT KEY, place REAL, at TIMESTAMP TIME);")
    assert errors == []
    assert script.statements == (
        CreatePoints(
            "p",
            (
                ColumnDefinition("id", ColumnType.BIGINT, key=True),
                ColumnDefinition("place", ColumnType.DOUBLE),
                ColumnDefinition("at", ColumnType.TIMESTAMP, time=True),
            ),
        ),
    )


def test_every_part_knows_where_it_stands() -> None:
    found = operator("10 TO (1) BY (a) WEIGHTED (1) OVER 1 HOUR PER b USING PROBABLE 0.1 EMIT EVERY 1 HOUR")
    assert found.span == Span(1, 35, 7)
    assert found.target.span == Span(1, 50, 3)
    assert found.attributes is not None and found.attributes[0].span == Span(1, 58, 1)
    assert found.places == {
        "k": Span(1, 44, 2),
        "BY": Span(1, 54, 2),
        "WEIGHTED": Span(1, 61, 12),
        "OVER": Span(1, 74, 11),
        "PER": Span(1, 90, 1),
        "USING": Span(1, 92, 18),
        "EMIT": Span(1, 111, 4),
    }


@pytest.mark.parametrize("word", WORDS)
def test_words_of_nearest_stay_names(word: str) -> None:
    assert is_plain_name(word)
    text = (
        f"CREATE STREAM {word} ({word} DOUBLE, at TIMESTAMP TIME); CREATE POINTS {word} ({word} DOUBLE KEY); "
        f"CREATE QUERY {word} AS SELECT {word}, {word} + 1 AS {word} FROM {word} WHERE {word} > {word} AND {word} "
        f"NEAREST (1 TO EACH OF {word} BY ({word}, {word} AS {word}) OVER 1 ROWS PER {word} WITH TIES); "
        f"CREATE QUERY {word} AS SELECT * FROM {word} NEAREST (1 TO HIGHEST {word} AS {word} OVER 1 ROWS); "
        f"CREATE QUERY {word} AS SELECT * FROM {word} CORRELATE ({word} > 1 AS {word} WITHIN 1 DAY); "
        f"CREATE QUERY {word} AS SELECT * FROM {word} MATCH_RECOGNIZE (PARTITION BY {word} MEASURES {word} AS {word} "
        f"PATTERN ({word}+ {word}) DEFINE {word} AS {word}.{word} > 1);"
    )
    script, errors = parse(text)
    assert errors == []
    assert parse(show(script)) == (script, [])


def test_the_stored_form_can_be_read_alone() -> None:
    assert parse_using("USING PROBABLE 0.01 ALGORITHM PA") == Using(sigma=0.01, algorithm=Algorithm.PA)


@pytest.mark.parametrize(
    ("inside", "column", "message", "advice"),
    [
        ("10 TO (1) BY (a))", 1, "NEAREST without OVER", "give the length of the window: OVER 1 HOUR, or OVER 1000 ROWS"),
        ("10 TO (1) OVER 1 DAY)", 1, "NEAREST without BY", "give the columns of the distance: BY (solar, volts), or BY PLACE"),
        ("10 TO HIGHEST a BY (b) OVER 1 DAY)", 17, "HIGHEST already names its column, so BY is not allowed", "leave BY out"),
        ("10 TO LOWEST a BY PLACE OVER 1 DAY)", 16, "LOWEST already names its column, so BY is not allowed", "leave BY out"),
        ("10 TO (1) BY (a) OVER 1 DAY OVER 5 ROWS)", 29, "OVER appears here twice", "remove one of them"),
        ("10 TO (1) BY (a) BY PLACE OVER 1 DAY)", 18, "BY appears here twice", "remove one of them"),
        ("10 TO (1) BY (a) OVER 1 DAY PER a PER b)", 39, "PER appears here twice", "remove one of them"),
        ("10 TO (1) BY (a) OVER 1 DAY WITH TIES WITH TIES)", 39, "WITH TIES appears here twice", "remove one of them"),
        ("10 TO (1) BY (a) OVER 1 DAY USING EXACT USING PROBABLE 0.1)", 41, "USING appears here twice", "remove one of them"),
        ("10 TO (1) BY (a) OVER 1 DAY EMIT ENTERS EMIT ENTERS)", 41, "EMIT appears here twice", "remove one of them"),
        ("10 TO (1) BY (a) WEIGHTED (1) OVER 1 DAY WEIGHTED (1))", 42, "WEIGHTED appears here twice", "remove one of them"),
        ("1.5 TO (1) BY (a) OVER 1 DAY)", 1, "NEAREST takes an integer, not 1.5", "write it without a decimal point"),
        ("99999999999999999999 TO (1) BY (a) OVER 1 DAY)", 1, "this integer is too large", "integers go up to"),
        ("1 TO (1) BY (a) OVER 1.5 ROWS)", 22, "OVER … ROWS takes an integer, not 1.5", "write it without a decimal point"),
        ("1 TO (1e999) BY (a) OVER 1 DAY)", 7, "this number is too large", "the largest is about 1.797e308"),
        ("1 TO (NaN) BY (a) OVER 1 DAY)", 7, "expected a number or '-', but found 'NaN'", "write a number, such as 0.31 or -5"),
        ("1 TO (1) BY (a) WEIGHTED (inf) OVER 1 DAY)", 27, "expected a number or '-', but found 'inf'", "write a number"),
        ("TO (1) BY (a) OVER 1 DAY)", 1, "expected a number or '-', but found 'TO'", "write a number"),
        ("10 TO 1, 2 BY (a, b) OVER 1 DAY)", 7, "expected EACH, HIGHEST, LOWEST or '(', but found '1'",
         "a point needs parentheses: TO (0.31, 0.22)"),
        ("10 TO spots BY (a) OVER 1 DAY)", 7, "expected EACH, HIGHEST, LOWEST or '(', but found 'spots'",
         "write TO EACH OF spots for declared points, TO HIGHEST spots or TO LOWEST spots for values; a point needs"),
        ("10 TO HIHGEST a OVER 1 DAY)", 7, "expected EACH, HIGHEST, LOWEST or '(', but found 'HIHGEST'", "did you mean 'HIGHEST'?"),
        ("10 TO (1) BY a OVER 1 DAY)", 14, "expected PLACE or '(', but found 'a'",
         "the attributes need parentheses: BY (solar, volts)"),
        ("10 TO (1) BY (a * 2) OVER 1 DAY)", 17, "expected AS, ')' or ',', but found '*'",
         "BY takes columns: compute other values in a query, and read that query"),
        ("10 TO (1) BY (a) WITHIN 1 DAY)", 18, "expected BY, EMIT, FORGET, OVER, PER, USING, WEIGHTED, WITH or ')', but found 'WITHIN'",
         "give the window of NEAREST with OVER, as in OVER 1 HOUR"),
        ("10 TO (1) BY (a) OVER 1 DAY PER a, b)", 34, "expected BY, EMIT, FORGET, OVER, PER, USING, WEIGHTED, WITH or ')', but found ','",
         "write the options without commas; PER, HIGHEST and LOWEST take one column"),
        ("10 TO (1) BY (a) OVER 1 DAY TIES)", 29, "expected BY, EMIT, FORGET, OVER, PER, USING, WEIGHTED, WITH or ')', but found 'TIES'",
         "after TO come BY (…), WEIGHTED (…), OVER a time or n ROWS, PER column, WITH TIES"),
        ("10 TO (1) BY (a) OVR 1 DAY)", 18, "expected BY, EMIT, FORGET, OVER, PER, USING, WEIGHTED, WITH or ')', but found 'OVR'",
         "did you mean 'OVER'?"),
        ("10 TO (1) BY (a) OVER 10)", 25, "expected ROWS or a unit such as SECONDS or METERS, but found ')'", None),
        ("10 TO (1) BY (a) OVER 1 DAY USING RA)", 35, "expected EXACT or PROBABLE, but found 'RA'",
         "write USING EXACT or USING PROBABLE 0.001, optionally followed by ALGORITHM and its name"),
        ("10 TO (1) BY (a) OVER 1 DAY USING EXACT ALGORITHM RAFP)", 51, "there is no algorithm named 'RAFP'",
         "known algorithms: PA, RA, RAPF"),
        ("10 TO (1) BY (a) OVER 1 DAY EMIT READINGS)", 34, "expected CHANGES, ENTERS or EVERY, but found 'READINGS'",
         "write EMIT ENTERS, EMIT CHANGES, or EMIT EVERY 10 SECONDS"),
        ("10 TO (1) BY (a) OVER 1 DAY EMIT EVERY 10)", 42, "expected a unit such as SECONDS or METERS, but found ')'", None),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_what_to_write(
    inside: str, column: int, message: str, advice: str | None
) -> None:
    (error,) = parse(f"CREATE QUERY q AS SELECT * FROM s NEAREST (\n{inside}")[1]
    assert error.code == "syntax"
    assert error.message == message
    assert error.span is not None
    assert error.span.column == (35 if message.startswith("NEAREST without") else column)
    assert not error.advice if advice is None else error.advice[0].startswith(advice)


@pytest.mark.parametrize(
    ("text", "column", "message", "advice"),
    [
        ("CREATE POINTS p (id STRING KEY, PLACE (a, b))", 33, "POINTS cannot have a PLACE", ["leave it out: BY PLACE uses the"]),
        ("CREATE POINT p (id STRING KEY)", 8, "expected FENCES, POINTS, QUERY, STREAM or VIEW", ["did you mean 'POINTS'?"]),
        ("CREATE POINTS p (id STRING KEY) LATE 3 SECONDS", 33, "expected the end of the statement, but found 'LATE'", []),
        ("CREATE POINTS p ()", 18, "expected a name, but found ')'", []),
        ("CREATE POINTS p (id STRNG KEY)", 21, "there is no type named 'STRNG'", ["known types:", "did you mean 'STRING'?"]),
        ("CREATE QUERY q AS SELECT * FROM s NEARST (1 TO (1) BY (a) OVER 1 DAY)", 35, "expected CORRELATE", ["did you mean 'NEAREST'?"]),
    ],
)  # fmt: skip
def test_mistakes_around_it_are_reported_too(text: str, column: int, message: str, advice: list[str]) -> None:
    (error,) = parse(text)[1]
    assert error.message.startswith(message)
    assert error.span is not None and error.span.column == column
    assert all(given.startswith(expected) for given, expected in zip(error.advice, advice, strict=True))
