"""Law 9 for FOLLOW: killed while interests are alive, started again with the same checkpoint, nothing lost or doubled.

Patterns, groups, pairs and plain events around objects that live in all zones; what is told in the end is what a bounded run without Spark
tells.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.kills import answers_in, files_for, kills, local_answers, run_and_kill_often, run_to_the_end
from tests.spark.movers import STREAMS, arriving, drive, quiet_time, write_parts

KILLS = kills(4)
FILES = files_for(KILLS)
SEED = 20260118
pytestmark = pytest.mark.soak

INPUTS = {"cars": "in/cars", "buses": "in/buses"}

NEAR = "buses RADIUS 300 METERS LAST 30 SECONDS UPDATE MOVED 60 METERS FORGET 20 SECONDS"
STEPS = """MATCH_RECOGNIZE (
  PARTITION BY id
  MEASURES A.at AS began
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B) WITHIN 10 SECONDS
  DEFINE B AS B.x > A.x
)"""
QUERIES = f"""
CREATE QUERY once AS SELECT * FROM cars FOLLOW ({NEAR} DELIVER ONCE) {STEPS};
CREATE QUERY each AS SELECT * FROM cars FOLLOW ({NEAR} DELIVER EACH) {STEPS};
CREATE QUERY runs AS SELECT * FROM cars FOLLOW ({NEAR}) MATCH_RECOGNIZE (
  PARTITION BY id
  MEASURES FIRST(A.at) AS began, COUNT(A.*) AS samples
  PATTERN (A+) WITHIN 20 SECONDS
  DEFINE A AS A.x >= LAST(A.x, 1) OR LAST(A.x, 1) IS NULL
);
CREATE QUERY close AS SELECT * FROM cars FOLLOW (buses RADIUS 200 METERS UPDATE EVERY 9 SECONDS FORGET 20 SECONDS);
CREATE QUERY crowd AS SELECT * FROM close CORRELATE (3 OF x >= 0 WITHIN 4 SECONDS, 200 METERS);
CREATE QUERY pairs AS SELECT * FROM close FENCE (close RADIUS 100 METERS FORGET 6 SECONDS);
CREATE QUERY fits AS SELECT * FROM cars FOLLOW ({NEAR} EMIT INTERESTS);
"""

Answers = list[dict[str, Any]]


def test_no_answer_of_follow_is_lost_or_doubled_by_kills(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAMS + QUERIES)
    for seed, (name, objects) in enumerate({"cars": 40, "buses": 12}.items(), 51):
        write_parts(tmp_path / "in" / name, [*arriving(drive(objects, seed), FILES, seed), quiet_time()])
    expected = local_answers(tmp_path, INPUTS)
    assert {answer["query"] for answer in expected} == {
        "once",
        "each",
        "runs",
        "close",
        "crowd",
        "pairs",
        "fits",
    }

    amid = 0
    for _ in run_and_kill_often(tmp_path, INPUTS, many=KILLS, seed=SEED):
        answers = answers_in(tmp_path / "killed" / "out")
        lives = alive(answers, expected) >= {"once", "each", "close", "pairs"}
        amid += lives and delivered_before_and_after(answers, expected)
    assert amid > KILLS // 2, f"only {amid} kills amid interests"

    run_to_the_end(tmp_path, "killed", INPUTS)
    assert answers_in(tmp_path / "killed" / "out") == expected


def alive(answers: Answers, expected: Answers) -> set[str]:
    """The queries with an interest of which something was told before the kill, and more after it."""
    before, after = ({_interest(answer) for answer in part} for part in _parted(answers, expected))
    return {query for query, _, _ in before & after}


def delivered_before_and_after(answers: Answers, expected: Answers) -> bool:
    """Whether a situation is found before the kill and again after it: to be told of once where DELIVER ONCE is asked for."""
    before, after = (
        {_situation(answer) for answer in part if answer["query"] == "each"}
        for part in _parted(answers, expected)
    )
    return bool(before & after)


def _parted(answers: Answers, expected: Answers) -> tuple[Answers, Answers]:
    """What was told before the kill, and what is still to be told."""
    names = {(answer["query"], answer["match_id"]) for answer in answers}
    return answers, [answer for answer in expected if (answer["query"], answer["match_id"]) not in names]


def _interest(answer: dict[str, Any]) -> tuple[str, int, int]:
    return answer["query"], answer["focal"], answer["interest"]


def _situation(answer: dict[str, Any]) -> tuple[int, int, str, str]:
    return answer["focal"], answer["id"], answer["began"], answer["event_time"]
