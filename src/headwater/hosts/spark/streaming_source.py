"""Streamed files as a Spark source: which entries make a micro-batch, and their rows.

One source serves all inputs of a run. Its offset is how many entries of each input were taken (see `file_log`), for how long the
run had been running by then, and whether the input has ended; all three are in Spark's offset log, so a batch that is run again is
the same batch. Without new files the clock still ticks when a stream declares IDLE: a batch without rows tells every zone.

Rule 1  An input that this run does not have keeps its place in the offset: it goes on from there when it comes back.
Rule 2  Time is what a clock that only goes on counts while a run is running, added up over all runs of a checkpoint. Nobody's
        setting of the machine's clock, and no time in which nothing ran, makes an input idle.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from headwater.hosts.files.folder_watch import Watch
from headwater.hosts.spark.entry_rows import read_entry
from headwater.hosts.spark.file_log import Entry, FileLog
from headwater.hosts.spark.inputs import Input
from headwater.hosts.spark.packing import Origin, pack
from headwater.hosts.spark.reading_tasks import on_one_thread, plan_of, share_out
from headwater.hosts.spark.streamed_files import StreamedFiles

MOST_BATCH_BYTES = 256 << 20
LOOK_AGAIN_US = 100_000
LOOKING_PAUSES = 10
"""After a look there is a pause so many times as long: looking costs no more than a tenth of a core."""


@dataclass(frozen=True, slots=True)
class _Numbered:
    """An entry to be read: its input, its stream, and the folder that its name begins at."""

    input: str
    stream: str
    root: str
    entry: Entry

    @property
    def size(self) -> int:
        """The bytes that are read."""
        return self.entry.stop - self.entry.start if self.entry.rows else 0


@dataclass
class _Task(InputPartition):
    """The share of one task; a task without files still tells the time."""

    files: tuple[_Numbered, ...]
    now: int
    end: bool = False


class StreamingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Streams folders; `files_per_batch` entries of every input a micro-batch."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)
        self.inputs = [Input(*source) for source in json.loads(options["inputs"])]
        self.absent = [Input(*known) for known in json.loads(options["absent"])]
        self.per_batch = int(options["files_per_batch"])
        self.ends = options["ends"] == "true"
        self.tick_us = int(options["tick_us"])
        self.streamed: dict[str, StreamedFiles] = {}
        self.beside: dict[str, list[StreamedFiles]] = {}
        self.read_before: Mapping[str, int] = {}
        self.next_look = 0
        self.notes_checked = False
        self.running = RunningTime()
        self.takes_all_now = False
        self.target: dict[str, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "streamed": {}, "beside": {}}

    def initialOffset(self) -> dict[str, Any]:
        """Nothing taken."""
        return {"files": {source.name: 0 for source in self.inputs}, "now": 0, "end": False}

    def getDefaultReadLimit(self) -> ReadLimit:
        """So many entries of every input."""
        return ReadMaxFiles(self.per_batch)

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there at the first look is all there is for this run."""
        self.takes_all_now = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """How far the next batch goes."""
        present = self._present(start["files"])
        most = 2**31 if isinstance(limit, ReadAllAvailable) else self.per_batch
        taken = {name: start["files"].get(name, 0) for name in present}
        files = {
            name: self._advance(name, taken[name], min(taken[name] + most, present[name])) for name in present
        }
        end = {"files": {**start["files"], **files}, "now": self.running.now(start["now"]), "end": False}
        if files != taken:
            return end
        if self.ends and not start["end"]:
            return {**end, "end": True}
        if self.tick_us and self.target is None and end["now"] - start["now"] >= self.tick_us:
            return {**end, "end": start["end"]}
        return start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The entries between two offsets, shared out by size; a batch that is run again may have some of absent inputs."""
        files = []
        names = {name for name, count in end["files"].items() if count > start["files"].get(name, 0)}
        for source in (each for each in (*self.inputs, *self.absent) if each.name in names):
            log, root = self._files_of(source).log, self._files_of(source).watch.root
            for number in range(start["files"].get(source.name, 0), end["files"].get(source.name, 0)):
                if number not in log.entries:
                    raise log.damaged("lines are missing")
                files.append(_Numbered(source.name, source.stream, root, log.entries[number]))
        return [
            _Task(tuple(share), end["now"], end["end"])
            for share in share_out(files, int(self.options["cores"]))
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read, check, route and pack."""
        assert isinstance(partition, _Task)
        plan = plan_of(self.options)
        partition_keys = json.loads(self.options["seats"])
        sent = False
        for file in partition.files:
            schema = plan.stream(file.stream)
            pieces = read_entry(plan, file.stream, file.root, file.entry)
            for number, piece in enumerate(on_one_thread(pieces)):
                sent = True
                yield pack(
                    Origin(file.stream, file.input, file.entry.number, number, partition.now),
                    partition_keys,
                    rows=piece.rows,
                    times=piece.rows[schema.time].values,
                    routing=plan.routing(file.stream),
                    bad=piece.bad,
                    seen=piece.seen,
                )
        if not sent or partition.end:
            source = self.inputs[0]
            origin = Origin(source.stream, source.name, -1, now=partition.now, end=partition.end)
            yield pack(origin, partition_keys)

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing to clean up: files stay where they are."""

    def _present(self, taken: Mapping[str, int]) -> dict[str, int]:
        """How many entries every input has now."""
        if self.target is not None:
            return self.target
        if not self.notes_checked:
            self._refuse_missing(taken)
        for source in self.inputs:
            self._files_of(source)
        self._look()
        self.read_before, read = taken, self.read_before
        counts = {}
        for source in self.inputs:
            self.streamed[source.name].forget(read=read.get(source.name, 0))
            counts[source.name] = self.streamed[source.name].log.count
        self.target = counts if self.takes_all_now else None
        return counts

    def _refuse_missing(self, taken: Mapping[str, int]) -> None:
        """Refuse notes that lack what offsets speak of, also of inputs that this run does not have."""
        for name, count in taken.items():
            log = FileLog(Path(self.options["log"]), name)
            if log.count < count:
                raise log.damaged("lines are missing")
        self.notes_checked = True

    def _look(self) -> None:
        """Number what is new, unless it is too early to look again."""
        now = time.monotonic_ns() // 1000
        if now < self.next_look:
            return
        for source in self.inputs:
            self.streamed[source.name].look(now=now, final=self.takes_all_now)
        ended = time.monotonic_ns() // 1000
        self.next_look = ended + max(LOOK_AGAIN_US, LOOKING_PAUSES * (ended - now))

    def _files_of(self, source: Input) -> StreamedFiles:
        if source.name not in self.streamed:
            log = FileLog(Path(self.options["log"]), source.name)
            columns = plan_of(self.options).stream(source.stream).types
            beside = self.beside.setdefault(source.stream, [])
            self.streamed[source.name] = StreamedFiles(log, Watch(source.path), columns, beside)
            beside.append(self.streamed[source.name])
        return self.streamed[source.name]

    def _advance(self, name: str, start: int, stop: int) -> int:
        """As many entries as fit into one batch, at least one."""
        log = self.streamed[name].log
        total = 0
        for number in range(start, stop):
            if number not in log.entries:
                raise log.damaged("lines are missing")
            total += log.entries[number].stop - log.entries[number].start
            if total > MOST_BATCH_BYTES and number > start:
                return number
        return stop


class RunningTime:
    """For how long the runs of a checkpoint have been running, in microseconds; `before` is what earlier offsets say."""

    def __init__(self) -> None:
        self.began: tuple[int, int] | None = None

    def now(self, before: int) -> int:
        """The time now; it never goes back behind `before`."""
        clock = time.monotonic_ns() // 1000
        if self.began is None:
            self.began = before, clock
        return max(before, self.began[0] + clock - self.began[1])
