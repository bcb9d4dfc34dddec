"""Compiled code is never out of date, is made once, and survives whatever does not change it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headwater.hosts import stored_code
from headwater.hosts.stored_code import StoredCode

CALLED = "from headwater.compiled import loop\n\n@loop\ndef step(x):\n    return x + 1\n"
PROGRAM = """
import sys
from headwater.compiled import loop
from headwater.hosts.stored_code import use_compiled_code
from called import step

@loop
def entry(x):
    return step(x) * 10

store = use_compiled_code()
store.say = lambda name: print("compiling", file=sys.stderr)
print(entry(1))
"""


def _write(folder: Path, called: str = CALLED) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "called.py").write_text(called)
    (folder / "program.py").write_text(PROGRAM)
    for name in ("called.py", "program.py"):
        os.utime(folder / name, (1_000_000_000, 1_000_000_000))


def _start(folder: Path, cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "program.py"], cwd=folder, env=environment, text=True, stdout=-1, stderr=-1
    )


def _run(folder: Path, cache: Path) -> tuple[int, int]:
    """The answer of the program, and how often it compiled."""
    answer, errors = _start(folder, cache).communicate(timeout=300)
    return int(answer), errors.count("compiling")


def test_a_called_function_of_another_file_changes_and_so_does_the_answer(tmp_path: Path) -> None:
    """The folder cannot be written, and the file has the time it always had: nothing but its content says that it is another."""
    package = tmp_path / "package"
    _write(package)
    package.chmod(0o500)
    try:
        assert _run(package, tmp_path) == (20, 1)
        package.chmod(0o700)
        _write(package, CALLED.replace("x + 1", "x + 2"))
        package.chmod(0o500)
        assert _run(package, tmp_path) == (30, 1)
    finally:
        package.chmod(0o700)
    assert not list(package.rglob("*.nb*"))


def test_an_upgrade_that_leaves_a_loop_alone_leaves_its_code_alone(tmp_path: Path) -> None:
    for folder in ("old", "new"):
        _write(tmp_path / folder)
    for name in ("called.py", "program.py"):
        (tmp_path / "new" / name).touch()
    assert _run(tmp_path / "old", tmp_path) == (20, 1)
    assert _run(tmp_path / "new", tmp_path) == (20, 0)


def test_two_processes_at_once_compile_it_once(tmp_path: Path) -> None:
    _write(tmp_path / "package")
    both = [_start(tmp_path / "package", tmp_path) for _ in range(2)]
    said = [each.communicate(timeout=300) for each in both]
    assert [answer for answer, _ in said] == ["20\n", "20\n"]
    assert sum(errors.count("compiling") for _, errors in said) == 1


@pytest.mark.parametrize("damage", [b"", b"x" * 40, b"\x80\x04N."])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    _write(tmp_path / "package")
    _run(tmp_path / "package", tmp_path)
    (file,) = (tmp_path / "headwater" / "kernels").glob("python*/*")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] + damage)
    assert _run(tmp_path / "package", tmp_path) == (20, 1)
    assert _run(tmp_path / "package", tmp_path) == (20, 0)


def test_what_is_stored_is_there_again_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    store = StoredCode(tmp_path / "kernels")
    assert store.load("machine/loop-1") is None
    store.save("machine/loop-1", b"code")
    assert StoredCode(tmp_path / "kernels").load("machine/loop-1") == b"code"
    assert stat.S_IMODE((tmp_path / "kernels" / "machine" / "loop-1").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_written_loses_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "kernels").write_text("a file where a folder should be")
    store = StoredCode(tmp_path / "kernels")
    store.save("machine/loop-1", b"code")
    with store.compiling("machine/loop-1", "module"):
        assert store.load("machine/loop-1") is None


def test_what_was_not_used_for_long_goes(tmp_path: Path) -> None:
    store = StoredCode(tmp_path)
    for name in ("old", "new"):
        store.save(f"machine/{name}", b"code")
    long_ago = time.time() - 86_400 * (stored_code.DAYS_UNUSED + 1)
    os.utime(tmp_path / "machine" / "old", (long_ago, long_ago))
    store.prune()
    assert (store.has("machine/old"), store.has("machine/new")) == (False, True)


def test_using_code_again_after_days_is_noted(tmp_path: Path) -> None:
    store = StoredCode(tmp_path)
    store.save("machine/used", b"code")
    long_ago = time.time() - 86_400 * (stored_code.DAYS_UNUSED + 1)
    os.utime(tmp_path / "machine" / "used", (long_ago, long_ago))
    assert store.load("machine/used") == b"code"
    store.prune()
    assert store.has("machine/used")


def test_above_the_bound_the_longest_unused_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_code, "MOST_BYTES", 250)
    store = StoredCode(tmp_path)
    for age, name in enumerate(("newest", "middle", "oldest")):
        store.save(f"machine/{name}", bytes(100 - 32))
        when = time.time() - 100 * age
        os.utime(tmp_path / "machine" / name, (when, when))
    store.prune()
    assert [name for name in ("newest", "middle", "oldest") if store.has(f"machine/{name}")] == [
        "newest",
        "middle",
    ]
