"""Runs a plan over files and tables to their end: read and check everything, put it in order, step the kernels slice by slice.

Nothing is late and the end flushes, as on every host. Rows that no query can use are dropped as soon as they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headwater.hosts.files import FileRows, find_files
from headwater.hosts.local.answer_order import PendingAnswers
from headwater.hosts.local.run_report import RunReport
from headwater.hosts.local.sorting import CHUNK_ROWS, MEMORY_ROWS, Sorter
from headwater.hosts.stream_reading import read_stream, read_table
from headwater.hosts.zone import Program
from headwater.model import END, Rows, join_rows
from headwater.query.expressions import condition
from headwater.query.planning.plan import Plan


def run_local(
    plan: Plan,
    inputs: Mapping[str, Sequence[str | pa.Table]],
    *,
    memory_rows: int = MEMORY_ROWS,
    chunk_rows: int = CHUNK_ROWS,
) -> Iterator[RunReport]:
    """Run every query over files, folders and tables in memory, by stream; a stream without an input has no rows.

    First comes what there is to tell about reading, then the answers in order of their event time.
    """
    assert plan.zones == 1, "one process is one zone"
    program = Program(plan)
    schemas = [plan.stream(name) for name in program.queues]
    with Sorter(schemas, memory_rows=memory_rows, chunk_rows=chunk_rows) as sorter:
        for name in program.queues:
            only_usable = row_filter(plan, name)
            for pieces, is_file in _read(plan, name, inputs.get(name, ())):
                for piece in pieces:
                    sorter.add(name, only_usable(piece.rows))
                    yield RunReport(bad=piece.bad, seen=piece.seen)
                if is_file:
                    yield RunReport(files=1)
        groups, pending = program.start().groups, PendingAnswers()
        for slices, border in sorter.slices():
            counts: dict[str, int] = {}
            ordered = {}
            for name, queue in program.queues.items():
                rows, repeated = queue.in_order(join_rows([queue.empty, *slices.get(name, ())]), END)
                ordered[name] = rows, border
                counts[f"repeated:{name}"] = repeated.count
            groups, answers, step_counts, complete = program.advance_until(groups, ordered)
            answers = pending.ready(answers, END if border == END else complete)
            yield RunReport(answers, counts={name: n for name, n in {**counts, **step_counts}.items() if n})


def _read(
    plan: Plan, stream: str, sources: Sequence[str | pa.Table]
) -> Iterator[tuple[Iterator[FileRows], bool]]:
    """The pieces of every file and table, and whether it is a file."""
    for source in sources:
        if isinstance(source, pa.Table):
            yield read_table(plan, stream, source), False
        else:
            yield from ((read_stream(plan, stream, file), True) for file in find_files(source))


def row_filter(plan: Plan, stream: str) -> Callable[[Rows], Rows]:
    """Only the rows of a stream that some query can use."""
    expression = plan.useful_rows(stream)
    if expression is None:
        return _every
    is_usable = condition(expression)

    def chosen(rows: Rows) -> Rows:
        mask: NDArray[np.bool_] = is_usable(rows)
        return rows if mask.all() else rows.take(np.flatnonzero(mask))

    return chosen


def _every(rows: Rows) -> Rows:
    return rows
