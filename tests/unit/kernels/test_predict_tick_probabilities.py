"""With EVERY, the probability of a pair at a tick is that of the pair alone: other pairs of the same step do not change it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

import headwater as hw
from headwater.model import parse_instant
from tests.spark.movers import NEAR, STREAMS, Readings, drive, quiet_time

TEXT = f"""{STREAMS}
CREATE QUERY near AS SELECT * FROM cars SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 30 SECONDS)
  PREDICT ({NEAR} VALIDATED EVERY 1 SECOND);
"""


def test_probabilities_at_ticks_are_those_of_the_pair_alone() -> None:
    rows = drive(40, 41)
    together = answers(rows)
    assert all(0.0 < row["probability"] <= 1.0 for row in together)
    often = Counter((row["a_key"], row["b_key"]) for row in together if row["probability"] < 1.0)
    assert len(often) > 100
    for pair in (pair for pair, _ in often.most_common(12)):
        alone = answers([row for row in rows if row["id"] in pair])
        assert alone == [row for row in together if (row["a_key"], row["b_key"]) == pair]


def answers(rows: Readings) -> list[dict[str, Any]]:
    """The rows of the query, whose times come in order."""
    rows = [*rows, *quiet_time()]
    columns = {name: pa.array([row[name] for row in rows]) for name in ("id", "x", "y")}
    at = pa.array([parse_instant(row["at"]) for row in rows], pa.timestamp("us", "UTC"))
    return hw.run(TEXT, {"cars": pa.table({**columns, "at": at})})["near"].to_arrow().to_pylist()
