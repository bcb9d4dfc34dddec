"""Rows of a streaming DataFrame on their way to the zones."""

import pyarrow as pa

from headwater.hosts.spark.frame_packing import Packer
from headwater.query.planning.plan import compile_text

PLAN = compile_text(
    "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE) IDLE 1 SECOND;"
    "CREATE QUERY cold AS SELECT station FROM weather WHERE temperature < 0;",
    zones=2,
)


def admitted(*temperatures: float) -> pa.RecordBatch:
    """Rows as Catalyst admits them, a second apart."""
    rows = [
        {"station": "s", "at": n * 1_000_000, "temperature": value} for n, value in enumerate(temperatures)
    ]
    kind = pa.struct([("station", pa.string()), ("at", pa.int64()), ("temperature", pa.float64())])
    nothing = pa.nulls(len(rows), pa.string())
    times = pa.array([row["at"] for row in rows], pa.int64())
    return pa.RecordBatch.from_arrays(
        [times, nothing, nothing, pa.array(rows, kind)], names=["time", "bad", "text", "row"]
    )


def test_a_task_reads_no_clock_so_that_a_batch_run_again_is_the_same(monkeypatch):
    columns = PLAN.columns_read("weather")
    assert columns == ("station", "at", "temperature")
    first = list(Packer(PLAN, "weather", (0, 1))(iter([admitted(-1.0, 2.0)])))
    monkeypatch.setattr("time.time_ns", lambda: 0)
    monkeypatch.setattr("time.monotonic_ns", lambda: 0)
    again = list(Packer(PLAN, "weather", (0, 1))(iter([admitted(-1.0, 2.0)])))
    assert [batch.to_pylist() for batch in first] == [batch.to_pylist() for batch in again]
    assert [row["now"] for row in first[0].to_pylist()] == [None, None]


def test_a_task_without_rows_still_sends_to_every_zone():
    (batch,) = Packer(PLAN, "weather", (0, 1))(iter([]))
    assert [(row["zone"], row["now"], row["clusters"]) for row in batch.to_pylist()] == [
        (0, None, b""),
        (1, None, b""),
    ]
