"""Looking at a folder finds every change, and costs what is new in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headwater.hosts.files import folder_watch
from headwater.hosts.files.folder_watch import (
    AROUND_US,
    HOT_US,
    LEAST_IN_TURN,
    LISTED_AGAIN_US,
    MOST_IN_TURN,
    Watch,
)
from headwater.model import SECOND


class Looks:
    """A watch, and how often it asked the system about a file or listed a folder since the last look."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.watch = Watch(str(path))
        self.now = 0
        self.listings = 0
        really, listing = os.stat, os.scandir
        monkeypatch.setattr(folder_watch.os, "stat", lambda *a, **k: self.count(really, *a, **k))
        monkeypatch.setattr(folder_watch.os, "scandir", lambda *a, **k: self.count(listing, *a, **k))

    def count(self, call, *given, **named):
        self.listings += 1
        return call(*given, **named)

    def look(self, seconds: float = 0.1, **how) -> list[str]:
        self.now += round(seconds * SECOND)
        self.listings = 0
        return self.watch.changed(now=self.now, **how)


def filled(folder: Path, many: int) -> Path:
    for number in range(many):
        path = folder / f"{number:05d}.csv"
        path.write_text("x\n")
        os.utime(path, ns=(number, number))
    return folder


def test_new_files_come_in_the_order_they_were_changed(tmp_path, monkeypatch) -> None:
    looks = Looks(filled(tmp_path, 3), monkeypatch)
    os.utime(tmp_path / "00001.csv", ns=(9, 9))
    for name in (".hidden.csv", "_left.csv", "half.csv.tmp"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "folder.csv").mkdir()
    assert looks.look() == ["00000.csv", "00002.csv", "00001.csv"]
    assert looks.look() == []


def test_a_file_that_grows_is_found_wherever_it_is(tmp_path, monkeypatch) -> None:
    looks = Looks(filled(tmp_path, 500), monkeypatch)
    assert len(looks.look()) == 500
    looks.look(HOT_US / SECOND + 1)
    for name in ("00000.csv", "00250.csv", "00499.csv"):
        with (tmp_path / name).open("a") as file:
            file.write("y\n")
        found = [each for _ in range(20 + AROUND_US // SECOND) for each in looks.look(1)]
        assert found == [name]
        with (tmp_path / name).open("a") as file:
            file.write("z\n")
        assert looks.look() == [name], "it changed just before, so it is looked at each time"


def test_a_look_at_a_quiet_folder_costs_the_same_however_many_files_there_are(tmp_path, monkeypatch) -> None:
    (tmp_path / "few").mkdir()
    (tmp_path / "many").mkdir()
    listings = []
    for folder, files in (("few", 80), ("many", 4_000)):
        looks = Looks(filled(tmp_path / folder, files), monkeypatch)
        assert len(looks.look()) == files
        looks.watch.hot.clear()
        looks.look(3)
        assert looks.look(0.02) == []
        listings.append(looks.listings)
        looks.look(60)
        assert looks.listings <= MOST_IN_TURN + 2
    assert max(listings) <= LEAST_IN_TURN + 1


def test_a_new_file_costs_a_listing_and_no_look_at_the_others(tmp_path, monkeypatch) -> None:
    looks = Looks(filled(tmp_path, 4_000), monkeypatch)
    looks.look()
    looks.watch.hot.clear()
    looks.look(3)
    (tmp_path / "new.csv").write_text("x\n")
    assert looks.look(0.02) == ["new.csv"]
    assert looks.listings < 100


def test_another_file_under_an_old_name_is_found_by_the_listing(tmp_path, monkeypatch) -> None:
    looks = Looks(filled(tmp_path, 4_000), monkeypatch)
    looks.look()
    looks.watch.hot.clear()
    looks.look(3)
    (tmp_path / "half.tmp").write_text("z\n")
    os.utime(tmp_path / "half.tmp", ns=(3_999, 3_999))
    (tmp_path / "half.tmp").rename(tmp_path / "03999.csv")
    assert looks.look(0.02) == ["03999.csv"]


def test_a_folder_whose_time_of_change_says_nothing_is_listed_now_and_then(tmp_path, monkeypatch) -> None:
    looks = Looks(filled(tmp_path, 2), monkeypatch)
    looks.look()
    looks.look(3)
    before = (tmp_path).stat()
    (tmp_path / "new.csv").write_text("x\n")
    os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert looks.look() == []
    assert looks.look(LISTED_AGAIN_US / SECOND) == ["new.csv"]


def test_single_files_and_patterns(tmp_path, monkeypatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    filled(tmp_path / "a", 2)
    filled(tmp_path / "b", 1)
    assert Looks(tmp_path / "a" / "00000.csv", monkeypatch).look() == ["00000.csv"]
    assert Looks(tmp_path / "a" / "*1.csv", monkeypatch).look() == ["00001.csv"]
    many = Looks(tmp_path / "*" / "00000.csv", monkeypatch)
    assert many.watch.root == str(tmp_path)
    assert sorted(many.look()) == ["a/00000.csv", "b/00000.csv"]


def test_a_single_file_may_be_away_for_a_moment(tmp_path, monkeypatch) -> None:
    path = tmp_path / "log.csv"
    path.write_text("x\n")
    looks = Looks(path, monkeypatch)
    assert looks.look() == ["log.csv"]
    path.rename(tmp_path / "log.csv.1")
    looks.look()
    path.write_text("y\n")
    assert looks.look() == ["log.csv"]


def test_a_folder_that_is_away_for_a_moment_raises_and_is_remembered(tmp_path, monkeypatch) -> None:
    (tmp_path / "in").mkdir()
    looks = Looks(filled(tmp_path / "in", 2), monkeypatch)
    assert len(looks.look()) == 2
    (tmp_path / "in").rename(tmp_path / "out")
    with pytest.raises(FileNotFoundError):
        looks.look()
    (tmp_path / "out").rename(tmp_path / "in")
    assert looks.look() == []
