"""Where may things stay between two starts? Compiled code, class archives, logs.

Rule 1  `$XDG_CACHE_HOME/headwater`, or `~/.cache/headwater`; where neither can be written, a folder of the user's own
        among the temporary files. Everything in it can be deleted at any time.
Rule 2  What lies there is run, so a folder that belongs to somebody else is never used.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path


def cache_folder() -> Path:
    """The folder, made if it is not there."""
    return next((folder for folder in _candidates() if _is_ours(folder)), None) or _last_resort()


def _candidates() -> Iterator[Path]:
    for variable, below in (("XDG_CACHE_HOME", "headwater"), ("HOME", ".cache/headwater")):
        folder = Path(os.environ.get(variable, ""))
        if folder.is_absolute():
            yield folder / below
    yield Path(tempfile.gettempdir()) / f"headwater-cache-{os.getuid()}"


def _is_ours(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return False
    others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid == os.getuid() and not others_write and os.access(folder, os.W_OK | os.X_OK)


@cache
def _last_resort() -> Path:
    return Path(tempfile.mkdtemp(prefix="headwater-cache-"))
