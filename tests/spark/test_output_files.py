"""Output folders that are merged and cut down, killed at every moment. No Spark is started."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headwater.hosts.spark import output_files
from headwater.hosts.spark.output_files import OutputFiles, Retention
from headwater.model import HostError

FIRST = 1000 * int(os.environ.get("HEADWATER_SOAK_SEED", "0"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("HEADWATER_SOAK_KILLS", "12")))
BATCHES = 16


class KilledError(BaseException):
    """The process is gone; nothing of it runs any more."""


def lines_of(seed: int, batch: int) -> bytes:
    """The same lines whenever a batch runs; some batches have none."""
    many = random.Random(seed * 1000 + batch).choice([0, 1, 1, 2, 5])
    return b"".join(b"%d.%d\n" % (batch, number) for number in range(many))


def names(folder: Path) -> dict[Path, tuple[int, int]]:
    """The files that a reader sees, and their batches."""
    found = {path: re.findall("[0-9]{8}", path.name) for path in folder.iterdir() if path.name[0] != "."}
    return {path: (int(numbers[0]), int(numbers[-1])) for path, numbers in found.items()}


def seen(folder: Path) -> Counter[bytes]:
    """All lines there are, as a reader sees them who leaves out the parts of merged files."""
    files = names(folder)
    whole = [
        path
        for path, (first, last) in files.items()
        if not any(a <= first and last <= b and (a, b) != (first, last) for a, b in files.values())
    ]
    return Counter(line for path in whole for line in path.read_bytes().splitlines())


def expected(seed: int, batches: int) -> Counter[bytes]:
    return Counter(line for batch in range(batches) for line in lines_of(seed, batch).splitlines())


@pytest.fixture
def at_every_moment(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What is called before and after everything that changes the disk."""
    watchers: list[Callable[[], None]] = []

    def watched(change: Callable[..., Any]) -> Callable[..., Any]:
        def watch(*given: Any, **named: Any) -> Any:
            for watcher in watchers:
                watcher()
            done = change(*given, **named)
            for watcher in watchers:
                watcher()
            return done

        return watch

    for of, name in ((os, "fsync"), (os, "utime"), (Path, "replace"), (Path, "unlink")):
        monkeypatch.setattr(of, name, watched(getattr(of, name)))
    monkeypatch.setattr(output_files, "SMALL_BYTES", 64)
    return watchers


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_no_line_is_lost_or_doubled_whenever_it_is_killed(tmp_path, at_every_moment, seed):
    choose = random.Random(seed)
    batch = moments = kills = 0
    alive = choose.randint(1, 60)

    def watch() -> None:
        nonlocal moments
        moments += 1
        seen_lines = seen(tmp_path)
        assert seen_lines in (expected(seed, batch), expected(seed, batch + 1)), "a reader sees whole batches"
        if moments == alive:
            raise KilledError

    at_every_moment.append(watch)
    while batch < BATCHES:
        try:
            files = OutputFiles.found(tmp_path, "answers", Retention(merge_at=3))
            while batch < BATCHES:
                files.replace(batch, lines_of(seed, batch))
                files.tidy(batch)
                batch += 1
        except KilledError:
            kills += 1
            moments, alive = 0, choose.randint(1, 60)
    at_every_moment.clear()
    OutputFiles.found(tmp_path, "answers", Retention(merge_at=3))
    assert kills > 1
    lines = Counter(line for path in names(tmp_path) for line in path.read_bytes().splitlines())
    assert lines == expected(seed, BATCHES), "also for a reader who knows no rule, once the folder is opened"


def test_the_number_of_small_files_has_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(output_files, "SMALL_BYTES", 1000)
    files = OutputFiles.found(tmp_path, "answers", Retention(merge_at=10))
    for batch in range(120):
        files.replace(batch, b"%020d\n" % batch)
        files.tidy(batch)
        small = [path for path in names(tmp_path) if path.stat().st_size < 1000]
        assert len(small) <= 11, "ten, and the newest"
    written = sorted(names(tmp_path))
    assert b"".join(path.read_bytes() for path in written) == b"".join(b"%020d\n" % n for n in range(120))
    assert written[0].name == "answers-00000000-00000047.jsonl"
    assert len(written) <= 120 * 21 // 1000 + 11


def test_files_that_a_reader_takes_away_are_not_missed(tmp_path):
    files = OutputFiles.found(tmp_path, "answers", Retention(merge_at=2))
    files.replace(0, b"0\n")
    (tmp_path / "answers-00000000.jsonl").unlink()
    for batch in (1, 2, 3):
        files.replace(batch, b"%d\n" % batch)
        files.tidy(batch)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "answers-00000000-00000002.jsonl",
        "answers-00000003.jsonl",
    ]
    assert (tmp_path / "answers-00000000-00000002.jsonl").read_text() == "1\n2\n"


def test_zero_merges_never_and_other_outputs_are_left_alone(tmp_path):
    (tmp_path / "late-00000001.jsonl").write_text("late\n")
    for _ in range(2):
        files = OutputFiles.found(tmp_path, "answers", Retention(merge_at=0))
        for batch in range(5):
            files.replace(batch, b"x\n")
            files.tidy(batch)
    assert len(names(tmp_path)) == 6


def test_an_older_checkpoint_does_not_write_beside_merged_lines(tmp_path):
    files = OutputFiles.found(tmp_path, "answers", Retention(merge_at=2))
    for batch in range(4):
        files.replace(batch, b"x\n")
        files.tidy(batch)
    with pytest.raises(HostError) as refused:
        files.replace(1, b"x\n")
    assert refused.value.code == "output-ahead"
    assert refused.value.message == (
        f"the folder '{tmp_path}' has merged the lines of batches up to 2, but the checkpoint continues with 1"
    )


def test_by_size_the_oldest_files_go_and_never_the_newest(tmp_path):
    files = OutputFiles.found(tmp_path, "answers", Retention(merge_at=0, keep_bytes=25))
    for batch in range(5):
        files.replace(batch, b"123456789\n")
        files.tidy(batch)
    assert sorted(batches for batches, _ in names(tmp_path).values()) == [3, 4]
    files.replace(5, b"1" * 100)
    files.tidy(5)
    assert sorted(batches for batches, _ in names(tmp_path).values()) == [5]


def test_by_age_files_go_that_are_older_than_the_newest_by_so_much(tmp_path):
    files = OutputFiles.found(tmp_path, "answers", Retention(merge_at=0, keep_us=60_000_000))
    for batch, second in enumerate((0, 30, 61, 90)):
        files.replace(batch, b"x\n")
        os.utime(tmp_path / f"answers-{batch:08d}.jsonl", (1000 + second, 1000 + second))
    files = OutputFiles.found(tmp_path, "answers", files.retention)
    files.tidy(3)
    assert sorted(batches for batches, _ in names(tmp_path).values()) == [1, 2, 3]
