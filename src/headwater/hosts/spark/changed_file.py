"""A file that was looked into: what is to be read of it after what was read before."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from headwater.hosts.files.file_reading import CSV_NAMES, JSON_NAMES, PARQUET_NAMES, format_name
from headwater.hosts.files.fingerprints import Fingerprint, fingerprint
from headwater.hosts.files.line_ends import complete_csv, complete_json, count_line_ends
from headwater.hosts.files.text_blocks import ANY_LINE_END, LINE_FEED
from headwater.hosts.spark.file_log import Entry

GROWN: Final = (
    "grown-file: something was added after it was read, and the addition was not read; "
    "write such files elsewhere and rename them into the folder when they are complete"
)
SHRUNK: Final = (
    "shrunk-file: it is shorter than when it was read; additions from now on are read, "
    "but what was written in between is not"
)
BEGUN_AGAIN: Final = (
    "shrunk-file: it is shorter than when it was read, and too short to tell whether it is a new one; "
    "it was read from its beginning as a new file"
)
LINKED: Final = (
    "linked-file: another input of the stream reads the same file, under this or another name; it is read once; "
    "give each file to one input"
)
EDITED: Final = (
    "edited-file: the part that was read has changed; it was read again from its beginning as a new file, "
    "and rows that were read before may count twice"
)
_CSV, _JSON, GZIP, _PARQUET, _UNKNOWN = "csv", "json", "gzip", "parquet", "unknown"
_KINDS: Final = {_CSV: CSV_NAMES, _JSON: JSON_NAMES, _PARQUET: PARQUET_NAMES}
_PARQUET_END: Final = b"PAR1"


@dataclass(slots=True)
class SeenFile:
    """An open file that may have something new; `earlier` is what is known of it."""

    path: str
    file: int
    stat: os.stat_result
    number: int
    reason: str
    earlier: Entry | None
    columns: Sequence[str]
    waits: bool = False

    @property
    def kind(self) -> str:
        """How it is read, which goes by the name it had first."""
        name = format_name(self.name)
        if name.endswith(".gz") and name.endswith((*CSV_NAMES, *JSON_NAMES)):
            return GZIP
        return next((kind for kind, names in _KINDS.items() if name.endswith(names)), _UNKNOWN)

    @property
    def name(self) -> str:
        """The name it had first."""
        return self.earlier.name if self.earlier else self.path

    def entry(self, *, final: bool) -> Entry | None:
        """What is to be read of it now, if anything; `final`: it is complete as it is."""
        if self.reason == SHRUNK:
            lines = count_line_ends(self.file, 0, self.stat.st_size, self._line_end)
            size = self.stat.st_size
            return self._made(size, size, line=1 + lines, rows=False, unfinished=not self._ends_line(size))
        return self._text(final) if self.kind in (_CSV, _JSON) else self._whole(final)

    def linked(self) -> Entry:
        """The entry that reports a file that another input reads."""
        self.reason = LINKED
        return self._made(0, self.stat.st_size, rows=False)

    def known_as(self, earlier: Entry) -> Entry:
        """What is known of a file that says the same as before."""
        stat = self.stat
        return replace(
            earlier,
            path=self.path,
            device=stat.st_dev,
            inode=stat.st_ino,
            size=stat.st_size,
            changed_ns=stat.st_mtime_ns,
        )

    def _text(self, final: bool) -> Entry | None:
        before, size = self.earlier, self.stat.st_size
        start, mid_line = (before.stop, before.unfinished) if before else (0, False)
        stop = size if final else self._complete(start, size, mid_line=mid_line)
        self.waits = stop < size or (not size and before is None)
        if stop == start and not (final and before is None):
            return None
        line = before.line + count_line_ends(self.file, before.start, start, self._line_end) if before else 1
        return self._made(start, stop, line=line, mid_line=mid_line, unfinished=not self._ends_line(stop))

    def _whole(self, final: bool) -> Entry | None:
        before, size = self.earlier, self.stat.st_size
        if before is not None and (size == before.stop or self.kind == _UNKNOWN):
            return None
        if before is not None and not before.unfinished:
            self.reason = GROWN
            return None if before.reason == GROWN else self._made(0, size, rows=False)
        finished = self.kind != _PARQUET or os.pread(self.file, 4, max(0, size - 4)) == _PARQUET_END
        self.waits = not final and (self.kind == GZIP or not finished)
        return None if self.waits else self._made(0, size, unfinished=not finished)

    def _complete(self, start: int, stop: int, *, mid_line: bool) -> int:
        if self.kind == _CSV:
            return complete_csv(self.file, start, stop, self.columns, mid_line=mid_line)
        return complete_json(self.file, start, stop)

    @property
    def _line_end(self) -> re.Pattern[bytes]:
        return ANY_LINE_END if self.kind == _CSV else LINE_FEED

    def _ends_line(self, stop: int) -> bool:
        return not stop or os.pread(self.file, 1, stop - 1) in (b"\n", b"\r")

    def _made(
        self,
        start: int,
        stop: int,
        *,
        line: int = 1,
        rows: bool = True,
        mid_line: bool = False,
        unfinished: bool = False,
    ) -> Entry:
        stat, digests = self.stat, fingerprint(self.file, stop)
        return Entry(
            number=self.number,
            path=self.path,
            name=self.name,
            device=stat.st_dev,
            inode=stat.st_ino,
            size=stat.st_size,
            changed_ns=stat.st_mtime_ns,
            start=start,
            stop=stop,
            line=line,
            mid_line=mid_line,
            unfinished=unfinished,
            beginnings=digests.beginnings,
            ending=digests.ending,
            rows=rows,
            reason=self.reason,
        )


def inodes(folder: str) -> list[tuple[str, int]]:
    """The names of a folder and their inodes; none if it cannot be listed."""
    try:
        with os.scandir(folder) as items:
            return [(item.name, item.inode()) for item in items]
    except OSError:
        return []


def has(path: str, digests: Fingerprint) -> bool:
    """Whether a file can be read and has the bytes of a fingerprint."""
    try:
        with opened(path) as file:
            return digests.fits(file)
    except OSError:
        return False


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A file to look into; a pipe is not waited for."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield file
    finally:
        os.close(file)
