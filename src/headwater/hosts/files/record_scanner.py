"""Where does each record of a block of text begin and end?

Rule 1  CSV: a quote opens a quoted part only at the start of a cell; inside, a doubled quote is a quote and line ends
        are content. A line ends with LF, CR LF or CR. Empty lines are no records.
Rule 2  JSON lines: a line ends with LF. PLAIN says that it is one object from its first byte to its last, nested at most
        `DEPTH_LIMIT` deep, without words such as NaN: only such lines may be passed to Arrow's JSON reader, which dies on a
        lone `null` and has a name of its own for infinity.
Rule 3  A record longer than the limit, or whose quote is never closed, costs one line: reading goes on with the next
        one. So a stray quote cannot swallow a file, and the rule does not depend on where blocks end.

Memory  what is returned: some 30 bytes a record.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop

LINE_LIMIT: Final = 1 << 20
DEPTH_LIMIT: Final = 64

# What `kinds` says where it does not count cells.
PLAIN: Final = 1
ODD: Final = 0
OPEN_QUOTE: Final = -1
TOO_LONG: Final = -2

Bytes = NDArray[np.uint8]
Scan = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], int, int]
"""starts[n], ends[n] (line ends left out), lines[n] (from 0), kinds[n], bytes used up, lines used up."""


def scan_csv(data: bytes, *, delimiter: int, limit: int, final: bool) -> Scan:
    """The records of a block that begins with one; `kinds` is the number of cells. `final`: nothing follows."""
    return _as_scan(_scan_csv(np.frombuffer(data, np.uint8), delimiter, limit, final))


def scan_lines(data: bytes, *, limit: int, final: bool) -> Scan:
    """The lines of a block of JSON lines that hold more than white space."""
    return _as_scan(_scan_lines(np.frombuffer(data, np.uint8), limit, final))


def _as_scan(found: tuple[Any, Any, Any, Any, int, int, int]) -> Scan:
    starts, ends, lines, kinds, count, used, used_lines = found
    return starts[:count], ends[:count], lines[:count], kinds[:count], used, used_lines


_FRESH, _CELL, _QUOTED = 0, 1, 2
_LF, _CR, _QUOTE, _BACKSLASH = 10, 13, 34, 92


@loop
def _scan_csv(data: Bytes, delimiter: int, limit: int, final: bool) -> Any:
    n = len(data)
    room = 1
    for i in range(n):
        if data[i] == _LF or data[i] == _CR:
            room += 1
    starts, ends, lines = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    kinds = np.empty(room, np.int32)
    count, start, line, inner, cells, state, i = 0, 0, 0, 0, 1, _FRESH, 0
    while True:
        too_long = i - start > limit
        if too_long or (i >= n and final and state == _QUOTED):
            end = start
            while end < n and end - start <= limit and data[end] != _LF and data[end] != _CR:
                end += 1
            if (too_long or not final or end < n) and (end >= n or end - start > limit):
                break  # no end of line in reach: the caller drops bytes up to the next one
            starts[count], ends[count], lines[count] = start, end, line
            kinds[count] = OPEN_QUOTE if state == _QUOTED else TOO_LONG
            count += 1
            i = end
            if i < n:
                i += 2 if data[i] == _CR and i + 1 < n and data[i + 1] == _LF else 1
                line += 1
            start, inner, cells, state = i, 0, 1, _FRESH
            continue
        if i >= n:
            break
        c = data[i]
        if state == _QUOTED:
            if c == _QUOTE:
                if i + 1 < n and data[i + 1] == _QUOTE:
                    i += 1
                elif i + 1 >= n and not final:
                    break  # the next byte decides
                else:
                    state = _CELL
            elif c == _LF or (c == _CR and not (i + 1 < n and data[i + 1] == _LF)):
                inner += 1
            i += 1
        elif c == _QUOTE and state == _FRESH:
            state = _QUOTED
            i += 1
        elif c == delimiter:
            cells += 1
            state = _FRESH
            i += 1
        elif c in (_LF, _CR):
            if c == _CR and i + 1 >= n and not final:
                break  # a line feed may follow
            if i > start:
                starts[count], ends[count], lines[count], kinds[count] = start, i, line, cells
                count += 1
            i += 2 if c == _CR and i + 1 < n and data[i + 1] == _LF else 1
            line += 1 + inner
            start, inner, cells, state = i, 0, 1, _FRESH
        else:
            state = _CELL
            i += 1
    if final and start < n and n - start <= limit and state != _QUOTED:
        starts[count], ends[count], lines[count], kinds[count] = start, n, line, cells
        count += 1
        start = n
    return starts, ends, lines, kinds, count, start, line


@loop
def _scan_lines(data: Bytes, limit: int, final: bool) -> Any:
    n = len(data)
    room = 1
    for i in range(n):
        if data[i] == _LF:
            room += 1
    starts, ends, lines = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    kinds = np.empty(room, np.int32)
    count, start, line = 0, 0, 0
    while start < n:
        end = start
        depth, deepest, last, blank, plain, quoted = 0, 0, 0, True, True, False
        while end < n and data[end] != _LF and end - start <= limit:
            c = data[end]
            if quoted:
                if c == _BACKSLASH:
                    if end + 1 < n and data[end + 1] != _LF:
                        end += 1
                elif c == _QUOTE:
                    quoted = False
            elif c == 32 or c == 9 or c == _CR:
                end += 1
                continue
            else:
                if depth == 0 and (c != 123 or not blank):
                    plain = False  # not an object, or something behind it
                if c == _QUOTE:
                    quoted = True
                elif c == 123 or c == 91:
                    depth += 1
                    deepest = max(deepest, depth)
                elif c == 125 or c == 93:
                    depth -= 1
                elif c == 73 or c == 78:
                    plain = False  # I or N: Infinity, NaN
            blank = False
            last = c
            end += 1
        end = min(end, n)
        if end - start > limit or (end >= n and not final):
            break
        if not blank:
            whole = plain and depth == 0 and not quoted and last == 125 and deepest <= DEPTH_LIMIT
            starts[count], ends[count], lines[count] = start, end, line
            kinds[count] = PLAIN if whole else ODD
            count += 1
        line += 1
        start = end + 1
    return starts, ends, lines, kinds, count, min(start, n), line


def broken_utf8(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: where in each record the first byte stands that is no UTF-8, or -1."""
    return _broken_utf8(np.frombuffer(data, np.uint8), starts, ends)


@loop
def _broken_utf8(data: Bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Any:
    found = np.full(len(starts), -1, np.int64)
    for record in range(len(starts)):
        i, end = starts[record], ends[record]
        while i < end:
            c = data[i]
            if c < 0x80:
                i += 1
                continue
            # What may follow the first byte: overlong forms, surrogates and what is past U+10FFFF are broken too.
            low, high = 0x80, 0xBF
            if 0xC2 <= c <= 0xDF:
                more = 1
            elif 0xE0 <= c <= 0xEF:
                more = 2
                low = 0xA0 if c == 0xE0 else low
                high = 0x9F if c == 0xED else high
            elif 0xF0 <= c <= 0xF4:
                more = 3
                low = 0x90 if c == 0xF0 else low
                high = 0x8F if c == 0xF4 else high
            else:
                found[record] = i - starts[record]
                break
            good = i + more < end
            for k in range(more):
                if good:
                    good = low <= data[i + 1 + k] <= high
                    low, high = 0x80, 0xBF
            if not good:
                found[record] = i - starts[record]
                break
            i += 1 + more
    return found
