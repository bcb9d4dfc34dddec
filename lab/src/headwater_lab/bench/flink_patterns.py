"""The same patterns to Flink, when an interpreter that has apache-flink is named: its MATCH_RECOGNIZE over CSV files.

Two halves in one file. `run_flink_patterns` is ours: it writes rows and a job, and starts the other interpreter on

    python flink_patterns.py JOB.json

which imports nothing of Headwater and prints one line of JSON: the seconds of a small and of a large run. The matches of the
small run also go to a file, to be checked; those of the timed runs go nowhere. As many tasks as there are cores, heap state,
no checkpoints. Start-up is taken out: the rate is that of the rows a large run has more than a small one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from headwater_lab.bench.pattern_events import Events
    from headwater_lab.bench.pattern_questions import PatternQuestion
    from headwater_lab.bench.pattern_truth import Matches

SMALL_SHARE: Final = 10  # of the rows: one in so many
TRIES: Final = 2  # the better of them counts, as for our own runs: the first one still compiles

TABLE = """CREATE TABLE {name}_rows (
  sensor STRING, at_ms BIGINT, `value` DOUBLE, kind STRING,
  ts AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts - INTERVAL '{late_s}' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'file://{path}', 'format' = 'csv')"""

MATCHES = "sensor STRING, began BIGINT, ended BIGINT, steps BIGINT"
NOWHERE = f"CREATE TABLE nowhere ({MATCHES}) WITH ('connector' = 'blackhole')"
FOUND = """CREATE TABLE found ({matches})
WITH ('connector' = 'filesystem', 'path' = 'file://{path}', 'format' = 'csv')"""


@dataclass(frozen=True, slots=True)
class FlinkPatternRun:
    """Rows a second, and what the small run found among its rows, the first to arrive."""

    rate: float
    small_s: float
    large_s: float
    small_rows: int
    small_matches: Matches


def run_flink_patterns(
    python: str, events: Events, question: PatternQuestion, *, cores: int
) -> FlinkPatternRun:
    """Ask one pattern; FlinkError if that interpreter cannot."""
    from headwater_lab.bench.pattern_events import LATE_S, write_csv

    small, large = len(events) // SMALL_SHARE, len(events)
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as name:
        folder = Path(name)
        write_csv(events.first(small), folder / "small", cores)
        write_csv(events, folder / "large", cores)
        job = {
            "small": str(folder / "small"),
            "large": str(folder / "large"),
            "found": str(folder / "found"),
            "cores": cores,
            "late_s": LATE_S,
            "queries": {table: question.flink(f"{table}_rows") for table in ("small", "large")},
        }
        (folder / "job.json").write_text(json.dumps(job))
        result = _run(python, folder / "job.json")
        matches = _read(folder / "found", events.names)
    rate = (large - small) / (result["large_s"] - result["small_s"])
    return FlinkPatternRun(rate, result["small_s"], result["large_s"], small, matches)


def _run(python: str, job: Path) -> dict[str, float]:
    from headwater_lab.bench.flink import TIME_LIMIT_S, FlinkError, _reason

    try:
        done = subprocess.run(
            [python, str(Path(__file__).resolve()), str(job)],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=True,
            cwd=job.parent,
        )
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as cause:
        raise FlinkError(f"Flink: '{python}' could not run the pattern: {_reason(cause)}") from cause


def _read(folder: Path, names: tuple[str, ...]) -> Matches:
    """The matches in Flink's files; files whose name begins with a dot are not finished and hold nothing that counts."""
    import numpy as np

    from headwater_lab.bench.pattern_truth import Matches

    number = {name: place for place, name in enumerate(names)}
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    lines = [line.split(",") for path in files for line in path.read_text().splitlines()]
    parts = [[number[sensor.strip('"')], *map(int, rest)] for sensor, *rest in lines]
    sensor, began, ended, steps = np.array(parts, np.int64).reshape(-1, 4).T
    return Matches(sensor, began * 1000, ended * 1000, steps)


# --- in the other interpreter -----------------------------------------------------------------------------------------


def main(job: dict[str, Any]) -> dict[str, float]:
    """The run that is checked, which also warms up, and the timed ones, in one process."""
    from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    settings = tables.get_config()
    settings.set("parallelism.default", str(job["cores"]))
    settings.set("pipeline.object-reuse", "true")
    settings.set("table.local-time-zone", "UTC")
    for name in ("small", "large"):
        tables.execute_sql(TABLE.format(name=name, path=job[name], late_s=job["late_s"]))
    tables.execute_sql(NOWHERE)
    tables.execute_sql(FOUND.format(matches=MATCHES, path=job["found"]))
    timed(tables, f"INSERT INTO found {job['queries']['small']}")
    runs = [
        (name, timed(tables, f"INSERT INTO nowhere {job['queries'][name]}"))
        for _ in range(TRIES)
        for name in ("small", "large")
    ]
    return {f"{name}_s": min(took for of, took in runs if of == name) for name in ("small", "large")}


def timed(tables: Any, statement: str) -> float:
    """The seconds of one statement."""
    start = time.perf_counter()
    tables.execute_sql(statement).wait()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))))
