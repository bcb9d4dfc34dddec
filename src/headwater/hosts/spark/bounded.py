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
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.hosts.files import find_files, read_file_rows
from headwater.hosts.spark.bounded_source import size_of
from headwater.hosts.spark.files_source import HeadwaterFiles, bounded_options, source_options
from headwater.hosts.spark.frame_packing import sliced_frame, typed_column
from headwater.hosts.spark.inputs import Input, name_inputs
from headwater.hosts.spark.output_table import TABLE, output_batches, timed
from headwater.hosts.spark.packing import from_bytes
from headwater.hosts.spark.partition_keys import partition_keys
from headwater.hosts.zone import Program, StepOutput
from headwater.model import BEGINNING, END, SECOND, ColumnType, Instant, Rows, StreamSchema, join_rows
from headwater.query.planning.plan import Plan

SLICE_ROWS = 200_000
SMALL_BYTES: Final = 2 << 20
"""A DataFrame for which Spark expects no more bytes is one slice, however long it is: it is not read for its times."""

_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Extent:
    """About how many rows an input has, and from when to when they are; that of no rows begins after it ends."""

    rows: float = 0.0
    first: Instant = END
    last: Instant = BEGINNING

    def with_other(self, other: Extent) -> Extent:
        """That of both."""
        return Extent(self.rows + other.rows, min(self.first, other.first), max(self.last, other.last))

    @property
    def slice_us(self) -> int:
        """How long a slice is: too short costs a little, too long costs memory. What has hardly any rows is one slice."""
        if not self.rows:
            return END
        span_us = self.last - self.first if self.last > self.first else 0
        return max(SECOND, int(span_us / max(1.0, self.rows / SLICE_ROWS)) + 1)


def bounded_files(spark: SparkSession, plan: Plan, paths: Mapping[str, Sequence[str]]) -> DataFrame:
    """The table of a bounded run over files."""
    return bounded_inputs(spark, plan, paths, {})


def bounded_inputs(
    spark: SparkSession,
    plan: Plan,
    paths: Mapping[str, Sequence[str]],
    frames: Mapping[str, tuple[DataFrame, Extent | None]],
) -> DataFrame:
    """The table of a bounded run over files and DataFrames. A frame of which the extent is not known is looked through first."""
    inputs = name_inputs(paths)
    extent = extent_of_files(plan, inputs)
    for name, (frame, known) in frames.items():
        extent = extent.with_other(known or extent_of_frame(frame, plan.stream(name)))
    width_us = extent.slice_us
    keys = partition_keys(plan.zones, tasks_for(plan, spark))
    sliced = [sliced_frame(frame, plan, name, keys, width_us) for name, (frame, _) in frames.items()]
    if inputs:
        spark.dataSource.register(HeadwaterFiles)
        cores = spark.sparkContext.defaultParallelism
        options = source_options(plan, inputs, cores=cores, partition_keys=keys)
        files = spark.read.format(HeadwaterFiles.name()).options(
            **options, **bounded_options(width_us=width_us)
        )
        sliced.append(files.load())
    return run_slices(reduce(DataFrame.union, sliced), plan, width_us)


def run_slices(sliced: DataFrame, plan: Plan, width_us: int) -> DataFrame:
    """The table of what the queries say to packed slices, whatever made them."""
    together = sliced.repartition(tasks_for(plan, sliced.sparkSession), "seat").sortWithinPartitions(
        "zone", "slice"
    )
    return timed(together.mapInArrow(ZoneRunner(plan, width_us), TABLE))


def tasks_for(plan: Plan, spark: SparkSession) -> int:
    """How many tasks share the zones out: one a core."""
    return min(plan.zones, spark.sparkContext.defaultParallelism)


def extent_of_files(plan: Plan, inputs: Sequence[Input]) -> Extent:
    """That of files, from a look at a few of them."""
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
    return Extent(rows, first, last)


def extent_of_frame(frame: DataFrame, schema: StreamSchema) -> Extent:
    """That of a DataFrame. Of one that is small for sure nothing needs to be known; any other is read once more for its times."""
    if _size_estimate(frame) <= SMALL_BYTES:
        return Extent()
    at = F.unix_micros(typed_column(frame, schema.time, ColumnType.TIMESTAMP))
    found = frame.agg(F.count(F.lit(1)), F.min(at), F.max(at)).first()
    count, first, last = found or (0, None, None)
    return Extent(count) if first is None or last is None else Extent(count, first, last)


def _size_estimate(frame: DataFrame) -> int:
    """How many bytes Spark takes a DataFrame to have: what it does not know is very large."""
    return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())


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
                    yield from output_batches(StepOutput(), from_bytes(bad) if bad else None, seen)
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
        yield from output_batches(StepOutput(answers, counts={**counts, **step_counts}), None, 0)
