"""Which bytes of a file are read: all of them, or those that were added since it was last read.

Rule 1  A byte range begins where a record begins and ends where one ends, unless `mid_line` says that the line on which it begins
        was read before it was complete. What is left of such a line is no record: it is one bad row.
Rule 2  A read that fails is tried again for TRY_AGAIN_S.
Rule 3  Bytes behind `stop` are not looked at, whoever wrote them: a batch that is run again reads the same bytes.
"""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeVar

from headwater.model import HostError

TRY_AGAIN_S: Final = 5.0

T = TypeVar("T")


class Bytes(Protocol):
    """Something that bytes are read from."""

    def read(self, size: int = -1, /) -> bytes:
        """So many bytes, fewer at the end."""
        ...


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `start` up to `stop`; `line` is the line, from 1, on which `start` stands.

    `place` is where the file is now, if not where its name says: a name goes on to say in which format it is.
    """

    start: int
    stop: int
    line: int = 1
    mid_line: bool = False
    place: str = ""


class ByteRangeFile:
    """A file of which only a byte range can be read; to be closed by `with`."""

    def __init__(self, path: str, byte_range: ByteRange) -> None:
        self.path = path
        self.file = persistently(path, lambda: os.open(path, os.O_RDONLY))
        self.position = byte_range.start
        self.stop = byte_range.stop

    def read(self, size: int = -1, /) -> bytes:
        """So many bytes of the byte range, fewer at its end."""
        left = self.stop - self.position
        most = left if size < 0 else min(size, left)
        data = persistently(self.path, lambda: os.pread(self.file, most, self.position))
        self.position += len(data)
        return data

    def close(self) -> None:
        """Let it go."""
        os.close(self.file)

    def __enter__(self) -> Bytes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def persistently(path: str, attempt: Callable[[], T]) -> T:
    """What an attempt gives; one that fails is made again for a while, and then the run ends: it goes on at the next start.

    A file that is gone is no failure of this kind: it does not come back by itself.
    """
    pause_s, left_s = 0.05, TRY_AGAIN_S
    while True:
        try:
            return attempt()
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError as fault:
            if left_s <= 0:
                raise HostError(
                    "unreadable-input",
                    f"cannot read '{path}': {fault.strerror or fault}",
                    advice=[
                        "nothing is lost: the next start with the same --checkpoint reads it again",
                        "if it should not be read at all, move it away first",
                    ],
                ) from fault
            time.sleep(pause_s)
            left_s, pause_s = left_s - pause_s, 2 * pause_s


class _Unpacked:
    """What a compressed byte range holds."""

    def __init__(self, packed: ByteRangeFile) -> None:
        self.packed = packed
        self.unpacked = gzip.GzipFile(fileobj=packed, mode="rb")  # type: ignore[call-overload]

    def __enter__(self) -> Bytes:
        return self.unpacked

    def __exit__(self, *_: object) -> None:
        self.unpacked.close()
        self.packed.close()


def open_bytes(
    path: str, byte_range: ByteRange | None = None
) -> BinaryIO | gzip.GzipFile | ByteRangeFile | _Unpacked:
    """A file to read, unpacked if its name ends with .gz, or a byte range of it."""
    if byte_range is None:
        return gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb")
    part = ByteRangeFile(byte_range.place or path, byte_range)
    return _Unpacked(part) if path.endswith(".gz") else part
