"""Kill the process at any moment, start again with the same checkpoint: no answer lost, none twice.

A real `headwater run --follow` with its JVM and its workers, killed with SIGKILL at seeded random moments in any phase of a
batch, and compared with a run that nobody disturbed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.kills import files_for, kills, run_and_kill_often, run_to_the_end
from tests.spark.valley import COLD_AGAIN, FROST, MUGGY, STREAM, read_answers, write_files

KILLS = kills(5)
FILES = files_for(KILLS)
SEED = 20260115
pytestmark = pytest.mark.soak

INPUTS = {"weather": "in"}


def test_no_answer_is_lost_or_doubled_by_kills_at_random_moments(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAM + FROST + MUGGY + COLD_AGAIN)
    write_files(tmp_path / "in", files=FILES, each=60, seed=17)
    run_to_the_end(tmp_path, "undisturbed", INPUTS)

    for _ in run_and_kill_often(tmp_path, INPUTS, many=KILLS, seed=SEED):
        pass

    run_to_the_end(tmp_path, "killed", INPUTS)
    expected = read_answers(tmp_path / "undisturbed" / "out")
    got = read_answers(tmp_path / "killed" / "out")
    assert len({(a["query"], a["match_id"]) for a in got}) == len(got)
    assert got == expected
    assert {a["query"] for a in expected} == {"frost", "muggy", "cold", "still", "each"}
