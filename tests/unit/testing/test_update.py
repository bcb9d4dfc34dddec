"""`--update` writes what came out into the tables, and changes nothing else of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.apps.cli import main

QUERIES = """\
Words.

== queries
CREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, a DOUBLE) LATE 1 SECONDS;
CREATE QUERY q AS SELECT k, a FROM s WHERE a > 0;

"""
ROWS = "== rows s\nk,at,a\nx,06:00:00,1\ny,06:00:01,2\nz,06:00:02,0\n\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "x.hwtest"


def updated(file: Path, before: str) -> str:
    """The file after an update, which passes then and is not changed again."""
    file.write_bytes(before.encode())
    assert main(["test", "x.hwtest", "--update"]) == 0
    after = file.read_bytes().decode()
    assert main(["test", "x.hwtest", "--update"]) == 0
    assert file.read_bytes().decode() == after
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k, a\nx, ~1\ny, 3\n", "k, a\nx, ~1\ny, 2\n"),
        ("k,a\ny,2\nw,9\n", "k,a\ny,2\nx,1\n"),
        ("k, a\n…, 3\ny, 2\n", "k, a\n…, 1\ny, 2\n"),
        ("", "event_time, k, a\n06:00:00,   x, 1\n06:00:01,   y, 2\n"),
        ("k,   a\nx,   1\n\n", "k,   a\nx,   1\ny, 2\n\n"),
        ("k\nx\ny\nv\n", "k\nx\ny\n"),
        ("k, event_time\nx, 06:00:05\ny, …\n", "k, event_time\nx, 06:00:00\ny, …\n"),
    ],
)
def test_only_lines_that_differ_change(file: Path, before: str, after: str) -> None:
    head, tail = QUERIES + ROWS + "== answers q\n", "\n== bad\n"
    assert updated(file, head + before + tail) == head + after + tail


def test_lines_in_the_wrong_order_are_put_in_order(file: Path) -> None:
    head = QUERIES + ROWS + "== answers q in order\n"
    assert updated(file, head + "k,a\ny,2\nx,…").rstrip("\n") == head + "k,a\nx,…\ny,2"


def test_line_ends_stay_what_they_are(file: Path) -> None:
    text = (QUERIES + ROWS + "== answers q\nk,a\nx,1").replace("\n", "\r\n")
    assert updated(file, text) == text + "\r\ny,2\r\n"


LATE = (
    "== rows s\nk,at,a\n"
    + "".join(f"x,06:00:0{n},0\n" for n in range(6))
    + "== rows s\nk,at,a\ny,06:00:01,2\n"
)


def test_a_table_of_two_runs_that_differ_is_left_alone(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = QUERIES + LATE + "== answers q\nk,a\ny,2\n== late s\nk,a\ny,2\n"
    file.write_text(text)
    assert main(["test", "x.hwtest", "--update"]) == 1
    assert file.read_text() == text
    printed = capsys.readouterr().out
    assert "when followed, answers of 'q': 1 missing" in printed
    assert "not updated: x.hwtest:3: x: this needs a change by hand" in printed
    assert printed.endswith("0 passed, 1 failed\n")


def test_late_rows_and_each_run_are_written(file: Path) -> None:
    head = QUERIES + LATE + "== answers q when followed\n"
    text = head + "k,a\ny,2\n== answers q when bounded\nk,a\n== late s\n"
    after = head + "k,a\n== answers q when bounded\nk,a\ny,2\n== late s\nk, at,       a\ny, 06:00:01, 2\n"
    assert updated(file, text) == after
