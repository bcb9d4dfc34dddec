"""How do answers look in Python: as pandas, as text for a terminal, as HTML for a notebook?

Rule 1  A picture shows the first SHOWN rows and says how many there are. It has neither `query`, which its heading says, nor `match_id`.
Rule 2  Cells are written as `headwater run` writes them on a terminal.
Rule 3  Streaming answers have no rows yet: their picture says how to get some.
"""

from __future__ import annotations

import html
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from headwater.hosts.files import rows_from_arrow
from headwater.hosts.files.table_output import shown_cells, table_lines
from headwater.model import Column

if TYPE_CHECKING:
    import pandas

    from headwater.hosts.api.answers import Run, TableSource

SHOWN: Final = 20
"""Rows of a table in its picture."""

MOST_QUERIES: Final = 30
"""Queries in the picture of all answers."""

_LEFT_OUT: Final = ("query", "match_id")
_STREAMING: Final = "streaming: no rows yet; write them: answers.write(folder or function, checkpoint=folder)"


class Text(str):
    """A text that is shown as it is, not in quotes, by a notebook and the Python prompt."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """A table as a DataFrame: whole numbers and booleans with NULLs do not become floats and objects."""
    import pandas as pd

    frame = table.to_pandas(date_as_object=False)
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if column.null_count and pa.types.is_int64(column.type):
            frame[name] = pd.array(column.to_pylist(), dtype="Int64")
        elif column.null_count and pa.types.is_boolean(column.type):
            frame[name] = pd.array(column.to_pylist(), dtype="boolean")
    return frame


def as_text(source: TableSource, name: str, note: str) -> str:
    """The first rows of a table for a terminal."""
    if source.streaming:
        return f"{name}: {', '.join(source.types)}\n{_STREAMING}"
    count, columns = source.count(), _first_rows(source)
    lines = [_heading(name, count)]
    if count:
        width = shutil.get_terminal_size().columns if sys.stdout and sys.stdout.isatty() else None
        lines += table_lines(columns, width=width)
    lines += [_more(name, count)] if count > SHOWN else []
    return "\n".join([*lines, *([note] if note else [])])


def as_html(source: TableSource, name: str, note: str) -> str:
    """The first rows of a table for a notebook."""
    if source.streaming:
        return f"<p>{html.escape(name)}: {_STREAMING}</p>"
    count, columns = source.count(), _first_rows(source)
    parts = [f"<p><b>{html.escape(_heading(name, count))}</b></p>"]
    if count:
        cells = [shown_cells(column) for column in columns.values()]
        rights = [column.type.numeric for column in columns.values()]
        parts.append(_html_table(list(columns), list(zip(*cells, strict=True)), rights))
    further = [_more(name, count)] if count > SHOWN else []
    parts += [f"<p>{html.escape(line)}</p>" for line in (*further, note) if line]
    return "<div>" + "".join(parts) + "</div>"


def answers_as_text(run: Run) -> str:
    """All answers: how many of which query, and what became of the rows."""
    head = f"answers of the {run.engine} engine" if run.engine == "local" else "answers of Spark"
    if run.streaming:
        return f"{head}: {', '.join(_names(run))}\n{_STREAMING}"
    return "\n".join([head, *run.summary().lines(timed=False), *_held(run)])


def answers_as_html(run: Run) -> str:
    """The same for a notebook."""
    if run.streaming:
        return f"<p>{html.escape(', '.join(_names(run)))}: {_STREAMING}</p>"
    summary = run.summary()
    names = _names(run)[:MOST_QUERIES]
    rows = [(name, f"{summary.answers[name]:,}", ", ".join(run.answers_of(name).types)) for name in names]
    table = _html_table(["query", "answers", "columns"], rows, [False, True, False])
    more = len(_names(run)) - len(names)
    others = f"<p>and {more:,} more queries</p>" if more else ""
    lines = [*summary.lines(timed=False), *_held(run)]
    return f"<div>{table}{others}<pre>{html.escape(chr(10).join(lines))}</pre></div>"


def _held(run: Run) -> list[str]:
    """What Spark holds, and until when."""
    return ["held      by Spark, until answers.release()"] if run.engine == "spark" else []


def _names(run: Run) -> list[str]:
    return [query.name for query in run.plan.public_queries]


def _first_rows(source: TableSource) -> dict[str, Column]:
    rows = rows_from_arrow(source.table(SHOWN), source.types)
    return {
        name: column for name, column in rows.columns.items() if name not in _LEFT_OUT or "answer" in rows
    }


def _heading(name: str, count: int) -> str:
    return f"{name}: {count:,} row{'s' * (count != 1)}"


def _more(name: str, count: int) -> str:
    return f"… {count - SHOWN:,} more: {name}.to_pandas() has all"


def _html_table(names: Sequence[str], rows: Sequence[Sequence[Any]], rights: Sequence[bool]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    aligned = [f' style="text-align: {"right" if right else "left"}"' for right in rights]
    body = "".join(
        "<tr>"
        + "".join(f"<td{how}>{html.escape(str(cell))}</td>" for how, cell in zip(aligned, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
