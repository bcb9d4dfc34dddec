"""Test files: what a file says is what its cases hold, and every mistake is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.model import QueriesRefused
from headwater.testing.cases import CaseFile, ExpectedError, RunKind
from headwater.testing.reader import read_tests

QUERIES = "== queries\nCREATE STREAM s (at TIMESTAMP TIME, a DOUBLE);\nCREATE QUERY q AS SELECT * FROM s;\n"


def read(text: str, folder: Path = Path()) -> CaseFile:
    return read_tests(text, folder / "x.hwtest", "x.hwtest")


def mistakes(text: str, folder: Path = Path()) -> list[tuple[int, int, str]]:
    """Line, column and code of each."""
    with pytest.raises(QueriesRefused) as refused:
        read(text, folder)
    return [(e.span.line, e.span.column, e.code) for e in refused.value.errors if e.span]


def test_a_file_without_cases_is_one_case_named_as_the_file() -> None:
    (case,) = read("About.\n" + QUERIES + "== answers q\n").cases
    assert (case.name, case.line, case.queries.file) == ("x", 2, "x.hwtest (queries)")
    assert case.expected[RunKind.BOUNDED].answers["q"].lines == ()
    assert case.runs == (RunKind.BOUNDED,)


def test_cases_share_what_is_before_the_first_of_them() -> None:
    text = (
        QUERIES
        + "== rows s\nat,a\n06:00:00,1\n== case one\nWords.\n== answers q\n== case two\n== rows s\nat,a\n== answers q\n"
    )
    one, two = read(text).cases
    assert (one.name, one.line, two.name) == ("one", 7, "two")
    assert [file.name for file in one.files] == ["s-1.csv"]
    assert [file.name for file in two.files] == ["s-1.csv", "s-2.csv"]
    assert one.files[0].text == "at,a\n2026-01-01T06:00:00Z,1\n"


def test_queries_of_a_case_replace_those_that_are_shared() -> None:
    text = QUERIES + "== case one\n== answers q\n== case two\n== queries\nother\n== errors\n1:1 syntax\n"
    one, two = read(text).cases
    assert (one.queries.text.count("CREATE"), two.queries.text) == (2, "other\n")
    assert two.errors == (ExpectedError((1, 1), "syntax", ""),)


def test_queries_and_rows_of_files_are_relative_to_the_test_file(tmp_path: Path) -> None:
    (tmp_path / "q.hw").write_text("CREATE …")
    (tmp_path / "week.csv").write_text("at,a\n")
    (case,) = read("== queries from q.hw\n== rows s from week.csv\n== answers q\n", tmp_path).cases
    assert (case.queries.text, case.queries.file) == ("CREATE …", "q.hw")
    assert (case.files[0].path, case.files[0].name) == (tmp_path / "week.csv", "week.csv")


def test_a_case_is_followed_too_if_rows_can_be_late_or_the_runs_differ() -> None:
    both = (RunKind.BOUNDED, RunKind.FOLLOWED)
    rows = "== rows s\nat,a\n"
    for more in (rows + rows + "== answers q\n", "== answers q when followed\n", "== late s\n"):
        (case,) = read(QUERIES + more).cases
        assert case.runs == both
    (case,) = read(QUERIES + "== rows s from one\nat,a\n== rows s from two\nat,a\n== answers q\n").cases
    assert case.runs == (RunKind.BOUNDED,)


def test_a_table_has_cells_with_full_times_and_the_lines_they_are_in() -> None:
    text = QUERIES + '== answers q in order\n\nevent_time, b\n06:00:00.5, "x, y"\n'
    (case,) = read(text).cases
    table = case.expected[RunKind.FOLLOWED].answers["q"]
    assert table.header == ("event_time", "b")
    assert table.lines == (("2026-01-01T06:00:00.500000Z", "x, y"),)
    assert (table.section_line, table.header_line, table.numbers, table.in_order) == (4, 6, (7,), True)


def test_a_line_of_dots_allows_more() -> None:
    for dots in ("…", "..."):
        (case,) = read(QUERIES + f"== answers q\na\n1\n{dots}\n").cases
        table = case.expected[RunKind.BOUNDED].answers["q"]
        assert (table.lines, table.more) == ((("1",),), True)


def test_windows_line_ends_are_line_ends(tmp_path: Path) -> None:
    from headwater.testing.reader import read_test_file

    path = tmp_path / "x.hwtest"
    path.write_bytes((QUERIES + "== answers q\na\n1\n").replace("\n", "\r\n").encode("utf-8-sig"))
    assert read_test_file(path).cases[0].expected[RunKind.BOUNDED].answers["q"].lines == (("1",),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [(1, 1, "incomplete-case"), (1, 1, "incomplete-case")]),
        ("== case a\n== answers q\n", [(1, 1, "incomplete-case")]),
        (QUERIES + "== case a\n", [(4, 1, "incomplete-case")]),
        (QUERIES + "== case\n== answers q\n", [(4, 1, "wrong-section")]),
        (QUERIES + "== late s\n== case a\n== answers q\n", [(4, 1, "wrong-section")]),
        (QUERIES + QUERIES + "== answers q\n", [(4, 1, "wrong-section")]),
        ("== queries of q.hw\n== answers q\n", [(1, 1, "wrong-section")]),
        ("== queries from q.hw\n== answers q\n", [(1, 17, "missing-queries")]),
        (QUERIES + "== rows s from w.csv\n== answers q\n", [(4, 16, "no-files")]),
        (QUERIES + "== rows s as csv in klingon\n== answers q\n", [(4, 21, "wrong-section")]),
        (QUERIES + "== rows s as csv in hex\n== answers q\n", [(4, 21, "wrong-section")]),
        (QUERIES + "== rows s as csv in ascii\nat,a\n1,…\n== answers q\n", [(4, 21, "wrong-section")]),
        (QUERIES + "== answers q\n== answers q\n", [(5, 1, "wrong-section")]),
        (QUERIES + "== answers q when ready\n", [(4, 1, "wrong-section")]),
        (QUERIES + "== late s when followed\n", [(4, 1, "wrong-section")]),
        (QUERIES + "== answers q\na,a\n1,2\n", [(5, 1, "wrong-table")]),
        (QUERIES + "== answers q\na,b\n1\n2\n", [(6, 1, "wrong-table"), (7, 1, "wrong-table")]),
        (QUERIES + "== answers q in order\na\n…\n", [(6, 1, "wrong-table")]),
        (QUERIES + "== bad\nlnie\n2\n", [(5, 1, "unknown-column")]),
        (QUERIES + "== errors\n", [(4, 1, "wrong-table")]),
        (QUERIES + "== errors\n1:1 syntax\n== rows s\nat\n", [(1, 1, "wrong-section")]),
        (QUERIES + "== answer q\n", [(4, 1, "wrong-section")]),
    ],
)
def test_every_mistake_has_its_place(text: str, found: list[tuple[int, int, str]], tmp_path: Path) -> None:
    assert mistakes(text, tmp_path) == found


def test_queries_that_are_not_text_are_a_mistake_of_the_section(tmp_path: Path) -> None:
    (tmp_path / "q.hw").write_bytes(b"CREATE \xff")
    assert mistakes("== queries from q.hw\n== answers q\n", tmp_path) == [(1, 17, "queries-not-text")]
