"""How many files may an output folder hold, and for how long?

```
answers-00000000-00000999.jsonl   batches 0 to 999, merged
answers-00001000.jsonl            batch 1000
```

Rule 1  A file is named by its batch, or by its first and last batch. A file whose batches all lie within those of another is a part of
        it that was merged: readers leave it out, and whoever opens the folder next removes it.
Rule 2  When `merge_at` files smaller than `SMALL_BYTES` have gathered, neighbours are merged into files of about that size. So there are at
        most `merge_at` small files, and as many others as the lines need.
Rule 3  The merged file is written aside and gets its name when it is whole; then its parts are removed. No line is missing at any
        moment. Between the two, a line is in two files, of which rule 1 says which one counts.
Rule 4  Only batches before the one that is written are touched: that one may run again, the others never do.
Rule 5  Files are removed for age or size only if somebody asks for it, whole files, the oldest first, the newest never. Age is counted
        back from the newest file, so nothing goes while nothing comes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headwater.hosts.spark.atomic_files import replace_file, sync_folder
from headwater.model import HostError

MERGE_AT: Final = 1000
"""Small files of an output before they are merged, unless somebody says otherwise."""

SMALL_BYTES: Final = 16 << 20
"""A file of this size is not merged any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What is done with older files: `merge_at` 0 merges never; `keep_us` and `keep_bytes` None keep all."""

    merge_at: int = MERGE_AT
    keep_us: int | None = None
    keep_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file and the batches whose lines it has."""

    first: int
    last: int
    size: int
    changed_ns: int
    path: Path

    @property
    def merged(self) -> bool:
        """Whether it may hold lines of several batches."""
        return self.first < self.last


@dataclass(slots=True)
class OutputFiles:
    """The files of one output in a folder, in the order of their batches; nobody else writes there."""

    folder: Path
    name: str
    retention: Retention
    listed: list[OutputFile] = field(default_factory=list)

    @classmethod
    def found(cls, folder: Path, name: str, retention: Retention) -> OutputFiles:
        """What is there, without what a crash left: files half written, and parts of merged ones."""
        for left in folder.glob(f".{name}-*"):
            left.unlink()
        listed = sorted(_files(folder, name), key=lambda file: (file.first, -file.last))
        remaining: list[OutputFile] = []
        for file in listed:
            if remaining and file.last <= remaining[-1].last:
                file.path.unlink()
            else:
                remaining.append(file)
        return cls(folder, name, retention, remaining)

    def replace(self, batch: int, lines: bytes) -> None:
        """The lines of a batch, which may have been written before; no lines, no file."""
        self._refuse_merged(batch)
        path = self.folder / f"{self.name}-{batch:08d}.jsonl"
        self.listed = [file for file in self.listed if file.first != batch]
        if not lines:
            path.unlink(missing_ok=True)
            return
        replace_file(path, lines)
        self.listed.append(_looked_at(path, batch, batch))
        self.listed.sort(key=lambda file: file.first)

    def tidy(self, batch: int) -> None:
        """Merge and remove what is due among the files before a batch."""
        past = [file for file in self.listed if file.last < batch]
        small = sum(file.size < SMALL_BYTES for file in past)
        if self.retention.merge_at and small >= self.retention.merge_at:
            for group in _groups(past):
                self._merge(group)
        for file in self._expired():
            file.path.unlink(missing_ok=True)
            self.listed.remove(file)

    def _merge(self, group: Sequence[OutputFile]) -> None:
        first, last = group[0], group[-1]
        path = self.folder / f"{self.name}-{first.first:08d}-{last.last:08d}.jsonl"
        place = self.listed.index(first)
        del self.listed[place : place + len(group)]
        if not (lines := b"".join(_lines_of(file) for file in group)):
            return
        replace_file(path, lines)
        os.utime(path, ns=(last.changed_ns, last.changed_ns))
        self.listed.insert(place, _looked_at(path, first.first, last.last))
        for file in group:
            file.path.unlink(missing_ok=True)
        sync_folder(self.folder)

    def _expired(self) -> list[OutputFile]:
        """The files that nobody wants to keep, the oldest first."""
        if not self.listed or (self.retention.keep_us is None and self.retention.keep_bytes is None):
            return []
        newest_ns = max(file.changed_ns for file in self.listed)
        total = sum(file.size for file in self.listed)
        found = []
        for file in self.listed[:-1]:
            old = (
                self.retention.keep_us is not None
                and newest_ns - file.changed_ns > self.retention.keep_us * 1000
            )
            if not old and (self.retention.keep_bytes is None or total <= self.retention.keep_bytes):
                break
            found.append(file)
            total -= file.size
        return found

    def _refuse_merged(self, batch: int) -> None:
        """The lines of a batch that were merged with others can no longer be separated from them."""
        ahead = max((file.last for file in self.listed if file.merged), default=-1)
        if batch <= ahead:
            raise HostError(
                "output-ahead",
                f"the folder '{self.folder}' has merged the lines of batches up to {ahead}, but the checkpoint continues with {batch}",
                advice=[
                    "use a new --output folder: the checkpoint is an older copy of the one with which the folder was written"
                ],
            )


def _files(folder: Path, name: str) -> Iterator[OutputFile]:
    named = re.compile(rf"{re.escape(name)}-([0-9]{{8,}})(?:-([0-9]{{8,}}))?\.jsonl")
    for path in folder.iterdir():
        if found := named.fullmatch(path.name):
            yield _looked_at(path, int(found[1]), int(found[2] or found[1]))


def _looked_at(path: Path, first: int, last: int) -> OutputFile:
    status = path.stat()
    return OutputFile(first, last, status.st_size, status.st_mtime_ns, path)


def _lines_of(file: OutputFile) -> bytes:
    """Nothing of a file that a reader has taken away."""
    try:
        return file.path.read_bytes()
    except FileNotFoundError:
        return b""


def _groups(files: Sequence[OutputFile]) -> Iterator[list[OutputFile]]:
    """Neighbours that are merged: small files, as many as make a large one."""
    group: list[OutputFile] = []
    size = 0
    for file in files:
        size += file.size
        if file.size < SMALL_BYTES:
            group.append(file)
        if size >= SMALL_BYTES:
            if len(group) > 1:
                yield group
            group, size = [], 0
    if len(group) > 1:
        yield group
