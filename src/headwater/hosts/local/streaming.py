"""Runs a plan over files that come one after the other, as they would appear in a folder.

A row is late if its time is below what the earlier files of its input had reached, minus LATE: each file is one arrival. With
`end` the last step is the end of the input and everything that waits is answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from headwater.hosts.files import BAD_TYPES
from headwater.hosts.files.file_rows import FileRequest
from headwater.hosts.files.json_lines import json_lines
from headwater.hosts.local.bounded import row_filter
from headwater.hosts.local.run_report import RunReport
from headwater.hosts.stream_reading import read_stream
from headwater.hosts.zone import Arrivals, Program, StepOutput, Unit, clusters_of
from headwater.model import Rows, StreamSchema, join_rows
from headwater.query.planning.plan import Plan

FAR_AHEAD: Final = "far-ahead: dated too far ahead to be stored"


def stream_local(
    plan: Plan,
    arrivals: Sequence[tuple[str, str]],
    *,
    end: bool = True,
    inputs: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[RunReport]:
    """Files as (input, path), in the order they come; an input is a stream's name unless `inputs` says otherwise."""
    assert plan.zones == 1, "one process is one zone"
    program = Program(plan, inputs=inputs)
    streams = {name: stream for stream, names in program.inputs.items() for name in names}
    state = program.start()
    for number, (source, path) in enumerate(arrivals):
        stream = streams.get(source, source)
        units, bad, seen = _arrival(plan, stream, source, number, path)
        state, output = program.step(state, Arrivals({stream: units}))
        yield _report(plan, output, bad=bad, seen=seen, files=1)
    if end:
        _, output = program.step(state, Arrivals({}, end=True))
        yield _report(plan, output)


def _arrival(
    plan: Plan, stream: str, source: str, number: int, path: str
) -> tuple[list[Unit], list[Rows], int]:
    schema, only_usable = plan.stream(stream), row_filter(plan, stream)
    units, bad, seen = [], [], 0
    for place, piece in enumerate(read_stream(plan, stream, path)):
        times = piece.rows[schema.time].values
        units.append(Unit(source, number, place, clusters_of(times), only_usable(piece.rows)))
        bad.append(piece.bad)
        seen += piece.seen
    return units, bad, seen


def given_up_rows(stream: StreamSchema, texts: Sequence[str]) -> Rows:
    """Rows dated so far ahead that there was no room to keep them, as bad rows."""
    return FileRequest("", stream, ()).bad([(0, FAR_AHEAD, text) for text in texts])


def given_up_by(plan: Plan, output: StepOutput) -> list[Rows]:
    """The rows that a step gave up, as bad rows."""
    return [
        given_up_rows(plan.stream(stream), json_lines(rows).to_pylist())
        for stream, rows in output.given_up.items()
    ]


def _report(
    plan: Plan, output: StepOutput, *, bad: Sequence[Rows] = (), seen: int = 0, files: int = 0
) -> RunReport:
    together = join_rows([Rows.empty(BAD_TYPES), *bad, *given_up_by(plan, output)])
    return RunReport(output.answers, output.late, together, output.counts, seen, files)
