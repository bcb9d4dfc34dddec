"""`headwater why`: how far partial matches got, and what stopped them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.apps.cli import main
from headwater.query.operators.pattern import why as wording

STREAM = "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, t DOUBLE, h DOUBLE, n BIGINT);\n"
FIRE = """PARTITION BY station PATTERN (A B+ C) WITHIN 6 SECONDS
  DEFINE A AS A.t > 40, B AS B.t > PREV(B.t) AND B.h < A.h, C AS C.h < 20"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(*rows: str, pattern: str = FIRE, more: str = "", flags: str = "--query q") -> int:
    """Rows as `station second t [h [n]]`; seconds are those behind 06:00."""
    lines = []
    for row in rows:
        station, second, *values = row.split()
        cells = [value.replace("-", "") for value in values] + [""] * (3 - len(values))
        lines.append(",".join([station, f"2026-01-31T06:00:{int(second):02d}Z", *cells]))
    Path("r.csv").write_text("\n".join(["station,at,t,h,n", *lines]) + "\n")
    text = f"{STREAM}CREATE QUERY q AS SELECT * FROM weather MATCH_RECOGNIZE ({pattern});\n{more}"
    Path("q.hw").write_text(text)
    return main(["why", "q.hw", "--input", "weather=r.csv", *flags.split()])


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert err == ""
    return [line.replace("2026-01-31T06:00:", ":") for line in out.rstrip("\n").split("\n")]


def stopped(capsys: pytest.CaptureFixture[str], number: int = 1) -> list[str]:
    """What ended the waits of an attempt."""
    lines = printed(capsys)
    begin = next(place for place, line in enumerate(lines) if line.startswith(f"{number}. "))
    block = lines[begin : lines.index("", begin) if "" in lines[begin:] else len(lines)]
    first = next(place for place, line in enumerate(block) if line.startswith("   waited"))
    return [line.removeprefix("   ") for line in block[first:]]


@pytest.mark.usefixtures("place")
class TestConditions:
    def test_a_condition_that_failed_is_shown_with_the_values_it_saw(self, capsys) -> None:
        assert ask("m 0 39 40", "m 1 41.2 35", "m 2 42 30", "m 3 43 29", "m 4 39.5 25") == 0
        assert printed(capsys) == [
            "query q, station = 'm': 5 rows from :00Z to :04Z",
            "3 attempts began, 0 matched",
            "the furthest attempts without a match:",
            "",
            "1. began at :01Z: 3 rows bound, 1 more needed",
            "     at                       t     h",
            "     :01Z  A  41.2  35.0",
            "     :02Z  B  42.0  30.0",
            "     :03Z  B  43.0  29.0",
            "     :04Z  -  39.5  25.0",
            "   waited for B as the next row: the row at :04Z does not match",
            "     B.t > PREV(B.t): 39.5 > 43.0 is false",
            "     B.h < A.h: 25.0 < 35.0 is true",
            "   waited for C as the next row: the row at :04Z does not match",
            "     C.h < 20: 25.0 < 20 is false",
            "",
            "2. began at :02Z: 2 rows bound, 1 more needed",
            "     at                       t     h",
            "     :02Z  A  42.0  30.0",
            "     :03Z  B  43.0  29.0",
            "     :04Z  -  39.5  25.0",
            "   waited for B as the next row: the row at :04Z does not match",
            "     B.t > PREV(B.t): 39.5 > 43.0 is false",
            "     B.h < A.h: 25.0 < 30.0 is true",
            "   waited for C as the next row: the row at :04Z does not match",
            "     C.h < 20: 25.0 < 20 is false",
            "",
            "3. began at :03Z: 1 row bound, 2 more needed",
            "     at                       t     h",
            "     :03Z  A  43.0  29.0",
            "     :04Z  -  39.5  25.0",
            "   waited for B as the next row: the row at :04Z does not match",
            "     B.t > PREV(B.t): 39.5 > 43.0 is false",
            "     B.h < A.h: 25.0 < 29.0 is true",
        ]

    def test_aggregates_navigation_and_null(self, capsys) -> None:
        pattern = """PATTERN (A{2} B) DEFINE A AS t > 0,
          B AS SUM(A.n) + COUNT(*) > 9 AND FIRST(A.t) < t AND AVG(A.t) <= 2 AND h IS NOT NULL AND LAST(A.h, 1) = 3
            AND at - FIRST(A.at) <= 1 SECOND AND station IN ('x', FIRST(A.station))"""
        ask("m 0 1 4 2", "m 1 2 5 3", "m 2 1 - 1", pattern=pattern)
        assert stopped(capsys) == [
            "waited for B as the next row: the row at :02Z does not match",
            "  SUM(A.n) + COUNT(*) > 9: 5 + 3 > 9 is false",
            "  FIRST(A.t) < t: 1.0 < 1.0 is false",
            "  AVG(A.t) <= 2: 1.5 <= 2 is true",
            "  h IS NOT NULL: NULL IS NOT NULL is false",
            "  LAST(A.h, 1) = 3: 4.0 = 3 is false",
            "  at - FIRST(A.at) <= 1 SECOND: TIMESTAMP ':02Z' - TIMESTAMP ':00Z' <= 1 SECOND is false",
            "  station IN ('x', FIRST(A.station)): 'm' IN ('x', 'm') is true",
        ]

    def test_a_comparison_with_null_is_unknown(self, capsys) -> None:
        ask("m 0 1", "m 1 -", pattern="PATTERN (A B) DEFINE B AS B.t > A.t + 10")
        assert stopped(capsys)[1] == "  B.t > A.t + 10: NULL > 1.0 + 10 is unknown (NULL)"

    def test_where_nothing_begins_it_says_how_often_conditions_hold(self, capsys) -> None:
        ask("m 0 1 5", "m 1 50 30", "m 2 50 5", pattern="PATTERN (A B) DEFINE A AS t > 40 AND h > 40")
        assert printed(capsys)[1:] == [
            "0 attempts began, 0 matched",
            "no row can begin a match:",
            "  A  t > 40 holds for 2 of 3 rows",
            "  A  h > 40 holds for 0 of 3 rows",
        ]

    def test_long_attempts_are_shown_by_their_ends(self, capsys) -> None:
        ask(
            *(f"m {n} {n + 1}" for n in range(30)),
            "m 40 0",
            pattern="PATTERN (A+ B) DEFINE A AS t > 0, B AS t > 99",
        )
        lines = printed(capsys)
        assert lines[4] == "1. began at :00Z: 30 rows bound, 1 more needed"
        assert lines[12].strip() == "… 19 rows more"
        assert len([line for line in lines[6:20] if "  A  " in line]) == 11


