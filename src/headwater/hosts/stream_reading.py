"""The rows of a stream as the queries of a plan read them: the columns that travel, and no row that is bad to one of them.

A row is judged by itself, so that every host finds the same ones bad, in files, in tables in memory and in DataFrames.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from headwater.hosts.files import ByteRange, FileRows, read_file_rows, read_table_rows
from headwater.hosts.files.file_rows import UNUSABLE, FileRequest, Judge, shown_path
from headwater.hosts.files.typed_columns import Faults
from headwater.model import DataError, Rows
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


def read_table(plan: Plan, stream: str, table: pa.Table) -> Iterator[FileRows]:
    """The same for a table in memory; a bad row's line is its number in the table, from 1."""
    return read_table_rows(
        table, plan.stream(stream), plan.columns_read(stream), judge=judge_of(plan, stream)
    )


def refuse_misfit(plan: Plan, stream: str, table: pa.Table) -> None:
    """Before a run: raises DataError if a table cannot hold the columns of its stream."""
    from headwater.hosts.files.parquet_files import misfit

    columns = plan.columns_read(stream)
    trouble = misfit(table.schema, FileRequest("", plan.stream(stream), columns))
    if trouble is not None:
        code, _, words = trouble.partition(": ")
        message = f"the table for '{stream}' cannot be used: {words}"
        advice = [f"the queries read its columns {', '.join(columns)}"]
        if code == "missing-column":
            raise DataError("missing-column", message, stream=stream, advice=advice)
        if code == "repeated-column":
            raise DataError("repeated-column", message, stream=stream, advice=advice)
        raise DataError("column-type", message, stream=stream, advice=advice)


def refuse_unusable(plan: Plan, inputs: Mapping[str, Sequence[str]]) -> None:
    """Before a bounded run: raises DataError if a file that is named itself, not found in a folder, is of no use as a whole.

    Only its beginning is read.
    """
    found = [
        (path, reason)
        for stream, paths in inputs.items()
        for path in paths
        if Path(path).is_file() and (reason := why_unusable(plan, stream, path))
    ]
    _refuse(found)


def refuse_unusable_sets(bad: Rows, inputs: Mapping[str, Sequence[str]]) -> None:
    """The same for files of points and fences, which have been read: `bad` are their bad rows."""
    named = {shown_path(path) for paths in inputs.values() for path in paths if Path(path).is_file()}
    entries = zip(bad["file"].tolist(), bad["reason"].tolist(), strict=True)
    _refuse(
        [(file, reason) for file, reason in entries if file in named and reason.partition(":")[0] in UNUSABLE]
    )


def why_unusable(plan: Plan, stream: str, path: str) -> str | None:
    """Why a file as a whole cannot be read as a stream, as a reason for bad rows; None: its rows may be used."""
    first = next(iter(read_stream(plan, stream, path)), None)
    if first is None or first.seen or first.bad.count != 1:
        return None
    (reason,) = first.bad["reason"].tolist()
    return str(reason)


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


def _refuse(found: Sequence[tuple[str, str]]) -> None:
    if found:
        (path, reason), *others = found
        raise DataError(
            "unusable-file",
            f"'{shown_path(path)}' cannot be used: {reason.partition(': ')[2]}",
            advice=[
                f"'{shown_path(other)}' cannot be used: {why.partition(': ')[2]}" for other, why in others
            ],
        )
