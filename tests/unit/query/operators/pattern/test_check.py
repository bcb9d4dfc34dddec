"""MATCH_RECOGNIZE: every choice made, or every error at its place."""

from __future__ import annotations

import pytest

from headwater.kernels.pattern.choices import Mode, RowsPerMatch, SkipTo
from headwater.model import ColumnType, QueriesRefused, QueryError
from headwater.query.checking.catalogue import CheckedQuery
from headwater.query.checking.check import check
from headwater.query.expressions import ExprType
from headwater.query.language.limits import LONGEST_US
from headwater.query.operators.pattern.check import unbounded
from headwater.query.operators.pattern.operator import PatternOperator

WEATHER = "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, line BIGINT, temperature DOUBLE, open BOOLEAN);\n"
S, D, B, T = ColumnType.STRING, ColumnType.DOUBLE, ColumnType.BIGINT, ColumnType.TIMESTAMP


def text(inside: str, columns: str = "*", streams: str = WEATHER, source: str = "weather") -> str:
    return f"{streams}CREATE QUERY q AS SELECT {columns} FROM {source}\nMATCH_RECOGNIZE (\n{inside})"


def query(inside: str, columns: str = "*") -> CheckedQuery:
    return check(text(inside, columns)).queries["q"]


def recognition(inside: str) -> PatternOperator:
    found = query(inside).operator
    assert isinstance(found, PatternOperator)
    return found


def refused(inside: str, columns: str = "*", streams: str = WEATHER) -> tuple[QueryError, ...]:
    with pytest.raises(QueriesRefused) as caught:
        check(text(inside, columns, streams))
    return caught.value.errors


class TestChoices:
    def test_every_choice_is_made(self) -> None:
        found = recognition("PATTERN (A B+ NOT C D)")
        assert found.variables == ("A", "B", "C", "D")
        assert (found.define, found.untils, found.subsets, found.measures) == ((), (), (), ())
        assert (found.partition, found.order) == ((), ())
        assert (found.rows, found.every, found.mode) == (RowsPerMatch.ONE, False, None)
        assert (found.hold, found.seed) == (64, None)
        assert (found.skip, found.skip_to) == (SkipTo.PAST_LAST_ROW, ())
        assert (found.within_us, found.between_us, found.timeouts, found.limit) == (None, None, False, None)

    def test_every_choice_can_be_written(self) -> None:
        found = recognition(
            "PARTITION BY station, line ORDER BY at, temperature MEASURES LAST(U.temperature) AS peak "
            "ALL ROWS PER MATCH OMIT EMPTY MATCHES MATCH EVERY AFTER MATCH SKIP TO FIRST U "
            "PATTERN (A (B+ UNTIL (temperature > 9))+ UNTIL (line = 1) C) WITHIN 6 SECONDS WITHIN 1 SECOND BETWEEN ROWS "
            "WITH TIMEOUTS LIMIT 7 PARTIAL MATCHES SUBSET U = (C, B) DEFINE C AS open, A AS temperature > 1"
        )
        assert found.partition == ("station", "line")
        assert found.order == ("temperature",)
        assert found.subsets == (("U", ("C", "B")),)
        assert [name for name, _ in found.define] == ["C", "A"]
        assert [until.terms[0].argument.left.name for until in found.untils] == ["line", "temperature"]
        assert found.measures[0][1].terms[0].variables == ("B", "C")
        assert (found.skip, found.skip_to) == (SkipTo.FIRST, ("B", "C"))
        assert (found.within_us, found.between_us) == (6_000_000, 1_000_000)
        assert (found.rows, found.every, found.timeouts, found.limit) == (
            RowsPerMatch.ALL_OMIT_EMPTY,
            True,
            True,
            7,
        )

    def test_a_node_mode(self) -> None:
        found = recognition(
            "MODE UNRESTRICTED HOLD 8 EVENTS CHOOSE ONE SEED 3 PATTERN (A ~> B+ D) WITHIN 6 SECONDS"
        )
        assert (found.mode, found.hold, found.seed) == (Mode.UNRESTRICTED, 8, 3)

    def test_no_skip_is_what_every_match_does_and_the_next_row_for_others(self) -> None:
        assert recognition("MATCH EVERY PATTERN (A)").skip is SkipTo.NOWHERE
        assert recognition("AFTER MATCH NO SKIP PATTERN (A)").skip is SkipTo.NEXT_ROW

    @pytest.mark.parametrize(
        ("inside", "endless"),
        [
            ("PATTERN (A B C)", False), ("PATTERN (A B+)", True), ("PATTERN (A{3})", False), ("PATTERN (A{3,})", True),
            ("PATTERN (A ~> B)", True), ("PATTERN (A ~~> B)", True), ("PATTERN (A~{2})", True), ("PATTERN (A B+) WITHIN 1 DAY", False),
            ("PATTERN (A B+) WITHIN 1 DAY BETWEEN ROWS", True), ("PATTERN (A ~> B) WITHIN 1 DAY BETWEEN ROWS", False), ("PATTERN (A B+) LIMIT 9 PARTIAL MATCHES", False),
            ("PATTERN (PERMUTE (A, B) | ())", False), ("PATTERN (A~?)", False),
        ],
    )  # fmt: skip
    def test_a_pattern_without_bounds_is_known(self, inside: str, endless: bool) -> None:
        assert unbounded(recognition(inside)) is endless


