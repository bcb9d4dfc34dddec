"""Files that change after they were read: what is new is read once, and what cannot be decided is told."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.hosts.files.folder_watch import Watch
from headwater.hosts.spark.file_log import FileLog
from headwater.hosts.spark.streamed_files import GZIP_STILL_US, STILL_US, StreamedFiles
from headwater.model import SECOND
from tests.unit.hosts.spark.streamed_folder import HEADER, Followed, json_row, row, rows_of


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(tmp_path)


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(("name", "header", "line"), [("a.csv", HEADER, row), ("a.jsonl", "", json_row)])
def test_rows_that_are_added_to_a_file_are_read_once(followed, name, header, line, restarts) -> None:
    path = followed.folder / name
    path.write_text(header + line(1) + line(2))
    assert followed.read() == (["s1", "s2"], [])
    for number in range(3, 9, 2):
        if restarts:
            followed.restart()
        append(path, line(number) + line(number + 1))
        assert followed.read() == ([f"s{number}", f"s{number + 1}"], [])
        assert followed.read() == ([], [])


def test_each_added_piece_is_a_numbered_entry_of_its_own(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1))
    (first,) = followed.look()
    append(path, row(2))
    (second,) = followed.look()
    assert (first.number, first.start, first.stop) == (0, 0, len(HEADER + row(1)))
    assert (second.number, second.start, second.stop) == (1, first.stop, first.stop + len(row(2)))
    append(path, row(3))
    assert followed.rows_of([second]) == (["s2"], []), "bytes that came later are of another entry"


def test_a_line_is_read_when_it_is_finished(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + "s2,2026-01-31T")
    assert followed.read() == (["s1"], [])
    append(path, "06:00:02Z")
    assert followed.read() == ([], [])
    append(path, ",\n")
    assert followed.read() == (["s2"], [])


def test_a_line_without_an_end_is_read_at_the_end(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2).rstrip())
    assert followed.read() == (["s1"], [])
    assert followed.read(final=True) == (["s2"], [])
    append(path, "\n" + row(3))
    assert followed.read() == (["s3"], [])


def test_a_line_without_an_end_is_read_when_the_file_has_been_still(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2).rstrip())
    assert followed.read() == (["s1"], [])
    assert followed.read(seconds=STILL_US / SECOND - 1) == ([], [])
    append(path, " ")
    assert followed.read(seconds=STILL_US / SECOND - 1) == ([], [])
    assert followed.read(seconds=STILL_US / SECOND + 1) == (["s2"], [])


def test_the_rest_of_a_line_that_was_read_too_early_is_reported(followed) -> None:
    path = followed.folder / "a.jsonl"
    path.write_text(json_row(1) + json_row(2)[:20])
    assert followed.read(final=True) == (["s1"], ["bad-json 2"])
    append(path, json_row(2)[20:] + json_row(3))
    assert followed.read() == (["s3"], ["continued-line 2"])


def test_bad_rows_of_an_added_piece_have_their_line_in_the_file(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1).replace("\n", "\r\n") + row(2, '"two\nlines"'))
    assert followed.read() == (["s1", "s2"], [])
    append(path, row(3) + "s4,soon,\n")
    assert followed.read() == (["s3"], ["bad-time 6"])
    append(path, "s5,later,\n")
    assert followed.read() == ([], ["bad-time 7"])


def test_a_record_with_line_ends_in_quotes_is_read_when_its_quote_is_closed(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER.replace(",", ";") + (row(1) + row(2, '"one\ntwo\n')[:-1]).replace(",", ";"))
    assert followed.read() == (["s1"], [])
    append(path, 'three"\n')
    assert followed.read() == (["s2"], [])
    append(path, row(3, '"a, ""b"""').replace(",", ";", 2))
    assert followed.read() == (["s3"], [])


