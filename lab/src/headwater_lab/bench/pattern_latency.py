"""How long after the watermark passes a match is it emitted, while events keep arriving?

A feed writes a small file several times a second, as gateways do; a thousand sensors that report once a second would send a
tenth of that, so event time advances ten times as fast as the clock. A run on Spark follows the folder. The watermark passes a
match when the first file arrives with an event more than LATE after its last row; the latency is the time from the moment that file
exists until the answer has been received.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.file_runs import run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import ZoneReport
from headwater.model import SECOND
from headwater.query.planning.plan import compile_text
from headwater.query.planning.zones import default_zones
from headwater_lab.bench.pattern_events import LATE_S, Events, events_table, make_events
from headwater_lab.bench.pattern_questions import BANDS, script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS_PER_SECOND: Final = 10_000
FILES_PER_SECOND: Final = 4
WARM_UP_S: Final = 10.0
LINGER_S: Final = 6.0


@dataclass(slots=True)
class _Feed:
    """Files as they appear: when each was there (wall clock), and the greatest event time so far."""

    there: list[float] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)

    def write(self, events: Events, folder: Path, seconds: float) -> None:
        """One file after the other, each at its time."""
        each = EVENTS_PER_SECOND // FILES_PER_SECOND
        begun = time.time()
        for number in range(int(seconds * FILES_PER_SECOND)):
            part = slice(number * each, (number + 1) * each)
            hidden = folder / f".{number:06d}.parquet"
            pq.write_table(events_table(events, part), hidden)
            time.sleep(max(0.0, begun + (number + 1) / FILES_PER_SECOND - time.time()))
            hidden.replace(folder / f"events-{number:06d}.parquet")
            self.there.append(time.time())
            self.reached.append(max(int(events.at[part].max()), self.reached[-1] if self.reached else 0))


@dataclass(slots=True)
class _Emitted:
    """When answers were in our hands."""

    event_time: list[NDArray[np.int64]] = field(default_factory=list)
    at: list[float] = field(default_factory=list)

    def each(self, zones: Sequence[ZoneReport], number: int) -> None:
        """Take the answers of one micro-batch."""
        now = time.time()
        for answers in (answers for zone in zones for answers in zone.output.answers):
            self.event_time.append(answers["event_time"].values)
            self.at.append(now)


def measure_latency(spark: SparkSession, *, cores: int, seconds: float, seed: int) -> NDArray[np.float64]:
    """The latency of every match of the first pattern, in seconds, those while the run warms up left out."""
    plan = compile_text(script([BANDS]), zones=default_zones(cores))
    total = seconds + WARM_UP_S
    events = make_events(int(total * EVENTS_PER_SECOND), seed=seed)
    feed, emitted = _Feed(), _Emitted()
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
        folder, state = Path(name, "events"), Path(name, "state")
        folder.mkdir()
        writer = Thread(target=feed.write, args=(events, folder, total))
        with hold(state, plan) as checkpoint:
            writer.start()
            query = run_streaming(
                spark,
                plan,
                {"events": [str(folder)]},
                emitted.each,
                checkpoint=checkpoint,
                options=StreamingOptions(files_per_batch=1000),
            )
            writer.join()
            time.sleep(LINGER_S)
            query.stop()
    return _latencies(feed, emitted)


def _latencies(feed: _Feed, emitted: _Emitted) -> NDArray[np.float64]:
    reached, there = np.array(feed.reached), np.array(feed.there)
    found: list[NDArray[np.float64]] = []
    for event_time, at in zip(emitted.event_time, emitted.at, strict=True):
        # The first file with an event more than LATE after the match's last row.
        file = np.searchsorted(reached - LATE_S * SECOND, event_time, side="right")
        passed = file < len(there)
        waited = at - there[np.minimum(file, len(there) - 1)]
        warm = there[np.minimum(file, len(there) - 1)] > there[0] + WARM_UP_S
        found.append(waited[passed & warm])
    return np.concatenate([np.zeros(0), *found])
