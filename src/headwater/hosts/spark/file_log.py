"""Which files of a folder came in which order: the order that offsets and lateness go by.

Rule 1  A file gets its number when it is first seen and keeps it; files seen together are numbered by time of change, then
        name. Numbers are on disk before any offset speaks of them.
Rule 2  A file is read once, as it is when its turn comes. Write elsewhere and rename into the folder.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path

from headwater.hosts.files import find_files


class FileLog:
    """The numbered files of one input, kept in a file of `folder` named by a digest: a stream may be called anything."""

    def __init__(self, folder: Path, name: str, path: str) -> None:
        self.path = path
        self.file = folder / f"{blake2b(name.encode(), digest_size=12).hexdigest()}.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        self.entries = self._read()
        self.known = set(self.entries)

    def refresh(self) -> int:
        """Number what is new; how many files there are."""
        found = [str(Path(path).resolve()) for path in find_files(self.path)]
        new = [path for path in found if path not in self.known]
        if new:
            with self.file.open("ab") as log:
                log.write("".join(json.dumps(path) + "\n" for path in new).encode())
                log.flush()
                os.fsync(log.fileno())
            self.entries += new
            self.known.update(new)
        return len(self.entries)

    def _read(self) -> list[str]:
        if not self.file.exists():
            return []
        data = self.file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):  # cut off while being written: no offset can know that line
            with self.file.open("r+b") as log:
                log.truncate(len(whole))
        return [json.loads(line) for line in whole.decode().splitlines()]
