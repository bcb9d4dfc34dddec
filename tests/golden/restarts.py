"""Golden cases that are restarted: a run stops, keeps its state, and goes on with the queries and points that there are then.

All cases are one run, as in `hosts.py`: the first start of all, the second of those that have one, and so on. After its last
start a case goes on with nothing new, and everybody's input ends with the last start of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from headwater.hosts.files import BAD_TYPES, find_files
from headwater.hosts.local.bounded import row_filter
from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.file_runs import run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import ZoneReport, table_of
from headwater.hosts.stream_reading import read_stream
from headwater.hosts.zone import (
    Arrivals,
    Program,
    SavedZone,
    Unit,
    ZoneState,
    clusters_of,
    fetch_from,
    load_zone,
    save_zone,
)
from headwater.model import Rows, join_rows
from headwater.query.planning.plan import Plan
from headwater.testing.runs import Observed
from tests.golden.case import Case
from tests.golden.hosts import Together, lines_in

Line = tuple[str, str, str]

BOUNDED: Final = (
    "a bounded run has all of its input at once and no checkpoint: it cannot be restarted in the middle"
)


def restart_on_local(cases: Sequence[Case], folder: Path) -> dict[str, Observed]:
    """Cases in the plain loop; between two starts their state is bytes, as in a checkpoint."""
    lines: list[Line] = []
    read: list[str] = []
    saved: SavedZone | None = None
    for together in _starts(cases, folder):
        plan = together.plan(zones=1)
        program = Program(plan, inputs=together.stream_paths)
        state = program.start() if saved is None else _restored(program, saved)
        for stream, source, path in _unread(together, read):
            units, bad = _arrival(plan, stream, source, len(read), path)
            read.append(path)
            state, output = program.step(state, Arrivals({stream: units}))
            lines += lines_in(table_of([ZoneReport(output, bad, 0)]))
        saved = save_zone(program, state)
    _, output = program.step(state, Arrivals({}, end=True))
    return together.shared_out([*lines, *lines_in(table_of([ZoneReport(output, None, 0)]))])


def saved_in_the_middle(cases: Sequence[Case], folder: Path) -> tuple[Program, SavedZone]:
    """The state of all cases in the plain loop when they have read the files of their first start, and its program."""
    together = Together(cases, folder)
    program = Program(together.plan(zones=1), inputs=together.stream_paths)
    state = program.start()
    for number, (stream, source, path) in enumerate(_unread(together, [])):
        units, _ = _arrival(program.plan, stream, source, number, path)
        state, _ = program.step(state, Arrivals({stream: units}))
    return program, save_zone(program, state)


def restart_on_spark(cases: Sequence[Case], folder: Path, spark: Any) -> dict[str, Observed]:
    """Cases as a streaming query that is started again and again on one checkpoint, as `headwater run --follow` would be."""
    lines: list[Line] = []

    def each(zones: Sequence[ZoneReport], _: int) -> None:
        lines.extend(lines_in(table_of(zones)))

    many = _most_starts(cases)
    for number, together in enumerate(_starts(cases, folder / "in"), 1):
        plan = together.plan()
        how = {"ends": True} if number == many else {"once": True}
        with hold(folder / "checkpoint", plan) as held:
            query = run_streaming(
                spark,
                plan,
                together.stream_paths,
                each,
                checkpoint=held,
                options=StreamingOptions(files_per_batch=1, **how),
            )
            query.awaitTermination()
            assert query.exception() is None
    return together.shared_out(lines)


def _most_starts(cases: Sequence[Case]) -> int:
    return max(len(case.starts) for case in cases)


def _starts(cases: Sequence[Case], folder: Path) -> Iterator[Together]:
    """One start after the other; the files of a start are written when its turn comes."""
    return (Together(cases, folder, number) for number in range(_most_starts(cases)))


def _unread(together: Together, read: Sequence[str]) -> list[tuple[str, str, str]]:
    """(stream, input, file) of what is new: the first file of every input, then the second ones."""
    new = [
        (place, stream, source, file)
        for stream, sources in together.stream_paths.items()
        for source in sources
        for place, file in enumerate(path for path in find_files(source) if path not in read)
    ]
    return [entry for _, *entry in sorted(new, key=lambda entry: entry[0])]


def _arrival(plan: Plan, stream: str, source: str, number: int, path: str) -> tuple[list[Unit], Rows]:
    schema, useful = plan.stream(stream), row_filter(plan, stream)
    pieces = list(read_stream(plan, stream, path))
    units = [
        Unit(source, number, place, clusters_of(piece.rows[schema.time].values), useful(piece.rows))
        for place, piece in enumerate(pieces)
    ]
    return units, join_rows([Rows.empty(BAD_TYPES), *(piece.bad for piece in pieces)])


def _restored(program: Program, saved: SavedZone) -> ZoneState:
    return load_zone(program, saved.head, fetch_from(saved.cells()))
