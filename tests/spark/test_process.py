"""A real `headwater run --follow` whose JVM is killed, that is hung up on or whose disk is full: what it says and leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.spark.kills import answers_in

PATIENCE_S = 240
SMALL_DISKS = ["out", "state"] if "HEADWATER_SOAK_KILLS" in os.environ else ["out"]
QUERIES = """CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);
CREATE QUERY cold AS SELECT station, temperature FROM weather WHERE temperature < 0;
"""


@pytest.mark.usefixtures("signals_end_us")
def test_a_killed_jvm_is_reported_in_words_and_hanging_up_ends_a_run_in_good_order(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "queries.hw").write_text(QUERIES)
    readings(tmp_path, 0)
    process = follow(tmp_path)
    # Killed before the batch is noted as finished, it would be run again: its answer would be counted by the next run, too.
    until(lambda: answered(tmp_path) == [0] and (tmp_path / "state/spark/commits/0").exists(), process)
    (java,) = (one for one in psutil.Process(process.pid).children() if one.name() == "java")
    java.kill()
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines() == [
        "error[spark-failed]: the run on Spark failed: its Java process ended",
        "  the process was killed, perhaps because the machine ran out of memory",
        "  start it again: a run with --checkpoint continues where it stopped",
    ]
    readings(tmp_path, 1)
    process = follow(tmp_path)
    until(lambda: answered(tmp_path) == [0, 1], process)
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (0, "")
    assert "answers   1: cold 1" in err.splitlines()
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB, where somebody may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk; test_sink.py has a full disk for everybody")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.soak
@pytest.mark.parametrize("on_the_small_disk", SMALL_DISKS)
def test_a_full_disk_ends_a_run_in_words_and_it_goes_on_later(
    tmp_path: Path, small_disk: Path, on_the_small_disk: str
) -> None:
    (tmp_path / on_the_small_disk).symlink_to(small_disk)
    (tmp_path / "in").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "queries.hw").write_text(QUERIES)
    readings(tmp_path, 0)
    process = follow(tmp_path)
    until(lambda: answered(tmp_path) == [0], process)
    fill(small_disk)
    readings(tmp_path, 1)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (1, "")
    assert "Traceback" not in err
    assert "No space left on device" in err.splitlines()[0]
    assert err.splitlines()[1].startswith("  free some space and start it again")
    assert len(err.splitlines()) == 2
    (small_disk / "filler").unlink()
    process = follow(tmp_path, "--once")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    assert answered(tmp_path) == [0, 1]


def fill(disk: Path) -> None:
    """Not a byte more fits."""
    with (disk / "filler").open("wb", buffering=0) as filler:
        for size in (1 << 20, 4096, 1):
            with suppress(OSError):
                while filler.write(bytes(size)):
                    pass


def readings(folder: Path, number: int) -> None:
    """A file with one cold reading and warm ones behind it, there at once as a whole."""
    written = folder / f"{number}.csv"
    warm = "".join(f"bern,2026-01-31T06:{number}{minute}:00Z,5\n" for minute in range(1, 10))
    written.write_text(f"station,at,temperature\nbern,2026-01-31T06:{number}0:00Z,-{number + 1}\n{warm}")
    written.rename(folder / "in" / written.name)


def answered(folder: Path) -> list[int]:
    return [int(-answer["temperature"]) - 1 for answer in answers_in(folder / "out")]


def follow(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            str(Path(sys.executable).with_name("headwater")), "run", str(folder / "queries.hw"), "--input",
            f"weather={folder / 'in'}", "--follow", "--checkpoint", str(folder / "state"), "--output", str(folder / "out"), *words,
        ],
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"it did not come: {process.communicate()}")
        time.sleep(0.05)
