"""Offsets of followed files: absent inputs keep their place, missing notes are refused, time is running time. No session is needed."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadMaxFiles

from headwater.hosts.spark import streamed_files, streaming_source
from headwater.hosts.spark.files_source import source_options, streaming_options
from headwater.hosts.spark.inputs import absent_inputs, name_inputs, recognise_inputs
from headwater.hosts.spark.streaming_source import StreamingReader
from headwater.model import HostError
from headwater.query.planning.plan import compile_text
from tests.unit.hosts.spark.streamed_folder import HEADER, row, rows_of

PLAN = compile_text(
    "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, note STRING);"
    "CREATE QUERY every AS SELECT * FROM weather;"
)
Offset = dict[str, Any]


def reader(tmp_path: Path, *paths: Path, once: bool = True, **how: Any) -> StreamingReader:
    """A reader as a start makes one."""
    notes = tmp_path / "files"
    inputs = recognise_inputs(name_inputs({"weather": [str(path) for path in paths]}), notes)
    absent = absent_inputs(inputs, notes)
    made = StreamingReader(
        source_options(PLAN, inputs, cores=2, partition_keys=[0])
        | streaming_options(absent=absent, log=notes, **how)
    )
    if once:
        made.prepareForTriggerAvailableNow()
    return made


def batch(made: StreamingReader, start: Offset) -> tuple[Offset, list[str]]:
    """The next offset, and the stations of the rows up to it."""
    end = json.loads(json.dumps(made.latestOffset(start, ReadMaxFiles(64))))
    return end, stations(made, start, end)


def stations(made: StreamingReader, start: Offset, end: Offset) -> list[str]:
    files = [file for task in made.partitions(start, end) for file in task.files]
    return sorted(station for file in files for station in rows_of(file.root, [file.entry])[0])


def filled(folder: Path, *numbers: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"{number}.csv").write_text(HEADER + row(number))
    return folder


def test_an_input_that_leaves_and_comes_back_goes_on_where_it_was(tmp_path) -> None:
    a, b = filled(tmp_path / "a", 1, 2), filled(tmp_path / "b", 3)
    made = reader(tmp_path, a, b)
    offset, read = batch(made, made.initialOffset())
    assert read == ["s1", "s2", "s3"]
    filled(b, 4)
    offset, read = batch(reader(tmp_path, b), offset)
    assert read == ["s4"]
    filled(a, 5)
    offset, read = batch(reader(tmp_path, a, b), offset)
    assert read == ["s5"]
    assert sorted(offset["files"].values()) == [2, 3]


def test_a_batch_that_is_run_again_without_one_of_its_inputs_still_reads_it(tmp_path) -> None:
    a, b = filled(tmp_path / "a", 1, 2), filled(tmp_path / "b", 3)
    made = reader(tmp_path, a, b)
    start = made.initialOffset()
    end, _ = batch(made, start)
    filled(a, 9)
    assert stations(reader(tmp_path, b), start, end) == ["s1", "s2", "s3"]


@pytest.mark.parametrize("lost", ["log", "line", "folder", "log of an absent input"])
def test_missing_notes_are_refused_before_anything_is_noted(tmp_path, lost) -> None:
    """A file that is tidied away would otherwise give its number to the next one, which is never read."""
    a, b = filled(tmp_path / "a", 1, 2), filled(tmp_path / "b", 3)
    made = reader(tmp_path, a, b)
    offset, _ = batch(made, made.initialOffset())
    log = made.streamed[f"weather={a.resolve()}"].log.file
    if lost == "folder":
        shutil.rmtree(tmp_path / "files")
    elif lost == "line":
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    else:
        log.unlink()
    (a / "1.csv").unlink()
    filled(a, 4, 5, 6)
    for _ in range(2):
        given = [b] if lost.startswith("log of") else [a, b]
        with pytest.raises(HostError, match="lines are missing"):
            batch(reader(tmp_path, *given), offset)


def test_time_is_running_time_and_no_clock_that_is_set_changes_it(tmp_path, monkeypatch) -> None:
    a = filled(tmp_path / "a", 1)
    clock = [1_000_000_000_000]
    monkeypatch.setattr(streaming_source.time, "monotonic_ns", lambda: clock[0])
    made = reader(tmp_path, a, once=False, tick_us=5_000_000)
    offset, _ = batch(made, made.initialOffset())
    assert offset["now"] == 0
    clock[0] += 4_000_000_000
    monkeypatch.setattr(streaming_source.time, "time_ns", lambda: time.monotonic_ns() + 3_600_000_000_000)
    assert batch(made, offset)[0] == offset, "no tick yet"
    clock[0] += 2_000_000_000
    offset, _ = batch(made, offset)
    assert offset["now"] == 6_000_000
    clock[0] = 7  # another start, perhaps on another machine: time in between does not count
    made = reader(tmp_path, a, once=False, tick_us=5_000_000)
    assert batch(made, offset)[0] == offset
    clock[0] += 5_000_000_000
    assert batch(made, offset)[0]["now"] == 11_000_000


def test_a_log_stays_small_while_files_come_and_go_and_grow(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(streamed_files, "MOST_GONE", 5)
    monkeypatch.setattr(streamed_files, "SPARE_LINES", 10)
    monkeypatch.setattr(streaming_source, "LOOK_AGAIN_US", 0)
    monkeypatch.setattr(streaming_source, "LOOKING_PAUSES", 0)
    a = filled(tmp_path / "a")
    read: list[str] = []
    lines = []
    offset = reader(tmp_path, a).initialOffset()
    for number in range(0, 120, 2):
        if number % 14 == 0:
            made = reader(tmp_path, a, once=False)
        filled(a, number)
        with (a / "log.csv").open("a") as file:
            file.write(HEADER * (number == 0) + row(number + 1))
        start, (offset, new) = offset, batch(made, offset)
        read += new
        lines.append(made.streamed[f"weather={a.resolve()}"].log.lines)
        if number % 26 == 0:  # a batch may be run again at the next start
            assert stations(reader(tmp_path, a), start, offset) == new
        (a / f"{number}.csv").unlink()
    assert sorted(read) == sorted(f"s{n}" for n in range(120))
    assert max(lines) <= 25
