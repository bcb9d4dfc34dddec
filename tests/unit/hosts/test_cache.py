from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from headwater.hosts.cache import cache_folder


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing said about where to keep things, and temporary files in a place of this test."""
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def test_the_cache_folder_of_the_desktop_is_used_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "cache" / "headwater"
    assert cache_folder().stat().st_mode & 0o777 == 0o700


def test_then_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "headwater"


@pytest.mark.parametrize("home", ["", "relative"])
def test_a_home_that_is_not_a_place_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("HOME", home)
    assert cache_folder() == tmp_path / "tmp" / f"headwater-cache-{os.getuid()}"


def test_a_home_that_cannot_be_written_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "tmp" / f"headwater-cache-{os.getuid()}"


def test_a_folder_that_others_can_write_is_never_used(tmp_path: Path) -> None:
    shared = tmp_path / "tmp" / f"headwater-cache-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    found = cache_folder()
    assert found != shared
    assert found.parent == tmp_path / "tmp"
    assert cache_folder() == found
