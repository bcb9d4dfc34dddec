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
from contextlib import suppress
from functools import cache
from pathlib import Path


def cache_folder() -> Path:
    """The folder, made if it is not there."""
    return next((folder for folder in _candidates() if _is_ours(folder)), None) or _last_resort()


def keep_compiled_code() -> None:
    """Tell numba where to keep machine code, if it cannot be beside our own files. To be called before kernels are imported."""
    package = Path(__file__).parents[1]
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    if os.access(package, os.W_OK):
        drop_stale_code(package)
    else:
        os.environ["NUMBA_CACHE_DIR"] = str(cache_folder() / "numba")


def drop_stale_code(package: Path) -> None:
    """Delete machine code that is older than some file it may have been made from.

    Numba itself looks only at the file a function stands in, but what it keeps has the functions of other files built in: those of its
    family (a folder two below the package, and all below that), and compiled ones that all families share.
    """
    shared = max(map(_written, _shared_files(package)), default=0.0)
    for folder in package.glob("**/__pycache__"):
        family = package.joinpath(*folder.parent.relative_to(package).parts[:2])
        newest = None
        for index in folder.glob("*.nbi"):
            newest = newest or max([shared, *map(_written, family.glob("**/*.py"))])
            with suppress(OSError):  # another process may be doing the same
                if _written(index) < newest:
                    index.unlink()


def _shared_files(package: Path) -> Iterator[Path]:
    """Files with compiled functions for whoever wants them."""
    for room in ("model", "kernels"):
        for file in (package / room).glob("*.py"):
            text = file.read_text(encoding="utf-8")
            if "from numba" in text or "import numba" in text:
                yield file


def _written(file: Path) -> float:
    return file.stat().st_mtime


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
