"""Law 9 for patterns: killed while patterns are half matched, started again with the same checkpoint, nothing lost or doubled.

All three families, with partitions spread over the zones; what is told in the end is what a bounded run without Spark tells.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.spark.kills import answers_in, files_for, kills, local_answers, run_and_kill_often, run_to_the_end
from tests.spark.valley import STREAM, write_files, write_jsonl

KILLS = kills(4)
FILES = files_for(KILLS)
EACH = 60
SEED = 20260115
pytestmark = pytest.mark.soak

INPUTS = {"weather": "in"}

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
    expected = local_answers(tmp_path, INPUTS)
    assert {answer["query"] for answer in expected} == NAMES

    open_at_kills = [
        half_matched(expected, tmp_path / "in", batches)
        for batches in run_and_kill_often(tmp_path, INPUTS, many=KILLS, seed=SEED)
    ]
    assert sum(open_at_kills) > KILLS // 2, (tmp_path / "killed.log").read_text()

    run_to_the_end(tmp_path, "killed", INPUTS)
    got = answers_in(tmp_path / "killed" / "out")
    assert got == expected


def write_quiet_time(path: Path) -> None:
    """A station that says nothing of interest for longer than any pattern waits: a followed run ends with all decided."""
    began = datetime.fromisoformat("2026-01-15T00:00:00") + timedelta(seconds=FILES * EACH * 2 + 10)
    times = [began + timedelta(seconds=30 * n) for n in range(20)]
    silent = {"station": "quiet", "x": 0.0, "y": 0.0, "temperature": None, "humidity": None, "wind": None}
    write_jsonl(path, ({**silent, "at": f"{at.isoformat()}Z"} for at in times))


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
