"""Kill the process at any moment, start again with the same checkpoint: no answer lost, none twice.

A real `headwater run --follow` with its JVM and its workers, killed with SIGKILL at seeded random moments in any phase of a
batch, and compared with a run that nobody disturbed.
"""

from __future__ import annotations

import random
from pathlib import Path

from tests.spark.kills import run_and_kill, run_to_the_end
from tests.spark.valley import COLD_AGAIN, FROST, MUGGY, STREAM, read_answers, write_files

KILLS = 3
FILES = 24
SEED = 20260115
INPUTS = {"weather": "in"}


def test_no_answer_is_lost_or_doubled_by_kills_at_random_moments(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAM + FROST + MUGGY + COLD_AGAIN)
    write_files(tmp_path / "in", files=FILES, each=60, seed=17)
    run_to_the_end(tmp_path, "undisturbed", INPUTS)

    choose = random.Random(SEED)
    killed_while_running = 0
    for _ in range(KILLS):
        more = choose.randint(1, FILES // (KILLS + 1))
        killed_while_running += run_and_kill(
            tmp_path, "killed", INPUTS, more=more, pause_s=choose.random() * 0.8
        )
    assert killed_while_running >= KILLS - 1

    run_to_the_end(tmp_path, "killed", INPUTS)
    expected = read_answers(tmp_path / "undisturbed" / "out")
    got = read_answers(tmp_path / "killed" / "out")
    assert len({(a["query"], a["match_id"]) for a in got}) == len(got)
    assert got == expected
    assert {a["query"] for a in expected} == {"frost", "muggy", "cold", "still", "each"}
