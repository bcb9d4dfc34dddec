"""The same question to Flink, when an interpreter that has apache-flink is named: its three-way interval join.

Flink reads the rows as CSV (its Parquet reader does not come with the Python package), with as many tasks as there are
cores, heap state and no checkpoints. A join gives every triple, where an answer is the latest of them; the triples go
nowhere. Start-up is taken out: the rate is that of the rows a large run has more than a small one.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from headwater_lab.bench.questions import WITHIN_S, Question
from headwater_lab.bench.stations import Numbers, Reports
from headwater_lab.bench.truth import matching

SMALL_SHARE: Final = 10  # of the rows: one in so many
TIME_LIMIT_S: Final = 900.0


class FlinkError(Exception):
    """That interpreter could not do it."""


@dataclass(frozen=True, slots=True)
class FlinkRun:
    """Rows a second, and the triples that the small run found beside those there are."""

    rate: float
    triples: int
    expected: int
    rows: int

    @property
    def triples_a_row(self) -> float:
        """How many more answers a join gives than the question has."""
        return self.triples / self.rows


def run_flink_join(python: str, reports: Reports, question: Question, *, cores: int) -> FlinkRun:
    """Join the three clauses of a question; FlinkError if that interpreter cannot."""
    small, large = len(reports) // SMALL_SHARE, len(reports)
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        job = {
            "small": _write(reports, question, small, Path(folder) / "small", cores),
            "large": _write(reports, question, large, Path(folder) / "large", cores),
            "cores": cores,
            "within_s": WITHIN_S,
            "clauses": [{"attribute": r.attribute, "low": r.low, "high": r.high} for r in question.ranges],
        }
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(job))
        result = _run(python, path)
    rate = (large - small) / (result["large_s"] - result["small_s"])
    return FlinkRun(rate, int(result["triples"]), count_triples(reports, question, small), small)


def count_triples(reports: Reports, question: Question, rows: int) -> int:
    """How many triples of readings, one a clause, lie less than δt apart among the first rows."""
    at = reports.at[:rows]
    times = [np.sort(at[matching(reports.values[r.attribute][:rows], r)]) for r in question.ranges]
    # Each triple has one latest reading; ties go to the clause written first.
    return sum(_triples_with_latest(place, times) for place in range(len(times)))


def _triples_with_latest(place: int, times: Sequence[Numbers]) -> int:
    latest = times[place]
    ways = np.ones(len(latest), np.int64)
    for other, others in enumerate(times):
        if other != place:
            newest = np.searchsorted(others, latest, side="left" if other < place else "right")
            ways *= newest - np.searchsorted(others, latest - WITHIN_S * 1_000_000, side="right")
    return int(ways.sum())


def _write(reports: Reports, question: Question, rows: int, folder: Path, parts: int) -> str:
    """The rows as one CSV file a task, dealt out in turn so that all of them are at the same time of the stream."""
    folder.mkdir()
    for part in range(parts):
        chosen = slice(part, rows, parts)
        columns = {
            "station": pa.DictionaryArray.from_arrays(
                pa.array(reports.station[chosen]), pa.array(reports.names)
            ).cast(pa.string()),
            "at_ms": pa.array(reports.at[chosen] // 1000),
            **{r.attribute: pa.array(reports.values[r.attribute][chosen]) for r in question.ranges},
        }
        pa_csv.write_csv(pa.table(columns), folder / f"{part}.csv", pa_csv.WriteOptions(include_header=False))
    return str(folder)


def _run(python: str, job: Path) -> dict[str, float]:
    with as_file(files("headwater_lab.bench") / "flink_join.py") as script:
        try:
            done = subprocess.run(
                [python, str(script), str(job)],
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT_S,
                check=True,
                cwd=job.parent,
            )
            return dict(json.loads(done.stdout.splitlines()[-1]))
        except (OSError, subprocess.SubprocessError, ValueError, IndexError) as cause:
            raise FlinkError(f"Flink: '{python}' could not run the join: {_reason(cause)}") from cause


def _reason(cause: Exception) -> str:
    """The line that says most: the deepest cause of a Java trace, or the last one."""
    lines = (getattr(cause, "stderr", "") or str(cause)).strip().splitlines() or [type(cause).__name__]
    return next((line for line in reversed(lines) if line.startswith("Caused by")), lines[-1])
