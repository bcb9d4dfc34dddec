"""A checkpoint goes on with its state, however many cores there are at the next start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import headwater as hw
from headwater.hosts.api import spark_inputs
from headwater.hosts.spark.checkpoint import hold, tasks_of, zones_of
from headwater.hosts.spark.file_runs import run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import table_of
from headwater.query.planning.plan import compile_text
from tests.spark.valley import read_answers

TEXT = """CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, v DOUBLE);
CREATE QUERY q AS SELECT * FROM s MATCH_RECOGNIZE (
  PARTITION BY id ORDER BY at MEASURES A.v AS high, B.v AS low PATTERN (A B) WITHIN 1 HOUR
  DEFINE A AS A.v > 80, B AS B.v < 20);"""
KEYS = 20


def first_rows(folder: Path) -> Path:
    """Every key begins a match."""
    folder.mkdir(parents=True)
    _write(folder / "1.jsonl", [(f"k{n}", f"00:00:{n:02d}", 90) for n in range(KEYS)])
    return folder


def second_rows(folder: Path) -> None:
    """Every key ends its match, and time goes on."""
    rows = [(f"k{n}", f"00:01:{n:02d}", 10) for n in range(KEYS)]
    _write(folder / "2.jsonl", [*rows, ("z", "02:00:00", 50), ("z", "02:00:01", 50), ("z", "02:00:02", 50)])


def _write(path: Path, rows: list[tuple[str, str, float]]) -> None:
    lines = [{"id": key, "at": f"2026-01-15T{at}Z", "v": value} for key, at, value in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))


@pytest.mark.parametrize("made", [1, 2, 3, 4])
def test_a_checkpoint_made_on_other_cores_goes_on_with_its_state(spark, tmp_path, made) -> None:
    plan = compile_text(TEXT, zones=4)
    folder = first_rows(tmp_path / "in")
    bodies: list[str] = []

    def start(**how) -> None:
        with hold(tmp_path / "c", plan, cores=how.pop("cores")) as held:
            assert held.tasks == made
            query = run_streaming(
                spark, plan, {"s": [str(folder)]}, each, checkpoint=held, options=StreamingOptions(**how)
            )
            query.awaitTermination()

    def each(zones, _) -> None:
        bodies.extend(body for body in table_of(zones)["body"].to_pylist() if body)

    start(cores=made, once=True)
    second_rows(folder)
    start(cores=5 - made, ends=True)
    assert sorted(json.loads(body)["id"] for body in bodies) == sorted(f"k{n}" for n in range(KEYS))


def test_a_run_from_python_takes_zones_and_tasks_from_its_checkpoint(spark, tmp_path) -> None:
    folder = first_rows(tmp_path / "in")

    def start(**how) -> None:
        stream = spark.readStream.schema("id string, at timestamp, v double").json(str(folder))
        query = hw.run(TEXT, {"s": stream}, **how).write(
            tmp_path / "out", checkpoint=tmp_path / "c", trigger={"availableNow": True}
        )
        query.awaitTermination()

    hold(tmp_path / "c", compile_text(TEXT, zones=7), cores=3).release()
    start()
    second_rows(folder)
    start()
    assert (zones_of(tmp_path / "c", 0), tasks_of(tmp_path / "c", 0)) == (7, 3)
    assert len(read_answers(tmp_path / "out")) == KEYS


def test_a_core_that_comes_while_a_run_starts_changes_nothing(spark, tmp_path, monkeypatch) -> None:
    folder = first_rows(tmp_path / "in")
    monkeypatch.setattr(spark_inputs, "tasks_for", lambda plan, session: 1)  # the session has two by now
    stream = spark.readStream.schema("id string, at timestamp, v double").json(str(folder))
    query = hw.run(TEXT, {"s": stream}, zones=4).write(
        tmp_path / "out", checkpoint=tmp_path / "c", trigger={"availableNow": True}
    )
    query.awaitTermination()
    assert tasks_of(tmp_path / "c", 0) == 1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_a_command_on_one_core_goes_on_where_two_stopped(tmp_path) -> None:
    folder = first_rows(tmp_path / "in")
    (tmp_path / "q.hw").write_text(TEXT)
    command = [
        Path(sys.executable).with_name("headwater"), "run", tmp_path / "q.hw", "--input", f"s={folder}",
        "--follow", "--once", "--checkpoint", tmp_path / "c", "--output", tmp_path / "out", "--quiet",
    ]  # fmt: skip
    two = sorted(os.sched_getaffinity(0))[:2]
    for cores in (two, two[:1]):
        subprocess.run(["taskset", "-c", ",".join(map(str, cores)), *command], check=True, timeout=240)
        second_rows(folder)
    assert len(read_answers(tmp_path / "out")) == KEYS
