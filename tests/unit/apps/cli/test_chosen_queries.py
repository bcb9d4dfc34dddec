"""--query and --engine: which queries run, and on what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.apps.cli import engine_option, main
from headwater.hosts.spark.checkpoint import hold
from headwater.query.planning.plan import compile_text

QUERIES = """
CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);
CREATE STREAM traffic (car STRING KEY, at TIMESTAMP TIME);
CREATE QUERY cold AS SELECT station, temperature FROM weather WHERE temperature < 0;
CREATE QUERY colder AS SELECT station, temperature FROM cold WHERE temperature < -10;
CREATE QUERY "a, b" AS SELECT station FROM weather WHERE temperature > 30;
CREATE QUERY cars AS SELECT car FROM traffic;
"""
READINGS = "station,at,temperature\na,2026-01-31T06:00:00Z,-1.5\nb,2026-01-31T06:00:01Z,-13\nc,2026-01-31T06:00:02Z,31\n"
INPUT = ("--input", "weather=readings.csv")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alerts.hw").write_text(QUERIES)
    (tmp_path / "readings.csv").write_text(READINGS)
    return tmp_path


def run(*words: str) -> int:
    return main(["run", "alerts.hw", *INPUT, *words])


@pytest.mark.parametrize(
    ("words", "answered"),
    [
        (["--query", "cold"], ["cold", "cold"]),
        (["--query", "colder"], ["colder"]),
        (["--query", "cold, colder"], ["cold", "cold", "colder"]),
        (["--query", "colder", "--query", "a, b"], ["colder", "a, b"]),
    ],
)
def test_the_chosen_queries_are_answered(capfd, words, answered):
    assert run("--engine", "local", *words) == 0
    out = capfd.readouterr().out
    assert sorted(json.loads(line)["query"] for line in out.splitlines()) == sorted(answered)


def test_inputs_that_the_chosen_queries_do_not_need_are_not_read(capfd):
    assert run("--engine", "local") == 2
    assert "no --input for stream 'traffic'" in capfd.readouterr().err
    assert run("--engine", "local", "--input", "traffic=nowhere.csv", "--query", "cold") == 0
    assert "read      3 rows in 1 file" in capfd.readouterr().err
    assert run("--engine", "local", "--query", ",") == 2
    assert "--query names no query" in capfd.readouterr().err


def test_a_checkpoint_with_other_queries_of_the_file_is_refused(capfd):
    with hold(Path("state"), compile_text(QUERIES, zones=2)):
        pass
    before = Path("state/headwater/run.json").read_bytes()
    assert run("--follow", "--checkpoint", "state", "--query", "cold") == 1
    assert capfd.readouterr().err == (
        "error[checkpoint-other-queries]: the checkpoint 'state' also holds 'colder', 'a, b', 'cars', which --query leaves out: "
        "the state would be lost\n"
        "  leave --query out, or use another --checkpoint for these queries\n"
        "  to drop a query and its state, delete it from the file\n"
    )
    assert Path("state/headwater/run.json").read_bytes() == before


def test_without_spark_a_bounded_run_is_local_and_says_so(capfd, monkeypatch):
    monkeypatch.setattr(engine_option, "is_spark_installed", lambda: False)
    assert run("--query", "cold") == 0
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 2
    assert err.splitlines()[0] == "engine    local: the package pyspark is not installed"
    assert run("--query", "cold", "--engine", "local") == 0
    assert "engine" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--follow", "--checkpoint", "state"],
            "--follow runs on Spark, but the package pyspark is not installed",
        ),
        (["--engine", "spark"], "--engine spark needs Spark, but the package pyspark is not installed"),
    ],
)
def test_without_spark_what_needs_it_is_refused(capfd, monkeypatch, words, message):
    monkeypatch.setattr(engine_option, "is_spark_installed", lambda: False)
    assert run("--query", "cold", *words) == 1
    assert capfd.readouterr().err.splitlines()[0] == f"error[spark-not-installed]: {message}"
