"""Law 9 for NEAREST: killed while windows are full, started again with the same checkpoint, nothing lost or doubled.

Points spread over all zones, a window of time and one of rows; what is told in the end is what a bounded run without Spark tells.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.spark.kills import answers_in, files_for, kills, local_answers, run_and_kill_often, run_to_the_end
from tests.spark.test_kill_patterns import instant
from tests.spark.valley import STREAM, readings, write_files, write_jsonl

KILLS = kills(4)
FILES = files_for(KILLS)
EACH = 30
SEED = 20260116
pytestmark = pytest.mark.soak

INPUTS = {"weather": "in", "marks": "marks.csv"}

QUERIES = """
CREATE POINTS marks (id BIGINT KEY, temperature DOUBLE, humidity DOUBLE);
CREATE QUERY changes AS SELECT * FROM weather NEAREST (
  2 TO EACH OF marks BY (temperature, humidity) OVER 90 SECONDS EMIT CHANGES);
CREATE QUERY enters AS SELECT * FROM weather NEAREST (2 TO HIGHEST wind OVER 12 ROWS PER station);
"""
POINTS = 1_050  # more than one zone answers


def test_no_answer_of_nearest_is_lost_or_doubled_by_a_kill(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAM + QUERIES)
    write_files(tmp_path / "in", files=FILES, each=EACH, seed=31)
    write_quiet_time(tmp_path / "in" / "zz.jsonl")
    write_points(tmp_path / "marks.csv")
    expected = local_answers(tmp_path, INPUTS)
    assert {answer["query"] for answer in expected} == {"changes", "enters"}

    full_at_kills = [
        across(expected, batches) for batches in run_and_kill_often(tmp_path, INPUTS, many=KILLS, seed=SEED)
    ]
    assert sum(full_at_kills) > KILLS // 2, full_at_kills

    run_to_the_end(tmp_path, "killed", INPUTS)
    assert answers_in(tmp_path / "killed" / "out") == expected


def write_points(path: Path) -> None:
    draw = random.Random(SEED)
    lines = [f"{n},{draw.gauss(2, 12):.2f},{draw.uniform(0, 100):.2f}" for n in range(POINTS)]
    path.write_text("\n".join(["id,temperature,humidity", *lines]) + "\n")


def write_quiet_time(path: Path) -> None:
    """Rows that are no objects, for longer than the window: a followed run ends with everything told."""
    began = datetime.fromisoformat("2026-01-15T00:00:00") + timedelta(seconds=FILES * EACH * 2 + 10)
    silent = {"station": "quiet", "x": 0.0, "y": 0.0, "temperature": None, "humidity": None, "wind": None}
    write_jsonl(
        path, ({**silent, "at": f"{(began + timedelta(seconds=30 * n)).isoformat()}Z"} for n in range(8))
    )


def across(answers: list[dict], files: int) -> bool:
    """Whether objects that came before the kill are told of after it."""
    border = max(
        instant(str(row["at"]))
        for n in range(min(files, FILES))
        for row in readings(EACH, 31 + n, first=n * EACH)
    )
    return any(instant(a["object_time"]) < border < instant(a["event_time"]) for a in answers)
