"""Law 9 for files that change: rows are added, files rotated, replaced and emptied at seeded moments while the run is killed; every row once.

A file is replaced or emptied only when all of it was read by a batch that is done: what is overwritten before it was read is gone.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.hosts.spark.file_log import FileLog
from tests.spark.kills import answers_in, command, kill_group, kills, soak_seed

KILLS = kills(2)
SEED = 20261118
pytestmark = pytest.mark.soak

INPUTS = {"readings": "in"}
# A slow start of Spark lets the writer get ahead by more rows than there are seconds in a minute: nothing is late within the hour.
QUERIES = """
CREATE STREAM readings (number BIGINT KEY, at TIMESTAMP TIME, note STRING) LATE 1 HOUR;
CREATE QUERY every AS SELECT number, note FROM readings;
"""
HEADER = "number,at,note\n"
ALWAYS = ("append", "half", "rotate", "replace")
"""What happens to files before every kill, in an order and at moments that depend on the seed alone."""
SOMETIMES = ("append", "append", "half", "rotate", "replace", "replace", "empty", "empty", "grow", "add")
"""What else may happen to them, for as long as a batch takes."""


def test_every_row_of_files_that_change_is_read_exactly_once_through_kills(tmp_path: Path) -> None:
    (tmp_path / "queries.hw").write_text(QUERIES)
    writer = Writer(tmp_path, seed=soak_seed(SEED))
    for life in range(KILLS):
        process = launch(tmp_path)
        writer.write_until(committed(tmp_path) + writer.choose.randint(2, 5), process, life)
        assert process.poll() is None, (tmp_path / "run.log").read_text()
        kill_group(process)
        for _ in range(writer.choose.randint(0, 5)):
            writer.change()
    writer.finish()
    process = launch(tmp_path, "--once")
    assert process.wait(timeout=240) == 0, (tmp_path / "run.log").read_text()

    numbers = sorted(n for answer in answers_in(tmp_path / "out") if (n := answer["number"]) >= 0)
    assert numbers == list(range(writer.numbers)), writer.done
    assert answers_in(tmp_path / "late") == []
    assert answers_in(tmp_path / "bad") == []
    assert set(ALWAYS) <= set(writer.done)


class Writer:
    """Changes the files of a folder; each row has a number of its own and comes a second after the one before."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.choose = random.Random(seed)
        self.numbers = 0
        self.rotations = 0
        self.done: list[str] = []
        (folder / "in").mkdir()
        self.log = folder / "in" / "log.csv"
        self.log.write_text(HEADER + self.rows(6))

    def write_until(self, commits: int, process: subprocess.Popen[bytes], life: int) -> None:
        """All that must happen in a life of the process; then on until so many batches are done, and a moment longer."""
        choose = random.Random(f"{self.seed} {life}")
        for act in choose.sample(ALWAYS, len(ALWAYS)):
            time.sleep(choose.random() * 0.8)
            self.change(act)
        deadline = time.monotonic() + 240
        while committed(self.folder) < commits and process.poll() is None and time.monotonic() < deadline:
            time.sleep(self.choose.random() * 0.8)
            self.change()
        time.sleep(self.choose.random() * 0.6)

    def change(self, act: str = "") -> None:
        """Something that may happen to a file, or what is named."""
        act = act or self.choose.choice(SOMETIMES)
        if getattr(self, act)():
            self.done.append(act)

    def append(self) -> bool:
        add(self.log, self.rows(self.choose.randint(1, 4)))
        return True

    def half(self) -> bool:
        """Rows of which the last is half there for a while."""
        text = self.rows(2)
        cut = self.choose.randint(1, len(text) - 1)
        add(self.log, text[:cut])
        time.sleep(self.choose.random() * 0.5)
        add(self.log, text[cut:])
        return True

    def rotate(self) -> bool:
        self.rotations += 1
        self.log.rename(self.folder / "in" / f"log.csv.{self.rotations}")
        self.log.write_text(HEADER + self.rows(1))
        return True

    def replace(self) -> bool:
        """A snapshot, written aside and renamed to a name that may be in use."""
        path = self.folder / "in" / "snapshot.csv"
        if path.exists() and not was_read(self.folder, path):
            return False
        aside = path.with_suffix(".tmp")
        aside.write_text(HEADER + self.rows(self.choose.randint(1, 4)))
        aside.rename(path)
        return True

    def empty(self) -> bool:
        """Empty the log, as a rotation that copies does, and write on."""
        if not was_read(self.folder, self.log):
            return False
        self.log.write_text("")
        time.sleep(self.choose.random() * 0.2)
        add(self.log, HEADER + self.rows(3))
        return True

    def grow(self) -> bool:
        """Add to a file that was rotated away: a logger may hold it open."""
        if self.rotations:
            add(self.folder / "in" / f"log.csv.{self.rotations}", self.rows(1))
        return bool(self.rotations)

    def add(self) -> bool:
        (self.folder / "in" / f"other-{self.numbers}.csv").write_text(HEADER + self.rows(2))
        return True

    def rows(self, many: int) -> str:
        numbers = range(self.numbers, self.numbers + many)
        self.numbers += many
        return "".join(f'{n},{self.at(n)},"row ""{n}"", a{chr(10)}note"\n' for n in numbers)

    def at(self, number: int) -> str:
        return f"2026-01-31T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z"

    def finish(self) -> None:
        """Rows so late in the day that all others are told."""
        add(self.log, self.rows(1))
        text = "".join(f"{-n},2026-01-31T23:0{n}:00Z,\n" for n in range(1, 9))
        (self.folder / "in" / "zz.csv").write_text(HEADER + text)


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def launch(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    outputs = [
        word
        for name in ("", "late-", "bad-")
        for word in (f"--{name}output", str(folder / (name[:-1] or "out")))
    ]
    follow = [
        "--follow",
        "--checkpoint",
        str(folder / "checkpoint"),
        "--files-per-batch",
        "2",
        *outputs,
        *more,
    ]
    with (folder / "run.log").open("ab") as log:
        return subprocess.Popen(
            [*command(folder, INPUTS), *follow], stdout=log, stderr=log, start_new_session=True
        )


def committed(folder: Path) -> int:
    """How many batches are done."""
    return len(list(commits(folder)))


def commits(folder: Path) -> Iterator[int]:
    for path in (folder / "checkpoint" / "spark" / "commits").glob("[0-9]*"):
        if path.name.isdigit():
            yield int(path.name)


def was_read(folder: Path, path: Path) -> bool:
    """Whether all that a file holds was read by a batch that is done."""
    last = max(commits(folder), default=None)
    if last is None:
        return False
    name = f"readings={folder.resolve() / 'in'}"
    offsets = json.loads(
        (folder / "checkpoint" / "spark" / "offsets" / str(last)).read_text().splitlines()[-1]
    )
    log = FileLog(folder / "checkpoint" / "headwater" / "files", name)
    read = [entry for entry in log.entries.values() if entry.number < offsets["files"][name]]
    mine = [entry.stop for entry in read if entry.inode == path.stat().st_ino]
    return bool(mine) and mine[-1] == path.stat().st_size
