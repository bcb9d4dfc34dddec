"""Which bytes of which files came in which order: the order that offsets and lateness go by.

Rule 1  An entry gets its number when it is found and keeps it. Entries are on disk before any offset speaks of them.
Rule 2  Each line has a checksum. A line that was changed after it was written, or that is missing though an offset speaks of it, ends in a
        refusal; only a last line that was cut off while it was written is left out, because no offset can know it.
Rule 3  The last entry of a file is what is known of it. Earlier ones are forgotten once they were read and cannot be requested
        again; so are all of a file that is gone, after MOST_GONE others went. The log is then written anew.
Memory  One entry for each file that is there, MOST_GONE others, and the entries not read yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from headwater.hosts.files.fingerprints import Fingerprint
from headwater.hosts.spark.atomic_files import replace_file
from headwater.hosts.spark.checked_lines import ChangedLine, from_lines, to_line
from headwater.model import HostError

FORMAT: Final = 1
MOST_GONE: Final = 10_000
"""Files that are gone and still known, should they come back."""

SPARE_LINES: Final = 10_000
"""Lines that are of no use any more, before a log is written anew."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Some bytes of a file, numbered: those from `start` up to `stop`, which begin on `line`; and what is known of the file.

    `path` begins at the folder of the input, so that the folder may be moved or copied.
    `unfinished`: its last line, or a Parquet file, is not complete. `mid_line`: it begins in a line of which the rest was read. `name`: the name
    it had first, which says in which format it is. `rows`: whether its bytes are read; otherwise it only tells its `reason`.
    """

    number: int
    path: str
    name: str
    device: int
    inode: int
    size: int
    changed_ns: int
    start: int
    stop: int
    line: int
    mid_line: bool
    unfinished: bool
    beginnings: tuple[str, ...]
    ending: str
    rows: bool = True
    reason: str = ""

    @property
    def fingerprint(self) -> Fingerprint:
        """What the file was up to `stop`."""
        return Fingerprint(self.stop, self.beginnings, self.ending)

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        return self.device, self.inode

    def looks_like(self, stat: os.stat_result) -> bool:
        """Whether nothing of the file seems to have changed."""
        return (self.device, self.inode, self.size, self.changed_ns) == (
            stat.st_dev,
            stat.st_ino,
            stat.st_size,
            stat.st_mtime_ns,
        )


class FileLog:
    """The entries of one input, stored in a file of `folder` named by a digest: a stream may be called anything."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.file = (
            folder / f"{blake2b(name.encode(errors='surrogateescape'), digest_size=12).hexdigest()}.jsonl"
        )
        self.entries: dict[int, Entry] = {}
        self.count = 0
        self.lines = 0
        self.length = 0
        if self.file.exists():
            self._read()

    def append(self, entries: Iterable[Entry]) -> None:
        """Some more entries, numbered from `count` on."""
        new = list(entries)
        if not new:
            return
        assert [entry.number for entry in new] == list(range(self.count, self.count + len(new)))
        if not self.lines:
            self._rewrite()
        self._write(b"".join(to_line(asdict(entry)) for entry in new))
        self.entries.update({entry.number: entry for entry in new})
        self.count += len(new)
        self.lines += len(new)

    def compact(self, retained: Iterable[Entry]) -> None:
        """Forget all entries but these."""
        self.entries = {entry.number: entry for entry in sorted(retained, key=lambda entry: entry.number)}
        self._rewrite()

    def _write(self, lines: bytes) -> None:
        """Put lines behind those that are known; when that fails, for a full disk say, they are none of the log."""
        try:
            with self.file.open("r+b") as log:
                log.truncate(self.length)
                log.seek(self.length)
                log.write(lines)
                log.flush()
                os.fsync(log.fileno())
        except OSError as cause:
            raise self._unwritable(cause) from cause
        self.length += len(lines)

    def _rewrite(self) -> None:
        head = {"format": FORMAT, "input": self.name, "next": self.count}
        lines = [to_line(head), *(to_line(asdict(entry)) for entry in self.entries.values())]
        data = b"".join(lines)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.file, data)
        except OSError as cause:
            raise self._unwritable(cause) from cause
        self.lines, self.length = len(lines), len(data)

    def _unwritable(self, cause: OSError) -> HostError:
        return HostError(
            "checkpoint-unwritable",
            f"cannot write to '{self.file}': {cause.strerror or cause}",
            advice=["nothing is lost: the next start with the same --checkpoint continues"],
        )

    def _read(self) -> None:
        data = self.file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            raise self.damaged("it is empty")
        try:
            head, *rest = from_lines(whole)
        except ChangedLine as fault:
            raise self.damaged(str(fault)) from fault
        if head.get("format") != FORMAT or head.get("input") != self.name:
            raise self.damaged("it was written by another version, or for another input")
        self.length = len(whole)  # a line that was cut off while it was written is overwritten by the next
        self.count = head["next"]
        for entry in _entries(rest):
            self.entries[entry.number] = entry
            self.count = max(self.count, entry.number + 1)
        self.lines = 1 + len(rest)

    def damaged(self, why: str) -> HostError:
        """The refusal to go on with this log."""
        return HostError(
            "state-unreadable",
            f"the checkpoint's notes on the files of '{self.name}' cannot be used: {why}",
            advice=[
                f"the notes: {self.file}",
                "restore the checkpoint from a copy, or start with a new --checkpoint folder: "
                "without the notes, rows would be lost or read twice",
            ],
        )


def _entries(lines: Iterable[dict[str, Any]]) -> Iterator[Entry]:
    for fields in lines:
        yield Entry(**{**fields, "beginnings": tuple(fields["beginnings"])})
