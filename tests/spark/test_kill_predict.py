"""Law 9 for PREDICT: killed while pairs are pending, started again with the same checkpoint, nothing lost or doubled.

Lines of one stream and of two, pairs shared by all zones, values spread by their key, a buffer that is full; what is told in the
end is what a bounded run without Spark tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headwater.model import SECOND, parse_instant
from tests.spark.kills import answers_in, files_for, kills, local_answers, run_and_kill_often, run_to_the_end
from tests.spark.movers import LATE_S, LINES, NEAR, STREAMS, arriving, drive, quiet_time, write_parts

KILLS = kills(4)
FILES = files_for(KILLS)
SEED = 20260117
pytestmark = pytest.mark.soak

INPUTS = {"cars": "in/cars", "buses": "in/buses"}

QUERIES = f"""
CREATE QUERY sent AS SELECT * FROM cars {LINES};
CREATE QUERY near AS SELECT * FROM sent PREDICT ({NEAR} VALIDATED EVERY 1 SECOND);
CREATE QUERY tentative AS SELECT * FROM cars {LINES} PREDICT ({NEAR} MAY TENTATIVE);
CREATE QUERY boarding AS SELECT * FROM cars, buses {LINES} PREDICT ({NEAR});
CREATE QUERY east AS SELECT * FROM cars {LINES} PREDICT (x > 1200);
CREATE QUERY few AS SELECT * FROM cars {LINES} PREDICT ({NEAR} BUFFER 45);
"""
PAIRS = ("near", "tentative", "boarding", "few")


def test_no_answer_of_predict_is_lost_or_doubled_by_a_kill(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAMS + QUERIES)
    parts = {}
    for seed, (name, objects) in enumerate({"cars": 40, "buses": 8}.items(), 41):
        parts[name] = arriving(drive(objects, seed), FILES, seed)
        write_parts(tmp_path / "in" / name, [*parts[name], quiet_time()])
    expected = local_answers(tmp_path, INPUTS)
    assert {answer["query"] for answer in expected} == {"sent", "east", *PAIRS}

    pending_at_kills = []
    for batches in run_and_kill_often(tmp_path, INPUTS, many=KILLS, seed=SEED):
        emitted = answers_in(tmp_path / "killed" / "out")
        seen = [row for part in parts["cars"][:batches] for row in part]
        pending_at_kills.append(across(expected, emitted, seen))
    assert sum(pending >= set(PAIRS) for pending in pending_at_kills) > KILLS // 2, pending_at_kills

    run_to_the_end(tmp_path, "killed", INPUTS, timeout_s=600)
    assert answers_in(tmp_path / "killed" / "out") == expected


def across(
    answers: Iterable[dict[str, Any]], emitted: Iterable[dict[str, Any]], seen: Iterable[dict[str, Any]]
) -> set[str]:
    """The queries with pairs whose two updates had been read before the kill and of which there was more to tell after it."""
    border = max(parse_instant(row["at"]) for row in seen) - LATE_S * SECOND
    before = {json.dumps(answer) for answer in emitted}
    return {
        answer["query"]
        for answer in answers
        if "a_time" in answer and json.dumps(answer) not in before
        if max(parse_instant(answer[name]) for name in ("a_time", "b_time")) < border
    }