def test_a_file_is_not_read_while_it_is_empty_or_has_half_a_header(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text("")
    assert followed.read() == ([], [])
    append(path, HEADER[:7])
    assert followed.read() == ([], [])
    append(path, HEADER[7:] + row(1))
    assert followed.read() == (["s1"], [])


def test_an_empty_file_is_reported_at_the_end_and_read_when_something_comes(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text("")
    assert followed.read(final=True) == ([], ["empty-file"])
    assert followed.read(final=True) == ([], [])
    append(path, HEADER + row(1))
    assert followed.read(final=True) == (["s1"], [])


@pytest.mark.parametrize("restarts", [False, True])
def test_a_name_that_is_used_again_is_a_new_file(followed, restarts) -> None:
    path = followed.folder / "a.csv"
    for number in range(1, 7, 2):
        other = followed.folder / "b.tmp"
        other.write_text(HEADER + row(number) + row(number + 1))
        other.rename(path)
        if restarts:
            followed.restart()
        assert followed.read() == ([f"s{number}", f"s{number + 1}"], [])


def test_a_file_that_is_overwritten_in_place_is_a_new_file(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2))
    assert followed.read() == (["s1", "s2"], [])
    path.write_text(HEADER + row(3) + row(4) + row(5))
    assert followed.read() == (["s3", "s4", "s5"], [])


def test_a_rotated_file_is_read_to_its_end_under_its_new_name(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1))
    assert followed.read() == (["s1"], [])
    append(path, row(2))
    path.rename(followed.folder / "a.csv.1")
    path.write_text(HEADER + row(3))
    os.utime(path, ns=(2**61, 2**61))
    assert followed.read() == (["s2", "s3"], [])
    (followed.folder / "a.csv.1").rename(followed.folder / "a.csv.2")
    path.rename(followed.folder / "a.csv.1")
    path.write_text(HEADER + row(4))
    assert followed.read() == (["s4"], [])


def test_a_file_that_is_copied_away_and_emptied_is_read_on(followed, tmp_path) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2))
    assert followed.read() == (["s1", "s2"], [])
    (tmp_path / "a.csv.1").write_bytes(path.read_bytes())
    os.truncate(path, 0)
    assert followed.read() == ([], [])
    append(path, HEADER + row(3) + row(4) + row(5))
    assert followed.read() == (["s3", "s4", "s5"], [])


def test_a_file_that_became_shorter_is_reported_and_read_on(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + "".join(row(n) for n in range(1, 9)))
    assert len(followed.read()[0]) == 8
    os.truncate(path, len(HEADER) + 6 * len(row(1)))
    assert followed.read() == ([], ["shrunk-file"])
    assert followed.read() == ([], [])
    append(path, row(9) + "s,soon,\n")
    assert followed.read() == (["s9"], ["bad-time 9"])


def test_a_file_that_is_too_short_to_tell_is_reported_and_read_as_a_new_one(followed) -> None:
    path = followed.folder / "a.csv"
    header, wide = f"station,at,note,{'x' * 250}\n", [row(n).replace("\n", ",\n") for n in (1, 2, 3, 4, 5)]
    path.write_text(header + "".join(wide[:4]))
    assert len(followed.read()[0]) == 4
    path.write_text(header + wide[4])
    assert followed.read() == (["s5"], ["shrunk-file"])


def test_a_shorter_file_that_begins_otherwise_is_a_new_one(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2))
    assert len(followed.read()[0]) == 2
    path.write_text(HEADER + row(3))
    assert followed.read() == (["s3"], [])


def test_a_file_that_was_changed_where_it_was_read_is_reported_and_read_as_a_new_one(followed) -> None:
    path = followed.folder / "a.csv"
    lines = [row(n) for n in range(1, 101)]
    path.write_text(HEADER + "".join(lines))
    assert len(followed.read()[0]) == 100
    path.write_text(HEADER + "".join([*lines[:-1], row(101)]))
    stations, reported = followed.read()
    assert (stations[0], stations[-1], reported) == ("s1", "s101", ["edited-file"])
    assert followed.read() == ([], [])


