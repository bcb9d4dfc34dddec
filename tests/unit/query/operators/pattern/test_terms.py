"""At which rows of a match do conditions and measures look?"""

import pytest

from headwater.model import ColumnType
from headwater.query.checking.complaints import Complaints
from headwater.query.expressions import ExprType
from headwater.query.language.parse import parse_expression
from headwater.query.language.printer import show
from headwater.query.operators.pattern.terms import (
    MOST_OFFSET,
    AggregateTerm,
    ClassifierTerm,
    Lowered,
    MatchNumberTerm,
    Place,
    RowTerm,
    Where,
    lower,
)

COLUMNS = {
    "x": ColumnType.DOUBLE,
    "y": ColumnType.DOUBLE,
    "n": ColumnType.BIGINT,
    "name": ColumnType.STRING,
    "start": ColumnType.TIMESTAMP,
    "stop": ColumnType.TIMESTAMP,
}
OF_B = Place(Where.DEFINE, "B")
UNTIL = Place(Where.UNTIL)
ONE_ROW = Place(Where.MEASURES)
ALL_ROWS = Place(Where.MEASURES, all_rows=True)


def lowered(text: str, place: Place) -> tuple[Lowered | None, Complaints]:
    complaints = Complaints()
    found = lower(
        parse_expression(text),
        variables=("A", "B", "C"),
        subsets={"U": ("C", "B")},
        columns=COLUMNS,
        place=place,
        complaints=complaints,
    )
    return found, complaints


def terms(text: str, place: Place) -> tuple[str, list]:
    found, complaints = lowered(text, place)
    assert complaints.errors == []
    assert len(found.terms) == len(found.kinds)
    return show(found.expression).replace('"', ""), list(found.terms)


def row(argument, variables=None, first=False, offset=0, shift=0, final=False) -> RowTerm:
    return RowTerm(parse_expression(argument), variables, first, offset, shift, final)


def said(text: str, place: Place) -> list[str]:
    found, complaints = lowered(text, place)
    assert found is None
    return [error.code for error in complaints.errors]


@pytest.mark.parametrize(
    "text", ["x", "B.x", "U.x", "LAST(B.x)", "LAST(x)", "RUNNING LAST(U.x, 0)", "PREV(x, 0)"]
)
def test_the_row_under_test_has_many_names(text):
    assert terms(f"{text} > 1", OF_B) == ("#0", [row("x > 1")])


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("A.x", row("x", ("A",))),
        ("LAST(B.x, 1)", row("x", ("B",), offset=1)),
        ("LAST(x, 2)", row("x", offset=2)),
        ("FIRST(B.x)", row("x", ("B",), first=True)),
        ("FIRST(U.x, 3)", row("x", ("B", "C"), first=True, offset=3)),
        ("FIRST(x)", row("x", first=True)),
        ("PREV(x)", row("x", shift=-1)),
        ("PREV(B.x, 2)", row("x", shift=-2)),
        ("NEXT(A.x)", row("x", ("A",), shift=1)),
        ("PREV(FIRST(A.x, 2), 1)", row("x", ("A",), first=True, offset=2, shift=-1)),
        ("PREV(LAST(B.x), 2)", row("x", shift=-2)),
        ("PREV(B.x + y)", row("x + y", shift=-1)),
        ("UPPER(PREV(B.name))", row("UPPER(name)", shift=-1)),
        ("A.x + A.y * 2", row("x + y * 2", ("A",))),
        ("COALESCE(x, 0)", row("COALESCE(x, 0)")),
    ],
)  # fmt: skip
def test_rows_in_a_condition(text, term):
    assert terms(text, OF_B) == ("#0", [term])


