"""What is new in the files of one input, as numbered entries of its log.

Rule 1  A file is the one that was read, whatever it is called now, if its identity (device and inode) or its path is known and the
        bytes that were read are still there (see `fingerprints`). So a file that was renamed, linked a second time, or restored
        from a copy is not read again; and a name that is used again by another file is a new file.
Rule 2  What was added to a text file is an entry of its own, up to its last complete record. A line without an end is taken when
        nothing more will come, or when the file has been still for STILL_US.
Rule 3  Parquet and gzip files are taken whole: Parquet once its last bytes are there, gzip once it has been still for GZIP_STILL_US.
        Something added to one that was read is not read, and reported.
Rule 4  What cannot be decided is reported, by a reason in the entry: a file that became shorter, or that was changed where it was read.
Rule 5  A file that cannot be opened gets no number yet. It is reported once and tried again at every look; so is a folder.
Rule 6  A file that another input of the stream reads is not read here, and reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from headwater.hosts.files.fingerprints import EMPTY
from headwater.hosts.files.folder_watch import Watch
from headwater.hosts.spark.changed_file import (
    BEGUN_AGAIN,
    EDITED,
    GZIP,
    LINKED,
    SHRUNK,
    SeenFile,
    has,
    inodes,
    opened,
)
from headwater.hosts.spark.file_log import MOST_GONE, SPARE_LINES, Entry, FileLog
from headwater.model import SECOND

STILL_US: Final = 30 * SECOND
GZIP_STILL_US: Final = 2 * SECOND


class StreamedFiles:
    """The files of one input: which are known, and what is new in them; `columns` are those that a header may have.

    `others` are those of other inputs of the same stream.
    """

    def __init__(
        self, log: FileLog, watch: Watch, columns: Iterable[str], others: Sequence[StreamedFiles] = ()
    ) -> None:
        self.log = log
        self.watch = watch
        self.columns = tuple(columns)
        self.others = others
        self.by_path: dict[str, Entry] = {}
        self.by_identity: dict[tuple[int, int], Entry] = {}
        self.waiting: dict[str, _Waiting] = {}
        self.unreadable: set[str] = set()
        for entry in log.entries.values():
            self._know(entry)

    def look(self, *, now: int, final: bool = False) -> None:
        """Number what is new; `now` only goes on; `final`: what is there is all there is for this run."""
        also = [*self.waiting, *(self.unreadable - {""})]
        try:
            names = self.watch.changed(now=now, everything=final, also=also)
            self.unreadable.discard("")
        except OSError as fault:
            self.log.append(entry for entry in [self._unreadable("", self.log.count, fault)] if entry)
            return
        new: list[Entry] = []
        for name in (*self._rotated(names), *names):
            entry = self._tried(name, self.log.count + len(new), now, final)
            if entry is not None:
                new.append(entry)
                self._know(entry)
        self.log.append(new)

    def forget(self, *, read: int) -> None:
        """Rule 3 of `file_log`; entries before `read` are not requested again."""
        present = self.watch.listed
        if self.log.lines <= len(present) + MOST_GONE + SPARE_LINES:
            return
        known = {entry.number: entry for entry in (*self.by_path.values(), *self.by_identity.values())}
        gone = sorted(number for number, entry in known.items() if entry.path not in present)
        retained = known.keys() - set(gone[: max(0, len(gone) - MOST_GONE)])
        entries = {number: entry for number, entry in self.log.entries.items() if number >= read}
        self.log.compact({**entries, **{number: known[number] for number in retained}}.values())
        self.by_path, self.by_identity = {}, {}
        for entry in self.log.entries.values():
            self._know(entry)

    def _tried(self, name: str, number: int, now: int, final: bool) -> Entry | None:
        """What is new in one file, if anything; or that it cannot be read just now."""
        try:
            return self._change(name, number, now, final)
        except FileNotFoundError:
            self.waiting.pop(name, None)
            self.unreadable.discard(name)
        except OSError as fault:
            return self._unreadable(name, number, fault)
        return None

    def _change(self, name: str, number: int, now: int, final: bool) -> Entry | None:
        known, place = self.by_path.get(name), self.place(name)
        stat = os.stat(place)  # noqa: PTH116 - called for each file of a folder
        if known is not None and known.stop == stat.st_size and known.looks_like(stat):
            return None
        with opened(place) as file:
            self.unreadable.discard(name)
            stat = os.fstat(file)
            earlier, reason = self._earlier(name, file, stat)
            if not stat.st_size and known is not None:
                return None  # emptied, and nothing written yet
            seen = SeenFile(name, file, stat, number, reason, earlier, self.columns)
            if self._is_of_others(seen):
                return None if earlier else seen.linked()
            entry = seen.entry(final=final)
            if seen.waits and self._has_waited(name, seen, now):
                entry = entry or seen.entry(final=True)
        if not seen.waits:
            self.waiting.pop(name, None)
        if entry is None and earlier is not None and earlier.stop == stat.st_size:
            self._know(seen.known_as(earlier))  # touched, renamed or restored, no more
        return entry

    def place(self, name: str) -> str:
        """Where a file is."""
        return os.path.join(self.watch.root, name)  # noqa: PTH118 - called for each file of a folder

    def _is_of_others(self, seen: SeenFile) -> bool:
        """Whether another input of the stream reads the file."""
        if seen.earlier is not None:
            return seen.earlier.reason == LINKED
        identity = seen.stat.st_dev, seen.stat.st_ino
        return any(other is not self and other._reads(identity) for other in self.others)

    def _reads(self, identity: tuple[int, int]) -> bool:
        """Whether a file is here and was read; an inode alone may be that of a file that is gone."""
        known = self.by_identity.get(identity)
        if known is None:
            return False
        return self._is_in_place(known)

    def _rotated(self, names: Iterable[str]) -> list[str]:
        """Where files are now that had these names and have them no longer, if their new names are not among those looked at."""
        if self.watch.is_whole_folder:
            return []
        known = [entry for name in names if (entry := self.by_path.get(name)) is not None and entry.inode]
        moved = {entry.inode: entry for entry in known if not self._is_in_place(entry)}
        found = []
        for folder in {os.path.dirname(entry.path) for entry in moved.values()}:  # noqa: PTH120
            for name, inode in inodes(self.place(folder)):
                path = os.path.join(folder, name)  # noqa: PTH118
                if inode in moved and has(self.place(path), moved[inode].fingerprint):
                    found.append(path)
        return [path for path in found if path not in self.watch.listed]

    def _is_in_place(self, entry: Entry) -> bool:
        try:
            return os.stat(self.place(entry.path)).st_ino == entry.inode  # noqa: PTH116
        except OSError:
            return False

    def _earlier(self, name: str, file: int, stat: os.stat_result) -> tuple[Entry | None, str]:
        """What is known of an open file, None if it is a new one; and what there is to tell about that."""
        same = self.by_identity.get((stat.st_dev, stat.st_ino))
        for known in (same, self.by_path.get(name)):
            if known is None or stat.st_size < known.stop or not (known.stop or known.path == name):
                continue  # of a file that was empty only the name says something
            if known.fingerprint.fits(file):
                return known, ""
        if same is None or not stat.st_size or not same.stop:
            return None, ""
        begins = same.fingerprint.begins(file, stat.st_size)
        if stat.st_size >= same.stop:
            return None, EDITED if begins else ""
        if begins is None:  # under another name, an inode that is used again is more likely
            return None, BEGUN_AGAIN if same.path == name else ""
        return (same, SHRUNK) if begins else (None, "")

    def _has_waited(self, name: str, seen: SeenFile, now: int) -> bool:
        """Whether a file that is not complete has been still for long enough."""
        before = self.waiting.get(name)
        if before is None or (before.size, before.changed_ns) != (seen.stat.st_size, seen.stat.st_mtime_ns):
            before = self.waiting[name] = _Waiting(seen.stat.st_size, seen.stat.st_mtime_ns, now)
        return now - before.since >= (GZIP_STILL_US if seen.kind == GZIP else STILL_US)

    def _unreadable(self, name: str, number: int, fault: OSError) -> Entry | None:
        """Rule 5: the entry that tells of it, the first time."""
        if name in self.unreadable:
            return None
        self.unreadable.add(name)
        reason = f"unreadable-file: {fault.strerror or fault}; it is tried again until it can be read"
        known = self.by_path.get(name) or _nothing_known(name)
        return replace(known, number=number, reason=reason, rows=False)

    def _know(self, entry: Entry) -> None:
        self.by_path[entry.path] = entry
        if entry.inode:
            self.by_identity[entry.identity] = entry


@dataclass(frozen=True, slots=True)
class _Waiting:
    """How a file that is not complete looked when it last changed."""

    size: int
    changed_ns: int
    since: int


def _nothing_known(path: str) -> Entry:
    return Entry(0, path, path, 0, 0, -1, 0, 0, 0, 1, False, False, (), EMPTY.ending, rows=False)
