"""The notes about files: numbers are kept, damage is refused, and what is of no use any more goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headwater.hosts.spark import file_log
from headwater.hosts.spark.file_log import Entry, FileLog
from headwater.model import HostError

ENTRY = Entry(0, "/in/a.csv", "/in/a.csv", 1, 2, 30, 4, 0, 30, 1, False, False, ("0123", "4567"), "89ab")


def entries(many: int, *, first: int = 0) -> list[Entry]:
    return [replace(ENTRY, number=n, path=f"/in/{n}\udcff.csv", inode=n) for n in range(first, first + many)]


def the_file(folder: Path) -> Path:
    (file,) = folder.glob("*.jsonl")
    return file


def test_entries_keep_their_numbers(tmp_path) -> None:
    log = FileLog(tmp_path, "weather=/in")
    assert log.count == 0
    assert list(tmp_path.iterdir()) == []
    log.append(entries(3))
    log.append(entries(2, first=3))
    again = FileLog(tmp_path, "weather=/in")
    assert again.count == 5
    assert list(again.entries.values()) == entries(5)


def test_a_line_that_was_cut_off_is_left_out_and_its_number_used_again(tmp_path) -> None:
    FileLog(tmp_path, "weather=/in").append(entries(3))
    whole = the_file(tmp_path).read_bytes()
    for cut in range(1, len(whole.splitlines()[-1])):
        the_file(tmp_path).write_bytes(whole[:-cut])
        log = FileLog(tmp_path, "weather=/in")
        assert log.count == 2
        assert the_file(tmp_path).read_bytes() == whole[:-cut], "whoever only looks changes nothing"
    log.append(entries(1, first=2))
    assert the_file(tmp_path).read_bytes() == whole


def test_every_changed_byte_ends_in_a_refusal_or_in_fewer_entries(tmp_path) -> None:
    """An offset that speaks of an entry that is missing is refused (see `source`)."""
    FileLog(tmp_path, "weather=/in").append(entries(2))
    whole = the_file(tmp_path).read_bytes()
    for place in range(len(whole)):
        for flip in (0x01, 0x20, 0x80):
            changed = whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :]
            the_file(tmp_path).write_bytes(changed)
            try:
                assert FileLog(tmp_path, "weather=/in").count < 2
            except HostError as refusal:
                assert refusal.code == "state-unreadable"
                assert str(the_file(tmp_path)) in refusal.advice[0]


@pytest.mark.parametrize("text", [b"", b'"/in/a.csv"\n', b"\n\n"])
def test_notes_of_another_kind_are_refused(tmp_path, text) -> None:
    FileLog(tmp_path, "weather=/in").append(entries(1))
    the_file(tmp_path).write_bytes(text)
    with pytest.raises(HostError, match="notes on the files of 'weather=/in' cannot be used"):
        FileLog(tmp_path, "weather=/in")


def test_the_notes_of_another_input_are_refused(tmp_path) -> None:
    FileLog(tmp_path, "weather=/in").append(entries(1))
    other = FileLog(tmp_path, "weather=/other")
    the_file(tmp_path).rename(other.file)
    with pytest.raises(HostError, match="for another input"):
        FileLog(tmp_path, "weather=/other")


def test_a_log_that_is_written_anew_keeps_its_numbers(tmp_path) -> None:
    log = FileLog(tmp_path, "weather=/in")
    log.append(entries(12))
    log.compact(entries(2, first=8))
    assert len(the_file(tmp_path).read_bytes().splitlines()) == 3
    assert FileLog(tmp_path, "weather=/in").count == 12
    log.append(entries(1, first=12))
    again = FileLog(tmp_path, "weather=/in")
    assert (again.count, list(again.entries)) == (13, [8, 9, 12])


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch) -> None:
    log = FileLog(tmp_path, "weather=/in")
    log.append(entries(1))
    whole = the_file(tmp_path).read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_log.os, "fsync", full)
    with pytest.raises(HostError, match="No space left on device") as refusal:
        log.append(entries(2, first=1))
    assert refusal.value.code == "checkpoint-unwritable"
    monkeypatch.undo()
    assert the_file(tmp_path).read_bytes().startswith(whole)
    log.append(entries(1, first=1))
    assert FileLog(tmp_path, "weather=/in").count == 2
