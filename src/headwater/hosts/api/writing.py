"""Answers that are complete, into folders or files.

| `to` | gets |
|---|---|
| a name that ends with .jsonl, .csv or .parquet | one file, with the columns of all queries |
| any other path | a folder with one file of JSON lines, as a streaming run writes one for each micro-batch |
| a function | the answers, and 0 |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from headwater.hosts.files import OUTPUT_NAMES, json_lines, open_output, rows_from_arrow
from headwater.hosts.spark.sink import FolderSink
from headwater.model import ColumnType, Rows

if TYPE_CHECKING:
    from headwater.hosts.api.answers import Answers, AnswerTable, WriteRequest

_RUN: Final = "static"
_COLUMNS: Final = ("kind", "event_time", "name", "match_id", "body")


def write_at_once(answers: Answers, request: WriteRequest) -> None:
    """Write the answers, and late and bad rows if there is a place for them."""
    to = request.to
    if callable(to):
        to(answers, 0)
    elif _is_file(to):
        _write_file(str(to), [answers[query] for query in answers])
    else:
        everything = answers.all().to_arrow()
        _write_folder(to, "answers", everything.select(["event_time", "query", "match_id", "answer"]))
    for place, name, table in (
        (request.late, "late", answers.late),
        (request.bad, "bad", answers.bad),
    ):
        if place is None:
            continue
        if _is_file(place):
            _write_file(str(place), [table])
        else:
            _write_folder(place, name, _as_lines(table))


def _is_file(to: str | Path) -> bool:
    return str(to).lower().endswith(OUTPUT_NAMES) and not Path(to).is_dir()


def _write_file(path: str, tables: Sequence[AnswerTable]) -> None:
    output = open_output(path, [table.types for table in tables])
    try:
        output.write([_rows(table) for table in tables])
    except BaseException:
        output.discard()
        raise
    output.close()


def _write_folder(folder: str | Path, name: str, lines: pa.Table) -> None:
    """`lines` have the time, the name, the identity and the text of every row."""
    kinds = pa.array([name] * lines.num_rows, pa.string())
    table = pa.table([kinds, *lines.columns], names=list(_COLUMNS))
    FolderSink(Path(folder), name, (name,), _RUN).write(table, 0)


def _as_lines(table: AnswerTable) -> pa.Table:
    rows = _rows(table)
    nothing = pa.nulls(rows.count, pa.string())
    # Late rows are the rows themselves, as in the folder of a streaming run.
    texts = rows_text(rows) if "row" in rows else json_lines(rows)
    times = pa.nulls(rows.count, pa.timestamp("us", "UTC"))
    return pa.table([times, nothing, nothing, texts], names=list(_COLUMNS[1:]))


def rows_text(rows: Rows) -> pa.Array:
    """The texts of late rows."""
    return pa.array(rows["row"].tolist(), pa.string())


def _rows(table: AnswerTable) -> Rows:
    types: Mapping[str, ColumnType] = table.types
    return rows_from_arrow(table.to_arrow(), types)