@pytest.mark.usefixtures("place")
class TestOtherEnds:
    def test_a_not_that_a_row_satisfied(self, capsys) -> None:
        pattern = "PATTERN (A ~> NOT N ~> C) DEFINE A AS t > 40, N AS N.t < A.t - 10, C AS h < 20"
        ask("m 0 41 50", "m 1 40 50", "m 2 30 50", "m 3 40 10", pattern=pattern)
        assert stopped(capsys) == [
            "waited for the next C: NOT N, but one came at :02Z",
            "  N.t < A.t - 10: 30.0 < 41.0 - 10 is true",
        ]

    def test_a_not_for_the_next_row(self, capsys) -> None:
        ask("m 0 41", "m 1 50", pattern="PATTERN (A NOT N B) DEFINE A AS t = 41, N AS t > 45")
        assert stopped(capsys) == [
            "waited for B as the next row: NOT N next, but the next row, at :01Z, is one",
            "  t > 45: 50.0 > 45 is true",
        ]

    def test_an_absence_that_is_none(self, capsys) -> None:
        ask(
            "m 0 41",
            "m 1 50",
            pattern="PATTERN (A ~> NOT N) WITHIN 9 SECONDS DEFINE A AS t = 41, N AS t > 45",
        )
        assert stopped(capsys)[0] == "waited for its deadline: NOT N, but one came at :01Z"

    def test_a_time_limit_says_when_it_passed_and_what_was_passed_over(self, capsys) -> None:
        pattern = "PATTERN (A ~> B) WITHIN 6 SECONDS DEFINE A AS t > 40, B AS t < 10 AND h < A.h"
        ask("m 0 41 50", "m 2 30 60", "m 5 20 40", "m 7 5 1", pattern=pattern)
        assert stopped(capsys) == [
            "waited for the next B: WITHIN 6 SECONDS passed at :06Z (the next row is at :07Z)",
            "  2 rows were skipped, the last at :05Z",
            "  t < 10: 20.0 < 10 is false",
            "  h < A.h: 40.0 < 50.0 is true",
        ]

    def test_a_limit_between_rows(self, capsys) -> None:
        pattern = "PATTERN (A B) WITHIN 9 SECONDS WITHIN 2 SECONDS BETWEEN ROWS DEFINE A AS t > 40"
        ask("m 0 41", "m 5 1", pattern=pattern)
        assert stopped(capsys) == [
            "waited for B as the next row: WITHIN 2 SECONDS BETWEEN ROWS passed at :02Z (the next row is at :05Z)"
        ]

    def test_the_end_of_the_input(self, capsys) -> None:
        ask("m 0 41", "m 1 1", pattern="PATTERN (A ~~> B) DEFINE A AS t > 40, B AS t > 5")
        assert stopped(capsys) == [
            "waited for any later B: the input ended",
            "  1 row was skipped, the last at :01Z",
            "  t > 5: 1.0 > 5 is false",
        ]

    def test_until_ends_a_loop_and_what_it_claims(self, capsys) -> None:
        pattern = "MATCH EVERY PATTERN (A B~+! UNTIL (t > 90) ~> C) DEFINE A AS n = 1, B AS h > 0, C AS n = 3"
        ask("m 0 1 0 1", "m 1 1 1 2", "m 2 95 0 2", "m 3 1 5 2", pattern=pattern)
        assert stopped(capsys) == [
            "waited for the next B: UNTIL ended the loop at :02Z",
            "  t > 90: 95.0 > 90 is true",
            "waited for the next C: the input ended",
            "  2 rows were skipped, the last at :03Z",
            "  n = 3: 2 = 3 is false",
        ]

    def test_a_greedy_loop_claims_what_it_could_take(self, capsys) -> None:
        pattern = "MATCH EVERY PATTERN (A B~{1,2}! ~> C) DEFINE A AS n = 1, B AS h > 0, C AS n = 3"
        ask("m 0 1 0 1", "m 1 1 1 2", "m 2 1 1 2", "m 3 1 5 2", pattern=pattern)
        assert stopped(capsys) == [
            "waited for the next C: B! allows no such row after it, but one came at :03Z",
            "  h > 0: 5.0 > 0 is true",
        ]

    def test_until_of_a_group_ends_the_wait_for_its_first_row(self, capsys) -> None:
        pattern = (
            "MATCH EVERY PATTERN (A ~> (B ~> C)~+ UNTIL (t > 90)) DEFINE A AS n = 1, B AS h > 0, C AS n = 3"
        )
        ask("m 0 1 0 1", "m 1 95 0 2", "m 2 1 1 2", pattern=pattern)
        assert stopped(capsys) == [
            "waited for the next B: UNTIL ended the loop at :01Z",
            "  t > 90: 95.0 > 90 is true",
        ]

    def test_the_end_of_the_partition(self, capsys) -> None:
        ask("m 0 41", "m 1 1", pattern="PATTERN (A $) DEFINE A AS t > 40")
        assert stopped(capsys) == ["waited for no row to follow ($): another one came at :01Z"]

    def test_a_limit_of_partial_matches(self, capsys) -> None:
        pattern = "PATTERN (A ~> B) LIMIT 2 PARTIAL MATCHES DEFINE A AS t > 40, B AS t < 0"
        ask("m 0 41", "m 1 1", "m 2 1", pattern=pattern)
        assert stopped(capsys) == ["waited for the next B: LIMIT 2 PARTIAL MATCHES gave it up at :02Z"]

    def test_rows_inside_a_match_began_nothing(self, capsys) -> None:
        ask("m 0 41", "m 1 42", "m 2 41", pattern="PATTERN (A B) DEFINE B AS t > A.t")
        assert printed(capsys)[1:4] == [
            "2 attempts began, 1 matched",
            "1 row inside earlier matches began none: AFTER MATCH SKIP PAST LAST ROW",
            "the furthest attempts without a match:",
        ]

    def test_under_match_every_a_match_ends_other_attempts(self, capsys) -> None:
        pattern = (
            "MATCH EVERY AFTER MATCH SKIP PAST LAST ROW PATTERN (A ~> A ~> B) DEFINE A AS t > 40, B AS t < 10"
        )
        ask("m 0 41", "m 1 42", "m 2 1", "m 3 41", "m 4 1", pattern=pattern)
        lines = printed(capsys)
        assert lines[1] == "3 attempts began, 1 matched"
        assert (
            "1. began at :01Z: ended by the match from :00Z to :02Z (AFTER MATCH SKIP PAST LAST ROW)" in lines
        )

    def test_what_is_not_looked_at_is_reported(self, capsys, monkeypatch) -> None:
        monkeypatch.setattr(wording, "MOST_ATTEMPTS", 3)
        ask(*(f"m {n} 41" for n in range(9)), pattern="PATTERN (A B) DEFINE A AS t > 40, B AS t < 0")
        assert printed(capsys)[1:3] == [
            "3 attempts began, 0 matched",
            "these are not all: at most 3 attempts are examined; use --at TIME for others",
        ]


