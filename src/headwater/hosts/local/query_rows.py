"""The rows that one query looks at, all in memory and in order, as a bounded run would bring them: for reports on recorded rows.

Memory  At most MOST_ROWS rows of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from headwater.hosts.declared_sets import sets_from_files
from headwater.hosts.files import find_files
from headwater.hosts.local.bounded import run_local
from headwater.hosts.stream_reading import read_stream
from headwater.model import DataError, LimitReached, Rows, join_rows, order_of, same_as_previous
from headwater.query.expressions import condition
from headwater.query.planning.plan import Plan
from headwater.query.planning.query_plan import QueryPlan

MOST_ROWS: Final = 5_000_000
"""Rows of the source that are held in memory."""

Inputs = Mapping[str, Sequence[str]]


def rows_of_query(plan: Plan, query: QueryPlan, inputs: Inputs) -> tuple[Rows, int]:
    """The rows of the query's source in order, WHERE applied, and how many rows were bad; raises DataError if there are none."""
    declared = {stream.name for stream in plan.streams}
    read = _of_stream if query.reads in declared else _of_query
    rows, bad = read(plan, query.reads, inputs)
    if not rows.count:
        raise DataError("no-input", f"there is no row of '{query.reads}' in the input")
    schema = plan.stream(query.reads)
    order = [column for column in schema.order if column in rows]
    rows = rows.take(order_of(rows, order))
    if schema.deduplicate:
        rows = rows.take(~same_as_previous(rows, order))
    if query.where is None:
        return rows, bad
    chosen = rows.take(condition(query.where)(rows))
    if not chosen.count:
        message = f"WHERE of '{query.name}' holds for none of the {rows.count:,} rows of '{query.reads}'"
        raise DataError("no-input", message)
    return chosen, bad


def _of_stream(plan: Plan, stream: str, inputs: Inputs) -> tuple[Rows, int]:
    """Every row, those that can begin nothing as well: a strict pattern sees them."""
    schema, columns = plan.stream(stream), plan.columns_read(stream)
    parts = [Rows.empty({name: schema.types[name] for name in columns})]
    count = bad = 0
    for path in inputs[stream]:
        for file in find_files(path):
            for piece in read_stream(plan, stream, file):
                parts.append(piece.rows)
                count += piece.rows.count
                bad += piece.bad.count
                _bounded(count)
    return join_rows(parts), bad


def _of_query(plan: Plan, name: str, inputs: Inputs) -> tuple[Rows, int]:
    """The answers of the query that it reads, as a stream."""
    above = plan.with_only(plan.sources(name))
    sets = sets_from_files(above, inputs)
    above = above.with_sets(sets.rows)
    streams = {stream.name for stream in plan.streams}
    schema = plan.stream(name)
    parts = [Rows.empty(schema.types)]
    count, bad = 0, sets.bad.count
    for report in run_local(above, {one: paths for one, paths in inputs.items() if one in streams}):
        bad += report.bad.count
        for block in report.answers:
            mine = [place for place, query in enumerate(block["query"].tolist()) if query == name]
            parts.append(block.take(np.array(mine, np.int64)).select(schema.types))
            count += len(mine)
            _bounded(count)
    return join_rows(parts), bad


def _bounded(count: int) -> None:
    if count > MOST_ROWS:
        raise LimitReached(
            "MOST_ROWS",
            MOST_ROWS,
            f"more than {MOST_ROWS:,} rows are too many to explain",
            advice=["give --input fewer files: only the relevant hour, or a file with one key"],
        )
