"""Law 9 for patterns: killed while patterns are half matched, started again with the same checkpoint, nothing lost or doubled.

All three families, with partitions spread over the zones; what is told in the end is what a bounded run without Spark tells.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.spark.test_kill import finished, kill_group, launch
from tests.spark.valley import STREAM, write_files, write_jsonl

KILLS = 2
FILES = 6
EACH = 120
SEED = 20260115

PATTERNS = """
CREATE QUERY rising AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station ORDER BY at
  MEASURES FIRST(A.at) AS began, LAST(B.temperature) AS warmest, COUNT(B.*) AS steps, MATCH_NUMBER() AS number
  PATTERN (A B+ C) WITHIN 4 MINUTES
  DEFINE A AS temperature < 5, B AS B.temperature > A.temperature OR B.humidity > 60, C AS C.humidity < AVG(B.humidity)
);
CREATE QUERY unanswered AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station
  MEASURES A.at AS began, B.wind AS blew, SUM(B.wind) AS total
  MATCH EVERY
  PATTERN (A ~> B{1,2} ~> NOT C) WITHIN 2 MINUTES WITH TIMEOUTS
  DEFINE A AS temperature < -5, B AS B.wind > 4 AND B.at > A.at, C AS humidity > 85
);
CREATE QUERY held AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station
  MEASURES A.at AS first_at, B.at AS second_at, C.at AS third_at
  MODE RECENT HOLD 8 EVENTS
  PATTERN (A B+ C) WITHIN 3 MINUTES
  DEFINE A AS temperature > 10, B AS humidity < 50, C AS wind > 5
);
CREATE QUERY each_row AS SELECT * FROM weather MATCH_RECOGNIZE (
  PARTITION BY station ORDER BY at
  MEASURES CLASSIFIER() AS part, RUNNING SUM(x) AS so_far, FINAL COUNT(*) AS rows_in_all, PREV(wind) AS wind_before
  ALL ROWS PER MATCH
  PATTERN (A B* C) WITHIN 5 MINUTES
  DEFINE A AS humidity > 70, B AS wind < 6, C AS temperature < PREV(temperature)
);
CREATE QUERY somewhere AS SELECT * FROM weather MATCH_RECOGNIZE (
  MEASURES A.station AS a, B.station AS b, A.at AS began
  PATTERN (A ~> B ~> C) WITHIN 1 MINUTE
  DEFINE A AS temperature > 20, B AS B.station = A.station AND B.humidity > 60, C AS C.station = B.station
);
"""
NAMES = {"rising", "unanswered", "held", "each_row", "somewhere"}


def test_no_answer_of_half_matched_patterns_is_lost_or_doubled_by_kills(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAM + PATTERNS)
    write_files(tmp_path / "in", files=FILES, each=EACH, seed=29)
    write_quiet_time(tmp_path / "in" / "zz.jsonl")
    expected = local_answers(tmp_path)
    assert {answer["query"] for answer in expected} == NAMES

    choose = random.Random(SEED)
    open_at_kills = 0
    for _ in range(KILLS):
        process = launch(tmp_path, "killed")
        goal = finished(tmp_path, "killed") + choose.randint(1, FILES // (KILLS + 1))
        deadline = time.monotonic() + 90
        while finished(tmp_path, "killed") < goal and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(choose.random() * 0.6)
        was_running = process.poll() is None
        kill_group(process)
        read = finished(tmp_path, "killed")
        open_at_kills += was_running and half_matched(expected, tmp_path / "in", read)
    assert open_at_kills == KILLS, (tmp_path / "killed.log").read_text()

    last = launch(tmp_path, "killed")
    assert last.wait(timeout=240) == 0, (tmp_path / "killed.log").read_text()
    got = answers_in(tmp_path / "killed" / "out")
    assert got == expected


def write_quiet_time(path: Path) -> None:
    """A station that says nothing of interest for longer than any pattern waits: a followed run ends with all decided."""
    began = datetime.fromisoformat("2026-01-15T00:00:00") + timedelta(seconds=FILES * EACH * 2 + 10)
    times = [began + timedelta(seconds=30 * n) for n in range(20)]
    silent = {"station": "quiet", "x": 0.0, "y": 0.0, "temperature": None, "humidity": None, "wind": None}
    write_jsonl(path, ({**silent, "at": f"{at.isoformat()}Z"} for at in times))


def local_answers(folder: Path) -> list[dict[str, Any]]:
    """What a bounded run without Spark tells."""
    (folder / "local").mkdir()
    subprocess.run(
        [
            str(Path(sys.executable).with_name("headwater")), "run", str(folder / "queries.hw"),
            "--engine", "local", "--input", f"weather={folder / 'in'}", "--output", str(folder / "local" / "answers.jsonl"),
        ],
        check=True, capture_output=True, timeout=240,
    )  # fmt: skip
    return answers_in(folder / "local")


def answers_in(folder: Path) -> list[dict[str, Any]]:
    """All answers; rows of one match have one identity, so they are told apart by what they say."""
    lines = [line for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]
    return [json.loads(line) for line in sorted(lines)]


def half_matched(answers: list[dict[str, Any]], folder: Path, files: int) -> bool:
    """Whether matches that are told in the end lie across the end of the first `files` files."""
    read = [
        json.loads(line)["at"]
        for n in range(files)
        for line in (folder / f"part-{n:04d}.jsonl").read_text().splitlines()
    ]
    if not read:
        return False
    border = instant(max(read))
    crossing = {
        answer["query"]
        for answer in answers
        for began in [answer.get("began") or answer.get("first_at")]
        if began and instant(began) < border < instant(answer["event_time"])
    }
    return len(crossing) >= 2


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