@pytest.mark.parametrize(
    ("text", "rest", "found"),
    [
        ("A.x + B.x > A.x * 2", "#0 + #1 > #2", [row("x", ("A",)), row("x"), row("x * 2", ("A",))]),
        ("A.x > B.x AND A.x > 1", "#0 > #1 AND #2", [row("x", ("A",)), row("x"), row("x > 1", ("A",))]),
        ("A.x - x < 1 AND A.x - y < 1", "#0 - #1 < 1 AND #0 - #2 < 1", [row("x", ("A",)), row("x"), row("y")]),
        ("1 + 2 > 0", "1 + 2 > 0", []),
        ("COALESCE(A.x + A.y, 0)", "COALESCE(#0, 0)", [row("x + y", ("A",))]),
        ("A.x IS NULL", "#0 IS NULL", [row("x", ("A",))]),
        ("PREV(x) IS NULL OR x > PREV(x)", "#0 IS NULL OR #1 > #0", [row("x", shift=-1), row("x")]),
        ("FIRST(COALESCE(A.x, 0)) + 1", "#0 + 1", [row("COALESCE(x, 0)", ("A",), first=True)]),
        ("A.stop - A.start > B.stop - B.start", "#0 - #1 > #2 - #3",
         [row("stop", ("A",)), row("start", ("A",)), row("stop"), row("start")]),
        ("A.stop - A.start > 5 SECONDS", "#0", [row("stop - start > 5 SECONDS", ("A",))]),
        ("A.x + 1 > B.y AND A.x + 1.0 > B.y", "#0 > #1 AND #2 > #1",
         [row("x + 1", ("A",)), row("y"), row("x + 1.0", ("A",))]),
        ("SUM(B.x) > 2 * A.x", "#0 > #1", [AggregateTerm("SUM", parse_expression("x"), ("B",), False), row("2 * x", ("A",))]),
        ("COUNT(*) + COUNT(A.*) + COUNT(U.name) > 3", "#0 + #1 + #2 > 3",
         [AggregateTerm("COUNT", None, None, False), AggregateTerm("COUNT", None, ("A",), False),
          AggregateTerm("COUNT", parse_expression("name"), ("B", "C"), False)]),
        ("CLASSIFIER() = 'B'", "'B' = 'B'", []),
        ("MATCH_NUMBER() > 1", "#0 > 1", [MatchNumberTerm()]),
    ],
)  # fmt: skip
def test_what_looks_at_several_rows(text, rest, found):
    assert terms(text, OF_B) == (rest, found)


def test_until_tests_a_row_that_belongs_to_nothing():
    assert terms("x > B.x", UNTIL) == ("#0 > #1", [row("x"), row("x", ("B",))])
    assert terms("LAST(x) > x", UNTIL) == ("#0 > #1", [row("x", ("A", "B", "C")), row("x")])
    assert terms("PREV(x) > 0", UNTIL) == ("#0", [row("x > 0", shift=-1)])


def test_measures_look_up_to_the_present_row_or_at_the_whole_match():
    assert terms("FINAL LAST(A.x) - A.x", ALL_ROWS) == (
        "#0 - #1",
        [row("x", ("A",), final=True), row("x", ("A",))],
    )
    assert terms("FINAL LAST(A.x) - A.x", ONE_ROW) == ("#0", [row("x - x", ("A",))])
    assert terms("FINAL PREV(LAST(x))", ALL_ROWS) == ("#0", [row("x", shift=-1, final=True)])
    assert terms("PREV(FINAL LAST(x))", ALL_ROWS) == ("#0", [row("x", shift=-1, final=True)])
    assert terms("FINAL SUM(n)", ALL_ROWS) == (
        "#0",
        [AggregateTerm("SUM", parse_expression("n"), None, True)],
    )
    assert terms("COALESCE(x, 0)", ONE_ROW) == ("COALESCE(#0, 0)", [row("x")])  # an empty match has no row


def test_classifiers_in_measures():
    assert terms("CLASSIFIER()", ALL_ROWS)[1] == [ClassifierTerm(None, False, 0, 0, False)]
    assert terms("CLASSIFIER(U)", ALL_ROWS)[1] == [ClassifierTerm(("B", "C"), False, 0, 0, False)]
    assert terms("FINAL CLASSIFIER()", ALL_ROWS)[1] == [ClassifierTerm(None, False, 0, 0, True)]
    assert terms("PREV(FIRST(CLASSIFIER(U), 1), 2)", ALL_ROWS)[1] == [
        ClassifierTerm(("B", "C"), True, 1, -2, False)
    ]
    assert terms("PREV(CLASSIFIER())", ALL_ROWS)[1] == [ClassifierTerm(None, False, 0, -1, False)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SUM(n)", ExprType.BIGINT), ("SUM(x)", ExprType.DOUBLE), ("AVG(n)", ExprType.DOUBLE), ("MIN(name)", ExprType.STRING),
        ("MAX(start)", ExprType.TIMESTAMP), ("COUNT(name)", ExprType.BIGINT), ("COUNT(1)", ExprType.BIGINT),
        ("CLASSIFIER()", ExprType.STRING), ("MATCH_NUMBER()", ExprType.BIGINT), ("LAST(stop) - FIRST(start)", ExprType.DURATION),
        ("LAST(x) > 1", ExprType.BOOLEAN), ("NULL", ExprType.NULL), ("x + NULL", ExprType.NULL),
    ],
)  # fmt: skip
def test_types_of_measures(text, kind):
    found, complaints = lowered(text, ONE_ROW)
    assert complaints.errors == []
    assert found.kind is kind
    assert not {ExprType.NULL, ExprType.DURATION} & set(found.kinds)


