"""Which files of a path may have changed since the last look? Called often, for folders with many files.

Rule 1  A folder is listed when its own time of change says so, for SETTLES_US after that (clocks of file systems are coarse), and
        every LISTED_AGAIN_US. A listing shows new names, names that are gone, and other files under old names.
Rule 2  That a file grew shows only in the file. Those that changed in the last HOT_US are looked at each time, the others in turn:
        each of them once in AROUND_US, as far as MOST_IN_TURN files a look allow.
Rule 3  Names are below `root`: the folder, or that of a file or a pattern. A path that cannot be looked at raises OSError; what was known
        stays known.

So a look at a folder where nothing happens costs the same for a thousand files and for a million.
Memory  A few hundred bytes for each file that is there.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from headwater.model import SECOND

SETTLES_US: Final = 2 * SECOND
LISTED_AGAIN_US: Final = 10 * SECOND
HOT_US: Final = 60 * SECOND
MOST_HOT: Final = 1_000
AROUND_US: Final = 5 * SECOND
LEAST_IN_TURN: Final = 64
MOST_IN_TURN: Final = 2_000

LEFT_OUT: Final = (".", "_")
STILL_WRITTEN: Final = ".tmp"

Look = tuple[int, int, int, int]
"""Device, inode, size, time of change."""


class Watch:
    """The files of one path; `listed` are the names that were there at the last listing, and their inodes."""

    def __init__(self, path: str) -> None:
        self.root, self.names = _root(path)
        self.listed: dict[str, int] = {}
        self.looks: dict[str, Look] = {}
        self.hot: dict[str, int] = {}
        self.turn: list[str] = []
        self.next_in_turn = 0
        self.folder: Look | None = None
        self.folder_changed = self.last_listing = self.last_look = -(2**62)

    @property
    def is_whole_folder(self) -> bool:
        """Whether no name of the folder is left out because it does not fit."""
        return isinstance(self.names, _InFolder) and not self.names.pattern

    def changed(self, *, now: int, everything: bool = False, also: Iterable[str] = ()) -> list[str]:
        """The names of files that are new, gone or look other than before, those changed first in front; and those in `also`."""
        new, gone = self._list() if everything or self._is_to_list(now) else (set(), set())
        chosen = set(self.listed) if everything else {*new, *self.hot, *self._in_turn(now)}
        found = [(look[3], name) for name in chosen if (look := self._look(name, now)) is not None]
        found += [(self.looks[name][3] if name in self.looks else 0, name) for name in (*gone, *also)]
        self.last_look = now
        return list(dict.fromkeys(name for _, name in sorted(found)))

    def _look(self, name: str, now: int) -> Look | None:
        """How a file looks, if that is new."""
        try:
            status = os.stat(os.path.join(self.root, name))  # noqa: PTH116, PTH118 - called very often
        except OSError:
            return (0, 0, -1, 0) if self.looks.pop(name, None) is not None else None  # whoever opens it tells
        look = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        if not stat.S_ISREG(status.st_mode) or self.looks.get(name) == look:
            if now - self.hot.get(name, now) > HOT_US:
                del self.hot[name]
            return None
        self.looks[name] = look
        self.hot.pop(name, None)
        self.hot[name] = now
        while len(self.hot) > MOST_HOT:
            del self.hot[next(iter(self.hot))]
        return look

    def _is_to_list(self, now: int) -> bool:
        if not isinstance(self.names, _InFolder):
            return True
        status = os.stat(self.root)  # noqa: PTH116
        look = status.st_dev, status.st_ino, 0, status.st_mtime_ns
        if look != self.folder:
            self.folder, self.folder_changed = look, now
        recently = now - self.folder_changed <= SETTLES_US
        if not recently and now - self.last_listing < LISTED_AGAIN_US:
            return False
        self.last_listing = now
        return True

    def _list(self) -> tuple[set[str], set[str]]:
        """List the names; those that are new or another file than before, and those that are gone."""
        listed = dict(self.names(self.root))
        new = {name for name, inode in listed.items() if self.listed.get(name) != inode}
        gone = self.listed.keys() - listed.keys()
        if new or gone:
            for name in gone:
                self.looks.pop(name, None)
                self.hot.pop(name, None)
            self.listed, self.turn = listed, list(listed)
        return new, gone

    def _in_turn(self, now: int) -> list[str]:
        """The next files to be looked at, of all."""
        share = len(self.turn) * min(AROUND_US, now - self.last_look) // AROUND_US
        many = min(max(LEAST_IN_TURN, share), MOST_IN_TURN, len(self.turn))
        start = self.next_in_turn if self.next_in_turn < len(self.turn) else 0
        self.next_in_turn = start + many
        return self.turn[start : start + many]


class _InFolder:
    """The names in a folder, or those that fit a pattern, with their inodes."""

    def __init__(self, pattern: str = "") -> None:
        self.pattern = pattern

    def __call__(self, root: str) -> Iterator[tuple[str, int]]:
        with os.scandir(root) as items:
            for item in items:
                name = item.name
                if name.startswith(LEFT_OUT) or name.endswith(STILL_WRITTEN):
                    continue
                if not self.pattern or fnmatchcase(name, self.pattern):
                    yield name, item.inode()


class _OneFile:
    """A single file, which may be away for a moment."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, root: str) -> Iterator[tuple[str, int]]:
        yield self.name, 0


class _ManyFolders:
    """What fits a pattern with wildcards in the names of folders."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __call__(self, root: str) -> Iterator[tuple[str, int]]:
        for name in glob.glob(self.pattern, root_dir=root):  # noqa: PTH207 - a pattern may be anything
            last = os.path.basename(name)  # noqa: PTH119 - called very often
            if not last.startswith(LEFT_OUT) and not last.endswith(STILL_WRITTEN):
                yield name, 0


def _root(path: str) -> tuple[str, _InFolder | _OneFile | _ManyFolders]:
    """The folder that names are below, and how they are found."""
    place = Path(path)
    if place.is_dir():
        return path, _InFolder()
    if place.exists() or not glob.has_magic(path):
        return str(place.parent), _OneFile(place.name)
    fixed = place
    while glob.has_magic(str(fixed)):
        fixed = fixed.parent
    pattern = str(place.relative_to(fixed))
    return str(fixed), _InFolder(pattern) if os.sep not in pattern else _ManyFolders(pattern)
