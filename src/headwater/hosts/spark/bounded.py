"""A bounded input to its end, as a batch: the kernels of the stream, fed slice by slice, in bounded memory.

```
files or a static DataFrame -> packed by zone and slice of time -> one zone's slices come in order to one task
    -> rows of a slice sorted, kernels stepped to the end of the slice -> the table of answers
```

Nothing is late here and the end flushes, so the answers are those of the stream whose rows all came in time.
Memory  One slice of one zone a task, and the kernels' windows. Slices are cut by time so that one holds about SLICE_ROWS rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headwater.hosts.files import find_files, read_file_rows
from headwater.hosts.spark.bounded_source import size_of
from headwater.hosts.spark.files_source import HeadwaterFiles, bounded_options, source_options
from headwater.hosts.spark.inputs import Input, name_inputs
from headwater.hosts.spark.output_table import TABLE, output_batches, timed
from headwater.hosts.spark.packing import from_bytes
from headwater.hosts.spark.partition_keys import partition_keys
from headwater.hosts.zone import Output, Program
from headwater.model import BEGINNING, END, SECOND, Instant, Rows, join_rows
from headwater.query.planning.plan import Plan

SLICE_ROWS = 200_000
_SAMPLES = 8


def bounded_files(spark: SparkSession, plan: Plan, paths: Mapping[str, Sequence[str]]) -> DataFrame:
    """The table of a bounded run over files."""
    spark.dataSource.register(HeadwaterFiles)
    inputs = name_inputs(paths)
    cores = spark.sparkContext.defaultParallelism
    width_us = slice_width(plan, inputs)
    keys = partition_keys(plan.zones, tasks_for(plan, spark))
    options = source_options(plan, inputs, cores=cores, partition_keys=keys) | bounded_options(
        width_us=width_us
    )
    sliced = spark.read.format(HeadwaterFiles.name()).options(**options).load()
    return run_slices(sliced, plan, width_us)


def run_slices(sliced: DataFrame, plan: Plan, width_us: int) -> DataFrame:
    """The table of what the queries say to packed slices, whatever made them."""
    together = sliced.repartition(tasks_for(plan, sliced.sparkSession), "seat").sortWithinPartitions(
        "zone", "slice"
    )
    return timed(together.mapInArrow(ZoneRunner(plan, width_us), TABLE))


def tasks_for(plan: Plan, spark: SparkSession) -> int:
    """How many tasks share the zones out: one a core."""
    return min(plan.zones, spark.sparkContext.defaultParallelism)


def slice_width(plan: Plan, inputs: Sequence[Input]) -> int:
    """How long a slice is, from a look at a few files: too short costs a little, too long costs memory."""
    first, last, rows = END, BEGINNING, 0.0
    for source in inputs:
        files = find_files(source.path)
        schema = plan.stream(source.stream)
        for path in files[:: max(1, len(files) // _SAMPLES)][:_SAMPLES]:
            piece = next(iter(read_file_rows(path, schema, [schema.time])), None)
            if piece is not None and piece.rows.count:
                times = piece.rows[schema.time].values
                first, last = min(first, int(times.min())), max(last, int(times.max()))
                rows = max(rows, float(piece.rows.count))
        total = sum(size_of(path) for path in files)
        rows = max(rows, total / 40)  # a row is seldom shorter than 40 bytes
    return width_for(rows, last - first if last > first else 0)


def width_for(rows: float, span_us: int) -> int:
    """A slice's length when so many rows lie in so long a time."""
    return max(SECOND, int(span_us / max(1.0, rows / SLICE_ROWS)) + 1)


class ZoneRunner:
    """What a task does: slices of its zones, in order, through their programs."""

    def __init__(self, plan: Plan, width_us: int) -> None:
        self.plan = plan
        self.width_us = width_us

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Packed slices in, the table out."""
        plan = self.plan
        run: _ZoneRun | None = None
        for batch in batches:
            for _, zone, number, stream, seen, blob, bad in zip(
                *(column.to_pylist() for column in batch.columns), strict=True
            ):
                if run is None or run.zone != zone:
                    yield from run.finish() if run else ()
                    run = _ZoneRun(plan, zone, self.width_us)
                if seen or bad:
                    yield from output_batches(Output(), from_bytes(bad) if bad else None, seen)
                if blob:
                    yield from run.take(number, stream, from_bytes(blob))
        yield from run.finish() if run else ()


class _ZoneRun:
    """One zone from its first slice to its last."""

    def __init__(self, plan: Plan, zone: int, width_us: int) -> None:
        self.zone = zone
        self.width_us = width_us
        self.program = Program(plan, zone)
        self.groups: Mapping[str, Any] = self.program.start().groups
        self.number: int | None = None
        self.parts: dict[str, list[Rows]] = {}
        self.rows = 0

    def take(self, number: int, stream: str, rows: Rows) -> Iterator[pa.RecordBatch]:
        """Rows of a slice; when a later slice begins and enough has gathered, the kernels go on."""
        if self.number is not None and number != self.number and self.rows >= SLICE_ROWS // 4:
            yield from self._advance(number * self.width_us)
        self.number = number
        self.parts.setdefault(stream, []).append(rows)
        self.rows += rows.count

    def finish(self) -> Iterator[pa.RecordBatch]:
        """The end of the input."""
        yield from self._advance(END)

    def _advance(self, watermark: Instant) -> Iterator[pa.RecordBatch]:
        ordered = {}
        counts: dict[str, int] = {}
        for name, queue in self.program.queues.items():
            rows, repeated = queue.in_order(join_rows([queue.empty, *self.parts.get(name, [])]), END)
            ordered[name] = rows, watermark
            counts[f"repeated:{name}"] = self.program.ours(name, repeated).count
        self.groups, answers, step_counts = self.program.advance(self.groups, ordered)
        self.parts, self.rows = {}, 0
        yield from output_batches(Output(answers, counts={**counts, **step_counts}), None, 0)
