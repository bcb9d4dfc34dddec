"""A file that was replaced has its name on the disk, too."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from headwater.hosts.spark import atomic_files


def test_the_folder_is_put_on_the_disk_after_the_rename(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "notes"
    path.write_text("old")
    really, synced = os.fsync, []

    def sync(file: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(file).st_mode), path.read_text()))
        really(file)

    monkeypatch.setattr(atomic_files.os, "fsync", sync)
    atomic_files.replace_file(path, b"new")
    assert synced == [(False, "old"), (True, "new")]
    assert [each.name for each in tmp_path.iterdir()] == ["notes"]
