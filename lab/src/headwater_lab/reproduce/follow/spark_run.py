"""A question on Spark: what was counted, and what was answered."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headwater.hosts.run_reports.spark_tables import report_from_table, spark_trouble
from headwater.hosts.spark.file_runs import run_batch
from headwater.model import Rows, add_counts, join_rows
from headwater.query.planning.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run reported: counts by their names, answers by their queries, and how long it took."""

    counts: Mapping[str, int]
    answers: Mapping[str, Rows]
    seconds: float

    def counted(self, what: str, query: str) -> int:
        """Something that a FOLLOW counted."""
        return self.counts.get(f"{what}:{query}", 0)


def ask(spark: SparkSession, plan: Plan, files: Mapping[str, Path]) -> RunResult:
    """Run a plan over files to their end."""
    begun = time.monotonic()
    counts: Counter[str] = Counter()
    parts: dict[str, list[Rows]] = {}
    inputs = {name: [str(path)] for name, path in files.items() if name in _read(plan)}
    with spark_trouble():
        for batch in run_batch(spark, plan, inputs):
            report = report_from_table(plan, batch)
            add_counts(counts, report.counts)
            for rows in report.answers:
                for name, own in by_query(rows):
                    parts.setdefault(name, []).append(own)
    answers = {name: join_rows(blocks) for name, blocks in parts.items()}
    return RunResult(counts, answers, time.monotonic() - begun)


def by_query(rows: Rows) -> Iterator[tuple[str, Rows]]:
    """Answers of one shape, query by query."""
    names, codes = rows["query"].names, rows["query"].values
    assert names is not None
    for code in np.unique(codes).tolist():
        yield str(names[code]), rows.take(np.flatnonzero(codes == code))


def _read(plan: Plan) -> set[str]:
    """The streams that some query reads, or follows."""
    read = {stream for query in plan.queries for stream in plan.root_streams(query.reads)}
    return read | {beside for query in plan.queries if (beside := query.operator.reads_beside)}
