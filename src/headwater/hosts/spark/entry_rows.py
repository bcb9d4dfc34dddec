"""The rows of an entry: exactly the bytes it was numbered for, or a bad row that says why not.

Rule 1  A file is checked before and after its bytes are read: it must still be what it was when the entry was numbered. One
        that was renamed meanwhile within its folder is found by its identity.
Rule 2  A file that cannot be read just now is tried again, and ends the run when that does not help (see `byte_ranges`): the next start
        runs the same batch. One that is gone or has changed is reported as a bad row, and the run goes on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from headwater.hosts.files import ByteRange, FileRows
from headwater.hosts.files.byte_ranges import persistently
from headwater.hosts.files.file_reading import PARQUET_NAMES, format_name
from headwater.hosts.files.file_rows import FileRequest
from headwater.hosts.spark.changed_file import inodes, opened
from headwater.hosts.spark.file_log import Entry
from headwater.hosts.stream_reading import read_stream
from headwater.query.planning.plan import Plan

CHANGED: Final = (
    "changed-file: bytes {:,} to {:,} were overwritten or removed before they were read; "
    "keep files until the run has read them"
)
CHANGED_AMID: Final = (
    "changed-file: it was changed while bytes {:,} to {:,} were read, and rows may be missing or wrong; "
    "write elsewhere and rename"
)


def read_entry(plan: Plan, stream: str, root: str, entry: Entry) -> Iterator[FileRows]:
    """The rows of an entry, a piece at a time, and what there is to tell about it; `root` is the folder of its input."""
    named = os.path.join(root, entry.path) if entry.path else root  # noqa: PTH118 - names that are no UTF-8
    shown = FileRequest(named, plan.stream(stream), tuple(plan.columns_read(stream)))
    if entry.reason:
        yield shown.refused(entry.reason)
    if not entry.rows:
        return
    place = _place(entry, named)
    if place is None:
        yield shown.refused(CHANGED.format(entry.start, entry.stop))
        return
    byte_range = ByteRange(entry.start, entry.stop, entry.line, entry.mid_line, place)
    yield from read_stream(plan, stream, os.path.join(root, entry.name), byte_range)  # noqa: PTH118
    if not _fits(entry, place):
        yield shown.refused(CHANGED_AMID.format(entry.start, entry.stop))


def _place(entry: Entry, named: str) -> str | None:
    """Where the file of an entry is; None if it is gone, or not what it was."""
    if _fits(entry, named):
        return named
    folder = os.path.dirname(named)  # noqa: PTH120
    others = [os.path.join(folder, name) for name, inode in inodes(folder) if inode == entry.inode]  # noqa: PTH118
    return next((path for path in others if _fits(entry, path)), None)


def _fits(entry: Entry, path: str) -> bool:
    """Whether the bytes of an entry, and what came before them, are those of a file."""

    def look() -> bool:
        with opened(path) as file:
            whole = (
                not format_name(entry.name).endswith(PARQUET_NAMES) or os.fstat(file).st_size == entry.stop
            )
            return whole and entry.fingerprint.fits(file)

    try:
        return persistently(path, look)
    except (FileNotFoundError, NotADirectoryError):
        return False
