"""Reads Parquet: only the requested columns, a batch of rows at a time.

Rule 1  The file must have every requested column, of a type that can say what is declared (see `typed_columns`).
Rule 2  A row's line is its number in the file, from 1; its text is the requested columns, as JSON.
Rule 3  A file that cannot be read, or no further, is one bad entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from headwater.hosts.files.file_rows import FileRequest, FileRows, checked_rows, missing_column, typed_rows
from headwater.hosts.files.typed_columns import cell_text, fits
from headwater.model import ColumnType

# What Arrow raises for bytes that are no Parquet: its own errors, and the Python errors they are made of.
PARQUET_FAULTS: Final = (
    pa.ArrowException,
    OSError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
)


def read_parquet(request: FileRequest, *, piece_rows: int) -> Iterator[FileRows]:
    """The pieces of a Parquet file."""
    done = 0
    try:
        if not Path(request.place).stat().st_size:
            yield request.refused("empty-file: the file is empty")
            return
        texts = [name for name, kind in request.types.items() if kind is ColumnType.STRING]
        with arrow_parquet.ParquetFile(request.place, read_dictionary=texts, memory_map=False) as file:
            trouble = misfit(file.schema_arrow, request)
            if trouble:
                yield request.refused(trouble, line=1)
                return
            for batch in file.iter_batches(piece_rows, columns=list(request.columns), use_threads=False):
                yield arrow_file_rows(request, batch, done)
                done += batch.num_rows
    except PARQUET_FAULTS as fault:
        said = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        yield request.refused(
            f"unreadable-file: {said.splitlines()[0] if said else type(fault).__name__}", line=done
        )


def misfit(schema: pa.Schema, request: FileRequest) -> str | None:
    """Why a table cannot hold what is requested; None if it can."""
    what = "file" if request.path else "table"
    if trouble := missing_column(request, schema.names, f"the {what}"):
        return trouble
    for name, kind in request.types.items():
        found = schema.names.count(name)
        if found > 1:
            return f"repeated-column: the {what} has '{name}' {found} times"
        if not fits(schema.field(name).type, kind):
            declares = f"the {request.noun} declare{'s' * (request.noun == 'stream')}"
            return f"wrong-type: column '{name}' is {schema.field(name).type}, {declares} {kind.value}"
    return None


def arrow_file_rows(request: FileRequest, batch: pa.RecordBatch, done: int) -> FileRows:
    """The piece of a batch of a table that fits; `done` rows came before it."""
    rows, faults = typed_rows(request, [batch.column(name) for name in request.columns])
    return checked_rows(
        request,
        rows,
        faults,
        lines=np.arange(done + 1, done + 1 + batch.num_rows),
        text=lambda row: _row_text(batch, request, row),
    )


def _row_text(batch: pa.RecordBatch, request: FileRequest, row: int) -> str:
    cells = {}
    for name in request.columns:
        array = batch.column(name)
        try:
            cells[name] = array[row].as_py()
        except (ValueError, OverflowError):
            cells[name] = cell_text(array, row)
    return json.dumps(cells, default=str, ensure_ascii=False)
