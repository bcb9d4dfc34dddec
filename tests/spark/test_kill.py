"""Kill the process at any moment, start again with the same checkpoint: no answer lost, none twice.

A real `headwater run --follow` with its JVM and its workers, killed with SIGKILL at seeded random moments in any phase of a
batch, and compared with a run that nobody disturbed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.spark.valley import COLD_AGAIN, FROST, MUGGY, STREAM, read_answers, write_files

KILLS = 3
FILES = 24
SEED = 20260115


def command(folder: Path, name: str) -> list[str]:
    return [
        str(Path(sys.executable).with_name("headwater")), "run", str(folder / "queries.hw"),
        "--input", f"weather={folder / 'in'}", "--follow", "--once", "--files-per-batch", "1",
        "--checkpoint", str(folder / name / "checkpoint"), "--output", str(folder / name / "out"),
    ]  # fmt: skip


def launch(folder: Path, name: str) -> subprocess.Popen[bytes]:
    """In a process group of its own, so that a kill takes the driver, the JVM and the workers."""
    log = (folder / f"{name}.log").open("ab")
    return subprocess.Popen(command(folder, name), stdout=log, stderr=log, start_new_session=True)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL the driver and everything it started, wherever the JVM put itself."""
    family = descendants(process.pid)
    for pid in [process.pid, *family]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def descendants(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
            if parent == pid:
                found += [int(entry.name), *descendants(int(entry.name))]
    return found


def finished(folder: Path, name: str) -> int:
    return len(list((folder / name / "out").glob("*.jsonl")))


def test_no_answer_is_lost_or_doubled_by_kills_at_random_moments(tmp_path) -> None:
    (tmp_path / "queries.hw").write_text(STREAM + FROST + MUGGY + COLD_AGAIN)
    write_files(tmp_path / "in", files=FILES, each=60, seed=17)
    undisturbed = launch(tmp_path, "undisturbed")
    assert undisturbed.wait(timeout=240) == 0, (tmp_path / "undisturbed.log").read_text()

    choose = random.Random(SEED)
    killed_while_running = 0
    for _ in range(KILLS):
        process = launch(tmp_path, "killed")
        goal = finished(tmp_path, "killed") + choose.randint(1, FILES // (KILLS + 1))
        deadline = time.monotonic() + 90
        while finished(tmp_path, "killed") < goal and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(choose.random() * 0.8)
        killed_while_running += process.poll() is None
        kill_group(process)
    assert killed_while_running >= KILLS - 1

    last = launch(tmp_path, "killed")
    assert last.wait(timeout=240) == 0, (tmp_path / "killed.log").read_text()
    expected = read_answers(tmp_path / "undisturbed" / "out")
    got = read_answers(tmp_path / "killed" / "out")
    assert len({(a["query"], a["match_id"]) for a in got}) == len(got)
    assert got == expected
    assert {a["query"] for a in expected} == {"frost", "muggy", "cold", "still", "each"}
