"""Runs the queries of a case on Spark: bounded as a batch, followed as a stream that gets one file of every input after the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from headwater.query.planning.plan import Plan
from headwater.testing.cases import InputFile, RunKind
from headwater.testing.input_files import input_paths
from headwater.testing.runs import Observed


class SparkEngine:
    """A session that runs cases one after the other."""

    zones = 4

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def observe(self, plan: Plan, files: Sequence[InputFile], run: RunKind, folder: Path) -> Observed:
        """Everything that a run gives; the files have been written."""
        paths: dict[str, list[str]] = {stream.name: [] for stream in plan.streams}
        paths |= input_paths(files, folder)
        return self._bounded(plan, paths) if run is RunKind.BOUNDED else self._followed(plan, paths, folder)

    def _bounded(self, plan: Plan, paths: dict[str, list[str]]) -> Observed:
        from headwater.hosts.spark.file_runs import run_batch

        observed = Observed()
        for batch in run_batch(self.spark, plan, paths):
            _take(observed, batch)
        return observed

    def _followed(self, plan: Plan, paths: dict[str, list[str]], folder: Path) -> Observed:
        from headwater.hosts.spark.checkpoint import hold
        from headwater.hosts.spark.file_runs import run_streaming
        from headwater.hosts.spark.streaming import StreamingOptions
        from headwater.hosts.spark.zone_report import ZoneReport, table_of

        observed = Observed()

        def each(zones: Sequence[ZoneReport], _: int) -> None:
            _take(observed, table_of(zones))

        with hold(folder / "checkpoint", plan) as held:
            options = StreamingOptions(files_per_batch=1, ends=True)
            query = run_streaming(self.spark, plan, paths, each, checkpoint=held, options=options)
            query.awaitTermination()
        return observed


def _take(observed: Observed, table: pa.Table | pa.RecordBatch) -> None:
    columns: Iterable[list[Any]] = (table[name].to_pylist() for name in ("kind", "name", "body"))
    for kind, name, body in zip(*columns, strict=True):
        if kind in ("answer", "late", "bad"):
            observed.take(kind, name, json.loads(body))