class TestAnswers:
    def test_one_row_has_the_partition_and_the_measures(self) -> None:
        found = query(
            "PARTITION BY station MEASURES COUNT(*) AS n, LAST(at) - FIRST(at) AS long, NULL AS no "
            "PATTERN (A+) WITHIN 1 DAY WITH TIMEOUTS DEFINE A AS open"
        )
        columns = (("station", S), ("n", B), ("long", D), ("no", S), ("timed_out", ColumnType.BOOLEAN))
        assert found.answers == columns
        assert tuple((name, kind) for name, _, kind in found.selected) == columns
        assert found.schema.columns == (("event_time", T), *columns)
        assert found.schema.key == "station"
        assert found.operator.kind == "pattern"

    def test_all_rows_have_the_columns_of_the_stream(self) -> None:
        found = query("MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH PATTERN (A+)")
        assert [name for name, _ in found.answers] == ["station", "at", "line", "temperature", "open", "c"]

    def test_a_query_may_read_matches(self) -> None:
        inner = text("PARTITION BY station MEASURES MAX(temperature) AS peak PATTERN (A B)")
        outer = "CREATE QUERY r AS SELECT * FROM q MATCH_RECOGNIZE (ORDER BY event_time ALL ROWS PER MATCH PATTERN (A B) DEFINE A AS peak > 1)"
        found = check(f"{inner};\n{outer}").queries["r"]
        assert [name for name, _ in found.answers] == ["station", "peak"]
        assert [name for name, _, _ in found.selected] == ["station", "peak"]

    def test_a_select_list_is_over_the_answers(self) -> None:
        found = query(
            "MEASURES MAX(temperature) AS peak PATTERN (A)", "peak * 2 AS twice, event_time AS ended"
        )
        assert [(name, kind) for name, _, kind in found.selected] == [("twice", D), ("ended", T)]
        (error,) = refused("MEASURES MAX(temperature) AS peak PATTERN (A)", "temperature")
        assert error.code == "unknown-column"

    def test_types_of_conditions(self) -> None:
        found = recognition("PATTERN (A B) DEFINE B AS temperature > A.temperature")
        assert found.define[0][1].kind is ExprType.BOOLEAN