ROWS = ("a 0 41 30 1", "a 1 39 30 1", "b 0 41 30 2", "b 1 42 20 2", "b 2 39 25 2", "c 0 1 1 3")


@pytest.mark.usefixtures("place")
class TestPartitions:
    def test_the_furthest_is_chosen_where_none_is_named(self, capsys) -> None:
        assert ask(*ROWS) == 0
        assert printed(capsys)[:7] == [
            "3 partitions, the furthest partial matches first:",
            "  station  rows  attempts  matched  furthest that did not match",
            "  'b'         3         2        0  2 rows bound, 1 more needed",
            "  'a'         2         1        0  1 row bound, 2 more needed",
            "  'c'         1         0        0  -",
            "",
            "query q, station = 'b': 3 rows from :00Z to :02Z",
        ]

    @pytest.mark.parametrize("flags", ["--key a", "--partition station=a"])
    def test_one_can_be_named(self, capsys, flags) -> None:
        ask(*ROWS, flags=flags)
        assert printed(capsys)[0] == "query q, station = 'a': 2 rows from :00Z to :01Z"

    def test_by_several_columns(self, capsys) -> None:
        pattern = "PARTITION BY n, station PATTERN (A B) DEFINE A AS t > 40, B AS t < 0"
        ask(*ROWS, "b 3 41 1 1", pattern=pattern, flags="--partition station=b --partition n=2")
        assert printed(capsys)[0] == "query q, n = 2, station = 'b': 3 rows from :00Z to :02Z"
        ask(*ROWS, "b 3 41 1 1", pattern=pattern, flags="--key 1")
        assert printed(capsys)[0] == "2 partitions, the furthest partial matches first:"

    def test_without_partition_by_there_is_one(self, capsys) -> None:
        ask(*ROWS, pattern="PATTERN (A B) DEFINE B AS t > 50")
        assert printed(capsys)[0] == "query q: 6 rows from :00Z to :02Z"


