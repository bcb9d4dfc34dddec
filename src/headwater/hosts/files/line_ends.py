"""How far is a text file complete, and on which line does a byte stand?

Rule 1  A record is complete when its line has ended; of CSV, when that end is not within quotes.
Rule 2  As little as possible is read: the end of the file, unless it is CSV with quotes. Those are looked at from
        the last complete record on, by the scanner that reads them later.
Memory  One block, and one line up to its limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from headwater.hosts.files.record_scanner import LINE_LIMIT
from headwater.hosts.files.text_blocks import ANY_LINE_END, LINE_FEED, Scanner

BLOCK_BYTES: Final = 1 << 20


def complete_json(file: int, start: int, stop: int) -> int:
    """Where the last complete line of these bytes ends; `start` if none does."""
    return _last_line_end(file, start, stop, LINE_FEED)


def complete_csv(file: int, start: int, stop: int, names: Iterable[str], *, mid_line: bool = False) -> int:
    """Where the last complete record of these bytes ends; `names` are the columns that a header may have."""
    if not any(b'"' in block for block in _blocks(file, start, stop)):
        return _last_line_end(file, start, stop, ANY_LINE_END)
    from headwater.hosts.files.csv_files import CsvScanner

    scan = CsvScanner(names)
    if start:
        scan(os.pread(file, min(start, LINE_LIMIT), 0), LINE_LIMIT, True)  # which delimiter the header has
    return _scanned(file, start, stop, scan, dropping=mid_line)


def count_line_ends(file: int, start: int, stop: int, line_end: re.Pattern[bytes]) -> int:
    """How many lines end in these bytes."""
    count, last = 0, b""
    for block in _blocks(file, start, stop):
        count += block.count(b"\n")
        if line_end is ANY_LINE_END:
            count += block.count(b"\r") - block.count(b"\r\n") - (last == b"\r" and block[:1] == b"\n")
            last = block[-1:]
    return count


def _last_line_end(file: int, start: int, stop: int, line_end: re.Pattern[bytes]) -> int:
    """Goes backwards; a CR that is the last byte may be half of a line end, so it is none yet."""
    marks = (b"\n",) if line_end is LINE_FEED else (b"\n", b"\r")
    end = stop
    while end > start:
        begin = max(start, end - BLOCK_BYTES)
        block = os.pread(file, end - begin, begin)
        if end == stop and b"\r" in marks:
            block = block.removesuffix(b"\r")
        found = max(block.rfind(mark) for mark in marks)
        if found >= 0:
            return begin + found + 1
        end = begin
    return start


def _scanned(file: int, start: int, stop: int, scan: Scanner, *, dropping: bool) -> int:
    """As the reader goes from block to block, only to know where the last record ends. A line that is too long is dropped."""
    complete, position, rest = start, start, b""
    for block in _blocks(file, start, stop):
        data = rest + block
        if dropping:
            found = ANY_LINE_END.search(data)
            if found is None or (found.group() == b"\r" and found.end() == len(data)):
                position, rest = position + len(data) - 1, data[-1:]  # it may be half of a line end
                continue
            position, data, dropping = position + found.end(), data[found.end() :], False
            complete = position
        used = scan(data, LINE_LIMIT, False)[4]
        position, rest = position + used, data[used:]
        complete = position
        dropping = len(rest) > LINE_LIMIT + 1
    return complete


def _blocks(file: int, start: int, stop: int) -> Iterator[bytes]:
    while start < stop and (block := os.pread(file, min(BLOCK_BYTES, stop - start), start)):
        start += len(block)
        yield block
