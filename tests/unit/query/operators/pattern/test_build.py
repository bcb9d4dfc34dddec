"""Patterns built in Python are the patterns that the text says."""

from datetime import timedelta

import pytest

import headwater as hw
from headwater.model import QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.operators.pattern.build import match, pattern
from headwater.query.operators.pattern.parse import parse_pattern
from headwater.query.operators.pattern.tree import Variable


def said(text: str):
    found, errors = parse(text)
    assert errors == []
    return found.statements[0]


def written(inside: str, query: str = "fire"):
    return said(f"CREATE QUERY {query} AS SELECT * FROM weather MATCH_RECOGNIZE ({inside})")


def test_a_match_built_is_the_match_written():
    built = hw.match(
        "fire",
        "weather",
        hw.pattern("A").then("B+").then("C"),
        partition="station",
        order=("at", "line"),
        measures={"peak": "MAX(B.temperature)", "n": "COUNT(*)"},
        define={"A": "A.temperature > 40"},
        rows="ALL ROWS",
        skip="TO LAST B",
        within="6 SECONDS",
        between_rows=timedelta(seconds=1),
        timeouts=True,
        limit=9,
        subsets={"U": ("A", "B")},
    )
    assert built == written(
        """PARTITION BY station ORDER BY at, line MEASURES MAX(B.temperature) AS peak, COUNT(*) AS n
           ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST B PATTERN (A B+ C) WITHIN 6 SECONDS WITHIN 1 SECOND BETWEEN ROWS
           WITH TIMEOUTS LIMIT 9 PARTIAL MATCHES SUBSET U = (A, B) DEFINE A AS A.temperature > 40"""
    )
    assert parse(show(built))[0].statements[0] == built


def test_a_pattern_may_be_text_and_the_query_has_its_own_columns():
    built = match(
        "fire", "weather", "A | B", columns="station", where="temperature > 0", partition=("station",)
    )
    assert built == said(
        "CREATE QUERY fire AS SELECT station FROM weather WHERE temperature > 0 "
        "MATCH_RECOGNIZE (PARTITION BY station PATTERN (A | B))"
    )


def test_events_follow_one_another():
    events = (
        pattern("alarm")
        .where("kind = 'alarm'")
        .followed_by("low", at_least=2, at_most=4, gaps="any", blocking=True, until="kind = 'off'")
        .where("battery < 10")
        .where("battery > 0")
        .not_then("noise")
        .followed_by_any("high")
        .not_followed_by("reset")
        .where("kind = 'reset'")
    )
    assert match("fire", "weather", events, every=True, within="1 HOUR", skip="NO SKIP") == written(
        """MATCH EVERY AFTER MATCH NO SKIP
           PATTERN (alarm ~> low~~{2,4}! UNTIL (kind = 'off') NOT noise ~~> high ~> NOT reset) WITHIN 1 HOUR
           DEFINE alarm AS kind = 'alarm', low AS battery < 10 AND battery > 0, reset AS kind = 'reset'"""
    )


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (pattern("A"), "A"),
        (pattern("A", at_least=1), "A+"),
        (pattern("A", at_most=3, reluctant=True), "A{1,3}?"),
        (pattern("A B").then("C"), "A B C"),
        (pattern("A").then("B C"), "A (B C)"),
        (pattern("A").then(pattern("B").followed_by("C"), at_least=0, gaps="relaxed"), "A (B ~> C)~*"),
        (pattern(pattern("A").then("B"), at_least=2), "(A B){2,}"),
        (pattern(Variable("A")).then("PERMUTE (B, C)?"), "A PERMUTE (B, C)?"),
        (pattern("A").followed_by("B", at_least=0, at_most=1), "A ~> B?"),
    ],
)
def test_steps(built, text):
    assert built.tree == parse_pattern(text)


def test_node_modes():
    built = match("fire", "weather", "A B+", mode="unrestricted", hold=8, seed=3, within="6 SECONDS")
    assert built == written(
        "MODE UNRESTRICTED HOLD 8 EVENTS CHOOSE ONE SEED 3 PATTERN (A B+) WITHIN 6 SECONDS"
    )


@pytest.mark.parametrize("skip", ["TO NEXT ROW", "skip to next row", "AFTER MATCH SKIP TO NEXT ROW"])
def test_where_the_search_goes_on(skip):
    assert match("fire", "weather", "A", skip=skip) == written("AFTER MATCH SKIP TO NEXT ROW PATTERN (A)")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: pattern("A | ~"), "expected a part of a pattern"),
        (lambda: pattern("A").then("B", gaps="relaxed"), "a loop needs at_least or at_most"),
        (lambda: pattern("A", at_least=3, at_most=2), "a loop of at least 3 and at most 2"),
        (lambda: pattern("A", at_least=1, gaps="wide"), "'wide' is not one of the gaps"),
        (lambda: match("q", "s", "A B", within=5), "5 is not a duration"),
        (lambda: match("q", "s", 5), "5 is not a pattern"),
        (lambda: match("q", "s", "A", limit="x"), "limit takes an integer, not 'x'"),
        (lambda: pattern("A | B").where("x > 1"), "where applies to one variable"),
        (lambda: pattern("A").where("x >"), "expected an expression"),
        (lambda: match("q", "s", pattern("A").where("x > 1"), define={"A": "y > 1"}), "'A' already has a condition"),
        (lambda: match("q", "s", "A", rows="SOME ROWS"), "'SOME ROWS' is not a condition on rows"),
        (lambda: match("q", "s", "A", mode="last"), "'last' is not one of the modes"),
        (lambda: match("q", "s", "A", hold=3), "hold and seed belong to a mode"),
        (lambda: match("q", "s", "A", skip="TO"), "expected"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(build, message):
    with pytest.raises(QueriesRefused) as caught:
        build()
    assert caught.value.errors[0].message.startswith(message)
