"""Temporary folders go with their run, or with the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from headwater.hosts import temporary_folders
from headwater.hosts.temporary_folders import temporary_folder

HOLD = """
import sys, time
from headwater.hosts.temporary_folders import temporary_folder

folder = temporary_folder(sys.argv[1])
(folder.path / "large").write_text("x")
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(temporary_folders.tempfile, "tempdir", None)
    return tmp_path


def held_by_another(use: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, use], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_a_folder_goes_with_the_run(place):
    with temporary_folder("run") as folder:
        assert folder.path.parent == place
        assert folder.path.name.startswith("headwater-run-")
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("use", ["spark", "run", "sort"])
def test_what_a_killed_run_left_goes_with_the_next_one_and_what_is_held_stays(place, use):
    process, left = held_by_another(use)
    try:
        with temporary_folder("run") as folder:
            assert {str(path) for path in place.iterdir()} == {left, str(folder.path)}
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    with temporary_folder("sort") as folder:
        assert list(place.iterdir()) == [folder.path]


def test_a_folder_without_a_name_is_given_a_minute(place):
    (place / ".headwater-new-a").mkdir()
    (place / ".headwater-new-b").mkdir()
    os.utime(place / ".headwater-new-a", (time.time() - 61, time.time() - 61))
    with temporary_folder("run"):
        assert [path.name for path in place.glob(".*")] == [".headwater-new-b"]


def test_a_folder_of_that_name_without_a_lock_is_not_ours(place):
    (place / "headwater-run-notes").mkdir()
    with temporary_folder("run"):
        assert (place / "headwater-run-notes").exists()
