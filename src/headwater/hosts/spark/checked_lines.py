"""Notes as lines of JSON, each with a checksum in front: a byte that changed is noticed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any


class ChangedLine(Exception):  # noqa: N818 - whoever reads the lines makes an error of it
    """A line, counted from 1, was changed after it was written."""

    def __init__(self, number: int) -> None:
        super().__init__(f"line {number} was changed after it was written")


def to_line(fields: Mapping[str, Any]) -> bytes:
    """Fields as a line, with its end."""
    text = json.dumps(fields, separators=(",", ":")).encode()
    return _checksum(text) + b" " + text + b"\n"


def from_lines(data: bytes) -> list[dict[str, Any]]:
    """The fields of whole lines."""
    found = []
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        checksum, _, text = line.partition(b" ")
        if checksum != _checksum(text):
            raise ChangedLine(number)
        found.append(json.loads(text))
    return found


def _checksum(text: bytes) -> bytes:
    return f"{zlib.crc32(text):08x}".encode()
