"""The checksum files that Hadoop's local file system puts beside every file it writes: `.NAME.crc` beside `NAME`.

Spark reads through the same file system, so a byte that changed in a file of its own ends a run. We read them to check a whole
checkpoint without Spark, and write them where we change a file of Spark's.

Layout  `crc` and a zero byte, the size of a piece, then a CRC-32 for each piece of the file; numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from headwater.hosts.spark.atomic_files import replace_file

_MAGIC = b"crc\0"
_PIECE = 512
_MOST_PIECE = 1 << 20


def checksum_file(path: Path) -> Path:
    """Where the checksums of a file are."""
    return path.with_name(f".{path.name}.crc")


def is_checksum_file(path: Path) -> bool:
    """Whether a file holds the checksums of another."""
    return path.name.startswith(".") and path.name.endswith(".crc")


def is_intact(path: Path) -> bool | None:
    """Whether a file has the bytes that were written; None where no checksums tell."""
    try:
        known = checksum_file(path).read_bytes()
    except FileNotFoundError:
        return None
    if len(known) < 8 or not known.startswith(_MAGIC):
        return False
    (piece,) = struct.unpack_from(">I", known, 4)
    return 0 < piece <= _MOST_PIECE and known[8:] == b"".join(_checksums(path, piece))


def replace_checked(path: Path, data: bytes) -> None:
    """Replace a file of Spark's: whoever reads in between finds the old one or the new one, without checksums for a moment."""
    beside = checksum_file(path)
    beside.unlink(missing_ok=True)
    replace_file(path, data)
    replace_file(beside, _MAGIC + struct.pack(">I", _PIECE) + b"".join(_checksums(path, _PIECE)))


def _checksums(path: Path, piece: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(piece):
            yield struct.pack(">I", crc32(data))
