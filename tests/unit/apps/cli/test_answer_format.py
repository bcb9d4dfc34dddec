"""Formats of answers on the command line."""

from __future__ import annotations

import io
import json
import os
import pty
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from headwater.apps.cli import main
from tests.unit.apps.cli.terminals import seen_on_a_terminal

QUERIES = """
CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, wind DOUBLE);
CREATE QUERY cold AS SELECT station, temperature, wind FROM weather WHERE temperature < 0;
CREATE QUERY hot AS SELECT station FROM weather WHERE temperature > 30;
"""
READINGS = "station,at,temperature,wind\na,2026-01-31T06:00:00Z,-1.5,2\nb,2026-01-31T06:00:01Z,31,3\nc,2026-01-31T06:00:02Z,-3,1\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alerts.hw").write_text(QUERIES)
    (tmp_path / "readings.csv").write_text(READINGS)
    return tmp_path


WORDS = ("run", "alerts.hw", "--input", "weather=readings.csv", "--engine", "local")


def test_a_terminal_gets_tables_as_wide_as_it_is(place):
    code, seen = seen_on_a_terminal(*WORDS, "--quiet", folder=place, columns=48)
    assert code == 0
    assert seen == (
        "\x1b[1mcold\x1b[0m  (no room for wind; --format json shows all columns)\n"
        "event_time            station   temperature\n"
        "────────────────────  ────────  ───────────\n"
        "2026-01-31T06:00:00Z  a                -1.5\n"
        "2026-01-31T06:00:02Z  c                -3.0\n"
        "\n"
        "\x1b[1mhot\x1b[0m\n"
        "event_time            station\n"
        "────────────────────  ────────\n"
        "2026-01-31T06:00:01Z  b\n"
    )


def test_a_terminal_gets_json_on_request_and_no_parquet_at_all(monkeypatch, capsys):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, os.fdopen(ours, "rb", buffering=0) as screen:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main([*WORDS, "--quiet", "--format", "json"]) == 0
        assert [json.loads(line)["query"] for line in screen.read(4096).splitlines()] == [
            "cold",
            "hot",
            "cold",
        ]
        assert main([*WORDS, "--format", "parquet"]) == 2
    assert "error[usage]: --format parquet cannot be written to a terminal\n" in capsys.readouterr().err


def test_csv_and_parquet_go_to_standard_output(capfdbinary):
    assert main([*WORDS, "--format", "csv"]) == 0
    csv = capfdbinary.readouterr().out.decode().splitlines()
    assert csv[0] == "query,event_time,match_id,station,temperature,wind"
    assert [line.split(",")[0] for line in csv[1:]] == ["cold", "hot", "cold"]
    assert main([*WORDS, "--format", "parquet"]) == 0
    parquet = capfdbinary.readouterr().out
    assert pq.read_table(io.BytesIO(parquet))["query"].to_pylist() == ["cold", "hot", "cold"]


def test_an_ending_that_says_another_format_is_refused(capsys):
    assert main([*WORDS, "--output", "answers.csv", "--format", "json"]) == 1
    assert (
        "error[unknown-format]: 'answers.csv' has the ending of another format than json"
        in capsys.readouterr().err
    )
    assert not Path("answers.csv").exists()
    assert main([*WORDS, "--output", "answers.jsonl", "--format", "table"]) == 1
    assert "of another format than table" in capsys.readouterr().err


def test_a_format_writes_files_of_any_other_name(capsys):
    assert main([*WORDS, "--output", "answers.txt", "--format", "table", "--match-ids"]) == 0
    heading = Path("answers.txt").read_text().splitlines()[1]
    assert heading.split() == ["event_time", "match_id", "station", "temperature", "wind"]
    assert main([*WORDS, "--output", "answers", "--format", "parquet"]) == 0
    assert pq.read_table("answers").num_rows == 3
    assert capsys.readouterr().out == ""


def test_what_a_streaming_run_cannot_write_is_refused(capsys):
    follow = [*WORDS[:4], "--follow", "--checkpoint", "state"]
    assert main([*follow, "--format", "parquet"]) == 2
    assert "--format parquet is for a bounded run" in capsys.readouterr().err
    assert main([*follow, "--format", "csv", "--output", "answers"]) == 2
    assert "with --follow an output folder has JSON lines, not csv" in capsys.readouterr().err
    assert not Path("state").exists()
