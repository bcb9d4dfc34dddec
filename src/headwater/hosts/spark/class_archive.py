"""Why does Spark start in half the time from the second start on? Because its classes come from an archive.

Loading and checking some 18,000 classes is most of what a JVM does until Spark's first answer. A start without an archive
writes down which classes it loads; from that list a Java process of low priority makes an archive (some 200 MB) that
later starts map into memory.

Rule 1  An archive belongs to one Java and one set of jars, and is named by them: a new version of either makes a new one.
Rule 2  It appears by renaming, whole or not at all. The list beside it is also the sign that somebody is at work on it.
Rule 3  It is only ever a gain: what the JVM cannot use it ignores.

Disk    The `MOST_ARCHIVES` last used ones stay.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headwater.hosts.spark.java import Java

MOST_ARCHIVES: Final = 2
ABANDONED_AFTER_S: Final = 600.0

# Arguments: the new file, its name when it is whole, the class list, then the command that makes it.
_MAKE: Final = (
    'new=$1 whole=$2 list=$3; shift 3; nice -n 19 "$@" && mv -f "$new" "$whole"; rm -f "$new" "$list"'
)


@dataclass(frozen=True, slots=True)
class Archive:
    """The archive of one Java and one class path, made or not."""

    java: Java
    jars: tuple[Path, ...]
    path: Path

    @property
    def is_made(self) -> bool:
        """Whether it is there."""
        return self.path.is_file()

    def options(self, classes: Path) -> list[str]:
        """Options for a JVM that uses it or, as long as it is not there, lists its classes in the file `classes`."""
        if not self.is_made:
            return [f"-XX:DumpLoadedClassList={classes}"]
        with suppress(OSError):
            os.utime(self.path)
        return ["-Xshare:auto", f"-XX:SharedArchiveFile={self.path}"]

    def make(self, classes: Path) -> subprocess.Popen[bytes] | None:
        """Start making it in the background; None if it is there, being made, or there is no list to make it from."""
        taken = self.path.with_suffix(".classes")
        if self.is_made or not _take_over(classes, taken):
            return None
        _forget_old(self.path.parent)
        new = self.path.with_suffix(f".new-{os.getpid()}")
        command = [
            str(self.java.program), "-Xshare:dump", f"-XX:SharedClassListFile={taken}", f"-XX:SharedArchiveFile={new}",
            "-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", os.pathsep.join(map(str, self.jars)),
        ]  # fmt: skip
        return subprocess.Popen(
            ["/bin/sh", "-c", _MAKE, "sh", str(new), str(self.path), str(taken), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def archive_for(java: Java, jars: Sequence[Path], folder: Path) -> Archive:
    """The archive for this Java and these jars in a cache folder."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(f"{java.home.resolve()} {java.version}".encode())
    for jar in jars:
        found = jar.stat()
        digest.update(f"\n{jar} {found.st_size} {found.st_mtime_ns}".encode())
    return Archive(java, tuple(jars), folder / f"java-{java.version}-{digest.hexdigest()[:16]}.jsa")


def _take_over(classes: Path, taken: Path) -> bool:
    """Move the list to where the archive will be, unless there is one already: then somebody else makes the archive."""
    with suppress(OSError):
        if time.time() - taken.stat().st_mtime > ABANDONED_AFTER_S:
            taken.unlink()
    try:
        # The JVM may still be writing: a half line at the end is left out.
        whole_lines = classes.read_bytes().rpartition(b"\n")[0]
        with taken.open("xb") as written:
            written.write(whole_lines + b"\n")
    except OSError:
        return False
    return bool(whole_lines)


def _forget_old(folder: Path) -> None:
    made = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
    left = [path for path in folder.glob("*.new-*") if time.time() - path.stat().st_mtime > ABANDONED_AFTER_S]
    for path in [*made[MOST_ARCHIVES - 1 :], *left]:
        with suppress(OSError):
            path.unlink()
