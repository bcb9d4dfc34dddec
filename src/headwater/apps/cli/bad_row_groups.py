"""How large may the bad output become?

Each bad row is written with its stream, file, line and reason, which may be fifty times as long as the row itself. So of many bad lines that
follow one another in a file the first `ALONE` are written one by one, and the others `TOGETHER` at a time: one row with the line and the
reason of the first of them, how many come after it, and the texts of all. Nothing is left out, and the output is a few times as large as what was read.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import Column, ColumnType, Rows, strings

ALONE: Final = 100
"""Bad lines in a row that are written one by one."""

TOGETHER: Final = 1000
"""Bad lines in a row, behind those, that make one row of the bad output."""

NEXT: Final = 2
"""Lines apart at most that follow one another: one line may stand between them, such as an empty one."""


def join_runs(bad: Rows) -> Rows:
    """Bad rows as they are written: the columns are those of `BAD_TYPES`."""
    if bad.count <= ALONE:
        return bad
    starts = _starts(bad)
    if len(starts) == bad.count:
        return bad
    lengths = np.diff(np.append(starts, bad.count))
    texts, reasons = _texts(bad["text"]), _texts(bad["reason"])[starts]
    joined = ["\n".join(texts[start : start + length]) for start, length in zip(starts, lengths, strict=True)]
    said = [
        f"{reason}; and {length - 1} bad line{'s' * (length > 2)} after it" if length > 1 else reason
        for reason, length in zip(reasons, lengths.tolist(), strict=True)
    ]
    first_rows = bad.take(starts)
    return Rows({**first_rows.columns, "reason": strings(said), "text": strings(joined)}, first_rows.count)


def _starts(bad: Rows) -> NDArray[np.int64]:
    """The rows with which a row of the output begins."""
    file, stream, line = bad["file"].values, bad["stream"].values, bad["line"].values
    apart = np.diff(line)
    same = (np.diff(file) == 0) & (np.diff(stream) == 0) & (apart > 0) & (apart <= NEXT)
    begins = np.concatenate([[True], ~same])
    places = np.arange(bad.count)
    place_in_run = places - np.maximum.accumulate(np.where(begins, places, 0))
    is_start = begins | (place_in_run < ALONE) | ((place_in_run - ALONE) % TOGETHER == 0)
    return np.flatnonzero(is_start)


def _texts(column: Column) -> NDArray[np.object_]:
    """The strings of a column, "" for NULL."""
    assert column.type is ColumnType.STRING and column.names is not None
    if not len(column.names):
        return np.full(len(column.values), "", object)
    found = column.names.astype(object)[column.values]
    return found if column.valid is None else np.where(column.valid, found, "")
