"""Inputs that are moved, copied, left out and given again are the inputs they were."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headwater.hosts.files.folder_watch import Watch
from headwater.hosts.spark.file_log import FileLog
from headwater.hosts.spark.inputs import name_inputs, recognise_inputs
from headwater.hosts.spark.streamed_files import StreamedFiles
from headwater.model import HostError
from tests.unit.hosts.spark.streamed_folder import HEADER, PLAN, row, rows_of

NOTES = "files"


def names(tmp_path: Path, *paths: Path) -> list[str]:
    given = name_inputs({"weather": [str(path) for path in paths]})
    return [each.name.replace(str(tmp_path), "") for each in recognise_inputs(given, tmp_path / NOTES)]


def filled(folder: Path, *numbers: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"{number}.csv").write_text(HEADER + row(number))
    return folder


def stations(tmp_path: Path, path: Path) -> list[str]:
    """The rows that are new in an input, by the notes of the checkpoint."""
    (given,) = recognise_inputs(name_inputs({"weather": [str(path)]}), tmp_path / NOTES)
    log = FileLog(tmp_path / NOTES, given.name)
    taken, followed = log.count, StreamedFiles(log, Watch(str(path)), PLAN.stream("weather").types)
    followed.look(now=0, final=True)
    return rows_of(followed.watch.root, [log.entries[n] for n in range(taken, log.count)])[0]


def test_an_input_keeps_its_name_while_it_is_left_out(tmp_path) -> None:
    a, b = filled(tmp_path / "a"), filled(tmp_path / "b")
    assert names(tmp_path, a, b) == ["weather=/a", "weather=/b"]
    assert names(tmp_path, b) == ["weather=/b"]
    assert names(tmp_path, b, a) == ["weather=/b", "weather=/a"]


def test_a_folder_that_was_moved_is_known_by_its_identity(tmp_path) -> None:
    a = filled(tmp_path / "a", 1, 2)
    assert stations(tmp_path, a) == ["s1", "s2"]
    a.rename(tmp_path / "elsewhere")
    filled(tmp_path / "elsewhere", 3)
    assert stations(tmp_path, tmp_path / "elsewhere") == ["s3"]
    assert names(tmp_path, tmp_path / "elsewhere") == ["weather=/a"]
    another = filled(tmp_path / "a", 1)
    assert names(tmp_path, another, tmp_path / "elsewhere") == ["weather=/a#2", "weather=/a"]
    assert names(tmp_path, another) == ["weather=/a#2"]


def test_two_folders_that_changed_names_are_distinguished(tmp_path) -> None:
    a, b = filled(tmp_path / "a", 1), filled(tmp_path / "b", 2)
    assert names(tmp_path, a, b) == ["weather=/a", "weather=/b"]
    a.rename(tmp_path / "c")
    b.rename(a)
    (tmp_path / "c").rename(b)
    assert names(tmp_path, a, b) == ["weather=/b", "weather=/a"]


def test_a_file_that_was_renamed_is_known_and_read_on(tmp_path) -> None:
    folder = filled(tmp_path / "in", 1)
    assert stations(tmp_path, folder / "1.csv") == ["s1"]
    (folder / "1.csv").rename(folder / "other.csv")
    with (folder / "other.csv").open("a") as file:
        file.write(row(2))
    assert stations(tmp_path, folder / "other.csv") == ["s2"]


def test_a_copy_is_known_by_what_it_holds(tmp_path) -> None:
    a = filled(tmp_path / "a", 1, 2, 3)
    assert stations(tmp_path, a) == ["s1", "s2", "s3"]
    shutil.copytree(a, tmp_path / "copy")
    filled(tmp_path / "copy", 4)
    assert stations(tmp_path, tmp_path / "copy") == ["s4"]
    assert names(tmp_path, tmp_path / "copy") == ["weather=/a"]


def test_a_restored_folder_at_the_old_path_is_the_input_it_was(tmp_path) -> None:
    a = filled(tmp_path / "a", 1, 2)
    assert stations(tmp_path, a) == ["s1", "s2"]
    shutil.copytree(a, tmp_path / "backup")
    shutil.rmtree(a)
    shutil.copytree(tmp_path / "backup", a)
    filled(a, 3)
    assert stations(tmp_path, a) == ["s3"]


def test_a_pattern_is_known_in_a_folder_that_was_moved(tmp_path) -> None:
    a = filled(tmp_path / "a", 1)
    assert names(tmp_path, a / "*.csv") == ["weather=/a/*.csv"]
    a.rename(tmp_path / "b")
    assert names(tmp_path, tmp_path / "b" / "*.csv") == ["weather=/a/*.csv"]
    assert names(tmp_path, tmp_path / "b") == ["weather=/b"]


def test_notes_that_are_damaged_or_missing_are_refused(tmp_path) -> None:
    assert stations(tmp_path, filled(tmp_path / "a", 1)) == ["s1"]
    notes = tmp_path / NOTES / "inputs.notes"
    whole = notes.read_bytes()
    for place in range(len(whole)):
        notes.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(HostError, match="notes on its inputs cannot be used"):
            names(tmp_path, tmp_path / "a")
    notes.unlink()
    with pytest.raises(HostError, match="they are missing"):
        names(tmp_path, tmp_path / "a")
