"""Is this still the file that was read, as far as it was read?

A file is known by its device and inode, but these are used again, and differ after a restore. So it is also known by what it says:

Rule 1  A file is the one that was read if the bytes of its beginning and the last bytes that were read are as they were. What
        follows them has been added.
Rule 2  A file that is now shorter than it was read has still its beginning if the longest digest that fits into it is the same,
        and covers more than a header, which files of one kind share.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

BEGINNINGS: Final = (32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 4096)
ENDING_BYTES: Final = 1024
_BEGINNING_DIGEST, _ENDING_DIGEST = 4, 8


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the first `stop` bytes of a file were: digests of those beginnings that are as long, and of the last bytes."""

    stop: int
    beginnings: tuple[str, ...]
    ending: str

    def fits(self, file: int) -> bool:
        """Whether an open file still has these bytes, and perhaps more."""
        return fingerprint(file, self.stop) == self

    def begins(self, file: int, size: int) -> bool | None:
        """Whether an open file, shorter than it was, begins as before; None if there is too little to say."""
        known = {
            length: digest
            for length, digest in zip(BEGINNINGS, self.beginnings, strict=False)
            if length <= size
        }
        if not known:
            return None
        data = os.pread(file, max(known), 0)
        length = max(known)
        if _digest(data[:length], _BEGINNING_DIGEST) != known[length]:
            return False
        header = data.find(b"\n")
        return True if 0 <= header < length - 1 else None


def fingerprint(file: int, stop: int) -> Fingerprint:
    """That of the first `stop` bytes of an open file."""
    beginning = os.pread(file, min(stop, BEGINNINGS[-1]), 0)
    start = max(0, stop - ENDING_BYTES)
    ending = beginning[start:] if stop == len(beginning) else os.pread(file, stop - start, start)
    return Fingerprint(
        start + len(ending),
        tuple(_digest(beginning[:n], _BEGINNING_DIGEST) for n in BEGINNINGS if n <= len(beginning)),
        _digest(ending, _ENDING_DIGEST),
    )


def _digest(data: bytes, size: int) -> str:
    return blake2b(data, digest_size=size).hexdigest()


EMPTY: Final = Fingerprint(0, (), _digest(b"", _ENDING_DIGEST))
