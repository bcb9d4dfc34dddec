"""The stateful stage: each zone's program, stepped once a micro-batch, its state in Spark's state store.

State is a version, a head and chunks (see `hosts.zone.store`): a step writes its new chunks, deletes the dropped ones and
writes the head. What was decoded stays in the worker process; the version tells whether it is still the present one. Tasks
move between workers, so a stale copy is normal: it costs a read of the head and of the chunks this worker lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark import TaskContext
from pyspark.sql.streaming import StatefulProcessor

from headwater.hosts.spark.packing import from_bytes, unit_of
from headwater.hosts.spark.table import output_frames
from headwater.hosts.zone import Arrivals, Program, Unit, ZoneState, chunk_rows, load_zone, save_zone
from headwater.model import Rows, chunk_tree, encode, join_rows
from headwater.query.plan import Plan


@dataclass(slots=True)
class _Kept:
    """A zone as this worker process last saw it."""

    version: int
    state: ZoneState
    chunks: dict[str, Rows]


_KEPT: dict[tuple[str, int], _Kept] = {}
_PROGRAMS: dict[int, Program] = {}
_RUN: list[str] = [""]


class Operate(StatefulProcessor):
    """Steps the program of the zone whose seat is the grouping key."""

    def __init__(self, plan: Plan, inputs: Mapping[str, Sequence[str]]) -> None:
        self.plan = plan
        self.inputs = {name: tuple(inputs[name]) for name in inputs}

    def init(self, handle: Any) -> None:
        """Open the state variables."""
        self.version = handle.getValueState("version", "version long")
        self.head = handle.getValueState("head", "data binary")
        self.chunks = handle.getMapState("chunks", "key string", "data binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one zone."""
        zone, arrivals, bad, seen = _unpack(rows)
        program = _program(self.plan, zone, self.inputs)
        version, state, chunks = self._load(program)
        state, output = program.step(state, arrivals)
        self._save(program, version, state, chunks)
        yield from output_frames(output, bad, seen)

    def close(self) -> None:
        """Nothing to release."""

    def _load(self, program: Program) -> tuple[int, ZoneState, dict[str, Rows]]:
        if not self.version.exists():
            return 0, program.start(), {}
        version = int(self.version.get()[0])
        kept = _KEPT.get((_run_id(), program.zone))
        if kept is not None and kept.version == version:
            return version, kept.state, kept.chunks
        known = kept.chunks if kept is not None else {}
        chunks: dict[str, Rows] = {}

        def chunk(key: str) -> Rows:
            chunks[key] = known[key] if key in known else chunk_rows(bytes(self.chunks.getValue((key,))[0]))
            return chunks[key]

        state = load_zone(program, bytes(self.head.get()[0]), chunk)
        stored = {key for (key,) in self.chunks.keys()}  # noqa: SIM118 - not a dictionary
        for key in stored - chunks.keys():  # left by queries that are gone
            self.chunks.removeKey((key,))
        return version, state, chunks

    def _save(self, program: Program, version: int, state: ZoneState, before: Mapping[str, Rows]) -> None:
        saved = save_zone(program, state)
        for key, chunk in saved.chunks.items():
            if key not in before:
                self.chunks.updateValue((key,), (encode(chunk_tree(chunk)),))
        for key in before.keys() - saved.chunks.keys():
            self.chunks.removeKey((key,))
        self.head.update((saved.head,))
        self.version.update((version + 1,))
        rows = {key: chunk.rows for key, chunk in saved.chunks.items()}
        _KEPT[_run_id(), program.zone] = _Kept(version + 1, state, rows)


def _program(plan: Plan, zone: int, inputs: Mapping[str, tuple[str, ...]]) -> Program:
    """The zone's program; a plan is one object in a process, so its kernels are built once."""
    made = _PROGRAMS.get(zone)
    if made is None or made.plan is not plan or made.inputs != inputs:
        made = _PROGRAMS[zone] = Program(plan, zone, inputs)
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
        _KEPT.clear()
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
