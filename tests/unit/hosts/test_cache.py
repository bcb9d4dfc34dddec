from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from headwater.hosts.cache import cache_folder, drop_stale_code, keep_compiled_code


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing said about where to keep things, and temporary files in a place of this test."""
    for name in ("XDG_CACHE_HOME", "HOME", "NUMBA_CACHE_DIR"):
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


def test_compiled_code_stays_beside_ours_where_that_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: True)
    keep_compiled_code()
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_compiled_code_goes_to_the_cache_folder_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    package = Path(__file__).parents[3] / "src" / "headwater"
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != package and allowed(path, mode))
    keep_compiled_code()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / "home" / ".cache" / "headwater" / "numba")
    monkeypatch.delenv("NUMBA_CACHE_DIR")


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ("kernels/near/geometry/lines.py", {"far"}),
        ("kernels/near/pairs.py", {"far"}),
        ("kernels/boxes.py", set()),
        ("model/hashes.py", set()),
        ("model/errors.py", {"near", "geometry", "far"}),
        ("query/plan.py", {"near", "geometry", "far"}),
    ],
)
def test_compiled_code_goes_when_a_file_it_may_have_built_in_is_newer(
    tmp_path: Path, changed: str, left: set[str]
) -> None:
    """Folders one below the other are one family; what is compiled in `model` or right in `kernels` is built in anywhere."""
    files = [
        "kernels/near/pairs.py",
        "kernels/near/geometry/lines.py",
        "kernels/far/away.py",
        "model/errors.py",
        "query/plan.py",
    ]
    for name in (*files, "kernels/boxes.py", "model/hashes.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("from numba import njit" if file.stem in ("boxes", "hashes") else "")
        os.utime(file, (100, 300 if name == changed else 100))
    for folder in ("kernels/near", "kernels/near/geometry", "kernels/far"):
        index = tmp_path / folder / "__pycache__" / "made.nbi"
        index.parent.mkdir()
        index.touch()
        os.utime(index, (200, 200))
    drop_stale_code(tmp_path)
    assert {index.parents[1].name for index in tmp_path.glob("**/*.nbi")} == left


def test_compiled_code_may_be_left_over_in_a_folder_whose_files_are_gone(tmp_path: Path) -> None:
    """Another version of a checkout had them."""
    (tmp_path / "kernels").mkdir()
    index = tmp_path / "kernels" / "gone" / "__pycache__" / "made.nbi"
    index.parent.mkdir(parents=True)
    index.touch()
    drop_stale_code(tmp_path)
    assert index.exists()
