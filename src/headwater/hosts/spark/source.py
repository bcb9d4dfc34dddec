"""Files as a Spark source of our own: read, checked, routed and packed by Python, so that only packed rows enter the JVM.

One source serves all inputs of a run. Its offset is how many files of each input were taken, the time by the driver's clock
when they were, and whether the input has ended; all three are in Spark's offset log, so a batch that is run again is the
same batch. Without new files the clock still ticks when a stream declares IDLE: a batch without rows tells every zone.
"""

from __future__ import annotations

import base64
import json
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from headwater.hosts.files import Piece, find_files
from headwater.hosts.spark.file_log import FileLog
from headwater.hosts.spark.packing import PACKED, SLICED, pack, pack_slices
from headwater.hosts.streams import read_stream
from headwater.query.plan import Plan

MOST_BATCH_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Input:
    """One `--input`: its name, the stream and the file or folder."""

    name: str
    stream: str
    path: str


def name_inputs(paths: Mapping[str, Sequence[str]]) -> tuple[Input, ...]:
    """The inputs of a run, named by what they read: a restart finds them again, however they are spelled or ordered."""
    return tuple(
        Input(f"{stream}={path}", stream, path)
        for stream, listed in paths.items()
        for path in dict.fromkeys(str(Path(path).resolve()) for path in listed)
    )


def inputs_by_stream(inputs: Sequence[Input]) -> dict[str, tuple[str, ...]]:
    """The names of every stream's inputs."""
    return {
        s: tuple(i.name for i in inputs if i.stream == s) for s in dict.fromkeys(i.stream for i in inputs)
    }


class HeadwaterFiles(DataSource):
    """The source; options are made by `options_for` and by nobody else."""

    @classmethod
    def name(cls) -> str:
        """What `format(...)` calls it."""
        return "headwater-files"

    def schema(self) -> str:
        """Packed rows: in slices of time when bounded."""
        return SLICED if self.options["bounded"] == "true" else PACKED

    def reader(self, schema: Any) -> DataSourceReader:
        """For bounded runs."""
        return BoundedReader(self.options)

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        """For followed folders."""
        return FollowReader(self.options)


def options_for(
    plan: Plan,
    inputs: Sequence[Input],
    *,
    cores: int,
    seats: Sequence[int],
    bounded: bool = False,
    width_us: int = 0,
    log: Path | None = None,
    files_per_batch: int = 64,
    ends: bool = False,
    tick_us: int = 0,
) -> dict[str, str]:
    """The options of a run. `ends`: when all files there are have been read, the input is over and everything flushes."""
    return {
        "plan": base64.b64encode(pickle.dumps(plan)).decode(),
        "inputs": json.dumps([[i.name, i.stream, i.path] for i in inputs]),
        "bounded": str(bounded).lower(),
        "cores": str(cores),
        "seats": json.dumps(list(seats)),
        "width_us": str(width_us),
        "log": str(log or ""),
        "files_per_batch": str(files_per_batch),
        "ends": str(ends).lower(),
        "tick_us": str(tick_us),
    }


@dataclass(slots=True)
class _File:
    """A file to be read: its input, stream and number, and the size to share the work by."""

    input: str
    stream: str
    number: int
    path: str
    size: int


@dataclass
class _Task(InputPartition):
    """The share of one task; a task without files still tells the time."""

    files: tuple[_File, ...]
    now: int
    end: bool = False


class FollowReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows folders; `files_per_batch` of every input a micro-batch."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)
        self.inputs = [Input(*given) for given in json.loads(options["inputs"])]
        self.per_batch = int(options["files_per_batch"])
        self.ends = options["ends"] == "true"
        self.tick_us = int(options["tick_us"])
        self.logs: dict[str, FileLog] = {}
        self.target: dict[str, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "logs": {}}

    def initialOffset(self) -> dict[str, Any]:
        """Nothing taken."""
        return {"files": {given.name: 0 for given in self.inputs}, "now": 0, "end": False}

    def getDefaultReadLimit(self) -> ReadLimit:
        """So many files of every input."""
        return ReadMaxFiles(self.per_batch)

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now is all there is for this run."""
        self.target = self._count()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """How far the next batch goes."""
        present = self.target if self.target is not None else self._count()
        most = 2**31 if isinstance(limit, ReadAllAvailable) else self.per_batch
        taken = {name: start["files"].get(name, 0) for name in present}
        files = {
            name: self._advance(name, taken[name], min(taken[name] + most, present[name])) for name in present
        }
        now = time.time_ns() // 1000
        if files != taken:
            return {"files": files, "now": now, "end": False}
        if self.ends and not start["end"]:
            return {"files": files, "now": now, "end": True}
        if self.tick_us and self.target is None and now - start["now"] >= self.tick_us:
            return {"files": files, "now": now, "end": start["end"]}
        return start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The files between two offsets, shared out by size."""
        files = []
        for given in self.inputs:
            entries = self._log(given).entries
            for number in range(start["files"].get(given.name, 0), end["files"].get(given.name, 0)):
                files.append(
                    _File(given.name, given.stream, number, entries[number], size_of(entries[number]))
                )
        return [
            _Task(tuple(share), end["now"], end["end"])
            for share in share_out(files, int(self.options["cores"]))
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read, check, route and pack."""
        assert isinstance(partition, _Task)
        plan = _plan(self.options)
        seats = json.loads(self.options["seats"])
        told = False
        for file in partition.files:
            schema = plan.stream(file.stream)
            for number, piece in enumerate(pieces_of(plan, file.stream, file.path)):
                told = True
                yield pack(
                    seats=seats,
                    stream=file.stream,
                    source=file.input,
                    unit=file.number,
                    piece=number,
                    now=partition.now,
                    rows=piece.rows,
                    times=piece.rows[schema.time].values,
                    routing=plan.routing(file.stream),
                    bad=piece.bad,
                    seen=piece.seen,
                )
        if not told or partition.end:
            given = self.inputs[0]
            last = partition.end
            yield pack(
                seats=seats, stream=given.stream, source=given.name, unit=-1, now=partition.now, end=last
            )

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing to clean up: files stay where they are."""

    def _count(self) -> dict[str, int]:
        return {given.name: self._log(given).refresh() for given in self.inputs}

    def _log(self, given: Input) -> FileLog:
        if given.name not in self.logs:
            self.logs[given.name] = FileLog(Path(self.options["log"]), given.name, given.path)
        return self.logs[given.name]

    def _advance(self, name: str, start: int, stop: int) -> int:
        """As many files as fit into one batch, at least one."""
        entries = self.logs[name].entries
        total = 0
        for number in range(start, stop):
            total += size_of(entries[number])
            if total > MOST_BATCH_BYTES and number > start:
                return number
        return stop


class BoundedReader(DataSourceReader):
    """Reads everything once, in slices of time."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)

    def partitions(self) -> Sequence[InputPartition]:
        """All files, shared out by size over a few tasks a core."""
        files = []
        for given in (Input(*listed) for listed in json.loads(self.options["inputs"])):
            for number, path in enumerate(find_files(given.path)):
                files.append(_File(given.name, given.stream, number, path, size_of(path)))
        return [_Task(tuple(share), 0) for share in share_out(files, 4 * int(self.options["cores"]))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read, check, route and pack by time slice."""
        assert isinstance(partition, _Task)
        plan = _plan(self.options)
        seats = json.loads(self.options["seats"])
        for file in partition.files:
            schema = plan.stream(file.stream)
            for piece in pieces_of(plan, file.stream, file.path):
                yield pack_slices(
                    seats=seats,
                    stream=file.stream,
                    rows=piece.rows,
                    times=piece.rows[schema.time].values,
                    routing=plan.routing(file.stream),
                    width_us=int(self.options["width_us"]),
                    bad=piece.bad,
                    seen=piece.seen,
                )


def _plan(options: Mapping[str, str]) -> Plan:
    """The plan that this run's driver put into the options; the same object for every task of a process."""
    plan = pickle.loads(base64.b64decode(options["plan"]))
    assert isinstance(plan, Plan)
    return plan


def pieces_of(plan: Plan, stream: str, path: str) -> Iterator[Piece]:
    """The checked pieces of a file, with pyarrow kept to one thread: Spark runs one task a core already."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    yield from read_stream(plan, stream, path)


def share_out(files: Sequence[_File], shares: int) -> list[list[_File]]:
    """Files in at most so many shares of about equal size; one empty share when there are no files."""
    bins: list[list[_File]] = [[] for _ in range(max(1, min(shares, len(files))))]
    weight = [0] * len(bins)
    for file in sorted(files, key=lambda f: -f.size):
        lightest = weight.index(min(weight))
        bins[lightest].append(file)
        weight[lightest] += file.size + 1
    return bins


def size_of(path: str) -> int:
    """The bytes of a file; none if it is gone."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