@pytest.mark.usefixtures("place")
class TestAtATime:
    ROWS = ("m 0 41 50", "m 1 42 40", "m 2 30 40", "m 10 41 50", "m 11 30 1")

    def at(self, second: int, *rows: str) -> int:
        return ask(*rows or self.ROWS, flags=f"--at 2026-01-31T06:00:{second:02d}Z")

    def test_attempts_that_were_open(self, capsys) -> None:
        assert self.at(1) == 0
        lines = printed(capsys)
        assert lines[1] == "at :01Z 2 attempts were open:"
        assert [line for line in lines if line[:1].isdigit()] == [
            "1. began at :00Z: 2 rows bound, 1 more needed",
            "2. began at :01Z: 1 row bound, 2 more needed",
        ]

    def test_else_the_last_before(self, capsys) -> None:
        self.at(8)
        lines = printed(capsys)
        assert lines[1] == "at :08Z no attempt was open; the last before it:"
        assert lines[3] == "1. began at :01Z: 1 row bound, 2 more needed"

    def test_inside_a_match(self, capsys) -> None:
        self.at(1, "m 0 41 50", "m 1 42 40", "m 2 30 1")
        assert printed(capsys)[1:] == [
            ":01Z lies inside the match from :00Z to :02Z",
            "at :01Z 1 attempt was open:",
            "",
            "1. began at :00Z: matched",
            "     at                       t     h",
            "     :00Z  A  41.0  50.0",
            "     :01Z  B  42.0  40.0",
            "     :02Z  C  30.0  1.0",
        ]

    def test_before_everything(self, capsys) -> None:
        self.at(0, "m 5 41")
        assert printed(capsys)[1:] == ["no attempt began at or before :00Z"]


