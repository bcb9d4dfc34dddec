"""`headwater test`: exit codes, what is chosen, what is written beside the report. What it prints is in `tests/golden/commands`."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from headwater.apps.cli import main

QUERIES = "CREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, a DOUBLE);\nCREATE QUERY q AS SELECT k, a FROM s WHERE a > 0;\n"
PASSES = "== queries from ../q.hw\n== case warm day\n== rows s\nat,a\n06:00:00,1\n== answers q\na\n1\n"
FAILS = "== case Cold day\n== rows s\nat,a\n06:00:00,1\n== answers q\na\n2\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.hw").write_text(QUERIES)
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    (tmp_path / "tests" / "one.hwtest").write_text(PASSES)
    (tmp_path / "tests" / "deep" / "two.hwtest").write_text(PASSES.replace("../", "../../") + FAILS)
    return tmp_path


def closing(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "code", "last"),
    [
        ("tests", 1, "2 passed, 1 failed"),
        ("tests tests/one.hwtest", 1, "2 passed, 1 failed"),
        ("tests/one.hwtest", 0, "1 passed, 0 failed"),
        ("tests -k COLD", 1, "0 passed, 1 failed"),
        ("tests -k warm", 0, "2 passed, 0 failed"),
        ("tests q.hw", 1, "2 passed, 1 failed, 1 file refused"),
    ],
)
def test_exit_codes(words: str, code: int, last: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", *words.split()]) == code
    assert closing(capsys) == last


@pytest.mark.parametrize("words", ["nothing.hwtest", "tests -k rain"])
def test_nothing_to_test_is_not_a_success(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", *words.split()]) == 2
    assert capsys.readouterr().err.startswith("error[no-tests]: ")


def test_results_as_junit_xml() -> None:
    assert main(["test", "tests", "q.hw", "--junit", "r.xml"]) == 1
    suites = {suite.get("name"): suite for suite in ET.parse("r.xml").getroot()}
    assert list(suites) == ["tests/deep/two.hwtest", "tests/one.hwtest", "q.hw"]
    counts = [(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in suites.values()]
    assert counts == [("2", "1", "0"), ("1", "0", "0"), ("1", "0", "1")]
    failure = suites["tests/deep/two.hwtest"].find("testcase[@name='Cold day']/failure")
    assert failure is not None and failure.get("message") == "answers of 'q': 1 missing, 1 not expected"


def test_a_result_file_that_cannot_be_written_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "tests/one.hwtest", "--junit", "nowhere/r.xml"]) == 1
    assert "error[cannot-write]" in capsys.readouterr().err


def test_queries_that_are_refused_or_cannot_run_fail_the_case(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.hwtest").write_text("== queries\nCREATE QUERY q AS SELECT * FROM s;\n== answers q\n")
    assert main(["test", "bad.hwtest"]) == 1
    printed = capsys.readouterr().out
    assert "the queries are refused" in printed
    assert "bad.hwtest (queries):1:33" in printed


def test_errors_are_expected_with_place_code_and_a_part_of_the_message(
    capsys: pytest.CaptureFixture[str],
) -> None:
    head = "== queries\nCREATE QUERY q AS SELECT * FROM s;\n== errors\n"
    for line, code in (
        ("1:33 unknown-stream: named 's'", 0),
        ("1:33 unknown-stream", 0),
        ("1:3 unknown-stream", 1),
        ("1:33 unknown-stream: named 't'", 1),
        ("1:33 syntax", 1),
    ):
        Path("e.hwtest").write_text(head + line + "\n")
        assert main(["test", "e.hwtest"]) == code, line
    Path("e.hwtest").write_text(f"== queries\n{QUERIES}== errors\n1:1 syntax\n")
    assert main(["test", "e.hwtest"]) == 1
    assert "errors are expected, and the queries have none" in capsys.readouterr().out


def test_points_that_a_query_needs_must_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "== queries\nCREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));\n"
        "CREATE POINTS p (name STRING KEY, x DOUBLE, y DOUBLE);\n"
        "CREATE QUERY q AS SELECT * FROM s NEAREST (1 TO EACH OF p BY (x, y) OVER 1 MINUTES);\n== answers q\n"
    )
    Path("p.hwtest").write_text(text)
    assert main(["test", "p.hwtest"]) == 1
    assert "the queries use the points 'p', and the case 'p' does not give them" in capsys.readouterr().out
