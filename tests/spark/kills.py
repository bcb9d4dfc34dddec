"""A real `headwater run --follow` with its JVM and its workers: started, killed with SIGKILL, started again; and its answers.

A test has a folder with `queries.hw` and its inputs, named by their paths below the folder. `make test` kills a few times with a fixed
seed; `make soak` sets HEADWATER_SOAK_KILLS and HEADWATER_SOAK_SEED for many kills at other moments.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headwater.apps.cli import main

Inputs = Mapping[str, str]


def kills(usual: int) -> int:
    """How often a test kills: `usual`, unless a soak asks for more."""
    return int(os.environ.get("HEADWATER_SOAK_KILLS", usual))


def soak_seed(usual: int) -> int:
    """The seed of a test's moments: `usual`, unless a soak asks for another."""
    return int(os.environ.get("HEADWATER_SOAK_SEED", usual))


def files_for(many: int) -> int:
    """Files for so many kills, as a batch reads one: `run_and_kill` lets three be read at most before each, and some are left over."""
    return 3 * many + 4


def run_and_kill_often(folder: Path, inputs: Inputs, *, many: int, seed: int) -> Iterator[int]:
    """Kill a running process so many times, at moments drawn from the seed; gives the number of finished batches after each kill.

    A process that ended by itself was not killed: everything was read, which a test with too few files must know.
    """
    choose = random.Random(soak_seed(seed))
    for killed in range(many):
        more, pause_s = choose.randint(1, 2), choose.random() * 0.6
        if not run_and_kill(folder, "killed", inputs, more=more, pause_s=pause_s):
            log = (folder / "killed.log").read_text()
            raise AssertionError(f"the run ended by itself after {killed} of {many} kills\n{log}")
        yield finished(folder, "killed")


def command(folder: Path, inputs: Inputs) -> list[str]:
    given = [word for name, path in inputs.items() for word in ("--input", f"{name}={folder / path}")]
    return [str(Path(sys.executable).with_name("headwater")), "run", str(folder / "queries.hw"), *given]


def launch(folder: Path, name: str, inputs: Inputs) -> subprocess.Popen[bytes]:
    """In a process group of its own, so that a kill takes the driver, the JVM and the workers."""
    log = (folder / f"{name}.log").open("ab")
    follow = [
        "--follow", "--once", "--files-per-batch", "1", "--checkpoint", str(folder / name / "checkpoint"),
        "--output", str(folder / name / "out"), "--merge-output", "5",
    ]  # fmt: skip
    return subprocess.Popen(
        [*command(folder, inputs), *follow], stdout=log, stderr=log, start_new_session=True
    )


def run_to_the_end(folder: Path, name: str, inputs: Inputs, *, timeout_s: float = 240) -> None:
    process = launch(folder, name, inputs)
    assert process.wait(timeout=timeout_s) == 0, (folder / f"{name}.log").read_text()


def run_and_kill(folder: Path, name: str, inputs: Inputs, *, more: int, pause_s: float) -> bool:
    """Run until so many more batches have told their answers, and a moment longer, but not for two batches more; whether it was still
    running when killed."""
    goal = finished(folder, name) + more
    process = launch(folder, name, inputs)
    _wait(folder, name, process, batches=goal, longest_s=240)
    _wait(folder, name, process, batches=goal + 1, longest_s=pause_s)
    was_running = process.poll() is None
    kill_group(process)
    return was_running


def _wait(
    folder: Path, name: str, process: subprocess.Popen[bytes], *, batches: int, longest_s: float
) -> None:
    """Until so many batches have told their answers, the process is over, or the time is."""
    deadline = time.monotonic() + longest_s
    while finished(folder, name) < batches and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


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
    """How many batches have told their answers, by the names of files: each has those of one batch, or of a first to a last."""
    batches = (re.findall("[0-9]{8}", file.name) for file in (folder / name / "out").glob("*.jsonl"))
    return sum(int(numbers[-1]) - int(numbers[0]) + 1 for numbers in batches)


def local_answers(folder: Path, inputs: Inputs) -> list[dict[str, Any]]:
    """What a bounded run without Spark tells."""
    (folder / "local").mkdir()
    local = ["--engine", "local", "--output", str(folder / "local" / "answers.jsonl")]
    assert main([*command(folder, inputs)[1:], *local]) == 0
    return answers_in(folder / "local")


def answers_in(folder: Path) -> list[dict[str, Any]]:
    """All answers; rows of one match have one identity, so they are told apart by what they say."""
    lines = [line for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]
    return [json.loads(line) for line in sorted(lines)]
