"""Run by another interpreter, one that has apache-flink: the three-way interval join over CSV files.

    python flink_join.py JOB.json

It imports nothing of Headwater. It prints one line of JSON: the seconds of a small and of a large run, and how many triples
the small one found.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

TABLE = """CREATE TABLE {name}_rows (
  station STRING, at_ms BIGINT, {columns},
  ts AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'file://{path}', 'format' = 'csv')"""

# Interval joins want an equality and the question has none. Time is cut into numbered parts of δt: a reading of the first
# clause is in its part, those of the others are also in the parts beside theirs. (A constant in their place is five
# times slower: all rows meet in one task, and each looks through everything the other side holds.)
FIRST = """(SELECT station, at_ms, ts, {value} AS v, at_ms / {ms} AS part FROM {name}_rows
  WHERE {value} BETWEEN {low} AND {high})"""
OTHER = """(SELECT station, at_ms, ts, {value} AS v, part
  FROM {name}_rows CROSS JOIN UNNEST(ARRAY[at_ms / {ms} - 1, at_ms / {ms}, at_ms / {ms} + 1]) AS near (part)
  WHERE {value} BETWEEN {low} AND {high})"""

# One time attribute goes through a join: the third clause is bound to the first by time, to the second by a condition.
JOIN = """SELECT a.station, a.at_ms, a.v, b.station, b.at_ms, b.v, c.station, c.at_ms, c.v
FROM {a} a
JOIN {b} b ON a.part = b.part
  AND b.ts > a.ts - INTERVAL '{s}' SECOND AND b.ts < a.ts + INTERVAL '{s}' SECOND
JOIN {c} c ON a.part = c.part
  AND c.ts > a.ts - INTERVAL '{s}' SECOND AND c.ts < a.ts + INTERVAL '{s}' SECOND
  AND c.at_ms > b.at_ms - {ms} AND c.at_ms < b.at_ms + {ms}"""

NOWHERE = """CREATE TABLE nowhere (
  sa STRING, ta BIGINT, va DOUBLE, sb STRING, tb BIGINT, vb DOUBLE, sc STRING, tc BIGINT, vc DOUBLE
) WITH ('connector' = 'blackhole')"""


def main(job: dict[str, Any]) -> dict[str, Any]:
    """Both runs, in one warm process."""
    from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    settings = tables.get_config()
    settings.set("parallelism.default", str(job["cores"]))
    settings.set("pipeline.object-reuse", "true")
    settings.set("table.local-time-zone", "UTC")
    settings.set("table.exec.mini-batch.enabled", "true")
    settings.set("table.exec.mini-batch.allow-latency", "5 s")
    settings.set("table.exec.mini-batch.size", "100000")
    columns = ", ".join(f"{clause['attribute']} DOUBLE" for clause in job["clauses"])
    for name in ("small", "large"):
        tables.execute_sql(TABLE.format(name=name, columns=columns, path=job[name]))
    tables.execute_sql(NOWHERE)
    triples = 0
    for row in tables.execute_sql(f"SELECT COUNT(*) FROM ({join_text(job, 'small')})").collect():
        triples = int(row[0])
    return {
        "triples": triples,
        "small_s": timed(tables, job, "small"),
        "large_s": timed(tables, job, "large"),
    }


def timed(tables: Any, job: dict[str, Any], name: str) -> float:
    """The seconds of one run whose triples go nowhere."""
    start = time.perf_counter()
    tables.execute_sql(f"INSERT INTO nowhere {join_text(job, name)}").wait()
    return time.perf_counter() - start


def join_text(job: dict[str, Any], name: str) -> str:
    """The join over one of the tables."""
    ms = job["within_s"] * 1000
    sides = {
        letter: side.format(
            name=name, value=clause["attribute"], low=clause["low"], high=clause["high"], ms=ms
        )
        for letter, side, clause in zip("abc", (FIRST, OTHER, OTHER), job["clauses"], strict=True)
    }
    return JOIN.format(**sides, s=job["within_s"], ms=ms)


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text()))))