def test_a_file_that_is_touched_linked_renamed_or_written_anew_with_the_same_rows_is_not_read_again(
    followed,
) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2))
    assert followed.read() == (["s1", "s2"], [])
    path.touch()
    assert followed.read() == ([], [])
    (followed.folder / "b.csv").hardlink_to(path)
    (followed.folder / "c.csv").symlink_to(path)
    assert followed.read() == ([], [])
    append(path, row(3))
    assert followed.read() == (["s3"], [])
    path.unlink()
    (followed.folder / "b.csv").rename(followed.folder / "d.csv")
    assert followed.read() == ([], [])
    followed.restart()
    assert followed.read() == ([], [])
    copy = followed.folder / "x.tmp"
    copy.write_text(HEADER + row(1) + row(2) + row(3) + row(4))
    copy.rename(followed.folder / "d.csv")
    assert followed.read() == (["s4"], [])


def parquet(path: Path, *numbers: int) -> None:
    columns = {
        "station": [f"s{n}" for n in numbers],
        "at": pa.array([n * SECOND for n in numbers], pa.timestamp("us")),
        "note": [""] * len(numbers),
    }
    pq.write_table(pa.table(columns), path)


def test_parquet_is_replaced_and_read_once_it_is_whole(followed) -> None:
    path = followed.folder / "a.parquet"
    parquet(path, 1, 2)
    assert followed.read() == (["s1", "s2"], [])
    parquet(path, 3, 4, 5)
    assert followed.read() == (["s3", "s4", "s5"], [])
    whole = path.read_bytes()
    other = followed.folder / "b.parquet"
    parquet(other, 6)
    whole = other.read_bytes()
    other.write_bytes(whole[:-20])
    assert followed.read() == ([], [])
    other.write_bytes(whole)
    assert followed.read() == (["s6"], [])


def test_a_gzip_file_is_read_when_it_has_been_still_and_never_grows(followed) -> None:
    path = followed.folder / "a.csv.gz"
    path.write_bytes(gzip.compress((HEADER + row(1)).encode()))
    assert followed.read() == ([], [])
    assert followed.read(seconds=GZIP_STILL_US / SECOND) == (["s1"], [])
    with path.open("ab") as file:
        file.write(gzip.compress(row(2).encode()))
    assert followed.read() == ([], ["grown-file"])
    with path.open("ab") as file:
        file.write(gzip.compress(row(3).encode()))
    assert followed.read(final=True) == ([], [])


def test_a_file_that_cannot_be_read_just_now_is_reported_once_and_read_later(followed, monkeypatch) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1))
    really = os.open

    def closed(name, *how):
        if str(name) == str(path):
            raise PermissionError(13, "Permission denied", name)
        return really(name, *how)

    monkeypatch.setattr(os, "open", closed)
    assert followed.read() == ([], ["unreadable-file"])
    assert followed.read() == ([], [])
    monkeypatch.undo()
    assert followed.read() == (["s1"], [])


def test_bytes_that_are_gone_or_others_before_they_are_read_are_reported(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2))
    entries = followed.look()
    path.write_text(HEADER + row(3) + row(2))
    assert followed.rows_of(entries) == ([], ["changed-file"])
    path.unlink()
    assert followed.rows_of(entries) == ([], ["changed-file"])


def test_a_file_that_is_renamed_before_it_is_read_is_found(followed) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1) + row(2))
    entries = followed.look()
    path.rename(followed.folder / "a.csv.1")
    path.write_text(HEADER + row(3))
    assert followed.rows_of(entries) == (["s1", "s2"], [])


def test_an_inode_that_is_used_again_says_nothing_about_a_file_that_was_empty(followed) -> None:
    """The identity is that of the empty file, whichever the file system gives."""
    (followed.folder / "a.jsonl").write_text("")
    assert followed.read(final=True) == ([], ["empty-file"])
    (followed.folder / "a.jsonl").rename(followed.folder / "b.csv")
    append(followed.folder / "b.csv", HEADER + row(1))
    assert followed.read() == (["s1"], [])