@pytest.mark.parametrize(
    ("text", "place", "codes"),
    [
        ("D.x > 1", OF_B, ["unknown-variable"]),
        ("D.x > 1 AND E.x > A.z", OF_B, ["unknown-variable", "unknown-variable", "unknown-column"]),
        ("COUNT(D.*)", ONE_ROW, ["unknown-variable"]),
        ("CLASSIFIER(D)", ONE_ROW, ["unknown-variable"]),
        ("A.z > 1", OF_B, ["unknown-column"]),
        ("A.x > 'a'", OF_B, ["type-mismatch"]),
        ("A.x > B.name", OF_B, ["type-mismatch"]),
        ("A.x + FOO(1)", OF_B, ["unknown-function"]),
        ("FIRST(PREV(x))", ONE_ROW, ["wrong-navigation"]),
        ("PREV(PREV(x))", ONE_ROW, ["wrong-navigation"]),
        ("PREV(FIRST(A.x) + 1)", ONE_ROW, ["wrong-navigation"]),
        ("FIRST(A.x + B.x)", ONE_ROW, ["wrong-navigation"]),
        ("FIRST(A.x + x)", ONE_ROW, ["wrong-navigation"]),
        ("FIRST(1)", ONE_ROW, ["wrong-navigation"]),
        ("FIRST(x, -1)", ONE_ROW, ["wrong-navigation"]),
        ("FIRST(x, n)", ONE_ROW, ["wrong-navigation"]),
        ("FIRST(x, 1.5)", ONE_ROW, ["wrong-navigation"]),
        (f"PREV(x, {MOST_OFFSET + 1})", ONE_ROW, ["wrong-navigation"]),
        ("FIRST()", ONE_ROW, ["wrong-arguments"]),
        ("FIRST(x, 1, 2)", ONE_ROW, ["wrong-arguments"]),
        ("FIRST(CLASSIFIER() || 'x')", ONE_ROW, ["wrong-navigation"]),
        ("SUM(PREV(x))", ONE_ROW, ["wrong-navigation"]),
        ("SUM(COUNT(*))", ONE_ROW, ["misplaced-aggregate"]),
        ("FIRST(SUM(x))", ONE_ROW, ["misplaced-aggregate"]),
        ("SUM(A.x + B.x)", ONE_ROW, ["misplaced-aggregate"]),
        ("SUM(name)", ONE_ROW, ["wrong-arguments"]),
        ("SUM(*)", ONE_ROW, ["wrong-arguments"]),
        ("ABS(*)", ONE_ROW, ["wrong-arguments"]),
        ("MIN(stop - start)", ONE_ROW, ["wrong-arguments"]),
        ("SUM(x, y)", ONE_ROW, ["wrong-arguments"]),
        ("CLASSIFIER(A.x)", ONE_ROW, ["wrong-arguments"]),
        ("MATCH_NUMBER(1)", ONE_ROW, ["wrong-arguments"]),
        ("FINAL LAST(A.x) > 1", OF_B, ["misplaced-scope"]),
        ("FINAL SUM(A.x) > 1", UNTIL, ["misplaced-scope"]),
        ("FINAL PREV(RUNNING LAST(x))", ALL_ROWS, ["misplaced-scope"]),
        ("RUNNING ABS(x)", ONE_ROW, ["misplaced-scope"]),
        ("CLASSIFIER(A) = 'A'", OF_B, ["not-in-define"]),
        ("PREV(CLASSIFIER()) = 'A'", OF_B, ["not-in-define"]),
        ("CLASSIFIER() = 'A'", UNTIL, ["not-in-define"]),
        ("MATCH_NUMBER() > 1", Place(Where.DEFINE, "B", every=True), ["not-in-define"]),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_reported_once(text, place, codes):
    assert said(text, place) == codes
    assert all(error.span for error in lowered(text, place)[1].errors)
