"""The stateful stage: each zone's program, stepped once a micro-batch, its state in Spark's state store.

State is a version, a head and chunks (see `hosts.zone.store`), all cells of one map: opening a state variable costs as much
as a few reads, every micro-batch again. A step writes its new chunks, deletes the dropped ones and writes the head. What was
decoded stays in the worker process; the version tells whether it is still the present one. Tasks move between workers, so a
stale copy is normal: it costs a read of the head and of the chunks this worker lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark import TaskContext
from pyspark.sql.streaming import StatefulProcessor

from headwater.hosts.spark.packing import from_bytes, unit_of
from headwater.hosts.spark.zone_report import ZoneReport
from headwater.hosts.zone import (
    Arrivals,
    Content,
    Program,
    StateSize,
    Unit,
    ZoneState,
    cell_names,
    cells_of,
    content_of,
    count_cells,
    load_zone,
    save_zone,
)
from headwater.model import Rows, join_rows
from headwater.query.planning.plan import Plan


@dataclass(slots=True)
class _CachedZone:
    """A zone as this worker process last saw it."""

    version: int
    state: ZoneState
    chunks: dict[str, Content]


# The cells of a zone's state: two, and those of its chunks.
VERSION, HEAD, CHUNK = "version", "head", "chunk "

_CACHE: dict[tuple[str, int], _CachedZone] = {}
_PROGRAMS: dict[int, Program] = {}
_RUN: list[str] = [""]


class Operate(StatefulProcessor):
    """Steps the program of the zone whose partition key groups the rows."""

    def __init__(
        self, plan: Plan, inputs: Mapping[str, Sequence[str]], *, tick_us: int | None = None
    ) -> None:
        self.plan = plan
        self.tick_us = tick_us
        self.inputs = {name: tuple(inputs[name]) for name in inputs}

    def init(self, handle: Any) -> None:
        """Open the state."""
        self.cells = handle.getMapState("cells", "name string", "data binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one zone."""
        zone, arrivals, bad, seen = _unpack(rows)
        program = _program(self.plan, zone, self.inputs, self.tick_us)
        version, state, chunks = self._load(program)
        state, output = program.step(state, arrivals)
        sizes = self._save(program, version, state, chunks)
        yield pd.DataFrame({"report": [ZoneReport(output, bad, seen, sizes).packed()]})

    def close(self) -> None:
        """Nothing to release."""

    def _load(self, program: Program) -> tuple[int, ZoneState, dict[str, Content]]:
        written = self.cells.getValue((VERSION,))
        if written is None:
            return 0, program.start(), {}
        version = int.from_bytes(written[0])
        cached = _CACHE.get((_run_id(), program.zone))
        if cached is not None and cached.version == version:
            return version, cached.state, cached.chunks
        known = cached.chunks if cached is not None else {}
        chunks: dict[str, Content] = {}
        used = {VERSION, HEAD}

        def chunk(key: str, cells: int) -> Content:
            names = [CHUNK + name for name in cell_names(key, cells)]
            used.update(names)
            chunks[key] = (
                known[key] if key in known else content_of(key, [self._read(name) for name in names])
            )
            return chunks[key]

        state = load_zone(program, self._read(HEAD), chunk)
        stored = {name for (name,) in self.cells.keys()}  # noqa: SIM118 - not a dictionary
        for name in stored - used:
            self.cells.removeKey((name,))  # left by queries that are gone
        return version, state, chunks

    def _save(
        self, program: Program, version: int, state: ZoneState, before: Mapping[str, Content]
    ) -> Mapping[str, StateSize]:
        """Write what is new, delete what is gone; how much there is now."""
        saved = save_zone(program, state)
        for key, chunk in saved.chunks.items():
            if key not in before:
                for name, data in cells_of(key, chunk):
                    self._write(CHUNK + name, data)
        for key in before.keys() - saved.chunks.keys():
            for name in cell_names(key, count_cells(before[key])):
                self.cells.removeKey((CHUNK + name,))
        self._write(HEAD, saved.head)
        self._write(VERSION, (version + 1).to_bytes(8))
        _CACHE[_run_id(), program.zone] = _CachedZone(version + 1, state, saved.contents())
        return saved.sizes

    def _read(self, name: str) -> bytes:
        return bytes(self.cells.getValue((name,))[0])

    def _write(self, name: str, data: bytes) -> None:
        self.cells.updateValue((name,), (data,))


def _program(plan: Plan, zone: int, inputs: Mapping[str, tuple[str, ...]], tick_us: int | None) -> Program:
    """The zone's program; a plan is one object in a process, so its kernels are built once."""
    made = _PROGRAMS.get(zone)
    if made is None or made.plan is not plan or made.inputs != inputs or made.tick_us != tick_us:
        made = _PROGRAMS[zone] = Program(plan, zone, inputs, tick_us=tick_us)
    return made


def _run_id() -> str:
    """What tells one run of one streaming query from another; states of earlier runs are forgotten."""
    context = TaskContext.get()
    assert context is not None
    run = (
        f"{context.getLocalProperty('spark.jobGroup.id')}/{context.getLocalProperty('sql.streaming.queryId')}"
    )
    if _RUN[0] != run:
        _RUN[0] = run
        _CACHE.clear()
    return run


def _unpack(frames: Iterator[pd.DataFrame]) -> tuple[int, Arrivals, Rows | None, int]:
    units: dict[str, list[Unit]] = {}
    bad: list[Rows] = []
    zone, seen, now, end = 0, 0, None, False
    for frame in frames:
        zone = int(frame["zone"].iloc[0]) if len(frame) else zone
        names = ("stream", "input", "unit", "piece", "clusters", "seen", "now", "end", "blob", "bad")
        for stream, source, unit, piece, clusters, count, at, last, blob, wrong in zip(
            *(frame[n] for n in names), strict=True
        ):
            units.setdefault(stream, []).append(unit_of(source, int(unit), int(piece), clusters, blob))
            seen += int(count)
            end = end or bool(last)
            if not pd.isna(at):
                now = int(at) if now is None else max(now, int(at))
            if wrong is not None:
                bad.append(from_bytes(wrong))
    return zone, Arrivals(units, now, end), join_rows(bad) if bad else None, seen
