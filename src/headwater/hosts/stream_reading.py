"""The rows of a stream as the queries of a plan read them: the columns that travel, and no row that is bad to one of them.

A row is judged by itself, so that every host finds the same ones bad, in files and in DataFrames.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headwater.hosts.files import ByteRange, FileRows, read_file_rows
from headwater.hosts.files.file_rows import Judge
from headwater.hosts.files.typed_columns import Faults
from headwater.model import Rows
from headwater.query.expressions import condition
from headwater.query.planning.plan import Plan


def read_stream(
    plan: Plan, stream: str, path: str, byte_range: ByteRange | None = None
) -> Iterator[FileRows]:
    """The rows of one file of a declared stream, or of a byte range of it, a piece at a time."""
    return read_file_rows(
        path,
        plan.stream(stream),
        plan.columns_read(stream),
        judge=judge_of(plan, stream),
        byte_range=byte_range,
    )


def judge_of(plan: Plan, stream: str) -> Judge | None:
    """What finds the rows that are bad to the queries of a stream; None: there is no such thing as one."""
    used = [(bad, condition(bad.holds)) for bad in plan.bad_rows(stream)]

    def judge(rows: Rows, faults: Faults) -> Faults:
        for bad, holds in used:
            values = rows[bad.column].values
            for row in np.flatnonzero(holds(rows)).tolist():
                faults.setdefault(
                    row, f"{bad.code}: {values[row].item()} {bad.words} (column '{bad.column}')"
                )
        return faults

    return judge if used else None
