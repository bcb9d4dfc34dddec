"""Stations that report while we watch: files of readings into a folder, time running faster than ours."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from headwater.hosts.files.arrow import rows_to_arrow
from headwater.model import SECOND, Instant, parse_instant
from headwater.workloads import Valley

START: Final[Instant] = parse_instant("2026-01-15T02:40:00")
SPEED: Final = 120  # seconds in the valley for one of ours
EVERY_S: Final = 0.5
HISTORY_S: Final = 600  # so that there is something to answer as soon as Spark is there


class Feed(threading.Thread):
    """Writes what the valley's stations report, until it is stopped."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(name="feed", daemon=True)
        self.folder = folder
        self.valley = Valley(seed=seed)
        self.live = threading.Event()
        self.enough = threading.Event()
        self.written = 0

    def run(self) -> None:
        """History first; then, once somebody watches, as time goes by."""
        begun: float | None = None
        reached = START - HISTORY_S * SECOND
        number = 0
        while True:
            now = START + (int((time.monotonic() - begun) * SPEED) * SECOND if begun else 0)
            rows = self.valley.readings(reached, now)
            hidden = self.folder / f".{number:05d}.parquet"
            pq.write_table(rows_to_arrow(rows), hidden)
            hidden.rename(self.folder / f"{number:05d}.parquet")
            self.written += rows.count
            reached, number = now, number + 1
            if begun is None:
                self.live.wait()
                begun = time.monotonic()
            if self.enough.wait(EVERY_S):
                return

    def begin(self) -> None:
        """Somebody watches: let time go by."""
        self.live.set()

    def stop(self) -> None:
        """No more readings."""
        self.enough.set()
        self.live.set()
        self.join()
