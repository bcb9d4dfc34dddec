"""Where are the temporary files of a run, and who removes them?

Rule 1  What needs a folder has one of its own, held by a lock, and removes it at its end. A run that was killed cannot: the next
        one does, at once, for every folder of ours that nobody holds any more.
Rule 2  A folder gets its name when its lock is held. So one with such a name that nobody holds was left.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self, get_args

# A folder without a name yet may be about to get its lock.
LEFT_AFTER_S: Final = 60.0

Use = Literal["spark", "run", "sort", "view", "demo", "prepare", "test"]

_USES: Final[tuple[Use, ...]] = get_args(Use)
_UNNAMED: Final = ".headwater-new-"


@dataclass(frozen=True, slots=True)
class TemporaryFolder:
    """A folder held by this process until `remove`, or until the end of a `with`."""

    path: Path
    lock: int

    def remove(self) -> None:
        """Delete it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def temporary_folder(use: Use) -> TemporaryFolder:
    """A new folder; folders that killed runs left are removed."""
    place = Path(tempfile.gettempdir())
    _remove_left(place)
    unnamed = Path(tempfile.mkdtemp(prefix=_UNNAMED))
    lock = os.open(unnamed / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    path = place / f"headwater-{use}-{unnamed.name.removeprefix(_UNNAMED)}"
    return TemporaryFolder(unnamed.rename(path), lock)


def _remove_left(place: Path) -> None:
    for left in (folder for use in _USES for folder in place.glob(f"headwater-{use}-*")):
        with suppress(OSError):
            _remove_unheld(left)
    for left in place.glob(f"{_UNNAMED}*"):
        with suppress(OSError):
            if _is_ours(left) and time.time() - left.stat().st_mtime > LEFT_AFTER_S:
                shutil.rmtree(left, ignore_errors=True)


def _remove_unheld(folder: Path) -> None:
    if not _is_ours(folder):
        return
    lock = os.open(folder / "lock", os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _is_ours(folder: Path) -> bool:
    return folder.lstat().st_uid == os.getuid()
