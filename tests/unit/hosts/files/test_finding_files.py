from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from headwater.hosts.files import find_files, json_lines, read_file_rows
from headwater.model import DataError
from tests.unit.hosts.files.made_files import WEATHER, read, reasons, written


def test_a_folder_gives_its_files_in_the_order_they_were_changed(tmp_path):
    for age, name in enumerate(["c.csv", "a.csv", "b.jsonl"]):
        path = written(tmp_path, name, "at\n")
        os.utime(path, ns=(age, age))
    written(tmp_path, "d.csv", "at\n")
    os.utime(tmp_path / "d.csv", ns=(1, 1))
    for left_out in (".hidden.csv", "_SUCCESS", "e.csv.tmp"):
        written(tmp_path, left_out, "")
    (tmp_path / "sub").mkdir()
    assert [Path(path).name for path in find_files(str(tmp_path))] == [
        "c.csv",
        "a.csv",
        "d.csv",
        "b.jsonl",
    ]
    assert find_files(str(tmp_path / "*.jsonl")) == [str(tmp_path / "b.jsonl")]
    assert find_files(str(tmp_path / "a.csv")) == [str(tmp_path / "a.csv")]


def test_a_path_that_is_not_there_is_an_error_with_advice(tmp_path):
    written(tmp_path, "weather.csv", "")
    with pytest.raises(DataError) as caught:
        find_files(str(tmp_path / "wether.csv"))
    assert str(caught.value).splitlines() == [
        f"error[missing-input]: there is no file or folder '{tmp_path / 'wether.csv'}'",
        f"  did you mean '{tmp_path / 'weather.csv'}'?",
    ]


def test_an_unknown_ending_and_a_file_that_cannot_be_opened_are_bad_entries(tmp_path):
    ((_, reason),) = reasons(read(written(tmp_path, "notes.txt", "hello"))[1])
    assert reason.startswith("unknown-format: the name must end with one of .csv, .csv.gz, .jsonl")
    gone = str(tmp_path / "gone.csv")
    for name in (gone, gone.replace(".csv", ".jsonl"), gone.replace(".csv", ".parquet")):
        (piece,) = read_file_rows(name, WEATHER, ("at",))
        assert piece.bad["reason"].tolist() == ["unreadable-file: No such file or directory"]


def test_the_number_of_a_rotated_file_hides_no_format(tmp_path):
    rows, bad = read(written(tmp_path, "log.csv.12", "at\n2026-01-31T06:00:00Z\n"), ("at",))
    assert (len(rows), bad) == (1, [])
    ((_, reason),) = reasons(read(written(tmp_path, "log.csv.old", "at\n"))[1])
    assert reason.startswith("unknown-format")


def test_a_file_that_vanishes_and_a_link_that_leads_nowhere_are_left_out(tmp_path):
    remaining = written(tmp_path, "a.csv", "at\n")
    (tmp_path / "b.csv").symlink_to("gone.csv")
    (tmp_path / "c.csv").symlink_to("c.csv")
    assert find_files(str(tmp_path)) == [str(remaining)]


def test_a_path_that_cannot_be_looked_at_is_an_error_with_advice(tmp_path, monkeypatch):
    long = "x" * 300
    with pytest.raises(DataError) as caught:
        find_files(long)
    assert str(caught.value).splitlines() == [
        f"error[unreadable-input]: cannot look into '{long}': File name too long",
        "  give a file, a folder or a pattern that this user may read",
    ]

    def closed(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(DataError) as caught:
        find_files(str(tmp_path))
    assert caught.value.message == f"cannot look into '{tmp_path}': Permission denied"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_name_that_is_not_utf8_is_shown_with_its_bytes(tmp_path, ending):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff." + ending.encode())
    Path(path).write_text("x\n")
    assert find_files(str(tmp_path)) == [path]
    (piece,) = read_file_rows(path, WEATHER, ("at",))
    shown = f"{tmp_path}/a\\xff.{ending}"
    assert piece.bad["file"].tolist() == [shown]
    (line,) = json_lines(piece.bad).to_pylist()
    assert json.loads(line)["file"] == shown
