"""A cluster that gains and loses workers gives the answers of an undisturbed run. Only `make soak` runs it: it takes minutes."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.spark.cluster import cluster_in
from tests.spark.kills import local_answers
from tests.spark.valley import COLD_AGAIN, FROST, MUGGY, STREAM, read_answers, write_files

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif("HEADWATER_SOAK_SEED" not in os.environ, reason="takes minutes: make soak runs it"),
]

HALF = 10


def wait_for_batches(folder: Path, many: int, driver: subprocess.Popen[bytes]) -> None:
    """Until so many batches have begun."""
    deadline = time.monotonic() + 300
    while len(list((folder / "checkpoint" / "spark" / "offsets").glob("[0-9]*"))) < many:
        assert driver.poll() is None and time.monotonic() < deadline, "the driver ended, or nothing goes on"
        time.sleep(0.1)


def test_a_cluster_that_gains_and_loses_workers_loses_no_answer(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(STREAM + FROST + MUGGY + COLD_AGAIN)
    write_files(tmp_path / "in", files=HALF, each=60, seed=17)
    with cluster_in(tmp_path / "cluster", workers=1) as cluster:
        driver = cluster.drive(tmp_path, "once")
        wait_for_batches(tmp_path, 3, driver)
        cluster.add_worker()
        assert driver.wait(timeout=400) == 0, (tmp_path / "once.log").read_text()

        write_files(tmp_path / "in", files=HALF, each=60, seed=17, first=HALF)
        driver = cluster.drive(tmp_path, "ends")
        wait_for_batches(tmp_path, HALF + 3, driver)
        cluster.kill_worker()
        assert driver.wait(timeout=400) == 0, (tmp_path / "ends.log").read_text()
    got = read_answers(tmp_path / "out")
    assert sorted(map(repr, got)) == sorted(map(repr, local_answers(tmp_path, {"weather": "in"})))
    assert {answer["query"] for answer in got} == {"frost", "muggy", "cold", "still", "each"}
