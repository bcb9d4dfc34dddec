"""Law 9 for PREDICT: killed while pairs are pending, started again with the same checkpoint, nothing lost or doubled.

Lines of one stream and of two, pairs shared by all zones, values spread by their key, a buffer that is full; what is told in the
end is what a bounded run without Spark tells.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headwater.apps.cli import main
from headwater.model import SECOND, parse_instant
from tests.spark.movers import LATE_S, LINES, NEAR, STREAMS, arriving, drive, quiet_time, write_parts
from tests.spark.test_kill import finished, kill_group
from tests.spark.test_kill_patterns import answers_in

FILES = 5
SEED = 20260117

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
    (tmp_path / "local").mkdir()
    local = ["--engine", "local", "--output", str(tmp_path / "local" / "answers.jsonl")]
    assert main([*command(tmp_path)[1:], *local, "--quiet"]) == 0
    expected = answers_in(tmp_path / "local")
    assert {answer["query"] for answer in expected} == {"sent", "east", *PAIRS}

    process = launch(tmp_path)
    deadline = time.monotonic() + 240
    while finished(tmp_path, "killed") < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(random.Random(SEED).random() * 0.6)
    assert process.poll() is None, (tmp_path / "killed.log").read_text()
    kill_group(process)
    done = finished(tmp_path, "killed")
    assert 2 <= done <= FILES
    told = answers_in(tmp_path / "killed" / "out")
    pending = across(expected, told, [row for part in parts["cars"][:done] for row in part])
    assert pending >= set(PAIRS), f"of {pending} alone something was pending"

    last = launch(tmp_path)
    assert last.wait(timeout=600) == 0, (tmp_path / "killed.log").read_text()
    assert answers_in(tmp_path / "killed" / "out") == expected


def command(folder: Path) -> list[str]:
    return [
        str(Path(sys.executable).with_name("headwater")), "run", str(folder / "queries.hw"),
        "--input", f"cars={folder / 'in' / 'cars'}", "--input", f"buses={folder / 'in' / 'buses'}",
    ]  # fmt: skip


def launch(folder: Path) -> subprocess.Popen[bytes]:
    log = (folder / "killed.log").open("ab")
    follow = [
        "--follow", "--once", "--files-per-batch", "1", "--checkpoint", str(folder / "killed" / "checkpoint"),
        "--output", str(folder / "killed" / "out"),
    ]  # fmt: skip
    return subprocess.Popen([*command(folder), *follow], stdout=log, stderr=log, start_new_session=True)


def across(
    answers: Iterable[dict[str, Any]], told: Iterable[dict[str, Any]], seen: Iterable[dict[str, Any]]
) -> set[str]:
    """The queries with pairs whose two updates had been read before the kill and of which there was more to tell after it."""
    border = max(parse_instant(row["at"]) for row in seen) - LATE_S * SECOND
    before = {json.dumps(answer) for answer in told}
    return {
        answer["query"]
        for answer in answers
        if "a_time" in answer and json.dumps(answer) not in before
        if max(parse_instant(answer[name]) for name in ("a_time", "b_time")) < border
    }