@pytest.mark.parametrize(
    ("inside", "code", "column", "message"),
    [
        ("PATTERN (A B) DEFINE A AS Q.line > 1", "unknown-variable", 27, "there is no pattern variable named 'Q'"),
        ("PATTERN (A) SUBSET U = (A, Q)", "unknown-variable", 20, "there is no pattern variable named 'Q'"),
        ("AFTER MATCH SKIP TO LAST Q PATTERN (A)", "unknown-variable", 26, "there is no pattern variable named 'Q'"),
        ("AFTER MATCH SKIP TO LAST B PATTERN (A NOT B C)", "unknown-variable", 26, "'B' appears only after NOT"),
        ("PATTERN (A) DEFINE B AS open", "unused-define", 20, "'B' has a condition, but PATTERN does not use it"),
        ("PATTERN (A) SUBSET U = (A) DEFINE U AS open", "unused-define", 35, "'U' has a condition"),
        ("PATTERN (A) DEFINE A AS open, A AS open", "duplicate-name", 31, "'A' is defined twice"),
        ("PATTERN (A B) SUBSET B = (A)", "duplicate-name", 22, "there is a variable named 'B' already"),
        ("PATTERN (A B) SUBSET U = (A), U = (B)", "duplicate-name", 31, "there is a subset named 'U' already"),
        ("PATTERN (A) DEFINE A AS line + 1", "type-mismatch", 25, "DEFINE needs a condition, but this is BIGINT"),
        ("PATTERN (A) DEFINE A AS SUM(line)", "type-mismatch", 25, "DEFINE needs a condition, but this is BIGINT"),
        ("PATTERN (A+ UNTIL (line))", "type-mismatch", 20, "UNTIL needs a condition"),
        ("PATTERN (A) DEFINE A AS temperature > 'x'", "type-mismatch", 25, "'>' cannot combine DOUBLE and STRING"),
        ("PARTITION BY staton PATTERN (A)", "unknown-column", 14, "there is no column named 'staton'"),
        ("PARTITION BY station, station PATTERN (A)", "duplicate-name", 23, "'station' appears here twice"),
        ("ORDER BY line PATTERN (A)", "order-not-time", 10, "ORDER BY begins with 'line'"),
        ("ORDER BY at, lin PATTERN (A)", "unknown-column", 14, "there is no column named 'lin'"),
        ("PATTERN (A B+! C)", "blocking-without-every", 12, "'!' makes a loop of MATCH EVERY greedy"),
        ("AFTER MATCH SKIP TO FIRST A PATTERN (A B)", "skip-to-start", 27, "every match begins with 'A'"),
        ("AFTER MATCH SKIP TO FIRST U PATTERN (C? (A | B) C) SUBSET U = (A, B, C)", "skip-to-start", 27, "every match"),
        ("PATTERN (NOT A B)", "misplaced-not", 10, "NOT A could come first"),
        ("PATTERN (A? NOT B C)", "misplaced-not", 13, "NOT B could come first"),
        ("PATTERN (A (NOT B)+ C)", "misplaced-not", 13, "NOT B takes no row, so it cannot be repeated"),
        ("PATTERN (A (B | NOT C) D)", "misplaced-not", 17, "NOT C has no element before and after it"),
        ("PATTERN (A ~> NOT B)", "absence-without-time", 15, "NOT B at the end"),
        ("PATTERN (PERMUTE (A, B, C, D, E, F, G))", "pattern-too-large", 10, "PERMUTE of 7 parts"),
        ("PATTERN ((A B{25}){40})", "pattern-too-large", 11, "written out, this pattern has more than 1,000 elements"),
        ("PATTERN (PERMUTE (PERMUTE (A, B, C, D, E, F), B, C, D))", "pattern-too-large", 10, "written out"),
        ("PATTERN (A) WITHIN -1 SECONDS", "negative-duration", 20, "WITHIN is negative"),
        ("PATTERN (A) WITHIN 5 METERS", "not-a-duration", 20, "WITHIN needs a duration"),
        ("PATTERN (A) WITHIN 36501 DAYS BETWEEN ROWS", "too-long", 20, "WITHIN … BETWEEN ROWS is longer"),
        ("PATTERN (A) LIMIT 0 PARTIAL MATCHES", "not-a-count", None, "LIMIT 0 leaves no partial match"),
        ("MEASURES line AS a, at AS a PATTERN (A)", "duplicate-name", 21, "two columns of the answer would be named 'a'"),
        ("PARTITION BY line MEASURES at AS line PATTERN (A)", "duplicate-name", 28, "two columns of the answer"),
        ("MEASURES at AS line ALL ROWS PER MATCH PATTERN (A)", "duplicate-name", 10, "two columns of the answer"),
        ("MEASURES at AS match_id PATTERN (A)", "reserved-column", 10, "every answer already has a column 'match_id'"),
        ("MEASURES at AS timed_out PATTERN (A) WITHIN 1 DAY WITH TIMEOUTS", "duplicate-name", None, "two columns"),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS MATCH EVERY PATTERN (A)", "unmatched-rows", None, "WITH UNMATCHED ROWS"),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A {- B -})", "unmatched-rows", 51, "WITH UNMATCHED ROWS"),
        ("MODE FIRST PATTERN (A B)", "wrong-mode", 1, "MODE needs a time"),
        ("MODE FIRST PATTERN (A | B) WITHIN 1 DAY", "wrong-mode", 21, "MODE takes a plain sequence"),
        ("MODE FIRST PATTERN (A ~~> B) WITHIN 1 DAY", "wrong-mode", 21, "MODE takes a plain sequence"),
        ("MODE FIRST PATTERN (A B*) WITHIN 1 DAY", "wrong-mode", 21, "MODE takes a plain sequence"),
        ("MATCH EVERY MODE FIRST PATTERN (A B) WITHIN 1 DAY", "wrong-mode", 13, "MODE cannot be combined with MATCH EVERY"),
        ("MODE FIRST CHOOSE ONE SEED 1 PATTERN (A B) WITHIN 1 DAY", "wrong-mode", 1, "CHOOSE ONE chooses"),
        ("MODE FIRST HOLD 0 EVENTS PATTERN (A B) WITHIN 1 DAY", "not-a-count", 1, "HOLD 0 EVENTS is empty"),
        ("MODE FIRST HOLD 99999999 EVENTS PATTERN (A B) WITHIN 1 DAY", "wrong-mode", 1, "a node holds at most 65,536 events"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_reported_at_its_place(
    inside: str, code: str, column: int | None, message: str
) -> None:
    (error,) = refused(inside)
    assert error.code == code
    assert error.message.startswith(message)
    assert error.advice
    assert error.span is not None
    if column is None:
        assert (error.span.line, error.span.column) == (3, 1)
    else:
        assert (error.span.line, error.span.column) == (4, column)


@pytest.mark.parametrize(
    "inside",
    [
        "AFTER MATCH SKIP TO FIRST A PATTERN (B? A)", "PATTERN (A NOT B C?)", "PATTERN (A ~> NOT B) WITHIN 1 SECOND",
        "PATTERN (A NOT B) WITHIN 1 SECOND BETWEEN ROWS", "PATTERN (PERMUTE (A, B, C, D, E, F))", "PATTERN (A{1000})", "PATTERN (())",
        "PATTERN (A) WITHIN 0 SECONDS", "MATCH EVERY PATTERN (A B~+?!)", "PATTERN ((A NOT B C)+)", "PATTERN (^ A $)",
    ],
)  # fmt: skip
def test_what_is_unusual_but_makes_sense(inside: str) -> None:
    assert query(inside)


def test_all_errors_are_reported_at_once() -> None:
    errors = refused(
        "MEASURES Q.line AS a, NO(1) AS b PATTERN (A NOT B) LIMIT 0 PARTIAL MATCHES DEFINE X AS open"
    )
    assert [error.code for error in errors] == [
        "not-a-count",
        "unknown-variable",
        "unknown-function",
        "absence-without-time",
        "unused-define",
    ]


def test_a_pattern_over_an_unknown_stream_is_still_looked_at() -> None:
    with pytest.raises(QueriesRefused) as caught:
        check(text("PATTERN (NOT A B) DEFINE C AS no_such_column", source="nowhere"))
    assert [error.code for error in caught.value.errors] == [
        "unknown-stream",
        "misplaced-not",
        "unused-define",
    ]


@pytest.mark.parametrize("call", ["COUNT(*)", "FIRST(line)", "CLASSIFIER()"])
def test_functions_over_matches_stand_nowhere_else(call: str) -> None:
    with pytest.raises(QueriesRefused) as caught:
        check(f"{WEATHER}CREATE QUERY q AS SELECT {call} AS n FROM weather")
    assert [error.code for error in caught.value.errors] == ["misplaced-aggregate"]


def test_the_longest_time_is_allowed() -> None:
    assert recognition("PATTERN (A) WITHIN 36500 DAYS").within_us == LONGEST_US
