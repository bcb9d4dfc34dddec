"""Compiled loops as files, one for each loop and the types it was called with.

Rule 1  A file is complete or not there: it is written under another name and then renamed. It begins with a digest of the rest; one
        that is damaged counts as missing and is written again.
Rule 2  Its name says all that the code depends on (`headwater/compiled/keys.py`). So nothing is ever out of date, and versions,
        environments and checkouts share what they have in common.
Rule 3  One process compiles a loop, others wait for it (a lock of the system, which goes away with the process that holds it).
Rule 4  What no process has used for DAYS_UNUSED days goes; above MOST_BYTES the longest unused goes first. Looked at once for every
        process that stores something.
Rule 5  A folder that cannot be written makes everything slower and nothing wrong.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from headwater.compiled import code_store, keep_code_in
from headwater.hosts.cache import cache_folder

MOST_BYTES: Final = 256 * 1024 * 1024
DAYS_UNUSED: Final = 60
LOCKS: Final = 64
"""So many lock files there are. Two loops that share one wait for one another, which is right, if slow."""

_DAY_S: Final = 86_400
_DIGEST: Final = hashlib.sha256().digest_size


def use_compiled_code() -> StoredCode:
    """From now on this process loads compiled loops from the user's cache folder and stores them there. Quick, and harmless when repeated."""
    store = code_store()
    if not isinstance(store, StoredCode):
        store = StoredCode(cache_folder() / "kernels")
        keep_code_in(store)
    return store


class StoredCode:
    """A folder of compiled loops."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.say: Callable[[str], None] = _nothing
        """Gets the module of each loop that is about to be compiled."""
        self._pruned = False

    def has(self, key: str) -> bool:
        """Without reading it."""
        return self._file(key).exists()

    def load(self, key: str) -> bytes | None:
        """The code; None if it is not there or damaged."""
        file = self._file(key)
        try:
            held = file.read_bytes()
        except OSError:
            return None
        digest, code = held[:_DIGEST], held[_DIGEST:]
        if hashlib.sha256(code).digest() != digest:
            return None
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _DAY_S:
                os.utime(file)  # in use
        return code

    def save(self, key: str, code: bytes) -> None:
        """Keep the code, if that is possible."""
        file = self._file(key)
        with suppress(OSError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".part-", dir=file.parent)
            part = Path(name)
            try:
                with os.fdopen(handle, "wb") as written:
                    written.write(hashlib.sha256(code).digest() + code)
                part.replace(file)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            if not self._pruned:
                self._pruned = True
                self.prune()

    @contextmanager
    def compiling(self, key: str, name: str) -> Iterator[None]:
        """While the loop of a key is compiled; at most by one process."""
        lock = self._lock(key)
        try:
            if self.load(key) is None:
                self.say(name)
            yield
        finally:
            if lock is not None:
                os.close(lock)

    def prune(self) -> None:
        """Delete what has not been used for long, and what is too much."""
        files = []
        for file in self.folder.glob("*/*"):
            with suppress(OSError):
                found = file.stat()
                files.append((found.st_mtime, found.st_size, file))
        total = sum(size for _, size, _ in files)
        oldest = time.time() - DAYS_UNUSED * _DAY_S
        for used, size, file in sorted(files):
            if used >= oldest and total <= MOST_BYTES:
                break
            if file.parent.name != "locks":
                with suppress(OSError):
                    file.unlink()
                total -= size

    def _file(self, key: str) -> Path:
        return self.folder / key

    def _lock(self, key: str) -> int | None:
        """None where the system or the folder has no locks: then two processes may compile the same."""
        try:
            (self.folder / "locks").mkdir(mode=0o700, parents=True, exist_ok=True)
            number = hashlib.sha256(key.encode()).digest()[0] % LOCKS
            lock = os.open(
                self.folder / "locks" / f"{number:02}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            os.close(lock)
            return None
        except BaseException:
            os.close(lock)
            raise
        return lock


def _nothing(_: str) -> None: ...
