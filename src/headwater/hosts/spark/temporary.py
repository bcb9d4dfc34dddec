"""Where are Spark's temporary files, and who removes them?

A session has a folder of its own, held by a lock, and removes it when it stops. A session that was killed cannot: the next
one does, for every folder of ours that nobody holds any more.
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
from typing import Final

# A folder just made may not have its lock yet.
LEFT_AFTER_S: Final = 60.0

_PREFIX: Final = "headwater-spark-"


@dataclass(frozen=True, slots=True)
class TemporaryFolder:
    """A folder held by this process until `remove`."""

    path: Path
    lock: int

    def remove(self) -> None:
        """Delete it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def temporary_folder() -> TemporaryFolder:
    """A new folder; folders that killed sessions left are removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_if_left(left)
    path = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return TemporaryFolder(path, lock)


def _remove_if_left(folder: Path) -> None:
    with suppress(OSError):
        found = folder.stat()
        if found.st_uid != os.getuid() or time.time() - found.st_mtime < LEFT_AFTER_S:
            return
        lock = os.open(folder / "lock", os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
