"""`hw.testing`: tests of queries in Python."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import headwater as hw

QUERIES = "CREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, a DOUBLE);\nCREATE QUERY q AS SELECT k, a FROM s WHERE a > 0;\n"
ROWS = "k,at,a\nx,06:00:00,1\n"


def test_a_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "x.hwtest"
    path.write_text(
        f"== queries\n{QUERIES}== rows s\n{ROWS}== case one\n== answers q\nk,a\nx,1\n== case two\n== answers q\nk\n"
    )
    hw.testing.check(path, only="ONE")
    with pytest.raises(AssertionError, match="1 not expected"):
        hw.testing.check(path)
    with pytest.raises(AssertionError, match="no case with 'three'"):
        hw.testing.check(path, only="three")
    with pytest.raises(hw.HeadwaterError, match="cannot read"):
        hw.testing.check(tmp_path / "y.hwtest")


def test_answers_of_texts_paths_tables_and_several_files(tmp_path: Path) -> None:
    path = tmp_path / "my readings.csv"
    path.write_text("k,at,a\nx,2026-01-01T06:00:00Z,1\n")
    table = pd.DataFrame({"k": ["x"], "at": pd.to_datetime(["2026-01-01T06:00:00Z"]), "a": [1.0]})
    for given in (ROWS, path, str(path), table, [ROWS, "k,at,a\nw,06:00:01,0\n"]):
        hw.testing.assert_answers(QUERIES, {"s": given}, {"q": "event_time, k, a\n06:00:00, x, 1"})
    hw.testing.assert_answers(QUERIES, {}, {"q": ""})


def test_a_difference_is_an_assertion_error() -> None:
    with pytest.raises(AssertionError) as failed:
        hw.testing.assert_answers(QUERIES, {"s": ROWS}, {"q": "k,a\nx,2"})
    assert str(failed.value).endswith("  k, a\n  - x, 2\n  + x, 1\n       ^")


def test_points_are_found_in_the_text() -> None:
    queries = (
        "CREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));\n"
        "CREATE POINTS p (name STRING KEY, x DOUBLE, y DOUBLE);\n"
        "CREATE QUERY q AS SELECT * FROM s NEAREST (1 TO EACH OF p BY (x, y) OVER 1 MINUTES);\n"
    )
    rows = "k,at,x,y\na,06:00:00,1,1\n"
    hw.testing.assert_answers(queries, {"s": rows, "p": "name,x,y\nhome,0,0\n"}, {"q": "key\na\n…"})