@pytest.mark.parametrize("given", ["log.csv", "*.csv"])
def test_a_rotated_file_is_read_to_its_end_though_its_new_name_is_not_an_input(followed, given) -> None:
    path = followed.folder / "log.csv"
    path.write_text(HEADER + row(1))
    followed.path = followed.folder / given
    followed.restart()
    assert followed.read() == (["s1"], [])
    append(path, row(2))
    path.rename(followed.folder / "log.csv.1")
    path.write_text(HEADER + row(3))
    assert followed.read() == (["s2", "s3"], [])
    append(path, row(4))
    path.rename(followed.folder / "log.csv.2")
    assert followed.read() == (["s4"], []), "no other file has its name yet"


def test_a_folder_that_cannot_be_listed_just_now_is_reported_once_and_looked_at_again(followed) -> None:
    (followed.folder / "a.csv").write_text(HEADER + row(1))
    assert followed.read() == (["s1"], [])
    followed.folder.rename(followed.folder.with_name("away"))
    assert followed.read() == ([], ["unreadable-file"])
    assert followed.read() == ([], [])
    followed.folder.with_name("away").rename(followed.folder)
    (followed.folder / "b.csv").write_text(HEADER + row(2))
    assert followed.read() == (["s2"], [])


def test_a_file_that_two_inputs_of_a_stream_find_is_read_once_and_reported(followed, tmp_path) -> None:
    path = followed.folder / "a.csv"
    path.write_text(HEADER + row(1))
    assert followed.read() == (["s1"], [])
    other = tmp_path / "other"
    other.mkdir()
    (other / "linked.csv").hardlink_to(path)
    (other / "b.csv").write_text(HEADER + row(2))
    log = FileLog(followed.notes, "weather=other")
    beside = StreamedFiles(log, Watch(str(other)), followed.files.columns, [followed.files])
    beside.look(now=0, final=True)
    stations, reported = rows_of(str(other), list(log.entries.values()))
    assert (stations, reported) == (["s2"], ["linked-file"])
    append(path, row(3))
    beside.look(now=1, final=True)
    assert log.count == 2
    assert followed.read() == (["s3"], [])


def test_changes_in_turn_with_restarts_lose_and_double_nothing(followed) -> None:
    """A writer that adds, rotates, replaces and renames at random; a look may come at any time, and so may a restart."""
    choose = random.Random(19)
    log, number, rotations, read = followed.folder / "log.csv", 0, 0, []
    log.write_text(HEADER)
    for _ in range(200):
        act = choose.randrange(6)
        text = "".join(
            row(n, '"a ""note""\nof two lines"') for n in range(number, number + choose.randint(1, 3))
        )
        if act <= 2:
            cut = choose.randint(1, len(text))
            append(log, text[:cut])
            if choose.random() < 0.5:
                read += followed.read(seconds=0.1)[0]
            append(log, text[cut:])
        elif act == 3:
            rotations += 1
            log.rename(followed.folder / f"log.csv.{rotations}")
            log.write_text(HEADER + text)
        elif act == 4:
            (followed.folder / "x.tmp").write_text(HEADER + text)
            read += followed.read(seconds=0.1)[0]  # what is replaced must have been read
            (followed.folder / "x.tmp").rename(followed.folder / "snapshot.csv")
        else:
            (followed.folder / f"{number}.csv").write_text(HEADER + text)
        number += text.count("Z,")
        if choose.random() < 0.2:
            followed.restart()
        if choose.random() < 0.5:
            stations, reported = followed.read(seconds=0.1)
            read += stations
            assert reported == []
    read += followed.read(final=True)[0]
    assert sorted(read) == sorted(f"s{n}" for n in range(number))