@pytest.mark.usefixtures("place")
class TestSources:
    def test_where_is_applied_and_bad_rows_are_mentioned(self, capsys) -> None:
        ask("m 0 41 1", "m 1 1 0", "m 2 41 1", "m 3 warm 1")
        capsys.readouterr()
        text = Path("q.hw").read_text().replace("FROM weather", "FROM weather WHERE h > 0")
        Path("q.hw").write_text(text)
        assert main(["why", "q.hw", "--input", "weather=r.csv"]) == 0
        out, err = capsys.readouterr()
        assert out.startswith("query q, station = 'm': 2 rows from")
        assert err == "1 bad row left out: 'headwater run --bad-output FILE' lists them\n"

    def test_a_pattern_over_the_answers_of_a_query(self, capsys) -> None:
        more = """CREATE QUERY hot AS SELECT station, t FROM weather WHERE t > 40;
        CREATE QUERY pair AS SELECT * FROM hot MATCH_RECOGNIZE (PATTERN (A B) DEFINE B AS B.t > A.t + 5);"""
        assert ask("m 0 41", "m 1 1", "m 2 44", more=more, flags="--query pair") == 0
        lines = printed(capsys)
        assert lines[0] == "query pair: 2 rows from :00Z to :02Z"
        assert "     B.t > A.t + 5: 44.0 > 41.0 + 5 is false" in lines


@pytest.mark.usefixtures("place")
class TestErrors:
    @pytest.mark.parametrize(
        ("flags", "code", "message"),
        [
            ("--query Q", 2, "error[unknown-query]: there is no query named 'Q'\n  known patterns: q\n  did you mean 'q'?\n"),
            ("--query hot", 2, "error[usage]: 'hot' has no MATCH_RECOGNIZE, so there are no partial matches to explain\n"),
            ("--query node", 2, "error[usage]: 'node' is a pattern of a sensor node (MODE)"),
            ("--query q --key maedow", 2, "error[usage]: no row has 'maedow' in column 'station'\n  known values: meadow\n  did you mean 'meadow'?\n"),
            ("--query q --partition sation=m", 2, "error[usage]: --partition: 'q' is not partitioned by 'sation'\n"),
            ("--query q --partition m", 2, "error[usage]: --partition takes COLUMN=VALUE, not 'm'\n"),
            ("--query all --key m", 2, "error[usage]: 'all' has no PARTITION BY: leave --key and --partition out\n"),
            ("--query none", 1, "error[no-input]: WHERE of 'none' holds for none of the 1 rows of 'weather'\n"),
            ("--query q --at noon", 2, "error[usage]: --at takes a time such as 2026-01-31T06:00:05Z, not 'noon'\n"),
            ("--debug", 2, "error[usage]: --query is required: there are several patterns\n"),
        ],
    )  # fmt: skip
    def test_invalid_command_lines(self, capsys, flags: str, code: int, message: str) -> None:
        more = """CREATE QUERY hot AS SELECT * FROM weather WHERE t > 40;
        CREATE QUERY all AS SELECT * FROM weather MATCH_RECOGNIZE (PATTERN (A B));
        CREATE QUERY none AS SELECT * FROM weather WHERE t > 99 MATCH_RECOGNIZE (PATTERN (A B));
        CREATE QUERY node AS SELECT * FROM weather MATCH_RECOGNIZE (MODE FIRST PATTERN (A B) WITHIN 1 SECOND);"""
        if "all" not in flags and "none" not in flags and "node" not in flags and flags != "--debug":
            more = more.split("\n")[0]
        assert ask("meadow 0 41", more=more, flags=flags) == code
        assert message in capsys.readouterr().err

    def test_an_input_without_rows(self, capsys) -> None:
        assert ask() == 1
        assert "error[no-input]: there is no row of 'weather' in the input" in capsys.readouterr().err


def test_explain_draws_automata_as_dot(place, capsys) -> None:
    ask("m 0 41")
    capsys.readouterr()
    assert main(["explain", "q.hw", "--dot"]) == 0
    assert capsys.readouterr().out.startswith('digraph "q" {\n')
    Path("plain.hw").write_text(STREAM + "CREATE QUERY hot AS SELECT * FROM weather;")
    assert main(["explain", "plain.hw", "--dot"]) == 2
    assert "no query of 'plain.hw' has a MATCH_RECOGNIZE to draw" in capsys.readouterr().err
