"""A text file as blocks of whole records, with the line each record stands on.

Rule 1  Memory is bounded by the block and the line limit, whatever the file holds.
Rule 2  A record that cannot be text at all (too long, a quote never closed, broken UTF-8) is found here, the same way for
        CSV and JSON lines and whatever columns are requested.
Rule 3  A file that breaks off (a torn gzip stream, a disk error) gives what came before and then says so.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.hosts.files.byte_ranges import ByteRange, open_bytes
from headwater.hosts.files.record_scanner import LINE_LIMIT, OPEN_QUOTE, TOO_LONG, Scan, broken_utf8

BLOCK_BYTES: Final = 4 << 20

Scanner = Callable[[bytes, int, bool], Scan]
"""(data, limit, final) -> the records of data."""

READ_FAULTS: Final = (OSError, EOFError, zlib.error)

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
ANY_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
LINE_FEED: Final = re.compile(rb"\n")

CONTINUED_LINE: Final = (
    "continued-line: the beginning of this line was read before the line was complete; write complete lines"
)


@dataclass(frozen=True, slots=True)
class Block:
    """Some records: where they are in `data`, their lines (from 1), what the scanner says, and what is wrong with them.

    `faults` maps the number of a record to a reason; `broken` is why nothing more can be read, if so.
    """

    data: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]
    kinds: NDArray[np.int32]
    faults: dict[int, str]
    broken: str | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, record: int) -> str:
        """The record as it stands in the file; bytes that are no text as \\xff."""
        return self.data[self.starts[record] : self.ends[record]].decode("utf-8", "backslashreplace")

    def bytes_of(self, chosen: NDArray[np.int64]) -> bytes | memoryview:
        """The chosen records (rising numbers) as lines."""
        if not len(chosen):
            return b""
        breaks = np.flatnonzero(np.diff(chosen) != 1)
        first = chosen[np.concatenate([[0], breaks + 1])]
        last = chosen[np.concatenate([breaks, [len(chosen) - 1]])]
        view = memoryview(self.data)
        parts = [
            view[a:b] for a, b in zip(self.starts[first].tolist(), self.ends[last].tolist(), strict=True)
        ]
        return parts[0] if len(parts) == 1 else b"\n".join(parts)


def read_blocks(
    path: str,
    scan: Scanner,
    *,
    line_end: re.Pattern[bytes],
    block_bytes: int = BLOCK_BYTES,
    limit: int = LINE_LIMIT,
    byte_range: ByteRange | None = None,
) -> Iterator[Block]:
    """The records of a file, or of a byte range of it. A byte order mark at the file's start is left out."""
    line, rest, dropping, final = byte_range.line if byte_range else 1, b"", False, False
    first, mid_line = not byte_range or not byte_range.start, byte_range is not None and byte_range.mid_line
    try:
        with open_bytes(path, byte_range) as file:
            while not final:
                read = file.read(block_bytes)
                final = not read
                data = rest + read
                if first and data:
                    data, first = data.removeprefix(BYTE_ORDER_MARK), False
                if mid_line and data:
                    mid_line, dropping = False, not line_end.match(data)
                    if dropping:
                        yield _unusable(_first_line(data, line_end), line, limit, CONTINUED_LINE)
                if dropping:
                    data, dropping = _after_line(data, 0, line_end, final)
                    line += not dropping
                    if dropping:
                        rest = data
                        continue
                block, used, lines = _scanned(data, scan, limit, final, line)
                line, rest = line + lines, data[used:]
                yield block
                if len(rest) > limit + (not final):  # a CR may still end it
                    yield _unusable(rest, line, limit, _LENGTH_FAULTS[TOO_LONG])
                    rest, dropping = _after_line(rest, limit, line_end, final)
                    line += not dropping
                    final = False
    except READ_FAULTS as fault:
        empty = np.empty(0, np.int64)
        yield Block(b"", empty, empty, empty + line, empty.astype(np.int32), {}, broken=_words(fault))


def _after_line(data: bytes, start: int, line_end: re.Pattern[bytes], final: bool) -> tuple[bytes, bool]:
    """What follows the first end of a line, and whether there is none yet."""
    found = line_end.search(data, start)
    if found and (found.group() != b"\r" or found.end() < len(data) or final):
        return data[found.end() :], False
    return (b"\r" if found else b""), True  # a line feed may follow


def _first_line(data: bytes, line_end: re.Pattern[bytes]) -> bytes:
    found = line_end.search(data)
    return data[: found.start()] if found else data


def _scanned(data: bytes, scan: Scanner, limit: int, final: bool, line: int) -> tuple[Block, int, int]:
    starts, ends, lines, kinds, used, used_lines = scan(data, limit, final)
    faults = _broken_utf8(data, starts, ends)
    for record in np.flatnonzero(kinds < 0).tolist():
        faults[record] = _LENGTH_FAULTS[int(kinds[record])]
    return Block(data, starts, ends, lines + line, kinds, faults), used, used_lines


_LENGTH_FAULTS = {
    OPEN_QUOTE: "open-quote: a quoted cell is never closed",
    TOO_LONG: f"line-too-long: a line may have {LINE_LIMIT:,} bytes",
}


def _unusable(data: bytes, line: int, limit: int, fault: str) -> Block:
    """A line of which nothing but its beginning is used."""
    return Block(
        data[:limit],
        np.zeros(1, np.int64),
        np.full(1, min(limit, len(data))),
        np.full(1, line),
        np.full(1, TOO_LONG, np.int32),
        {0: fault},
    )


def _broken_utf8(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> dict[int, str]:
    if data.isascii() or not len(starts):
        return {}
    try:
        str(memoryview(data)[int(starts[0]) : int(ends[-1])], "utf-8")
    except UnicodeDecodeError:
        places = broken_utf8(data, starts, ends)
        return {
            record: f"broken-utf8: byte 0x{data[starts[record] + places[record]]:02x} at position {places[record] + 1}"
            for record in np.flatnonzero(places >= 0).tolist()
        }
    return {}


def _words(fault: BaseException) -> str:
    said = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return f"unreadable-file: {said or type(fault).__name__}"
